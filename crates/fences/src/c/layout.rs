//! How fences are written into C text: on lines of their own where the text is, within a line where it is not, with braces around a body
//! that has none.
//!
//! At the end of a line everything goes behind the comment that may be there, else right behind the gap. That depends on the place alone and
//! not on what is inserted, so pieces for the same place keep their order: the end of an inner body, of the outer one, the gap behind both.

use std::collections::BTreeMap;

use super::gaps::{Body, Form, Gap};
use crate::source::{Patched, Piece};

/// What a block is indented by if it has no other lines to go by.
const STEP: &str = "    ";

/// One insertion.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Edit {
    offset: usize,
    rank: Rank,
    text: String,
    /// Where it belongs in the original: the position of a fence; for a brace, where it stands.
    at: usize,
}

/// The order of insertions at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Open,
    First,
    /// Inner bodies start later.
    Close(std::cmp::Reverse<usize>, u8),
    Behind,
}

/// The fences of a body without braces.
#[derive(Default)]
struct Inside<'f> {
    first: Option<(&'f str, usize)>,
    last: Option<(&'f str, usize)>,
}

/// The text with these statements in these gaps.
pub(super) fn lay_out(text: &str, placed: &[(&Gap, String)]) -> Patched {
    let mut edits = Vec::new();
    let mut bodies: BTreeMap<Body, Inside<'_>> = BTreeMap::new();
    for (gap, statement) in placed {
        let at = gap.position.at;
        match gap.form {
            Form::Start => edits.push(at_start(text, at, statement)),
            Form::Behind { first } => {
                let spot = Spot::behind(text, at);
                let piece = spot.piece(&indentation(text, first), statement);
                edits.push(Edit { offset: spot.offset, rank: Rank::Behind, text: piece, at });
            }
            Form::Body { body, at_end } => {
                let inside = bodies.entry(body).or_default();
                *(if at_end { &mut inside.last } else { &mut inside.first }) = Some((statement, at));
            }
        }
    }
    for (body, inside) in &bodies {
        braces(text, body, inside, &mut edits);
    }
    edits.sort();
    apply(text, &edits)
}

fn apply(text: &str, edits: &[Edit]) -> Patched {
    let mut patched = Patched { text: String::with_capacity(text.len() + 40 * edits.len()), pieces: Vec::new() };
    let mut done = 0;
    for edit in edits {
        patched.text.push_str(&text[done..edit.offset]);
        patched.pieces.push(Piece { start: patched.text.len(), len: edit.text.len(), at: edit.at });
        patched.text.push_str(&edit.text);
        done = edit.offset;
    }
    patched.text.push_str(&text[done..]);
    patched
}

/// A place for a statement.
struct Spot {
    offset: usize,
    /// The line's end if a line of its own can follow, else the statement goes into the line.
    newline: Option<&'static str>,
}

impl Spot {
    /// Behind the token that ends here, and behind the comment that ends the line.
    fn behind(text: &str, end: usize) -> Self {
        let line = text[end..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let rest = line.trim();
        if !rest.is_empty() && !rest.starts_with("//") {
            return Self { offset: end, newline: None };
        }
        let offset = end + line.trim_end().len();
        let newline = if text[end + line.len()..].starts_with('\r') { "\r\n" } else { "\n" };
        Self { offset, newline: Some(newline) }
    }

    fn piece(&self, indentation: &str, statement: &str) -> String {
        match self.newline {
            Some(newline) => format!("{newline}{indentation}{statement}"),
            None => format!(" {statement}"),
        }
    }
}

/// Behind an opening brace or a label: like the next line, unless that one is outside.
fn at_start(text: &str, at: usize, statement: &str) -> Edit {
    let spot = Spot::behind(text, at);
    let next = text[spot.offset..].lines().skip(1).find(|line| !line.trim().is_empty());
    let indentation = match next {
        Some(next) if !next.trim_start().starts_with(['}', '#']) => leading(next).to_owned(),
        _ => format!("{}{STEP}", indentation(text, at)),
    };
    Edit { offset: spot.offset, rank: Rank::First, text: spot.piece(&indentation, statement), at }
}

/// Puts braces around a body, and fences at its ends.
fn braces(text: &str, body: &Body, inside: &Inside<'_>, edits: &mut Vec<Edit>) {
    let (outer, inner) = (indentation(text, body.owner), indentation(text, body.first));
    // A body that starts in the line of its owner has no indentation of its own.
    let inner = if text[body.open..body.first].contains('\n') { inner } else { format!("{outer}{STEP}") };
    edits.push(Edit { offset: body.open, rank: Rank::Open, text: " {".to_owned(), at: body.open });
    if let Some((statement, at)) = inside.first {
        let spot = Spot::behind(text, body.open);
        edits.push(Edit { offset: spot.offset, rank: Rank::First, text: spot.piece(&inner, statement), at });
    }
    let spot = Spot::behind(text, body.close);
    let rank = |number| Rank::Close(std::cmp::Reverse(body.first), number);
    if let Some((statement, at)) = inside.last {
        edits.push(Edit { offset: spot.offset, rank: rank(0), text: spot.piece(&inner, statement), at });
    }
    edits.push(Edit { offset: spot.offset, rank: rank(1), text: spot.piece(&outer, "}"), at: body.close });
}

/// The indentation of the line of an offset.
fn indentation(text: &str, offset: usize) -> String {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    leading(&text[start..]).to_owned()
}

fn leading(line: &str) -> &str {
    let line = line.split('\n').next().unwrap_or_default();
    &line[..line.len() - line.trim_start().len()]
}
