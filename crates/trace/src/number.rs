//! Values in documents.
//!
//! A value is written as a JSON number where programs that read JSON keep all of its digits as integers of 64 bits, signed or not; as a
//! string of digits beyond; and as the string `undefined` where nobody has written it.

use std::collections::BTreeSet;

use cyrano_ir::UNDEFINED;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The word for [`UNDEFINED`].
const WORD: &str = "undefined";

/// A value as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Written {
    /// A number of 64 bits with a sign.
    Signed(i64),
    /// A larger one without.
    Unsigned(u64),
    /// Anything else.
    Text(String),
}

impl From<i128> for Written {
    fn from(value: i128) -> Self {
        if let Ok(value) = i64::try_from(value) {
            Self::Signed(value)
        } else if let Ok(value) = u64::try_from(value) {
            Self::Unsigned(value)
        } else if value == UNDEFINED {
            Self::Text(WORD.to_owned())
        } else {
            Self::Text(value.to_string())
        }
    }
}

impl Written {
    fn value(self) -> Option<i128> {
        match self {
            Self::Signed(value) => Some(value.into()),
            Self::Unsigned(value) => Some(value.into()),
            Self::Text(word) if word == WORD => Some(UNDEFINED),
            Self::Text(digits) => digits.parse().ok().filter(|value| *value != UNDEFINED),
        }
    }
}

/// Values, and collections of them.
pub trait Values: Sized {
    /// How they are written.
    type Document: Serialize + for<'de> Deserialize<'de>;

    /// Writes them.
    fn to_document(&self) -> Self::Document;
    /// Reads them.
    fn from_document(document: Self::Document) -> Option<Self>;
}

impl Values for i128 {
    type Document = Written;

    fn to_document(&self) -> Written {
        Written::from(*self)
    }

    fn from_document(document: Written) -> Option<Self> {
        document.value()
    }
}

impl<V: Values> Values for Option<V> {
    type Document = Option<V::Document>;

    fn to_document(&self) -> Self::Document {
        self.as_ref().map(V::to_document)
    }

    fn from_document(document: Self::Document) -> Option<Self> {
        match document {
            Some(document) => V::from_document(document).map(Some),
            None => Some(None),
        }
    }
}

impl<V: Values> Values for Vec<V> {
    type Document = Vec<V::Document>;

    fn to_document(&self) -> Self::Document {
        self.iter().map(V::to_document).collect()
    }

    fn from_document(document: Self::Document) -> Option<Self> {
        document.into_iter().map(V::from_document).collect()
    }
}

impl<V: Values + Ord> Values for BTreeSet<V> {
    type Document = Vec<V::Document>;

    fn to_document(&self) -> Self::Document {
        self.iter().map(V::to_document).collect()
    }

    fn from_document(document: Self::Document) -> Option<Self> {
        document.into_iter().map(V::from_document).collect()
    }
}

/// For `#[serde(with = "crate::number")]`.
pub fn serialize<V: Values, S: Serializer>(values: &V, serializer: S) -> Result<S::Ok, S::Error> {
    values.to_document().serialize(serializer)
}

/// For `#[serde(with = "crate::number")]`.
pub fn deserialize<'de, V: Values, D: Deserializer<'de>>(deserializer: D) -> Result<V, D::Error> {
    V::from_document(V::Document::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("a value was expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: i128, text: &str) {
        let written = serde_json::to_string(&Written::from(value)).expect("it can be written");
        assert_eq!(written, text);
        let read: Written = serde_json::from_str(text).expect("it can be read");
        assert_eq!(read.value(), Some(value));
    }

    #[test]
    fn every_value_comes_back() {
        check(0, "0");
        check(i64::MIN.into(), "-9223372036854775808");
        check(u64::MAX.into(), "18446744073709551615");
        check(1 << 64, "\"18446744073709551616\"");
        check(UNDEFINED, "\"undefined\"");
    }
}
