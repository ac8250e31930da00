//! Orders in which a transactional memory says that its transactions seem to run (O'Leary, Saha and Tuttle, section 4: ordering hints).
//!
//! The memory keeps the keys of each committed transaction in registers of its thread, where they stay until the thread ends. So whoever
//! looks at a final state has them, and nobody else needs to know about them.

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
