//! Atomic blocks with commit points, and what may be claimed of them (Flanagan, section 3.2).
//!
//! `returns` and the names of the criteria are words here only, and names everywhere else.

use crate::report::Fallible;
use crate::syntax::ast::{AtomicBlock, Claim, StmtKind};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

impl Parser<'_, '_> {
    /// What follows `atomic`: a section, or a block that has a name or results. A section with a commit point is a block too, but the
    /// commit point may stand in a procedure.
    pub(crate) fn atomic(&mut self) -> Fallible<StmtKind> {
        if self.peek() == Token::OpenBrace {
            return Ok(StmtKind::Atomic(self.block()?));
        }
        let unnamed = self.lists_results() && self.peek_second() != Token::OpenBrace;
        let name = if unnamed { None } else { Some(self.name()?) };
        let mut results = Vec::new();
        if self.lists_results() {
            self.bump();
            results.push(self.expr()?);
            while self.eat(Token::Comma) {
                results.push(self.expr()?);
            }
        }
        Ok(StmtKind::AtomicBlock(AtomicBlock { name, results, body: self.block()? }))
    }

    fn lists_results(&self) -> bool {
        self.peek() == Token::Ident && self.text(self.span()) == "returns"
    }

    /// `commit-atomicity` or `atomicity`, if one of them is next.
    pub(crate) fn block_claim(&mut self) -> Option<Claim> {
        let ahead = &self.source[self.span().start as usize..];
        let words = [
            ("commit-atomicity", 3, Claim::CommitAtomicity),
            ("commit_atomicity", 1, Claim::CommitAtomicity),
            ("atomicity", 1, Claim::Atomicity),
        ];
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        let is_next = |word: &str| ahead.strip_prefix(word).is_some_and(|rest| !goes_on(rest));
        let (_, tokens, claim) = words.into_iter().find(|(word, _, _)| is_next(word))?;
        (0..tokens).for_each(|_| {
            self.bump();
        });
        Some(claim)
    }
}
