//! Questions about programs of the library, and searches in directories of their own.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use cyrano_disk::{DiskSearch, Settings};
use cyrano_engine::{Answer, Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;

/// A question about a program.
pub struct Case {
    pub name: String,
    pub program: Program,
    pub model: Model,
    pub property: Property,
}

/// A file of the library, a model, and the values of constants.
pub type Instance = (&'static str, &'static str, &'static [(&'static str, i128)]);

/// Instances of the library, right ones and wrong ones, with at least some hundred states each.
pub const INSTANCES: [Instance; 12] = [
    ("litmus/bakery.rml", "sc", &[]),
    ("litmus/peterson.rml", "tso", &[]),
    ("litmus/lamport_fast_fenced.rml", "pso", &[]),
    ("litmus/treiber_ss_ll.rml", "rmo", &[]),
    ("litmus/ticket_lock.rml", "pso", &[]),
    ("litmus/counter_operations.rml", "tso", &[]),
    ("stm/tl2.rml", "sc", &[("threads", 2), ("vars", 1)]),
    ("stm/tl2.rml", "pso", &[("threads", 2), ("vars", 1)]),
    ("stm/dstm_bug_steal_active.rml", "sc", &[]),
    ("stm/mcrt_bug_one_phase.rml", "sc", &[]),
    ("stm/global_ticket.rml", "tso", &[]),
    ("stm/norec.rml", "sc", &[("threads", 2), ("vars", 1)]),
];

/// The first check of a file on a model; opacity if the file has none of its own.
pub fn case(file: &str, model: &str, set: &[(&str, i128)]) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    of_text(file, &text, model, set)
}

pub fn of_text(name: &str, text: &str, model: &str, set: &[(&str, i128)]) -> Case {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = cyrano_rml::compile(text, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let property = program.checks.first().map(|check| check.property.clone());
    let property = property.unwrap_or(Property::Transactions(TxCriterion::Opacity));
    let model = cyrano_memory::named(model).expect("a named model");
    Case { name: name.to_owned(), program, model, property }
}

/// Dining philosophers: a program whose states are packed.
pub fn philosophers(count: i128) -> Case {
    of_text("philosophers", include_str!("../../../../benches/spin/philosophers.rml"), "sc", &[("N", count)])
}

/// A program with threads that are alike and a location with more values than are seen at first, beside so many that do not change: packed states get
/// more bits, and some of these programs' more words.
pub fn growing(pad: i128) -> Case {
    let text = "const P = 1; threads { shared x, f, pad[P]; local r; \
        thread p[2] { loop { atomic { r := x; x := (r * 3 + 1) % 20011; } f := 1; f := 0; } } \
        thread q { loop { atomic { r := x; x := (r * 5 + 2) % 20011; } } } } check assertions on sc;";
    of_text("growing", text, "sc", &[("P", pad)])
}

impl Case {
    pub fn query(&self) -> Query<'_> {
        Query::new(&self.program, &self.model, Question::Holds(&self.property)).expect("a question")
    }

    /// What the explorer says.
    pub fn in_memory(&self, workers: usize) -> Answer {
        explorer().ask(self.query(), &limits(1 << 30, workers), &())
    }
}

/// The explorer that the searches of this crate agree with.
pub fn explorer() -> Explore {
    Explore { ample_sets: false, stubborn_sets: false, ..Explore::default() }
}

pub fn limits(memory: u64, workers: usize) -> Limits {
    Limits { memory, workers, ..Limits::default() }
}

/// A search in a directory.
pub fn search(dir: &Path, spill: bool, resume: bool, every: f64) -> DiskSearch {
    let every = Duration::from_secs_f64(every);
    DiskSearch::new(explorer(), Settings { dir: dir.to_owned(), resume, every, about: Vec::new() }, spill)
}

/// What must be the same in all searches: verdict, and if all states were looked at, how many there are; else the depth and the length of what is shown.
#[derive(PartialEq, Eq, Debug)]
pub struct Facts {
    verdict: &'static str,
    states: Option<u64>,
    transitions: Option<u64>,
    depth: u64,
}

pub fn facts(answer: &Answer) -> Facts {
    let all = answer.execution.is_none();
    Facts {
        verdict: answer.verdict.name(),
        states: all.then_some(answer.stats.states),
        transitions: all.then_some(answer.stats.transitions),
        depth: answer.stats.depth,
    }
}

/// How long the execution is that an answer shows.
pub fn length(answer: &Answer) -> Option<usize> {
    answer.execution.as_ref().map(|execution| execution.order.len())
}

/// The files of a directory, but for the lock.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("the directory is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "lock"));
    files.sort();
    files
}
