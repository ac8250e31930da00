//! The `algorithm` block and its members: base objects, records, what transactions keep, methods, orders.
//!
//! The words that only this block has (`method`, `txlocal`, `threadlocal`, `initially`, `record`, `order`, `new`) are reserved nowhere else, so they are names to the
//! lexer.

use std::rc::Rc;

use crate::report::Fallible;
use crate::syntax::ast::{Expr, Name};
use crate::syntax::objects::*;
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

const MEMBERS: [&str; 8] = ["const", "shared", "record", "txlocal", "threadlocal", "initially", "method", "order"];

impl Parser<'_, '_> {
    /// What follows the name of an algorithm.
    pub(crate) fn algorithm(&mut self, name: Name) -> Fallible<()> {
        let params = match self.peek() {
            Token::OpenParen => self.list(Token::OpenParen, Token::CloseParen, Self::constant)?,
            _ => Vec::new(),
        };
        let close = name.span;
        let mut to = Algorithm {
            name,
            params,
            consts: Vec::new(),
            records: Vec::new(),
            shared: Vec::new(),
            locals: Vec::new(),
            initially: None,
            methods: Vec::new(),
            orders: Vec::new(),
            close,
        };
        let closed = self.members(&MEMBERS, |p| {
            match p.peek() {
                Token::Const => to.consts.extend(p.constants()?),
                Token::Shared => to.shared.extend(p.declarations(Self::shared_object)?),
                _ if p.at_word("txlocal") => to.locals.extend(p.declarations(|p| p.kept(false))?),
                _ if p.at_word("threadlocal") => to.locals.extend(p.declarations(|p| p.kept(true))?),
                _ if p.at_word("initially") => p.initial_locations(&mut to)?,
                _ if p.at_word("order") => to.orders.extend(p.orders()?),
                _ if p.at_word("record") => to.records.push(p.record()?),
                _ if p.at_word("method") => to.methods.push(p.method()?),
                _ => {
                    return Err(p.unexpected_word(
                        "`shared`, `record`, `txlocal`, `threadlocal`, `initially`, `method` or `order`",
                        &MEMBERS,
                    ));
                }
            }
            Ok(())
        });
        to.close = closed.unwrap_or(close);
        self.file.algorithm = Some(to);
        closed.map(|_| ())
    }

    /// The keyword, declarations with commas between them, and the `;`.
    fn declarations<T>(&mut self, one: impl Fn(&mut Self) -> Fallible<T>) -> Fallible<Vec<T>> {
        self.bump();
        let found = self.several(one)?;
        self.expect(Token::Semicolon)?;
        Ok(found)
    }

    fn shared_object(&mut self) -> Fallible<Shared> {
        let name = self.name()?;
        self.expect(Token::Colon)?;
        let (ty, len) = self.object_type(true)?;
        let init = if self.eat(Token::Eq) { Some(self.object_init()?) } else { None };
        Ok(Shared { name, ty, len, init })
    }

    /// A kind of objects with an array's length, a policy and a domain.
    fn object_type(&mut self, arrays: bool) -> Fallible<(ObjectType, Option<Expr>)> {
        let start = self.span();
        let words = ObjectKind::ALL.map(|(_, word)| word);
        let found = ObjectKind::ALL.into_iter().find(|(_, word)| self.at_word(word));
        let Some((kind, _)) = found else {
            return Err(self.unexpected_word("a kind of base objects, like `AtomicRegister` or `TryLock`", &words));
        };
        self.bump();
        let len = if arrays { self.subscript()? } else { None };
        let policy = self.policy(kind)?;
        let domain = if self.eat_word("of") {
            let first = self.sum()?;
            self.expect(Token::Dots)?;
            Some((first, self.sum()?))
        } else {
            None
        };
        Ok((ObjectType { kind, policy, domain, span: self.since(start) }, len))
    }

