//! Instructions of x86, operands in Intel's order (destination first) whatever the file's order was.

use cyrano_ir::{FenceSet, Span};

pub use crate::asm::flags::{Cc, Flag};
pub use crate::asm::instr::Register;
use crate::ast::Name;

/// One thread: its lines from top to bottom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// Labels in front of it.
    pub labels: Vec<Name>,
    /// The instruction, if the line has one.
    pub instr: Option<Instr>,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    /// Whether it has a `LOCK` prefix.
    pub lock: bool,
    /// What it does.
    pub op: Op,
    /// The width of what it handles, 32 or 64; unknown until sizes are resolved if neither a suffix nor a register says it.
    pub bits: Option<u8>,
    /// Where it stands.
    pub span: Span,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Mov { dst: Operand, src: Operand },
    Xchg { a: Operand, b: Operand },
    Alu { alu: Alu, dst: Operand, src: Operand },
    Cmp { a: Operand, b: Operand },
    Test { a: Operand, b: Operand },
    Unary { unary: Unary, dst: Operand },
    Cmpxchg { dst: Operand, src: Register },
    Xadd { dst: Operand, src: Register },
    Cmov { cc: Cc, dst: Register, src: Operand },
    Jmp { to: Name },
    Jcc { cc: Cc, to: Name },
    Fence(FenceSet),
    Nop,
}

/// Operations with two operands that write the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Alu {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

/// Operations with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Unary {
    Inc,
    Dec,
    Neg,
    Not,
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register.
    Reg(Register),
    /// Memory.
    Mem(Mem),
    /// A constant.
    Imm(i128),
    /// The address of a location, as a constant.
    Address(Name),
}

/// An operand in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mem {
    /// `[x]`.
    Loc(Name),
    /// `[EBX]`.
    Reg(Register, Span),
}

impl Operand {
    /// Whether it is in memory.
    pub fn is_mem(&self) -> bool {
        matches!(self, Self::Mem(_))
    }
}
