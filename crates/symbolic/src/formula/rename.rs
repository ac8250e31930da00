//! Renaming of constants and locations in code: what a [symmetry](crate::formula::symmetry) does to the text of a thread.

use cyrano_ir::{Leaf, LocId, Op};

/// What becomes of the leaves of an instruction.
pub(crate) trait Rename {
    /// A constant of an expression or a choice.
    fn constant(&mut self, value: i128) -> i128;
    /// A location that is named.
    fn location(&mut self, loc: LocId) -> LocId;
}

/// The instruction with all of its leaves renamed; none for kinds of instructions that symmetries do not deal with.
pub(crate) fn op(op: &Op, to: &mut impl Rename) -> Option<Op> {
    if matches!(op, Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_))
        || matches!(op, Op::Transaction(_) | Op::Invoke { .. } | Op::Respond(_))
    {
        return None;
    }
    let mut op = op.clone();
    op.for_each_leaf(&mut |leaf| match leaf {
        Leaf::Constant(value) => *value = to.constant(*value),
        Leaf::Location(loc) => *loc = to.location(*loc),
        Leaf::Register(_) => {}
    });
    Some(op)
}

/// Notes all leaves and leaves them as they are.
#[derive(Default)]
pub(crate) struct Leaves {
    pub(crate) constants: Vec<i128>,
    pub(crate) locations: Vec<LocId>,
}

impl Rename for Leaves {
    fn constant(&mut self, value: i128) -> i128 {
        self.constants.push(value);
        value
    }

    fn location(&mut self, loc: LocId) -> LocId {
        self.locations.push(loc);
        loc
    }
}
