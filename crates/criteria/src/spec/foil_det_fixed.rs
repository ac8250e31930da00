//! A deterministic specification of opacity for two threads that *is* the definition (FOIL, section 2.4.2, every prefix).
//!
//! It keeps the vocabulary of Algorithm 2 (read and write sets, prohibited sets, predecessors) and differs from it where
//! that algorithm differs from the definition; `docs/foil-specifications.md` lists the differences.
//!
//! Each thread knows what its unfinished transaction read and stored, which of the stores another transaction used (so
//! that they can no longer be rolled back), why the other thread's unfinished transaction must come first, and the
//! reads and stores of the other thread's *finished* transactions that must come later.
//! A finished transaction that no unfinished one must precede can never be part of a cycle, because new conflicts lead
//! from what has happened to what happens now: it is forgotten.
//! All finished transactions that the same unfinished one must precede close a cycle under the same condition, namely that
//! this one gets behind any of them: the union of their reads and stores is enough.
//! A load that may still be finished adds conflicts that point into the past; what they would be is kept with the load
//! until the read finishes or the thread does something else.

use super::foil::{Rules, bit, reject_if};
use crate::history::Action;

/// Its rules.
#[derive(Clone, Copy, Debug)]
pub struct FoilDetFixed;

/// What a set of transactions accessed; there are none if it is empty.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Accesses {
    /// Read or stored to.
    any: u8,
    writes: u8,
}

/// A load whose read may still finish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Pending {
    var: u8,
    /// The read cannot finish: its value was rolled back, or came from a transaction that must come later.
    lost: bool,
    /// The other thread's unfinished transaction stored the value before the load.
    from_other: bool,
    /// The other thread's unfinished transaction stored to the variable after the load.
    overwritten: bool,
    /// The other thread's finished transactions that must come later if the read finishes.
    later: Accesses,
}

/// The state of a thread. Sets of variables are bit masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lane {
    /// It is in a transaction.
    started: bool,
    /// Variables read, by reads that have finished.
    rs: u8,
    /// Variables stored to and not rolled back.
    ws: u8,
    /// Variables stored to that another transaction stored to or read since: no longer to be rolled back.
    used: u8,
    pending: Option<Pending>,
    /// The other thread's finished transactions that must come later: the prohibited sets.
    later: Accesses,
    /// The other thread's unfinished transaction must come first, whatever is rolled back.
    after: bool,
    /// The other thread's unfinished transaction must come first unless the stores to these variables are rolled back.
    after_by: u8,
}

impl Rules for FoilDetFixed {
    type Lane = Lane;

    fn name(&self) -> &'static str {
        "foil-det-fixed"
    }

    fn take(&self, t: &mut Lane, u: &mut Lane, action: Action) -> Option<()> {
        take(t, u, action)
    }
}

/// One event of the thread `t`; `None` rejects.
fn take(t: &mut Lane, u: &mut Lane, action: Action) -> Option<()> {
    if action == Action::Begin {
        // With two threads it makes no difference when a transaction begins before its first event.
        return Some(());
    }
    start(t, u);
    let pending = t.pending.take();
    match action {
        Action::Load(v) => load(t, u, v),
        Action::Store(v) => store(t, u, v)?,
        Action::Cas(v) => {
            load(t, u, v);
            let pending = t.pending.take();
            read_finish(t, u, pending)?;
            store(t, u, v)?;
        }
        Action::Rollback(v) => rollback(t, u, v)?,
        Action::ReadFinish => read_finish(t, u, pending)?,
        Action::Commit => finish(t, u),
        Action::Abort => {
            reject_if(t.ws != 0)?;
            finish(t, u);
        }
        Action::Begin => {}
    }
    reject_if(t.follows() && u.follows())?;
    settle(t);
    settle(u);
    Some(())
}

/// Forgets what makes no difference any more, so that fewer states stand for the same future.
fn settle(lane: &mut Lane) {
    // A store that stays orders the transactions for good.
    lane.after |= lane.after_by & lane.used != 0;
    if lane.after {
        lane.after_by = 0;
    }
    if let Some(pending) = &mut lane.pending
        && pending.lost
    {
        *pending = Pending { lost: true, ..Pending::default() };
    }
}

impl Accesses {
    fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn add(&mut self, other: Self) {
        self.any |= other.any;
        self.writes |= other.writes;
    }
}

impl Lane {
    /// The other thread's unfinished transaction must come first.
    fn follows(&self) -> bool {
        self.after || self.after_by != 0
    }
}

/// A transaction comes after the finished ones of its thread, and so after what must precede them.
fn start(t: &mut Lane, u: &Lane) {
    if !t.started {
        t.started = true;
        t.after = !u.later.is_empty();
    }
}

fn load(t: &mut Lane, u: &Lane, v: u8) {
    t.pending = Some(Pending {
        var: v,
        lost: t.later.writes & bit(v) != 0,
        from_other: u.ws & bit(v) != 0,
        ..Pending::default()
    });
}

fn store(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.later.any & bit(v) != 0)?;
    t.ws |= bit(v);
    t.after_by |= (u.rs | u.ws) & bit(v);
    u.used |= u.ws & bit(v);
    if let Some(pending) = &mut u.pending {
        pending.overwritten |= pending.var == v;
    }
    Some(())
}

fn rollback(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.ws & bit(v) == 0 || t.used & bit(v) != 0)?;
    t.ws &= !bit(v);
    t.after_by &= !bit(v);
    if let Some(pending) = &mut u.pending
        && pending.var == v
    {
        pending.lost |= pending.from_other;
        pending.from_other = false;
        pending.overwritten = false;
    }
    Some(())
}

fn read_finish(t: &mut Lane, u: &mut Lane, pending: Option<Pending>) -> Option<()> {
    let Some(pending) = pending else { return Some(()) };
    reject_if(pending.lost)?;
    t.rs |= bit(pending.var);
    if pending.from_other {
        t.after = true;
        u.used |= bit(pending.var);
    }
    if pending.overwritten {
        u.after_by |= bit(pending.var);
    }
    if !pending.later.is_empty() {
        t.later.add(pending.later);
        u.after |= u.started;
    }
    Some(())
}

/// The transaction of `t` ends; the unfinished one of `u` remembers it if it must or might have to come first.
fn finish(t: &mut Lane, u: &mut Lane) {
    let accesses = Accesses { any: t.rs | t.ws, writes: t.ws };
    let (follows, precedes) = (t.follows(), u.follows());
    if follows {
        u.later.add(accesses);
    }
    if let Some(pending) = &mut u.pending {
        let might_follow = pending.overwritten || !pending.later.is_empty();
        if might_follow && !follows {
            pending.later.add(accesses);
        }
        // Finishing the read would put `u` both before and after the transaction.
        pending.lost |= (pending.from_other || precedes) && might_follow || pending.from_other && follows;
        pending.from_other = false;
        pending.overwritten = false;
    }
    u.after = false;
    u.after_by = 0;
    *t = Lane::default();
}
