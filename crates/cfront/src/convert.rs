//! From the parser library's tree to ours: the only module, with its companions, that knows the library.
//!
//! What the language of `docs/c.md` does not have is collected here and reported at once, every place in one diagnostic.

mod decl;
mod expr;
pub(crate) mod library;
mod needed;
mod stmt;

pub(crate) use expr::character;
use lang_c::ast as c;
use lang_c::driver::{Config, Flavor, SyntaxError, parse_preprocessed};
use lang_c::span::Node;

use crate::ast::{Function, Item, Name, TypeExpr};
use crate::preprocess::headers;
use crate::preprocess::{Preprocessed, unescaped};
use crate::source::{Loc, Problem, Problems};

/// An identifier as the file has it.
fn written(name: &c::Identifier) -> String {
    unescaped(&name.name)
}

/// Who asks for the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    /// This crate: `docs/c.md`.
    File,
    /// A litmus test: `docs/litmus.md`. It has atomic types and includes nothing.
    Litmus,
}

/// Parses the preprocessed text.
pub(crate) fn parse(text: &Preprocessed, dialect: Dialect, problems: &mut Problems) -> Option<Vec<Item>> {
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    let unit = match parse_preprocessed(&config, text.text.clone()) {
        Ok(parsed) => parsed.unit,
        Err(error) => {
            problems.add(syntax_error(text, dialect, &error));
            return None;
        }
    };
    let mut converter = Converter { text, unsupported: Vec::new(), specs: 0 };
    let mut items = Vec::new();
    let mut refused = Vec::new();
    for (at, node) in unit.0.iter().enumerate() {
        let item = converter.item(node);
        match std::mem::take(&mut converter.unsupported) {
            none if none.is_empty() => items.extend(item),
            found => refused.push((at, found)),
        }
    }
    if dialect == Dialect::File && !refused.is_empty() {
        let needed = needed::needed(text, &unit.0);
        refused.retain(|(at, _)| needed[*at]);
    }
    if refused.is_empty() {
        return Some(items);
    }
    // What is missing from the tree would only cause errors that are none.
    report(refused.into_iter().flat_map(|(_, found)| found).collect(), dialect, problems);
    None
}

fn syntax_error(text: &Preprocessed, dialect: Dialect, error: &SyntaxError) -> Problem {
    let (loc, token) = text.token_at(error.offset);
    let mut expected: Vec<_> = error.expected.iter().filter(|word| !word.starts_with('[') && word.len() < 16).collect();
    expected.sort();
    let found = if token.is_empty() { "the end of the file".into() } else { format!("`{token}`") };
    let problem = Problem::new(loc, format!("syntax error: {found} is not expected here"), "not expected");
    // An unknown type name is an identifier to the parser, so that the complaint is about what follows it.
    let before = error.source.get(..error.offset).unwrap_or_default();
    let previous = before.split_whitespace().next_back().unwrap_or_default();
    if dialect == Dialect::File
        && let Some((word, header)) = [token, previous].iter().find_map(|word| Some((word, headers::header_of(word)?)))
    {
        return problem.with_help(format!("`{word}` needs #include <{header}>"));
    }
    if previous.starts_with(|c: char| c.is_ascii_alphabetic()) && token.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return problem.with_help(format!("is `{previous}` a type that is not declared?"));
    }
    if expected.iter().any(|word| **word == ";") && !previous.ends_with([';', '{', '}']) {
        return problem.with_help("is a `;` missing before it?");
    }
    match expected.len() {
        1..=6 => {
            let list: Vec<_> = expected.iter().map(|word| format!("`{word}`")).collect();
            problem.with_help(format!("expected {}", list.join(", ")))
        }
        _ => problem,
    }
}

fn report(mut unsupported: Vec<(Loc, String)>, dialect: Dialect, problems: &mut Problems) {
    unsupported.sort();
    unsupported.dedup();
    let Some((loc, what)) = unsupported.first().cloned() else { return };
    let count = unsupported.len();
    let message = match count {
        1 => format!("not supported: {what}"),
        _ => format!("{count} constructs are not supported"),
    };
    let mut problem = Problem::new(loc, message, what);
    for (loc, what) in unsupported.into_iter().skip(1) {
        problem = problem.with_related(loc, what);
    }
    let reference = if dialect == Dialect::File { "docs/c.md" } else { "docs/litmus.md" };
    problems.add(problem.with_help(format!("{reference} lists what is supported")));
}

/// The conversion so far.
struct Converter<'p> {
    text: &'p Preprocessed,
    unsupported: Vec<(Loc, String)>,
    /// How many structs and enums there were.
    specs: usize,
}

impl Converter<'_> {
    fn loc<T>(&self, node: &Node<T>) -> Loc {
        self.text.loc(node.span.start, node.span.end)
    }

    fn refuse(&mut self, loc: Loc, what: impl Into<String>) {
        self.unsupported.push((loc, what.into()));
    }

    fn name(&self, node: &Node<c::Identifier>) -> Name {
        Name { text: written(&node.node), loc: self.loc(node) }
    }

    fn item(&mut self, node: &Node<c::ExternalDeclaration>) -> Option<Item> {
        match &node.node {
            c::ExternalDeclaration::Declaration(decl) => Some(Item::Decls(self.declaration(decl))),
            c::ExternalDeclaration::StaticAssert(assert) => {
                let (cond, text) = self.static_assert(&assert.node);
                Some(Item::StaticAssert(cond, text))
            }
            c::ExternalDeclaration::FunctionDefinition(function) => self.function(function),
        }
    }

    fn static_assert(&mut self, assert: &c::StaticAssert) -> (crate::ast::Expr, String) {
        let text = assert.message.node.iter().map(|part| part.trim_matches('"')).collect();
        (self.expr(&assert.expression), text)
    }

    fn function(&mut self, node: &Node<c::FunctionDefinition>) -> Option<Item> {
        let function = &node.node;
        if !function.declarations.is_empty() {
            self.refuse(self.loc(node), "a function with old-style parameters");
        }
        let varies = |derived: &Node<c::DerivedDeclarator>| match &derived.node {
            c::DerivedDeclarator::Function(function) => function.node.ellipsis == c::Ellipsis::Some,
            _ => false,
        };
        if function.declarator.node.derived.iter().any(varies) {
            self.refuse(self.loc(&function.declarator), "functions with variable arguments");
        }
        let (_, base) = self.specifiers(&function.specifiers, self.loc(node));
        let (name, ty) = self.declarator(&function.declarator, base);
        let body = self.stmt(&function.statement);
        match (name, ty) {
            (Some(name), TypeExpr::Function { returns, params }) => {
                Some(Item::Function(Box::new(Function { name, returns: *returns, params, body })))
            }
            _ => {
                self.refuse(self.loc(&function.declarator), "a definition of this form");
                None
            }
        }
    }
}
