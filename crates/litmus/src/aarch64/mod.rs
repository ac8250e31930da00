//! Arm, 64 bits: what the instructions of AArch64 tests do.
//!
//! `LDAR` is an acquire, `LDAPR` a weaker one, `STLR` a release; what they order is the model's to say. A pair of `LDXR` and `STXR` is
//! exclusive, and the store may fail. `LDADD` and its kin, `SWP` and `CAS` are one read-modify-write. The forms that return nothing, which
//! are also those whose result goes to `WZR`, acquire nothing.

mod alu;
mod atomic;
mod memory;
mod operand;

use cyrano_ir::{BinOp, Diagnostic, Span};

use crate::asm::cell::Cell;
use crate::asm::flags::Cc;
use crate::asm::instr::{Register, Step, Thread, Value};
use crate::asm::{self};
use crate::ast::Arch;
use crate::cursor::{Cursor, Parse};
use crate::token::Kind;

/// Reads the threads of a test.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Vec<Thread>, Vec<Diagnostic>> {
    asm::read(cursor, Arch::AArch64, decode)
}

/// A register by its name: `X1`, `W1`, `SP`.
pub(crate) fn register(name: &str) -> Option<Register> {
    let upper = name.to_ascii_uppercase();
    let bits = match upper.chars().next()? {
        _ if upper == "SP" => return Some(Register::new("SP", 64)),
        'X' => 64,
        'W' => 32,
        _ => return None,
    };
    // The one that is always 0, as a condition may name it.
    if &upper[1..] == "ZR" {
        return Some(Register::new("XZR", bits));
    }
    let number: u8 = upper[1..].parse().ok().filter(|number| *number <= 30)?;
    Some(Register::new(format!("X{number}"), bits))
}

/// What the instruction of a cell does.
fn decode(cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let Some(token) = cell.take().filter(|token| token.kind == Kind::Word) else {
        return Err(cell.wrong("expected an instruction", "here"));
    };
    let name = token.text.to_ascii_uppercase();
    if let Some(steps) = branch(&name, cell)? {
        return Ok(steps);
    }
    if let Some(steps) = barrier(&name, cell)? {
        return Ok(steps);
    }
    if let Some(access) = memory::named(&name) {
        return access.steps(cell);
    }
    if let Some(access) = atomic::named(&name) {
        return access.steps(cell);
    }
    alu::steps(&name, cell)?.ok_or_else(|| unknown(token.text, token.span))
}

fn unknown(name: &str, span: Span) -> Diagnostic {
    let message = format!("there is no instruction `{name}`, or it is not supported");
    Diagnostic::new(span, message, "not supported")
}

fn barrier(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    const DOMAINS: [(&str, &str, &str); 9] = [
        ("SY", "dmb.sy", "dsb.sy"),
        ("LD", "dmb.ld", "dsb.ld"),
        ("ST", "dmb.st", "dsb.st"),
        ("ISH", "dmb.ish", "dsb.ish"),
        ("ISHLD", "dmb.ishld", "dsb.ishld"),
        ("ISHST", "dmb.ishst", "dsb.ishst"),
        ("OSH", "dmb.osh", "dsb.osh"),
        ("OSHLD", "dmb.oshld", "dsb.oshld"),
        ("OSHST", "dmb.oshst", "dsb.oshst"),
    ];
    let steps = match name {
        "DMB" | "DSB" => {
            let word = cell.peek().map(|token| token.text.to_ascii_uppercase()).unwrap_or_default();
            let Some((_, dmb, dsb)) = DOMAINS.into_iter().find(|(domain, ..)| *domain == word) else {
                let known = DOMAINS.map(|(domain, ..)| domain).join(", ");
                return Err(cell.wrong(format!("`{name}` needs one of {known}"), "expected here"));
            };
            cell.take();
            vec![Step::Fence(if name == "DMB" { dmb } else { dsb })]
        }
        "ISB" => {
            cell.eat("SY");
            vec![Step::Fence("isb")]
        }
        "NOP" | "YIELD" => vec![],
        _ => return Ok(None),
    };
    Ok(Some(steps))
}

fn branch(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    let condition = name.strip_prefix("B.").and_then(condition);
    let step = match name {
        "B" => Step::Jump(cell.label()?),
        "CBZ" | "CBNZ" => {
            let value = cell.arm_register()?.value();
            cell.expect(",")?;
            let op = if name == "CBZ" { BinOp::Eq } else { BinOp::Ne };
            Step::Branch { cond: Value::binary(op, value, Value::Const(0)), to: cell.label()? }
        }
        "TBZ" | "TBNZ" => {
            let tested = cell.arm_register()?;
            cell.expect(",")?;
            let bit = cell.arm_constant()?;
            cell.expect(",")?;
            if !(0..i128::from(tested.bits)).contains(&bit) {
                return Err(cell.wrong(format!("there is no bit {bit} in a register of {}", tested.bits), "this bit"));
            }
            let value = Value::binary(BinOp::BitAnd, tested.value(), Value::Const(1 << bit));
            let op = if name == "TBZ" { BinOp::Eq } else { BinOp::Ne };
            Step::Branch { cond: Value::binary(op, value, Value::Const(0)), to: cell.label()? }
        }
        _ => match condition {
            Some(cc) => Step::Branch { cond: Value::Flags(cc, 0), to: cell.label()? },
            None => return Ok(None),
        },
    };
    Ok(Some(vec![step]))
}

/// The condition of this name.
fn condition(name: &str) -> Option<Cc> {
    Some(match name {
        "EQ" => Cc::E,
        "NE" => Cc::Ne,
        "LT" => Cc::L,
        "LE" => Cc::Le,
        "GT" => Cc::G,
        "GE" => Cc::Ge,
        "CC" | "LO" => Cc::B,
        "CS" | "HS" => Cc::Ae,
        "LS" => Cc::Be,
        "HI" => Cc::A,
        "MI" => Cc::S,
        "PL" => Cc::Ns,
        "VS" => Cc::O,
        "VC" => Cc::No,
        _ => return None,
    })
}
