//! From a model of the formula to an execution: each thread is run again with the values that its loads returned.
//!
//! The formula says which accesses are executed, what they read, what is chosen and in which order accesses are performed; everything else
//! follows by running the program. So what is reported does not depend on how expressions were encoded.

use std::collections::BTreeMap;

use cyrano_engine::{Access, Blocked, Execution, Violation};
use cyrano_ir::{AccessKind, Change, EvalError, InstrId, LocalExpr, Op, Place, Program, RegId, Tags, ThreadId};

use crate::execute::event::Wait;
use crate::formula::encode::Encoding;
use crate::formula::lit::Lit;
use crate::formula::optional::same_section;
use crate::solve::relations::relations;

/// A thread that runs this long without an access is left where it is.
const INSTRUCTIONS: usize = 1_000_000;

/// An execution, and what goes wrong in it.
pub(crate) struct Decoded {
    pub(crate) execution: Execution,
    /// An assertion that fails or a computation that goes wrong.
    pub(crate) violation: Option<Violation>,
    /// The threads that wait.
    pub(crate) blocked: Vec<Blocked>,
    /// The place of each event in the order that is told, from 1 on, under a model about relations.
    pub(crate) numbers: Vec<usize>,
    /// What each thread said, by the number of the access.
    pub(crate) said: Vec<BTreeMap<u32, Said>>,
}

/// A call or a response: the instruction and the values that it names.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) instr: InstrId,
    pub(crate) values: Vec<i128>,
}

/// Reads a model. None if the program does not do what the model says: a bug of this engine.
///
/// Where the program has optional fences, `shown` is the one that has those that were chosen: what goes wrong is told by its instructions. Fences are neither accesses nor choices,
/// so both are numbered alike in the two programs.
pub(crate) fn decode(
    program: &Program,
    shown: Option<&Program>,
    encoding: &Encoding,
    value: &dyn Fn(Lit) -> bool,
) -> Option<Decoded> {
    let mut execution = Execution::default();
    let mut accesses: Vec<Option<Access>> = vec![None; encoding.run.events.len()];
    let mut numbers = vec![0; encoding.run.events.len()];
    let relational = encoding.relational.as_deref();
    let (mut violation, mut said) = (None, Vec::new());
    for (thread, run) in program.thread_ids().zip(&encoding.run.threads) {
        let choices = run.choices.iter().filter(|(guard, _)| value(*guard)).map(|(_, choice)| choice.read(value));
        let choices: Vec<i128> = choices.collect();
        let steps = run.steps.iter().filter(|step| value(step.guard));
        let planned: Vec<Planned> = steps
            .clone()
            .map(|step| Planned {
                instr: Some(step.instr),
                read: step.read.as_ref().map(|read| read.read(value)),
                success: step.success.is_none_or(value),
            })
            .collect();
        let left_out = leaves_out(encoding, thread, value);
        let mut machine = Machine::new(program, thread, &choices, &planned, left_out);
        machine.ends_at_errors = relational.is_some();
        let written = machine.run()?;
        for ((step, plan), (index, written)) in steps.clone().zip(&planned).zip(written.into_iter().enumerate()) {
            let access = Access { thread, index: u32::try_from(index).ok()?, read: plan.read, written };
            match step.event {
                Some(event) if relational.is_some() => {
                    execution.order.push(access);
                    numbers[event] = execution.order.len();
                }
                Some(event) => accesses[event] = Some(access),
                None => execution.order.push(access),
            }
        }
        let mut at = std::mem::take(&mut machine.at);
        said.push(std::mem::take(&mut machine.said));
        let told = match shown {
            None => machine.violation(encoding.asserts),
            Some(shown) => {
                let planned: Vec<Planned> = planned.iter().map(|plan| Planned { instr: None, ..*plan }).collect();
                let mut machine = Machine::new(shown, thread, &choices, &planned, left_out);
                machine.ends_at_errors = relational.is_some();
                machine.run()?;
                at = std::mem::take(&mut machine.at);
                machine.violation(encoding.asserts)
            }
        };
        let told = told.or_else(|| {
            let freed = steps.zip(&at).filter_map(|(step, instr)| Some((step.freed?, *instr)));
            let found = freed.into_iter().find(|((lit, _), _)| value(*lit));
            found.map(|((_, error), instr)| Violation::Error { thread, instr, error })
        });
        violation = violation.or(told);
        execution.choices.push(choices);
    }
    if let Some(relational) = relational {
        execution.relations = Some(Box::new(relations(relational, &encoding.run.events, &numbers, value)));
        let spins = encoding.run.spins.iter().filter(|spin| value(spin.settled));
        let blocked = spins.map(|spin| Blocked { thread: spin.thread, instr: spin.instr }).collect();
        return Some(Decoded { execution, violation, blocked, numbers, said });
    }
    let mut at_node = vec![Vec::new(); encoding.graph.nodes as usize];
    encoding.nodes.iter().zip(accesses).for_each(|(node, access)| at_node[node.index()].extend(access));
    let group = |node: crate::formula::graph::Node| {
        let thread = encoding.threads.get(node.index()).copied().flatten();
        thread.map_or(usize::MAX, ThreadId::index)
    };
    let order = encoding.graph.sorted(value, group)?;
    order.into_iter().for_each(|node| execution.order.append(&mut at_node[node.index()]));
    let waits = encoding.run.waits.iter().filter(|wait| value(wait.waits));
    let at = |wait: &Wait| match shown {
        None => Some(wait.instr),
        Some(shown) => same_section(program, shown, wait.thread, wait.instr),
    };
    let blocked: Option<Vec<Blocked>> =
        waits.map(|wait| Some(Blocked { thread: wait.thread, instr: at(wait)? })).collect();
    Some(Decoded { execution, violation, blocked: blocked?, numbers, said })
}

