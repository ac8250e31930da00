//! Languages behind one trait: a source and the files beside it in, cases out.
//!
//! Which language a source is in is asked once, by [`of`]; whatever depends on it afterwards is a matter of the [`Case`] or of its [`Frontend`].

mod c;
mod litmus;
mod rml;
mod wanted;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use cyrano_fences::FenceText;
use cyrano_ir::blocks::diagnose::Words;
use cyrano_ir::suggest;
use cyrano_trace::TestInfo;

use crate::case::Case;
use crate::failure::Failure;
use crate::source::{Files, Source};
pub(crate) use c::{REUSE, is_whole};
pub use cyrano_rml::Threads;
pub use wanted::{Before, Tests, Wanted};

/// A language.
pub trait Frontend: Sync + Debug {
    /// The cases of a source: one, or one for each of its tests that are wanted. There is at least one.
    fn cases(
        &'static self,
        source: &Source,
        set: &[(String, i128)],
        wanted: &Wanted,
        files: &dyn Files,
    ) -> Result<Vec<Case>, Failure>;

    /// Whether every program stands for a test that is declared beside the source.
    fn has_tests(&self) -> bool {
        false
    }

    /// Whether memory orders are those of C, which a compiler maps to what a machine has.
    fn maps_orders(&self) -> bool {
        false
    }

    /// How commit points are written.
    fn words(&self) -> Words {
        Words { commit: "`commit`", end: "`}`", example: "`atomic name { … commit; … }`" }
    }

    /// How fences are written into a source; `Err` says why they are not.
    fn fences(&self) -> Result<&'static dyn FenceText, &'static str>;

    /// One case again, from what a trace or another case says about its test.
    fn again(
        &'static self,
        source: &Source,
        set: &[(String, i128)],
        test: Option<&TestInfo>,
        files: &dyn Files,
    ) -> Result<Case, Failure> {
        let tests = test.map_or(Tests::Declared, |test| Tests::Again(vec![test.clone()]));
        let mut cases = self.cases(source, set, &Wanted { tests, ..Wanted::default() }, files)?;
        match (cases.pop(), cases.is_empty()) {
            (Some(case), true) => Ok(case),
            _ => Err(Failure::input(format!("{}: it is not said which test is meant", source.name))),
        }
    }
}

/// Litmus tests, whatever their files are called.
pub(crate) const LITMUS: &dyn Frontend = &litmus::Litmus;

/// The language of a source, by the ending of its name.
pub fn of(source: &Source) -> &'static dyn Frontend {
    match Path::new(&source.name).extension().and_then(|ending| ending.to_str()) {
        Some("c" | "i") => &c::C,
        Some("litmus") => LITMUS,
        _ => &rml::Rml,
    }
}

/// The cases of the file of this name.
pub fn cases(files: &dyn Files, name: &str, set: &[(String, i128)], wanted: &Wanted) -> Result<Vec<Case>, Failure> {
    let source = files.open(name)?;
    of(&source).cases(&source, set, wanted, files)
}

/// The file of this name as its cases have it: with what it uses of other files behind it.
pub fn source(files: &dyn Files, name: &str) -> Result<Source, Failure> {
    let source = files.open(name)?;
    match Path::new(&source.name).extension().and_then(|ending| ending.to_str()) {
        Some("c" | "i" | "litmus") => Ok(source),
        _ => rml::together(&source, files),
    }
}

/// The one case of a file without tests.
pub fn case(files: &dyn Files, name: &str, set: &[(String, i128)]) -> Result<Case, Failure> {
    let source = files.open(name)?;
    let refused = |why: &str| Failure::input(format!("{}: {why}", source.name));
    if of(&source).has_tests() {
        return Err(refused("this command reads `.rml` and `.litmus` files only"));
    }
    let mut cases = of(&source).cases(&source, set, &Wanted::default(), files)?;
    let plain = cases.pop().filter(|case| case.test.is_none());
    plain.ok_or_else(|| refused("this command takes a program, not the clients of an algorithm"))
}

/// Files that a trace carries, by the names that its source uses.
pub(crate) struct Saved<'a>(pub(crate) &'a BTreeMap<String, String>);

impl Files for Saved<'_> {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let missing = || Failure::input(format!("{name}: there is no such file"));
        self.0.get(name).map(|text| Source { name: name.to_owned(), text: text.clone(), dir: None }).ok_or_else(missing)
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}

/// What is said about tests that are asked for where there are none.
fn without_tests(source: &Source, wanted: &Wanted) -> Result<(), Failure> {
    if wanted.before != Before::default() {
        return Err(Failure::input(format!("{}: only C files have macros and include files", source.name)));
    }
    match wanted.tests {
        Tests::Declared => Ok(()),
        _ => Err(Failure::input(format!("{}: only C files and algorithms have tests", source.name))),
    }
}

/// A name that is close to one that is not there: ` (did you mean …?)`.
fn near<'a>(unknown: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggest::closest(unknown, names).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}
