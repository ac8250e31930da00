//! Arithmetic, logic, flags.

use cyrano_ir::{BinOp, Diagnostic, IntType};

use super::operand::Operand;
use crate::asm::cell::Cell;
use crate::asm::flags::{Cc, Kind};
use crate::asm::instr::{Step, Value};
use crate::code::signed;
use crate::cursor::Parse;

/// An operation on two values.
#[derive(Clone, Copy)]
struct Binary {
    op: BinOp,
    /// Whether the second value is complemented.
    not: bool,
    flags: Kind,
}

const OPERATIONS: [(&str, Binary); 8] = {
    const fn of(op: BinOp, not: bool, flags: Kind) -> Binary {
        Binary { op, not, flags }
    }
    [
        ("ADD", of(BinOp::Add, false, Kind::AddNoCarry)),
        ("SUB", of(BinOp::Sub, false, Kind::Sub)),
        ("AND", of(BinOp::BitAnd, false, Kind::LogicNoCarry)),
        ("ORR", of(BinOp::BitOr, false, Kind::LogicNoCarry)),
        ("EOR", of(BinOp::BitXor, false, Kind::LogicNoCarry)),
        ("BIC", of(BinOp::BitAnd, true, Kind::LogicNoCarry)),
        ("ORN", of(BinOp::BitOr, true, Kind::LogicNoCarry)),
        ("EON", of(BinOp::BitXor, true, Kind::LogicNoCarry)),
    ]
};

impl Binary {
    fn named(name: &str) -> Option<Self> {
        OPERATIONS.into_iter().find(|(known, _)| *known == name).map(|(_, binary)| binary)
    }

    fn result(self, a: Value, b: Value, bits: u8) -> (Value, Value) {
        // A shift to the left may leave the width; flags are about what stays in it.
        let within = |value: Value| if value.fits(bits) { value } else { Value::wrap(signed(bits), value) };
        let b = within(if self.not { Value::binary(BinOp::BitXor, b, Value::Const(-1)) } else { b });
        let value = within(Value::binary(self.op, a, b.clone()));
        (b, value)
    }
}

fn set(dst: Operand, value: Value) -> Vec<Step> {
    dst.register.map(|dst| Step::Set { dst, value }).into_iter().collect()
}

/// What the instruction of this name does, if there is one.
pub(super) fn steps(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    let plain = name.strip_suffix('S').filter(|plain| matches!(*plain, "ADD" | "SUB" | "AND" | "BIC"));
    let comparing = match name {
        "CMP" => Some("SUB"),
        "CMN" => Some("ADD"),
        "TST" => Some("AND"),
        _ => None,
    };
    if let Some(operation) = comparing.and_then(Binary::named) {
        let a = cell.arm_register()?;
        return operation_on(operation, None, a, true, cell).map(Some);
    }
    if let Some(operation) = Binary::named(plain.unwrap_or(name)) {
        let dst = cell.arm_register()?;
        cell.expect(",")?;
        let a = cell.arm_register_of(dst.bits)?;
        return operation_on(operation, Some(dst), a, plain.is_some(), cell).map(Some);
    }
    match name {
        "MOV" | "MOVZ" | "MVN" | "NEG" => moved(name, cell).map(Some),
        "MOVK" => kept(cell).map(Some),
        "LSL" | "LSR" | "ASR" | "MUL" | "MNEG" => shifted(name, cell).map(Some),
        "MADD" | "MSUB" => multiplied(name, cell).map(Some),
        "SXTB" | "SXTH" | "SXTW" | "UXTB" | "UXTH" | "UXTW" => extended(name, cell).map(Some),
        "CSEL" | "CSINC" | "CSINV" | "CSNEG" => selected(name, cell).map(Some),
        "CSET" | "CSETM" => {
            let dst = cell.arm_register()?;
            cell.expect(",")?;
            let holds = selecting(Value::Flags(condition(cell)?, 0));
            let value = if name == "CSET" { holds } else { Value::binary(BinOp::Sub, Value::Const(0), holds) };
            Ok(Some(set(dst, value)))
        }
        _ => Ok(None),
    }
}

/// The operands behind the first two registers, and what comes of them.
fn operation_on(
    operation: Binary,
    dst: Option<Operand>,
    a: Operand,
    flags: bool,
    cell: &mut Cell<'_, '_>,
) -> Parse<Vec<Step>> {
    cell.expect(",")?;
    let (bits, a) = (a.bits, a.value());
    let b = cell.arm_second(bits)?;
    let (b, value) = operation.result(a.clone(), b, bits);
    let mut steps = Vec::new();
    if flags {
        // Before the result is written, which may be one of the operands.
        steps.push(Step::Flags { a, b, value: value.clone(), kind: operation.flags, bits, bank: 0 });
    }
    steps.extend(dst.into_iter().flat_map(|dst| set(dst, value.clone())));
    Ok(steps)
}

