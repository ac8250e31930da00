//! A word of memory that threads share, as the types of this crate are made of.

use std::sync::atomic::Ordering;

use cyrano_graphs::native::{Update, Written};
use cyrano_ir::{Fence, LocId, Tags};

use crate::rt::access::{Access, Kind};
use crate::rt::{self, Place, ask, fail};

/// What an order is to the engine.
pub(crate) fn tags(order: Ordering) -> Tags {
    Tags::ATOMIC
        | match order {
            Ordering::Acquire => Tags::ACQUIRE,
            Ordering::Release => Tags::RELEASE,
            Ordering::AcqRel => Tags::ACQUIRE | Tags::RELEASE,
            Ordering::SeqCst => Tags::SEQ_CST,
            _ => Tags::default(),
        }
}

/// A word of memory.
#[derive(Debug)]
pub(crate) struct Word {
    loc: LocId,
    /// The run that it was made in.
    epoch: u64,
}

impl Word {
    pub(crate) fn new(value: u64, place: Place) -> Self {
        rt::with(|state| Self { loc: state.make(value, place), epoch: state.epoch })
    }

    /// One that the runtime has made.
    pub(crate) fn of(loc: LocId) -> Self {
        rt::with(|state| Self { loc, epoch: state.epoch })
    }

    #[inline]
    fn is_of_now(&self, place: Place) {
        if rt::with(|state| state.epoch) != self.epoch {
            fail(
                "this was made in another execution: nothing of one may be kept for the next, in a static for example"
                    .to_owned(),
                place,
            );
        }
    }

    pub(crate) fn load(&self, order: Tags, place: Place) -> u64 {
        self.is_of_now(place);
        ask::load(self.loc, order, place)
    }

    pub(crate) fn store(&self, value: u64, order: Tags, place: Place) {
        self.is_of_now(place);
        ask::store(self.loc, order, value, place);
    }

    /// Reads, and writes what comes of it; says what was read.
    pub(crate) fn update(
        &self,
        apply: fn(u64, [u64; 2]) -> Written,
        operands: [u64; 2],
        (order, failed): (Tags, Tags),
        place: Place,
    ) -> u64 {
        self.is_of_now(place);
        ask::update(self.loc, order, Update { apply, operands, failed }, place)
    }

    /// Waits until it holds this, then holds that.
    pub(crate) fn take(&self, this: u64, that: u64, place: Place) {
        fn apply(value: u64, [this, that]: [u64; 2]) -> Written {
            if value == this { Written::Value(that) } else { Written::Wait }
        }
        self.update(apply, [this, that], (tags(Ordering::Acquire), tags(Ordering::Relaxed)), place);
    }

    /// What it holds, for somebody who is alone with it: everybody else's accesses happen before, or it is a race.
    pub(crate) fn exclusive(&self, writes: bool, place: Place) -> u64 {
        self.is_of_now(place);
        let kind = if writes { Kind::Write } else { Kind::Read };
        self.plain(kind, place);
        ask::load(self.loc, tags(Ordering::Relaxed), place)
    }

    /// Notes an access that is not atomic.
    fn plain(&self, kind: Kind, place: Place) {
        let fine = rt::with(|state| {
            let (thread, at) = state.now();
            std::thread::panicking() || state.access(self.loc, Access { thread, at, kind }, place)
        });
        if !fine {
            rt::fiber::leave();
        }
    }
}

/// Passes a fence.
pub(crate) fn fence(order: Ordering, place: Place) {
    let name = match order {
        Ordering::Acquire => "thread_fence.acquire",
        Ordering::Release => "thread_fence.release",
        Ordering::AcqRel => "thread_fence.acq_rel",
        Ordering::SeqCst => "thread_fence.seq_cst",
        _ => panic!("there is no such thing as a relaxed fence"),
    };
    let Some(fence) = Fence::named(name) else { unreachable!("a fence of C11") };
    ask::fence(fence, place);
}
