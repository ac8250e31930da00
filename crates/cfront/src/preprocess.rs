//! The preprocessor: directives, includes, macros.
//!
//! The result is one text for the parser and a table that says where each of its tokens was written, so that spans survive.
//! A file is looked for beside the one that includes it. What stands on a command line, `-D` and the like, is a file of its own before the first
//! ([`COMMAND_LINE`]). `#pragma` other than `once`, `#warning` and `_Pragma` change nothing; directives that it does not know are reported.

use std::collections::BTreeMap;

use cyrano_ir::suggest::closest;

use crate::condition;
use crate::headers;
use crate::macros::{Macro, Macros};
use crate::paste;
use crate::source::{Loc, Problem, Problems, Sources};
use crate::token::{Token, TokenKind, tokens};

/// How deeply files may include each other.
const MAX_INCLUDES: usize = 32;

/// The largest source file, in bytes.
pub const MAX_SOURCE: usize = 2 << 20;

/// The macros that are there from the start: those of a C11 compiler for 64-bit Linux, as far as programs ask for them, but none of a machine.
const PREDEFINED: [(&str, &str); 37] = [
    ("__CYRANO__", "1"),
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201112L"),
    ("__STDC_HOSTED__", "1"),
    ("__GNUC__", "4"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "1"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("__ELF__", "1"),
    ("__LP64__", "1"),
    ("_LP64", "1"),
    ("__CHAR_BIT__", "8"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG__", "8"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__SIZEOF_PTRDIFF_T__", "8"),
    ("__SIZEOF_WCHAR_T__", "4"),
    ("__SCHAR_MAX__", "127"),
    ("__SHRT_MAX__", "32767"),
    ("__INT_MAX__", "2147483647"),
    ("__LONG_MAX__", "9223372036854775807L"),
    ("__LONG_LONG_MAX__", "9223372036854775807LL"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("__ATOMIC_RELAXED", "0"),
    ("__ATOMIC_CONSUME", "1"),
    ("__ATOMIC_ACQUIRE", "2"),
    ("__ATOMIC_RELEASE", "3"),
    ("__ATOMIC_ACQ_REL", "4"),
    ("__ATOMIC_SEQ_CST", "5"),
];

/// The name of what stands on a command line: directives before the first line of a file.
pub const COMMAND_LINE: &str = "<command line>";

/// The text of a file beside the C file, by the name that the `#include` gives; of [`COMMAND_LINE`], what stands there.
pub type Resolver<'r> = &'r dyn Fn(&str) -> Option<String>;

/// What the parser reads.
#[derive(Default, Debug)]
pub(crate) struct Preprocessed {
    pub(crate) text: String,
    /// Start and end in `text`, and the place in the sources, of every token.
    places: Vec<(usize, usize, Loc)>,
}

impl Preprocessed {
    pub(crate) fn new(tokens: &[Token]) -> Self {
        let mut made = Self::default();
        for (index, token) in tokens.iter().enumerate() {
            let start = made.text.len();
            made.text.push_str(&token.text);
            made.places.push((start, made.text.len(), token.loc));
            // The parser library wants the double parentheses of an attribute without a space between them.
            let close = tokens.get(index + 1).is_some_and(|next| next.is(")"));
            match token.text.as_str() {
                ";" | "}" => made.text.push('\n'),
                "(" => {}
                _ if close => {}
                _ => made.text.push(' '),
            }
        }
        made
    }

    /// The place of a range of the text.
    pub(crate) fn loc(&self, start: usize, end: usize) -> Loc {
        let first = self.places.partition_point(|(_, token_end, _)| *token_end <= start);
        let after = self.places.partition_point(|(token_start, ..)| *token_start < end);
        let last = after.saturating_sub(1).max(first);
        match (self.places.get(first), self.places.get(last)) {
            (Some((.., first)), Some((.., last))) => first.to(*last),
            _ => self.places.last().map(|(.., loc)| *loc).unwrap_or_default(),
        }
    }

    /// The token at a position, or the last one.
    pub(crate) fn token_at(&self, offset: usize) -> (Loc, &str) {
        let index = self.places.partition_point(|(_, end, _)| *end <= offset);
        match self.places.get(index) {
            Some((start, end, loc)) => (*loc, &self.text[*start..*end]),
            None => (self.loc(offset, offset), ""),
        }
    }
}

/// Preprocesses file 0 of `sources`, to which the included files are added.
pub(crate) fn preprocess(
    sources: &mut Sources,
    resolver: Resolver<'_>,
    problems: &mut Problems,
) -> (Preprocessed, Vec<Token>) {
    let mut preprocessor = Preprocessor {
        sources,
        resolver,
        problems,
        macros: Macros::default(),
        lines: BTreeMap::new(),
        output: Vec::new(),
        once: Vec::new(),
        depth: 0,
    };
    preprocessor.predefine();
    preprocessor.command_line();
    preprocessor.file(0);
    let tokens = std::mem::take(&mut preprocessor.output);
    (Preprocessed::new(&tokens), tokens)
}

struct Preprocessor<'p> {
    sources: &'p mut Sources,
    resolver: Resolver<'p>,
    problems: &'p mut Problems,
    macros: Macros,
    /// What `#line` has said about a file: from which line on how many lines are added, and its name.
    lines: BTreeMap<u32, (usize, i128, Option<String>)>,
    output: Vec<Token>,
    once: Vec<String>,
    depth: usize,
}

/// An open `#if`.
struct Branch {
    opened: Loc,
    /// Whether the lines of the current part count.
    active: bool,
    /// Whether a part of it was active.
    taken: bool,
    /// Whether the lines around it count.
    outer: bool,
    /// Whether `#else` was seen.
    last: bool,
}

impl Preprocessor<'_> {
    /// The macros that are there from the start.
    fn predefine(&mut self) {
        for (name, value) in PREDEFINED {
            let body = tokens(value, 0, self.problems).into_iter().map(|token| Token { loc: Loc::default(), ..token });
            let made = Macro { parameters: None, variadic: false, body: body.collect() };
            self.macros.table.insert(name.to_owned(), made);
        }
    }

    fn command_line(&mut self) {
        if let Some(text) = (self.resolver)(COMMAND_LINE) {
            let file = self.sources.add(COMMAND_LINE, text, Loc::default());
            self.file(file);
        }
    }

    fn file(&mut self, file: u32) {
        let text = self.sources.files[file as usize].text.clone();
        let tokens = tokens(&text, file, self.problems);
        let mut branches: Vec<Branch> = Vec::new();
        let mut pending = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let active = branches.last().is_none_or(|branch| branch.active);
            if !(tokens[at].starts_line && tokens[at].is("#")) {
                if active {
                    pending.push(tokens[at].clone());
                }
                at += 1;
                continue;
            }
            let end = tokens[at + 1..].iter().position(|token| token.starts_line);
            let end = end.map_or(tokens.len(), |offset| at + 1 + offset);
            self.flush(&mut pending);
            self.directive(&tokens[at..end], active, &mut branches);
            at = end;
        }
        self.flush(&mut pending);
        for branch in branches {
            self.problems.add(Problem::new(branch.opened, "this `#if` has no `#endif`", "opened here"));
        }
    }

    fn flush(&mut self, pending: &mut Vec<Token>) {
        let place = |loc| line_of(self.sources, &self.lines, loc);
        let expanded = self.macros.expand(std::mem::take(pending), &place, self.problems);
        self.output.extend(without_pragmas(expanded));
    }

    fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let place = |loc| line_of(self.sources, &self.lines, loc);
        self.macros.expand(tokens, &place, self.problems)
    }

    fn complain(&mut self, loc: Loc, message: impl Into<String>, label: &str) {
        self.problems.add(Problem::new(loc, message, label));
    }

    fn directive(&mut self, line: &[Token], active: bool, branches: &mut Vec<Branch>) {
        let at = line[0].loc.to(line[line.len() - 1].loc);
        let Some(name) = line.get(1) else { return };
        let rest = &line[2..];
        match name.text.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let holds = active && self.condition(&name.text, rest, at);
                branches.push(Branch { opened: at, active: holds, taken: holds, outer: active, last: false });
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => self.next_branch(&name.text, rest, at, branches),
            _ if !active => {}
            "define" => self.define(rest, at),
            "undef" => match rest {
                [name] if name.kind == TokenKind::Ident => drop(self.macros.table.remove(&name.text)),
                _ => self.complain(at, "`#undef` takes one name", "here"),
            },
            "include" => self.include(rest, at),
            "error" => {
                let words: Vec<_> = rest.iter().map(|token| token.text.as_str()).collect();
                self.complain(at, format!("#error {}", words.join(" ")), "here");
            }
            "line" => self.line(rest.to_vec(), at),
            "warning" | "ident" | "sccs" => {}
            "pragma" if rest.len() == 1 && rest[0].is_word("once") => {
                let name = self.sources.files[at.file as usize].name.clone();
                self.once.push(name);
            }
            "pragma" => {}
            other => {
                let known =
                    ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "line"];
                let problem = Problem::new(at, format!("the directive `#{other}` is not supported"), "here");
                self.problems.add(problem.with_guess(closest(other, known)));
            }
        }
    }

    fn condition(&mut self, kind: &str, rest: &[Token], at: Loc) -> bool {
        if kind == "if" {
            return self.holds(rest, at);
        }
        match rest.first().filter(|name| name.kind == TokenKind::Ident) {
            Some(name) => self.macros.defines(&name.text) == kind.ends_with("ifdef"),
            None => {
                self.complain(at, format!("`#{kind}` takes a name"), "here");
                false
            }
        }
    }

    /// Whether the condition of an `#if` holds.
    fn holds(&mut self, rest: &[Token], at: Loc) -> bool {
        let line = self.with_includes(rest);
        let line = condition::resolve_defined(&line, &self.macros);
        let tokens = self.expand(line);
        condition::holds(&tokens, at, self.problems)
    }

    /// `__has_include` replaced by 0 or 1.
    fn with_includes(&mut self, line: &[Token]) -> Vec<Token> {
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

    /// `#line NUMBER "FILE"`: what the next line is called.
    fn line(&mut self, rest: Vec<Token>, at: Loc) {
        let rest = self.expand(rest);
        let number = rest.first().and_then(|token| token.text.parse::<i128>().ok()).filter(|line| *line < 1 << 31);
        let name = match rest.get(1) {
            Some(name) if name.kind == TokenKind::Str => Some(name.text.trim_matches('"').to_owned()),
            None => None,
            _ => return self.complain(at, "`#line` takes a number and perhaps a name in quotes", "here"),
        };
        let Some(number) = number else { return self.complain(at, "`#line` takes a number", "here") };
        let own = self.sources.line(at);
        let name = name.or_else(|| self.lines.get(&at.file).and_then(|(.., name)| name.clone()));
        self.lines.insert(at.file, (own, number - own as i128 - 1, name));
    }

    fn next_branch(&mut self, kind: &str, rest: &[Token], at: Loc, branches: &mut Vec<Branch>) {
        let Some(branch) = branches.last_mut() else {
            return self.complain(at, format!("this `#{kind}` has no `#if`"), "here");
        };
        if kind == "endif" {
            branches.pop();
            return;
        }
        if branch.last {
            return self.complain(at, format!("`#{kind}` after `#else`"), "here");
        }
        branch.last = kind == "else";
        let open = branch.outer && !branch.taken;
        let holds = open
            && match kind {
                "else" => true,
                "elif" => self.holds(rest, at),
                kind => self.condition(kind, rest, at),
            };
        if let Some(branch) = branches.last_mut() {
            branch.active = holds;
            branch.taken |= holds;
        }
    }

    fn define(&mut self, rest: &[Token], at: Loc) {
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

    fn include(&mut self, rest: &[Token], at: Loc) {
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
}

impl Preprocessor<'_> {
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

/// The line and the name of a file at a place, as `#line` has them.
fn line_of(sources: &Sources, lines: &BTreeMap<u32, (usize, i128, Option<String>)>, loc: Loc) -> (usize, String) {
    let own = sources.line(loc);
    let name = sources.files.get(loc.file as usize).map(|file| file.name.clone()).unwrap_or_default();
    match lines.get(&loc.file).filter(|(from, ..)| own > *from) {
        Some((_, more, other)) => {
            let line = usize::try_from(own as i128 + more).unwrap_or_default();
            (line, other.clone().unwrap_or(name))
        }
        None => (own, name),
    }
}

/// Tokens without `_Pragma("…")`.
fn without_pragmas(tokens: Vec<Token>) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is = |offset: usize, text: &str| tokens.get(at + offset).is_some_and(|token| token.is(text));
        if tokens[at].is_word("_Pragma") && is(1, "(") && is(3, ")") {
            at += 4;
        } else {
            found.push(tokens[at].clone());
            at += 1;
        }
    }
    found
}

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
