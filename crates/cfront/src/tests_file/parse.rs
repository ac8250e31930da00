//! Lines to declarations and tests.

use std::sync::Arc;

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Span};

use super::scan::{self, Kind, Token};
use super::{Call, Interface, Orders, Step, Test, TestFile, orders};
use crate::Unit;
use crate::tree::FuncId;

/// The most operation calls of a test.
const MAX_CALLS: usize = 200;

/// A test as far as it can be read before all letters are known.
struct Pending {
    name: String,
    span: Span,
    body: Vec<Token>,
}

pub(super) fn parse(text: &str, unit: &Unit) -> Result<TestFile, Vec<Diagnostic>> {
    let interface = Interface::default();
    let mut parser =
        Parser { unit, errors: Vec::new(), interface, kind: None, pending: Vec::new(), single: Vec::new() };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let tokens = scan::line(line.trim_end_matches(['\n', '\r']), start, &mut parser.errors);
        if let Some(first) = tokens.first().cloned() {
            let result = parser.line(&first, &tokens);
            parser.errors.extend(result.err());
        }
        start += line.len();
    }
    parser.finish()
}

/// A test with its notation for a name.
pub(super) fn by_notation(notation: &str, interface: &Arc<Interface>) -> Result<Test, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let body = scan::line(notation, 0, &mut errors);
    let pending = Pending { name: notation.to_owned(), span: Span::default(), body };
    let test = test(&pending, interface)?;
    if errors.is_empty() { Ok(test) } else { Err(errors) }
}

pub(super) struct Parser<'u> {
    pub(super) unit: &'u Unit,
    errors: Vec<Diagnostic>,
    interface: Interface,
    kind: Option<String>,
    pending: Vec<Pending>,
    /// The operations that only one thread may call.
    single: Vec<Token>,
}

pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// The rest of a line.
pub(super) struct Tokens<'t> {
    tokens: &'t [Token],
    at: usize,
    end: Span,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(tokens: &'t [Token], end: Span) -> Self {
        Self { tokens, at: 0, end }
    }

    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn span(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    pub(super) fn next(&mut self, expected: &str) -> Parsed<&'t Token> {
        let token = self
            .peek()
            .ok_or_else(|| Diagnostic::new(self.end, format!("the line ends, but {expected} is expected"), "here"))?;
        self.at += 1;
        Ok(token)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == text);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<Span> {
        let token = self.next(&format!("`{text}`"))?;
        match token.text == text {
            true => Ok(token.span),
            false => Err(unexpected(token, &format!("`{text}`"))),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<&'t Token> {
        let token = self.next(what)?;
        match token.kind == Kind::Word {
            true => Ok(token),
            false => Err(unexpected(token, what)),
        }
    }

    pub(super) fn done(&self) -> Parsed<()> {
        self.peek().map_or(Ok(()), |token| Err(unexpected(token, "the end of the line")))
    }
}

pub(super) fn unexpected(token: &Token, expected: &str) -> Diagnostic {
    let message = format!("`{}` is not expected here", token.text);
    Diagnostic::new(token.span, message, format!("expected {expected}"))
}

/// The diagnostic with what was meant perhaps.
pub(super) fn guessed(diagnostic: Diagnostic, guess: Option<&str>) -> Diagnostic {
    match guess {
        Some(guess) => diagnostic.with_help(format!("did you mean `{guess}`?")),
        None => diagnostic,
    }
}

impl Parser<'_> {
    fn line(&mut self, first: &Token, tokens: &[Token]) -> Parsed<()> {
        let end = tokens.last().map_or(first.span, |last| Span { start: last.span.end, end: last.span.end });
        let mut rest = Tokens::new(tokens, end);
        match first.text.as_str() {
            "type" if !is(tokens, 1, "=") => {
                rest.next("")?;
                self.kind = Some(rest.word("a name")?.text.clone());
                rest.done()
            }
            "test" if !is(tokens, 1, "=") => {
                rest.next("")?;
                let name = rest.next("the test's name")?;
                rest.expect("=")?;
                let body = tokens[rest.at..].to_vec();
                self.pending.push(Pending { name: name.text.clone(), span: name.span.to(end), body });
                Ok(())
            }
            "single" if !is(tokens, 1, "=") => {
                rest.next("")?;
                self.single.push(rest.word("the name of an operation")?.clone());
                while rest.eat(",") {
                    self.single.push(rest.word("the name of an operation")?.clone());
                }
                rest.done()
            }
            _ => self.call_line(&mut rest),
        }
    }

    fn call_line(&mut self, rest: &mut Tokens<'_>) -> Parsed<()> {
        let name = rest.word("`type`, `init`, `test`, `single` or the name of an operation")?;
        if rest.peek().is_none_or(|token| token.text != "=") {
            let guess = closest(&name.text, ["type", "init", "test", "single"]);
            let message = format!("`{}` starts no declaration", name.text);
            return Err(guessed(Diagnostic::new(name.span, message, "expected `name = function(…)`"), guess));
        }
        rest.expect("=")?;
        let call = self.call(rest).and_then(|call| rest.done().map(|()| call));
        let mut call = call.inspect_err(|_| self.declare_anyway(&name.text))?;
        if name.text == "init" {
            call.result = None;
            self.interface.init.push(call);
            return Ok(());
        }
        call.name.clone_from(&name.text);
        if self.interface.operations.iter().any(|known| known.name == call.name) {
            let message = format!("the operation `{}` is declared twice", call.name);
            return Err(Diagnostic::new(name.span, message, "declared again"));
        }
        self.interface.operations.push(call);
        Ok(())
    }

    /// Tests may name an operation whose declaration is wrong; one error is enough.
    fn declare_anyway(&mut self, name: &str) {
        let call = Call { name: name.into(), func: FuncId(0), args: Vec::new(), result: None, single: false };
        self.interface.operations.push(call);
    }

    /// Marks the operations that only one thread may call.
    fn mark_single(&mut self) {
        for token in std::mem::take(&mut self.single) {
            let operations = &mut self.interface.operations;
            match operations.iter().position(|operation| operation.name == token.text) {
                Some(at) => operations[at].single = true,
                None => {
                    let guess = closest(&token.text, operations.iter().map(|operation| operation.name.as_str()));
                    let message = format!("there is no operation `{}`", token.text);
                    self.errors.push(guessed(Diagnostic::new(token.span, message, "unknown operation"), guess));
                }
            }
        }
    }

    fn finish(mut self) -> Result<TestFile, Vec<Diagnostic>> {
        self.mark_single();
        let interface = Arc::new(std::mem::take(&mut self.interface));
        let mut tests: Vec<Test> = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            if tests.iter().any(|test| test.name == pending.name) {
                let message = format!("the test `{}` is declared twice", pending.name);
                self.errors.push(Diagnostic::new(pending.span, message, "declared again"));
            }
            match test(&pending, &interface) {
                Ok(test) => tests.push(test),
                Err(errors) => self.errors.extend(errors),
            }
        }
        self.errors.sort_by_key(|error| error.span);
        if self.errors.is_empty() { Ok(TestFile { kind: self.kind, tests, interface }) } else { Err(self.errors) }
    }
}

fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

fn test(pending: &Pending, interface: &Arc<Interface>) -> Result<Test, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut threads: Vec<(Vec<Step>, Span)> = Vec::new();
    let (mut open, mut closed) = (false, false);
    let (body, said) = orders::split(&pending.body);
    for token in body {
        let steps = match threads.last_mut() {
            _ if closed => &mut after,
            Some((steps, _)) if open => steps,
            _ => &mut before,
        };
        match token.text.as_str() {
            "(" if !open => {
                open = true;
                threads.push((Vec::new(), token.span));
            }
            "|" if open && !closed => threads.push((Vec::new(), token.span)),
            ")" if open && !closed => closed = true,
            "'" => match steps.last_mut() {
                Some(step) => step.primed = true,
                None => errors.push(unexpected(token, "an operation before the prime")),
            },
            _ if token.kind == Kind::Word => match split(token, interface) {
                Ok(found) => steps.extend(found),
                Err(error) => errors.push(error),
            },
            _ => errors.push(unexpected(token, "an operation")),
        }
    }
    if !closed && errors.is_empty() {
        let what = if open { "a closing parenthesis" } else { "threads in parentheses" };
        let message = format!("the test `{}` has no {}", pending.name, what.trim_start_matches("a "));
        errors.push(Diagnostic::new(pending.span, message, format!("{what} is missing")));
    }
    let empty = threads.iter().filter(|(steps, _)| steps.is_empty() && errors.is_empty());
    let empty: Vec<_> =
        empty.map(|(_, span)| Diagnostic::new(*span, "a thread without operations", "starts here")).collect();
    errors.extend(empty);
    let threads: Vec<_> = threads.into_iter().map(|(steps, _)| steps).collect();
    let calls = threads.iter().map(Vec::len).sum();
    let orders = Orders::parse(said, pending.span, calls).unwrap_or_else(|error| {
        errors.push(error);
        Orders::default()
    });
    let (name, span, interface) = (pending.name.clone(), pending.span, interface.clone());
    let test = Test { name, before, threads, after, orders, span, interface };
    if let Some(shared) = test.shared() {
        let message = format!("two threads call `{shared}`, which only one may call");
        let label = format!("the file says `single {shared}`");
        errors.push(Diagnostic::new(pending.span, message, label));
    }
    if test.calls() > MAX_CALLS {
        let message = format!("{} operation calls; at most {MAX_CALLS} can be tested", test.calls());
        errors.push(Diagnostic::new(pending.span, message, "this test"));
    }
    if errors.is_empty() { Ok(test) } else { Err(errors) }
}

/// The operations of a word, taking the longest name that fits each time.
fn split(token: &Token, interface: &Interface) -> Parsed<Vec<Step>> {
    let mut found = Vec::new();
    let mut rest = token.text.as_str();
    while !rest.is_empty() {
        let fits = interface.operations.iter().enumerate().filter(|(_, operation)| rest.starts_with(&operation.name));
        let Some((operation, known)) = fits.max_by_key(|(_, operation)| operation.name.len()) else {
            let start = token.span.start as usize + token.text.len() - rest.len();
            let names = interface.operations.iter().map(|operation| operation.name.as_str());
            let list = names.clone().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let help = match closest(rest, names) {
                Some(guess) => format!("did you mean `{guess}`? The operations are {list}"),
                None if list.is_empty() => "no operation is declared".into(),
                None => format!("the operations are {list}"),
            };
            let span = Span::new(start, token.span.end as usize);
            return Err(
                Diagnostic::new(span, format!("there is no operation `{rest}`"), "unknown operation").with_help(help)
            );
        };
        found.push(Step { operation, primed: false });
        rest = &rest[known.name.len()..];
    }
    Ok(found)
}
