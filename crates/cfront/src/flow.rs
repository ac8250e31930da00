//! Where addresses go: which locals need memory (`escape`), which of them somebody may know after their call (`kept`), and which integers are
//! addresses (`addresses`).

pub(crate) mod addresses;
pub(crate) mod escape;
pub(crate) mod kept;
