//! What a serial run of atomic blocks has come to (`docs/atomicity.md`): the part of a state that judges commit-atomicity.

use cyrano_ir::{InstrId, Program};

use super::{Lane, Value};

/// The serial run of the units that have committed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Serial {
    /// The ways in which it can have gone, each once.
    pub ways: Vec<Way>,
    /// For each thread the choices that it made outside of blocks and that the serial run has yet to make.
    pub chosen: Vec<Vec<i128>>,
}

/// One way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Way {
    /// Memory.
    pub memory: Vec<i128>,
    /// The threads.
    pub threads: Vec<Copied>,
}

/// A thread in a serial run, which stands between units.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Copied {
    /// Its next instruction.
    pub pc: InstrId,
    /// Its registers; those that nothing reads any more are forgotten.
    pub registers: Vec<Value>,
    /// What its units handed on that the thread itself has yet to hand on, the oldest first.
    pub owed: Vec<HandedOn>,
}

/// What a unit hands on: its last instruction, and the values of registers.
pub type HandedOn = (InstrId, Vec<i128>);

/// A thread by itself, as views have it; the serial run of views has one way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Single {
    /// Where it stands.
    pub lane: Lane,
    /// For commit-atomicity, where it stands in the serial run, and the choices that it has yet to make there.
    pub serial: Option<(Copied, Vec<i128>)>,
}

/// What the threads of a view share of the serial run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedRun {
    /// Memory.
    pub memory: Vec<i128>,
    /// How many members are in a block; from some number on, at least so many.
    pub inside: usize,
}

impl Serial {
    /// What is wrong with it as the serial run of this program, if anything.
    pub fn fits(&self, program: &Program) -> Result<(), String> {
        let copied = |(copy, thread): (&Copied, &cyrano_ir::Thread)| {
            let settled = |value: &Value| !matches!(value, Value::Pending(_));
            copy.pc.index() < thread.code.len()
                && copy.registers.len() == thread.registers.len()
                && copy.registers.iter().all(settled)
        };
        let way = |way: &Way| {
            way.memory.len() == program.locations.len()
                && way.threads.len() == program.threads.len()
                && way.threads.iter().zip(&program.threads).all(copied)
        };
        if self.chosen.len() == program.threads.len() && self.ways.iter().all(way) {
            return Ok(());
        }
        Err("the serial run is not one of this program".into())
    }
}
