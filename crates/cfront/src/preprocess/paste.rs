//! What becomes of a macro's body: parameters are replaced, `#` makes a string of an argument, `##` one token of two (C11, 6.10.3.1 to 6.10.3.3).
//!
//! Of GNU C there is `, ## __VA_ARGS__`, which drops the comma where there are no variable arguments; of C23, `__VA_OPT__`. An empty operand of `##` is a
//! *placemarker*: a token without text, which is gone in the end.

use crate::preprocess::macros::Macro;
use crate::preprocess::token::{Token, TokenKind, tokens};
use crate::source::{Loc, Problem, Problems};

/// An argument of a use of a macro.
pub(crate) struct Argument {
    /// As it stands.
    pub(crate) plain: Vec<Token>,
    /// With its own macros expanded.
    pub(crate) expanded: Vec<Token>,
}

/// What variable arguments are called.
pub(crate) const VARIABLE: &str = "__VA_ARGS__";

/// Tokens that are there only if there are variable arguments.
const OPTIONAL: &str = "__VA_OPT__";

/// Which parameter a token of the body is.
fn parameter(found: &Macro, token: &Token) -> Option<usize> {
    let parameters = found.parameters.as_deref().unwrap_or_default();
    parameters.iter().position(|parameter| token.is_word(parameter))
}

/// Whether an argument stands somewhere in the body where it is expanded: not behind `#`, nor beside `##`, unless that drops a comma.
pub(crate) fn wants_expanded(found: &Macro, index: usize) -> bool {
    let last = found.parameters.as_ref().is_some_and(|parameters| index + 1 == parameters.len());
    let at = |at: Option<usize>, text: &str| at.and_then(|at| found.body.get(at)).is_some_and(|token| token.is(text));
    let as_it_stands = |use_at: usize| {
        let before = use_at.checked_sub(1);
        let pasted = at(before, "##") && !(found.variadic && last && at(use_at.checked_sub(2), ","));
        at(before, "#") || pasted || at(Some(use_at + 1), "##")
    };
    let mut uses = (0..found.body.len()).filter(|at| parameter(found, &found.body[*at]) == Some(index));
    let uses = uses.any(|at| !as_it_stands(at));
    uses || found.variadic && last && found.body.iter().any(|token| token.is_word(OPTIONAL))
}

/// A `#` of a function-like macro that stands before no parameter.
pub(crate) fn unused_mark(made: &Macro) -> Option<Loc> {
    made.parameters.as_ref()?;
    let wrong = |at: &usize| {
        let next = made.body.get(at + 1);
        let fits = next.is_some_and(|next| parameter(made, next).is_some() || made.variadic && next.is_word(OPTIONAL));
        made.body[*at].is("#") && !fits
    };
    (0..made.body.len()).find(wrong).map(|at| made.body[at].loc)
}

/// The body with arguments in place of parameters.
pub(crate) fn substitute(found: &Macro, name: &Token, arguments: &[Argument], problems: &mut Problems) -> Vec<Token> {
    let mut body = Body { found, name, arguments, problems };
    let mut made = body.part(&found.body);
    made.retain(|token| !token.text.is_empty());
    if let Some(first) = made.first_mut() {
        first.spaced = name.spaced;
    }
    made
}

struct Body<'b> {
    found: &'b Macro,
    name: &'b Token,
    arguments: &'b [Argument],
    problems: &'b mut Problems,
}

