//! Transactions that run again until they commit: what has to be remembered of the attempts that aborted.
//!
//! A thread's transaction has one number in the digest, whatever the number of its attempts, so that the state stays finite.
//! For the criteria about committed transactions nothing of an aborted attempt counts. For opacity its reads have to be legal somewhere.
//!
//! **Two transactions** (two threads with one each). Let attempt A abort, with reads that are legal so far, and let B be the other
//! transaction as it stands. Whatever begins later comes after A, and it is an attempt of either thread.
//! - B has not begun, or had ended when A began, or has committed in the meantime: the place of A relative to B is settled, for
//!   everybody else comes after both; A is forgotten.
//! - B is live: A did not see it, so A is legal before B, and there it stays legal whatever becomes of B; A is forgotten.
//! - B has asked to commit, and A is legal in the initial memory: the same, unless an earlier attempt of A's thread has to come
//!   after B; then A does too, and its reads are added to those of that attempt, for nothing visible comes between the two.
//! - B has asked to commit, and A is not legal without it: A keeps a place of its own (a *ghost*) until B has returned. If B aborts, the
//!   history is wrong. If it commits, A is forgotten, and what A preceded is preceded by B.
//!
//! **More transactions**, and criteria that do not look at prefixes, for which "legal so far" means nothing. Ghosts are kept for ever, except for one that reads what an earlier ghost read and is preceded by nothing that did
//! not precede that one: it can stand right behind it. Where there is no room for a ghost the path is cut, and the verdict is at most `bounded`.

use cyrano_criteria::values::{Digest, Status};
use cyrano_ir::{COMMIT_ORDER, Program, RegId, TxCriterion};

use crate::semantics::machine::Machine;
use crate::semantics::state::State;

/// The most ghosts where there are more than two transactions.
const MOST_GHOSTS: usize = 6;

/// The order that the transactions of a program are claimed to run in.
pub(super) enum Order {
    /// Any.
    Some,
    /// The order of the commits.
    Commits,
    /// That of the keys in these registers, for each transaction its thread and the registers.
    Keys(Vec<(usize, Vec<RegId>)>),
}

impl Order {
    /// The order that a criterion asks for; none if the program has no such order.
    pub(super) fn of(program: &Program, criterion: TxCriterion) -> Option<Self> {
        let TxCriterion::InOrder(order) = criterion else { return Some(Self::Some) };
        if order.name() == COMMIT_ORDER {
            return Some(Self::Commits);
        }
        let threads = program.serial_order(order.name())?.keys.iter().enumerate();
        let keys = threads.flat_map(|(thread, txns)| txns.iter().map(move |keys| (thread, keys.clone())));
        Some(Self::Keys(keys.collect()))
    }
}

/// How transactions are numbered: the threads' own ones first, then the ghosts.
#[derive(Clone, Copy)]
pub(super) struct Attempts {
    own: u8,
}

impl Attempts {
    pub(super) fn new(own: usize) -> Self {
        Self { own: own as u8 }
    }

    /// How many numbers there have to be.
    pub(super) fn numbers(self, criterion: TxCriterion) -> usize {
        let ghosts = match criterion.is_about_committed() {
            true => 0,
            false if self.is_pair(criterion) => 2,
            false => MOST_GHOSTS,
        };
        usize::from(self.own) + ghosts
    }

    /// Whether there are two transactions, each of them legal so far.
    fn is_pair(self, criterion: TxCriterion) -> bool {
        self.own == 2 && criterion.judges_prefixes()
    }

    /// An attempt of `tx` has aborted; false if there is no room to remember it.
    pub(super) fn abort(self, digest: &mut Digest, tx: u8, criterion: TxCriterion, init: &[i128]) -> bool {
        if criterion.is_about_committed() || digest.reads(tx) == 0 && !digest.is_torn(tx) {
            digest.restart(tx);
            return true;
        }
        if self.is_pair(criterion) { self.abort_of_two(digest, tx, init) } else { self.keep(digest, tx) }
    }

    fn abort_of_two(self, digest: &mut Digest, tx: u8, init: &[i128]) -> bool {
        let (other, ghost) = (1 - tx, self.own + tx);
        let settled = digest.before(tx) >> other & 1 == 1 || digest.status(other) != Status::CommitPending;
        let has_ghost = digest.status(ghost) != Status::Waiting;
        let mut locations = (0..digest.locations()).filter(|loc| digest.reads(tx) >> loc & 1 == 1);
        let legal_alone = locations.all(|loc| digest.first_read(tx, loc) == init[usize::from(loc)]);
        if settled || legal_alone && !has_ghost {
            digest.restart(tx);
        } else if has_ghost {
            digest.merge_reads(tx, ghost);
            digest.restart(tx);
        } else {
            digest.rename(tx, ghost);
        }
        true
    }

    fn keep(self, digest: &mut Digest, tx: u8) -> bool {
        let ghosts = self.own..digest.transactions();
        let same = |ghost: &u8| {
            let reads = digest.reads(tx);
            let values = (0..digest.locations()).filter(|loc| reads >> loc & 1 == 1);
            digest.reads(*ghost) == reads
                && digest.is_torn(*ghost) == digest.is_torn(tx)
                && values.into_iter().all(|loc| digest.first_read(*ghost, loc) == digest.first_read(tx, loc))
                && digest.before(tx) >> ghost & 1 == 1
                && digest.before(tx) & !digest.before(*ghost) == 1 << ghost
        };
        if ghosts.clone().any(|ghost| same(&ghost)) {
            digest.restart(tx);
            return true;
        }
        let Some(free) = ghosts.into_iter().find(|ghost| digest.status(*ghost) == Status::Waiting) else {
            return false;
        };
        digest.rename(tx, free);
        true
    }

    /// Transaction `tx` has committed.
    pub(super) fn commit(self, digest: &mut Digest, tx: u8, criterion: TxCriterion) {
        if criterion.is_about_committed() || !self.is_pair(criterion) {
            return;
        }
        let ghost = self.own + 1 - tx;
        if digest.status(ghost) != Status::Waiting {
            digest.precede(tx, ghost);
            digest.restart(ghost);
        }
    }
}

/// The keys of the transactions in a final state, by number; ghosts have none.
pub(super) fn keys(m: &Machine<'_>, state: &State, registers: &[(usize, Vec<RegId>)]) -> Vec<Vec<i128>> {
    let value = |thread: usize, reg: &RegId| state.regs[m.threads[thread].base + reg.index()];
    registers.iter().map(|(thread, keys)| keys.iter().map(|key| value(*thread, key)).collect()).collect()
}
