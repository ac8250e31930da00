//! `algorithm` files: one program for each client, or for all clients of a size.

use cyrano_ir::suggest;
use cyrano_rml::algorithm::{self, Test};
use cyrano_trace::TestInfo;

use crate::args::{ColorChoice, TestArgs};
use crate::failure::Failure;
use crate::program::{self, Loaded};
use crate::source::Source;

/// Whether a file is one of these.
pub fn is_algorithm(source: &Source) -> bool {
    !source.is_c() && !source.is_litmus() && algorithm::is_algorithm(&source.text)
}

/// Compiles each client that is wanted.
pub fn load(
    source: Source,
    set: &[(String, i128)],
    wanted: &TestArgs,
    color: ColorChoice,
) -> Result<Vec<Loaded>, Failure> {
    if wanted.all_tests.is_some() {
        let help = "declare `check opacity for clients threads 2, txns 1, ops 3, locs 2;`";
        return Err(Failure::input(format!("{}: --all-tests is for C files; {help}", source.name)));
    }
    let tests = compile(&source, set, color)?;
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    if let Some(unknown) = wanted.unknown(&names) {
        let near = suggest::closest(unknown, names.iter().copied());
        let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        let has = names.join(", ");
        return Err(Failure::input(format!("{}: there is no client `{unknown}`{near}; it has {has}", source.name)));
    }
    let wanted: Vec<Test> = tests.into_iter().filter(|test| wanted.wants(&test.name)).collect();
    if wanted.is_empty() {
        return Err(Failure::input(format!("{}: no client to check the algorithm with", source.name)));
    }
    Ok(wanted.into_iter().map(|test| loaded(&source, set, test)).collect())
}

/// Compiles one client again, from what a trace says about it.
pub fn again(source: Source, set: &[(String, i128)], name: &str, color: ColorChoice) -> Result<Loaded, Failure> {
    let tests = compile(&source, set, color)?;
    let found = tests.into_iter().find(|test| test.name == name);
    let found = found.ok_or_else(|| Failure::input(format!("{}: there is no client `{name}`", source.name)))?;
    Ok(loaded(&source, set, found))
}

fn compile(source: &Source, set: &[(String, i128)], color: ColorChoice) -> Result<Vec<Test>, Failure> {
    algorithm::tests(&source.name, &source.text, set).map_err(|error| program::uncompiled(source, error, color))
}

fn loaded(source: &Source, set: &[(String, i128)], test: Test) -> Loaded {
    let info = TestInfo { name: test.name, tests: String::new(), includes: Default::default() };
    Loaded { source: source.clone(), set: set.to_vec(), test: Some(info), program: test.program, clients: test.clients }
}
