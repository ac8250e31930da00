//! Power: what the instructions of PPC tests do.
//!
//! Registers have 32 bits, or 64 in a test that has an instruction on 64 (`ld`, `std`, `cmpd`, …). `lwarx` and `stwcx.` are exclusive, and
//! the store may fail, which the condition register tells.

mod alu;
mod memory;

use cyrano_ir::{BinOp, Diagnostic};

use crate::asm::cell::Cell;
use crate::asm::flags::{Cc, Kind};
use crate::asm::instr::{Register, Step, Thread, Value};
use crate::asm::{self};
use crate::ast::Arch;
use crate::code::signed;
use crate::cursor::{Cursor, Parse};
use crate::token::Kind as Token;

/// Instructions that only a machine of 64 bits has.
const LONG: [&str; 14] = [
    "ld", "std", "ldx", "stdx", "ldarx", "stdcx.", "cmpd", "cmpdi", "cmpld", "cmpldi", "lwa", "lwax", "extsw", "mulld",
];

/// Reads the threads of a test.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Vec<Thread>, Vec<Diagnostic>> {
    let mut ahead = cursor.clone();
    let mut bits = 32;
    while !ahead.is_end() {
        let token = ahead.take().map_err(|error| vec![error])?;
        if token.kind == Token::Word && LONG.contains(&token.text.to_ascii_lowercase().as_str()) {
            bits = 64;
        }
    }
    asm::read(cursor, Arch::Ppc, |cell| decode(cell, bits))
}

/// A register by its name, of which an initial state or a condition means all bits that the test uses.
pub(crate) fn register(name: &str) -> Option<Register> {
    let digits = name.trim_start_matches('%').strip_prefix(['r', 'R'])?;
    let number: u8 = digits.parse().ok().filter(|number| *number <= 31)?;
    Some(Register::new(format!("r{number}"), 64))
}

/// What the instruction of a cell does.
fn decode(cell: &mut Cell<'_, '_>, bits: u8) -> Parse<Vec<Step>> {
    let Some(token) = cell.take().filter(|token| token.kind == Token::Word) else {
        return Err(cell.wrong("expected an instruction", "here"));
    };
    let name = token.text.to_ascii_lowercase();
    let fence = match name.as_str() {
        "sync" | "hwsync" => Some("sync"),
        "lwsync" => Some("lwsync"),
        "eieio" => Some("eieio"),
        "isync" => Some("isync"),
        _ => None,
    };
    if let Some(fence) = fence {
        return Ok(vec![Step::Fence(fence)]);
    }
    if name == "nop" {
        return Ok(vec![]);
    }
    if let Some(steps) = branch(&name, cell)? {
        return Ok(steps);
    }
    if let Some(steps) = compare(&name, cell, bits)? {
        return Ok(steps);
    }
    if let Some(access) = memory::named(&name) {
        return access.steps(cell, bits);
    }
    alu::steps(&name, cell, bits)?.ok_or_else(|| {
        let message = format!("there is no instruction `{}`, or it is not supported", token.text);
        Diagnostic::new(token.span, message, "not supported")
    })
}

impl Cell<'_, '_> {
    fn ppc_register(&mut self, bits: u8) -> Parse<Register> {
        self.eat("%");
        let Some(token) = self.peek() else { return Err(self.wrong("a register is missing", "behind this")) };
        let Some(register) = register(token.text) else {
            let message = format!("there is no register `{}`", token.text);
            return Err(Diagnostic::new(token.span, message, "expected a register"));
        };
        self.take();
        Ok(Register { bits, ..register })
    }

    /// A register of an address, where `r0` stands for 0, as 0 itself does.
    fn ppc_base(&mut self, bits: u8) -> Parse<Value> {
        if self.eat("0") {
            return Ok(Value::Const(0));
        }
        let register = self.ppc_register(bits)?;
        Ok(if register.name == "r0" { Value::Const(0) } else { Value::Reg(register) })
    }

    /// `cr3,` in front of other operands; else the first condition register.
    fn ppc_bank(&mut self, comma: &str) -> u8 {
        let bank = self.peek().and_then(|token| token.text.strip_prefix("cr")?.parse::<u8>().ok());
        let Some(bank) = bank.filter(|bank| *bank < 8) else { return 0 };
        self.take();
        self.eat(comma);
        bank
    }
}

fn branch(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    let cc = match name {
        "b" => return Ok(Some(vec![Step::Jump(cell.label()?)])),
        "beq" => Cc::E,
        "bne" => Cc::Ne,
        "blt" => Cc::L,
        "bge" => Cc::Ge,
        "bgt" => Cc::G,
        "ble" => Cc::Le,
        _ => return Ok(None),
    };
    // A hint to the machine.
    _ = cell.eat("+") || cell.eat("-");
    let bank = cell.ppc_bank(",");
    Ok(Some(vec![Step::Branch { cond: Value::Flags(cc, bank), to: cell.label()? }]))
}

fn compare(name: &str, cell: &mut Cell<'_, '_>, bits: u8) -> Parse<Option<Vec<Step>>> {
    let Some(rest) = name.strip_prefix("cmp") else { return Ok(None) };
    let (rest, unsigned) = rest.strip_prefix('l').map_or((rest, false), |rest| (rest, true));
    let (rest, immediate) = rest.strip_suffix('i').map_or((rest, false), |rest| (rest, true));
    let width = match rest {
        "w" => 32,
        "d" => 64.min(bits),
        _ => return Ok(None),
    };
    let bank = cell.ppc_bank(",");
    let a = Value::Reg(cell.ppc_register(width)?);
    cell.expect(",")?;
    let b = if immediate { Value::Const(cell.integer()?) } else { Value::Reg(cell.ppc_register(width)?) };
    let (a, b) = if unsigned { (flipped(a, width), flipped(b, width)) } else { (a, b) };
    Ok(Some(vec![compared(a, b, width, bank)]))
}

/// A number with its highest bit changed: unsigned numbers compare like these do as signed ones.
fn flipped(value: Value, bits: u8) -> Value {
    let least = signed(bits).wrap(1 << (bits - 1));
    Value::wrap(signed(bits), Value::binary(BinOp::BitXor, value, Value::Const(least)))
}

/// Sets a condition register after a comparison.
fn compared(a: Value, b: Value, bits: u8, bank: u8) -> Step {
    let value = Value::wrap(signed(bits), Value::binary(BinOp::Sub, a.clone(), b.clone()));
    Step::Flags { a, b, value, kind: Kind::Sub, bits, bank }
}
