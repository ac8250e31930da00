//! Fences in source text: where they may stand, how they are written, and the way back to the original.
//!
//! Works on tokens only, for every language whose statements end in `;` and whose blocks stand in braces. What a gap between tokens means
//! is for the language's own compiler to say: [`positions`] keeps the gaps where the text with a fence compiles.
//!
//! **Invariant:** inserting changes nothing but what it adds, so every span of the changed text has one place in the original
//! ([`Patched::original`]); an inserted statement's span is empty there and starts at its position.

use cyrano_ir::{FenceSet, Program, Span};

use crate::fence::{Fence, Position, merge, statement};
use crate::weights::Block;

/// The positions at which the text with a fence is `accepted`.
pub fn positions(text: &str, accepted: &dyn Fn(&str) -> bool) -> Vec<Position> {
    let full = statement(FenceSet::FULL);
    let fits = |position: &Position| accepted(&write(text, &[(position.clone(), full.clone())]).text);
    gaps(text).into_iter().filter(fits).collect()
}

/// A text with fences inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patched {
    /// The text.
    pub text: String,
    /// What was inserted, in order.
    pub(crate) pieces: Vec<Piece>,
}

/// One inserted piece of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// Where it starts in the changed text.
    pub(crate) start: usize,
    /// How long it is.
    pub(crate) len: usize,
    /// The position of its fence, in the original.
    pub(crate) at: usize,
}

/// Inserts fences; those at one position become one statement.
pub fn insert(text: &str, fences: &[Fence]) -> Patched {
    let placed = merge(fences).into_iter().map(|fence| (fence.position, statement(fence.kind)));
    write(text, &placed.collect::<Vec<_>>())
}

/// Inserts statements, without semicolons, at different positions in order.
pub fn write(text: &str, placed: &[(Position, String)]) -> Patched {
    let mut patched = Patched { text: String::with_capacity(text.len() + 40 * placed.len()), pieces: Vec::new() };
    let mut done = 0;
    for (position, statement) in placed {
        let at = position.at;
        let (offset, piece) = written(text, at, statement);
        patched.text.push_str(&text[done..offset]);
        patched.pieces.push(Piece { start: patched.text.len(), len: piece.len(), at });
        patched.text.push_str(&piece);
        done = offset;
    }
    patched.text.push_str(&text[done..]);
    patched
}

impl Patched {
    /// The span in the original.
    pub fn original(&self, span: Span) -> Span {
        // An end belongs to the byte before it, a start to the byte behind it.
        Span::new(self.offset(span.start as usize, 1), self.offset(span.end as usize, 0))
    }

    /// The offset in the original of one whose byte is the last of the first `offset + reach`.
    fn offset(&self, offset: usize, reach: usize) -> usize {
        let mut shift = 0;
        for Piece { start, len, at } in &self.pieces {
            if offset + reach <= *start {
                break;
            }
            if offset + reach <= start + len {
                return *at;
            }
            shift += len;
        }
        offset - shift
    }

    /// The program that was compiled from the changed text, with the spans of the original.
    pub fn with_original_spans(&self, mut program: Program) -> Program {
        let instructions = program.threads.iter_mut().flat_map(|thread| &mut thread.code);
        let spans = instructions.map(|instr| &mut instr.span);
        let spans = spans.chain(program.locations.iter_mut().map(|location| &mut location.span));
        for span in spans.chain(program.checks.iter_mut().map(|check| &mut check.span)) {
            *span = self.original(*span);
        }
        program
    }
}

/// Where a fence at `at` is inserted and the text for it: on a line of its own if nothing but a comment follows.
fn written(text: &str, at: usize, statement: &str) -> (usize, String) {
    let (before, after) = text.split_at(at);
    if !before.ends_with([';', '{', '}']) {
        return (at, format!("; {statement}"));
    }
    let line = after.split('\n').next().unwrap_or_default();
    let rest = line.trim();
    if !rest.is_empty() && !rest.starts_with("//") {
        return (at, format!(" {statement};"));
    }
    let line = line.strip_suffix('\r').unwrap_or(line);
    let end = at + line.len();
    let newline = if text[end..].starts_with('\r') { "\r\n" } else { "\n" };
    (end, format!("{newline}{}{statement};", indentation(before, &text[end..])))
}

