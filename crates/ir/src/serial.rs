//! Orders in which a transactional memory says that its transactions seem to run (O'Leary, Saha and Tuttle, section 4: ordering hints).
//!
//! The memory keeps the keys of each committed transaction in registers of its thread, where they stay until the thread ends. So whoever
//! looks at a final state has them, and nobody else needs to know about them.

use std::sync::Mutex;

use crate::ids::RegId;

/// An order that the program names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SerialOrder {
    /// Its name.
    pub name: String,
    /// For each thread and each of its transactions the registers with its keys, the most significant one first.
    pub keys: Vec<Vec<Vec<RegId>>>,
}

/// The order in which commits return, which every program has.
pub const COMMIT_ORDER: &str = "commit";

const PREFIX: &str = "serializability-by-";

/// The name of an order, in the name of its criterion: `serializability-by-NAME`.
///
/// Criteria are small values with names that live for ever, so each different name is kept once, for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OrderName(&'static str);

static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

impl OrderName {
    /// The order of this name; none if it is no name.
    pub fn new(name: &str) -> Option<Self> {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| Self(kept(&format!("{PREFIX}{name}"))))
    }

    /// The order in a criterion's name.
    pub fn from_criterion(criterion: &str) -> Option<Self> {
        criterion.strip_prefix(PREFIX).and_then(Self::new)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        &self.0[PREFIX.len()..]
    }

    /// The name of the criterion.
    pub fn criterion(self) -> &'static str {
        self.0
    }
}

fn kept(name: &str) -> &'static str {
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(found) = known.iter().find(|other| **other == name) {
        return found;
    }
    let new: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.push(new);
    new
}

#[cfg(test)]
mod tests {
    use super::OrderName;

    #[test]
    fn names_survive() {
        let order = OrderName::new("block_timestamp").expect("a name");
        assert_eq!(order.name(), "block_timestamp");
        assert_eq!(OrderName::from_criterion(order.criterion()), Some(order));
        assert_eq!(OrderName::new("two words"), None);
        assert_eq!(OrderName::from_criterion("serializability"), None);
    }
}
