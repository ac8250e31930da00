//! Axiom 7: no value out of thin air.
//!
//! A node per load part and per store part of each event: a load leads to the store it read from, a store to the loads that
//! its value and address were computed from. The execution is allowed when no path comes back to its start.

use crate::order::{Events, Placing};
use crate::set::EventSet;

/// The events whose origins matter to the axiom: those that some store's value or address was computed from.
pub(crate) fn sources(events: &Events) -> EventSet {
    let mut sources = EventSet::default();
    for (number, event) in events.list.iter().enumerate() {
        sources.absorb(&event.flow);
        if event.computes {
            sources.insert(number);
        }
    }
    sources
}

/// Whether some value among the placed events comes from nowhere.
pub(crate) fn occurs(placing: &Placing<'_>) -> bool {
    let stores = placing.events.list.len();
    let mut finished = EventSet::default();
    (0..stores).any(|store| returns(placing, store, &mut EventSet::default(), &mut finished))
}

/// Depth-first search from the store part of an event through load parts to store parts; `open` is the current path.
fn returns(placing: &Placing<'_>, store: usize, open: &mut EventSet, finished: &mut EventSet) -> bool {
    if open.contains(store) {
        return true;
    }
    if finished.contains(store) {
        return false;
    }
    open.insert(store);
    let facts = &placing.events.list[store];
    let itself = facts.computes.then_some(store);
    let circle = facts.flow.iter().chain(itself).any(|load| {
        let origin = placing.origins[load].and_then(|origin| origin.store());
        origin.is_some_and(|origin| returns(placing, origin, open, finished))
    });
    open.remove(store);
    finished.insert(store);
    circle
}
