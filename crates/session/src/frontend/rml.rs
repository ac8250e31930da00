//! RML: a program, or an `algorithm` with one program for each client or for all clients of a size.

use std::sync::Arc;

use cyrano_fences::FenceText;
use cyrano_ir::suggest;
use cyrano_rml::algorithm::{self, Test};
use cyrano_rml::uses::{self, Resolver};
use cyrano_rml::{CompileError, Compiled};
use cyrano_trace::TestInfo;

use super::{Frontend, Tests, Threads, Wanted, near, without_tests};
use crate::case::Case;
use crate::failure::Failure;
use crate::source::{Files, Source};

/// The native language.
#[derive(Debug)]
pub(super) struct Rml;

impl Frontend for Rml {
    fn cases(
        &'static self,
        source: &Source,
        set: &[(String, i128)],
        wanted: &Wanted,
        files: &dyn Files,
    ) -> Result<Vec<Case>, Failure> {
        let source = &together(source, files)?;
        if algorithm::is_algorithm(&source.text) {
            return self.clients(source, set, wanted);
        }
        without_tests(source, wanted)?;
        let compiled = cyrano_rml::compile_sized(&source.text, &source.name, set, wanted.threads);
        let Compiled { program, atomic, sized } = compiled.map_err(|error| uncompiled(source, error))?;
        if wanted.threads == Threads::Any && program.families.is_empty() {
            let help = "write `thread w[*]`, or a constant for the number: `thread w[N]`";
            return Err(Failure::input(format!(
                "{}: no family of threads has a size that can be `*`; {help}",
                source.name
            )));
        }
        // Whoever makes this case again need not know what was wanted.
        let set: Vec<_> =
            set.iter().filter(|(name, _)| sized.iter().all(|(known, _)| known != name)).cloned().collect();
        let set = [set, sized].concat();
        Ok(vec![Case { atomic: atomic.map(Arc::new), ..Case::new(self, source, &set, program) }])
    }

    fn fences(&self) -> Result<&'static dyn FenceText, &'static str> {
        Ok(&cyrano_fences::Rml)
    }
}

impl Rml {
    fn clients(&'static self, source: &Source, set: &[(String, i128)], wanted: &Wanted) -> Result<Vec<Case>, Failure> {
        let fail = |what: String| Failure::input(format!("{}: {what}", source.name));
        if matches!(wanted.tests, Tests::UpTo { .. } | Tests::Parallel(_)) {
            let help = "declare `check opacity for clients threads 2, txns 1, ops 3, locs 2;`";
            return Err(fail(format!("--all-tests is for C files; {help}")));
        }
        let tests = algorithm::tests(&source.name, &source.text, set).map_err(|error| uncompiled(source, error))?;
        let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        if let Some(unknown) = wanted.tests.unknown(&names) {
            let near = near(unknown, names.iter().copied());
            return Err(fail(format!("there is no client `{unknown}`{near}; it has {}", names.join(", "))));
        }
        let case = |test: Test| {
            let info = TestInfo { name: test.name.clone(), tests: String::new(), includes: Default::default() };
            let case = Case::new(self, source, set, test.program.clone());
            Case { test: Some(info), algorithm: Some(Arc::new(test)), ..case }
        };
        let cases: Vec<Case> = tests.into_iter().filter(|test| wanted.tests.wants(&test.name)).map(case).collect();
        if cases.is_empty() { Err(fail("no client to check the algorithm with".to_owned())) } else { Ok(cases) }
    }
}

/// The source with what it uses of other files behind it.
pub(super) fn together(source: &Source, files: &dyn Files) -> Result<Source, Failure> {
    let found = uses::together(source, &Used(files));
    let text = found.map_err(|unusable| Failure::source(&unusable.source, unusable.errors))?;
    Ok(text.map_or_else(|| source.clone(), |text| Source { text, ..source.clone() }))
}

/// Files that RML files use.
struct Used<'a>(&'a dyn Files);

impl Resolver for Used<'_> {
    type Source = Source;

    fn text<'s>(&self, source: &'s Source) -> (&'s str, &'s str) {
        (&source.name, &source.text)
    }

    fn open(&self, from: &Source, name: &str) -> Result<Source, String> {
        let found = if name.starts_with("lib:") { self.0.open(name) } else { self.0.beside(from, name) };
        found.map_err(|failure| failure.to_string().trim_start_matches("error: ").to_owned())
    }
}

/// The failure for a program that does not compile.
fn uncompiled(source: &Source, error: CompileError) -> Failure {
    let (names, known) = match error {
        CompileError::Diagnostics(errors) => return Failure::source(source, errors),
        CompileError::UnknownConstants { names, known } => (names, known),
    };
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let near = names.iter().filter_map(|name| suggest::closest(name, known.iter().map(String::as_str)));
    let near: Vec<String> = near.map(|name| format!("did you mean `{name}`? ")).collect();
    let known = if known.is_empty() { "it declares none".to_owned() } else { format!("it has {}", quoted(&known)) };
    Failure::input(format!("{}: no constant {} to set; {}{known}", source.name, quoted(&names), near.concat()))
}
