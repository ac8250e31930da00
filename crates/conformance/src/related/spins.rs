//! Loops without a bound: threads that wait for a value, by loads, by read-modify-writes, or by an exclusive pair that may fail.

use proptest::prelude::*;

use super::{Change, Code, Place, Related, Step, change, place, reg, related, value};
use crate::generate::Value;

/// What a thread does in each round.
#[derive(Clone, Debug)]
pub enum Round {
    /// Loads.
    Load,
    /// An exchange, an addition or a compare-and-swap, and what it finds decides.
    Update(Change),
    /// A load-exclusive and a store-exclusive, and whether it succeeded decides; an exchange where there are no such pairs.
    Pair(Value),
    /// Two loads, the second of which decides.
    Twice(Place),
}

impl Round {
    pub(super) fn accesses(&self) -> usize {
        if matches!(self, Self::Load) { 1 } else { 2 }
    }
}

fn spin() -> impl Strategy<Value = Step> {
    let round = prop_oneof![
        3 => Just(Round::Load),
        3 => change().prop_map(Round::Update),
        1 => value().prop_map(Round::Pair),
        1 => place().prop_map(Round::Twice),
    ];
    let parts = (reg(), place(), round, 0..2i128, any::<u8>(), prop::option::of(any::<u8>()));
    parts.prop_map(|(r, x, round, c, tags, fence)| Step::Spin(r, x, round, c, tags, fence))
}

/// The same programs with a loop without a bound in the first thread and perhaps in the second.
pub fn spinning(most: usize, models: usize) -> impl Strategy<Value = Related> {
    let all = (related(most, models), spin(), prop::option::of(spin()), any::<u8>());
    all.prop_map(|(mut random, first, second, at)| {
        for (thread, spin) in random.threads.iter_mut().zip([Some(first), second]) {
            let at = usize::from(at) % (thread.len() + 1);
            spin.into_iter().for_each(|spin| thread.insert(at, spin));
        }
        random
    })
}

impl Code<'_> {
    pub(super) fn spin(&mut self, r: u8, x: Place, round: &Round, c: i128, (tags, fence): (u8, Option<u8>)) {
        let head = self.lines.len();
        let mut again = format!("(r{r} == {c})");
        match round {
            Round::Load => self.step(&Step::Load(r, x, tags)),
            Round::Update(change) => {
                self.step(&Step::Update(r, x, *change, tags));
            }
            Round::Pair(value) if self.words.exclusive => {
                self.step(&Step::Pair(r, x, *value, tags));
                again = "(ok == 1)".into();
            }
            Round::Pair(value) => self.step(&Step::Update(r, x, Change::Set(*value), tags)),
            Round::Twice(first) => {
                self.step(&Step::Load((r + 1) % 3, *first, tags));
                self.step(&Step::Load(r, x, tags / 16));
            }
        }
        fence.into_iter().for_each(|fence| self.step(&Step::Fence(fence)));
        let next = self.lines.len() + 1;
        self.push(format!("branch {again} then @{head} else @{next}"));
    }
}
