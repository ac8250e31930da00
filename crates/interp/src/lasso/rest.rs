//! A thread at a moment of an execution that goes on for ever: after so many issued accesses and so many choices, run on to where it needs another of these.
//!
//! Accesses that are issued and not performed by then are *pending*. Values that wait for them are missing; how they will be computed is kept as a [`Form`], so
//! that two moments can be compared.

use cyrano_engine::{Access, StepFacts};
use cyrano_ir::dataflow::{Class, Clocks};
use cyrano_ir::{Expr, InstrId, LocalExpr, Op, Place, Program, RegId, ThreadId, Ty};
use rustc_hash::FxHashMap;

use crate::error::ReplayError;
use crate::lasso::no_lasso;
use crate::machine::stepped::Step;
use crate::machine::{Code, Machine};

/// A thread that runs this long without an access or a choice, and never twice in the same state, is given up.
const MOST_LOCAL: usize = 10_000_000;

/// A value that may wait for accesses; timestamps keep their class, since they may grow.
pub(super) type Form = Expr<Leaf>;

/// What a form is made of, besides numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Leaf {
    /// What the access of this number will read.
    Event(usize),
    /// A timestamp.
    Clock(Class, i128),
    /// An element of a local array whose index is missing.
    Somewhere,
}

/// How far a thread has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    pub(super) issued: usize,
    pub(super) choices: usize,
}

/// A thread at rest.
pub(super) struct Rest<'p> {
    pub(super) machine: Machine<'p>,
    /// For each register whose value is missing, how it will be computed.
    pub(super) forms: Vec<Option<Form>>,
    /// For each issued access its operands.
    pub(super) operands: Vec<Vec<Form>>,
    /// The accesses that are issued and not performed, ascending.
    pub(super) pending: Vec<usize>,
    /// What is done ahead of the text, out of order.
    pub(super) ahead: Vec<Ahead>,
    /// How many commands its client has chosen, and how many marks it has passed.
    pub(super) commands: usize,
    pub(super) marks: usize,
    /// Whether it runs on without an access for ever; if so, whether it passes marks then.
    pub(super) endless: Option<bool>,
    /// Whether an `assume` or a `limit` fails here, and whether a computation goes wrong.
    pub(super) refused: bool,
    pub(super) failed: bool,
}

/// An access that is performed, or a choice that is made, ahead of the text.
pub(super) struct Ahead {
    pub(super) instr: InstrId,
    /// The register for its value, if it has one, and the value.
    pub(super) value: Option<(RegId, i128)>,
}

/// What belongs to the questions about a thread: where clients choose commands, and which marks count.
pub(super) struct Signs<'a> {
    pub(super) commands: &'a [cyrano_ir::InstrId],
    pub(super) label: Option<&'a str>,
    /// Whether the ends of operations are marks, too.
    pub(super) operations: bool,
}

/// A thread on its way.
pub(super) struct Runner<'a, 'p> {
    rest: Rest<'p>,
    clocks: &'a Clocks,
    performed: FxHashMap<usize, Access>,
    choices: &'a [i128],
    until: Until,
    signs: Signs<'a>,
    /// A state since the last access or choice, the number of marks then, how many instructions have run since the last access or choice, and after how many
    /// another state is remembered.
    seen: Option<(cyrano_ir::InstrId, Vec<Option<i128>>, usize)>,
    idle: usize,
    again: usize,
}

impl<'a, 'p> Runner<'a, 'p> {
    /// A thread of which these steps of the memory order are performed.
    pub(super) fn new(
        code: Code<'p>,
        clocks: &'a Clocks,
        steps: &[StepFacts],
        choices: &'a [i128],
        until: Until,
        signs: Signs<'a>,
    ) -> Self {
        let own = steps.iter().map(|step| step.access).filter(|access| access.thread == code.thread);
        let machine = Machine::new(code);
        let rest = Rest {
            forms: vec![None; machine.registers.len()],
            machine,
            operands: Vec::new(),
            pending: Vec::new(),
            ahead: Vec::new(),
            commands: 0,
            marks: 0,
            endless: None,
            refused: false,
            failed: false,
        };
        let performed = own.map(|access| (access.index as usize, access)).collect();
        Self { rest, clocks, performed, choices, until, signs, seen: None, idle: 0, again: 1 }
    }

