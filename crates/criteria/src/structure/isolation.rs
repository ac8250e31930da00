//! Abort and pending isolation: who sees what a transaction changed that does not commit (FOIL, section 8.1).
//!
//! These are about executions, not histories: every shared location counts. [`breach`] is the definition, for one execution; [`Isolation`] is the
//! same one step at a time.
//!
//! A transaction x *changes* a location when it writes another value to it; a store to a transactional variable always counts, because values do
//! not matter there. A transaction y of another thread *observes* the change when it reads the location before anybody else writes it, and before
//! x ends. It *aborts in the step* if its next event, rollbacks apart, is its abort.
//! Accesses that a thread issued before its last transaction ended, and that are performed later, belong to no transaction.

use crate::history::Action;

/// Something that happens in an execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Deed {
    /// Whose.
    pub thread: u8,
    /// What it means to transactions.
    pub event: Option<Action>,
    /// The location, for an access.
    pub location: Option<u32>,
    /// Whether it reads the location.
    pub reads: bool,
    /// Whether it writes the location.
    pub writes: bool,
    /// Whether that changes it.
    pub changes: bool,
    /// Whether it belongs to no transaction.
    pub stale: bool,
}

/// Which isolation is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Of transactions that abort.
    Abort,
    /// Of transactions that are under way.
    Pending,
}

/// How isolation is broken: positions in the execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The change.
    pub change: usize,
    /// Who reads it.
    pub sight: usize,
    /// What the reader does next instead of aborting.
    pub next: usize,
    /// The abort of the transaction that made the change.
    pub abort: Option<usize>,
}

/// How an execution breaks isolation, by definition.
pub fn breach(kind: Kind, deeds: &[Deed]) -> Option<Breach> {
    for (change, x) in deeds.iter().enumerate().filter(|(_, deed)| deed.changes && !deed.stale) {
        let end = (change..deeds.len()).find(|at| deeds[*at].thread == x.thread && ends(&deeds[*at]));
        let overwrites = |at: &usize| {
            let deed = &deeds[*at];
            deed.writes && deed.location == x.location && deed.thread != x.thread
        };
        let overwritten = (change + 1..deeds.len()).find(overwrites);
        let until = end.unwrap_or(deeds.len()).min(overwritten.map_or(deeds.len(), |at| at + 1));
        for sight in change + 1..until {
            let y = &deeds[sight];
            if !y.reads || y.stale || y.location != x.location || y.thread == x.thread {
                continue;
            }
            let next = (sight + 1..deeds.len()).find(|at| deeds[*at].thread == y.thread && matters(&deeds[*at]));
            let goes_on = next.filter(|at| deeds[*at].event != Some(Action::Abort));
            let abort = end.filter(|at| deeds[*at].event == Some(Action::Abort));
            let breaks = |next: usize| match kind {
                Kind::Abort => abort.is_some(),
                Kind::Pending => end.is_none_or(|end| next < end),
            };
            if let Some(next) = goes_on.filter(|next| breaks(*next)) {
                return Some(Breach { change, sight, next, abort });
            }
        }
    }
    None
}

fn ends(deed: &Deed) -> bool {
    matches!(deed.event, Some(Action::Commit | Action::Abort))
}

/// Whether it shows that its thread goes on, or aborts.
fn matters(deed: &Deed) -> bool {
    !deed.stale && deed.event.is_some_and(|event| !matches!(event, Action::Rollback(_) | Action::Begin))
}

/// What has to be remembered to notice a breach.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Isolation {
    /// For each location one more than the thread whose transaction, still under way, changed it last.
    changed: Vec<u8>,
    /// For each pair of threads what the second has seen of the first.
    sights: Vec<Sight>,
    threads: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sight {
    Nothing,
    /// It has seen a change, and done nothing since.
    Fresh,
    /// The same, and the transaction that made the change has aborted.
    FreshOfAborted,
    /// It has seen a change and has gone on.
    WentOn,
}

impl Isolation {
    /// Before anything has happened.
    pub fn new(threads: u8, locations: usize) -> Self {
        let pairs = usize::from(threads) * usize::from(threads);
        Self { changed: vec![0; locations], sights: vec![Sight::Nothing; pairs], threads }
    }

    /// Takes a step; whether it is a breach.
    pub fn step(&mut self, kind: Kind, deed: &Deed) -> bool {
        let (me, threads) = (deed.thread, self.threads);
        let at = |x: u8, y: u8| usize::from(x) * usize::from(threads) + usize::from(y);
        let mut breach = false;
        if matters(deed) {
            for x in 0..threads {
                let sight = &mut self.sights[at(x, me)];
                let goes_on = deed.event != Some(Action::Abort);
                breach |= goes_on
                    && matches!((&*sight, kind), (Sight::FreshOfAborted, Kind::Abort) | (Sight::Fresh, Kind::Pending));
                *sight = match (*sight, goes_on) {
                    (Sight::Fresh | Sight::WentOn, true) => Sight::WentOn,
                    (Sight::WentOn, false) => Sight::WentOn,
                    _ => Sight::Nothing,
                };
            }
        }
        if let Some(location) = deed.location {
            let owner = self.changed[location as usize];
            if deed.reads && !deed.stale && owner != 0 && owner != me + 1 {
                let sight = &mut self.sights[at(owner - 1, me)];
                *sight = if *sight == Sight::WentOn { Sight::WentOn } else { Sight::Fresh };
            }
            if deed.changes && !deed.stale {
                self.changed[location as usize] = me + 1;
            } else if deed.writes && owner != me + 1 {
                self.changed[location as usize] = 0;
            }
        }
        if ends(deed) {
            self.changed.iter_mut().filter(|owner| **owner == me + 1).for_each(|owner| *owner = 0);
            for y in 0..threads {
                let sight = &mut self.sights[at(me, y)];
                let aborts = deed.event == Some(Action::Abort) && kind == Kind::Abort;
                breach |= aborts && *sight == Sight::WentOn;
                *sight = if aborts && *sight == Sight::Fresh { Sight::FreshOfAborted } else { Sight::Nothing };
            }
        }
        breach
    }
}
