//! The preprocessor: directives, includes, macros.
//!
//! The result is one text for the parser and a table that says where each of its tokens was written, so that spans survive.
//! A file is looked for beside the one that includes it. What stands on a command line, `-D` and the like, is a file of its own before the first
//! ([`COMMAND_LINE`]). `#pragma` other than `once`, `#warning` and `_Pragma` change nothing; directives that it does not know are reported.

pub(crate) mod condition;
mod define;
pub(crate) mod headers;
mod include;
mod macros;
mod nesting;
mod paste;
mod text;
pub(crate) mod token;

use std::collections::BTreeMap;

use cyrano_ir::suggest::closest;

use crate::preprocess::macros::{Macro, Macros};
use crate::source::{Loc, Problem, Problems, Sources};

use crate::preprocess::token::{Token, TokenKind, tokens};
pub(crate) use nesting::check_nesting;
pub(crate) use text::{Preprocessed, unescaped};

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

/// The name of what includes headers for a file that declares their functions itself.
const LIBRARY: &str = "<library>";

/// The text of a file beside the C file, by the name that the `#include` gives; of [`COMMAND_LINE`], what stands there.
pub type Resolver<'r> = &'r dyn Fn(&str) -> Option<String>;

/// Preprocesses file 0 of `sources`, to which the included files are added.
pub(crate) fn preprocess(
    sources: &mut Sources,
    resolver: Resolver<'_>,
    problems: &mut Problems,
) -> (Preprocessed, Vec<Token>) {
    let mut preprocessor = Preprocessor::new(sources, resolver, problems);
    preprocessor.command_line();
    preprocessor.file(0);
    let tokens = std::mem::take(&mut preprocessor.output);
    (Preprocessed::new(&tokens), tokens)
}

/// Preprocesses headers that come with Cyrano, with macros of their own.
pub(crate) fn preprocess_headers(
    names: impl IntoIterator<Item = &'static str>,
    sources: &mut Sources,
    problems: &mut Problems,
) -> Vec<Token> {
    let includes: String = names.into_iter().map(|name| format!("#include <{name}>\n")).collect();
    let file = sources.add(LIBRARY, includes, Loc::default());
    let mut preprocessor = Preprocessor::new(sources, &|_| None, problems);
    preprocessor.file(file);
    preprocessor.output
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

impl<'p> Preprocessor<'p> {
    fn new(sources: &'p mut Sources, resolver: Resolver<'p>, problems: &'p mut Problems) -> Self {
        let mut made = Self {
            sources,
            resolver,
            problems,
            macros: Macros::default(),
            lines: BTreeMap::new(),
            output: Vec::new(),
            once: Vec::new(),
            depth: 0,
        };
        made.predefine();
        made
    }
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
            // What a preprocessor that ran before says: `# 1 "file.h" 2`.
            _ if name.kind == TokenKind::Number => {
                let named = rest.first().filter(|name| name.kind == TokenKind::Str);
                self.line(std::iter::once(name).chain(named).cloned().collect(), at);
            }
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
