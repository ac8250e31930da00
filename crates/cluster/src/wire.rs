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
}
