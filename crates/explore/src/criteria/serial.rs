//! The serial run of one unit in the shadow (see `shadow`): a thread runs alone, one instruction after the other, on a memory of its own.

use cyrano_ir::{Access, EvalError, Op, Place, Program};

use rustc_hash::FxHashSet;

use crate::criteria::shadow::{Copied, Marks, Member};
use crate::reductions::timestamps::{Increment, Timestamps, known};
use crate::semantics::local::{eval, location, register};

/// How long the run of a unit may take.
const PATIENCE: usize = 1 << 20;

/// What a run needs to know.
pub(crate) struct Way<'a> {
    program: &'a Program,
    marks: &'a Marks,
    thread: usize,
    /// The choices outside of blocks that lie ahead.
    chosen: &'a [i128],
    timestamps: Option<&'a Timestamps>,
}

/// What a run used.
#[derive(Default)]
pub(crate) struct Ran {
    /// How many of the choices.
    pub chosen: usize,
    /// Whether it was given up.
    pub too_long: bool,
    /// The timestamps that something was added to.
    pub increments: Vec<Increment>,
}

/// A run under way.
#[derive(Clone)]
struct Runner {
    member: Member,
    chosen: usize,
    accessed: bool,
    steps: usize,
    /// Where it was at the last power of two.
    seen: Option<(u32, Vec<i128>, Vec<i128>)>,
}

/// What comes after an instruction.
enum Flow {
    On,
    /// The unit is done; the instruction at `pc` was its last.
    Done(u32),
    /// This way leads nowhere.
    Nowhere,
}

impl<'a> Way<'a> {
    pub fn new(
        program: &'a Program,
        timestamps: Option<&'a Timestamps>,
        marks: &'a Marks,
        thread: usize,
        chosen: &'a [i128],
    ) -> Self {
        Self { program, marks, thread, chosen, timestamps }
    }

    /// Runs the thread's next unit in every possible way and adds what comes of it.
    pub fn run(&self, member: Member, out: &mut Vec<Member>) -> Ran {
        let mut ran = Ran::default();
        let mut chosen_at = FxHashSet::default();
        let mut todo = vec![Runner { member, chosen: 0, accessed: false, steps: 0, seen: None }];
        while let Some(mut runner) = todo.pop() {
            loop {
                if self.chooses_again(&runner, &mut chosen_at) {
                    break;
                }
                self.note_increments(&runner.member, &mut ran.increments);
                match self.step(&mut runner, &mut todo).unwrap_or(Flow::Nowhere) {
                    Flow::On if runner.repeats(self.thread) => break,
                    Flow::On if runner.steps > PATIENCE => {
                        ran.too_long = true;
                        break;
                    }
                    Flow::On => {}
                    Flow::Nowhere => break,
                    Flow::Done(pc) => {
                        ran.chosen = ran.chosen.max(runner.chosen);
                        self.finish(&mut runner.member, pc);
                        out.push(runner.member);
                        break;
                    }
                }
            }
        }
        ran
    }

    /// Notes which timestamps the next instruction adds to.
    fn note_increments(&self, member: &Member, increments: &mut Vec<Increment>) {
        let Some(timestamps) = self.timestamps else { return };
        let Copied { pc, regs, .. } = &member.threads[self.thread];
        if timestamps.may_add(self.thread, *pc) {
            let op = &self.program.threads[self.thread].code[*pc as usize].op;
            let loc = op.addr().and_then(|addr| location(self.program, addr, regs).ok());
            let memory = loc.map(|loc| member.memory[loc as usize]);
            timestamps.incremented((self.program, self.thread), op, memory, increments, known(regs));
        }
    }

    /// Whether another way has made the choice that comes next, in the same circumstances: a block may choose until it gets through.
    fn chooses_again(&self, runner: &Runner, chosen_at: &mut FxHashSet<(u32, Vec<i128>, Vec<i128>)>) -> bool {
        let copy = &runner.member.threads[self.thread];
        let op = &self.program.threads[self.thread].code[copy.pc as usize].op;
        let chooses = matches!(op, Op::Choose { .. }) && self.marks.inside[copy.pc as usize];
        chooses && !chosen_at.insert((copy.pc, copy.regs.clone(), runner.member.memory.clone()))
    }

