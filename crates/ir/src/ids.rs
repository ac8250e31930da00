//! Typed ids.
//!
//! An id is an index into exactly one table; the type says which, so that a register can never be used as a location.

use std::fmt;

pub use cyrano_diagnostic::Span;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $repr:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            /// The id for a position in its table.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect("table too large for its id type"))
            }

            /// The position in its table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    };
}

id!(/// A thread of the program.
    ThreadId, u16, "t");
id!(/// A register of one thread.
    RegId, u32, "r");
id!(/// A shared location: one word of memory.
    LocId, u32, "g");
id!(/// A shared array: a run of consecutive locations.
    ArrayId, u32, "a");
id!(/// A position in one thread's instruction list; also the value of its program counter.
    InstrId, u32, "@");
id!(/// A statement of a thread that invariants name.
    PointId, u32, "p");
