//! C files: the file, its tests beside it, and one program for each test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use cyrano_cfront::{Bounds, Test, Unit};
use cyrano_ir::Ty;
use cyrano_ir::suggest;
use cyrano_trace::TestInfo;

use crate::args::{ColorChoice, TestArgs};
use crate::failure::Failure;
use crate::library;
use crate::program::{self, Loaded};
use crate::source::{self, Source};

/// The one constant that a C file has: how many objects each `malloc` within a loop can make.
const OBJECTS: &str = "objects";

/// A C file that has been read.
struct File {
    source: Source,
    unit: Unit,
    set: Vec<(String, i128)>,
    bounds: Bounds,
    /// What it includes, by the names it uses.
    includes: BTreeMap<String, String>,
}

/// Compiles each test of a C file that is wanted.
pub fn load(
    source: Source,
    set: &[(String, i128)],
    wanted: &TestArgs,
    color: ColorChoice,
) -> Result<Vec<Loaded>, Failure> {
    let file = File::read(source, set, None, color)?;
    let text = tests_of(&file.source)?;
    let declared = cyrano_cfront::tests(&text.text, &file.unit).map_err(|e| program::complain(&text, &e, color))?;
    let tests = match wanted.all_tests {
        Some(calls) => cyrano_cfront::all_tests(&declared, calls.into()),
        None => {
            let names: Vec<&str> = declared.tests.iter().map(|test| test.name.as_str()).collect();
            if let Some(unknown) = wanted.unknown(&names) {
                let near = suggest::closest(unknown, names.iter().copied());
                let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
                return Err(Failure::input(format!("{}: there is no test `{unknown}`{near}", text.name)));
            }
            declared.tests.iter().filter(|test| wanted.wants(&test.name)).cloned().collect()
        }
    };
    if tests.is_empty() {
        return Err(Failure::input(format!("{}: there are no tests in this file", text.name)));
    }
    tests.iter().map(|test| file.program(test, &text.text, color)).collect()
}

/// Compiles one test again from what a trace or another program says about it. Files beside the C file are looked for only if the
/// source has a place of its own.
pub fn again(source: Source, set: &[(String, i128)], test: &TestInfo, color: ColorChoice) -> Result<Loaded, Failure> {
    let file = File::read(source, set, Some(&test.includes), color)?;
    file.again(test, color)
}

/// Compiles the tests of one file again, from another text of it.
pub fn all_again(
    source: Source,
    set: &[(String, i128)],
    tests: &[&TestInfo],
    color: ColorChoice,
) -> Result<Vec<Loaded>, Failure> {
    let file = File::read(source, set, tests.first().map(|test| &test.includes), color)?;
    tests.iter().map(|test| file.again(test, color)).collect()
}

impl File {
    fn read(
        source: Source,
        set: &[(String, i128)],
        saved: Option<&BTreeMap<String, String>>,
        color: ColorChoice,
    ) -> Result<Self, Failure> {
        let bounds = bounds(&source, set)?;
        let includes = RefCell::new(BTreeMap::new());
        let resolver = |name: &str| {
            let known = saved.and_then(|saved| saved.get(name).cloned());
            let text = known.or_else(|| beside(&source, name).ok().map(|file| file.text))?;
            includes.borrow_mut().insert(name.to_owned(), text.clone());
            Some(text)
        };
        let unit = cyrano_cfront::parse(&source.text, &source.name, &resolver);
        let unit = unit.map_err(|errors| program::complain(&source, &errors, color))?;
        Ok(Self { unit, set: set.to_vec(), bounds, includes: includes.into_inner(), source })
    }

    fn again(&self, test: &TestInfo, color: ColorChoice) -> Result<Loaded, Failure> {
        let declared = |text: &str| cyrano_cfront::tests(text, &self.unit);
        let tests = Source { name: format!("the tests of {}", self.source.name), text: test.tests.clone(), dir: None };
        let found = declared(&tests.text).map_err(|errors| program::complain(&tests, &errors, color))?;
        if let Some(found) = found.test(&test.name) {
            return self.program(found, &tests.text, color);
        }
        // A test that nobody declared is called by its notation.
        let unknown = || Failure::input(format!("{}: there is no test `{}`", self.source.name, test.name));
        let made = declared(&format!("{}\ntest made = {}\n", tests.text, test.name)).map_err(|_| unknown())?;
        let made = made.test("made").ok_or_else(unknown)?;
        let mut made = made.clone();
        made.name.clone_from(&test.name);
        self.program(&made, &tests.text, color)
    }

    fn program(&self, test: &Test, tests: &str, color: ColorChoice) -> Result<Loaded, Failure> {
        let program = self.unit.program_within(test, self.bounds);
        let mut program = program.map_err(|errors| program::complain(&self.source, &errors, color))?;
        let count = |number: usize| i128::try_from(number).unwrap_or(i128::MAX);
        let words = program.locations.iter().filter(|location| location.ty != Ty::Gap).count();
        let size = [("threads", test.threads.len()), ("vars", words), ("calls", test.calls())];
        program.constants = size.iter().map(|(name, number)| ((*name).to_owned(), count(*number))).collect();
        program.constants.push((OBJECTS.to_owned(), self.bounds.objects.into()));
        let test = TestInfo { name: test.name.clone(), tests: tests.to_owned(), includes: self.includes.clone() };
        Ok(Loaded { source: self.source.clone(), set: self.set.clone(), test: Some(test), program, clients: None })
    }
}

fn bounds(source: &Source, set: &[(String, i128)]) -> Result<Bounds, Failure> {
    let mut bounds = Bounds::default();
    for (name, value) in set {
        let fail = |what: &str| Failure::input(format!("{}: {what}", source.name));
        if name != OBJECTS {
            return Err(fail(&format!("no constant `{name}` to set; a C file has `{OBJECTS}`")));
        }
        let objects = u32::try_from(*value).ok().filter(|objects| (1..=1_000).contains(objects));
        bounds.objects = objects.ok_or_else(|| fail(&format!("`{OBJECTS}` is 1 to 1000, not {value}")))?;
    }
    Ok(bounds)
}

/// The tests file that the header names (`//@ tests: msn.tests`), or the one of the C file's own name.
fn tests_of(source: &Source) -> Result<Source, Failure> {
    let named = source.text.lines().find_map(|line| line.trim().strip_prefix("//@")?.trim().strip_prefix("tests:"));
    let own = Path::new(&source.name).with_extension("tests");
    let own = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = named.map_or(own, |named| named.trim().to_owned());
    beside(source, &name).map_err(|failure| {
        let help = "a C file is checked with a tests file beside it; its header can name one: `//@ tests: NAME`";
        Failure::Input(format!("{}\n{}: {help}", failure.message(), source.name))
    })
}

/// A file beside another one.
fn beside(source: &Source, name: &str) -> Result<Source, Failure> {
    match (&source.dir, source.name.strip_prefix("lib:")) {
        (Some(dir), _) => source::file(&dir.join(name)),
        (None, Some(entry)) => {
            let path = Path::new(entry).with_file_name(name);
            let path = path.to_string_lossy();
            let found = library::file(&path);
            let found = found.ok_or_else(|| Failure::input(format!("lib:{path}: the library has no such file")))?;
            Ok(Source { name: format!("lib:{path}"), text: found.text.to_owned(), dir: None })
        }
        (None, None) => Err(Failure::input(format!("{name}: there is no such file"))),
    }
}
