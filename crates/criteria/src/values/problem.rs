//! A criterion and a digest as constraints on an order of transactions.
//!
//! **Invariant:** taking away a constraint (a read that has to be justified, a pair that real time orders, a pair that must not
//! overlap) never loses an order. That is what makes a smallest set of constraints without an order an explanation; taking away a
//! *transaction* would not do, since somebody may have read from it.

use super::digest::{MAX_TRANSACTIONS, bits};
use super::{Digest, Status};
use crate::criterion::TxCriterion;

/// Constraints on an order. Sets are bit masks of transactions or of locations.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    pub(super) digest: &'a Digest,
    pub(super) init: &'a [i128],
    /// What memory holds behind the last one, if that counts.
    pub(super) end: Option<&'a [i128]>,
    /// Whether snapshots and commits are ordered instead of whole transactions.
    pub(super) instants: bool,
    /// Those that have a place in every order.
    pub(super) required: u32,
    /// Those of them whose writes take effect.
    pub(super) visible: u32,
    /// Commit-pending ones whose writes may take effect; if they do they have a place.
    pub(super) optional: u32,
    /// The locations whose first read has to be justified, for each transaction.
    pub(super) reads: [u32; MAX_TRANSACTIONS],
    /// Those that come before, for each transaction.
    pub(super) before: [u32; MAX_TRANSACTIONS],
    /// Those that must not overlap with it, for each transaction.
    pub(super) clashes: [u32; MAX_TRANSACTIONS],
}

impl<'a> Problem<'a> {
    /// What a criterion asks of a digest; or a transaction that is wrong on its own.
    pub(super) fn new(criterion: TxCriterion, digest: &'a Digest, init: &'a [i128]) -> Result<Self, u8> {
        let all = 0..digest.transactions();
        let with = |status| all.clone().filter(|t| digest.status(*t) == status).fold(0, |set, t| set | 1_u32 << t);
        let visible = with(Status::Committed);
        let pending = with(Status::CommitPending);
        let required = match criterion.is_about_committed() {
            true => visible,
            false => visible | pending | with(Status::Live) | with(Status::Aborted),
        };
        if let Some(torn) = bits(required).find(|t| digest.is_torn(*t)) {
            return Err(torn);
        }
        let instants = criterion == TxCriterion::SnapshotIsolation;
        let none = [0; MAX_TRANSACTIONS];
        let (reads, before, clashes) = (none, none, none);
        let mut new =
            Self { digest, init, end: None, instants, required, visible, optional: 0, reads, before, clashes };
        new.constrain(criterion, required | pending);
        new.optional = bits(pending).filter(|t| new.is_useful(*t, required | pending)).fold(0, |set, t| set | 1 << t);
        Ok(new)
    }

    fn constrain(&mut self, criterion: TxCriterion, places: u32) {
        for tx in bits(places) {
            let t = tx as usize;
            self.reads[t] = self.digest.reads(tx);
            if criterion.keeps_real_time() {
                self.before[t] = self.digest.before(tx) & places;
            }
            if self.instants {
                let mine = self.digest.writes(tx);
                let clash = bits(places).filter(|other| *other != tx && self.digest.writes(*other) & mine != 0);
                self.clashes[t] = clash.fold(0, |set, other| set | 1 << other);
            }
        }
    }

    /// Whether a commit-pending transaction could justify a read of another. If it cannot, then in any order in which its writes take
    /// effect they need not: nobody's read returns them, so nobody's read changes without them.
    fn is_useful(&self, tx: u8, places: u32) -> bool {
        let returned = |reader: u8, loc: u8| self.digest.first_read(reader, loc) == self.digest.written(tx, loc);
        let writes = self.digest.writes(tx);
        !self.digest.is_torn(tx)
            && bits(places)
                .any(|reader| reader != tx && bits(self.reads[reader as usize] & writes).any(|l| returned(reader, l)))
    }

    /// Whether for each read of a transaction there is somebody who could justify it.
    pub(super) fn could_be_legal(&self, tx: u8) -> bool {
        let writers = (self.visible | self.optional) & !(1 << tx);
        bits(self.reads[tx as usize]).all(|loc| {
            let value = self.digest.first_read(tx, loc);
            let wrote = |w: u8| self.digest.writes(w) >> loc & 1 == 1 && self.digest.written(w, loc) == value;
            self.init[loc as usize] == value || bits(writers).any(wrote)
        })
    }

    /// The transactions with a place if the writes of `chosen`, some of the optional ones, take effect.
    pub(super) fn places(&self, chosen: u32) -> u32 {
        self.required | chosen
    }

    /// The subsets of the optional ones, the empty one first.
    pub(super) fn choices(&self) -> impl Iterator<Item = u32> + use<> {
        let all = self.optional;
        let mut next = Some(0_u32);
        std::iter::from_fn(move || {
            let now = next?;
            next = (now != all).then(|| (now.wrapping_sub(all)) & all);
            Some(now)
        })
    }
}
