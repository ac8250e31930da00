//! RML, the native language: `threads`, `stm` and `algorithm` files from source text to the IR.
//!
//! The passes, a folder for each: text to tree (`syntax`), what names stand for (`resolve`), what is allowed where (`rules`), folding,
//! unrolling and inlining (`expand`), and instructions (`lower`). An stm or an algorithm is run by clients (`clients`), and an algorithm says
//! which of its accesses stay in order (`orders`). What a file uses of others is put behind it first ([`uses`]). Files with an `algorithm` block make several programs; they start in [`algorithm`].
//! `docs/rml.md` and `docs/algorithms.md` are the language's reference.
//!
//! **Invariants:** every error of a file is reported, once; no input makes a pass panic or run on (nesting, unrolling and the number of
//! diagnostics are limited); every program that comes out passes [`cyrano_ir::verify()`].
//! This crate knows neither memory models nor engines: names of models are passed on as written.

use cyrano_ir::{Diagnostic, Program, Span};

pub mod algorithm;
mod clients;
mod expand;
mod lower;
mod orders;
pub mod outline;
pub mod parametric;
mod report;
mod resolve;
mod rules;
mod syntax;
pub mod uses;

/// The reserved words.
pub const RESERVED: &[&str] = syntax::token::Token::WORDS;

/// The largest source file, in bytes.
pub const MAX_SOURCE: usize = 2 << 20;

/// Why a file has no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// The source is wrong, in these places.
    Diagnostics(Vec<Diagnostic>),
    /// Values were given for constants that the file does not declare.
    UnknownConstants {
        /// The names that are not constants of the file.
        names: Vec<String>,
        /// The file's constants.
        known: Vec<String>,
    },
}

/// What comes of a source text.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// The client without the stm, if it is an stm with values and a client of its own: transactions are atomic blocks that load and store `data`.
    pub atomic: Option<Program>,
    /// The families that were given a number of members, and how many.
    pub sized: Vec<(String, i128)>,
}

/// How many members families have whose size is `*` or computed from a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Threads {
    /// What the file says.
    #[default]
    AsWritten,
    /// So many each.
    Each(u32),
    /// Any number.
    Any,
}

/// Compiles a source text. `name` is the program's name; `set` gives constants other values than the source does, the last one counts.
pub fn compile(source: &str, name: &str, set: &[(String, i128)]) -> Result<Program, CompileError> {
    compile_both(source, name, set).map(|compiled| compiled.program)
}

/// The same, and the client without the stm if there is one.
pub fn compile_both(source: &str, name: &str, set: &[(String, i128)]) -> Result<Compiled, CompileError> {
    compile_sized(source, name, set, Threads::AsWritten)
}

/// The same with other sizes of families.
pub fn compile_sized(
    source: &str,
    name: &str,
    set: &[(String, i128)],
    threads: Threads,
) -> Result<Compiled, CompileError> {
    check_size(source)?;
    let mut reports = report::Reports::default();
    let mut file = syntax::parser::parse(source, &mut reports);
    if reports.is_empty() {
        check_set(&file, set)?;
        lower::program::require_program(&file, &mut reports);
        expand::families::resize(source, &mut file, set, threads, &mut reports);
    }
    if file.algorithm.is_some() {
        return Err(CompileError::Diagnostics(reports.finish()));
    }
    let names = resolve::names::collect(source, &file, set, &mut reports);
    let checked = rules::checker::check(&names, &mut reports);
    let program = lower::program::lower_program(name, &names, &checked, false, &mut reports);
    let has_client = file.client.is_some() && file.has_values() && reports.is_empty();
    let atomic = has_client.then(|| lower::program::lower_program(name, &names, &checked, true, &mut reports));
    if !reports.is_empty() {
        return Err(CompileError::Diagnostics(reports.finish()));
    }
    let sound = |program: &Program| cyrano_ir::verify(program) == Ok(());
    debug_assert!(atomic.iter().chain([&program]).all(sound), "the lowering broke an invariant of the IR");
    Ok(Compiled { program, atomic, sized: file.sized })
}

fn check_size(source: &str) -> Result<(), CompileError> {
    if source.len() <= MAX_SOURCE {
        return Ok(());
    }
    let message = format!("file too large: {} bytes, at most {MAX_SOURCE} are read", source.len());
    let diagnostic = Diagnostic::new(Span::default(), message, "the file");
    Err(CompileError::Diagnostics(vec![diagnostic]))
}

fn check_set(file: &syntax::ast::File, set: &[(String, i128)]) -> Result<(), CompileError> {
    let consts = file.consts.iter().map(|constant| constant.name.text.as_str());
    refuse_unknown(consts.chain(expand::families::settable(file)).map(str::to_owned).collect(), set)
}

/// Refuses values for constants that are not known.
fn refuse_unknown(known: Vec<String>, set: &[(String, i128)]) -> Result<(), CompileError> {
    let unknown = set.iter().map(|(name, _)| name).filter(|name| !known.contains(name));
    let names: Vec<_> = unknown.cloned().collect();
    if names.is_empty() { Ok(()) } else { Err(CompileError::UnknownConstants { names, known }) }
}

/// The value that a name was given, the last one counts.
fn given(set: &[(String, i128)], name: &str) -> Option<i128> {
    set.iter().rev().find(|(given, _)| given == name).map(|(_, value)| *value)
}
