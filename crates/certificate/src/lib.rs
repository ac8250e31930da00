//! Certificates: what another program can check without searching.
//!
//! A verdict `verified` of a search says that no reachable state and no step between reachable states is wrong. Its certificate is the set of these states. To
//! check it is no search ([`check()`]): the initial states are in the set, every single step from every state of the set leads into the set, and no
//! state and no step in it contradicts the claim. The steps are those of [`cyrano_interp::steps`], which is written from the axioms and
//! shares nothing with the engine that found the set. So whoever trusts the check need not trust that engine, its reductions or its table of states.
//!
//! **Invariants**
//! - A set that is accepted is a proof, whoever wrote it: nothing in the file is believed but what is claimed, of which program and under which model, and these the
//!   report of the check names. States that nobody reaches do no harm, as long as the set with them is closed and nothing in it is wrong.
//! - What is in a file makes no trouble: a file that is no certificate is an error, never a panic.
//!
//! This crate knows neither the fast engines nor files.

mod blocks;
mod check;
mod every;
mod file;
mod judge;
mod races;
mod serial;
mod show;
mod state;

pub use check::{Checked, Refused, check, saturate};
pub use every::{EveryNumber, provable_for_all};
pub use file::{BadFile, SCHEMA, parse, print};
pub use show::{Shown, ShownThread};
pub use state::{parse as parse_state, print as print_state, print_element, print_view};

use cyrano_criteria::table::ATOMICITY;
use cyrano_engine::configuration::{Forgets, Product};
use cyrano_ir::dataflow::exit_registers;
use cyrano_ir::{Check, Program, Property, Quantifier, Span};
use cyrano_memory::Model;
use cyrano_trace::TestInfo;

/// More states than this are not written.
pub const MOST_STATES: usize = 1 << 19;

/// A claim about a program, and the states that prove it.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Where the program comes from.
    pub origin: Origin,
    /// The program. Its one check is the claim.
    pub program: Program,
    /// For observations, whose serial executions say which are right, if they are not the program's own.
    pub reference: Option<Reference>,
    /// The memory model.
    pub model: Model,
    /// How the states were found.
    pub found: Found,
    /// What is forgotten where.
    pub forgets: Forgets,
    /// The states, one line each ([`print_state`]), ascending; for every number of threads views ([`print_view`]).
    pub states: Vec<Box<str>>,
    /// For a program with families of any number of threads, what its views are.
    pub every_number: Option<EveryNumber>,
}

/// Another program whose observations are compared.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The program.
    pub program: Program,
    /// The source that it comes from; nothing if it is the program itself with its blocks as operations, and so `atomicity` is claimed.
    pub origin: Option<Origin>,
}

/// The source that a program comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The file's name.
    pub file: String,
    /// Its text.
    pub source: String,
    /// The constants that were given another value.
    pub set: Vec<(String, i128)>,
    /// The test that the program stands for, if the file has some.
    pub test: Option<TestInfo>,
    /// What wrote the certificate: its version.
    pub version: String,
}

/// What finding the states took.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The engine.
    pub engine: String,
    /// Seconds until the verdict, with all reductions.
    pub seconds: f64,
    /// The states that were visited for it.
    pub states: u64,
    /// Seconds for the search that wrote the states.
    pub seconds_to_write: f64,
}

impl Certificate {
    /// A certificate of a claim, with states as [`print_state`] writes them.
    pub fn new(
        origin: Origin,
        (program, property): (&Program, &Property),
        reference: Option<Reference>,
        model: &Model,
        found: Found,
        (states, forgets): (Vec<Box<str>>, Forgets),
    ) -> Self {
        let check = Check { property: property.clone(), models: vec![model.name.clone()], span: Span::default() };
        let program = Program { checks: vec![check], ..program.clone().untold() };
        let reference = reference.map(|of| {
            let program = Program { checks: Vec::new(), ..of.program.untold() };
            Reference { program, ..of }
        });
        Self {
            origin,
            program,
            reference,
            model: model.clone(),
            found,
            forgets,
            states: sorted(states),
            every_number: None,
        }
    }

    /// What is claimed.
    pub fn property(&self) -> Option<&Property> {
        self.program.checks.first().map(|check| &check.property)
    }

    /// The name of what is claimed.
    pub fn criterion(&self) -> &'static str {
        match &self.reference {
            Some(Reference { origin: None, .. }) => ATOMICITY,
            _ => self.property().map_or("", Property::criterion),
        }
    }

    /// Forgets what is forgotten where threads stand in a state.
    fn forget(&self, state: &mut Product) {
        for (lane, forgets) in state.at.threads.iter_mut().zip(&self.forgets) {
            let Ok(at) = forgets.binary_search_by_key(&lane.pc, |(pc, _)| *pc) else { continue };
            for register in &forgets[at].1 {
                if let Some(value) = lane.registers.get_mut(register.index()) {
                    *value = cyrano_engine::configuration::Value::Forgotten;
                }
            }
        }
    }
}

/// Whether states can show a property at all; `Err` says why not.
pub fn provable(program: &Program, property: &Property) -> Result<(), String> {
    let why = match property {
        Property::Assertions | Property::Observations(_) | Property::Invariant(_) | Property::Races => return Ok(()),
        Property::CommitAtomicity if hands_on_more(program) => {
            "other checks of this file name registers of final states, so that units hand these on, and a certificate has one check"
        }
        Property::CommitAtomicity => return Ok(()),
        Property::Final { quantifier: Quantifier::Never | Quantifier::Always, .. } => return Ok(()),
        Property::Final { quantifier: Quantifier::Exists, .. } => {
            "a witness shows that something is possible, not a set of states: use --save-trace, and `cyrano replay`"
        }
        Property::Transactions(criterion) if criterion.is_by_conflicts() && !program.has_calls() => return Ok(()),
        Property::Transactions(_) => {
            "what it remembers of histories with values, or of a specification, has no form in a certificate; \
             `opacity` and `strict-serializability` of a memory without values have certificates"
        }
        Property::Progress(_) | Property::Live(_) => {
            "that nothing goes on for ever is shown by a measure that falls along every fair cycle, and a set of states has none"
        }
        Property::Structure(_) => "it compares two sets of histories, and a state has no history",
    };
    Err(format!("there are no certificates for `{}`: {why}", property.criterion()))
}

/// Whether a register is handed on only because another check names it.
fn hands_on_more(program: &Program) -> bool {
    let bare = Program { checks: Vec::new(), ..program.clone() };
    let differs = |thread| {
        let mut own = exit_registers(&bare, thread);
        own.sort_unstable();
        exit_registers(program, thread).into_iter().any(|register| own.binary_search(&register).is_err())
    };
    program.thread_ids().any(differs)
}

fn sorted(mut lines: Vec<Box<str>>) -> Vec<Box<str>> {
    lines.sort_unstable();
    lines.dedup();
    lines
}
