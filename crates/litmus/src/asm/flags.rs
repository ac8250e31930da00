//! Flags: those that some instruction of the thread looks at are kept in registers of their own.
//!
//! Carry is kept as x86 has it: a subtraction sets it if it borrows. On Arm it is the other way round, for subtractions and
//! for everything else, so that the conditions are the same ([`Kind::AddNoCarry`], [`Kind::LogicNoCarry`]).

use std::collections::BTreeSet;

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr, RegId, UnOp};

use super::instr::Thread;
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
pub enum Kind {
    /// An addition.
    Add,
    /// An addition whose carry is kept the other way round.
    AddNoCarry,
    /// A subtraction.
    Sub,
    /// Both are cleared.
    Logic,
    /// Overflow is cleared and carry, the other way round, set.
    LogicNoCarry,
    /// Carry stays as it is.
    Inc,
    /// Carry stays as it is.
    Dec,
}

/// The flags that the thread looks at, with their bank.
pub(crate) fn used(thread: &Thread) -> BTreeSet<(Flag, u8)> {
    let mut used = BTreeSet::new();
    for value in thread.steps().into_iter().flat_map(|(step, _)| step.values()) {
        value.conditions(&mut |cc, bank| used.extend(cc.flags().iter().map(|flag| (*flag, bank))));
    }
    used
}

/// The register of a flag.
pub(crate) fn register(code: &mut Code, flag: Flag, bank: u8) -> RegId {
    let name = match flag {
        Flag::Zf => "ZF",
        Flag::Sf => "SF",
        Flag::Cf => "CF",
        Flag::Of => "OF",
    };
    if bank == 0 { code.register(name) } else { code.register(&format!("{name}{bank}")) }
}

/// Sets the flags after an operation.
pub(crate) fn set(code: &mut Code, used: &BTreeSet<(Flag, u8)>, result: &Result<'_>, bank: u8) {
    for (flag, _) in used.iter().filter(|(_, own)| *own == bank) {
        if *flag == Flag::Cf && matches!(result.kind, Kind::Inc | Kind::Dec) {
            continue;
        }
        let register = register(code, *flag, bank);
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
        (Flag::Cf | Flag::Of, Kind::Logic) | (Flag::Of, Kind::LogicNoCarry) => zero,
        (Flag::Cf, Kind::LogicNoCarry) => Expr::Const(1),
        (Flag::Cf, Kind::Add) => below(*bits, value, a),
        (Flag::Cf, Kind::AddNoCarry) => Expr::unary(UnOp::Not, below(*bits, value, a)),
        (Flag::Cf, _) => below(*bits, a, b),
        // Overflow: the operands' signs agree (or, subtracting, differ) and the result's sign is another.
        (Flag::Of, Kind::Add | Kind::AddNoCarry | Kind::Inc) => {
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
pub(crate) fn condition(code: &mut Code, cc: Cc, bank: u8) -> LocalExpr {
    let mut flag = |flag| var(register(code, flag, bank));
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

/// The conditions of jumps and conditional moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Cc {
    E,
    Ne,
    L,
    Le,
    G,
    Ge,
    B,
    Be,
    A,
    Ae,
    S,
    Ns,
    O,
    No,
}

/// The flags.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Flag {
    Zf,
    Sf,
    Cf,
    Of,
}

impl Cc {
    /// The flags that it depends on.
    pub fn flags(self) -> &'static [Flag] {
        match self {
            Self::E | Self::Ne => &[Flag::Zf],
            Self::L | Self::Ge => &[Flag::Sf, Flag::Of],
            Self::Le | Self::G => &[Flag::Zf, Flag::Sf, Flag::Of],
            Self::B | Self::Ae => &[Flag::Cf],
            Self::Be | Self::A => &[Flag::Zf, Flag::Cf],
            Self::S | Self::Ns => &[Flag::Sf],
            Self::O | Self::No => &[Flag::Of],
        }
    }
}