/// Whether a thread stands before a section: it waits, or the section is cut off.
fn leaves_out(encoding: &Encoding, thread: ThreadId, value: &dyn Fn(Lit) -> bool) -> bool {
    let run = &encoding.run;
    let waits = run.waits.iter().any(|wait| wait.thread == thread && value(wait.waits));
    waits || run.sections.iter().any(|section| section.thread == thread && !value(section.whole))
}

/// An access that the model says is executed.
#[derive(Clone, Copy)]
struct Planned {
    /// Where; none if this is not known.
    instr: Option<InstrId>,
    read: Option<i128>,
    /// Whether a store-exclusive succeeds.
    success: bool,
}

/// One thread that runs again.
struct Machine<'a> {
    program: &'a Program,
    thread: ThreadId,
    registers: Vec<i128>,
    pc: InstrId,
    choices: std::slice::Iter<'a, i128>,
    planned: std::slice::Iter<'a, Planned>,
    written: Vec<Option<i128>>,
    /// The instruction of each access.
    at: Vec<InstrId>,
    said: BTreeMap<u32, Said>,
    /// The assertions that failed, and how many computations had gone wrong before.
    failed: Vec<(InstrId, usize)>,
    errors: Vec<(InstrId, EvalError)>,
    /// Whether the thread is left before a section.
    left_out: bool,
    /// Whether every computation that goes wrong ends the thread, before the access that it is for: so it is under a model about relations.
    ends_at_errors: bool,
    /// Failures and errors before the current section, as long as nothing in it has been performed.
    before_section: Option<(usize, usize)>,
}

/// Whether the thread goes on.
enum Flow {
    On,
    Stop,
    /// The model and the program disagree.
    Odd,
}

impl<'a> Machine<'a> {
    fn new(
        program: &'a Program,
        thread: ThreadId,
        choices: &'a [i128],
        planned: &'a [Planned],
        left_out: bool,
    ) -> Self {
        Self {
            program,
            thread,
            registers: program.thread(thread).registers.iter().map(|register| register.init).collect(),
            pc: InstrId(0),
            choices: choices.iter(),
            planned: planned.iter(),
            written: Vec::new(),
            at: Vec::new(),
            said: BTreeMap::new(),
            failed: Vec::new(),
            errors: Vec::new(),
            left_out,
            ends_at_errors: false,
            before_section: None,
        }
    }

    fn violation(&self, asserts: bool) -> Option<Violation> {
        let thread = self.thread;
        // What comes first is told.
        if let Some((instr, 0)) = self.failed.first().filter(|_| asserts) {
            return Some(Violation::Assertion { thread, instr: *instr });
        }
        let (instr, error) = *self.errors.first()?;
        Some(Violation::Error { thread, instr, error })
    }

    /// Runs as far as the model says; what each access wrote.
    fn run(&mut self) -> Option<Vec<Option<i128>>> {
        for _ in 0..INSTRUCTIONS {
            match self.step() {
                Flow::On => {}
                Flow::Stop => break,
                Flow::Odd => return None,
            }
        }
        if let Some((failed, errors)) = self.before_section.filter(|_| self.left_out) {
            self.failed.truncate(failed);
            self.errors.truncate(errors);
        }
        self.planned.as_slice().is_empty().then(|| std::mem::take(&mut self.written))
    }

    fn eval(&self, expr: &LocalExpr) -> Result<i128, EvalError> {
        expr.value(&*self.registers)
    }

    fn resolve(&self, place: &Place) -> Result<RegId, EvalError> {
        place.register(&*self.registers)
    }

    /// A value whose error stops nothing.
    fn compute(&mut self, expr: &LocalExpr) -> i128 {
        self.eval(expr).unwrap_or_else(|error| {
            self.errors.push((self.pc, error));
            0
        })
    }

    fn fail(&mut self, error: EvalError) -> Flow {
        self.errors.push((self.pc, error));
        Flow::Stop
    }

    fn go(&mut self, to: InstrId) -> Flow {
        self.pc = to;
        Flow::On
    }

