//! `#define`: the parameters and the body of a macro.

use crate::preprocess::macros::Macro;
use crate::preprocess::token::{Token, TokenKind};
use crate::preprocess::{Preprocessor, paste};
use crate::source::Loc;

impl Preprocessor<'_> {
    pub(super) fn define(&mut self, rest: &[Token], at: Loc) {
        let Some(name) = rest.first().filter(|name| name.kind == TokenKind::Ident) else {
            return self.complain(at, "`#define` takes a name", "here");
        };
        let mut body = &rest[1..];
        let (mut parameters, mut variadic) = (None, false);
        if let Some(open) = body.first().filter(|token| token.is("(") && !token.spaced) {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                return self.complain(open.loc, "the parameters have no closing parenthesis", "opened here");
            };
            match named(&body[1..close]) {
                Ok((names, rest)) => (parameters, variadic) = (Some(names), rest),
                Err((odd, why)) => return self.complain(odd.unwrap_or(open.loc), why, "not a parameter"),
            }
            body = &body[close + 1..];
        }
        if name.is_word("defined") {
            return self.complain(name.loc, "`defined` cannot be a macro", "here");
        }
        let ends = [body.first(), body.last()].into_iter().flatten().find(|token| token.is("##"));
        if let Some(end) = ends {
            return self.complain(end.loc, "`##` stands between two tokens", "at an end of the macro");
        }
        let made = Macro { parameters, variadic, body: body.to_vec() };
        if let Some(odd) = paste::unused_mark(&made) {
            return self.complain(odd, "`#` stands before a parameter", "in a macro with parameters");
        }
        self.macros.table.insert(name.text.clone(), made);
    }
}

/// Where what is no parameter stands, and what is wrong with it.
type Misnamed = (Option<Loc>, &'static str);

/// The names of parameters, and whether the last one takes all arguments that are left.
fn named(list: &[Token]) -> Result<(Vec<String>, bool), Misnamed> {
    let mut names: Vec<String> = Vec::new();
    if list.is_empty() {
        return Ok((names, false));
    }
    let mut parts = list.split(|token| token.is(",")).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let name = match part {
            [dots] if dots.is("...") && last => return Ok(([names, vec![paste::VARIABLE.to_owned()]].concat(), true)),
            [name, dots] if name.kind == TokenKind::Ident && dots.is("...") && last => {
                return Ok(([names, vec![name.text.clone()]].concat(), true));
            }
            [name] if name.kind == TokenKind::Ident => name,
            _ => {
                return Err((part.first().map(|token| token.loc), "a macro's parameters are names, and perhaps `...`"));
            }
        };
        if names.contains(&name.text) {
            return Err((Some(name.loc), "two parameters have one name"));
        }
        names.push(name.text.clone());
    }
    Ok((names, false))
}
