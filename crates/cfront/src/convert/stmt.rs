//! Statements.

use lang_c::ast as c;
use lang_c::span::Node;

use super::Converter;
use crate::ast::{Stmt, StmtKind};

/// The label that the macro `atomic` of cyrano.h puts before a block.
const ATOMIC_LABEL: &str = "__cyrano_atomic";

impl Converter<'_> {
    pub(super) fn stmt(&mut self, node: &Node<c::Statement>) -> Stmt {
        let loc = self.loc(node);
        let kind = match &node.node {
            c::Statement::Labeled(labeled) => self.labeled(&labeled.node),
            c::Statement::Compound(items) => {
                StmtKind::Block(items.iter().filter_map(|item| self.block_item(item)).collect())
            }
            c::Statement::Expression(None) => StmtKind::Empty,
            c::Statement::Expression(Some(expr)) => StmtKind::Expr(self.expr(expr)),
            c::Statement::If(branch) => StmtKind::If(
                self.expr(&branch.node.condition),
                self.boxed_stmt(&branch.node.then_statement),
                branch.node.else_statement.as_ref().map(|stmt| self.boxed_stmt(stmt)),
            ),
            c::Statement::Switch(switch) => {
                StmtKind::Switch(self.expr(&switch.node.expression), self.boxed_stmt(&switch.node.statement))
            }
            c::Statement::While(repeat) => {
                StmtKind::While(self.expr(&repeat.node.expression), self.boxed_stmt(&repeat.node.statement))
            }
            c::Statement::DoWhile(repeat) => {
                StmtKind::DoWhile(self.boxed_stmt(&repeat.node.statement), self.expr(&repeat.node.expression))
            }
            c::Statement::For(repeat) => self.for_loop(&repeat.node),
            c::Statement::Goto(label) => StmtKind::Goto(self.name(label)),
            c::Statement::Continue => StmtKind::Continue,
            c::Statement::Break => StmtKind::Break,
            c::Statement::Return(value) => StmtKind::Return(value.as_ref().map(|value| self.expr(value))),
            c::Statement::Asm(asm) => {
                if !orders_the_compiler(&asm.node) {
                    self.refuse(loc, "assembly; write what it does with atomic operations and fences");
                }
                StmtKind::Empty
            }
        };
        Stmt { kind, loc }
    }

    fn boxed_stmt(&mut self, node: &Node<c::Statement>) -> Box<Stmt> {
        Box::new(self.stmt(node))
    }

    pub(super) fn block_item(&mut self, node: &Node<c::BlockItem>) -> Option<Stmt> {
        match &node.node {
            c::BlockItem::Declaration(decl) => {
                Some(Stmt { kind: StmtKind::Decls(self.declaration(decl)), loc: self.loc(node) })
            }
            c::BlockItem::StaticAssert(assert) => {
                let (cond, text) = self.static_assert(&assert.node);
                Some(Stmt { kind: StmtKind::StaticAssert(cond, text), loc: self.loc(node) })
            }
            c::BlockItem::Statement(stmt) => Some(self.stmt(stmt)),
        }
    }

    fn labeled(&mut self, labeled: &c::LabeledStatement) -> StmtKind {
        let body = self.boxed_stmt(&labeled.statement);
        match &labeled.label.node {
            c::Label::Identifier(name) if name.node.name == ATOMIC_LABEL => StmtKind::Atomic(body),
            c::Label::Identifier(name) => StmtKind::Label(self.name(name), body),
            c::Label::Case(value) => StmtKind::Case(self.expr(value), body),
            c::Label::Default => StmtKind::Default(body),
            c::Label::CaseRange(_) => {
                self.refuse(self.loc(&labeled.label), "a range of cases");
                StmtKind::Empty
            }
        }
    }

    fn for_loop(&mut self, repeat: &c::ForStatement) -> StmtKind {
        let loc = self.loc(&repeat.initializer);
        let init = match &repeat.initializer.node {
            c::ForInitializer::Empty => None,
            c::ForInitializer::Expression(expr) => Some(StmtKind::Expr(self.expr(expr))),
            c::ForInitializer::Declaration(decl) => Some(StmtKind::Decls(self.declaration(decl))),
            c::ForInitializer::StaticAssert(_) => {
                self.refuse(loc, "a static assertion");
                None
            }
        };
        StmtKind::For {
            init: init.map(|kind| Box::new(Stmt { kind, loc })),
            cond: repeat.condition.as_ref().map(|cond| self.expr(cond)),
            step: repeat.step.as_ref().map(|step| self.expr(step)),
            body: self.boxed_stmt(&repeat.statement),
        }
    }
}

/// Whether assembly has no instructions: it tells the compiler not to move accesses, and here none moves them.
fn orders_the_compiler(asm: &c::AsmStatement) -> bool {
    let empty = |text: &[String]| text.iter().all(|part| part.trim_matches('"').trim().is_empty());
    match asm {
        c::AsmStatement::GnuBasic(text) => empty(&text.node),
        c::AsmStatement::GnuExtended(asm) => empty(&asm.template.node) && asm.outputs.is_empty(),
    }
}
