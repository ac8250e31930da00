//! `#include` and `__has_include`: which file a name is.

use crate::preprocess::token::{Token, TokenKind};
use crate::preprocess::{MAX_SOURCE, Preprocessor, headers};
use crate::source::{Loc, Problem};

/// How deeply files may include each other.
const MAX_INCLUDES: usize = 32;

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, rest: &[Token], at: Loc) {
        let named = included(rest).or_else(|| included(&self.expand(rest.to_vec())));
        let Some((name, quoted)) = named else {
            return self.complain(at, "`#include` takes `<name>` or `\"name\"`", "here");
        };
        let found = self.find(&name, quoted, at);
        if found.as_ref().is_some_and(|(name, _)| self.once.contains(name)) {
            return;
        }
        let Some((name, text)) = found else {
            let known = headers::names().collect::<Vec<_>>().join(", ");
            let help = format!("headers that come with Cyrano: {known}; files beside the C file: #include \"file.h\"");
            let problem = Problem::new(at, format!("there is no header `{name}`"), "included here");
            return self.problems.add(problem.with_help(help));
        };
        if self.depth >= MAX_INCLUDES || text.len() > MAX_SOURCE {
            return self.complain(at, format!("`{name}` is too large or included too deeply"), "included here");
        }
        let file = self.sources.add(&name, text, at);
        self.depth += 1;
        self.file(file);
        self.depth -= 1;
    }

    /// `__has_include` replaced by 0 or 1.
    pub(super) fn with_includes(&mut self, line: &[Token]) -> Vec<Token> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let token = &line[at];
            let close = line[at..].iter().position(|token| token.is(")")).map(|offset| at + offset);
            if let (true, Some(close)) = (token.is_word("__has_include"), close)
                && line.get(at + 1).is_some_and(|open| open.is("("))
            {
                let named = included(&line[at + 2..close]);
                let there = named.is_some_and(|(name, quoted)| self.find(&name, quoted, token.loc).is_some());
                found.push(Token { kind: TokenKind::Number, text: i32::from(there).to_string(), ..token.clone() });
                at = close + 1;
            } else {
                found.push(token.clone());
                at += 1;
            }
        }
        found
    }

    /// A file and its full name: beside the file that includes it, or else one that comes with Cyrano; in the other order if it is in angle brackets.
    fn find(&self, name: &str, quoted: bool, at: Loc) -> Option<(String, String)> {
        let stub = || headers::stub(name).map(|text| (name.to_owned(), text.to_owned()));
        let includer = self.sources.files.get(at.file as usize).filter(|_| !at.is_main());
        let folder = includer.and_then(|file| file.name.rsplit_once('/')).map(|(folder, _)| folder);
        let beside = || {
            let near = folder.map(|folder| format!("{folder}/{name}"));
            let names = near.into_iter().chain([name.to_owned()]);
            names.into_iter().find_map(|name| Some(((self.resolver)(&name)?, name))).map(|(text, name)| (name, text))
        };
        if quoted { beside().or_else(stub) } else { stub().or_else(beside) }
    }
}

/// The name that an `#include` gives, and whether it is in quotes.
fn included(rest: &[Token]) -> Option<(String, bool)> {
    match rest {
        [name] if name.kind == TokenKind::Str => Some((name.text.trim_matches('"').to_owned(), true)),
        [open, name @ .., close] if open.is("<") && close.is(">") => {
            Some((name.iter().map(|token| token.text.as_str()).collect(), false))
        }
        _ => None,
    }
}