/// The indentation of the next line, or of this one if a block ends on the next.
fn indentation(before: &str, after: &str) -> String {
    let leading = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let next = after.lines().skip(1).find(|line| !line.trim().is_empty());
    if let Some(next) = next.filter(|line| !line.trim_start().starts_with('}')) {
        return leading(next);
    }
    let mut own = leading(before.rsplit('\n').next().unwrap_or_default());
    if before.ends_with('{') {
        own.push_str("    ");
    }
    own
}

/// The text with statements before the brace at `brace`: on lines of their own if the brace has one.
pub fn before_brace(text: &str, brace: usize, statements: &[String]) -> String {
    let (before, after) = text.split_at(brace.min(text.len()));
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = &before[start..];
    if indent.trim().is_empty() {
        let lines: String = statements.iter().map(|line| format!("{indent}    {line}\n")).collect();
        return format!("{}{lines}{indent}{after}", &before[..start]);
    }
    let words: String = statements.iter().map(|line| format!("{line} ")).collect();
    let gap = if before.ends_with(char::is_whitespace) { "" } else { " " };
    format!("{before}{gap}{words}{after}")
}

/// A token, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Open,
    Close,
    Semicolon,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    mark: Mark,
    start: usize,
    end: usize,
}

/// All gaps in which a statement might stand: behind `;`, `{` and `}`, and before a `}` that follows a statement without `;`.
fn gaps(text: &str) -> Vec<Position> {
    let tokens = tokens(text);
    let mut gaps = Vec::new();
    let mut blocks: Vec<Option<String>> = Vec::new();
    let mut header = 0;
    let mut line = Lines { text, offset: 0, line: 1 };
    for (number, token) in tokens.iter().enumerate() {
        let next = tokens.get(number + 1).map(|next| next.mark);
        match token.mark {
            Mark::Open => blocks.push(name(text, &tokens[header..number])),
            Mark::Close => drop(blocks.pop()),
            Mark::Semicolon | Mark::Other => {}
        }
        if token.mark != Mark::Other {
            header = number + 1;
        }
        let is_gap = match token.mark {
            Mark::Semicolon | Mark::Open => true,
            Mark::Close => next != Some(Mark::Semicolon),
            Mark::Other => next == Some(Mark::Close),
        };
        if is_gap {
            // The outermost block is the program; what stands directly in it are threads, procedures and commands.
            let program = blocks.get(1).cloned().flatten();
            gaps.push(Position { at: token.end, line: line.of(token.end), program });
        }
    }
    gaps
}

/// The threads, procedures and commands: what stands directly in the outermost block and has a name.
pub fn blocks(text: &str) -> Vec<Block> {
    let tokens = tokens(text);
    let mut blocks = Vec::new();
    let (mut open, mut header) = (Vec::new(), 0);
    for (number, token) in tokens.iter().enumerate() {
        match token.mark {
            Mark::Open => open.push((name(text, &tokens[header..number]), token.end)),
            Mark::Close if open.len() == 2 => {
                let closed = open.pop().and_then(|(name, start)| Some(Block { name: name?, body: start..token.start }));
                blocks.extend(closed);
            }
            Mark::Close => drop(open.pop()),
            Mark::Semicolon | Mark::Other => {}
        }
        if token.mark != Mark::Other {
            header = number + 1;
        }
    }
    blocks
}

/// The name in the header of a block: `thread p[2]`, `proc release`, `read(v)`.
fn name(text: &str, header: &[Token]) -> Option<String> {
    let words = header.iter().map(|token| &text[token.start..token.end]);
    let words = words.map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default());
    let name = words.into_iter().find(|word| !["thread", "proc", "method", "operation"].contains(word))?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Line numbers of growing offsets.
struct Lines<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        self.line += self.text.as_bytes()[self.offset..offset].iter().filter(|byte| **byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

/// The tokens outside comments. A run of other characters is one token, a string is one.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (mark, len) = match first {
            ';' => (Some(Mark::Semicolon), 1),
            '{' => (Some(Mark::Open), 1),
            '}' => (Some(Mark::Close), 1),
            '"' => (Some(Mark::Other), string(rest)),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            _ => (Some(Mark::Other), word(rest)),
        };
        tokens.extend(mark.map(|mark| Token { mark, start: at, end: at + len }));
        at += len;
    }
    tokens
}

/// The length of a string literal, or of what there is of one.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

fn word(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let end = chars.find(|(at, c)| {
        c.is_whitespace() || ";{}\"".contains(*c) || text[*at..].starts_with("//") || text[*at..].starts_with("/*")
    });
    end.map_or(text.len(), |(at, _)| at)
}
