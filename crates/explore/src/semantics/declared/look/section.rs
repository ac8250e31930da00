//! Atomic sections in the walk over a region: one access to what is around them, performed as a whole or not at all.

use std::ops::Range;

use cyrano_ir::Op;
use cyrano_ir::dataflow::{reads, writes};

use super::Lookahead;
use crate::reductions::ample::Footprint;
use crate::semantics::declared::follow::Way;
use crate::semantics::declared::region::Region;
use crate::semantics::declared::sight::Ready;

impl<const W: usize> Lookahead<'_, W> {
    /// An atomic section, which is performed as a whole or not at all. Returns where it ends.
    pub(super) fn section(&mut self, begin: u32, weight: f64, way: &mut Way<W>) -> u32 {
        let region = self.region;
        let length = region.code[(begin - region.start) as usize..].iter().position(|op| matches!(op, Op::AtomicEnd));
        let end = begin + length.map_or(1, |length| length as u32 + 1);
        let regs = way.regs.clone();
        let mut follows = self.listed(begin, way);
        let (mut first, mut footprint) = (None, Footprint::default());
        for pc in begin + 1..end - 1 {
            let op = region.op(pc);
            self.note_sums(op, &way.regs);
            match op {
                Op::Assign { .. } | Op::Assert { .. } => follows = follows | self.compute(pc, op, weight, way),
                // Made with the section: a name that nobody holds.
                Op::Choose { dst, .. } => {
                    let done = self.done_at(pc);
                    self.meet(done.is_some());
                    let from = self.hand_on(pc, op, way);
                    way.note(dst, from);
                    self.assign(pc, dst, done, weight, way);
                }
                Op::Assume(_) | Op::Limit { .. } => follows = follows | self.hand_on(pc, op, way),
                _ if op.access_kind().is_some() => {
                    let done = self.done_at(pc);
                    self.meet(done.is_some());
                    self.look.accesses_left |= done.is_none();
                    first = first.or(Some((pc, done.is_some())));
                    footprint = footprint.or(self.footprint(op, way));
                    follows = follows | self.access_follows(pc, op, way);
                    self.deliver(pc, op, done, weight, way);
                }
                _ => {}
            }
        }
        let Some((pc, done)) = first else { return end };
        let (unit, mut ready) = (region.unit(pc).unwrap_or_default(), false);
        if self.judge(unit, pc, done, follows) {
            ready = !needs_more(region, begin..end, &regs);
            self.look.waits |= !ready;
            self.look.ready.push(Ready { pc: begin, regs, certain: weight == 1.0 });
        }
        if !done {
            let waits = |pc: u32| matches!(region.op(pc), Op::Assume(_) | Op::Limit { .. });
            let certain = weight == 1.0 && !(begin..end).any(waits);
            self.leave_open((pc, unit), certain, ready, follows, footprint);
        }
        end
    }
}

/// Whether a section reads registers that are unknown and that it does not write before.
fn needs_more(region: &Region, section: Range<u32>, regs: &[Option<i128>]) -> bool {
    let mut known: Vec<bool> = regs.iter().map(Option::is_some).collect();
    section.map(|pc| region.op(pc)).any(|op| {
        let mut unknown = false;
        reads(op, &mut |register| unknown |= !known[register.index()]);
        if let Some(write) = writes(op).filter(|write| write.is_definite()) {
            write.registers().for_each(|register| known[register.index()] = true);
        }
        unknown
    })
}
