//! Atomic blocks to instructions.
//!
//! **Invariant:** a block has one end in the code. Whatever leaves it (`break`, `continue`, `return`) notes where it goes in a register and
//! goes to the end, behind which the register is branched on. So the way out is among what a block hands on, and a serial run
//! that leaves the block in another way is noticed.

use cyrano_ir::{Expr as IrExpr, LocalExpr, Op, Place, Span, Ty};

use crate::expand::fold::fold;
use crate::lower::build::is;
use crate::lower::thread::{Label, Lower};
use crate::report::Fallible;
use crate::rules::block::is_block;
use crate::syntax::ast::{Block, Expr, Name};

/// The block that is being lowered.
pub(crate) struct OpenBlock {
    end: Label,
    /// Where the ways out lead, besides the usual one.
    exits: Vec<Label>,
}

impl<'a> Lower<'a, '_> {
    /// Whether `atomic` without a name is a block.
    pub(crate) fn commits(&self, body: &Block) -> bool {
        let shared = self.shared;
        is_block(body, shared.names, &|procedure| shared.checked.committing[procedure])
    }

    /// Lowers a block; without a name it has that of its line.
    pub(crate) fn lower_atomic_block(
        &mut self,
        name: Option<&Name>,
        results: &'a [Expr],
        body: &'a Block,
        span: Span,
    ) -> Fallible<()> {
        let source = self.shared.names.source;
        let line = || source.get(..span.start as usize).map_or(1, |before| before.matches('\n').count() + 1);
        let name = name.map_or_else(|| format!("line {}", line()), |name| name.text.clone());
        self.emit(Op::BlockBegin(name), span)?;
        let end = self.label();
        let outer = self.block.replace(OpenBlock { end, exits: Vec::new() });
        self.lower_block(body);
        let exits = std::mem::replace(&mut self.block, outer).map(|block| block.exits).unwrap_or_default();
        if !exits.is_empty() {
            let dst = Place::Reg(self.exit(span)?);
            self.emit(Op::Assign { dst, value: IrExpr::Const(0) }, body.close)?;
        }
        self.place(end);
        let results: Fallible<Vec<LocalExpr>> = results.iter().map(|result| fold(result, self)).collect();
        self.emit(Op::BlockEnd(results?), body.close)?;
        for (number, target) in (1..).zip(exits) {
            let next = self.label();
            let way = IrExpr::Var(Place::Reg(self.exit(span)?));
            self.branch(is(way, number), target, next, body.close)?;
            self.place(next);
        }
        Ok(())
    }

    /// Goes to a label outside of the open block, by way of the block's end; false if there is none that the label is outside of.
    /// Labels are made in the order of the code, so those inside are those made since the block began.
    pub(crate) fn leave_block(&mut self, target: Label, span: Span) -> Fallible<bool> {
        let Some(block) = self.block.as_mut().filter(|block| target.0 < block.end.0) else { return Ok(false) };
        let known = block.exits.iter().position(|exit| *exit == target);
        let number = known.unwrap_or_else(|| {
            block.exits.push(target);
            block.exits.len() - 1
        });
        let end = block.end;
        let dst = Place::Reg(self.exit(span)?);
        let value = IrExpr::Const(i128::try_from(number + 1).unwrap_or(i128::MAX));
        self.emit(Op::Assign { dst, value }, span)?;
        self.jump(end, span)?;
        Ok(true)
    }

    /// The register with the way out of a block.
    fn exit(&mut self, span: Span) -> Fallible<cyrano_ir::RegId> {
        if let Some(register) = self.exit {
            return Ok(register);
        }
        let register = self.register("%exit".to_owned(), Ty::Int, span)?;
        self.exit = Some(register);
        Ok(register)
    }
}
