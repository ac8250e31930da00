//! RISC-V, 64 bits: what the instructions of RISCV tests do.
//!
//! `.aq` is an acquire and `.rl` a release, also on `lw` and `sw`, which no machine has: herd's tests use them for atomics that only load
//! or store. `lr` and `sc` are exclusive, and `sc` may fail; an AMO is one read-modify-write.

mod alu;
mod memory;

use cyrano_ir::{BinOp, Diagnostic, IntType};

use crate::asm::cell::Cell;
use crate::asm::instr::{Register, Step, Thread, Value};
use crate::asm::{self};
use crate::ast::Arch;
use crate::cursor::{Cursor, Parse};
use crate::token::Kind;

/// Reads the threads of a test.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Vec<Thread>, Vec<Diagnostic>> {
    asm::read(cursor, Arch::Riscv, decode)
}

/// A register by its name: `x5`, `t0`.
pub(crate) fn register(name: &str) -> Option<Register> {
    let number = number(&name.to_ascii_lowercase())?;
    Some(Register::new(format!("x{number}"), 64))
}

/// The number of a register, by its own name or by that of the calling convention.
fn number(name: &str) -> Option<u8> {
    let of = |prefix: &str, most: u8| {
        let digits = name.strip_prefix(prefix)?;
        digits.parse::<u8>().ok().filter(|number| *number <= most && (digits == "0" || !digits.starts_with('0')))
    };
    match name {
        "zero" => return Some(0),
        "ra" => return Some(1),
        "sp" => return Some(2),
        "gp" => return Some(3),
        "tp" => return Some(4),
        "fp" => return Some(8),
        _ => {}
    }
    let saved = of("s", 11).map(|number| if number < 2 { number + 8 } else { number + 16 });
    let temporary = of("t", 6).map(|number| if number < 3 { number + 5 } else { number + 25 });
    of("x", 31).or(saved).or(temporary).or(of("a", 7).map(|number| number + 10))
}

/// The register that is always 0 is none.
fn settable(register: Register) -> Option<Register> {
    (register.name != "x0").then_some(register)
}

fn value(register: Register) -> Value {
    settable(register).map_or(Value::Const(0), Value::Reg)
}

/// What the instruction of a cell does.
fn decode(cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let Some(token) = cell.take().filter(|token| token.kind == Kind::Word) else {
        return Err(cell.wrong("expected an instruction", "here"));
    };
    let name = token.text.to_ascii_lowercase();
    if let Some(steps) = branch(&name, cell)? {
        return Ok(steps);
    }
    if let Some(fence) = fence(&name, cell)? {
        return Ok(vec![Step::Fence(fence)]);
    }
    if let Some(access) = memory::named(&name) {
        return access.steps(cell, token.span);
    }
    alu::steps(&name, cell)?.ok_or_else(|| {
        let message = format!("there is no instruction `{}`, or it is not supported", token.text);
        Diagnostic::new(token.span, message, "not supported")
    })
}

impl Cell<'_, '_> {
    fn riscv_register(&mut self) -> Parse<Register> {
        let Some(token) = self.peek() else { return Err(self.wrong("a register is missing", "behind this")) };
        let Some(register) = register(token.text) else {
            let message = format!("there is no register `{}`", token.text);
            return Err(Diagnostic::new(token.span, message, "expected a register"));
        };
        self.take();
        Ok(register)
    }

    /// A register that is read, and the comma behind it.
    fn riscv_source(&mut self) -> Parse<Value> {
        let register = self.riscv_register()?;
        self.expect(",")?;
        Ok(value(register))
    }
}

fn fence(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<&'static str>> {
    const SETS: [(&str, &str, &str); 9] = [
        ("r", "r", "fence.r.r"),
        ("r", "w", "fence.r.w"),
        ("r", "rw", "fence.r.rw"),
        ("w", "r", "fence.w.r"),
        ("w", "w", "fence.w.w"),
        ("w", "rw", "fence.w.rw"),
        ("rw", "r", "fence.rw.r"),
        ("rw", "w", "fence.rw.w"),
        ("rw", "rw", "fence.rw.rw"),
    ];
    match name {
        "fence.tso" => return Ok(Some("fence.tso")),
        "fence.i" => return Ok(Some("fence.i")),
        "fence" if cell.peek().is_none() => return Ok(Some("fence.rw.rw")),
        "fence" => {}
        _ => return Ok(None),
    }
    let before = cell.take().map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    cell.expect(",")?;
    let after = cell.peek().map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    // Devices are not modelled.
    let memory = |set: &str| set.trim_start_matches('i').trim_start_matches('o').to_owned();
    let (before, after) = (memory(&before), memory(&after));
    let found = SETS.into_iter().find(|(from, to, _)| *from == before && *to == after);
    let Some((.., fence)) = found else {
        return Err(cell.wrong("a fence orders `r`, `w` or `rw` with `r`, `w` or `rw`", "expected `fence rw,w`"));
    };
    cell.take();
    Ok(Some(fence))
}

fn branch(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    if name == "j" {
        return Ok(Some(vec![Step::Jump(cell.label()?)]));
    }
    let Some(rest) = name.strip_prefix('b') else { return Ok(None) };
    let (condition, zero) = match rest {
        "eqz" | "nez" | "ltz" | "gez" | "gtz" | "lez" => (&rest[..2], true),
        _ => (rest, false),
    };
    let (condition, unsigned) = match condition.strip_suffix('u') {
        Some(condition) if matches!(condition, "lt" | "ge" | "gt" | "le") => (condition, true),
        _ => (condition, false),
    };
    let op = match condition {
        "eq" => BinOp::Eq,
        "ne" => BinOp::Ne,
        "lt" => BinOp::Lt,
        "ge" => BinOp::Ge,
        "gt" => BinOp::Gt,
        "le" => BinOp::Le,
        _ => return Ok(None),
    };
    let left = cell.riscv_source()?;
    let right = if zero { Value::Const(0) } else { cell.riscv_source()? };
    let number = |value| if unsigned { Value::wrap(IntType { bits: 64, signed: false }, value) } else { value };
    let cond = Value::binary(op, number(left), number(right));
    Ok(Some(vec![Step::Branch { cond, to: cell.label()? }]))
}
