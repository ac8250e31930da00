//! From a file's name to a compiled program.

use std::borrow::Cow;

use cyrano_ir::suggest;
use cyrano_ir::{Diagnostic, Program, Property};
use cyrano_rml::CompileError;
use cyrano_rml::algorithm::ClientSpace;
use cyrano_trace::TestInfo;

use crate::args::{ColorChoice, TestArgs};
use crate::failure::Failure;
use crate::source::{self, Source};
use crate::{algorithm, c, console, diagnostics};

/// A program with the text it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The source.
    pub source: Source,
    /// The constants that were given another value.
    pub set: Vec<(String, i128)>,
    /// The test that the program stands for, if the file is a C file.
    pub test: Option<TestInfo>,
    /// The program.
    pub program: Program,
    /// The clients that it stands for, if it is an algorithm with all clients of a size.
    pub clients: Option<ClientSpace>,
}

impl Loaded {
    /// The test's name.
    pub fn test_name(&self) -> Option<String> {
        self.test.as_ref().map(|test| test.name.clone())
    }

    /// The program for a question: calls and responses matter to criteria for transactions only.
    pub fn for_question(&self, property: Option<&Property>) -> Cow<'_, Self> {
        let about_calls = matches!(property, Some(Property::Transactions(_)));
        if about_calls || !self.program.has_calls() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { program: self.program.without_calls(), ..self.clone() })
    }

    /// The size of the instance, for reports; a constant of the file's own takes precedence.
    pub fn instance(&self) -> Vec<(String, i128)> {
        let counted = [("threads", self.program.threads.len()), ("vars", self.program.locations.len())];
        let own = &self.program.constants;
        let counted = counted.into_iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        let counted = counted.map(|(name, number)| (name.to_owned(), number as i128));
        counted.chain(own.iter().cloned()).collect()
    }
}

/// Reads and compiles the program of this name, which is not a C file.
pub fn load(name: &str, set: &[(String, i128)], color: ColorChoice) -> Result<Loaded, Failure> {
    let source = source::program(name)?;
    if source.is_c() {
        return Err(Failure::input(format!("{}: this command reads `.rml` and `.litmus` files only", source.name)));
    }
    compile(source, set, color)
}

/// Reads and compiles the programs of a file: one, or one for each of its tests that are wanted.
pub fn load_all(
    name: &str,
    set: &[(String, i128)],
    tests: &TestArgs,
    color: ColorChoice,
) -> Result<Vec<Loaded>, Failure> {
    let source = source::program(name)?;
    if source.is_c() {
        return c::load(source, set, tests, color);
    }
    if algorithm::is_algorithm(&source) {
        return algorithm::load(source, set, tests, color);
    }
    if tests.is_given() {
        return Err(Failure::input(format!("{}: only C files and algorithms have tests", source.name)));
    }
    compile(source, set, color).map(|loaded| vec![loaded])
}

/// Reads and compiles another program that has what `loaded` observes; for a C file, with the tests of `loaded`.
pub fn load_reference(name: &str, loaded: &Loaded, color: ColorChoice) -> Result<Loaded, Failure> {
    let source = source::program(name)?;
    let reference = match &loaded.test {
        Some(test) if source.is_c() => {
            let test = TestInfo { includes: Default::default(), ..test.clone() };
            c::again(source, &loaded.set, &test, color)?
        }
        None if !source.is_c() => compile(source, &[], color)?,
        _ => return Err(Failure::input(format!("{}: a reference is in the language of what it is for", source.name))),
    };
    let columns = |loaded: &Loaded| -> Vec<String> { loaded.program.observed.iter().map(|o| o.name.clone()).collect() };
    let (wanted, found) = (columns(loaded), columns(&reference));
    if wanted == found {
        return Ok(reference);
    }
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let (own, other) = (&reference.source.name, &loaded.source.name);
    let (wanted, found) = (list(&wanted), list(&found));
    Err(Failure::input(format!("{own}: a reference for {other} has to observe {wanted}; it observes {found}")))
}

/// Compiles what a trace carries.
pub fn compile_saved(
    source: Source,
    set: &[(String, i128)],
    test: Option<&TestInfo>,
    color: ColorChoice,
) -> Result<Loaded, Failure> {
    match test {
        Some(test) if algorithm::is_algorithm(&source) => algorithm::again(source, set, &test.name, color),
        Some(test) => c::again(source, set, test, color),
        None => compile(source, set, color),
    }
}

/// Compiles a program in the native language, or a litmus test.
pub fn compile(source: Source, set: &[(String, i128)], color: ColorChoice) -> Result<Loaded, Failure> {
    if source.is_litmus() {
        return crate::litmus::compile(source, set, color);
    }
    match cyrano_rml::compile(&source.text, &source.name, set) {
        Ok(program) => Ok(Loaded { source, set: set.to_vec(), test: None, program, clients: None }),
        Err(error) => Err(uncompiled(&source, error, color)),
    }
}

/// The failure for a program in the native language that does not compile.
pub fn uncompiled(source: &Source, error: CompileError, color: ColorChoice) -> Failure {
    match error {
        CompileError::Diagnostics(errors) => complain(source, &errors, color),
        CompileError::UnknownConstants { names, known } => unknown_constants(source, &names, &known),
    }
}

/// The failure for these diagnostics.
pub fn complain(source: &Source, errors: &[Diagnostic], color: ColorChoice) -> Failure {
    Failure::Input(diagnostics::render(source, errors, console::error_color(color)))
}

fn unknown_constants(source: &Source, names: &[String], known: &[String]) -> Failure {
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let near = names.iter().filter_map(|name| suggest::closest(name, known.iter().map(String::as_str)));
    let near: Vec<String> = near.map(|name| format!("did you mean `{name}`? ")).collect();
    let known = if known.is_empty() { "it declares none".to_owned() } else { format!("it has {}", quoted(known)) };
    Failure::input(format!("{}: no constant {} to set; {}{known}", source.name, quoted(names), near.concat()))
}
