//! The deterministic specification of opacity for two threads (FOIL, section 3.2, Algorithm 2).
//!
//! Instead of guessing the serial order, flags record which orders are still possible: a *strong* predecessor is one by a
//! conflict, a *hidden* one through a transaction that has committed.
//! The indentation lost in print is repaired: a rollback always takes back the store and dooms its thread; a load of what
//! the other thread stored fixes the other's fate only if the loading thread is sure to commit; the second half of a
//! commit does not depend on a hidden predecessor; and resetting a thread keeps its own strong-predecessor flag.
//! A read-finish without a pending load and a compare-and-swap are treated as in [`super::foil_nondet`].

use super::foil::{Aborts, Rules, bit, reject_if};
use crate::history::Action;

/// The rules of Algorithm 2.
#[derive(Clone, Copy, Debug)]
pub struct FoilDet(pub Aborts);

/// What is known about a thread's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Status {
    /// There is none.
    #[default]
    Finished,
    /// Nothing.
    Started,
    /// It comes before a transaction that has committed.
    Pending,
    /// It can only commit.
    CommitSure,
    /// It can only commit, and comes before a transaction that has committed.
    CommitSurePending,
    /// It can only abort, and may do nothing else but roll back.
    AbortSure,
    /// It can only abort.
    CommitImpossible,
}

/// The state of a thread. Sets of variables are bit masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lane {
    status: Status,
    /// Variables read.
    rs: u8,
    /// Variables stored to and not rolled back.
    ws: u8,
    /// The variable of the load whose read has not finished.
    urs: Option<u8>,
    /// Prohibited reads: stored to by a transaction that comes later in the serial order.
    prs: u8,
    /// Prohibited writes: stored to or read by a transaction that comes later in the serial order.
    pws: u8,
    /// Hidden predecessor: the other thread's transaction precedes one that had committed before this one started.
    hp: bool,
    /// It loaded what the other thread's unfinished transaction had stored.
    wp: bool,
    /// It stored to what the other thread's unfinished read had loaded.
    rp: bool,
    /// Strong predecessor: the other thread's transaction comes first.
    sp: bool,
}

impl Rules for FoilDet {
    type Lane = Lane;

    fn name(&self) -> &'static str {
        match self.0 {
            Aborts::Forgotten => "foil-det",
            Aborts::Remembered => "foil-det-sound",
        }
    }

    fn take(&self, t: &mut Lane, u: &mut Lane, action: Action) -> Option<()> {
        take(t, u, action, self.0)
    }
}

/// One event of the thread `t`; `None` rejects.
fn take(t: &mut Lane, u: &mut Lane, action: Action, aborts: Aborts) -> Option<()> {
    match action {
        Action::Store(v) => store(t, u, v),
        Action::Load(v) => load(t, u, v),
        Action::Cas(v) => {
            load(t, u, v)?;
            read_finish(t, u)?;
            store(t, u, v)
        }
        Action::Rollback(v) => rollback(t, u, v),
        Action::ReadFinish => read_finish(t, u),
        Action::Commit => commit(t, u),
        Action::Abort => abort(t, u, aborts),
        // With two threads it makes no difference when a transaction begins before its first event.
        Action::Begin => Some(()),
    }
}

fn doom(lane: &mut Lane) {
    lane.status = Status::AbortSure;
    lane.urs = None;
}

impl Lane {
    fn must_commit(&self) -> bool {
        matches!(self.status, Status::CommitSure | Status::CommitSurePending)
    }

    fn cannot_commit(&self) -> bool {
        matches!(self.status, Status::AbortSure | Status::CommitImpossible)
    }
}

/// The first access of a transaction: what precedes it because it started after another one committed.
fn start(t: &mut Lane, u: &Lane) {
    if t.status == Status::Finished {
        t.hp |= u.status == Status::Pending;
        t.sp |= u.status == Status::CommitSurePending;
        t.status = Status::Started;
    }
}

