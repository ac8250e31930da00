//! Bodies of functions as trees, for litmus tests: their language is the same C, their atomics and their arithmetic are not.
//!
//! Nothing is preprocessed and nothing checked. Every place in the trees and in the complaints is one of the whole source.

use std::ops::Range;

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Item, Stmt};
use crate::convert::{self, Dialect};
use crate::preprocess::{Preprocessed, check_nesting};
use crate::source::{Loc, Problem, Problems, Sources};
use crate::token::{Token, tokens};

/// The bodies `{ … }` that stand in these ranges of the source. `types` are the names that stand for types, besides C's own.
pub fn bodies(source: &str, ranges: &[Range<usize>], types: &[&str]) -> Result<Vec<Stmt>, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let mut list = Vec::new();
    for name in types {
        list.extend(made(&format!("typedef int {name};"), 0));
    }
    for range in ranges {
        list.extend(made("void body(void)", range.start));
        for mut token in tokens(&source[range.clone()], 0, &mut problems) {
            let own = token.loc.span.range();
            token.loc.span = Span::new(range.start + own.start, range.start + own.end);
            list.push(token);
        }
    }
    check_nesting(&list, &mut problems);
    let items = match problems.is_empty() {
        true => convert::parse(&Preprocessed::new(&list), Dialect::Litmus, &mut problems),
        false => None,
    };
    let bodies = items.into_iter().flatten().filter_map(|item| match item {
        Item::Function(function) => Some(function.body),
        Item::Decls(_) => None,
    });
    let bodies: Vec<Stmt> = bodies.collect();
    if problems.is_empty() && bodies.len() != ranges.len() {
        // A quote that hides a brace from the one and not from the other.
        let message = "this is not the body of one function";
        problems.add(Problem::new(start(ranges.first().map_or(0, |range| range.start)), message, "starts here"));
    }
    if problems.is_empty() { Ok(bodies) } else { Err(problems.finish(&Sources::default())) }
}

fn start(at: usize) -> Loc {
    Loc { span: Span::new(at, at), ..Loc::default() }
}

/// Tokens that are not in the source; complaints about them are about this place.
fn made(text: &str, at: usize) -> impl Iterator<Item = Token> {
    let found = tokens(text, 0, &mut Problems::default());
    found.into_iter().map(move |token| Token { loc: start(at), ..token })
}
