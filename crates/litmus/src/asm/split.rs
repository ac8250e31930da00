//! Registers that are used for one thing after another, made into several.
//!
//! `add x1,x1,x2` makes another address of the one in `x1`. Where addresses flow is found out for each register as a whole (`points`), so
//! an address and what is computed from it should not share one. Within a block without labels and jumps, a value that a later
//! instruction of the block overwrites is used nowhere else: it gets a register of its own. So does what a register holds at the start
//! of a thread, if the first block overwrites it. Nothing else changes: every instruction computes what it did, from the same values.

use std::collections::BTreeMap;

use cyrano_ir::BinOp;

use super::RegisterInits;
use super::instr::{Register, Step, Thread, Value};

/// Whether some instruction may add something to an address: `points` says whether a value may be one.
pub(crate) fn adds(thread: &Thread, points: &mut impl FnMut(&Value) -> bool) -> bool {
    fn inside(value: &Value, points: &mut impl FnMut(&Value) -> bool) -> bool {
        match value {
            Value::Binary(BinOp::Add, left, right) => points(left) || points(right),
            Value::Binary(_, left, right) => inside(left, points) || inside(right, points),
            Value::Wrap(_, inner) => inside(inner, points),
            _ => false,
        }
    }
    thread.steps().into_iter().any(|(step, _)| matches!(step, Step::Set { value, .. } if inside(value, points)))
}

/// Gives values registers of their own; `inits` gets the new ones that have a value at the start.
pub(crate) fn split(thread: &mut Thread, inits: &mut RegisterInits<'_>) {
    let mut flat: Vec<(bool, &mut Step)> = Vec::new();
    for line in &mut thread.lines {
        let labelled = !line.labels.is_empty();
        flat.extend(line.steps.iter_mut().enumerate().map(|(at, step)| (labelled && at == 0, step)));
    }
    let mut versions = 0;
    let mut first = true;
    for block in blocks(flat) {
        let mut written: BTreeMap<String, usize> = BTreeMap::new();
        for step in &block {
            if let Some(register) = step.written() {
                *written.entry(register.name.clone()).or_default() += 1;
            }
        }
        // The last one keeps the name, others get new ones; so does what was there before, in the first block.
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        if first {
            for (register, init) in inits.clone() {
                if written.contains_key(&register.name) {
                    versions += 1;
                    let new = format!("{}'{versions}", register.name);
                    names.insert(register.name.clone(), new.clone());
                    inits.push((Register::new(new, register.bits), init));
                }
            }
            first = false;
        }
        for step in block {
            if let Step::Update { old, .. } = step {
                // The new value names the one that is read here.
                names.remove(&old.name);
            }
            rename(step, &names);
            let Some(old) = step.written().map(|register| register.name.clone()) else { continue };
            let left = written.get_mut(&old).expect("it was counted");
            *left -= 1;
            names.remove(&old);
            if *left > 0
                && let Some(dst) = renamed(step)
            {
                versions += 1;
                dst.name = format!("{old}'{versions}");
                names.insert(old, dst.name.clone());
            }
        }
    }
}

/// Steps that follow each other without labels, jumps and conditions in between.
fn blocks(flat: Vec<(bool, &mut Step)>) -> Vec<Vec<&mut Step>> {
    let mut blocks = vec![Vec::new()];
    for (labelled, step) in flat {
        if labelled {
            blocks.push(Vec::new());
        }
        let ends = matches!(step, Step::Branch { .. } | Step::Jump(_) | Step::If { .. });
        // A condition reads registers that nothing renames: what it needs has to have kept its name.
        if ends {
            blocks.push(Vec::new());
            continue;
        }
        blocks.last_mut().expect("there is one").push(step);
    }
    blocks
}

/// The names of the registers that a step reads, changed.
fn rename(step: &mut Step, names: &BTreeMap<String, String>) {
    fn value(of: &mut Value, names: &BTreeMap<String, String>) {
        match of {
            Value::Reg(register) => {
                if let Some(new) = names.get(&register.name) {
                    register.name.clone_from(new);
                }
            }
            Value::Binary(_, left, right) => {
                value(left, names);
                value(right, names);
            }
            Value::Wrap(_, inner) => value(inner, names),
            Value::Const(_) | Value::Address(_) | Value::Flags(..) => {}
        }
    }
    let mem = match step {
        Step::Load { mem, .. } | Step::Store { mem, .. } | Step::Conditional { mem, .. } => Some(mem),
        Step::Update { mem, .. } | Step::Cas { mem, .. } => Some(mem),
        _ => None,
    };
    mem.into_iter().flat_map(|mem| &mut mem.terms).for_each(|term| value(term, names));
    match step {
        Step::Set { value: own, .. } | Step::Store { value: own, .. } | Step::Conditional { value: own, .. } => {
            value(own, names);
        }
        Step::Update { new, .. } => value(new, names),
        Step::Cas { expected, new, .. } => [expected, new].into_iter().for_each(|own| value(own, names)),
        Step::Flags { a, b, value: own, .. } => [a, b, own].into_iter().for_each(|own| value(own, names)),
        Step::Load { .. } | Step::Fence(_) | Step::Branch { .. } | Step::Jump(_) | Step::If { .. } => {}
    }
}

/// The register that a step writes, if it may be another one.
fn renamed(step: &mut Step) -> Option<&mut Register> {
    match step {
        Step::Set { dst, .. } => Some(dst),
        Step::Load { dst, .. } => dst.as_mut(),
        Step::Conditional { status, .. } => status.as_mut(),
        // A read-modify-write's new value may name the register.
        _ => None,
    }
}