    fn policy(&mut self, kind: ObjectKind) -> Fallible<Policy> {
        let policy = match self.peek() {
            Token::Atomic => Policy::Atomic,
            _ if self.at_word("any") => Policy::Any,
            _ if self.at_word("arbitrary") => Policy::Arbitrary,
            _ => return Ok(Policy::Any),
        };
        let span = self.bump();
        if kind != ObjectKind::BasicRegister {
            let message = format!("`{}` has no policy: it is atomic", kind.word());
            return Err(self.complain(span, message, "not here", "only a `BasicRegister` has one"));
        }
        Ok(policy)
    }

    fn object_init(&mut self) -> Fallible<Init> {
        let start = self.span();
        if self.eat_word("new") {
            let record = self.name()?;
            let args = self.list(Token::OpenParen, Token::CloseParen, Self::expr)?;
            return Ok(Init::New(record, args));
        }
        if !self.eat(Token::OpenBrace) {
            return Ok(Init::Value(self.expr()?));
        }
        let mut values = vec![self.expr()?];
        let mut fill = false;
        while !fill && self.peek() != Token::CloseBrace {
            fill = self.eat(Token::Dots);
            if !fill {
                self.expect(Token::Comma)?;
                values.push(self.expr()?);
            }
        }
        self.expect(Token::CloseBrace)?;
        Ok(Init::List { values, fill, span: self.since(start) })
    }

    /// `initially v;` or `initially {a, b};`.
    fn initial_locations(&mut self, to: &mut Algorithm) -> Fallible<()> {
        let span = self.bump();
        let init = self.object_init()?;
        if to.initially.replace(init).is_some() {
            self.complain(span, "an algorithm has one `initially`", "the second one", "keep one of the two");
        }
        self.expect(Token::Semicolon)?;
        Ok(())
    }

    /// What a transaction, or a thread, keeps.
    fn kept(&mut self, of_thread: bool) -> Fallible<TxLocal> {
        let name = self.name()?;
        self.expect(Token::Colon)?;
        let kind = match self.peek() {
            Token::IntType => LocalKind::Int,
            _ if self.at_word("Map") => LocalKind::Map,
            _ if self.at_word("Set") => LocalKind::Set,
            _ => return Err(self.unexpected_word("`Map`, `Set` or `int`", &["Map", "Set", "int"])),
        };
        self.bump();
        let len = if kind == LocalKind::Int { None } else { self.subscript()? };
        let init = if kind == LocalKind::Int && self.eat(Token::Eq) { Some(self.expr()?) } else { None };
        Ok(TxLocal { name, of_thread, kind, len, init })
    }

    fn record(&mut self) -> Fallible<Record> {
        self.bump();
        let name = self.name()?;
        self.expect(Token::OpenBrace)?;
        let mut fields = Vec::new();
        while self.peek() != Token::CloseBrace {
            let names = self.several(Self::name)?;
            self.expect(Token::Colon)?;
            let ty = Rc::new(self.object_type(false)?.0);
            fields.extend(names.into_iter().map(|name| (name, Rc::clone(&ty))));
            if !self.eat(Token::Semicolon) && !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::CloseBrace)?;
        Ok(Record { name, fields })
    }

    fn method(&mut self) -> Fallible<Method> {
        self.bump();
        let name = self.method_name()?;
        let params = self.list(Token::OpenParen, Token::CloseParen, Self::name)?;
        Ok(Method { name, params, body: self.block()? })
    }

    /// `order A < B, each C < D;`.
    fn orders(&mut self) -> Fallible<Vec<OrderDecl>> {
        self.bump();
        let each_all = self.eat_word("each");
        let orders = self.several(|p| {
            let start = p.span();
            let each = p.eat_word("each") || each_all;
            let first = p.name()?;
            p.expect(Token::Lt)?;
            let second = p.name()?;
            Ok(OrderDecl { first, second, each, span: p.since(start) })
        })?;
        self.expect(Token::Semicolon)?;
        Ok(orders)
    }
}
