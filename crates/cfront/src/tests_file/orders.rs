//! What a test says about the order of its calls: `( e | d | d ) where 1 < 2, 1 < 3`.
//!
//! Calls are counted as they are written within the parentheses. `1 < 2` says that the first one has returned before the second one begins, as a client sees
//! to it that passes a message: a word that is stored with release behind the first call and loaded with acquire before the second one. Executions in which
//! the load does not see the store are left out. `numbered` lets each call take a number when it begins, which is observed behind everything else; of a serial execution that
//! is the order of its calls.

use std::fmt;

use cyrano_ir::{Diagnostic, Span};

use super::parse::{Parsed, Tokens, unexpected};
use super::scan::{Kind, Token};

/// What a test says about the order of its calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Orders {
    /// Of two calls the first one has returned before the second one begins; they are counted from 0.
    pub pairs: Vec<(usize, usize)>,
    /// Whether each call takes a number.
    pub numbered: bool,
}

/// A test without what it says about the order of its calls, and that.
pub(super) fn split(body: &[Token]) -> (&[Token], &[Token]) {
    let closes = body.iter().position(|token| token.text == ")").unwrap_or(body.len());
    let said = body[closes..].iter().position(|token| token.text == "where");
    body.split_at(said.map_or(body.len(), |at| closes + at))
}

impl Orders {
    /// What is said behind a test of so many calls, if something is.
    pub(super) fn parse(tokens: &[Token], test: Span, calls: usize) -> Parsed<Self> {
        let mut orders = Self::default();
        let mut rest = Tokens::new(tokens, Span { start: test.end, end: test.end });
        if !rest.eat("where") {
            return Ok(orders);
        }
        loop {
            if rest.eat("numbered") {
                orders.numbered = true;
            } else {
                let before = call(&mut rest, calls)?;
                rest.expect("<")?;
                orders.pairs.push((before, call(&mut rest, calls)?));
            }
            if !rest.eat(",") {
                return rest.done().map(|()| orders);
            }
        }
    }
}

/// The number of a call, counted from 1.
fn call(rest: &mut Tokens<'_>, calls: usize) -> Parsed<usize> {
    let token = rest.next("the number of a call")?;
    if token.kind != Kind::Number {
        return Err(unexpected(token, "the number of a call, or `numbered`"));
    }
    match token.text.parse::<usize>() {
        Ok(number) if (1..=calls).contains(&number) => Ok(number - 1),
        _ => {
            let message = format!("there is no call {}", token.text);
            let label = format!("calls are counted from 1 to {calls}, as they are written within the parentheses");
            Err(Diagnostic::new(token.span, message, label))
        }
    }
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.pairs.iter().map(|(before, after)| format!("{} < {}", before + 1, after + 1));
        let said: Vec<String> = pairs.chain(self.numbered.then(|| "numbered".to_owned())).collect();
        if said.is_empty() { Ok(()) } else { write!(f, " where {}", said.join(", ")) }
    }
}
