//! P4, monotonicity, for all histories up to a length: one of the rows that a history asks for has to be there.
//!
//! To put overlapping transactions in a row is to reorder without bound, which no finite transducer does; and whether a regular language is closed
//! under it cannot be decided in general. So this follows the definition ([`images`]) on one history after the other, shorter ones first, as far
//! as the work that is granted goes, and says how far that was.

use super::images::images;
use super::language::{GivenUp, Language};
use super::transform::Flaw;
use crate::criterion::Structure;
use crate::history::{Action, Event, History};

/// Up to which length all histories were looked at, and a history that asks for one that is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Monotone {
    /// The length.
    pub events: usize,
    /// The flaw; a shortest one.
    pub flaw: Option<Flaw>,
}

/// Looks at all histories, as long as `go_on`, which is told how many it were, says so; at most so many for each length.
pub fn monotone(language: &Language, most: usize, mut go_on: impl FnMut(usize) -> bool) -> Result<Monotone, GivenUp> {
    let mut looked = 0;
    let mut level: Vec<(History, u32)> = vec![(History::new(), 0)];
    for events in 1.. {
        let mut next = Vec::new();
        for (history, state) in &level {
            looked += 1;
            if !go_on(looked) {
                return Err(GivenUp);
            }
            for (letter, to) in language.steps(*state) {
                let event: Event = language.letters().event(letter).0;
                if matches!(event.action, Action::Abort | Action::Rollback(_)) {
                    continue;
                }
                let longer = [&history[..], &[event]].concat();
                let rows = images(Structure::Monotonicity, language.letters().size(), &longer);
                let missing = !rows.iter().any(|row| language.has_shorter(row));
                if let Some(image) = rows.into_iter().next().filter(|_| missing) {
                    return Ok(Monotone { events, flaw: Some(Flaw { history: longer, image }) });
                }
                next.push((longer, to));
            }
        }
        if next.is_empty() || next.len() > most {
            return Ok(Monotone { events, flaw: None });
        }
        level = next;
    }
    unreachable!("lengths have no end")
}
