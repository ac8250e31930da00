//! Cyrano as a library: check concurrent programs on relaxed memory from a program of your own.
//!
//! A [`Session`] holds the texts of files and how questions are put to engines; it gives verdicts, executions and repairs. It reads
//! no file and prints nothing.
//!
//! ```
//! use cyrano::{Session, Verdict};
//!
//! let session = Session::new().file(
//!     "sb.rml",
//!     "threads { shared x, y; local a, b;
//!        thread p { x := 1; a := y } thread q { y := 1; b := x } }
//!      check never (a = 0 && b = 0) on sc, tso;",
//! );
//! let checks = session.check("sb.rml")?;
//! assert_eq!(checks[0].verdict, Verdict::Verified); // sc
//! assert_eq!(checks[1].verdict, Verdict::Violated); // tso
//!
//! // The counterexample has been replayed by the reference interpreter.
//! let trace = checks[1].trace.as_ref().expect("a violation comes with an execution");
//! assert!(trace.confirmed);
//! assert!(trace.steps.iter().any(|step| !step.overtook.is_empty()));
//! # Ok::<(), cyrano::Failure>(())
//! ```
//!
//! Fences that repair it, into the text:
//!
//! ```
//! # let text = "threads { shared x, y; local a, b;\n  thread p { x := 1;\n a := y }\n thread q { y := 1;\n b := x } }\ncheck never (a = 0 && b = 0);";
//! let repaired = cyrano::fences("sb.rml", text, "tso")?;
//! assert_eq!(repaired.report.verdict, "repaired");
//! assert_eq!(repaired.report.sets[0].len(), 2);
//! assert!(repaired.text.expect("a text").contains("fence(store-load)"));
//! # Ok::<(), cyrano::Failure>(())
//! ```
//!
//! The programs in `examples/` go further: a walk over a trace, a criterion of one's own, a memory model of one's own.

use std::collections::BTreeMap;

pub use cyrano_engine::Verdict;
pub use cyrano_memory::Model;
pub use cyrano_report::{CheckReport, FencesReport, OutcomesReport};
pub use cyrano_session::repair::Repaired;
pub use cyrano_session::{Case, EngineName, Failure, Options, Outcome, Source};
pub use cyrano_trace::Trace;

use cyrano_criteria::table::Claim;
use cyrano_session::frontend::Wanted;
use cyrano_session::repair::{Task, repair, tasks};
use cyrano_session::{Files, Runner, Selected, Subject, models, select};

/// Checks what a text claims; its language is that of the name's ending (`.rml`, `.c`, `.litmus`).
///
/// ```
/// let checks = cyrano::check("one.rml", "threads { shared x; local a; thread p { x := 1; a := x; assert(a = 1) } }")?;
/// assert_eq!(checks[0].verdict, cyrano::Verdict::Verified);
/// # Ok::<(), cyrano::Failure>(())
/// ```
pub fn check(name: &str, text: &str) -> Result<Vec<CheckReport>, Failure> {
    Session::new().file(name, text).check(name)
}

/// Finds a minimal set of fences that makes a text right on a model.
pub fn fences(name: &str, text: &str, model: &str) -> Result<Repaired, Failure> {
    let session = Session::new().file(name, text);
    session.fences(name, &session.model(model)?)
}

/// Texts of files, constants, and how questions are put to engines.
#[derive(Clone, Default)]
pub struct Session {
    files: BTreeMap<String, String>,
    set: Vec<(String, i128)>,
    options: Options,
}

