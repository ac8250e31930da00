//! The gaps between the statements of C functions.
//!
//! A fence may stand at the start of a block, behind each statement of a block and behind a label in a block. The body of an `if`, an
//! `else` or a loop that has no braces has a gap at its start and one at its end too; a fence there needs braces, or it would stand
//! outside of the branch or take the body's place.
//!
//! The statements are found by their tokens. Macros that stand for pieces of statements can make this wrong, so whoever uses the gaps
//! compiles the text with fences and looks whether it is the same program ([`crate::same_but_for_fences`]).
//! Atomic blocks have no gaps.

use super::token::{Kind, Token, tokens};
use crate::fence::Position;
use crate::weights::Block;

/// Deeper statements have no gaps.
const MAX_DEPTH: usize = 250;

/// A gap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Gap {
    /// Its place. The offset is the end of the token before the gap; at the end of a body without braces, where that offset is taken by the
    /// gap behind the whole statement, it is the offset of the body's second character.
    pub(super) position: Position,
    pub(super) form: Form,
}

/// What surrounds a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A `{` or a label is before it.
    Start,
    /// A statement that starts here is before it.
    Behind {
        /// Where the statement starts.
        first: usize,
    },
    /// It is in a body without braces.
    Body {
        body: Body,
        /// Whether it is at the end, not the start.
        at_end: bool,
    },
}

/// A body without braces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Body {
    /// Where the statement that it belongs to starts.
    pub(super) owner: usize,
    /// The end of what is before the body: `)`, `else` or `do`.
    pub(super) open: usize,
    /// Where the body starts.
    pub(super) first: usize,
    /// Where it ends.
    pub(super) close: usize,
}

/// All gaps of a text, in order.
pub(super) fn gaps(text: &str) -> Vec<Gap> {
    let tokens = tokens(text);
    let mut scanner = Scanner { text, tokens: &tokens, at: 0, function: None, gaps: Vec::new() };
    scanner.file();
    let mut gaps = scanner.gaps;
    gaps.sort_by_key(|gap| gap.position.at);
    gaps
}

/// The functions of a text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let tokens = tokens(text);
    let mut scanner = Scanner { text, tokens: &tokens, at: 0, function: None, gaps: Vec::new() };
    let mut blocks = Vec::new();
    while scanner.at < tokens.len() {
        let name = scanner.next_is('{').then(|| scanner.function_name()).flatten();
        let start = tokens[scanner.at].end;
        match (name, scanner.next_is('{')) {
            (name, true) => {
                scanner.skip_brackets();
                let end = tokens[scanner.at - 1].start.max(start);
                blocks.extend(name.map(|name| Block { name, body: start..end }));
            }
            (_, false) => scanner.at += 1,
        }
    }
    blocks
}

struct Scanner<'t> {
    text: &'t str,
    tokens: &'t [Token],
    /// The next token.
    at: usize,
    function: Option<String>,
    gaps: Vec<Gap>,
}

