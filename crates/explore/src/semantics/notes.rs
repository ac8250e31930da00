//! What a search finds out besides states.

/// Declares what is a matter of yes or no; each is a bit, in this order.
macro_rules! notes {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// What a search wants to know besides the states.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Notes {
            /// The thread and the instruction of a `limit` that does not always hold.
            pub limited: Option<(usize, u32)>,
            $($(#[$about])* pub $name: bool,)*
        }

        impl Notes {
            /// The notes that are a matter of yes or no, as bits.
            pub fn bits(self) -> u32 {
                [$(self.$name),*].into_iter().enumerate().map(|(at, set)| u32::from(set) << at).sum()
            }

            /// Notes from their bits.
            pub fn from_bits(mut bits: u32, limited: Option<(usize, u32)>) -> Self {
                let mut notes = Self { limited, ..Self::default() };
                for note in [$(&mut notes.$name),*] {
                    *note = bits & 1 == 1;
                    bits >>= 1;
                }
                notes
            }
        }
    };
}

notes! {
    /// A thread had to stop issuing because its queue was full.
    bounded,
    /// An assertion was evaluated.
    asserted,
    /// A state has more successors, or takes more bytes, than the engine can hold.
    too_large,
    /// A transaction committed.
    committed,
    /// A history had more aborted transactions that matter than there is room for.
    crowded,
    /// A timestamp was incremented across a gap that ranking may have shortened.
    gap_too_small,
    /// In some state only the steps of an ample set were taken.
    ample,
    /// A read of a transaction finished, and a transaction stored.
    read,
    stored,
    /// A transaction committed after that; known only where it is looked for, see `exercise`.
    committed_read,
    committed_store,
    /// A command was left out because it only repeats a store.
    repeats,
    /// Somebody needs a name, and all are held; see `progress`.
    out_of_names,
    /// A thread stood at a point that the invariant names.
    stood,
    /// Who observes the search has seen enough.
    seen_enough,
    /// In some state only the steps of a stubborn set were taken.
    stubborn,
    /// A step does not take part in an exchange of threads; see `exchanges`.
    asymmetric,
}

impl Notes {
    /// Whether a search has to end, whatever it is for.
    #[inline]
    pub fn end_search(self) -> bool {
        self.too_large || self.gap_too_small || self.out_of_names || self.seen_enough || self.asymmetric
    }

    /// What either noted.
    pub fn or(self, other: Self) -> Self {
        Self::from_bits(self.bits() | other.bits(), self.limited.or(other.limited))
    }
}
