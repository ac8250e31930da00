//! Tests in the notation of CheckFence (section 4, Fig. 8), and the preamble that says what the letters stand for.
//!
//! `docs/c.md` is the reference. A file is read line by line; every error is reported, with its place in the tests file.

pub(crate) mod all;
mod interface;
mod orders;
mod parse;
mod scan;

use std::fmt;
use std::sync::Arc;

use cyrano_ir::{Diagnostic, Span};

pub use orders::Orders;

use crate::Unit;
use crate::tree::FuncId;
use crate::types::Type;

/// A tests file.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// What is tested, as the file says.
    pub kind: Option<String>,
    /// The tests, in the order of the file.
    pub tests: Vec<Test>,
    pub(crate) interface: Arc<Interface>,
}

/// What tests can call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    pub(crate) init: Vec<Call>,
    pub(crate) operations: Vec<Call>,
}

/// A call of a C function.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The letter, or the function's name for an initialisation.
    pub(crate) name: String,
    pub(crate) func: FuncId,
    pub(crate) args: Vec<Argument>,
    /// The result's name in observations, if it is observed.
    pub(crate) result: Option<String>,
    /// Whether only one of the threads in parentheses may call it.
    pub(crate) single: bool,
}

/// An argument of an operation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Argument {
    /// A constant or the address of a global.
    Fixed(i128),
    /// Any of these; observed.
    In(Vec<i128>),
    /// A new variable; its value after the call is observed, or, with a condition, only if the result is nonzero (`Some(true)`) or zero.
    Out(Type, Option<bool>),
}

/// A test: a sequence of operations, then threads, then a sequence again.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Operations before the threads start.
    pub before: Vec<Step>,
    /// The operations of each thread.
    pub threads: Vec<Vec<Step>>,
    /// Operations when all threads have ended.
    pub after: Vec<Step>,
    /// What it says about the order of calls.
    pub orders: Orders,
    /// Where it stands in the tests file.
    pub span: Span,
    pub(crate) interface: Arc<Interface>,
}

/// A call of an operation in a test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// Which operation, in the order of the tests file.
    pub operation: usize,
    /// Whether retry loops run once.
    pub primed: bool,
}

impl TestFile {
    /// The names of the operations, in the order of the file.
    pub fn operations(&self) -> Vec<&str> {
        self.interface.operations.iter().map(|operation| operation.name.as_str()).collect()
    }

    /// The test with this name.
    pub fn test(&self, name: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.name == name)
    }

    /// A test that nobody declared, from its notation, which is its name; nothing if this is no notation.
    pub fn by_notation(&self, notation: &str) -> Option<Result<Test, Vec<Diagnostic>>> {
        notation.contains('(').then(|| parse::by_notation(notation, &self.interface))
    }
}

impl Test {
    /// The number of operation calls.
    pub fn calls(&self) -> usize {
        self.before.len() + self.threads.iter().map(Vec::len).sum::<usize>() + self.after.len()
    }

    /// An operation that only one thread may call, and that two of them do.
    pub(crate) fn shared(&self) -> Option<&str> {
        let callers = |operation: usize| self.threads.iter().filter(|steps| calls(steps, operation)).count();
        let operations = self.interface.operations.iter().enumerate();
        let mut shared = operations.filter(|(at, operation)| operation.single && callers(*at) > 1);
        shared.next().map(|(_, operation)| operation.name.as_str())
    }
}

/// Whether one of these steps is this operation.
fn calls(steps: &[Step], operation: usize) -> bool {
    steps.iter().any(|step| step.operation == operation)
}

/// The test in the paper's notation, with what comes behind the threads, and what it says about the order of calls: `e ( ed | de ) d`.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |step: &Step| {
            let name = self.interface.operations.get(step.operation).map_or("?", |operation| &operation.name);
            format!("{name}{}", if step.primed { "'" } else { "" })
        };
        // Names of one letter are written without spaces, as in the paper.
        let short = self.interface.operations.iter().all(|operation| operation.name.len() == 1);
        let sequence = |steps: &[Step]| steps.iter().map(name).collect::<Vec<_>>().join(if short { "" } else { " " });
        if !self.before.is_empty() {
            write!(f, "{} ", sequence(&self.before))?;
        }
        let threads: Vec<_> = self.threads.iter().map(|thread| sequence(thread)).collect();
        write!(f, "( {} )", threads.join(" | "))?;
        if !self.after.is_empty() {
            write!(f, " {}", sequence(&self.after))?;
        }
        self.orders.fmt(f)
    }
}

/// Reads a tests file for a C file.
pub fn tests(text: &str, unit: &Unit) -> Result<TestFile, Vec<Diagnostic>> {
    parse::parse(text, unit)
}
