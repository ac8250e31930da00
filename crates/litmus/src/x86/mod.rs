//! Tests in assembly, X86 and X86_64.

pub mod ast;
mod flags;
mod lower;
mod operand;
mod parse;
mod registers;
mod rmw;
mod sizes;
mod usage;

use cyrano_ir::{Diagnostic, FinalVar, IntType, Thread, ThreadId};

use crate::ast::{Arch, Condition, Init, Name, Var};
use crate::code::signed;
use crate::finals::{self, Finals, Resolved};
use crate::layout::Layout;
use ast::Register;
pub(crate) use parse::read;
use registers::Word;

/// Lowers a test: its threads and its condition.
pub(crate) fn lower(
    arch: Arch,
    inits: &[Init],
    threads: &mut [ast::Thread],
    condition: &Condition,
    layout: &mut Layout,
) -> Result<(Vec<Thread>, Finals), Vec<Diagnostic>> {
    crate::few_threads(threads.len(), condition)?;
    sizes::resolve(arch, inits, threads, layout)?;
    for init in inits {
        if let (Var::Loc(name), Some(value)) = (&init.var, &init.value) {
            layout.initialise(name, value);
        }
    }
    let inits = usage::register_inits(inits, threads.len(), arch)?;
    let mut lowered = Vec::new();
    let mut errors = Vec::new();
    for (number, (thread, inits)) in threads.iter().zip(&inits).enumerate() {
        match lower::lower(number as i128, thread, inits, arch, layout) {
            Ok(thread) => lowered.push(thread),
            Err(mut more) => errors.append(&mut more),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    declare(condition, layout);
    let known = layout.clone();
    let finals = finals::lower(condition, &known, lowered.len(), &mut |at, name| {
        resolve(at, name, arch, &mut lowered[at.index()])
    })?;
    let finished = lowered.into_iter().enumerate().map(|(number, mut thread)| {
        for register in &mut thread.code.registers {
            register.name = shown(&register.name, thread.widths.get(&register.name).copied().unwrap_or(32));
        }
        thread.code.finish(format!("P{number}"))
    });
    Ok((finished.collect(), finals))
}

/// A register's name as people know it: `EAX` or `RAX` for `AX`.
fn shown(name: &str, width: u8) -> String {
    match (registers::is_old(name), width) {
        (true, 64) => format!("R{name}"),
        (true, _) => format!("E{name}"),
        (false, 32) if name.starts_with('R') => format!("{name}D"),
        _ => name.to_owned(),
    }
}

/// Makes the locations that only the condition names, as herd does; addresses have to be those of something.
fn declare(condition: &Condition, layout: &mut Layout) {
    use crate::ast::{Prop, Right};
    fn walk(prop: &Prop, layout: &mut Layout) {
        match prop {
            Prop::Const(_) => {}
            Prop::Eq(left, right) => {
                for var in
                    [Some(left), if let Right::Var(var) = right { Some(var) } else { None }].into_iter().flatten()
                {
                    if let Var::Loc(name) = var {
                        layout.number(name);
                    }
                }
            }
            Prop::Not(inner) => walk(inner, layout),
            Prop::And(left, right) | Prop::Or(left, right) | Prop::Implies(left, right) => {
                walk(left, layout);
                walk(right, layout);
            }
        }
    }
    for var in &condition.locations {
        if let Var::Loc(name) = var {
            layout.number(name);
        }
    }
    walk(&condition.prop, layout);
    if let Some(filter) = &condition.filter {
        walk(filter, layout);
    }
}

/// A register by its name in an initial state or condition.
fn register(arch: Arch, name: &Name) -> Result<Register, Diagnostic> {
    let plain = name.text.trim_start_matches('%');
    match registers::lookup(arch, plain) {
        Word::Register(register) => Ok(register),
        Word::Refused(why) => Err(Diagnostic::new(name.span, why, "not supported")),
        Word::Other if name.text.starts_with('%') && arch == Arch::X86 => {
            Ok(Register { name: name.text.clone(), bits: 32 })
        }
        Word::Other => Err(Diagnostic::new(name.span, format!("there is no register `{plain}`"), "not a register")),
    }
}

/// What a name in a condition means in a thread.
fn resolve(thread: ThreadId, name: &Name, arch: Arch, lowered: &mut lower::Lowered) -> Result<Resolved, Diagnostic> {
    let register = register(arch, name)?;
    let width = lowered.widths.get(&register.name).copied().unwrap_or(32);
    let id = lowered.code.register(&register.name);
    // A register of 64 bits that was only used as one of 32 has its upper half clear.
    let (ty, narrowed) = match (register.bits, width) {
        (64, 32) => (IntType { bits: 32, signed: false }, true),
        (32, 64) => (signed(32), true),
        (bits, _) => (signed(bits), false),
    };
    let shown = format!("{}:{}", thread.index(), name.text.trim_start_matches('%'));
    Ok(Resolved { name: shown, var: FinalVar::Reg(thread, id), ty, narrowed })
}
