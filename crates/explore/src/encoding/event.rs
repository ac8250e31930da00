//! What a dictionary has learnt, in order, as bytes.

use std::sync::Arc;

/// What was learnt, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The next value of a part.
    Value(u32, Arc<[u8]>),
    /// So many bits more for a part.
    Bits(u32, u32),
}

const MARK: u32 = 1 << 31;

impl Event {
    /// The part, and the length of the value that follows; or the part and how many bits it gets, marked.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (part, number) = match self {
            Self::Value(part, value) => (*part, value.len() as u32),
            Self::Bits(part, bits) => (*part, bits | MARK),
        };
        out.extend_from_slice(&part.to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        if let Self::Value(_, value) = self {
            out.extend_from_slice(value);
        }
    }

    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u32::from_le_bytes(*word))
        };
        let (part, number) = (word()?, word()?);
        if number & MARK != 0 {
            return Some(Self::Bits(part, number & !MARK));
        }
        let (value, rest) = bytes.split_at_checked(number as usize)?;
        *bytes = rest;
        Some(Self::Value(part, value.into()))
    }
}
