//! What is in a checkpoint, for people.

/// What is in a checkpoint, or in one process's part of it; and what only one kind of search can tell.
#[derive(Clone, PartialEq, Debug)]
pub struct Info<M> {
    /// Which search it is of, by name.
    pub identity: Vec<(String, String)>,
    /// What was said about it when it began, by name.
    pub about: Vec<(String, String)>,
    /// States so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// States that have not been expanded.
    pub frontier: u64,
    /// How long the search has taken.
    pub seconds: f64,
    /// When it was written, in seconds since 1970.
    pub time: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// The rest.
    pub more: M,
}
