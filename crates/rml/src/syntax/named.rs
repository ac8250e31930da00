//! Clients, and the checks about them.

use cyrano_ir::{Progress, Property, Quantifier, TxCriterion};

use crate::report::Fallible;
use crate::syntax::ast::Name;
use crate::syntax::lexer::unquote;
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;
use crate::syntax::tree::*;

/// The word for all progress properties.
const ALL_PROGRESS: &str = "progress";

const BOUNDS: [&str; 6] = ["threads", "txns", "ops", "locs", "values", "retry"];

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
        let retry = if self.eat_word("retry") { Some(self.value()?) } else { None };
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
        let args = self.list(Token::OpenParen, Token::CloseParen, Self::value)?;
        let span = self.since(start);
        if self.peek() != Token::CloseBrace {
            self.expect(Token::Semicolon)?;
        }
        Ok(ClientCall { result, method, args, span })
    }

    /// `check CLAIM [for …] [on …];`.
    pub(crate) fn algorithm_check(&mut self, file: &mut File) -> Fallible<()> {
        let start = self.bump();
        let claim = self.algorithm_claim()?;
        let mut about = match &claim {
            // What makes progress are threads that go on for ever, not the client before.
            Claim::Progress(_) => About::All(Box::default(), start),
            _ => About::Last(file.clients.len().checked_sub(1)),
        };
        let for_span = self.span();
        if self.eat_word("for") {
            about = if self.eat_word("clients") {
                About::All(Box::new(self.space()?), self.since(for_span))
            } else {
                let mut names = vec![self.name()?];
                while self.eat(Token::Comma) {
                    names.push(self.name()?);
                }
                About::Named(names)
            };
        }
        let mut models = Vec::new();
        if self.eat(Token::On) {
            models.push(self.model_name()?);
            while self.eat(Token::Comma) {
                models.push(self.model_name()?);
            }
        }
        let span = self.since(start);
        self.expect(Token::Semicolon)?;
        file.checks.push(CheckDecl { claim, about, models, span });
        Ok(())
    }

    fn model_name(&mut self) -> Fallible<String> {
        if self.peek() == Token::Str {
            let span = self.bump();
            return Ok(unquote(self.text(span)));
        }
        Ok(self.hyphenated("a memory model")?.text)
    }

    fn algorithm_claim(&mut self) -> Fallible<Claim> {
        let quantifier = match self.peek() {
            Token::Assertions => {
                self.bump();
                return Ok(Claim::Plain(Property::Assertions));
            }
            Token::Exists => Quantifier::Exists,
            Token::Never => Quantifier::Never,
            Token::Always | Token::Forall => Quantifier::Always,
            _ => return self.value_criterion(),
        };
        self.bump();
        self.expect(Token::OpenParen)?;
        let from = self.span();
        let cond = self.value()?;
        let text = self.text(self.since(from)).split_whitespace().collect::<Vec<_>>().join(" ");
        self.expect(Token::CloseParen)?;
        Ok(Claim::Final(quantifier, cond, text))
    }

    fn value_criterion(&mut self) -> Fallible<Claim> {
        let wanted = "`never (…)`, `always (…)`, `exists (…)`, `assertions` or a criterion like `opacity`";
        let mut known = TxCriterion::ALL.map(TxCriterion::name).to_vec();
        known.extend(Progress::ALL.map(Progress::name));
        known.push(ALL_PROGRESS);
        let mut words = vec!["never", "always", "exists", "assertions"];
        words.extend(&known);
        // `local` is a keyword, and `local-progress` a criterion.
        if !matches!(self.peek(), Token::Ident | Token::Local) {
            return Err(self.unexpected_word(wanted, &words));
        }
        let Name { text, span } = self.joined();
        if text == ALL_PROGRESS {
            return Ok(Claim::Progress(Progress::ALL.to_vec()));
        }
        if let Some(progress) = Progress::from_name(&text) {
            return Ok(Claim::Progress(vec![progress]));
        }
        match TxCriterion::from_name(&text) {
            Some(criterion) => Ok(Claim::Plain(Property::Transactions(criterion))),
            None => {
                let meant = cyrano_ir::suggest::closest(&text, words.iter().copied());
                let help = match meant {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!("the criteria are `{}`", known.join("`, `")),
                };
                Err(self.complain(span, format!("unknown criterion `{text}`"), "not a criterion", &help))
            }
        }
    }

    fn space(&mut self) -> Fallible<SpaceDecl> {
        let mut space = SpaceDecl::default();
        loop {
            let word = self.text(self.span()).to_owned();
            let span = self.span();
            if !BOUNDS.contains(&word.as_str()) {
                return Err(self.unexpected_word("`threads`, `txns`, `ops`, `locs`, `values` or `retry`", &BOUNDS));
            }
            self.bump();
            let twice = match word.as_str() {
                "threads" => space.threads.replace(self.bound()?).is_some(),
                "txns" => space.txns.replace(self.bound()?).is_some(),
                "ops" => space.ops.replace(self.bound()?).is_some(),
                "locs" => space.locs.replace(self.bound()?).is_some(),
                "retry" => space.retry.replace(self.bound()?).is_some(),
                _ => {
                    let values = self.client_values()?;
                    values.is_some_and(|values| space.values.replace(values).is_some())
                }
            };
            if twice {
                self.complain(span, format!("`{word}` is given twice"), "again", "keep one of the two");
            }
            if !self.eat(Token::Comma) {
                return Ok(space);
            }
        }
    }

    /// `distinct` or `{0, 1, 2}`.
    fn client_values(&mut self) -> Fallible<Option<Vec<Expr>>> {
        if self.eat_word("distinct") {
            return Ok(None);
        }
        self.list(Token::OpenBrace, Token::CloseBrace, Self::value).map(Some)
    }

    fn bound(&mut self) -> Fallible<Bound> {
        let start = self.span();
        let first = self.value()?;
        let last = if self.eat(Token::Dots) { Some(self.value()?) } else { None };
        Ok(Bound { first, last, span: self.since(start) })
    }
}
