//! Items of an `algorithm` file: constants, the block and its members, orders.
//!
//! The words that only this language has (`algorithm`, `method`, `txlocal`, `record`, `order`, `client`, `tx`, `new`) are reserved nowhere else,
//! so they are names to the lexer.

use std::rc::Rc;

use cyrano_ir::Diagnostic;

use crate::report::{Fallible, Reports};
use crate::syntax::ast::Name;
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;
use crate::syntax::tree::*;

const ITEMS: [&str; 4] = ["const", "algorithm", "client", "check"];
const MEMBERS: [&str; 6] = ["const", "shared", "record", "txlocal", "method", "order"];

/// Parses a file as far as possible.
pub(crate) fn parse(source: &str, reports: &mut Reports) -> File {
    let tokens = crate::syntax::lexer::lex(source, reports);
    let mut parser = Parser::new(source, tokens, reports);
    let mut file = File::default();
    parser.algorithm_items(&mut file);
    file
}

impl Parser<'_, '_> {
    /// Whether the next token is this word, which is a name elsewhere.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.peek() == Token::Ident && self.text(self.span()) == word
    }

    /// Consumes this word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes the name of a method: `commit`, `abort`, `cas` are keywords elsewhere.
    pub(crate) fn method_name(&mut self) -> Fallible<Name> {
        if matches!(self.peek(), Token::Commit | Token::Abort | Token::Cas) {
            let span = self.bump();
            return Ok(Name { text: self.text(span).to_owned(), span });
        }
        self.name()
    }

    fn algorithm_items(&mut self, file: &mut File) {
        while self.peek() != Token::End {
            let before = self.span();
            let item = match self.peek() {
                Token::Const => self.constants().map(|found| file.consts.extend(found)),
                Token::Check => self.algorithm_check(file),
                Token::Semicolon => {
                    self.bump();
                    Ok(())
                }
                _ if self.at_word("algorithm") => self.algorithm(file),
                _ if self.at_word("client") => self.client().map(|client| file.clients.push(client)),
                _ => Err(self.unexpected_word("`const`, `algorithm`, `client` or `check`", &ITEMS)),
            };
            if item.is_err() {
                self.skip_item(before, &ITEMS);
                self.eat(Token::CloseBrace);
            }
        }
    }

    /// Skips what is left of an item that began at `before`: its `;`, or everything up to a word that starts the next one.
    fn skip_item(&mut self, before: cyrano_ir::Span, words: &[&str]) {
        if self.span() == before {
            self.bump();
        }
        let mut open = 0usize;
        loop {
            let text = self.text(self.span());
            match self.peek() {
                Token::End => return,
                Token::CloseBrace if open == 0 => return,
                Token::Semicolon if open == 0 => {
                    self.bump();
                    return;
                }
                _ if open == 0 && words.contains(&text) => return,
                Token::OpenBrace => open += 1,
                Token::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    fn constants(&mut self) -> Fallible<Vec<(Name, Expr)>> {
        self.bump();
        let mut consts = Vec::new();
        loop {
            let name = self.name()?;
            self.expect(Token::Eq)?;
            consts.push((name, self.value()?));
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Semicolon)?;
        Ok(consts)
    }

    fn algorithm(&mut self, file: &mut File) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        let params = match self.peek() {
            Token::OpenParen => self.list(Token::OpenParen, Token::CloseParen, Self::parameter_with_default)?,
            _ => Vec::new(),
        };
        let span = name.span;
        let mut algorithm = Algorithm {
            name,
            params,
            consts: Vec::new(),
            records: Vec::new(),
            shared: Vec::new(),
            locals: Vec::new(),
            methods: Vec::new(),
            orders: Vec::new(),
            close: span,
        };
        let result = self.members(&mut algorithm);
        if let Some(first) = &file.algorithm {
            let diagnostic = Diagnostic::new(span, "a file has one `algorithm` block", "the second one");
            self.reports.add(diagnostic.with_related(first.name.span, "the first one"));
        } else {
            file.algorithm = Some(algorithm);
        }
        result
    }

    fn parameter_with_default(&mut self) -> Fallible<(Name, Expr)> {
        let name = self.name()?;
        self.expect(Token::Eq)?;
        Ok((name, self.value()?))
    }

    fn members(&mut self, to: &mut Algorithm) -> Fallible<()> {
        self.expect(Token::OpenBrace)?;
        loop {
            let before = self.span();
            let member = match self.peek() {
                Token::CloseBrace => {
                    to.close = self.bump();
                    return Ok(());
                }
                Token::End => return Err(self.unexpected("`}`")),
                Token::Semicolon => {
                    self.bump();
                    Ok(())
                }
                Token::Const => self.constants().map(|found| to.consts.extend(found)),
                Token::Shared => self.declarations(Self::shared_object).map(|found| to.shared.extend(found)),
                _ if self.at_word("txlocal") => self.declarations(Self::tx_local).map(|found| to.locals.extend(found)),
                _ if self.at_word("order") => self.orders().map(|found| to.orders.extend(found)),
                _ if self.at_word("record") => self.record().map(|found| to.records.push(found)),
                _ if self.at_word("method") => self.method().map(|found| to.methods.push(found)),
                _ => Err(self.unexpected_word("`shared`, `record`, `txlocal`, `method` or `order`", &MEMBERS)),
            };
            if member.is_err() {
                self.skip_item(before, &MEMBERS);
            }
        }
    }

    /// The keyword, declarations with commas between them, and the `;`.
    fn declarations<T>(&mut self, one: impl Fn(&mut Self) -> Fallible<T>) -> Fallible<Vec<T>> {
        self.bump();
        let mut found = vec![one(self)?];
        while self.eat(Token::Comma) {
            found.push(one(self)?);
        }
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
        let len = if arrays { self.array_length()? } else { None };
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

    fn array_length(&mut self) -> Fallible<Option<Expr>> {
        if !self.eat(Token::OpenBracket) {
            return Ok(None);
        }
        let len = self.value()?;
        self.expect(Token::CloseBracket)?;
        Ok(Some(len))
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
            let args = self.list(Token::OpenParen, Token::CloseParen, Self::value)?;
            return Ok(Init::New(record, args));
        }
        if !self.eat(Token::OpenBrace) {
            return Ok(Init::Value(self.value()?));
        }
        let mut values = vec![self.value()?];
        let mut fill = false;
        while !fill && self.peek() != Token::CloseBrace {
            fill = self.eat(Token::Dots);
            if !fill {
                self.expect(Token::Comma)?;
                values.push(self.value()?);
            }
        }
        self.expect(Token::CloseBrace)?;
        Ok(Init::List { values, fill, span: self.since(start) })
    }

    fn tx_local(&mut self) -> Fallible<TxLocal> {
        let name = self.name()?;
        self.expect(Token::Colon)?;
        let kind = match self.peek() {
            Token::IntType => LocalKind::Int,
            _ if self.at_word("Map") => LocalKind::Map,
            _ if self.at_word("Set") => LocalKind::Set,
            _ => return Err(self.unexpected_word("`Map`, `Set` or `int`", &["Map", "Set", "int"])),
        };
        self.bump();
        let len = if kind == LocalKind::Int { None } else { self.array_length()? };
        let init = if kind == LocalKind::Int && self.eat(Token::Eq) { Some(self.value()?) } else { None };
        Ok(TxLocal { name, kind, len, init })
    }

    fn record(&mut self) -> Fallible<Record> {
        self.bump();
        let name = self.name()?;
        self.expect(Token::OpenBrace)?;
        let mut fields = Vec::new();
        while self.peek() != Token::CloseBrace {
            let mut names = vec![self.name()?];
            while self.eat(Token::Comma) {
                names.push(self.name()?);
            }
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
        let body = self.statements()?;
        Ok(Method { name, params, body, close: self.last_span() })
    }

    /// `order A < B, each C < D;`.
    fn orders(&mut self) -> Fallible<Vec<OrderDecl>> {
        self.bump();
        let each_all = self.eat_word("each");
        let mut orders = Vec::new();
        loop {
            let start = self.span();
            let each = self.eat_word("each") || each_all;
            let first = self.name()?;
            self.expect(Token::Lt)?;
            let second = self.name()?;
            orders.push(OrderDecl { first, second, each, span: self.since(start) });
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Semicolon)?;
        Ok(orders)
    }
}
