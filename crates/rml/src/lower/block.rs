//! Atomic blocks to instructions.
//!
//! **Invariant:** a block has one end in the code. Whatever leaves it (`break`, `continue`, `return`) notes where it goes in a register and
//! goes to the end, behind which the register is branched on. So the way out is among what a block hands on, and a serial run
//! that leaves the block in another way is noticed.

use cyrano_ir::{Expr as IrExpr, LocalExpr, Op, Place, Span, Ty};

use crate::expand::fold::fold;
use crate::lower::build::{Label, is, var};
use crate::lower::{Language, Lower};
use crate::report::Fallible;
use crate::syntax::ast::{Block, Expr};

/// The block that is being lowered.
pub(crate) struct OpenBlock {
    end: Label,
    /// Where the ways out lead, besides the usual one.
    exits: Vec<Label>,
}

impl<'a, L: Language<'a>> Lower<'a, '_, L> {
    /// Lowers a block.
    pub(crate) fn lower_atomic_block(
        &mut self,
        name: String,
        results: &'a [Expr],
        body: &'a Block,
        span: Span,
    ) -> Fallible<()> {
        self.emit(Op::BlockBegin(name), span)?;
        let end = self.label();
        let outer = self.block.replace(OpenBlock { end, exits: Vec::new() });
        let lowered = self.lower_block(body);
        let exits = std::mem::replace(&mut self.block, outer).map(|block| block.exits).unwrap_or_default();
        lowered?;
        if !exits.is_empty() {
            let dst = Place::Reg(self.exit(span)?);
            self.assign(dst, IrExpr::Const(0), body.close)?;
        }
        self.place(end);
        let results: Fallible<Vec<LocalExpr>> = results.iter().map(|result| fold(result, self)).collect();
        self.emit(Op::BlockEnd(results?), body.close)?;
        for (number, target) in (1..).zip(exits) {
            let way = var(self.exit(span)?);
            self.when(is(way, number), target, body.close)?;
        }
        Ok(())
    }

    /// Goes to a label outside of the open block, by way of the block's end; false if there is none that the label is outside of.
    /// Labels are made in the order of the code, so those inside are those made since the block began.
    pub(crate) fn leave_block(&mut self, target: Label, span: Span) -> Fallible<bool> {
        let Some(block) = self.block.as_mut().filter(|block| target < block.end) else { return Ok(false) };
        let known = block.exits.iter().position(|exit| *exit == target);
        let number = known.unwrap_or_else(|| {
            block.exits.push(target);
            block.exits.len() - 1
        });
        let end = block.end;
        let dst = Place::Reg(self.exit(span)?);
        let value = IrExpr::Const(i128::try_from(number + 1).unwrap_or(i128::MAX));
        self.assign(dst, value, span)?;
        self.jump(end, span)?;
        Ok(true)
    }

    /// The register with the way out of a block.
    fn exit(&mut self, span: Span) -> Fallible<cyrano_ir::RegId> {
        self.register("%exit", Ty::Int, span)
    }
}
