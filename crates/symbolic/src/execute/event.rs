//! What symbolic execution leaves behind: accesses, units and everything that a question may be about.

use std::ops::Range;

use cyrano_ir::{AccessKind, ArrayId, EvalError, Fence, FenceSet, InstrId, ThreadId};

use crate::execute::eval::{Registers, Taint};
use crate::execute::loops::LoopId;
use crate::execute::value::Value;
use crate::formula::lit::Lit;

/// One access in unrolled code.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) thread: ThreadId,
    pub(crate) instr: InstrId,
    pub(crate) kind: AccessKind,
    /// Whether it is executed.
    pub(crate) guard: Lit,
    pub(crate) address: Address,
    /// What it reads, if it reads.
    pub(crate) read: Option<Value>,
    /// What it writes, and whether it is executed and writes.
    pub(crate) write: Option<(Value, Lit)>,
    /// Whether the section that it belongs to is performed as a whole; where not, nobody else sees what it writes.
    pub(crate) whole: Lit,
    /// The unit of axiom 6 that it belongs to.
    pub(crate) unit: Option<usize>,
    /// Whether it is performed after everything else, to look at final memory, and not part of the execution.
    pub(crate) ghost: bool,
    /// Whether it is no access of its own but the look of the next event at a header, at that event's place (axiom 10).
    pub(crate) looks: bool,
    pub(crate) from: Sources,
}

/// What an access was computed from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The value that it writes or compares with.
    pub(crate) data: Taint,
    /// The value that it writes.
    pub(crate) flow: Taint,
    /// Its address.
    pub(crate) address: Taint,
    /// That it is executed.
    pub(crate) control: Taint,
    /// What it follows by the program's own order, its operands apart (axiom 9).
    pub(crate) follows: Taint,
    /// What a compare-and-swap compares with.
    pub(crate) compared: Taint,
    /// The load-exclusive that a store-exclusive belongs to.
    pub(crate) reserved: Taint,
    /// That a compare-and-swap which succeeds keeps its register, where a model tells that from writing there what it read.
    pub(crate) kept: Option<Lit>,
    /// Whether the value it writes is computed from the one it reads itself.
    pub(crate) computes: bool,
}

/// The words that an access may touch; none if it is a call or a response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Address {
    /// Each with the literal that says that it is this one, in ascending order.
    pub(crate) words: Vec<(u32, Lit)>,
    /// The array and the index, if there is one.
    pub(crate) index: Option<(ArrayId, Value)>,
}

impl Address {
    /// One word.
    pub(crate) fn fixed(word: u32) -> Self {
        Self { words: vec![(word, crate::formula::lit::TRUE)], index: None }
    }

    /// The only word, if there is only one.
    pub(crate) fn single(&self) -> Option<u32> {
        match self.words[..] {
            [(word, _)] => Some(word),
            _ => None,
        }
    }

    /// The literal for a word, if it may be that one.
    pub(crate) fn at(&self, word: u32) -> Option<Lit> {
        let found = self.words.binary_search_by_key(&word, |(word, _)| *word).ok()?;
        Some(self.words[found].1)
    }

    /// Whether two accesses may touch the same word.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.words.iter().any(|(word, _)| other.at(*word).is_some())
    }
}

/// A call of a transactional memory or its response, which has a place in the memory order and no address.
#[derive(Clone, Debug)]
pub(crate) struct Spoken {
    pub(crate) event: usize,
    /// Whether it is a call.
    pub(crate) invokes: bool,
    /// What it names.
    pub(crate) said: Vec<Value>,
}

/// A unit of axiom 6: an atomic section, or under a serial model an operation.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) thread: ThreadId,
    /// Where it ends, for an operation under a serial model: one literal per way to its end.
    pub(crate) ends: Vec<Lit>,
    /// Whether it is an operation under a serial model.
    pub(crate) is_operation: bool,
    pub(crate) events: Vec<usize>,
}

/// A section that a bound or a `limit` may cut off.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) thread: ThreadId,
    /// Whether it is not cut off.
    pub(crate) whole: Lit,
    /// Where it is.
    pub(crate) cuts: Vec<Lit>,
}

