//! Searching with states as tuples of numbers, whose layout grows with need.
//!
//! A search runs until it is over, or until a number does not fit its bits. Then all stored tuples get a wider layout, and it goes on
//! where it was. There are two kinds of tuples: of parts, with remembered steps ([`super`]), and of the pieces of long states
//! ([`super::packed`]).

use cyrano_engine::{Limits, Watch};
use cyrano_ir::Property;

use crate::search::{End, Found, Search};
use crate::semantics::machine::Machine;
use crate::store::Store;

use super::numbered::{Numbered, WithWords, with_words};

/// A way to see states as tuples of numbers.
pub(super) trait Tuples<'m> {
    fn machine(&self) -> &'m Machine<'m>;
    fn numbered(&self) -> &Numbered;
    fn numbered_mut(&mut self) -> &mut Numbered;
    /// Goes on with a search over tuples of this many words.
    fn run<'a, const W: usize>(&self, property: Option<&'a Property>, search: &mut Search<'m, 'a>) -> End;
    /// The encoded form of a stored state.
    fn canonical(&self, stored: &[u8]) -> Vec<u8>;
}

/// Searches to the end; `None` if the tuples get too long.
pub(super) fn search<'m, 'a, T: Tuples<'m>>(
    mut tuples: T,
    property: Option<&'a Property>,
    limits: &'m Limits,
    watch: &'m dyn Watch,
) -> Option<Found<'m, 'a>> {
    let m = tuples.machine();
    let store = |bytes: usize| Store::new(Some(bytes), m.config, limits.workers);
    let begin = |bytes: usize| Search::new(m, property, store(bytes), limits, watch);
    let mut search = begin(tuples.numbered().layout.bytes);
    while with_words(tuples.numbered().layout.words, Running { tuples: &tuples, property, search: &mut search })
        == End::Reshape
    {
        if !tuples.numbered_mut().widen(&mut search.store) {
            return None;
        }
        if m.config.fingerprints {
            // Those of the old layout say nothing now. What is known about the values is kept, so this happens a few times only.
            search = begin(tuples.numbered().layout.bytes);
        }
    }
    Some(search.finish(tuples.numbered().bytes(), |stored| tuples.canonical(stored)))
}

struct Running<'r, 'm, 'a, T> {
    tuples: &'r T,
    property: Option<&'a Property>,
    search: &'r mut Search<'m, 'a>,
}

impl<'m, T: Tuples<'m>> WithWords for Running<'_, 'm, '_, T> {
    type Out = End;

    fn call<const W: usize>(self) -> End {
        self.tuples.run::<W>(self.property, self.search)
    }
}
