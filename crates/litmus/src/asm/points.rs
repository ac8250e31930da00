//! Where addresses flow, and which registers are always 0: what instructions say about it, whatever their order.
//!
//! Both are sound whatever is executed: a register that points nowhere never holds an address, and one that is always 0 is 0 at every
//! point of every execution. `EOR W2,W1,W1` and what is computed from it alone is 0, which makes `ADD X4,X3,X2` a copy of an address.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::BinOp;

use super::RegisterInits;
use super::instr::{Mem, Step, Thread, Value};
use crate::ast::{Init, Value as Initial, Var};
use crate::layout::Layout;

/// Objects by their first cell.
pub(crate) type Objects = BTreeSet<usize>;

/// What is known.
#[derive(Default)]
pub(crate) struct Points {
    /// For each register of each thread the objects that it may point into.
    registers: Vec<BTreeMap<String, Objects>>,
    /// For each object those that its content may point into.
    contents: BTreeMap<usize, Objects>,
    /// The registers that are always 0.
    zero: Vec<BTreeSet<String>>,
    /// The registers that hold the address of one object from beginning to end.
    fixed: Vec<BTreeMap<String, usize>>,
}

impl Points {
    /// Finds out; the locations of the initial state are in `layout`.
    pub(crate) fn new(
        threads: &[Thread],
        registers: &[RegisterInits<'_>],
        inits: &[Init],
        layout: &mut Layout,
    ) -> Self {
        let mut points = Self::default();
        for init in inits {
            if let (Var::Loc(name), values) = (&init.var, init.values()) {
                let own = layout.number(name);
                for value in values {
                    if let Initial::Address(name) = value {
                        points.contents.entry(own).or_default().insert(layout.number(name));
                    }
                }
            }
        }
        for (thread, inits) in threads.iter().zip(registers) {
            let steps = thread.steps();
            let written: BTreeSet<&str> =
                steps.iter().filter_map(|(step, _)| Some(step.written()?.name.as_str())).collect();
            let (mut pointing, mut fixed) = (BTreeMap::new(), BTreeMap::new());
            for (register, init) in inits {
                if let Some(Initial::Address(name)) = &init.value {
                    let object = layout.number(name);
                    pointing.insert(register.name.clone(), Objects::from([object]));
                    if !written.contains(register.name.as_str()) {
                        fixed.insert(register.name.clone(), object);
                    }
                }
            }
            points.registers.push(pointing);
            points.fixed.push(fixed);
            points.zero.push(zero(thread, inits));
        }
        while points.step(threads, layout) {}
        points
    }

    /// The object that a register holds the address of, if it is always the same.
    pub(crate) fn fixed(&self, thread: usize, value: &Value, layout: &mut Layout) -> Option<usize> {
        match value {
            Value::Address(name) => Some(layout.number(name)),
            Value::Reg(register) => self.fixed[thread].get(&register.name).copied(),
            _ => None,
        }
    }

    /// The objects that a value may point into.
    pub(crate) fn value(&self, thread: usize, value: &Value, layout: &mut Layout) -> Objects {
        match value {
            Value::Const(_) | Value::Flags(..) => Objects::new(),
            Value::Reg(register) => self.registers[thread].get(&register.name).cloned().unwrap_or_default(),
            Value::Address(name) => Objects::from([layout.number(name)]),
            Value::Wrap(_, inner) => self.value(thread, inner, layout),
            Value::Binary(BinOp::Sub | BinOp::BitXor, left, right) if left == right => Objects::new(),
            Value::Binary(op, left, right) if !compares(*op) => {
                let mut objects = self.value(thread, left, layout);
                objects.extend(self.value(thread, right, layout));
                objects
            }
            Value::Binary(..) => Objects::new(),
        }
    }

    /// The objects that an access may be to.
    pub(crate) fn targets(&self, thread: usize, mem: &Mem, layout: &mut Layout) -> Objects {
        mem.terms.iter().flat_map(|term| self.value(thread, term, layout)).collect()
    }

    /// Whether a value is always 0.
    pub(crate) fn is_zero(&self, thread: usize, value: &Value) -> bool {
        is_zero(&self.zero[thread], value)
    }

    fn step(&mut self, threads: &[Thread], layout: &mut Layout) -> bool {
        let mut changed = false;
        for (number, thread) in threads.iter().enumerate() {
            for (step, _) in thread.steps() {
                let targets = step.mem().map(|mem| self.targets(number, mem, layout)).unwrap_or_default();
                let reads = !matches!(step, Step::Store { .. } | Step::Conditional { .. });
                let mut got = Objects::new();
                if reads {
                    got.extend(targets.iter().filter_map(|at| self.contents.get(at)).flatten());
                }
                if let Step::Set { value, .. } = step {
                    got = self.value(number, value, layout);
                }
                if let Some(register) = step.written()
                    && !matches!(step, Step::Conditional { .. })
                {
                    changed |= grow(self.registers[number].entry(register.name.clone()).or_default(), got);
                }
                let put = match step {
                    Step::Store { value, .. } | Step::Conditional { value, .. } => Some(value),
                    Step::Update { new, .. } | Step::Cas { new, .. } => Some(new),
                    _ => None,
                };
                if let Some(value) = put {
                    let put = self.value(number, value, layout);
                    for at in &targets {
                        changed |= grow(self.contents.entry(*at).or_default(), put.clone());
                    }
                }
            }
        }
        changed
    }
}

fn compares(op: BinOp) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge | And | Or)
}

fn grow(known: &mut Objects, more: Objects) -> bool {
    let before = known.len();
    known.extend(more);
    known.len() > before
}

/// The registers that are 0 at the start and are given nothing but 0.
fn zero(thread: &Thread, inits: &RegisterInits<'_>) -> BTreeSet<String> {
    let steps = thread.steps();
    let mut zero: BTreeSet<String> =
        steps.iter().flat_map(|(step, _)| step.registers()).map(|register| register.name.clone()).collect();
    for (register, init) in inits {
        if !matches!(init.value, None | Some(Initial::Int(0))) {
            zero.remove(&register.name);
        }
    }
    loop {
        let before = zero.len();
        for (step, _) in &steps {
            let stays = match step {
                Step::Set { value, .. } => is_zero(&zero, value),
                _ => false,
            };
            if let Some(register) = step.written().filter(|_| !stays) {
                zero.remove(&register.name);
            }
        }
        if zero.len() == before {
            return zero;
        }
    }
}

fn is_zero(zero: &BTreeSet<String>, value: &Value) -> bool {
    use BinOp::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};
    match value {
        Value::Const(value) => *value == 0,
        Value::Reg(register) => zero.contains(&register.name),
        Value::Address(_) | Value::Flags(..) => false,
        Value::Wrap(_, inner) => is_zero(zero, inner),
        Value::Binary(op, left, right) => match op {
            Sub | BitXor if left == right => true,
            Add | Sub | BitOr | BitXor => is_zero(zero, left) && is_zero(zero, right),
            BitAnd | Mul => is_zero(zero, left) || is_zero(zero, right),
            Shl | Shr => is_zero(zero, left),
            _ => false,
        },
    }
}
