//! The nondeterministic specification of opacity for two threads (FOIL, section 3.1, Algorithm 1).
//!
//! A run guesses when each transaction takes its place in the serial order (a silent *serialize* step) and rejects what
//! contradicts the guess.
//! The indentation lost in print is repaired: a commit resets the thread whether or not it has a predecessor, and a store
//! sets the read-predecessor flag whether or not the other thread has one.
//! What the paper leaves open is settled as for the histories of this crate: a read-finish without a pending load changes
//! nothing unless the transaction is sure to abort, and a compare-and-swap is a load, its read-finish and a store at once.
//! The language is not opacity: see `docs/foil-specifications.md`, and [`Aborts`] for the change that makes it a part of
//! opacity.

use super::foil::{Aborts, Rules, bit, lanes, reject_if};
use crate::history::Action;

/// The rules of Algorithm 1.
#[derive(Clone, Copy, Debug)]
pub struct FoilNondet(pub Aborts);

/// What is known about the fate of a thread's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Status {
    /// Nothing; also the status of a thread without a transaction.
    #[default]
    Finished,
    /// It can only abort.
    AbortSure,
    /// It can only commit.
    CommitSure,
}

/// The state of a thread. Sets of variables are bit masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lane {
    status: Status,
    /// Its transaction has its place in the serial order.
    serialized: bool,
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
    /// It loaded what the other thread's unfinished transaction had stored.
    wp: bool,
    /// It stored to what the other thread's unfinished read had loaded.
    rp: bool,
    /// The other thread's transaction comes first.
    serp: bool,
}

/// Both threads.
type Lanes = [Lane; 2];

impl Rules for FoilNondet {
    type Lane = Lane;

    fn name(&self) -> &'static str {
        match self.0 {
            Aborts::Forgotten => "foil-nondet",
            Aborts::Remembered => "foil-nondet-sound",
        }
    }

    fn take(&self, t: &mut Lane, u: &mut Lane, action: Action) -> Option<()> {
        take(t, u, action, self.0)
    }

    fn settled(&self, state: Lanes) -> Vec<Lanes> {
        serializations(state)
    }
}

/// The state itself and what silent serialize steps make of it.
fn serializations(state: Lanes) -> Vec<Lanes> {
    let mut states = vec![state];
    let mut at = 0;
    while at < states.len() {
        for thread in 0..2 {
            let mut next = states[at];
            let (t, u) = lanes(&mut next, thread);
            if serialize(t, u).is_some() {
                states.push(next);
            }
        }
        at += 1;
    }
    states
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

/// `t` comes after `u`, which is a contradiction if `u` comes after `t`.
fn follow(t: &mut Lane, u: &Lane) -> Option<()> {
    reject_if(u.serp)?;
    t.serp = true;
    Some(())
}

/// `t` depends on a store of `u`: `u` comes first and can no longer abort.
fn depend(t: &mut Lane, u: &mut Lane) -> Option<()> {
    follow(t, u)?;
    reject_if(u.status == Status::AbortSure || u.wp)?;
    if u.status == Status::Finished {
        u.status = Status::CommitSure;
        u.rs |= u.urs.map_or(0, bit);
    }
    Some(())
}

fn store(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.status == Status::AbortSure || t.urs.is_some() || t.pws & bit(v) != 0)?;
    t.ws |= bit(v);
    if u.ws & bit(v) != 0 {
        depend(t, u)?;
    }
    if u.rs & bit(v) != 0 {
        follow(t, u)?;
    }
    if u.urs == Some(v) {
        if u.serp {
            doom(u);
        }
        t.rp = true;
    }
    Some(())
}

fn load(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.status == Status::AbortSure || t.urs.is_some())?;
    if t.prs & bit(v) != 0 {
        reject_if(t.status == Status::CommitSure)?;
        t.status = Status::AbortSure;
    }
    t.urs = Some(v);
    if t.status == Status::CommitSure {
        t.rs |= bit(v);
    }
    if u.ws & bit(v) != 0 {
        if t.status == Status::CommitSure {
            depend(t, u)?;
        } else {
            t.wp = true;
            if u.serp {
                doom(t);
            }
        }
    }
    Some(())
}

fn rollback(t: &mut Lane, u: &mut Lane, v: u8) -> Option<()> {
    reject_if(t.status == Status::CommitSure || t.ws & bit(v) == 0)?;
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
    t.rs |= bit(v);
    if t.wp {
        depend(t, u)?;
    }
    if u.rp {
        follow(u, t)?;
    }
    Some(())
}

fn serialize(t: &mut Lane, u: &mut Lane) -> Option<()> {
    reject_if(t.serialized)?;
    t.serialized = true;
    if !u.serialized {
        reject_if(t.serp)?;
        u.serp = true;
        if t.wp {
            doom(t);
        }
    }
    Some(())
}

fn commit(t: &mut Lane, u: &mut Lane) -> Option<()> {
    reject_if(!t.serialized || t.status == Status::AbortSure || t.urs.is_some())?;
    if t.rp && u.serp {
        doom(u);
    }
    prohibit(t, u);
    finish(t, u);
    Some(())
}

fn abort(t: &mut Lane, u: &mut Lane, aborts: Aborts) -> Option<()> {
    reject_if(!t.serialized || t.ws != 0)?;
    if aborts == Aborts::Remembered {
        prohibit(t, u);
    }
    finish(t, u);
    Some(())
}

/// If `u` comes before the transaction of `t`, which ends, it may not get behind it later.
fn prohibit(t: &Lane, u: &mut Lane) {
    if t.serp {
        u.prs |= t.ws | t.prs;
        u.pws |= t.ws | t.rs | t.pws;
    }
}

/// The paper's ResetState, and the place of the thread's next transaction behind one that is already serialized.
fn finish(t: &mut Lane, u: &mut Lane) {
    *t = Lane { serp: t.serp || u.serialized, ..Lane::default() };
    u.rp = false;
    u.wp = false;
    u.serp = false;
}
