//! A program to be checked, with the source that it came from and what its file says about it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cyrano_cfront::mapping::{self, Target};
use cyrano_engine::{Execution, Query, Question, Replayed, Verdict, Violation};
use cyrano_ir::{AccessKind, InstrId, Program, Property, Span, Tags, ThreadId};
use cyrano_memory::{Definition, Model};
use cyrano_report::{CheckReport, Size};
use cyrano_rml::algorithm::{self, ClientSpace};
use cyrano_trace::{Parts, TestInfo, Trace};

use crate::VERSION;
use crate::failure::Failure;
use crate::frontend::{Frontend, REUSE, Saved, Tests, Wanted, is_whole};
use crate::source::{Files, Source};

/// What a front end makes of a source, or of one test in it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The source.
    pub source: Source,
    /// The constants that were given another value.
    pub set: Vec<(String, i128)>,
    /// The test that the program stands for, if the file has some.
    pub test: Option<TestInfo>,
    /// The test in the notation of its tests file, if it has one.
    pub notation: Option<String>,
    /// The program.
    pub program: Program,
    /// The same with transactions as atomic blocks, if it is an stm with a client of its own.
    pub atomic: Option<Arc<Program>>,
    /// The algorithm with its client, whose orders can be declared otherwise.
    pub algorithm: Option<Arc<algorithm::Test>>,
    /// The litmus test, whose condition says what outcomes mean.
    pub litmus: Option<Arc<cyrano_litmus::Test>>,
    /// What its memory orders have been mapped to, if they have been.
    pub mapped_to: Option<Target>,
    /// The locals whose ends were left out of the program, with their places: that nothing is wrong says nothing about accesses to them.
    pub unchecked: Vec<(String, Span)>,
    /// Who has read it.
    pub frontend: &'static dyn Frontend,
}

impl Case {
    /// A case that is nothing but a program.
    pub(crate) fn new(
        frontend: &'static dyn Frontend,
        source: &Source,
        set: &[(String, i128)],
        program: Program,
    ) -> Self {
        let (source, set) = (source.clone(), set.to_vec());
        Self {
            source,
            set,
            test: None,
            notation: None,
            program,
            atomic: None,
            algorithm: None,
            litmus: None,
            mapped_to: None,
            unchecked: Vec::new(),
            frontend,
        }
    }

    /// The test's name.
    pub fn test_name(&self) -> Option<String> {
        self.test.as_ref().map(|test| test.name.clone())
    }

    /// Whether it is a whole program, with `main` and without tests.
    pub(crate) fn is_whole(&self) -> bool {
        self.test.as_ref().is_some_and(is_whole)
    }

    /// The clients that the program stands for, if it is an algorithm with all clients of a size.
    pub fn clients(&self) -> Option<&ClientSpace> {
        self.algorithm.as_ref()?.clients.as_ref()
    }

