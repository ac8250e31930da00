//! What a search finds out besides states.

/// What a search wants to know besides the states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// A thread had to stop issuing because its queue was full.
    pub bounded: bool,
    /// An assertion was evaluated.
    pub asserted: bool,
    /// A state has more successors, or takes more bytes, than the engine can hold.
    pub too_large: bool,
    /// A transaction committed.
    pub committed: bool,
    /// A history had more aborted transactions that matter than there is room for.
    pub crowded: bool,
    /// The thread and the instruction of a `limit` that does not always hold.
    pub limited: Option<(usize, u32)>,
    /// In some state only the steps of an ample set were taken.
    pub ample: bool,
    /// A timestamp was incremented across a gap that ranking may have shortened.
    pub gap_too_small: bool,
    /// A command was left out because it only repeats a store.
    pub repeats: bool,
    /// A read of a transaction finished, and a transaction stored.
    pub read: bool,
    pub stored: bool,
    /// A transaction committed after that; known only where it is looked for, see `exercise`.
    pub committed_read: bool,
    pub committed_store: bool,
    /// Somebody needs a name, and all are held; see `progress`.
    pub out_of_names: bool,
    /// Who observes the search has seen enough.
    pub seen_enough: bool,
}

impl Notes {
    /// The notes that are a matter of yes or no, as bits.
    pub fn bits(self) -> u32 {
        let search = [self.bounded, self.asserted, self.too_large, self.committed, self.crowded];
        let more = [self.gap_too_small, self.ample, self.read, self.stored, self.committed_read, self.committed_store];
        let more = more.into_iter().chain([self.repeats, self.out_of_names, self.seen_enough]);
        search.into_iter().chain(more).enumerate().map(|(at, set)| u32::from(set) << at).sum()
    }

    /// Notes from their bits.
    pub fn from_bits(bits: u32, limited: Option<(usize, u32)>) -> Self {
        let set = |at: u32| bits >> at & 1 == 1;
        Self {
            bounded: set(0),
            asserted: set(1),
            too_large: set(2),
            committed: set(3),
            crowded: set(4),
            gap_too_small: set(5),
            ample: set(6),
            read: set(7),
            stored: set(8),
            committed_read: set(9),
            committed_store: set(10),
            repeats: set(11),
            out_of_names: set(12),
            seen_enough: set(13),
            limited,
        }
    }

    /// Whether a search has to end, whatever it is for.
    #[inline]
    pub fn end_search(self) -> bool {
        self.too_large || self.gap_too_small || self.out_of_names || self.seen_enough
    }

    /// What either noted.
    pub fn or(self, other: Self) -> Self {
        Self::from_bits(self.bits() | other.bits(), self.limited.or(other.limited))
    }
}
