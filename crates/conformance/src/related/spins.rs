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
    /// An atomic section that loads and stores, and what it finds decides.
    Swap(Value),
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

/// The word of a lock.
const LOCK: Place = Place::Named(3);

/// How a thread deals with a lock: what it waits with, and where, where it gives it back, and whether it looks at it in another way.
type Holds = (Round, u8, u8, (u8, u8), Option<u8>, Option<u8>);

fn holds() -> impl Strategy<Value = Holds> {
    let one = Value::Const(1);
    let round = prop_oneof![
        6 => Just(Round::Update(Change::Set(one))),
        2 => Just(Round::Swap(one)),
        1 => Just(Round::Load),
        1 => Just(Round::Update(Change::Cas(Value::Const(0), one, 0))),
    ];
    let places = (any::<u8>(), any::<u8>());
    (round, reg(), any::<u8>(), places, prop::option::of(any::<u8>()), prop::option::weighted(0.1, any::<u8>()))
}

/// The same programs under a lock that is taken by exchanging until it was free.
pub fn locking(most: usize, models: usize) -> impl Strategy<Value = Related> {
    (related(most, models), prop::collection::vec(holds(), 3)).prop_map(|(mut random, holds)| {
        for (thread, (round, r, tags, (from, to), fence, looks)) in random.threads.iter_mut().zip(holds) {
            let to = usize::from(to) % (thread.len() + 1);
            let from = usize::from(from) % (to + 1);
            thread.insert(to, Step::Store(LOCK, Value::Const(0), tags / 3));
            looks.into_iter().for_each(|tags| thread.insert(to, Step::Load(r, LOCK, tags)));
            thread.insert(from, Step::Spin(r, LOCK, round, 1, tags, fence));
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
            Round::Swap(value) => self.step(&Step::Section(r, x, None, *value, tags)),
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