impl Body<'_> {
    /// A part of the body, placemarkers included.
    fn part(&mut self, body: &[Token]) -> Vec<Token> {
        let mut made: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < body.len() {
            let token = &body[at];
            if token.is("##") && !made.is_empty() && at + 1 < body.len() {
                let (right, next) = self.operand(body, at + 1);
                let comma = made.last().is_some_and(|last| last.is(",")) && self.is_variable(&body[at + 1]);
                if comma {
                    self.after_comma(&mut made);
                } else {
                    self.glue(&mut made, right);
                }
                at = next;
                continue;
            }
            let glued = body.get(at + 1).is_some_and(|next| next.is("##"));
            if glued {
                let (left, next) = self.operand(body, at);
                made.extend(left);
                at = next;
                continue;
            }
            let (tokens, next) = self.replaced(body, at);
            made.extend(tokens);
            at = next;
        }
        made
    }

    /// Whether a token stands for the variable arguments.
    fn is_variable(&self, token: &Token) -> bool {
        let last = self.arguments.len().checked_sub(1);
        self.found.variadic && parameter(self.found, token) == last && last.is_some()
    }

    /// `, ## __VA_ARGS__`: no comma where there are none, and no pasting else.
    fn after_comma(&mut self, made: &mut Vec<Token>) {
        let Some(last) = self.arguments.last() else { return };
        if last.plain.is_empty() {
            made.pop();
        } else {
            made.extend(last.expanded.iter().cloned());
        }
    }

    /// An operand of `##`, whose macros are not expanded, and where the body goes on.
    fn operand(&mut self, body: &[Token], at: usize) -> (Vec<Token>, usize) {
        let token = &body[at];
        if self.is_string(body, at) || self.optional(body, at).is_some() {
            return self.replaced(body, at);
        }
        let tokens = match parameter(self.found, token).and_then(|index| self.arguments.get(index)) {
            Some(argument) if argument.plain.is_empty() => vec![self.placemarker()],
            Some(argument) => argument.plain.clone(),
            None => vec![self.placed(token)],
        };
        (tokens, at + 1)
    }

    /// One token of the body, or what belongs to it.
    fn replaced(&mut self, body: &[Token], at: usize) -> (Vec<Token>, usize) {
        if self.is_string(body, at)
            && let Some(argument) = parameter(self.found, &body[at + 1]).and_then(|index| self.arguments.get(index))
        {
            let text = quoted(&spelled(&argument.plain));
            let string = Token { kind: TokenKind::Str, text, ..self.placed(&body[at]) };
            return (vec![string], at + 2);
        }
        if let Some(end) = self.optional(body, at) {
            let any = self.arguments.last().is_some_and(|last| !last.expanded.is_empty());
            let tokens = if any { self.part(&body[at + 2..end]) } else { Vec::new() };
            let tokens = if tokens.is_empty() { vec![self.placemarker()] } else { tokens };
            return (tokens, end + 1);
        }
        let token = &body[at];
        let tokens = match parameter(self.found, token).and_then(|index| self.arguments.get(index)) {
            // Arguments keep their own places: that is where the user wrote them.
            Some(argument) => {
                let mut tokens = argument.expanded.clone();
                tokens.iter_mut().for_each(|token| token.starts_line = false);
                if let Some(first) = tokens.first_mut() {
                    first.spaced = token.spaced;
                }
                tokens
            }
            None => vec![self.placed(token)],
        };
        (tokens, at + 1)
    }

    /// Whether `#` and a parameter stand here.
    fn is_string(&self, body: &[Token], at: usize) -> bool {
        let parameters = self.found.parameters.is_some() && body[at].is("#");
        parameters && body.get(at + 1).is_some_and(|next| parameter(self.found, next).is_some())
    }

    /// Where `__VA_OPT__ ( … )` ends, if it stands here.
    fn optional(&self, body: &[Token], at: usize) -> Option<usize> {
        if !self.found.variadic || !body[at].is_word(OPTIONAL) || !body.get(at + 1)?.is("(") {
            return None;
        }
        let mut depth = 0;
        for (offset, token) in body[at + 1..].iter().enumerate() {
            depth += i32::from(token.is("("));
            depth -= i32::from(token.is(")"));
            if depth == 0 {
                return Some(at + 1 + offset);
            }
        }
        None
    }

    /// One token of the last one and the first of what follows.
    fn glue(&mut self, made: &mut Vec<Token>, mut right: Vec<Token>) {
        let (Some(left), false) = (made.pop(), right.is_empty()) else { return };
        let first = right.remove(0);
        let text = format!("{}{}", left.text, first.text);
        let pasted = match (left.text.is_empty(), first.text.is_empty()) {
            (_, true) => vec![left],
            (true, _) => vec![Token { spaced: left.spaced, ..first }],
            _ => match lexed(&text) {
                Some(kind) => vec![Token { kind, text, hidden: Vec::new(), ..left }],
                None => {
                    let message = format!("`{}` and `{}` together are not one token", left.text, first.text);
                    self.problems.add(Problem::new(self.name.loc, message, "by `##` in this macro"));
                    vec![left, first]
                }
            },
        };
        made.extend(pasted);
        made.extend(right);
    }

    /// A token of the body, at the place of the use.
    fn placed(&self, token: &Token) -> Token {
        Token { loc: self.name.loc, starts_line: false, ..token.clone() }
    }

    fn placemarker(&self) -> Token {
        Token { kind: TokenKind::Punct, text: String::new(), hidden: Vec::new(), ..self.placed(self.name) }
    }
}

/// What a text is if it is one token.
fn lexed(text: &str) -> Option<TokenKind> {
    let mut problems = Problems::default();
    let found = tokens(text, 0, &mut problems);
    match &found[..] {
        [one] if problems.is_empty() && one.text == text => Some(one.kind),
        _ => None,
    }
}

/// Tokens as they are spelled, one space where any white space stands.
fn spelled(list: &[Token]) -> String {
    let mut text = String::new();
    for (index, token) in list.iter().enumerate() {
        if index > 0 && (token.spaced || token.starts_line) {
            text.push(' ');
        }
        let literal = matches!(token.kind, TokenKind::Str | TokenKind::Char);
        for c in token.text.chars() {
            if literal && matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text
}

/// A text as a string literal; what has to be escaped in it is.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
