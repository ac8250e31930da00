//! Flags: those that some instruction of the thread looks at are kept in registers of their own.

use std::collections::BTreeSet;

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr, RegId, UnOp};

use super::ast::{Cc, Flag, Op, Thread};
use crate::code::{Code, binary, var, wrap};

/// What the flags are computed from.
pub(crate) struct Result<'e> {
    /// The first operand's old value.
    pub(crate) a: &'e LocalExpr,
    /// The second operand.
    pub(crate) b: &'e LocalExpr,
    /// The result, in the operation's width.
    pub(crate) value: &'e LocalExpr,
    pub(crate) kind: Kind,
    pub(crate) bits: u8,
}

/// How carry and overflow come about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Add,
    Sub,
    /// Both are cleared.
    Logic,
    /// Carry stays as it is.
    Inc,
    /// Carry stays as it is.
    Dec,
}

/// The flags that the thread looks at.
pub(crate) fn used(thread: &Thread) -> BTreeSet<Flag> {
    let ops = thread.lines.iter().filter_map(|line| line.instr.as_ref()).map(|instr| &instr.op);
    let conditions = ops.filter_map(|op| match op {
        Op::Jcc { cc, .. } | Op::Cmov { cc, .. } => Some(cc.flags()),
        _ => None,
    });
    conditions.flatten().copied().collect()
}

/// The register of a flag.
pub(crate) fn register(code: &mut Code, flag: Flag) -> RegId {
    code.register(match flag {
        Flag::Zf => "ZF",
        Flag::Sf => "SF",
        Flag::Cf => "CF",
        Flag::Of => "OF",
    })
}

/// Sets the flags after an operation.
pub(crate) fn set(code: &mut Code, used: &BTreeSet<Flag>, result: &Result<'_>) {
    for flag in used {
        if *flag == Flag::Cf && matches!(result.kind, Kind::Inc | Kind::Dec) {
            continue;
        }
        let register = register(code, *flag);
        code.assign(register, value(*flag, result));
    }
}

fn value(flag: Flag, result: &Result<'_>) -> LocalExpr {
    let Result { a, b, value, kind, bits } = result;
    let (a, b, value) = ((*a).clone(), (*b).clone(), (*value).clone());
    let zero = Expr::Const(0);
    match (flag, kind) {
        (Flag::Zf, Kind::Sub) => binary(BinOp::Eq, a, b),
        (Flag::Zf, _) => binary(BinOp::Eq, value, zero),
        (Flag::Sf, _) => binary(BinOp::Lt, value, zero),
        (Flag::Cf | Flag::Of, Kind::Logic) => zero,
        (Flag::Cf, Kind::Add) => below(*bits, value, a),
        (Flag::Cf, _) => below(*bits, a, b),
        // Overflow: the operands' signs agree (or, subtracting, differ) and the result's sign is another.
        (Flag::Of, Kind::Add | Kind::Inc) => {
            let changed = binary(BinOp::BitAnd, xor(a, value.clone()), xor(b, value));
            binary(BinOp::Lt, changed, zero)
        }
        (Flag::Of, _) => {
            let changed = binary(BinOp::BitAnd, xor(a.clone(), b), xor(a, value));
            binary(BinOp::Lt, changed, zero)
        }
    }
}

fn xor(a: LocalExpr, b: LocalExpr) -> LocalExpr {
    binary(BinOp::BitXor, a, b)
}

/// Whether `a` is below `b` as an unsigned number.
fn below(bits: u8, a: LocalExpr, b: LocalExpr) -> LocalExpr {
    let unsigned = IntType { bits, signed: false };
    binary(BinOp::Lt, wrap(unsigned, a), wrap(unsigned, b))
}

/// A condition over the flags, 0 or 1.
pub(crate) fn condition(code: &mut Code, cc: Cc) -> LocalExpr {
    let mut flag = |flag| var(register(code, flag));
    let not = |value| Expr::unary(UnOp::Not, value);
    match cc {
        Cc::E => flag(Flag::Zf),
        Cc::Ne => not(flag(Flag::Zf)),
        Cc::S => flag(Flag::Sf),
        Cc::Ns => not(flag(Flag::Sf)),
        Cc::O => flag(Flag::Of),
        Cc::No => not(flag(Flag::Of)),
        Cc::B => flag(Flag::Cf),
        Cc::Ae => not(flag(Flag::Cf)),
        Cc::Be => binary(BinOp::BitOr, flag(Flag::Cf), flag(Flag::Zf)),
        Cc::A => not(binary(BinOp::BitOr, flag(Flag::Cf), flag(Flag::Zf))),
        Cc::L => xor(flag(Flag::Sf), flag(Flag::Of)),
        Cc::Ge => not(xor(flag(Flag::Sf), flag(Flag::Of))),
        Cc::Le => {
            let less = xor(flag(Flag::Sf), flag(Flag::Of));
            binary(BinOp::BitOr, flag(Flag::Zf), less)
        }
        Cc::G => {
            let less = xor(flag(Flag::Sf), flag(Flag::Of));
            not(binary(BinOp::BitOr, flag(Flag::Zf), less))
        }
    }
}