impl Session {
    /// A session with no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it: a program, or what a program includes (headers, tests of a C file, models).
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.files.insert(name.into(), text.into());
        self
    }

    /// Gives a constant of the programs another value.
    #[must_use]
    pub fn set(mut self, constant: impl Into<String>, value: i128) -> Self {
        self.set.push((constant.into(), value));
        self
    }

    /// Puts questions like this: engine, time, memory, threads, reductions, a flag that stops early.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// A memory model: a built-in one by its name, or a file that was added.
    pub fn model(&self, name: &str) -> Result<Model, Failure> {
        match cyrano_memory::named(name) {
            Some(model) => Ok(model),
            None if self.files.contains_key(name) => {
                models::parse(&Memory(&self.files).open(name)?, &Memory(&self.files))
            }
            None => Err(Failure::input(format!("there is no memory model `{name}`. {}", models::known(name)))),
        }
    }

    /// The programs of a file: one, or one for each test that it declares.
    pub fn cases(&self, file: &str) -> Result<Vec<Case>, Failure> {
        Ok(self.subjects(file)?.into_iter().map(|subject| subject.case).collect())
    }

    /// Checks what a file claims, on the models that it names.
    pub fn check(&self, file: &str) -> Result<Vec<CheckReport>, Failure> {
        self.check_on(file, &[], &[])
    }

    /// Checks these criteria on these models; where there are none, what the file claims.
    pub fn check_on(&self, file: &str, criteria: &[&str], models: &[Model]) -> Result<Vec<CheckReport>, Failure> {
        let subjects = self.subjects(file)?;
        let selected = self.selected(&subjects, criteria, models)?;
        let runner = Runner::new(&self.options, selected.iter().map(Vec::len).sum());
        let checks =
            subjects.iter().zip(&selected).flat_map(|(subject, checks)| checks.iter().map(move |c| (subject, c)));
        let checks: Vec<(&Subject, &Selected)> = checks.collect();
        runner.map(&checks, |_, (subject, check)| subject.check(&runner, check, &()))
    }

    /// All outcomes of a case on a model.
    pub fn outcomes(&self, case: &Case, model: &Model) -> Result<OutcomesReport, Failure> {
        Runner::new(&self.options, 1).outcomes(case, model, &())
    }

    /// Checks a criterion of one's own: every outcome of a case on a model is one that `accepts` accepts.
    ///
    /// A violation comes with an execution that ends in a wrong outcome, replayed like any other.
    pub fn judge(
        &self,
        case: &Case,
        model: &Model,
        criterion: &str,
        accepts: impl Fn(&Outcome<'_>) -> bool,
    ) -> Result<CheckReport, Failure> {
        Runner::new(&self.options, 1).judge(case, model, (criterion, &accepts), &())
    }

    /// Finds a minimal set of fences that makes a file right on a model; for an algorithm, of orders.
    pub fn fences(&self, file: &str, model: &Model) -> Result<Repaired, Failure> {
        let subjects = self.subjects(file)?;
        let selected = self.selected(&subjects, &[], std::slice::from_ref(model))?;
        let runner = Runner::new(&self.options, 1);
        let tasks = tasks(&runner, &subjects, selected, false)?;
        let Some((model, aims)) = tasks.first() else { unreachable!("nothing to repair is an error") };
        repair(&Task { aims, model, all: false, weights: &[] }, &runner, &())
    }

    fn subjects(&self, file: &str) -> Result<Vec<Subject>, Failure> {
        Subject::load(&Memory(&self.files), file, &self.set, &Wanted::default(), None)
    }

    fn selected(
        &self,
        subjects: &[Subject],
        criteria: &[&str],
        models: &[Model],
    ) -> Result<Vec<Vec<Selected>>, Failure> {
        let unknown = |name: &str| Failure::input(format!("there is no criterion `{name}`"));
        let criteria = criteria.iter().map(|name| Claim::from_name(name).ok_or_else(|| unknown(name)));
        let criteria = Failure::all(criteria)?;
        let files = Memory(&self.files);
        subjects.iter().map(|subject| select(&subject.case, &criteria, models, &files)).collect()
    }
}

/// The files of a session.
struct Memory<'a>(&'a BTreeMap<String, String>);

impl Files for Memory<'_> {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let text = self.0.get(name).ok_or_else(|| Failure::input(format!("{name}: there is no such file")))?;
        // Other files are looked up by their names alone.
        Ok(Source { name: name.to_owned(), text: text.clone(), dir: Some("".into()) })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}
