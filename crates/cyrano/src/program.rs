//! From a file's name to a compiled program.

use cyrano_ir::{Diagnostic, Program};
use cyrano_rml::CompileError;

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::source::{self, Source};
use crate::{console, diagnostics, suggest};

/// A program with the text it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The source.
    pub source: Source,
    /// The constants that were given another value.
    pub set: Vec<(String, i64)>,
    /// The program.
    pub program: Program,
}

impl Loaded {
    /// The size of the instance, for reports; a constant of the file's own takes precedence.
    pub fn instance(&self) -> Vec<(String, i64)> {
        let counted = [("threads", self.program.threads.len()), ("vars", self.program.locations.len())];
        let own = &self.program.constants;
        let counted = counted.into_iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        let counted = counted.map(|(name, number)| (name.to_owned(), number as i64));
        counted.chain(own.iter().cloned()).collect()
    }
}

/// Reads and compiles the program of this name.
pub fn load(name: &str, set: &[(String, i64)], color: ColorChoice) -> Result<Loaded, Failure> {
    compile(source::program(name)?, set, color)
}

/// Compiles a program.
pub fn compile(source: Source, set: &[(String, i64)], color: ColorChoice) -> Result<Loaded, Failure> {
    match cyrano_rml::compile(&source.text, &source.name, set) {
        Ok(program) => Ok(Loaded { source, set: set.to_vec(), program }),
        Err(CompileError::Diagnostics(errors)) => Err(complain(&source, &errors, color)),
        Err(CompileError::UnknownConstants { names, known }) => Err(unknown_constants(&source, &names, &known)),
    }
}

/// The failure for these diagnostics.
pub fn complain(source: &Source, errors: &[Diagnostic], color: ColorChoice) -> Failure {
    Failure::Input(diagnostics::render(source, errors, console::error_color(color)))
}

fn unknown_constants(source: &Source, names: &[String], known: &[String]) -> Failure {
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let near = names.iter().filter_map(|name| suggest::nearest(name, known.iter().map(String::as_str)));
    let near: Vec<String> = near.map(|name| format!("did you mean `{name}`? ")).collect();
    let known = if known.is_empty() { "it declares none".to_owned() } else { format!("it has {}", quoted(known)) };
    Failure::input(format!("{}: no constant {} to set; {}{known}", source.name, quoted(names), near.concat()))
}
