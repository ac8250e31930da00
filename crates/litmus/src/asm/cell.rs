//! The tokens of one cell of a table, from left to right.

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Arch, Name};
use crate::cursor::Parse;
use crate::token::{Kind, Token, number};

/// A place among the tokens of a cell.
pub(crate) struct Cell<'c, 's> {
    pub(crate) tokens: &'c [Token<'s>],
    pub(crate) at: usize,
    pub(crate) arch: Arch,
}

impl<'s> Cell<'_, 's> {
    pub(crate) fn peek(&self) -> Option<Token<'s>> {
        self.tokens.get(self.at).copied()
    }

    pub(crate) fn take(&mut self) -> Option<Token<'s>> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text)
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    /// Takes this mark, which has to be there.
    pub(crate) fn expect(&mut self, text: &str) -> Parse<()> {
        if self.eat(text) {
            return Ok(());
        }
        let found = self.peek().map_or("nothing".to_owned(), |token| format!("`{}`", token.text));
        Err(self.wrong(format!("expected `{text}`, found {found}"), "unexpected"))
    }

    /// Where something is missing.
    pub(crate) fn span(&self) -> Span {
        self.peek().or(self.tokens.last().copied()).map_or(Span::default(), |token| token.span)
    }

    /// From this token to the end of the cell.
    pub(crate) fn whole(&self, first: Token<'_>) -> Span {
        self.tokens.last().map_or(first.span, |last| first.span.to(last.span))
    }

    pub(crate) fn wrong(&self, message: impl Into<String>, label: &str) -> Diagnostic {
        Diagnostic::new(self.span(), message, label)
    }

    /// Takes a number, perhaps with a sign.
    pub(crate) fn integer(&mut self) -> Parse<i128> {
        let negative = self.eat("-");
        let token = self.peek().filter(|token| token.kind == Kind::Number);
        let Some(token) = token else { return Err(self.wrong("expected a number", "here")) };
        self.take();
        let value = number(token.text).and_then(|value| if negative { value.checked_neg() } else { Some(value) });
        let message = || format!("`{}` is not a number of 64 bits", token.text);
        value.ok_or_else(|| Diagnostic::new(token.span, message(), "this number"))
    }

    /// Takes a label to jump to.
    pub(crate) fn label(&mut self) -> Parse<Name> {
        match self.peek() {
            Some(to) if to.kind == Kind::Word => {
                self.take();
                Ok(Name { text: to.text.to_owned(), span: to.span })
            }
            _ => Err(self.wrong("a jump needs a label", "jumps nowhere")),
        }
    }

    /// Complains about whatever is left.
    pub(crate) fn end(&self) -> Parse<()> {
        match self.peek() {
            Some(token) => Err(self.wrong(format!("expected nothing more, found `{}`", token.text), "unexpected")),
            None => Ok(()),
        }
    }
}
