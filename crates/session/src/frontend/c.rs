//! C files: the file, its tests beside it, and one program for each test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use cyrano_cfront::{Bounds, Test, TestFile, Unit};
use cyrano_fences::FenceText;
use cyrano_ir::blocks::diagnose::Words;
use cyrano_ir::{Program, Ty};
use cyrano_trace::TestInfo;

use super::{Before, Frontend, Tests, Wanted, near};
use crate::case::Case;
use crate::failure::Failure;
use crate::source::{Files, Source};

/// The one constant that a C file has: how many objects each `malloc` within a loop can make.
const OBJECTS: &str = "objects";

/// Whether `malloc` may return memory that was freed; kept with the constants, so that a saved trace says it too.
pub(crate) const REUSE: &str = "reuse";

/// Whether memory that is not freed is an error; kept like the others.
const LEAKS: &str = "leaks";

/// What the one case of a whole program is called.
const WHOLE: &str = "main";

/// C.
#[derive(Debug)]
pub(super) struct C;

impl Frontend for C {
    fn cases(
        &'static self,
        source: &Source,
        set: &[(String, i128)],
        wanted: &Wanted,
        files: &dyn Files,
    ) -> Result<Vec<Case>, Failure> {
        let mut set = set.to_vec();
        if wanted.no_reuse {
            set.push((REUSE.to_owned(), 0));
        }
        if wanted.leaks {
            set.push((LEAKS.to_owned(), 1));
        }
        let bounds = bounds(source, &set)?;
        let includes = RefCell::new(BTreeMap::new());
        let resolver = |name: &str| {
            let text = included(name, source, &wanted.before, files)?;
            includes.borrow_mut().insert(name.to_owned(), text.clone());
            Some(text)
        };
        let unit = cyrano_cfront::parse(&source.text, &source.name, &resolver);
        let unit = unit.map_err(|errors| Failure::source(source, errors))?;
        let includes = includes.into_inner();
        if stands_alone(&unit, source, wanted, files) {
            let program = unit.whole(bounds).map_err(|errors| Failure::source(source, errors))?;
            let program = sized(program, bounds);
            let test = TestInfo { name: WHOLE.to_owned(), tests: String::new(), includes };
            return Ok(vec![Case { test: Some(test), ..Case::new(self, source, &set, program) }]);
        }
        if bounds.leaks {
            let why = "leaks are looked for in whole programs, files with `main` and without tests";
            return Err(Failure::input(format!("{}: {why}", source.name)));
        }
        let text = match &wanted.tests {
            Tests::Again(tests) => {
                let text = tests.first().map(|test| test.tests.clone()).unwrap_or_default();
                Source { name: format!("the tests of {}", source.name), text, dir: None }
            }
            _ => tests_of(source, files)?,
        };
        let declared = cyrano_cfront::tests(&text.text, &unit).map_err(|errors| Failure::source(&text, errors))?;
        let texts = || includes.values().chain([&source.text]);
        let tests = match wanted.tests {
            // Calls of one thread need not be like calls of several.
            Tests::Parallel(calls) if texts().any(|text| tells_threads_apart(text)) => {
                &Tests::UpTo { calls, sequences: false }
            }
            _ => &wanted.tests,
        };
        let case = |test: Test| {
            let program = unit.program_within(&test, bounds).map_err(|errors| Failure::source(source, errors))?;
            let mut program = sized(program, bounds);
            let size = [("threads", test.threads.len()), ("calls", test.calls())];
            let size = size.iter().map(|(name, number)| ((*name).to_owned(), count(*number)));
            program.constants.splice(0..0, size);
            let notation = Some(test.to_string());
            let test = TestInfo { name: test.name, tests: text.text.clone(), includes: includes.clone() };
            Ok(Case { test: Some(test), notation, ..Case::new(self, source, &set, program) })
        };
        chosen(&declared, tests, source, &text)?.into_iter().map(case).collect()
    }

    fn has_tests(&self) -> bool {
        true
    }

    fn maps_orders(&self) -> bool {
        true
    }

    fn words(&self) -> Words {
        cyrano_cfront::BLOCK_WORDS
    }

    fn fences(&self) -> Result<&'static dyn FenceText, &'static str> {
        Ok(&cyrano_fences::C)
    }
}

/// The text of an included file: beside the source, or in one of the folders.
fn included(name: &str, source: &Source, before: &Before, files: &dyn Files) -> Option<String> {
    if name == cyrano_cfront::COMMAND_LINE && !before.text.is_empty() {
        return Some(before.text.clone());
    }
    let within = before.folders.iter().map(|folder| Source { dir: Some(folder.clone()), ..Source::named(name) });
    let found = files.beside(source, name).ok();
    found.or_else(|| within.into_iter().find_map(|folder| files.beside(&folder, name).ok())).map(|file| file.text)
}

