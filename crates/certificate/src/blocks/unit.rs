//! One unit of a thread, run alone on a memory of its own, from where the thread stands between units to the unit's end, in every possible way.
//!
//! A way that waits, goes wrong or comes back to where another one was leads nowhere new. So all that can come of the unit is found, if it is not too much.

use std::collections::BTreeSet;

use cyrano_engine::configuration::{Copied, HandedOn, Value, Way};
use cyrano_interp::steps::handed_on;
use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{
    Access, Blocks, EvalError, InstrId, LocalExpr, Op, Place, Program, RegId, Registers, Thread, ThreadId,
};

/// A unit may come to so many states.
const MOST: usize = 1 << 18;

/// A program whose units are run.
pub(crate) struct Code<'p> {
    program: &'p Program,
    threads: Vec<Known>,
}

/// What is known about a thread's code.
struct Known {
    blocks: Blocks,
    live: Liveness,
    in_section: Vec<bool>,
}

/// A unit under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    pc: InstrId,
    registers: Vec<Option<i128>>,
    memory: Vec<i128>,
    /// How many choices outside of blocks were made.
    made: usize,
    /// Whether there was an access.
    accessed: bool,
}

/// What comes of an instruction.
enum Next {
    To(Vec<At>),
    /// The unit ends here.
    End(At),
}

/// Why an instruction leads nowhere.
enum Stuck {
    Wrong,
    Forgotten,
}

impl From<EvalError> for Stuck {
    fn from(_: EvalError) -> Self {
        Self::Wrong
    }
}

struct Values<'a>(&'a [Option<i128>]);

impl Registers for Values<'_> {
    type Miss = Stuck;

    fn read(&self, register: RegId) -> Result<i128, Stuck> {
        self.0[register.index()].ok_or(Stuck::Forgotten)
    }
}

