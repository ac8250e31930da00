//! Atomic blocks: where they and their commit points may stand.
//!
//! `atomic { … }` is a section unless it has a commit point, here or in a procedure that it calls; with a name or results it is a block
//! in any case. What is decided here is decided on the source; whether every path through a block commits once is decided on the
//! lowered code (`paths`).

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::resolve::calls::inner_blocks;
use crate::resolve::names::{Names, Symbol};
use crate::resolve::typing::{Kind, kind_of};
use crate::rules::checker::{Checker, Mode};
use crate::syntax::ast::{Block, Call, Expr, StmtKind};

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
        self.facts.block.get_or_insert(span);
        if let Some(stm) = self.names.file.stm() {
            let diagnostic = Diagnostic::new(span, "an atomic block cannot stand in an `stm`", "the block");
            let help =
                "transactions are the blocks of an stm; for accesses without others between them write `atomic { … }`";
            self.reports.add(diagnostic.with_related(stm, "the stm").with_help(help));
        }
        let around = [
            (self.place.block, "the outer block", "atomic blocks do not nest"),
            (self.place.atomic, "the section", "an atomic block cannot stand in an atomic section"),
            (self.place.operation, "the operation", "an atomic block cannot stand in an operation"),
        ];
        for (outer, what, message) in around {
            let Some(outer) = outer else { continue };
            let help = match self.place.block {
                Some(_) => {
                    "the outer block makes everything in it atomic; drop the inner one, or put its `commit` behind it"
                }
                None => "end one before the other starts",
            };
            let diagnostic = Diagnostic::new(span, message, "the block");
            self.reports.add(diagnostic.with_related(outer, what).with_help(help));
        }
        let outer = self.place.clone();
        self.place.block.get_or_insert(span);
        self.check_block(body);
        self.place = outer;
        results.iter().for_each(|result| self.check_result(result));
    }

    fn check_result(&mut self, result: &'a Expr) {
        let kind = self.with_mode(Mode::Local("a result"), |c| kind_of(result, c));
        let is_variable =
            matches!(result.kind, crate::syntax::ast::ExprKind::Name(_) | crate::syntax::ast::ExprKind::Element(..));
        if kind == Kind::Timestamp && !is_variable {
            let help = "assign it to a local and return that".to_owned();
            self.complain(result.span, "a computed timestamp cannot be a result".to_owned(), "computed", help);
        }
    }

    /// Checks a commit point. In a procedure it belongs to the block around the call.
    pub(crate) fn check_commit(&mut self, span: Span) {
        if self.place.block.is_some() {
            return;
        }
        if self.in_procedure() {
            self.facts.commit.get_or_insert(span);
            return;
        }
        let help = format!("it belongs in a block, behind the access with which the block takes effect: {EXAMPLE}");
        self.complain(span, "`commit` outside of an atomic block".to_owned(), "no block around it", help);
    }

    /// A call counts as the commit point that the procedure has.
    pub(crate) fn check_called_commit(&mut self, call: &Call, commit: Span) {
        if self.place.block.is_some() {
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