    /// The program for a question: calls and responses matter to criteria for transactions only, and where pairs of accesses are reordered
    /// what a litmus test says to be in one order with everything stands between fences.
    pub fn for_question(&self, property: Option<&Property>, model: &Model) -> Cow<'_, Self> {
        if let Some((program, unchecked)) = without_ends(&self.program, model) {
            let without = Self { program, unchecked, ..self.clone() };
            return Cow::Owned(without.for_question(property, model).into_owned());
        }
        if let Some(target) = self.target(model) {
            return Cow::Owned(Self {
                program: mapping::compiled(&self.program, target),
                mapped_to: Some(target),
                ..self.clone()
            });
        }
        if self.litmus.is_some() && model.cat().is_none() && cyrano_litmus::needs_fences(&self.program) {
            return Cow::Owned(Self { program: cyrano_litmus::fenced(&self.program), ..self.clone() });
        }
        let about_calls = matches!(property, Some(Property::Transactions(_)));
        if let Some(program) = self.in_words(property, model) {
            let program = if about_calls { program.clone() } else { program.with_free_calls() };
            return Cow::Owned(Self { program, ..self.clone() });
        }
        if about_calls || !self.program.has_calls() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { program: self.program.without_calls(), ..self.clone() })
    }

    /// An algorithm as a machine runs it, under a model that reorders accesses on its own; none if it is none, or has been made one.
    fn in_words(&self, property: Option<&Property>, model: &Model) -> Option<&Program> {
        let test = self.algorithm.as_ref().filter(|_| self.program.in_order && reorders(model))?;
        let words = property.is_none_or(|property| !test.asks_for_order(property));
        words.then(|| test.in_words(&self.source.text, &self.set)).flatten()
    }

    /// A program of the same source, changed perhaps, as the model has it: without what cannot be checked there, and with C's orders mapped.
    pub(crate) fn compiled<'p>(&self, program: &'p Program, model: &Model) -> Cow<'p, Program> {
        let without = without_ends(program, model).map_or(Cow::Borrowed(program), |(program, _)| Cow::Owned(program));
        match self.target(model) {
            Some(target) => Cow::Owned(mapping::compiled(&without, target)),
            None => without,
        }
    }

    /// What C's memory orders are mapped to under a model that is not about a language; nothing if there are none, or if every access is in order there anyway.
    pub(crate) fn target(&self, model: &Model) -> Option<Target> {
        let is_c = self.frontend.maps_orders() && mapping::speaks_of_orders(&self.program);
        let target = match (model.cat(), model.name.as_str()) {
            (None, _) if model.has_own_order() => None,
            (None, _) => Some(Target::Pairs).filter(|_| !model.known_tags().contains(Tags::SEQ_CST)),
            (Some(_), "armv8") => Some(Target::Arm),
            (Some(_), "power") => Some(Target::Power),
            (Some(_), "riscv") => Some(Target::Riscv),
            (Some(_), "cat:tso" | "cat:pso") => Some(Target::Pairs),
            _ => None,
        };
        target.filter(|_| is_c)
    }

    /// A question about the program; one that makes no sense is bad input.
    pub fn query<'a>(&'a self, model: &'a Model, question: Question<'a>) -> Result<Query<'a>, Failure> {
        Query::new(&self.program, model, question).map_err(|why| self.refused(why))
    }

    /// The complaint about something that this case cannot be used for.
    pub fn refused(&self, why: impl fmt::Display) -> Failure {
        Failure::input(format!("{}: {why}", self.source.name))
    }

    /// What a reader of a verdict must know.
    pub fn caveats(&self, verdict: Verdict, model: &Model) -> Vec<String> {
        let claims = matches!(verdict, Verdict::Verified | Verdict::Bounded);
        let unused = claims && self.program.constants.iter().any(|constant| *constant == (REUSE.to_owned(), 0));
        let text = "freed memory is never used again here (--no-reuse), as `malloc` may";
        unused.then(|| text.to_owned()).into_iter().chain(self.mapped(model)).collect()
    }

    /// What is said where C's memory orders are not the model's own.
    pub(crate) fn mapped(&self, model: &Model) -> Option<String> {
        let speaks = self.frontend.maps_orders() && mapping::speaks_of_orders(&self.program);
        let in_order = model.cat().is_none() && model.known_tags().contains(Tags::SEQ_CST);
        // The program may have been mapped already.
        match (in_order, &self.mapped_to) {
            (_, Some(Target::Pairs)) => Some(format!(
                "memory orders are mapped to fences of {}, as a compiler might do it (docs/c.md)",
                model.name
            )),
            (_, Some(_)) => Some(format!("memory orders are mapped to instructions of {} (docs/c.md)", model.name)),
            (true, None) if speaks => Some(format!(
                "under {} every access is sequentially consistent, whatever memory order it asks for; rc11 knows what the orders leave open, races among it",
                model.name
            )),
            _ => None,
        }
    }

    /// Why a verdict is no more than `bounded` although nothing wrong was found.
    pub(crate) fn left_out(&self) -> Option<String> {
        let line = |span| self.source.line(span).map_or(String::new(), |line| format!(" (line {line})"));
        let shown = self.unchecked.iter().map(|(name, span)| format!("`{name}`{}", line(*span)));
        let shown = shown.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        (!shown.is_empty()).then(|| {
            format!("accesses to locals of calls that have ended are not checked under models about relations: {shown}")
        })
    }

    /// The size of the instance, for reports; a constant of the file's own takes precedence.
    pub fn instance(&self) -> Vec<(String, Size)> {
        let number = |number: usize| Size::Number(number as i128);
        let threads = if self.program.families.is_empty() { number(self.program.threads.len()) } else { Size::Every };
        let counted = [("threads", threads), ("vars", number(self.program.locations.len()))];
        let own = self.program.constants.iter().filter(|(name, _)| threads != Size::Every || name != "threads");
        let own: Vec<(String, Size)> = own.map(|(name, value)| (name.clone(), (*value).into())).collect();
        let counted = counted.into_iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        let counted: Vec<(String, Size)> = counted.map(|(name, size)| (name.to_owned(), size)).collect();
        [counted, own].concat()
    }

    /// The instance with so many members of each family.
    pub(crate) fn with_members(&self, members: &[usize]) -> Result<Self, Failure> {
        let sizes: Vec<&str> = self.program.families.iter().map(|family| family.size.as_str()).collect();
        let others = self.set.iter().filter(|(name, _)| !sizes.contains(&name.as_str())).cloned();
        let given = sizes.iter().zip(members).map(|(name, number)| ((*name).to_owned(), *number as i128));
        let set: Vec<(String, i128)> = others.chain(given).collect();
        let mut cases = self.frontend.cases(&self.source, &set, &Wanted::default(), &Saved(&BTreeMap::new()))?;
        cases.pop().ok_or_else(|| self.refused("there is no program in it"))
    }

    /// A report that says nothing yet.
    pub(crate) fn report(&self, criterion: &str) -> CheckReport {
        let (file, test, criterion) = (self.source.name.clone(), self.test_name(), criterion.to_owned());
        let (set, instance) = (self.set.iter().cloned().collect(), self.instance());
        CheckReport { file, test, criterion, set, instance, ..CheckReport::default() }
    }

    /// The line of an instruction.
    pub fn line(&self, thread: ThreadId, instr: InstrId) -> Option<usize> {
        self.source.line(self.program.instr(thread, instr).span)
    }

    /// The names of what is observed.
    pub fn columns(&self) -> Vec<String> {
        self.program.observed.iter().map(|observed| observed.name.clone()).collect()
    }

    /// The same test from another text of the file, and the others of `cases`, which are from one file, too.
    pub(crate) fn again<'a>(&self, text: &str, cases: impl Iterator<Item = &'a Self>) -> Result<Vec<Self>, Failure> {
        let source = Source { text: text.to_owned(), ..self.source.clone() };
        let tests: Vec<TestInfo> = cases.filter_map(|case| case.test.clone()).collect();
        let none = BTreeMap::new();
        let saved = Saved(self.test.as_ref().map_or(&none, |test| &test.includes));
        let tests = if tests.is_empty() { Tests::Declared } else { Tests::Again(tests) };
        self.frontend.cases(&source, &self.set, &Wanted { tests, ..Wanted::default() }, &saved)
    }

    /// Another test of the same file.
    pub(crate) fn as_test(&self, test: TestInfo) -> Result<Self, Failure> {
        let includes = test.includes.clone();
        let wanted = Wanted { tests: Tests::Again(vec![test]), ..Wanted::default() };
        let mut cases = self.frontend.cases(&self.source, &self.set, &wanted, &Saved(&includes))?;
        cases.pop().ok_or_else(|| self.refused("there is no such test"))
    }

    /// The same stm for this many threads and variables.
    pub(crate) fn sized(&self, (threads, vars): (i128, i128)) -> Result<Self, Failure> {
        let size = [("threads".to_owned(), threads), ("vars".to_owned(), vars)];
        let others = self.set.iter().filter(|(name, _)| !["threads", "vars"].contains(&name.as_str())).cloned();
        let set: Vec<(String, i128)> = others.chain(size).collect();
        let wanted = Wanted { tests: Tests::Declared, ..Wanted::default() };
        let mut cases = self.frontend.cases(&self.source, &set, &wanted, &Saved(&BTreeMap::new()))?;
        cases.pop().ok_or_else(|| self.refused("there is no program in it"))
    }

    /// Another program that has what this one observes; of a file with tests, with the test of this one.
    pub fn reference(&self, name: &str, files: &dyn Files) -> Result<Self, Failure> {
        let source = files.open(name)?;
        let frontend = crate::frontend::of(&source);
        let fail = |what: String| Failure::input(format!("{}: {what}", source.name));
        if frontend.has_tests() != self.test.is_some() {
            return Err(fail("a reference is in the language of what it is for".to_owned()));
        }
        let reference = frontend.again(&source, self.set_of_reference(), self.test.as_ref(), files)?;
        if self.observes_like(&reference) {
            return Ok(reference);
        }
        let (wanted, found) = (self.columns(), reference.columns());
        let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let (wanted, found, other) = (list(&wanted), list(&found), &self.source.name);
        Err(fail(format!("a reference for {other} has to observe {wanted}; it observes {found}")))
    }

    /// The constants that a reference takes over.
    pub(crate) fn set_of_reference(&self) -> &[(String, i128)] {
        if self.test.is_some() { &self.set } else { &[] }
    }

    /// Whether another program observes what this one does.
    pub(crate) fn observes_like(&self, other: &Self) -> bool {
        let (wanted, found) = (self.columns(), other.columns());
        wanted.iter().map(|name| self.place_of(name)).eq(found.iter().map(|name| self.place_of(name)))
    }

    /// The part of a column's name that a reference shares. Where tests say what is observed, that is the thread and the call: the same line of the same
    /// tests file gives the arguments by position, and how a function calls its parameters is its own business.
    fn place_of<'n>(&self, column: &'n str) -> &'n str {
        let within_call = column.match_indices('.').nth(1).map(|(at, _)| at).filter(|_| self.test.is_some());
        &column[..within_call.unwrap_or(column.len())]
    }

    /// The trace of a confirmed execution of `program`, whose spans are those of the source.
    pub fn trace(
        &self,
        program: &Program,
        (property, model): (&Property, &Model),
        violation: Option<&Violation>,
        (execution, replayed): (&Execution, &Replayed),
    ) -> Trace {
        Trace::build(&Parts {
            version: VERSION,
            file: &self.source.name,
            source: &self.source.text,
            set: &self.set,
            test: self.test.as_ref(),
            program,
            model,
            property,
            violation,
            execution,
            replayed,
        })
    }
}

/// Whether it is a machine's model that does not keep all accesses in order.
pub(crate) fn reorders(model: &Model) -> bool {
    let kinds = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw];
    let pairs = matches!(model.definition, Definition::Reordering(_)) && !model.has_own_order();
    pairs && !kinds.into_iter().all(|kind| model.reordering().keeps_all_after(kind))
}

/// A program without the ends of locals, which models about relations cannot check, and what that leaves unchecked.
fn without_ends(program: &Program, model: &Model) -> Option<(Program, Vec<(String, Span)>)> {
    model.cat().and_then(|_| cyrano_cfront::without_ends(program))
}