/// What matters to the order of a thread's accesses, in program order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    /// This access.
    Access(usize),
    /// A fence, where it is executed, and the unit that it stands in.
    Fence(Lit, FenceSet, Option<usize>),
    /// The fence at this position, if it is there, where it is executed, and the unit that it stands in.
    Optional(Lit, u32, Option<usize>),
}

/// An event of a thread under a model about relations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Placed {
    /// This access.
    Access(usize),
    /// This fence.
    Fence(usize),
}

/// A fence under a model about relations.
#[derive(Clone, Debug)]
pub(crate) struct FenceEvent {
    pub(crate) guard: Lit,
    pub(crate) fence: Fence,
    pub(crate) control: Taint,
}

/// An access as a replay meets it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) guard: Lit,
    pub(crate) instr: InstrId,
    pub(crate) read: Option<Value>,
    /// Whether a store-exclusive succeeds.
    pub(crate) success: Option<Lit>,
    /// Its event; none for the setup thread, whose accesses come first in program order.
    pub(crate) event: Option<usize>,
    /// Whether it finds its object freed, and what is wrong then.
    pub(crate) freed: Option<(Lit, EvalError)>,
}

/// A thread may wait before this section.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) thread: ThreadId,
    pub(crate) instr: InstrId,
    /// Whether it waits.
    pub(crate) waits: Lit,
    pub(crate) registers: Registers,
    /// Whether the section would get stuck on final memory.
    pub(crate) stuck: Lit,
}

/// A thread may stop at this point of a loop after an iteration that changed nothing.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    pub(crate) thread: ThreadId,
    /// Where.
    pub(crate) instr: InstrId,
    /// Whether it does.
    pub(crate) stops: Lit,
    /// What it did in the iteration: events, steps and choices from here to there.
    pub(crate) events: Range<usize>,
    pub(crate) steps: Range<usize>,
    pub(crate) choices: Range<usize>,
    /// The instructions that it came to, among all of the run.
    pub(crate) reached: Range<usize>,
    /// Whether it passed a mark that it is asked to pass.
    pub(crate) passes: Lit,
    /// Whether the next iteration would find what this one found, and so all others.
    pub(crate) settled: Lit,
}

/// What one thread does.
#[derive(Clone, Debug)]
pub(crate) struct ThreadRun {
    pub(crate) items: Vec<Item>,
    /// Accesses and fences in program order, under a model about relations.
    pub(crate) placed: Vec<Placed>,
    pub(crate) steps: Vec<Step>,
    /// The values chosen, where they are.
    pub(crate) choices: Vec<(Lit, Value)>,
    /// Whether it runs to its end, and its registers there.
    pub(crate) halted: Lit,
    pub(crate) registers: Registers,
}

/// A loop of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LoopKey {
    pub(crate) thread: ThreadId,
    pub(crate) id: LoopId,
    pub(crate) head: InstrId,
}

/// What all threads do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// How many instructions were followed.
    pub(crate) instructions: u64,
    pub(crate) events: Vec<Event>,
    pub(crate) units: Vec<Unit>,
    pub(crate) sections: Vec<Section>,
    /// The threads in order.
    pub(crate) threads: Vec<ThreadRun>,
    /// Memory when the setup thread is done.
    pub(crate) initial: Vec<Value>,
    /// Failed assertions.
    pub(crate) failed: Vec<Lit>,
    /// Computations that go wrong.
    pub(crate) errors: Vec<Lit>,
    /// Evaluated assertions.
    pub(crate) asserted: Vec<Lit>,
    /// Instructions that threads come to ([`crate::solve::reached`]).
    pub(crate) reached: Vec<(ThreadId, InstrId, Lit)>,
    /// Loops that go on beyond their bound.
    pub(crate) exceeded: Vec<(LoopKey, Lit)>,
    /// Limits of the program that do not hold.
    pub(crate) limits: Vec<(ThreadId, InstrId, Lit)>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) spins: Vec<Spin>,
    /// Calls and responses, those of a thread in program order.
    pub(crate) spoken: Vec<Spoken>,
    /// Fences, under a model about relations.
    pub(crate) fences: Vec<FenceEvent>,
    /// Whether it is not known which branches some point of the code is in.
    pub(crate) vague_scopes: bool,
    /// Whether a section that may wait was not looked at precisely.
    pub(crate) vague_waits: bool,
    /// Each says that the setup thread waits for ever at one of its conditions.
    pub(crate) setup_waits: Vec<Lit>,
}
