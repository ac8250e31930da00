//! Fences of machines and stronger accesses: what the search finds, against every choice, each put to the reference.
//!
//! A test is a text with slots, and a slot has its options by hand: nothing here knows how places are found, what is stronger than what, or what it costs.

mod datatypes;
mod shapes;

use std::collections::{BTreeMap, BTreeSet};

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property, Quantifier};
use cyrano_memory::{Model, named};
use cyrano_report::FencesReport;
use cyrano_session::frontend::{Tests, Wanted};
use cyrano_session::repair::{Repaired, Task, repair, tasks};
use cyrano_session::{Failure, Files, Options, Runner, Source, Subject, select};

/// Files by name.
pub(crate) struct Memory(pub(crate) BTreeMap<String, String>);

impl Files for Memory {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let text = self.0.get(name).ok_or_else(|| Failure::input(format!("{name}: there is no such file")))?;
        Ok(Source { name: name.to_owned(), text: text.clone(), dir: None })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}

/// What is found for a file under a model.
pub(crate) fn repaired(files: &Memory, file: &str, model: &str, tests: Tests, all: bool) -> Repaired {
    let model = named(model).expect("a model");
    let wanted = Wanted { tests, ..Wanted::default() };
    let subjects = Subject::load(files, file, &[], &wanted, None).expect("it compiles");
    let models = std::slice::from_ref(&model);
    let selected = subjects.iter().map(|subject| select(&subject.case, &[], models, files).expect("checks")).collect();
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let tasks = tasks(&runner, &subjects, selected, false).unwrap_or_else(|_| panic!("{file} can be repaired"));
    let [(model, aims)] = &tasks[..] else { panic!("one model") };
    let task = Task { aims, model, all, weights: &[] };
    repair(&task, &runner, &()).unwrap_or_else(|_| panic!("{file} on {} is repaired or not", model.name))
}

/// One way to fill a slot: what the report calls it, what is written, its cost and what it orders, as bits.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) cost: u32,
    pub(crate) bits: u32,
}

/// A change: the line, and what the report calls it.
pub(crate) type Change = (usize, String, String);

/// A slot of a text.
#[derive(Clone)]
pub(crate) struct Slot {
    /// Where the text for it goes.
    pub(crate) range: std::ops::Range<usize>,
    pub(crate) line: usize,
    pub(crate) thread: String,
    pub(crate) ways: Vec<Way>,
}

/// A text with slots, none of which overlap.
pub(crate) struct Template {
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) slots: Vec<Slot>,
}

impl Template {
    fn filled(&self, choice: &[usize]) -> String {
        let (mut text, mut done) = (String::new(), 0);
        for (slot, way) in self.slots.iter().zip(choice).filter(|(_, way)| **way > 0) {
            text.push_str(&self.text[done..slot.range.start]);
            text.push_str(&slot.ways[way - 1].text);
            done = slot.range.end;
        }
        text + &self.text[done..]
    }

    fn cost(&self, choice: &[usize]) -> u32 {
        self.slots.iter().zip(choice).filter(|(_, way)| **way > 0).map(|(slot, way)| slot.ways[way - 1].cost).sum()
    }

    fn changes(&self, choice: &[usize]) -> BTreeSet<Change> {
        let used = self.slots.iter().zip(choice).filter(|(_, way)| **way > 0);
        used.map(|(slot, way)| (slot.line, slot.thread.clone(), slot.ways[way - 1].kind.to_owned())).collect()
    }

    /// Every choice: for each slot nothing, or one of its ways from 1.
    fn choices(&self) -> Vec<Vec<usize>> {
        let more = |choices: Vec<Vec<usize>>, slot: &Slot| {
            let extended = choices
                .iter()
                .flat_map(|choice| (0..=slot.ways.len()).map(move |way| [choice.as_slice(), &[way]].concat()));
            extended.collect()
        };
        self.slots.iter().fold(vec![Vec::new()], more)
    }

    /// Whether one choice is within another: everywhere at most as strong.
    fn within(&self, less: &[usize], more: &[usize]) -> bool {
        let bits = |slot: &Slot, way: usize| if way == 0 { 0 } else { slot.ways[way - 1].bits };
        self.slots
            .iter()
            .zip(less.iter().zip(more))
            .all(|(slot, (less, more))| bits(slot, *less) & !bits(slot, *more) == 0)
    }

    /// The choices that are correct by the reference and have no other correct one within them.
    fn minimal(&self, model: &Model) -> Vec<Vec<usize>> {
        let correct: Vec<Vec<usize>> =
            self.choices().into_iter().filter(|choice| is_correct(self.file, &self.filled(choice), model)).collect();
        let least = |choice: &&Vec<usize>| !correct.iter().any(|less| less != *choice && self.within(less, choice));
        correct.iter().filter(least).cloned().collect()
    }

    /// The search finds exactly the minimal choices, a cheapest one first, and writes it.
    pub(crate) fn check(&self, model: &str) -> FencesReport {
        let files = Memory([(self.file.to_owned(), self.text.clone())].into());
        let Repaired { report, text } = repaired(&files, self.file, model, Tests::Declared, true);
        let minimal = self.minimal(&named(model).expect("a model"));
        let told = format!("{} on {model}:\n{}\n{:?}", self.file, self.text, report.sets);
        if minimal.is_empty() {
            assert_eq!(report.verdict, "irreparable", "{told}");
            return report;
        }
        if minimal == [vec![0; self.slots.len()]] {
            assert_eq!(report.verdict, "already-correct", "{told}");
            return report;
        }
        assert_eq!((report.verdict, report.complete, report.minimal), ("repaired", true, true), "{told}");
        let changes = |set: &Vec<cyrano_report::FenceInfo>| {
            set.iter().map(|info| (info.line, info.program.clone().unwrap_or_default(), info.kind.clone())).collect()
        };
        let found: Vec<BTreeSet<Change>> = report.sets.iter().map(changes).collect();
        let expected: BTreeSet<BTreeSet<Change>> = minimal.iter().map(|choice| self.changes(choice)).collect();
        assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected, "{told}");
        let cost = |set: &BTreeSet<Change>| {
            minimal.iter().find(|choice| self.changes(choice) == *set).map(|choice| self.cost(choice))
        };
        let cheapest = minimal.iter().map(|choice| self.cost(choice)).min();
        assert_eq!(cost(&found[0]), cheapest, "{told}");
        let text = text.expect("a repaired text");
        assert!(is_correct(self.file, &text, &named(model).expect("a model")), "{text}");
        report
    }
}

fn compile(file: &str, text: &str) -> Program {
    match file.ends_with(".litmus") {
        true => cyrano_litmus::compile(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program,
        false => cyrano_rml::compile(text, file, &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}")),
    }
}

/// What the reference says: whether the outcome that a test is about cannot be.
fn is_correct(file: &str, text: &str, model: &Model) -> bool {
    let program = compile(file, text);
    let property = &program.checks[0].property;
    let query = Query::new(&program, model, Question::Holds(property)).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let verdict = Interp.ask(query, &Limits::default(), &()).verdict;
    assert!(matches!(verdict, Verdict::Verified | Verdict::Violated), "{verdict:?}\n{text}");
    let witness = matches!(property, Property::Final { quantifier: Quantifier::Exists, .. });
    (verdict == Verdict::Verified) != witness
}