/// Whether a function may know which thread calls it.
fn tells_threads_apart(text: &str) -> bool {
    let words =
        ["pthread_self", "thrd_current", "_Thread_local", "thread_local", "__thread", "pthread_getspecific", "tss_get"];
    words.iter().any(|word| text.contains(word))
}

/// The tests that are wanted.
fn chosen(declared: &TestFile, wanted: &Tests, source: &Source, text: &Source) -> Result<Vec<Test>, Failure> {
    let tests: Vec<Test> = match wanted {
        Tests::UpTo { calls, sequences } => {
            let mut tests = cyrano_cfront::all_tests(declared, *calls);
            if *sequences {
                tests.splice(0..0, cyrano_cfront::sequential_tests(declared, *calls));
            }
            tests
        }
        Tests::Parallel(calls) => cyrano_cfront::parallel_tests(declared, *calls),
        Tests::Again(tests) => {
            // A test that nobody declared is called by its notation.
            let test = |info: &TestInfo| {
                let notation = || declared.by_notation(&info.name).and_then(Result::ok);
                let found = declared.test(&info.name).cloned().or_else(notation);
                found.ok_or_else(|| Failure::input(format!("{}: there is no test `{}`", source.name, info.name)))
            };
            tests.iter().map(test).collect::<Result<_, _>>()?
        }
        Tests::Declared | Tests::Named(_) => {
            let mut tests = declared.tests.clone();
            loop {
                let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
                let Some(unknown) = wanted.unknown(&names) else { break };
                // A test that nobody declared is called by its notation.
                let why = match declared.by_notation(unknown) {
                    Some(Ok(test)) => {
                        tests.push(test);
                        continue;
                    }
                    Some(Err(errors)) => {
                        errors.first().map_or_else(String::new, |error| format!(": {}", error.message))
                    }
                    None => near(unknown, names.iter().copied()),
                };
                return Err(Failure::input(format!("{}: there is no test `{unknown}`{why}", text.name)));
            }
            tests.retain(|test| wanted.wants(&test.name));
            tests
        }
    };
    let none = || Failure::input(format!("{}: there are no tests in this file", text.name));
    if tests.is_empty() { Err(none()) } else { Ok(tests) }
}

/// Whether the file is a program by itself: it has `main` and no tests, or a trace says so.
fn stands_alone(unit: &Unit, source: &Source, wanted: &Wanted, files: &dyn Files) -> bool {
    match &wanted.tests {
        Tests::Again(tests) => tests.iter().any(is_whole),
        _ => unit.has_main() && tests_of(source, files).is_err(),
    }
}

/// Whether the one test of a file stands for a whole program.
pub(crate) fn is_whole(test: &TestInfo) -> bool {
    test.name == WHOLE && test.tests.is_empty()
}

fn count(number: usize) -> i128 {
    i128::try_from(number).unwrap_or(i128::MAX)
}

/// The program with its size among its constants.
fn sized(program: Program, bounds: Bounds) -> Program {
    let words = program.locations.iter().filter(|location| location.ty != Ty::Gap).count();
    let mut constants = vec![("vars".to_owned(), count(words))];
    constants.push((OBJECTS.to_owned(), bounds.objects.into()));
    if program.has_headers() {
        constants.push((REUSE.to_owned(), bounds.reuse.into()));
    }
    if bounds.leaks {
        constants.push((LEAKS.to_owned(), 1));
    }
    Program { constants, ..program }
}

fn bounds(source: &Source, set: &[(String, i128)]) -> Result<Bounds, Failure> {
    let mut bounds = Bounds::default();
    for (name, value) in set {
        let fail = |what: &str| Failure::input(format!("{}: {what}", source.name));
        if name == REUSE || name == LEAKS {
            let flag = if name == REUSE { &mut bounds.reuse } else { &mut bounds.leaks };
            *flag = match value {
                0 | 1 => *value == 1,
                _ => return Err(fail(&format!("`{name}` is 0 or 1, not {value}"))),
            };
            continue;
        }
        if name != OBJECTS {
            return Err(fail(&format!("no constant `{name}` to set; a C file has `{OBJECTS}`")));
        }
        let objects = u32::try_from(*value).ok().filter(|objects| (1..=1_000).contains(objects));
        bounds.objects = objects.ok_or_else(|| fail(&format!("`{OBJECTS}` is 1 to 1000, not {value}")))?;
    }
    Ok(bounds)
}

/// The tests file that the header names (`//@ tests: msn.tests`), or the one of the C file's own name.
fn tests_of(source: &Source, files: &dyn Files) -> Result<Source, Failure> {
    let named = source.text.lines().find_map(|line| line.trim().strip_prefix("//@")?.trim().strip_prefix("tests:"));
    let own = Path::new(&source.name).with_extension("tests");
    let own = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = named.map_or(own, |named| named.trim().to_owned());
    files.beside(source, &name).map_err(|failure| {
        let help = "a C file is checked with a tests file beside it; its header can name one: `//@ tests: NAME`";
        Failure::Several(vec![failure, Failure::Input(format!("{}: {help}", source.name))])
    })
}
