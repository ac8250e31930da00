//! Numbers and byte strings as bytes, for what processes tell each other beside states.
//!
//! Whoever reads them may meet anything: reading never panics, and what is not there is `None`.

/// Writes.
#[derive(Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.number(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }
}

/// Reads.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Appends a length in as few bytes as it needs, seven bits each.
#[inline]
pub(crate) fn push_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// A length at the start of some bytes, and how many bytes it takes there.
#[inline]
pub(crate) fn length_at(bytes: &[u8]) -> (usize, usize) {
    let (mut length, mut at) = (0, 0);
    loop {
        let byte = bytes[at];
        length |= usize::from(byte & 0x7f) << (7 * at);
        at += 1;
        if byte < 0x80 {
            return (length, at);
        }
    }
}

/// The same for bytes that may be anything: `None` if there is no length that a state can have.
pub(crate) fn checked_length_at(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.iter().take(4).position(|byte| *byte < 0x80)?;
    Some(length_at(&bytes[..=end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.number(7).bytes(b"abc").number(u64::MAX);
        let mut reader = Reader(&writer.0);
        assert_eq!((reader.number(), reader.text(), reader.number()), (Some(7), Some("abc".into()), Some(u64::MAX)));
        assert_eq!(reader.number(), None);
        let mut cut = Reader(&writer.0[..12]);
        assert_eq!((cut.number(), cut.bytes()), (Some(7), None));
        let mut huge = Reader(&[0xff; 9]);
        assert_eq!(huge.bytes(), None);
    }

    #[test]
    fn lengths() {
        for length in [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 20] {
            let mut out = Vec::new();
            push_length(&mut out, length);
            assert_eq!(length_at(&out), (length, out.len()));
            assert_eq!(checked_length_at(&out), Some((length, out.len())));
            assert_eq!(checked_length_at(&out[..out.len() - 1]), None);
        }
        assert_eq!(checked_length_at(&[0xff; 20]), None);
    }
}
