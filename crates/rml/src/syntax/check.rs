//! `check`: what is claimed, of what, and on which models.
//!
//! The names of criteria are words here only; they are read word by word, as are those of models.

use cyrano_criteria::table::{CRITERIA, Needs};
use cyrano_ir::suggest::closest;
use cyrano_ir::{LabelName, Liveness, OrderName, Quantifier, Span, TxCriterion};

use crate::report::{Fallible, Reported};
use crate::syntax::ast::{BlockKind, CheckDecl, Claim, Expr, InvariantDecl, Name};
use crate::syntax::lexer::unquote;
use crate::syntax::objects::{About, Bound, SpaceDecl};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

/// What may be claimed of transactions.
fn of_transactions() -> impl Iterator<Item = (&'static str, Claim)> {
    let known = CRITERIA.iter().filter(|criterion| criterion.needs == Needs::Transactions);
    known.filter_map(|criterion| Some((criterion.name, criterion.claim.unconditional()?)))
}

/// What a size of clients consists of.
const BOUNDS: [&str; 6] = ["threads", "txns", "ops", "locs", "values", "retry"];

impl Parser<'_, '_> {
    /// `check CLAIM [for …] [on …];`.
    pub(crate) fn check(&mut self) -> Fallible<()> {
        let start = self.bump();
        if self.at_word("invariant") && self.peek_second() != Token::OpenParen {
            return self.check_invariants(start);
        }
        let claim = self.claim()?;
        let mut about = match &claim {
            // What makes progress are threads that go on for ever, not the client before.
            Claim::Progress(_) => About::All(Box::default(), start),
            _ => About::Last(self.file.clients.len().checked_sub(1)),
        };
        let for_span = self.span();
        let said = self.eat_word("for");
        if said {
            about = match self.eat_word("clients") {
                true => About::All(Box::new(self.space()?), self.since(for_span)),
                false => About::Named(self.several(Self::name)?),
            };
        }
        let about_span = said.then(|| self.since(for_span));
        let models = if self.eat(Token::On) { self.several(Self::model)? } else { Vec::new() };
        let span = self.since(start);
        self.expect(Token::Semicolon)?;
        self.file.checks.push(CheckDecl { claim, about, about_span, models, span });
        Ok(())
    }

    /// `check invariant [on …];`: those that the program declares.
    fn check_invariants(&mut self, start: Span) -> Fallible<()> {
        self.bump();
        let models = if self.eat(Token::On) { self.several(Self::model)? } else { Vec::new() };
        let span = self.since(start);
        self.expect(Token::Semicolon)?;
        if self.is_algorithm {
            let help = "check `opacity`, another criterion, `assertions` or a condition over results";
            self.complain(span, "this cannot be claimed of an algorithm", "not here", help);
        }
        self.file.invariant_checks.push((models, span));
        Ok(())
    }

    /// Whether `invariant (…)` or `invariant name (…)` is next.
    pub(crate) fn starts_invariant(&self) -> bool {
        let named = self.peek_second() == Token::Ident && self.peek_ahead(2) == Token::OpenParen;
        self.at_word("invariant") && (named || self.peek_second() == Token::OpenParen)
    }

    /// `invariant name (…);`.
    pub(crate) fn invariant(&mut self, kind: BlockKind) -> Fallible<()> {
        let start = self.bump();
        if kind != BlockKind::Threads {
            let message = format!("an invariant is about the threads of `threads`, not of `{}`", kind.word());
            self.complain(start, message, "not here", "claim what its histories satisfy: `check opacity;`");
        }
        let name = if self.peek() == Token::Ident { Some(self.name()?) } else { None };
        let (cond, text) = self.condition()?;
        let span = self.since(start);
        self.expect(Token::Semicolon)?;
        let text = name.map_or(text.clone(), |name| format!("{}: {text}", name.text));
        self.file.invariants.push(InvariantDecl { cond, text, span });
        Ok(())
    }

    /// `(condition)`, and how it was written.
    fn condition(&mut self) -> Fallible<(Expr, String)> {
        self.expect(Token::OpenParen)?;
        let from = self.span();
        let cond = self.expr()?;
        let text = self.text(self.since(from));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.expect(Token::CloseParen)?;
        Ok((cond, text))
    }

    fn claim(&mut self) -> Fallible<Claim> {
        if let Some(claim) = self.block_claim().or_else(|| self.live_claim()) {
            return Ok(claim);
        }
        if self.eat_word("invariant") {
            return self.condition().map(Claim::Invariant);
        }
        if self.eat_word("races") {
            return Ok(Claim::Races);
        }
        let quantifier = match self.peek() {
            Token::Assertions => None,
            Token::Exists => Some(Quantifier::Exists),
            Token::Never => Some(Quantifier::Never),
            Token::Always | Token::Forall => Some(Quantifier::Always),
            _ => return self.criterion(),
        };
        self.bump();
        let Some(quantifier) = quantifier else { return Ok(Claim::Assertions) };
        Ok(Claim::Final(quantifier, self.condition()?))
    }