impl Scanner<'_> {
    fn file(&mut self) {
        while self.at < self.tokens.len() {
            let name = self.next_is('{').then(|| self.function_name()).flatten();
            match name {
                Some(name) => {
                    self.function = Some(name);
                    self.block(0);
                }
                None if self.next_is('{') => self.skip_brackets(),
                None => self.at += 1,
            }
        }
    }

    /// The name of the function whose body starts here: the word before the brackets before the brace.
    fn function_name(&self) -> Option<String> {
        let mut depth = 0usize;
        for (index, token) in self.tokens[..self.at].iter().enumerate().rev() {
            match token.kind {
                Kind::Mark(')') => depth += 1,
                Kind::Mark('(') if depth == 1 => {
                    let name = self.tokens[..index].last().filter(|token| token.kind == Kind::Word)?;
                    return Some(self.text[name.start..name.end].to_owned());
                }
                Kind::Mark('(') => depth = depth.checked_sub(1)?,
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    /// A block with its braces.
    fn block(&mut self, depth: usize) {
        if depth > MAX_DEPTH {
            return self.skip_brackets();
        }
        self.plain_gap(Form::Start);
        self.at += 1;
        while self.at < self.tokens.len() && !self.next_is('}') {
            while let Some(colon) = self.label() {
                self.at = colon;
                self.plain_gap(Form::Start);
                self.at = colon + 1;
            }
            if self.next_is('}') {
                break;
            }
            let (before, first) = (self.at, self.start());
            let leaves = self.statement(depth);
            if !leaves && self.at > before {
                self.at -= 1;
                self.plain_gap(Form::Behind { first });
                self.at += 1;
            }
        }
        self.at += 1;
    }

    /// A gap behind the token at hand.
    fn plain_gap(&mut self, form: Form) {
        if let Some(token) = self.tokens.get(self.at) {
            let end = token.end;
            self.gap(end, end, form);
        }
    }

    fn gap(&mut self, at: usize, end: usize, form: Form) {
        let line = 1 + self.text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count();
        self.gaps.push(Gap { position: Position { at, line, program: self.function.clone() }, form });
    }

    /// The colon of a label, a `case` or a `default` that is next.
    fn label(&self) -> Option<usize> {
        let is = |at: usize, mark: char| self.tokens.get(at).is_some_and(|token| token.kind == Kind::Mark(mark));
        match self.word()? {
            "case" => {
                let ends = |at: &usize| is(*at, ':') || is(*at, ';') || is(*at, '}');
                (self.at + 1..self.tokens.len()).find(ends).filter(|at| is(*at, ':'))
            }
            _ => is(self.at + 1, ':').then_some(self.at + 1),
        }
    }

    /// A statement; tells whether control never comes to its end because it is a jump.
    fn statement(&mut self, depth: usize) -> bool {
        while let Some(colon) = self.label() {
            self.at = colon + 1;
        }
        let owner = self.start();
        match self.word() {
            _ if self.next_is('{') => self.block(depth + 1),
            Some("if") => {
                self.header();
                self.body(owner, depth);
                if self.word() == Some("else") {
                    self.at += 1;
                    self.body(owner, depth);
                }
            }
            Some("while" | "for" | "switch") => {
                self.header();
                self.body(owner, depth);
            }
            Some("do") => {
                self.at += 1;
                self.body(owner, depth);
                return self.simple();
            }
            Some("atomic") if self.mark_after() == Some('{') => {
                self.at += 1;
                self.skip_brackets();
            }
            _ => return self.simple(),
        }
        false
    }

    /// Everything up to a semicolon.
    fn simple(&mut self) -> bool {
        let leaves = matches!(self.word(), Some("return" | "break" | "continue" | "goto"));
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                Kind::Mark(';') => {
                    self.at += 1;
                    break;
                }
                Kind::Mark('(' | '[' | '{') => self.skip_brackets(),
                Kind::Mark('}') => break,
                _ => self.at += 1,
            }
        }
        leaves
    }

    /// A keyword and what stands in brackets behind it.
    fn header(&mut self) {
        self.at += 1;
        if self.next_is('(') {
            self.skip_brackets();
        }
    }

    /// The body of the statement that starts at `owner`.
    fn body(&mut self, owner: usize, depth: usize) {
        if self.next_is('{') {
            return self.block(depth + 1);
        }
        let Some(open) = self.at.checked_sub(1).and_then(|before| self.tokens.get(before)) else { return };
        let (open, first, empty) = (open.end, self.start(), self.next_is(';'));
        if depth > MAX_DEPTH {
            self.at = self.tokens.len();
            return;
        }
        let leaves = self.statement(depth + 1);
        let Some(last) = self.tokens[..self.at].last().filter(|last| last.end > first) else { return };
        let body = Body { owner, open, first, close: last.end };
        self.gap(open, open, Form::Body { body, at_end: false });
        if !leaves && !empty {
            // No other gap is here: a statement that is not empty has two characters or more.
            let second = first + self.text[first..].chars().next().map_or(1, char::len_utf8);
            self.gap(second, body.close, Form::Body { body, at_end: true });
        }
    }

    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.start)
    }

    fn word(&self) -> Option<&str> {
        let token = self.tokens.get(self.at).filter(|token| token.kind == Kind::Word)?;
        Some(&self.text[token.start..token.end])
    }

    fn mark_after(&self) -> Option<char> {
        match self.tokens.get(self.at + 1)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    fn next_is(&self, mark: char) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.kind == Kind::Mark(mark))
    }

    /// Goes behind the bracket that matches the one at hand.
    fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.kind {
                Kind::Mark('(' | '[' | '{') => depth += 1,
                Kind::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}
