//! The width of an access that neither a suffix nor a register says: that of the location where another access or the initial state says it,
//! else 32 bits.

use std::collections::BTreeMap;

use super::ast::{Instr, Mem, Op, Operand, Register, Thread};
use crate::asm;
use crate::ast::{Arch, Init, Value, Var};

/// The register that `CMPXCHG` compares with.
pub(super) fn accumulator(bits: u8) -> Register {
    Register::new("AX", bits)
}

/// Gives every access its width.
pub(super) fn fill(arch: Arch, inits: &[Init], threads: &mut [Thread]) {
    let mut known: BTreeMap<String, u8> = BTreeMap::new();
    let mut pointers: BTreeMap<(usize, String), String> = BTreeMap::new();
    for init in inits {
        match &init.var {
            Var::Loc(name) => {
                let bits = init.ty.as_ref().and_then(|ty| asm::sizes::bits_of(ty, arch).ok());
                known.extend(bits.map(|bits| (name.text.clone(), bits)));
            }
            Var::Reg { thread, name } => {
                if let (Some(Value::Address(to)), Ok(register)) = (&init.value, super::register(arch, name)) {
                    let thread = usize::try_from(*thread).unwrap_or(usize::MAX);
                    pointers.insert((thread, register.name), to.text.clone());
                }
            }
        }
    }
    let place = |thread: usize, mem: &Mem| match mem {
        Mem::Loc(name) => Some(name.text.clone()),
        Mem::Reg(register, _) => pointers.get(&(thread, register.name.clone())).cloned(),
    };
    for (number, thread) in threads.iter().enumerate() {
        for instr in thread.lines.iter().filter_map(|line| line.instr.as_ref()) {
            if let (Some(bits), Some(name)) = (instr.bits, memory(instr).and_then(|mem| place(number, mem))) {
                known.entry(name).or_insert(bits);
            }
        }
    }
    for (number, thread) in threads.iter_mut().enumerate() {
        for instr in thread.lines.iter_mut().filter_map(|line| line.instr.as_mut()) {
            if instr.bits.is_none()
                && let Some(mem) = memory(instr)
            {
                let bits = place(number, mem).and_then(|name| known.get(&name).copied());
                instr.bits = Some(bits.unwrap_or(32));
            }
        }
    }
}

/// The operand in memory.
fn memory(instr: &Instr) -> Option<&Mem> {
    let operands: Vec<&Operand> = match &instr.op {
        Op::Mov { dst, src } | Op::Alu { dst, src, .. } => vec![dst, src],
        Op::Xchg { a, b } | Op::Cmp { a, b } | Op::Test { a, b } => vec![a, b],
        Op::Unary { dst, .. } | Op::Cmpxchg { dst, .. } | Op::Xadd { dst, .. } => vec![dst],
        Op::Cmov { src, .. } => vec![src],
        Op::Jmp { .. } | Op::Jcc { .. } | Op::Fence(_) | Op::Nop => vec![],
    };
    operands.into_iter().find_map(|operand| match operand {
        Operand::Mem(mem) => Some(mem),
        _ => None,
    })
}
