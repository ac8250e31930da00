//! RML, the native language: `threads` and `stm` programs from source text to the IR.
//!
//! The passes, each in files of its own: tokens (`lexer`), syntax tree (`parse` and its companions), names and constants (`names`),
//! the checker (`check`), and the lowering of one thread after the other (`lower`), which inlines procedures and unrolls
//! `foreach`, `forsome`, `forall` and `exists`. An stm becomes threads that call its commands (`lower_client`), or those of a client of its own
//! (`lower_given`); everything else is shared.
//! `docs/rml.md` is the language's reference.
//!
//! **Invariants:** every error of a file is reported, once; no input makes a pass panic or run on (nesting, unrolling and the number of
//! diagnostics are limited); every program that comes out passes [`cyrano_ir::verify()`].
//! This crate knows neither memory models nor engines: names of models are passed on as written.

use cyrano_ir::{Diagnostic, Program, Span};

pub mod algorithm;
mod ast;
mod blocks;
mod budget;
mod calls;
mod check;
mod check_block;
mod check_client;
mod check_events;
mod check_names;
mod check_stm;
mod check_stmt;
mod check_values;
mod client_symmetry;
mod compact;
mod finals;
mod flow;
mod fold;
mod lexer;
mod lower;
mod lower_block;
mod lower_call;
mod lower_client;
mod lower_expr;
mod lower_given;
mod lower_stmt;
mod lower_values;
mod names;
mod parse;
mod parse_block;
mod parse_client;
mod parse_expr;
mod parse_item;
mod parse_stm;
mod parse_stmt;
mod program;
mod report;
mod share;
mod token;
mod typing;

#[cfg(test)]
mod tests;

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
    /// The client without the stm, if it is an stm with a client of its own: transactions are atomic blocks that load and store `data`.
    pub atomic: Option<Program>,
}

/// Compiles a source text. `name` is the program's name; `set` gives constants other values than the source does, the last one counts.
pub fn compile(source: &str, name: &str, set: &[(String, i128)]) -> Result<Program, CompileError> {
    compile_both(source, name, set).map(|compiled| compiled.program)
}

/// The same, and the client without the stm if there is one.
pub fn compile_both(source: &str, name: &str, set: &[(String, i128)]) -> Result<Compiled, CompileError> {
    check_size(source)?;
    let mut reports = report::Reports::default();
    let tokens = lexer::lex(source, &mut reports);
    let file = parse::parse(source, tokens, &mut reports);
    if reports.is_empty() {
        check_set(&file, set)?;
        program::require_program(&file, &mut reports);
    }
    let names = names::collect(source, &file, set, &mut reports);
    let checked = check::check(&names, &mut reports);
    let program = program::lower_program(name, &names, &checked, false, &mut reports);
    let has_client = file.client.is_some() && reports.is_empty();
    let atomic = has_client.then(|| program::lower_program(name, &names, &checked, true, &mut reports));
    if !reports.is_empty() {
        return Err(CompileError::Diagnostics(reports.finish()));
    }
    let sound = |program: &Program| cyrano_ir::verify(program) == Ok(());
    debug_assert!(atomic.iter().chain([&program]).all(sound), "the lowering broke an invariant of the IR");
    Ok(Compiled { program, atomic })
}

fn check_size(source: &str) -> Result<(), CompileError> {
    if source.len() <= MAX_SOURCE {
        return Ok(());
    }
    let message = format!("file too large: {} bytes, at most {MAX_SOURCE} are read", source.len());
    let diagnostic = Diagnostic::new(Span::default(), message, "the file");
    Err(CompileError::Diagnostics(vec![diagnostic]))
}

fn check_set(file: &ast::File, set: &[(String, i128)]) -> Result<(), CompileError> {
    let known: Vec<_> = file.consts.iter().map(|constant| constant.name.text.clone()).collect();
    let unknown = set.iter().map(|(name, _)| name).filter(|name| !known.contains(name));
    let names: Vec<_> = unknown.cloned().collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(CompileError::UnknownConstants { names, known })
}
