//! `client Name { thread { tx { … } } }`: the clients of an algorithm.

use crate::report::Fallible;
use crate::syntax::objects::{Client, ClientCall, ClientThread, Tx};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

impl Parser<'_, '_> {
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
