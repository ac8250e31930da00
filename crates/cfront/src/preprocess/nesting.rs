//! Text that would make recursive passes run deep is refused before it is parsed.

use crate::preprocess::token::{Token, TokenKind};
use crate::source::{Problem, Problems};

/// How deeply brackets may be nested.
const MAX_NESTING: usize = 64;

/// How many operators or statement keywords may follow each other before a statement ends.
const MAX_CHAIN: usize = 256;

/// Refuses text that would make recursive passes run deep: brackets, operators, statements without braces, `else if`.
pub(crate) fn check_nesting(tokens: &[Token], problems: &mut Problems) {
    let (mut depth, mut chain) = (0usize, 0usize);
    let mut elses = [0usize; MAX_NESTING + 2];
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        chain = if ends_chain(token, depth) { 0 } else { chain + usize::from(counts(token)) };
        let level = &mut elses[depth.min(MAX_NESTING + 1)];
        if token.is(";") || token.is("}") {
            let goes_on = tokens.get(index + 1).is_some_and(|next| next.is_word("else"));
            *level = if goes_on { *level + 1 } else { 0 };
        }
        if depth > MAX_NESTING || chain > MAX_CHAIN || *level > MAX_CHAIN {
            problems.add(Problem::new(token.loc, "this is nested too deeply or too long", "here"));
            return;
        }
    }
}

/// Commas separate elements of a list, which do not nest.
fn ends_chain(token: &Token, depth: usize) -> bool {
    token.is(";") || token.is("{") || token.is("}") || (token.is(",") && depth > 0)
}

fn counts(token: &Token) -> bool {
    match token.kind {
        TokenKind::Punct => !",)]".contains(&token.text),
        TokenKind::Ident => {
            matches!(token.text.as_str(), "if" | "while" | "for" | "do" | "switch" | "sizeof" | "case" | "default")
        }
        _ => false,
    }
}
