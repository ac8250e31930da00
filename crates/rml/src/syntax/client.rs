//! `client`: the program that a transactional memory is run with, instead of all programs of a size. That of an stm is
//! `client { thread a { … tx { … } … } }`; those of an algorithm have names, and transactions only: `client P { thread { tx { … } } }`.
//!
//! `client` is a word of the outermost level only and `tx` one in front of a block only; both are names everywhere else.

use cyrano_ir::{Diagnostic, Span};

use crate::report::Fallible;
use crate::syntax::ast::StmtKind;
use crate::syntax::item::DECLARATIONS;
use crate::syntax::objects::{Client, ClientCall, ClientThread, Tx};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

impl Parser<'_, '_> {
    /// Whether a `client` is next.
    pub(crate) fn starts_client(&self) -> bool {
        self.opens("client")
    }

    /// Whether a transaction is next.
    pub(crate) fn starts_tx(&self) -> bool {
        self.opens("tx")
    }

    fn opens(&self, word: &str) -> bool {
        self.peek_second() == Token::OpenBrace && self.text(self.span()) == word
    }

    /// `tx { … }`, perhaps with what is done instead if it aborts: `else { … }`.
    pub(crate) fn tx(&mut self) -> Fallible<StmtKind> {
        self.bump();
        let body = self.block()?;
        let otherwise = if self.eat(Token::Else) { Some(self.block()?) } else { None };
        Ok(StmtKind::Tx(body, otherwise))
    }

    /// A second client is read, so that its syntax is checked, and dropped.
    pub(crate) fn given_client(&mut self) -> Fallible<()> {
        let span = self.bump();
        let others = std::mem::take(&mut self.file.threads);
        let result = self.client_body();
        let own = std::mem::replace(&mut self.file.threads, others);
        if let Some(first) = self.file.client {
            let diagnostic = Diagnostic::new(span, "a file has one `client`", "the second one");
            self.reports.add(diagnostic.with_related(first, "the first one"));
            return result;
        }
        if own.is_empty() && result.is_ok() && self.reports.is_empty() {
            self.complain(span, "this client has no thread", "no `thread` inside", "add one: `thread a { tx { … } }`");
        }
        self.file.client = Some(span);
        self.file.client_threads = own;
        result
    }

    fn client_body(&mut self) -> Fallible<()> {
        self.members(&DECLARATIONS, |p| match p.peek() {
            Token::Thread => p.thread(),
            Token::Ident if p.at_word("initially") => p.initially(),
            _ => Err(p.unexpected_word("a thread or `initially`", &["thread", "initially"])),
        })?;
        Ok(())
    }

    /// `initially data = value;`: what `data` of the memory starts with for this client.
    fn initially(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        self.expect(Token::Eq)?;
        let init = self.initialiser()?;
        self.expect(Token::Semicolon)?;
        self.file.initial.push((name, init));
        Ok(())
    }

    /// Gives `data` the values that the client starts with.
    pub(crate) fn adopt_initial(&mut self) {
        for (name, init) in std::mem::take(&mut self.file.initial) {
            let declared = self.file.decls.iter_mut().find(|decl| decl.data && decl.name.text == name.text);
            match declared {
                Some(declared) => declared.init = Some(init),
                None if self.file.broken => {}
                None => {
                    let message = format!("the memory has no data `{}`", name.text);
                    self.complain(name.span, message, "unknown", "name what the stm declares as `data`");
                }
            }
        }
    }

    /// Makes the client's threads those of the program, if the program can have a client.
    pub(crate) fn adopt_client(&mut self) {
        let Some(client) = self.file.client else { return };
        if self.file.stm().is_some() {
            self.file.threads = std::mem::take(&mut self.file.client_threads);
            return;
        }
        self.file.client = None;
        if !self.file.broken {
            self.refuse_client(client);
        }
    }

    fn refuse_client(&mut self, client: Span) {
        let Some((kind, program)) = self.file.program else {
            let help = "add the memory that it runs on: `stm { … read(a) { … } write(a, v) { … } end { … } }`";
            self.complain(client, "a client without an `stm`", "has no memory", help);
            return;
        };
        let message = "a client needs an `stm`, not `threads`";
        let diagnostic = Diagnostic::new(client, message, "the client").with_help("write its threads into `threads`");
        self.reports.add(diagnostic.with_related(program, format!("this is `{}`", kind.word())));
    }

    /// `client Name { thread { … } … }`.
    pub(crate) fn client(&mut self) -> Fallible<Client> {
        self.bump();
        let name = self.name()?;
        self.expect(Token::OpenBrace)?;
        let mut threads = Vec::new();
        while !self.eat(Token::CloseBrace) {
            let span = self.expect(Token::Thread)?;
            self.expect(Token::OpenBrace)?;
            let mut txns = Vec::new();
            while !self.eat(Token::CloseBrace) {
                txns.push(self.transaction()?);
            }
            threads.push(ClientThread { txns, span });
        }
        Ok(Client { name, threads })
    }

    fn transaction(&mut self) -> Fallible<Tx> {
        let span = self.span();
        if !self.eat_word("tx") {
            return Err(self.unexpected_word("`tx { … }`", &["tx"]));
        }
        let retry = if self.eat_word("retry") { Some(self.expr()?) } else { None };
        self.expect(Token::OpenBrace)?;
        let mut calls = Vec::new();
        while !self.eat(Token::CloseBrace) {
            if !self.eat(Token::Semicolon) {
                calls.push(self.client_call()?);
            }
        }
        Ok(Tx { retry, calls, span })
    }

    fn client_call(&mut self) -> Fallible<ClientCall> {
        let start = self.span();
        let mut result = None;
        if self.peek_second() == Token::Assign {
            result = Some(self.name()?);
            self.bump();
        }
        let method = self.method_name()?;
        let args = self.list(Token::OpenParen, Token::CloseParen, Self::expr)?;
        let span = self.since(start);
        if self.peek() != Token::CloseBrace {
            self.expect(Token::Semicolon)?;
        }
        Ok(ClientCall { result, method, args, span })
    }
}
