//! Arithmetic and logic. A name that ends with a dot also compares the result with 0.

use cyrano_ir::BinOp;

use super::compared;
use crate::asm::cell::Cell;
use crate::asm::instr::{Step, Value};
use crate::code::signed;
use crate::cursor::Parse;

/// What the instruction of this name does, if there is one.
pub(super) fn steps(name: &str, cell: &mut Cell<'_, '_>, bits: u8) -> Parse<Option<Vec<Step>>> {
    let (name, records) = name.strip_suffix('.').map_or((name, false), |name| (name, true));
    let known = matches!(name, "li" | "lis" | "mr" | "neg" | "not" | "extsw") || operation(name).is_some();
    if !known {
        return Ok(None);
    }
    let dst = cell.ppc_register(bits)?;
    cell.expect(",")?;
    let exact = |value| Value::wrap(signed(bits), value);
    let value = match name {
        "li" => Value::Const(signed(bits).wrap(cell.integer()?)),
        "lis" => Value::Const(signed(32).wrap(cell.integer()?.wrapping_mul(1 << 16))),
        "mr" => Value::Reg(cell.ppc_register(bits)?),
        "not" => Value::binary(BinOp::BitXor, Value::Reg(cell.ppc_register(bits)?), Value::Const(-1)),
        "neg" => exact(Value::binary(BinOp::Sub, Value::Const(0), Value::Reg(cell.ppc_register(bits)?))),
        "extsw" => Value::Reg(cell.ppc_register(32)?),
        _ => binary(name, cell, bits)?,
    };
    let told = records.then(|| compared(value.clone(), Value::Const(0), bits, 0));
    // The comparison first: the result may be one of the operands.
    Ok(Some(told.into_iter().chain([Step::Set { dst, value }]).collect()))
}

/// The operation of this name, whether its second operand is a constant, and whether `r0` as the first stands for 0.
fn operation(name: &str) -> Option<(BinOp, bool, bool)> {
    Some(match name {
        "add" => (BinOp::Add, false, false),
        "addi" => (BinOp::Add, true, true),
        "sub" | "subf" => (BinOp::Sub, false, false),
        "subi" => (BinOp::Sub, true, true),
        "and" => (BinOp::BitAnd, false, false),
        "andi" => (BinOp::BitAnd, true, false),
        "or" => (BinOp::BitOr, false, false),
        "ori" => (BinOp::BitOr, true, false),
        "xor" => (BinOp::BitXor, false, false),
        "xori" => (BinOp::BitXor, true, false),
        "mullw" | "mulld" => (BinOp::Mul, false, false),
        _ => return None,
    })
}

fn binary(name: &str, cell: &mut Cell<'_, '_>, bits: u8) -> Parse<Value> {
    let Some((op, constant, zero)) = operation(name) else {
        return Err(cell.wrong("expected an operation", "here"));
    };
    let first = if zero { cell.ppc_base(bits)? } else { Value::Reg(cell.ppc_register(bits)?) };
    cell.expect(",")?;
    let second = if constant { Value::Const(cell.integer()?) } else { Value::Reg(cell.ppc_register(bits)?) };
    // `subf` is "subtract from".
    let (first, second) = if name == "subf" { (second, first) } else { (first, second) };
    let value = Value::binary(op, first, second);
    Ok(if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) { Value::wrap(signed(bits), value) } else { value })
}