/// `t` depends on a store of `u`: `u` comes first and can no longer abort.
fn depend(t: &mut Lane, u: &mut Lane) -> Option<()> {
    reject_if(u.cannot_commit())?;
    let settled = match u.status {
        Status::Pending => Some(Status::CommitSurePending),
        Status::Started => Some(Status::CommitSure),
        _ => None,
    };
    if let Some(status) = settled {
        u.status = status;
        u.rs |= u.urs.map_or(0, bit);
        u.sp |= u.wp || u.rp;
    }
    t.sp = true;
    Some(())
}

fn store(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.status == Status::AbortSure || t.urs.is_some() || t.pws & bit(v) != 0)?;
    t.ws |= bit(v);
    start(t, u);
    if u.ws & bit(v) != 0 {
        reject_if(u.wp || u.hp)?;
        depend(t, u)?;
    }
    if u.rs & bit(v) != 0 {
        t.sp = true;
        if u.wp {
            doom(u);
        }
    }
    if u.urs == Some(v) {
        t.rp = true;
        if u.sp || u.hp || u.wp {
            doom(u);
        }
    }
    reject_if(u.sp && t.sp)
}

fn load(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.status == Status::AbortSure || t.urs.is_some())?;
    start(t, u);
    if t.prs & bit(v) != 0 {
        reject_if(t.must_commit())?;
        t.status = Status::CommitImpossible;
    }
    t.urs = Some(v);
    if t.must_commit() {
        t.rs |= bit(v);
    }
    if u.ws & bit(v) != 0 {
        if t.must_commit() {
            depend(t, u)?;
        } else {
            t.wp = true;
            if u.sp {
                doom(t);
            }
        }
    }
    reject_if(u.sp && t.sp)
}

fn rollback(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.must_commit() || t.ws & bit(v) == 0)?;
    if u.wp {
        doom(u);
    }
    t.ws &= !bit(v);
    doom(t);
    Some(())
}

fn read_finish(t: &mut Lane, u: &mut Lane) -> Option<()> {
    reject_if(t.status == Status::AbortSure)?;
    let Some(v) = t.urs.take() else { return Some(()) };
    reject_if(t.prs & bit(v) != 0 && t.status == Status::CommitImpossible)?;
    t.rs |= bit(v);
    u.sp |= u.rp || matches!(t.status, Status::Pending | Status::CommitSurePending);
    if t.wp {
        depend(t, u)?;
    }
    reject_if(u.sp && t.sp)
}

fn commit(t: &mut Lane, u: &mut Lane) -> Option<()> {
    reject_if(t.cannot_commit() || t.urs.is_some())?;
    if t.hp && u.sp {
        if u.urs.is_some() {
            doom(u);
        } else {
            u.status = Status::CommitImpossible;
        }
    }
    if t.hp || t.rp || t.sp {
        prohibit(t, u);
    }
    reject_if(u.sp && t.sp)?;
    reset(t, u);
    Some(())
}

fn abort(t: &mut Lane, u: &mut Lane, aborts: Aborts) -> Option<()> {
    reject_if(t.ws != 0)?;
    // A read predecessor does not count here: the store that made it one has been rolled back.
    if aborts == Aborts::Remembered && (t.hp || t.sp) {
        prohibit(t, u);
    }
    reset(t, u);
    Some(())
}

/// The transaction of `t`, which ends, comes after the one of `u`, which may not get behind it later.
fn prohibit(t: &Lane, u: &mut Lane) {
    u.status = match u.status {
        Status::Started => Status::Pending,
        Status::CommitSure => Status::CommitSurePending,
        other => other,
    };
    u.prs |= t.ws | t.prs;
    u.pws |= t.ws | t.rs | t.pws;
}

/// The paper's ResetState, which keeps the thread's own strong predecessor.
fn reset(t: &mut Lane, u: &mut Lane) {
    *t = Lane { sp: t.sp, ..Lane::default() };
    u.hp = false;
    u.rp = false;
    u.wp = false;
    u.sp = false;
}
