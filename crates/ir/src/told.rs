//! What a reader of an execution is told about the code: labels, calls, transactions, base objects, sets.
//!
//! Front ends fill it in and traces show it; nobody decides anything by it, so the text form of a program leaves it out.
//!
//! **Invariant:** a [`Note`] is about the instruction of that number. Where later passes renumber instructions, an assignment of a constant
//! to the register [`MARK`] stands for an entry of [`Told::marks`] instead: it survives every pass, and nobody reads the register.

use std::sync::Arc;

use crate::ids::{InstrId, LocId, RegId, Span, ThreadId};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program};

/// The register whose assignments are marks.
pub const MARK: &str = "%told";

/// What is told about a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// For each thread what is known about instructions, ascending.
    pub notes: Vec<Vec<(InstrId, Note)>>,
    /// Labels of statements, where instructions have no notes: whatever comes from the statement has its label.
    pub labels: Vec<(Span, String)>,
    /// For each thread what the assignments to [`MARK`] stand for.
    pub marks: Vec<Vec<What>>,
    /// For each thread the calls of base objects.
    pub objects: Vec<Vec<ObjectCall>>,
    /// For each thread its sets and maps.
    pub sets: Vec<Vec<SetRegisters>>,
    /// Locations that stand for nothing in the source, each with the base object that it belongs to.
    pub helpers: Vec<(LocId, LocId)>,
}

/// What is known about an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Note {
    /// The labels in front of it, those of the calls that it is inlined in first: `R10.V03`.
    pub label: Option<Arc<str>>,
    /// What it stands for.
    pub what: Option<What>,
}

/// What an instruction stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A transaction begins, or begins again.
    Begin,
    /// A call of a transactional memory begins.
    Call {
        /// What is called.
        name: String,
        /// With what.
        args: Vec<LocalExpr>,
        /// Whether it is the first of a transaction that runs again after an abort.
        again: bool,
    },
    /// The call returns this, or nothing.
    Return(Option<LocalExpr>),
    /// The transaction has committed.
    Commit,
    /// The transaction was aborted.
    Abort,
    /// It is a part of the call of a base object of this number.
    Object(u32, Part),
}

/// Which part of a base object's call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// Its beginning: other threads may act before its end.
    Begin,
    /// Its end.
    End,
    /// The choice of the value that it returns or leaves, which may be any.
    Choice,
}

/// A call of a base object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectCall {
    /// `read`, `tryLock`; `new Loc` for a record.
    pub method: String,
    /// With what.
    pub args: Vec<LocalExpr>,
    /// What it returns.
    pub answer: Answer,
}

/// What the call of a base object returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Nothing.
    Nothing,
    /// What it read.
    Value,
    /// Whether what it read is not 0.
    Truth,
    /// Whether it wrote.
    Success,
    /// This.
    Is(LocalExpr),
}

/// A set or map in registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetRegisters {
    /// Its name.
    pub name: String,
    /// The number of keys, or of first components.
    pub keys: u32,
    /// The slots of a key.
    pub depth: u32,
    /// Per key: whether it is there, or how many of its slots are taken.
    pub has: RegId,
    /// Per slot: the value. A set of single values has none.
    pub values: Option<RegId>,
    /// Whether its elements are pairs.
    pub pairs: bool,
}

impl Told {
    /// What is known about an instruction.
    pub fn note(&self, thread: ThreadId, instr: InstrId) -> Option<&Note> {
        let notes = self.notes.get(thread.index())?;
        let at = notes.binary_search_by_key(&instr, |(instr, _)| *instr).ok()?;
        Some(&notes[at].1)
    }

    /// The label of an instruction.
    pub fn label(&self, program: &Program, thread: ThreadId, instr: InstrId) -> Option<&str> {
        let noted = self.note(thread, instr).and_then(|note| note.label.as_deref());
        let span = program.instr(thread, instr).span;
        noted.or_else(|| self.labels.iter().find(|(of, _)| *of == span).map(|(_, label)| label.as_str()))
    }

    /// What an instruction stands for.
    pub fn what(&self, program: &Program, thread: ThreadId, instr: InstrId) -> Option<&What> {
        if let Op::Assign { dst: Place::Reg(register), value: LocalExpr::Const(number) } =
            &program.instr(thread, instr).op
            && program.thread(thread).registers[register.index()].name == MARK
        {
            return self.marks.get(thread.index())?.get(usize::try_from(*number).ok()?);
        }
        self.note(thread, instr)?.what.as_ref()
    }
}