impl<'p> Code<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        let live = Liveness::of_program(program);
        let known = |(thread, live): (&Thread, Liveness)| {
            let (mut inside, mut in_section) = (false, Vec::new());
            for instr in &thread.code {
                inside |= matches!(instr.op, Op::AtomicBegin);
                inside &= !matches!(instr.op, Op::AtomicEnd);
                in_section.push(inside);
            }
            Known { blocks: Blocks::of(thread), live, in_section }
        };
        Self { program, threads: program.threads.iter().zip(live).map(known).collect() }
    }

    /// A thread before its first unit.
    pub(crate) fn initial(&self, thread: ThreadId) -> Copied {
        let registers = self.program.thread(thread).registers.iter().map(|register| Some(register.init));
        self.copy(thread, InstrId(0), &registers.collect::<Vec<_>>(), Vec::new())
    }

    /// A thread that stands between units: what nothing reads any more is forgotten.
    fn copy(&self, thread: ThreadId, pc: InstrId, registers: &[Option<i128>], owed: Vec<HandedOn>) -> Copied {
        let live = &self.threads[thread.index()].live;
        let kept = |(at, value): (usize, &Option<i128>)| match value {
            Some(value) if live.is_live(pc, RegId::new(at)) => Value::Known(*value),
            _ => Value::Forgotten,
        };
        Copied { pc, registers: registers.iter().enumerate().map(kept).collect(), owed }
    }

    /// Whether an instruction ends a block.
    pub(crate) fn ends_block(&self, thread: ThreadId, instr: InstrId) -> bool {
        matches!(self.program.instr(thread, instr).op, Op::BlockEnd(_))
    }

    /// Whether a block has no commit point, so that nothing is claimed of it.
    pub(crate) fn never_commits(program: &Program) -> bool {
        program.threads.iter().any(|thread| !Blocks::without_commit(thread).is_empty())
    }

    /// The ways in which a thread's next unit can go from here, each with how many of the choices that lie ahead it made.
    pub(crate) fn run(&self, way: &Way, thread: ThreadId, ahead: &[i128]) -> Result<Vec<(Way, usize)>, String> {
        let copy = &way.threads[thread.index()];
        let value = |value: &Value| match value {
            Value::Known(value) => Some(*value),
            Value::Pending(_) | Value::Forgotten => None,
        };
        let registers = copy.registers.iter().map(value).collect();
        let mut todo = vec![At { pc: copy.pc, registers, memory: way.memory.clone(), made: 0, accessed: false }];
        let (mut known, mut ends) = (BTreeSet::new(), Vec::new());
        while let Some(at) = todo.pop() {
            if !known.insert(at.clone()) {
                continue;
            }
            if known.len() > MOST {
                return Err(format!("a serial run of one block has more than {MOST} states"));
            }
            match self.next(at, thread, ahead) {
                Ok(Next::To(next)) => todo.extend(next),
                Ok(Next::End(at)) => ends.push(at),
                Err(Stuck::Wrong) => {}
                Err(Stuck::Forgotten) => return Err("a serial run looks at a register that was forgotten".into()),
            }
        }
        ends.into_iter().map(|end| Ok((self.ended(way, thread, &end)?, end.made))).collect()
    }

    /// Behind a unit whose last instruction was performed.
    fn ended(&self, way: &Way, thread: ThreadId, end: &At) -> Result<Way, String> {
        let Known { live, .. } = &self.threads[thread.index()];
        let last = InstrId(end.pc.0 - 1);
        let forgotten = || "a unit hands on a register that was forgotten".to_owned();
        let handed = handed_on(self.program.thread(thread), live, last);
        let values = handed.into_iter().map(|register| end.registers[register.index()].ok_or_else(forgotten));
        let handed: HandedOn = (last, values.collect::<Result<_, _>>()?);
        let mut after = Way { memory: end.memory.clone(), ..way.clone() };
        let copy = &mut after.threads[thread.index()];
        *copy = self.copy(thread, end.pc, &end.registers, [copy.owed.as_slice(), &[handed]].concat());
        Ok(after)
    }

    fn next(&self, mut at: At, thread: ThreadId, ahead: &[i128]) -> Result<Next, Stuck> {
        let Known { blocks, in_section, .. } = &self.threads[thread.index()];
        let (pc, inside) = (at.pc, blocks.inside(at.pc));
        at.pc = InstrId(pc.0 + 1);
        match &self.program.instr(thread, pc).op {
            Op::Assign { dst, value } => {
                let value = at.value(value)?;
                at.set(dst, value)?;
            }
            Op::Access(access) => {
                self.access(&mut at, access)?;
                at.accessed = true;
                if !inside && !in_section[pc.index()] {
                    return Ok(Next::End(at));
                }
            }
            Op::AtomicEnd if !inside && at.accessed => return Ok(Next::End(at)),
            Op::BlockEnd(_) => return Ok(Next::End(at)),
            Op::Choose { dst, from } => {
                let outside = (!inside).then(|| ahead.get(at.made).copied().ok_or(Stuck::Wrong)).transpose()?;
                at.made += usize::from(!inside);
                let values = outside.as_ref().map_or(from.as_slice(), std::slice::from_ref);
                let way = |value: &i128| {
                    let mut at = at.clone();
                    at.set(dst, *value).map(|()| at)
                };
                return Ok(Next::To(values.iter().map(way).collect::<Result<_, _>>()?));
            }
            Op::Assume(cond) | Op::Limit { cond, .. } if at.value(cond)? == 0 => return Err(Stuck::Wrong),
            Op::Branch { cond, then_to, else_to } => at.pc = if at.value(cond)? != 0 { *then_to } else { *else_to },
            Op::Jump(to) => at.pc = *to,
            Op::Halt => return Err(Stuck::Wrong),
            // To one thread alone the others are nothing; what an assertion says is for another criterion.
            _ => {}
        }
        Ok(Next::To(vec![at]))
    }

    fn access(&self, at: &mut At, access: &Access) -> Result<(), Stuck> {
        let loc = access.addr.location(self.program, &Values(&at.registers))?.index();
        let old = at.memory[loc];
        let written = match &access.change {
            Some(change) => change.apply(old, |operand| at.value(operand))?,
            None => None,
        };
        access.dst.iter().try_for_each(|dst| at.set(dst, old))?;
        written.into_iter().for_each(|value| at.memory[loc] = value);
        Ok(())
    }
}

impl At {
    fn value(&self, expression: &LocalExpr) -> Result<i128, Stuck> {
        expression.value(&Values(&self.registers))
    }

    fn set(&mut self, place: &Place, value: i128) -> Result<(), Stuck> {
        let register = place.register(&Values(&self.registers))?;
        self.registers[register.index()] = Some(value);
        Ok(())
    }
}
