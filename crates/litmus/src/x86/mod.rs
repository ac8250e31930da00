//! X86 and X86_64.

pub mod ast;
mod operand;
mod parse;
mod registers;
mod sizes;
mod steps;

use cyrano_ir::Diagnostic;

use crate::asm;
use crate::ast::{Arch, Init, Name};
use ast::Register;
pub(crate) use parse::read;
use registers::Word;

/// What the threads do, in the form that all machines share. Every access has its width afterwards.
pub(crate) fn steps(arch: Arch, inits: &[Init], threads: &mut [ast::Thread]) -> Vec<asm::instr::Thread> {
    sizes::fill(arch, inits, threads);
    threads.iter().map(|thread| steps::thread(thread, arch)).collect()
}

/// A register's name as people know it: `EAX` or `RAX` for `AX`.
pub(crate) fn shown(name: &str, width: u8) -> String {
    match (registers::is_old(name), width) {
        (true, 64) => format!("R{name}"),
        (true, _) => format!("E{name}"),
        (false, 32) if name.starts_with('R') => format!("{name}D"),
        _ => name.to_owned(),
    }
}

/// A register by its name in an initial state or condition.
pub(crate) fn register(arch: Arch, name: &Name) -> Result<Register, Diagnostic> {
    let plain = name.text.trim_start_matches('%');
    match registers::lookup(arch, plain) {
        Word::Register(register) => Ok(register),
        Word::Refused(why) => Err(Diagnostic::new(name.span, why, "not supported")),
        Word::Other if name.text.starts_with('%') && arch == Arch::X86 => Ok(Register::new(name.text.clone(), 32)),
        Word::Other => Err(Diagnostic::new(name.span, format!("there is no register `{plain}`"), "not a register")),
    }
}