    /// Notes what the unit hands on and forgets dead registers.
    fn finish(&self, member: &mut Member, pc: u32) {
        let copy = &mut member.threads[self.thread];
        let handed = self.marks.handed_on[pc as usize].iter().map(|reg| copy.regs[*reg as usize]);
        copy.owed.push(std::iter::once(i128::from(pc)).chain(handed).collect());
        let live = &self.marks.live[copy.pc as usize];
        let mut live = live.iter().peekable();
        for (reg, value) in copy.regs.iter_mut().enumerate() {
            if live.next_if(|live| **live as usize == reg).is_none() {
                *value = 0;
            }
        }
    }

    fn step(&self, runner: &mut Runner, todo: &mut Vec<Runner>) -> Result<Flow, EvalError> {
        let copy = &mut runner.member.threads[self.thread];
        let pc = copy.pc;
        let inside = self.marks.inside[pc as usize];
        copy.pc = pc + 1;
        match &self.program.threads[self.thread].code[pc as usize].op {
            Op::Assign { dst, value } => {
                let value = eval(value, &copy.regs)?;
                set(&mut copy.regs, dst, value)?;
            }
            Op::Access(access) => {
                self.access(runner, access)?;
                runner.accessed = true;
                if !inside && !self.marks.in_section[pc as usize] {
                    return Ok(Flow::Done(pc));
                }
            }
            Op::AtomicEnd if !inside && runner.accessed => return Ok(Flow::Done(pc)),
            Op::BlockEnd(_) => return Ok(Flow::Done(pc)),
            Op::Choose { dst, from } => return self.choose(runner, dst, from, inside, todo),
            Op::Assume(cond) | Op::Limit { cond, .. } => {
                if eval(cond, &copy.regs)? == 0 {
                    return Ok(Flow::Nowhere);
                }
            }
            Op::Branch { cond, then_to, else_to } => {
                copy.pc = if eval(cond, &copy.regs)? != 0 { then_to.0 } else { else_to.0 };
            }
            Op::Jump(to) => copy.pc = to.0,
            Op::Halt => return Ok(Flow::Nowhere),
            Op::Assert { .. }
            | Op::Fence(_)
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::BlockBegin(_)
            | Op::BlockCommit
            | Op::Progress(_)
            | Op::OperationBegin(_)
            | Op::OperationEnd
            | Op::Transaction(_)
            | Op::Invoke { .. }
            | Op::Respond(_) => {}
        }
        Ok(Flow::On)
    }

    fn access(&self, runner: &mut Runner, access: &Access) -> Result<(), EvalError> {
        let Member { memory, threads } = &mut runner.member;
        let regs = &mut threads[self.thread].regs;
        let loc = location(self.program, &access.addr, regs)? as usize;
        let old = memory[loc];
        let written = match &access.change {
            Some(change) => change.apply(old, |operand| eval(operand, regs))?,
            None => None,
        };
        if let Some(dst) = &access.dst {
            set(regs, dst, old)?;
        }
        if let Some(value) = written {
            memory[loc] = value;
        }
        Ok(())
    }

    fn choose(
        &self,
        runner: &mut Runner,
        dst: &Place,
        from: &[i128],
        inside: bool,
        todo: &mut Vec<Runner>,
    ) -> Result<Flow, EvalError> {
        let made = self.chosen.get(runner.chosen);
        let values = match made {
            _ if inside => from,
            Some(made) => {
                runner.chosen += 1;
                std::slice::from_ref(made)
            }
            None => return Ok(Flow::Nowhere),
        };
        let Some((first, others)) = values.split_first() else { return Ok(Flow::Nowhere) };
        for value in others {
            let mut other = runner.clone();
            set(&mut other.member.threads[self.thread].regs, dst, *value)?;
            todo.push(other);
        }
        set(&mut runner.member.threads[self.thread].regs, dst, *first)?;
        Ok(Flow::On)
    }
}

fn set(regs: &mut [i128], dst: &Place, value: i128) -> Result<(), EvalError> {
    let reg = register(dst, regs)?;
    regs[reg as usize] = value;
    Ok(())
}

impl Runner {
    /// Whether it has come back to where it was. The state to compare with is renewed at powers of two.
    fn repeats(&mut self, thread: usize) -> bool {
        self.steps += 1;
        let Member { memory, threads } = &self.member;
        let copy = &threads[thread];
        let same =
            |(pc, regs, seen): &(u32, Vec<i128>, Vec<i128>)| *pc == copy.pc && *regs == copy.regs && *seen == *memory;
        let repeats = self.seen.as_ref().is_some_and(same);
        if self.steps >= 16 && self.steps.is_power_of_two() {
            self.seen = Some((copy.pc, copy.regs.clone(), memory.clone()));
        }
        repeats
    }
}
