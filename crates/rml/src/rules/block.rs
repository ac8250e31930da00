//! Atomic blocks: where they and their commit points may stand.
//!
//! `atomic { … }` is a section unless it has a commit point, here or in a procedure that it calls; with a name or results it is a block
//! in any case. What is decided here is decided on the source; whether every path through a block commits once is decided on the
//! lowered code (`paths`).

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::resolve::calls::inner_blocks;
use crate::resolve::names::{Names, Symbol};
use crate::resolve::typing::Kind;
use crate::rules::checker::{Checker, Mode};
use crate::rules::table::Unit;
use crate::syntax::ast::{Block, Call, Expr, ExprKind, StmtKind};

/// What a block looks like.
pub(crate) const EXAMPLE: &str = "`atomic name { … commit; … }`";

impl<'a> Checker<'a, '_> {
    /// Whether what stands between the braces of an `atomic` without a name makes it a block.
    pub(crate) fn is_block(&self, body: &Block) -> bool {
        let committing = |procedure: usize| self.procs[procedure].commit.is_some();
        is_block(body, self.names, &committing)
    }

    /// Checks a block.
    pub(crate) fn check_atomic_block(&mut self, results: &'a [Expr], body: &'a Block, span: Span) {
        if let Some(stm) = self.names.file.stm() {
            let diagnostic = Diagnostic::new(span, "an atomic block cannot stand in an `stm`", "the block");
            let help =
                "transactions are the blocks of an stm; for accesses without others between them write `atomic { … }`";
            self.reports.add(diagnostic.with_related(stm, "the stm").with_help(help));
        }
        self.check_inside(Unit::Block, body, span);
        results.iter().for_each(|result| self.check_result(result));
    }

    fn check_result(&mut self, result: &'a Expr) {
        let kind = self.with_mode(Mode::Local("a result"), |c| c.kind_of(result));
        let is_variable = matches!(result.kind, ExprKind::Name(_) | ExprKind::Element(..));
        if kind == Kind::Timestamp && !is_variable {
            let help = "assign it to a local and return that";
            self.complain(result.span, "a computed timestamp cannot be a result", "computed", help);
        }
    }

    /// Checks a commit point. In a procedure it belongs to the block around the call.
    pub(crate) fn check_commit(&mut self, span: Span) {
        if self.place.around.at(Unit::Block).is_some() {
            return;
        }
        if self.in_procedure() {
            self.facts.commit.get_or_insert(span);
            return;
        }
        let help = format!("it belongs in a block, behind the access with which the block takes effect: {EXAMPLE}");
        self.complain(span, "`commit` outside of an atomic block", "no block around it", help);
    }

    /// A call counts as the commit point that the procedure has.
    pub(crate) fn check_called_commit(&mut self, call: &Call, commit: Span) {
        if self.place.around.at(Unit::Block).is_some() {
            return;
        }
        if self.in_procedure() {
            self.facts.commit.get_or_insert(commit);
            return;
        }
        let message = format!("`{}` contains `commit` and is called outside of an atomic block", call.name.text);
        let diagnostic = Diagnostic::new(call.span, message, "no block around it").with_related(commit, "the `commit`");
        self.reports.add(diagnostic.with_help(format!("call it in a block: {EXAMPLE}")));
    }

    fn in_procedure(&self) -> bool {
        self.body.is_some_and(|body| body.0 < self.names.file.procs.len())
    }
}

/// Whether there is a commit point that belongs to the `atomic` around these statements. An inner `atomic` has its own.
pub(crate) fn is_block(body: &Block, names: &Names<'_>, committing: &impl Fn(usize) -> bool) -> bool {
    let calls_committing = |call: &Call| match names.lookup(None, &call.name.text) {
        Some(Symbol::Proc(procedure)) => committing(procedure),
        _ => false,
    };
    names.file.stm().is_none()
        && body.stmts.iter().any(|stmt| match &stmt.kind {
            StmtKind::Transaction(event) => *event == TxEvent::Commit,
            StmtKind::Atomic(_) | StmtKind::AtomicBlock(_) => false,
            _ if stmt.call().is_some_and(&calls_committing) => true,
            _ => inner_blocks(stmt).into_iter().any(|inner| is_block(inner, names, committing)),
        })
}