    /// `commit-atomicity`, `atomicity`, or `observations` of an algorithm, if one of them is next.
    fn block_claim(&mut self) -> Option<Claim> {
        if !self.is_algorithm && self.is_next("observations") {
            return None;
        }
        let words = [
            ("commit-atomicity", 3, Claim::CommitAtomicity),
            ("commit_atomicity", 1, Claim::CommitAtomicity),
            ("atomicity", 1, Claim::Atomicity),
            ("observations", 1, Claim::Observations),
        ];
        let (_, tokens, claim) = words.into_iter().find(|(word, _, _)| self.is_next(word))?;
        (0..tokens).for_each(|_| {
            self.bump();
        });
        Some(claim)
    }

    /// Whether this name of a criterion is next.
    fn is_next(&self, word: &str) -> bool {
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        let ahead = &self.source[self.span().start as usize..];
        ahead.strip_prefix(word).is_some_and(|rest| !goes_on(rest))
    }

    /// Whether a label comes behind the next word.
    fn label_follows(&self) -> bool {
        self.peek_second() == Token::Ident && self.text(self.second_span()) != "for"
    }

    /// `termination` or another one of its kind, or `progress L` with the label of statements, if one of them is next.
    fn live_claim(&mut self) -> Option<Claim> {
        if self.is_next("progress") && self.label_follows() {
            self.bump();
            let label = self.bump();
            return Some(Claim::Live(Liveness::Passes(LabelName::new(self.text(label)))));
        }
        let liveness = Liveness::ALL.into_iter().find(|liveness| self.is_next(liveness.name()))?;
        self.joined();
        Some(Claim::Live(liveness))
    }

    /// What transactions are checked for.
    fn criterion(&mut self) -> Fallible<Claim> {
        let wanted = "`assertions`, `exists (…)`, `never (…)`, `always (…)`, `invariant (…)`, `races`, `opacity`, \
                      `strict-serializability`, `serializability`, `progress` or `termination`";
        let mut words =
            vec!["assertions", "exists", "never", "always", "forall", "invariant", "races", "strict", "termination"];
        let known: Vec<&str> = of_transactions().map(|(name, _)| name).collect();
        words.extend(&known);
        // The first word tells whether a criterion is meant; `local` is a keyword elsewhere.
        let firsts = known.iter().filter_map(|name| name.split('-').next());
        if closest(self.text(self.span()), firsts).is_none() {
            return Err(self.unexpected_word(wanted, &words));
        }
        let Name { text, span } = self.joined();
        if text == "serializability" && self.at_word("order") {
            return self.given_order();
        }
        let found = of_transactions().find(|(name, _)| *name == text);
        found.map(|(_, claim)| claim).ok_or_else(|| {
            let (last, others) = known.split_last().expect("there are criteria");
            let help = match closest(&text, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the criteria for transactions are `{}` and `{last}`", others.join("`, `")),
            };
            self.complain(span, format!("unknown criterion `{text}`"), "not a criterion", &help)
        })
    }

    /// `order by name` behind `serializability`.
    fn given_order(&mut self) -> Fallible<Claim> {
        self.bump();
        self.expect_word("by")?;
        if !matches!(self.peek(), Token::Ident | Token::Commit) {
            return Err(self.unexpected("the name of an order, or `commit`"));
        }
        let span = self.bump();
        let order = OrderName::new(self.text(span)).ok_or(Reported)?;
        Ok(Claim::Transactions(TxCriterion::InOrder(order)))
    }

    fn space(&mut self) -> Fallible<SpaceDecl> {
        let mut space = SpaceDecl::default();
        loop {
            let span = self.span();
            let word = self.text(span);
            if !BOUNDS.contains(&word) {
                return Err(self.unexpected_word("`threads`, `txns`, `ops`, `locs`, `values` or `retry`", &BOUNDS));
            }
            self.bump();
            let twice = match word {
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
        self.list(Token::OpenBrace, Token::CloseBrace, Self::expr).map(Some)
    }

    fn bound(&mut self) -> Fallible<Bound> {
        let start = self.span();
        let first = self.expr()?;
        let last = if self.eat(Token::Dots) { Some(self.expr()?) } else { None };
        Ok(Bound { first, last, span: self.since(start) })
    }

    fn model(&mut self) -> Fallible<String> {
        if self.peek() == Token::Str {
            let span = self.bump();
            return Ok(unquote(self.text(span)));
        }
        Ok(self.hyphenated("a memory model")?.text)
    }

    /// Words joined by hyphens without space: `sparc-rmo`, `store-load`.
    pub(crate) fn hyphenated(&mut self, wanted: &str) -> Fallible<Name> {
        if self.peek() != Token::Ident {
            return Err(self.unexpected(wanted));
        }
        Ok(self.joined())
    }

    /// The next word, whatever it is, and those that are joined to it by hyphens.
    fn joined(&mut self) -> Name {
        let mut span = self.bump();
        while self.peek() == Token::Minus && self.span().start == span.end {
            span = span.to(self.bump());
            if matches!(self.peek(), Token::Ident | Token::Int) && self.span().start == span.end {
                span = span.to(self.bump());
            }
        }
        Name { text: self.text(span).to_owned(), span }
    }
}
