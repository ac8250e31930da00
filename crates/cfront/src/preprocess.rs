//! The preprocessor: directives, includes, macros.
//!
//! The result is one text for the parser and a table that says where each of its tokens was written, so that spans survive.
//! Directives that it does not know (`#pragma` other than `once`, `#line`, `#` and `##` in macros, variable arguments) are reported.

use cyrano_ir::suggest::closest;

use crate::condition;
use crate::headers;
use crate::macros::{Macro, Macros};
use crate::source::{Loc, Problem, Problems, Sources};
use crate::token::{Token, TokenKind, tokens};

/// How deeply files may include each other.
const MAX_INCLUDES: usize = 32;

/// The largest source file, in bytes.
pub const MAX_SOURCE: usize = 2 << 20;

/// The macros that are there from the start: those of a C11 compiler for 64-bit Linux, as far as programs ask for them.
const PREDEFINED: [(&str, &str); 7] = [
    ("__CYRANO__", "1"),
    ("__ATOMIC_RELAXED", "0"),
    ("__ATOMIC_CONSUME", "1"),
    ("__ATOMIC_ACQUIRE", "2"),
    ("__ATOMIC_RELEASE", "3"),
    ("__ATOMIC_ACQ_REL", "4"),
    ("__ATOMIC_SEQ_CST", "5"),
];

/// The text of a file beside the C file, by the name that the `#include` gives.
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
        output: Vec::new(),
        once: Vec::new(),
        depth: 0,
    };
    preprocessor.predefine();
    preprocessor.file(0);
    let tokens = std::mem::take(&mut preprocessor.output);
    (Preprocessed::new(&tokens), tokens)
}

struct Preprocessor<'p> {
    sources: &'p mut Sources,
    resolver: Resolver<'p>,
    problems: &'p mut Problems,
    macros: Macros,
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
            self.macros.table.insert(name.to_owned(), Macro { parameters: None, body: body.collect() });
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
        let expanded = self.macros.expand(std::mem::take(pending), self.problems);
        self.output.extend(expanded);
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
            "elif" | "else" | "endif" => self.next_branch(&name.text, rest, at, branches),
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
            "warning" => {}
            "pragma" if rest.len() == 1 && rest[0].is_word("once") => {
                let name = self.sources.files[at.file as usize].name.clone();
                self.once.push(name);
            }
            other => {
                let known = ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error"];
                let problem = Problem::new(at, format!("the directive `#{other}` is not supported"), "here");
                self.problems.add(problem.with_guess(closest(other, known)));
            }
        }
    }

    fn condition(&mut self, kind: &str, rest: &[Token], at: Loc) -> bool {
        if kind == "if" {
            return condition::holds(rest, at, &mut self.macros, self.problems);
        }
        match rest.first().filter(|name| name.kind == TokenKind::Ident) {
            Some(name) => self.macros.table.contains_key(&name.text) == (kind == "ifdef"),
            None => {
                self.complain(at, format!("`#{kind}` takes a name"), "here");
                false
            }
        }
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
        let holds = open && (kind == "else" || condition::holds(rest, at, &mut self.macros, self.problems));
        branch.active = holds;
        branch.taken |= holds;
    }

    fn define(&mut self, rest: &[Token], at: Loc) {
        let Some(name) = rest.first().filter(|name| name.kind == TokenKind::Ident) else {
            return self.complain(at, "`#define` takes a name", "here");
        };
        let mut body = &rest[1..];
        let mut parameters = None;
        if let Some(open) = body.first().filter(|token| token.is("(") && !token.spaced) {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                return self.complain(open.loc, "the parameters have no closing parenthesis", "opened here");
            };
            let names: Vec<_> = body[1..close].iter().filter(|token| !token.is(",")).collect();
            if let Some(odd) = names.iter().find(|token| token.kind != TokenKind::Ident) {
                return self.complain(odd.loc, "macros with variable arguments are not supported", "not a parameter");
            }
            parameters = Some(names.into_iter().map(|token| token.text.clone()).collect());
            body = &body[close + 1..];
        }
        if let Some(odd) = body.iter().find(|token| token.is("#") || token.is("##")) {
            let message = format!("`{}` in a macro is not supported", odd.text);
            return self.complain(odd.loc, message, "here");
        }
        self.macros.table.insert(name.text.clone(), Macro { parameters, body: body.to_vec() });
    }

    fn include(&mut self, rest: &[Token], at: Loc) {
        let (name, quoted) = match rest {
            [name] if name.kind == TokenKind::Str => (name.text.trim_matches('"').to_string(), true),
            [open, name @ .., close] if open.is("<") && close.is(">") => {
                (name.iter().map(|token| token.text.as_str()).collect(), false)
            }
            _ => return self.complain(at, "`#include` takes `<name>` or `\"name\"`", "here"),
        };
        // As in a compiler: beside the file that includes it, then beside the C file.
        let beside = match self.sources.files[at.file as usize].name.rsplit_once('/') {
            Some((folder, _)) if at.file > 0 => format!("{folder}/{name}"),
            _ => name.clone(),
        };
        if self.once.contains(&name) || (quoted && self.once.contains(&beside)) {
            return;
        }
        let near = if quoted { (self.resolver)(&beside).map(|text| (beside, text)) } else { None };
        let (name, found) = match near {
            Some((beside, text)) => (beside, Some(text)),
            None if quoted => (name.clone(), (self.resolver)(&name)),
            None => (name, None),
        };
        let Some(text) = found.or_else(|| headers::stub(&name).map(str::to_string)) else {
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