fn moved(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    cell.expect(",")?;
    let value = cell.arm_second(dst.bits)?;
    let value = match name {
        "MVN" => Value::binary(BinOp::BitXor, value, Value::Const(-1)),
        "NEG" => Value::wrap(signed(dst.bits), Value::binary(BinOp::Sub, Value::Const(0), value)),
        _ => value,
    };
    Ok(set(dst, value))
}

fn shifted(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    cell.expect(",")?;
    let (bits, a) = (dst.bits, cell.arm_register_of(dst.bits)?.value());
    cell.expect(",")?;
    let b =
        if cell.arm_is_constant() { Value::Const(cell.arm_constant()?) } else { cell.arm_register_of(bits)?.value() };
    if matches!(name, "MUL" | "MNEG") {
        let product = Value::wrap(signed(bits), Value::binary(BinOp::Mul, a, b));
        let negative = || Value::binary(BinOp::Sub, Value::Const(0), product.clone());
        let value = if name == "MUL" { product } else { Value::wrap(signed(bits), negative()) };
        return Ok(set(dst, value));
    }
    let by = Value::binary(BinOp::BitAnd, b, Value::Const(i128::from(bits) - 1));
    let value = match name {
        "LSL" => Value::binary(BinOp::Shl, a, by),
        "LSR" => Value::binary(BinOp::Shr, Value::wrap(IntType { bits, signed: false }, a), by),
        _ => Value::binary(BinOp::Shr, a, by),
    };
    Ok(set(dst, Value::wrap(signed(bits), value)))
}

/// `MOVK W0,#1,LSL #16`: sixteen bits are replaced, the others kept.
fn kept(cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    cell.expect(",")?;
    let constant = cell.arm_constant()?;
    let by = if cell.eat(",") {
        if !cell.take().is_some_and(|token| token.text.eq_ignore_ascii_case("LSL")) {
            return Err(cell.wrong("expected `LSL`", "here"));
        }
        cell.arm_constant()?
    } else {
        0
    };
    if !(0..i128::from(dst.bits)).contains(&by) || by % 16 != 0 || !(0..1 << 16).contains(&constant) {
        return Err(cell.wrong("expected a constant of 16 bits, shifted by 0, 16, 32 or 48", "in this instruction"));
    }
    let others = Value::Const(signed(dst.bits).wrap(!(0xffff << by)));
    let value = Value::binary(BinOp::BitAnd, dst.value(), others);
    let new = Value::Const(signed(dst.bits).wrap(constant << by));
    Ok(set(dst.clone(), Value::binary(BinOp::BitOr, value, new)))
}

/// `MADD W0,W1,W2,W3`: a product added to a register, or taken from it.
fn multiplied(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    let mut next = || {
        cell.expect(",")?;
        cell.arm_register_of(dst.bits).map(|operand| operand.value())
    };
    let (a, b, c) = (next()?, next()?, next()?);
    let product = Value::wrap(signed(dst.bits), Value::binary(BinOp::Mul, a, b));
    let op = if name == "MADD" { BinOp::Add } else { BinOp::Sub };
    Ok(set(dst.clone(), Value::wrap(signed(dst.bits), Value::binary(op, c, product))))
}

fn extended(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    cell.expect(",")?;
    let value = cell.arm_register_of(32)?.value();
    let bits = match &name[3..] {
        "B" => 8,
        "H" => 16,
        _ => 32,
    };
    Ok(set(dst, Value::wrap(IntType { bits, signed: name.starts_with('S') }, value)))
}

fn condition(cell: &mut Cell<'_, '_>) -> Parse<Cc> {
    let Some(token) = cell.take() else { return Err(cell.wrong("a condition is missing", "behind this")) };
    super::condition(&token.text.to_ascii_uppercase())
        .ok_or_else(|| Diagnostic::new(token.span, format!("there is no condition `{}`", token.text), "this condition"))
}

/// A condition that selects a value: one bit, so that dependencies through it are told apart from others.
fn selecting(holds: Value) -> Value {
    Value::wrap(IntType { bits: 1, signed: false }, holds)
}

/// A choice between two values is no branch.
fn selected(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
    let dst = cell.arm_register()?;
    cell.expect(",")?;
    let yes = cell.arm_register_of(dst.bits)?.value();
    cell.expect(",")?;
    let no = cell.arm_register_of(dst.bits)?.value();
    cell.expect(",")?;
    let condition = condition(cell)?;
    let no = match name {
        "CSINC" => Value::binary(BinOp::Add, no, Value::Const(1)),
        "CSINV" => Value::binary(BinOp::BitXor, no, Value::Const(-1)),
        "CSNEG" => Value::binary(BinOp::Sub, Value::Const(0), no),
        _ => no,
    };
    let yes = Value::binary(BinOp::Mul, selecting(Value::Flags(condition, 0)), yes);
    let other = Value::binary(BinOp::Eq, Value::Flags(condition, 0), Value::Const(0));
    let no = Value::binary(BinOp::Mul, selecting(other), no);
    let value = Value::wrap(signed(dst.bits), Value::binary(BinOp::Add, yes, no));
    Ok(set(dst, value))
}