    /// Runs it; `visit` sees the thread before each of its choices, with what it will choose.
    pub(super) fn run(mut self, visit: &mut dyn FnMut(&Machine<'p>, i128)) -> Result<Rest<'p>, ReplayError> {
        while !self.has_arrived(visit)? && self.step(visit)? {}
        let Self { mut rest, performed, until, .. } = self;
        let issued = rest.machine.events.len();
        let early = rest.machine.code.own_order.is_none() && performed.keys().any(|index| *index >= issued);
        if issued != until.issued || rest.machine.in_section() || early {
            return no_lasso(format!("{} has not come as far as is claimed", rest.machine.code.thread().name));
        }
        rest.pending = (0..issued).filter(|index| !performed.contains_key(index)).collect();
        rest.failed |= !rest.machine.errors.is_empty();
        Ok(rest)
    }

    /// Whether the thread stands before an access too many, or runs on for ever without one. Sections without an access are passed on the way.
    fn has_arrived(&mut self, visit: &mut dyn FnMut(&Machine<'p>, i128)) -> Result<bool, ReplayError> {
        loop {
            let machine = &self.rest.machine;
            let enough = machine.events.len() >= self.until.issued;
            if machine.in_section() {
                return Ok(false);
            }
            if enough && !machine.at_section() && machine.op().event_kind().is_some() || self.notice_circle()? {
                return Ok(true);
            }
            if !enough || !self.rest.machine.at_section() {
                return Ok(false);
            }
            if !self.pass_section(visit)? {
                return Ok(true);
            }
        }
    }

    /// Passes a section that has no access on the way that the thread takes; false if there is none such.
    fn pass_section(&mut self, visit: &mut dyn FnMut(&Machine<'p>, i128)) -> Result<bool, ReplayError> {
        let mut trial = self.rest.machine.clone();
        let mut choices = Vec::new();
        loop {
            let events = trial.events.len();
            match trial.step() {
                Step::Local | Step::Back(_) => {}
                Step::Choose(_) if trial.choices.len() < self.until.choices => {
                    let Some(value) = self.choices.get(trial.choices.len()) else { return Ok(false) };
                    choices.push((trial.clone(), *value));
                    trial.choose(*value);
                }
                _ => return Ok(false),
            }
            self.count_idle()?;
            if trial.events.len() > events {
                return Ok(false);
            }
            if !trial.in_section() {
                choices.iter().for_each(|(machine, value)| visit(machine, *value));
                if !choices.is_empty() {
                    self.start_anew();
                }
                self.rest.machine = trial;
                return Ok(true);
            }
        }
    }

    /// There was an access or a choice.
    fn start_anew(&mut self) {
        (self.seen, self.idle, self.again) = (None, 0, 1);
    }

    fn count_idle(&mut self) -> Result<(), ReplayError> {
        self.idle += 1;
        if self.idle > MOST_LOCAL {
            return no_lasso(format!("{} runs very long without an access", self.rest.machine.code.thread().name));
        }
        Ok(())
    }

    /// Whether the thread is in a state that it was in since its last access or choice (Brent's algorithm).
    fn notice_circle(&mut self) -> Result<bool, ReplayError> {
        let machine = &self.rest.machine;
        if let Some((pc, registers, marks)) = &self.seen
            && (machine.pc, &machine.registers) == (*pc, registers)
        {
            self.rest.endless = Some(self.rest.marks > *marks);
            return Ok(true);
        }
        if self.idle >= self.again {
            self.again = 2 * self.idle;
            self.seen = Some((machine.pc, machine.registers.clone(), self.rest.marks));
        }
        self.count_idle()?;
        Ok(false)
    }

    /// Takes a step; false if there is none.
    fn step(&mut self, visit: &mut dyn FnMut(&Machine<'p>, i128)) -> Result<bool, ReplayError> {
        let op = self.rest.machine.op();
        let issued = self.rest.machine.events.len();
        let assigned = self.assigned(op);
        let operands = op.access().map(|access| access.operands().into_iter().map(|e| self.form(e)).collect());
        let counts = match op {
            Op::Progress(of) => of.as_deref() == self.signs.label,
            Op::OperationEnd => self.signs.operations,
            _ => false,
        };
        self.rest.marks += usize::from(counts);
        let taken = self.rest.machine.step();
        match taken {
            Step::Read(request) => {
                let value = self.performed.get(&issued).and_then(|access| access.read);
                let missing = request.dst.filter(|_| value.is_none());
                self.rest.machine.read(request, value);
                if let Some(register) = missing {
                    self.rest.forms[register.index()] = Some(Expr::Var(Leaf::Event(issued)));
                }
            }
            Step::Choose(_) => return Ok(self.choose(visit)),
            Step::Local | Step::Back(_) | Step::Stored => {
                if let Some((register, form)) = assigned {
                    self.rest.forms[register.index()] = Some(form);
                }
            }
            Step::Refused | Step::Limited => {
                self.rest.refused = true;
                return Ok(false);
            }
            Step::Failed(_) => {
                self.rest.failed = true;
                return Ok(false);
            }
            Step::Missing | Step::Halted => return Ok(false),
        }
        if self.rest.machine.events.len() > issued {
            // An event of a transaction is no access, and has no operands.
            self.rest.operands.push(operands.unwrap_or_default());
            self.start_anew();
        }
        Ok(true)
    }

    /// The register that an assignment changes, and its new value as a form.
    fn assigned(&self, op: &Op) -> Option<(RegId, Form)> {
        let Op::Assign { dst, value } = op else { return None };
        let register = dst.register(&*self.rest.machine.registers).ok()?;
        Some((register, self.form(value)))
    }

    fn choose(&mut self, visit: &mut dyn FnMut(&Machine<'p>, i128)) -> bool {
        let machine = &mut self.rest.machine;
        let made = machine.choices.len();
        let Some(value) = self.choices.get(made).filter(|_| made < self.until.choices) else { return false };
        self.rest.commands += usize::from(self.signs.commands.contains(&machine.pc));
        visit(machine, *value);
        let chosen = machine.choose(*value);
        self.start_anew();
        !matches!(chosen, Step::Failed(_) | Step::Missing)
    }

    /// An expression over what the registers hold or wait for.
    fn form(&self, expr: &LocalExpr) -> Form {
        match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Unary(op, arg) => Expr::unary(*op, self.form(arg)),
            Expr::Binary(op, left, right) => Expr::binary(*op, self.form(left), self.form(right)),
            Expr::Var(place) => self.place(place),
        }
    }

    fn place(&self, place: &Place) -> Form {
        let machine = &self.rest.machine;
        let Ok(register) = place.register(&*machine.registers) else { return Expr::Var(Leaf::Somewhere) };
        let Some(value) = machine.registers[register.index()] else {
            return self.rest.forms[register.index()].clone().unwrap_or(Expr::Var(Leaf::Somewhere));
        };
        let (program, thread) = (machine.code.program, machine.code.thread);
        match clock(program, self.clocks, thread, register) {
            Some(class) => Expr::Var(Leaf::Clock(class, value)),
            None => Expr::Const(value),
        }
    }
}

/// The class of a register, if it holds timestamps.
pub(super) fn clock(program: &Program, clocks: &Clocks, thread: ThreadId, register: RegId) -> Option<Class> {
    let declared = &program.thread(thread).registers[register.index()];
    (declared.ty == Ty::Timestamp).then(|| clocks.register(thread, register))
}
