//! Arithmetic and logic. Registers have 64 bits; operations whose name ends with `w` compute with 32 and extend the sign.

use cyrano_ir::{BinOp, IntType};

use super::settable;
use crate::asm::cell::Cell;
use crate::asm::instr::{Step, Value};
use crate::code::signed;
use crate::cursor::Parse;

const LONG: IntType = IntType { bits: 64, signed: true };

/// What the instruction of this name does, if there is one.
pub(super) fn steps(name: &str, cell: &mut Cell<'_, '_>) -> Parse<Option<Vec<Step>>> {
    if matches!(name, "nop" | "pause") {
        return Ok(Some(vec![]));
    }
    if !(matches!(name, "li" | "lui") || unary(name, Value::Const(0)).is_some() || binary(name).is_some()) {
        return Ok(None);
    }
    let dst = cell.riscv_register()?;
    cell.expect(",")?;
    let value = match name {
        "li" => Value::Const(LONG.wrap(cell.integer()?)),
        "lui" => Value::Const(signed(32).wrap(cell.integer()?.wrapping_mul(1 << 12))),
        _ => match binary(name) {
            Some((operation, immediate)) => {
                let left = cell.riscv_source()?;
                let right =
                    if immediate { Value::Const(cell.integer()?) } else { super::value(cell.riscv_register()?) };
                operation.result(left, right)
            }
            None => {
                let operand = super::value(cell.riscv_register()?);
                unary(name, operand).unwrap_or(Value::Const(0))
            }
        },
    };
    Ok(Some(settable(dst).map(|dst| Step::Set { dst, value }).into_iter().collect()))
}

/// An operation with one operand.
fn unary(name: &str, value: Value) -> Option<Value> {
    let zero = Value::Const(0);
    Some(match name {
        "mv" => value,
        "not" => Value::binary(BinOp::BitXor, value, Value::Const(-1)),
        "neg" => Value::wrap(LONG, Value::binary(BinOp::Sub, zero, value)),
        "sext.w" => Value::wrap(signed(32), value),
        "seqz" => Value::binary(BinOp::Eq, value, zero),
        "snez" => Value::binary(BinOp::Ne, value, zero),
        "sltz" => Value::binary(BinOp::Lt, value, zero),
        "sgtz" => Value::binary(BinOp::Gt, value, zero),
        _ => return None,
    })
}

/// An operation with two operands.
#[derive(Clone, Copy)]
struct Binary {
    op: BinOp,
    /// The type of the operands.
    ty: IntType,
}

/// The operation of this name, and whether its second operand is a constant.
fn binary(name: &str) -> Option<(Binary, bool)> {
    let of = |op, signed| Some(Binary { op, ty: IntType { bits: 64, signed } });
    let plain = |name: &str| match name {
        "add" => of(BinOp::Add, true),
        "sub" => of(BinOp::Sub, true),
        "and" => of(BinOp::BitAnd, true),
        "or" => of(BinOp::BitOr, true),
        "xor" => of(BinOp::BitXor, true),
        "mul" => of(BinOp::Mul, true),
        "sll" => of(BinOp::Shl, true),
        "srl" => of(BinOp::Shr, false),
        "sra" => of(BinOp::Shr, true),
        "slt" => of(BinOp::Lt, true),
        "sltu" => of(BinOp::Lt, false),
        _ => None,
    };
    let narrow = |binary: Binary| Binary { ty: IntType { bits: 32, ..binary.ty }, ..binary };
    let immediate = |name: &str| match name {
        "sltiu" => plain("sltu"),
        "subi" | "muli" => None,
        _ => name.strip_suffix('i').and_then(plain),
    };
    let word = |name: &str| matches!(name, "addw" | "subw" | "mulw" | "sllw" | "srlw" | "sraw");
    let word_immediate = |name: &str| matches!(name, "addiw" | "slliw" | "srliw" | "sraiw");
    if word(name) {
        return plain(&name[..name.len() - 1]).map(|binary| (narrow(binary), false));
    }
    if word_immediate(name) {
        return immediate(&name[..name.len() - 1]).map(|binary| (narrow(binary), true));
    }
    plain(name).map(|binary| (binary, false)).or(immediate(name).map(|binary| (binary, true)))
}

impl Binary {
    fn result(self, left: Value, right: Value) -> Value {
        let Self { op, ty } = self;
        let exact = |value: Value| if ty == LONG { value } else { Value::wrap(ty, value) };
        match op {
            BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Value::binary(op, left, right),
            BinOp::Lt => Value::binary(op, exact(left), exact(right)),
            BinOp::Shl | BinOp::Shr => {
                let by = Value::binary(BinOp::BitAnd, right, Value::Const(i128::from(ty.bits) - 1));
                Value::wrap(signed(ty.bits), Value::binary(op, exact(left), by))
            }
            _ => Value::wrap(signed(ty.bits), Value::binary(op, left, right)),
        }
    }
}
