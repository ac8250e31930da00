//! Which registers a thread uses, with how many bits, and which it starts with.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::Diagnostic;

use super::ast::{Op, Operand, Register, Thread};
use super::sizes;
use crate::ast::{Arch, Init, Value, Var};

/// The registers of a thread that have initial values.
pub(crate) type RegisterInits<'i> = Vec<(Register, &'i Init)>;

/// The registers that an initial state gives values to, by thread.
pub(crate) fn register_inits(
    inits: &[Init],
    threads: usize,
    arch: Arch,
) -> Result<Vec<RegisterInits<'_>>, Vec<Diagnostic>> {
    let mut lists: Vec<RegisterInits<'_>> = vec![Vec::new(); threads];
    let mut errors = Vec::new();
    for init in inits {
        let Var::Reg { thread, name } = &init.var else { continue };
        match (usize::try_from(*thread).ok().and_then(|at| lists.get_mut(at)), super::register(arch, name)) {
            (Some(list), Ok(register)) => list.push((register, init)),
            (None, _) => {
                let message = format!("initial state: there is no thread {thread}");
                errors.push(Diagnostic::new(name.span, message, format!("the test has {threads} threads")));
            }
            (_, Err(error)) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(lists) } else { Err(errors) }
}

/// The width in which each register is kept.
pub(super) fn widths(thread: &Thread, inits: &[(Register, &Init)], arch: Arch) -> BTreeMap<String, u8> {
    let mut widths = BTreeMap::new();
    let mut note = |name: &str, bits: u8| {
        let width = widths.entry(name.to_owned()).or_insert(32);
        *width = bits.max(*width);
    };
    for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
        for register in sizes::registers(instr) {
            note(&register.name, register.bits);
        }
    }
    for (register, init) in inits {
        let needed = match &init.value {
            Some(Value::Address(_)) if arch == Arch::X86_64 => 64,
            Some(Value::Int(value)) if register.bits == 64 && i32::try_from(*value).is_err() => 64,
            Some(Value::Int(value)) if register.bits == 64 && *value < 0 => 64,
            _ => 32,
        };
        note(&register.name, needed);
    }
    widths
}

/// The registers that a thread writes.
pub(super) fn written(thread: &Thread) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
        let mut note = |operand: &Operand| {
            if let Operand::Reg(register) = operand {
                names.insert(register.name.clone());
            }
        };
        match &instr.op {
            Op::Mov { dst, .. } | Op::Alu { dst, .. } | Op::Unary { dst, .. } => note(dst),
            Op::Xchg { a, b } => {
                note(a);
                note(b);
            }
            Op::Xadd { src, .. } => _ = names.insert(src.name.clone()),
            Op::Cmpxchg { .. } => _ = names.insert("AX".to_owned()),
            Op::Cmov { dst, .. } => _ = names.insert(dst.name.clone()),
            _ => {}
        }
    }
    names
}