    fn step(&mut self) -> Flow {
        let program = self.program;
        let next = InstrId(self.pc.0 + 1);
        let Some(instr) = program.thread(self.thread).code.get(self.pc.index()) else { return Flow::Stop };
        match &instr.op {
            Op::Assign { dst, value } => match (self.resolve(dst), self.eval(value)) {
                (Err(error), _) => return self.fail(error),
                (Ok(_), Err(error)) if self.ends_at_errors => return self.fail(error),
                (Ok(register), _) => self.registers[register.index()] = self.compute(value),
            },
            Op::Access(access) => return self.access(access),
            Op::Choose { dst, .. } => match (self.resolve(dst), self.choices.next()) {
                (Err(error), _) => return self.fail(error),
                (Ok(_), None) => return Flow::Stop,
                (Ok(register), Some(value)) => self.registers[register.index()] = *value,
            },
            Op::Assume(cond) | Op::Limit { cond, .. } => match self.eval(cond) {
                Err(error) => return self.fail(error),
                Ok(0) => return Flow::Stop,
                Ok(_) => {}
            },
            Op::Assert { cond, .. } => match self.eval(cond) {
                Err(error) if self.ends_at_errors => return self.fail(error),
                Err(error) => self.errors.push((self.pc, error)),
                Ok(0) => self.failed.push((self.pc, self.errors.len())),
                Ok(_) => {}
            },
            Op::Branch { cond, then_to, else_to } => match self.eval(cond) {
                Err(error) => return self.fail(error),
                Ok(value) => return self.go(if value != 0 { *then_to } else { *else_to }),
            },
            Op::Jump(target) => return self.go(*target),
            Op::Halt => return Flow::Stop,
            Op::AtomicBegin => self.before_section = Some((self.failed.len(), self.errors.len())),
            Op::AtomicEnd => self.before_section = None,
            Op::Fence(_) | Op::OperationBegin(_) | Op::OperationEnd => {}
            Op::BlockBegin(_) | Op::BlockCommit | Op::BlockEnd(_) | Op::Progress(_) => {}
            op @ (Op::Invoke { .. } | Op::Respond(_)) => return self.call(op),
            Op::Transaction(_) => {}
        }
        self.go(next)
    }

    fn call(&mut self, op: &Op) -> Flow {
        let Some(planned) = self.planned.next() else { return Flow::Stop };
        if planned.instr.is_some_and(|instr| instr != self.pc) {
            return Flow::Odd;
        }
        let values = op.operands().into_iter().map(|value| self.compute(value)).collect();
        let Ok(number) = u32::try_from(self.at.len()) else { return Flow::Odd };
        self.said.insert(number, Said { instr: self.pc, values });
        self.written.push(None);
        self.at.push(self.pc);
        self.go(InstrId(self.pc.0 + 1))
    }

    fn access(&mut self, access: &cyrano_ir::Access) -> Flow {
        let location = access.addr.location(self.program, &*self.registers);
        let register = location.and_then(|_| access.dst.as_ref().map(|dst| self.resolve(dst)).transpose());
        let register = match register {
            Err(error) => return self.fail(error),
            Ok(register) => register,
        };
        let mut operands = access.operands().into_iter().map(|operand| self.eval(operand));
        if let Some(error) = operands.find_map(Result::err).filter(|_| self.ends_at_errors) {
            return self.fail(error);
        }
        let Some(planned) = self.planned.next() else { return Flow::Stop };
        if planned.instr.is_some_and(|instr| instr != self.pc) {
            return Flow::Odd;
        }
        self.before_section = None;
        let written = access.change.as_ref().filter(|_| planned.success);
        let before = self.errors.len();
        let mut written = written.and_then(|change| self.change(change, planned.read.unwrap_or(0)));
        let fails = self.ends_at_errors && self.errors.len() > before;
        written = written.filter(|_| !fails);
        self.written.push(written);
        self.at.push(self.pc);
        let exclusive = access.kind == AccessKind::Store && access.tags.contains(Tags::EXCLUSIVE);
        let told = if exclusive { Some(i128::from(!planned.success)) } else { planned.read };
        if fails {
            return Flow::Stop;
        }
        if let (Some(register), Some(value)) = (register, told) {
            self.registers[register.index()] = value;
        }
        self.go(InstrId(self.pc.0 + 1))
    }

    fn change(&mut self, change: &Change, old: i128) -> Option<i128> {
        match change {
            Change::Set(value) => Some(self.compute(value)),
            Change::Add(value) => {
                let by = self.compute(value);
                Some(old.checked_add(by).unwrap_or_else(|| {
                    self.errors.push((self.pc, EvalError::Overflow));
                    0
                }))
            }
            Change::Cas { expected, new } => {
                let expected = self.compute(expected);
                let new = self.compute(new);
                (old == expected).then_some(new)
            }
        }
    }
}
