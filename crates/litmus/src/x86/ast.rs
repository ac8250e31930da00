//! Instructions of x86, operands in Intel's order (destination first) whatever the file's order was.

use cyrano_ir::{FenceSet, Span};

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

/// A register as an instruction names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register {
    /// The machine's register (`AX` for `EAX` and `RAX`, `R8`), or `%` and a name of the test's own.
    pub name: String,
    /// How many of its bits, 32 or 64.
    pub bits: u8,
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
    const NAMES: [(&'static str, Self); 28] = [
        ("E", Self::E),
        ("Z", Self::E),
        ("NE", Self::Ne),
        ("NZ", Self::Ne),
        ("L", Self::L),
        ("LT", Self::L),
        ("NGE", Self::L),
        ("LE", Self::Le),
        ("NG", Self::Le),
        ("G", Self::G),
        ("GT", Self::G),
        ("NLE", Self::G),
        ("GE", Self::Ge),
        ("NL", Self::Ge),
        ("B", Self::B),
        ("C", Self::B),
        ("NAE", Self::B),
        ("BE", Self::Be),
        ("NA", Self::Be),
        ("A", Self::A),
        ("NBE", Self::A),
        ("AE", Self::Ae),
        ("NB", Self::Ae),
        ("NC", Self::Ae),
        ("S", Self::S),
        ("NS", Self::Ns),
        ("O", Self::O),
        ("NO", Self::No),
    ];

    /// The condition with this name, in capitals.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, cc)| cc)
    }

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
