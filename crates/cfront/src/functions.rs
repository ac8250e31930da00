//! Functions as trees, for litmus tests: their language is the same C, their atomics and their arithmetic are not.
//!
//! Nothing is preprocessed and nothing checked. Every place in the trees and in the complaints is one of the whole source.

use std::ops::Range;

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Function, Item};
use crate::convert::{self, Dialect};
use crate::preprocess::token::{Token, tokens, tokens_from};
use crate::preprocess::{Preprocessed, check_nesting};
use crate::source::{Loc, Problem, Problems, Sources};

/// The functions whose parameters and bodies, `(…) { … }`, stand in these ranges of the source. `types` are the names that stand for
/// types, besides C's own.
pub fn functions(source: &str, ranges: &[Range<usize>], types: &[&str]) -> Result<Vec<Function>, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let mut list = Vec::new();
    for name in types {
        list.extend(made(&format!("typedef int {name};"), 0));
    }
    for range in ranges {
        list.extend(made("void function", range.start));
        list.extend(tokens_from(&source[..range.end], range.start, 0, &mut problems));
    }
    check_nesting(&list, &mut problems);
    let items = match problems.is_empty() {
        true => convert::parse(&Preprocessed::new(&list), Dialect::Litmus, &mut problems),
        false => None,
    };
    let functions = items.into_iter().flatten().filter_map(|item| match item {
        Item::Function(function) => Some(*function),
        Item::Decls(_) | Item::StaticAssert(..) => None,
    });
    let functions: Vec<_> = functions.collect();
    if problems.is_empty() && functions.len() != ranges.len() {
        // A quote that hides a brace from the one and not from the other.
        let message = "this is not one function";
        problems.add(Problem::new(start(ranges.first().map_or(0, |range| range.start)), message, "starts here"));
    }
    if problems.is_empty() { Ok(functions) } else { Err(problems.finish(&Sources::default())) }
}

fn start(at: usize) -> Loc {
    Loc { span: Span::new(at, at), ..Loc::default() }
}

/// Tokens that are not in the source; complaints about them are about this place.
fn made(text: &str, at: usize) -> impl Iterator<Item = Token> {
    let found = tokens(text, 0, &mut Problems::default());
    found.into_iter().map(move |token| Token { loc: start(at), ..token })
}
