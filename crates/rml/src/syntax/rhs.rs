//! The right side of `:=`, which may also be returned or stand alone: calls, calls of objects, `new`, read-modify-writes.

use crate::report::Fallible;
use crate::syntax::ast::{Access, Call, Place, Rhs, Rmw, RmwArgs};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

impl Parser<'_, '_> {
    /// What may stand behind `:=` and `return`.
    pub(crate) fn rhs(&mut self) -> Fallible<Rhs> {
        match self.peek() {
            Token::Cas | Token::Exchange | Token::FetchAdd => Ok(Rhs::Rmw(Box::new(self.rmw()?))),
            _ if self.starts_call() => Ok(Rhs::Call(self.call()?)),
            Token::Ident if self.starts_new() => {
                self.bump();
                Ok(Rhs::New(self.call()?))
            }
            Token::Ident if self.starts_access() => Ok(Rhs::Access(Box::new(self.access()?))),
            _ => Ok(Rhs::Expr(self.expr()?)),
        }
    }

    /// Whether a call is next: `commit` and `abort` are keywords unless they are called.
    pub(crate) fn starts_call(&self) -> bool {
        let callable = matches!(self.peek(), Token::Ident | Token::Commit | Token::Abort);
        callable && self.peek_second() == Token::OpenParen
    }

    /// Whether `new Record(…)` is next.
    pub(crate) fn starts_new(&self) -> bool {
        self.peek_second() == Token::Ident && self.at_word("new")
    }

    /// Whether a call of an object's method is next: `x.m(`, `a[e].f.m(`.
    pub(crate) fn starts_access(&self) -> bool {
        let (mut at, mut open) = (1, 0usize);
        loop {
            match self.peek_ahead(at) {
                Token::OpenBracket => open += 1,
                Token::CloseBracket => open = open.saturating_sub(1),
                Token::Semicolon | Token::OpenBrace | Token::CloseBrace | Token::End => return false,
                _ if open == 0 => break,
                _ => {}
            }
            at += 1;
        }
        let first = at;
        while self.peek_ahead(at) == Token::Dot {
            at += 2;
        }
        at > first && self.peek_ahead(at) == Token::OpenParen
    }

    fn call(&mut self) -> Fallible<Call> {
        let start = self.span();
        let name = self.method_name()?;
        let args = self.list(Token::OpenParen, Token::CloseParen, Self::expr)?;
        Ok(Call { name, args, span: self.since(start) })
    }

    fn access(&mut self) -> Fallible<Access> {
        let Place { name: object, index, .. } = self.place()?;
        self.expect(Token::Dot)?;
        let mut method = self.method_name()?;
        let mut field = None;
        if self.eat(Token::Dot) {
            field = Some(std::mem::replace(&mut method, self.method_name()?));
        }
        let args = self.list(Token::OpenParen, Token::CloseParen, Self::expr)?;
        let span = self.since(object.span);
        Ok(Access { object, index, field, method, args, span })
    }

    /// What can be assigned.
    pub(crate) fn place(&mut self) -> Fallible<Place> {
        let start = self.span();
        let name = self.name()?;
        let index = self.subscript()?;
        Ok(Place { name, index, span: self.since(start) })
    }

    fn rmw(&mut self) -> Fallible<Rmw> {
        let token = self.peek();
        self.bump();
        self.expect(Token::OpenParen)?;
        let target = self.place()?;
        self.expect(Token::Comma)?;
        let first = self.expr()?;
        let op = match token {
            Token::Cas => {
                self.expect(Token::Comma)?;
                RmwArgs::Cas(first, self.expr()?)
            }
            Token::Exchange => RmwArgs::Exchange(first),
            _ => RmwArgs::FetchAdd(first),
        };
        self.expect(Token::CloseParen)?;
        Ok(Rmw { target, op })
    }
}
