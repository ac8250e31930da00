//! C data types and their tests (CheckFence): from source text to the IR.
//!
//! The passes, each in files of its own: the preprocessor (`preprocess`), the conversion of the parser
//! library's tree into ours (`convert`), the checker (`check`), where addresses go and so which locals need memory (`flow`), the lowering
//! with all calls inlined (`lower`), and the clean-up of its result (`optimise`). Tests are read by `tests_file` and become programs in
//! `program`; a file with `main` becomes one in `program::whole`, with threads of its own (`lower::threads`). [`functions()`] stops behind the
//! parser, for litmus tests. `docs/c.md` is the reference of the language and of the notation.
//!
//! **Invariants:** every error of a file is reported, once, with its place in the user's file; constructs that are not supported are listed
//! in one report; no input makes a pass panic or run on; every program that comes out passes [`cyrano_ir::verify()`].
//! This crate knows neither memory models nor engines, and reads no files: included ones come through a [`Resolver`].

pub mod ast;
pub mod atomics;
mod check;
mod convert;
mod flow;
mod functions;
mod lower;
pub mod mapping;
mod optimise;
mod preprocess;
mod program;
mod source;
mod tests_file;
mod tree;
mod types;

use convert::Dialect;
use cyrano_ir::{Diagnostic, Program, Span};

pub use functions::functions;
pub use preprocess::headers::stub;
pub use preprocess::{COMMAND_LINE, MAX_SOURCE, Resolver};
pub use program::Bounds;
pub use program::blocks::BLOCK_WORDS;
pub use source::Loc;
pub use tests_file::all::{all_tests, parallel_tests, sequential_tests};
pub use tests_file::{Orders, Step, Test, TestFile, tests};
pub use types::integers;

/// A checked C file.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its name, for programs.
    pub name: String,
    pub(crate) checked: check::Checked,
    pub(crate) sources: source::Sources,
    pub(crate) escapes: flow::escape::Escapes,
    pub(crate) kept: flow::kept::Kept,
    /// The addresses of the globals that are there from the start.
    pub(crate) addresses: Vec<Option<i128>>,
}

/// Reads a C file. `name` is its name for messages and programs; `resolver` gives the text of files that it includes with quotes.
pub fn parse(source: &str, name: &str, resolver: Resolver<'_>) -> Result<Unit, Vec<Diagnostic>> {
    if source.len() > MAX_SOURCE {
        let message = format!("file too large: {} bytes, at most {MAX_SOURCE} are read", source.len());
        return Err(vec![Diagnostic::new(Span::default(), message, "the file")]);
    }
    let mut sources = source::Sources::default();
    sources.add(name, source.to_string(), source::Loc::default());
    let mut problems = source::Problems::default();
    let (text, tokens) = preprocess::preprocess(&mut sources, resolver, &mut problems);
    preprocess::check_nesting(&tokens, &mut problems);
    if !problems.is_empty() {
        return Err(problems.finish(&sources));
    }
    let Some(items) = items(&text, tokens, &mut sources, &mut problems) else {
        return Err(problems.finish(&sources));
    };
    let mut checked = check::check(&items, &sources, &mut problems);
    lower::memory::check_globals(&checked, &mut problems);
    if !problems.is_empty() {
        return Err(problems.finish(&sources));
    }
    checked.types.addresses = flow::addresses::holders(&checked);
    let escapes = flow::escape::Escapes::new(&checked);
    let kept = flow::kept::Kept::new(&checked, &escapes);
    let (_, addresses) = lower::memory::Memory::new(&checked, &sources);
    Ok(Unit { name: name.into(), checked, sources, escapes, kept, addresses })
}

/// The items of a file, behind those of the headers whose functions it declares itself.
fn items(
    text: &preprocess::Preprocessed,
    tokens: Vec<preprocess::token::Token>,
    sources: &mut source::Sources,
    problems: &mut source::Problems,
) -> Option<Vec<ast::Item>> {
    let items = convert::parse(text, Dialect::File, problems)?;
    let headers = convert::library::headers(&items, sources);
    if headers.is_empty() {
        return Some(items);
    }
    let before = preprocess::preprocess_headers(headers, sources, problems);
    let text = preprocess::Preprocessed::new(&[before, tokens].concat());
    let items = convert::parse(&text, Dialect::File, problems)?;
    Some(convert::library::without_repeated(items, sources))
}

/// What the preprocessor makes of a file: its tokens with white space between them.
pub fn preprocessed(source: &str, name: &str, resolver: Resolver<'_>) -> Result<String, Vec<Diagnostic>> {
    let mut sources = source::Sources::default();
    sources.add(name, source.to_string(), source::Loc::default());
    let mut problems = source::Problems::default();
    let (text, _) = preprocess::preprocess(&mut sources, resolver, &mut problems);
    if problems.is_empty() { Ok(text.text) } else { Err(problems.finish(&sources)) }
}

/// The program in which locals live on when their calls end, and the places of the locals that would not; none if all do anyway.
///
/// An engine that knows no freed memory can be asked about it; that it finds nothing wrong says nothing about accesses to these locals.
pub fn without_ends(program: &Program) -> Option<(Program, Vec<(String, Span)>)> {
    let (program, ends) = lower::lifetimes::without_ends(program)?;
    let named = |end: cyrano_ir::Location| (end.name.trim_end_matches(lower::lifetimes::ENDED).to_owned(), end.span);
    Some((program, ends.into_iter().map(named).collect()))
}

impl Unit {
    /// The program of a test.
    pub fn program(&self, test: &Test) -> Result<Program, Vec<Diagnostic>> {
        self.program_within(test, Bounds::default())
    }

    /// The program of a test, with bounds of the caller's choice.
    pub fn program_within(&self, test: &Test, bounds: Bounds) -> Result<Program, Vec<Diagnostic>> {
        program::program(self, test, bounds, true)
    }

    /// The program of a test before it is cleaned up, to compare.
    pub fn program_as_lowered(&self, test: &Test) -> Result<Program, Vec<Diagnostic>> {
        program::program(self, test, Bounds::default(), false)
    }

    /// Whether the file is a whole program.
    pub fn has_main(&self) -> bool {
        self.checked.functions.iter().any(|function| function.name == "main" && function.body.is_some())
    }

    /// The program that begins with `main`.
    pub fn whole(&self, bounds: Bounds) -> Result<Program, Vec<Diagnostic>> {
        program::whole::program(self, bounds, true)
    }

    /// The words of memory that hold addresses, also those whose type is an integer.
    pub fn pointers(&self) -> Vec<String> {
        let (memory, _) = lower::memory::Memory::new(&self.checked, &self.sources);
        let pointers = memory.words.into_iter().filter(|word| word.ty == cyrano_ir::Ty::Pointer);
        pointers.map(|word| word.name).collect()
    }

    /// The functions of the C file that have a body, those of stub headers left out.
    pub fn functions(&self) -> Vec<&str> {
        let own = self.checked.functions.iter().filter(|function| function.body.is_some() && function.loc.is_main());
        own.map(|function| function.name.as_str()).collect()
    }
}
