//! What all architectures share: the head of a test, its initial state, its condition.

use cyrano_ir::Span;

/// The language of a test's threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// 32-bit x86, operands in Intel's order.
    X86,
    /// 64-bit x86, operands in AT&T's order as herd has it.
    X86_64,
    /// Arm, 64 bits.
    AArch64,
    /// RISC-V, 64 bits.
    Riscv,
    /// Power, 32 bits unless an instruction has 64.
    Ppc,
    /// C: the language's atomics, or the Linux kernel's functions.
    C,
}

impl Arch {
    /// All of them with the word in a test's first line.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::X86, "X86"),
        (Self::X86_64, "X86_64"),
        (Self::AArch64, "AArch64"),
        (Self::Riscv, "RISCV"),
        (Self::Ppc, "PPC"),
        (Self::C, "C"),
    ];

    /// The word in a test's first line.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The words for all of them: `X86, …, PPC and C`.
    pub fn list() -> String {
        let names = Self::ALL.map(|(_, name)| name);
        let (last, others) = names.split_last().expect("there are some");
        format!("{} and {last}", others.join(", "))
    }

    pub(crate) fn is_x86(self) -> bool {
        matches!(self, Self::X86 | Self::X86_64)
    }
}

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A register of a thread or a location, as initial states and conditions name them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Var {
    /// `0:EAX`.
    Reg {
        /// The thread's number.
        thread: i128,
        /// The register.
        name: Name,
    },
    /// `x`, `[x]`, `*x`.
    Loc(Name),
}

impl Var {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Reg { name, .. } | Self::Loc(name) => name.span,
        }
    }
}

/// A value in an initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Int(i128),
    /// The address of a location.
    Address(Name),
}

/// A type in an initial state or of a parameter: `int`, `uint64_t *`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeName {
    /// The words before the stars, without qualifiers.
    pub base: String,
    /// How many stars there are.
    pub pointers: usize,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Where it stands.
    pub span: Span,
}

/// One line of an initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Init {
    /// What has the value.
    pub var: Var,
    /// Its type, if one is given.
    pub ty: Option<TypeName>,
    /// The value, if one is given.
    pub value: Option<Value>,
    /// How many elements it has, if it is an array.
    pub len: Option<usize>,
    /// The values of the first elements of an array.
    pub elements: Vec<Value>,
}

impl Init {
    /// All values that are given: its own, or those of its elements.
    pub fn values(&self) -> Vec<&Value> {
        self.value.iter().chain(&self.elements).collect()
    }
}

/// How a condition is quantified.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// `exists`: some final state satisfies it.
    Exists,
    /// `~exists`: no final state satisfies it.
    NotExists,
    /// `forall`: every final state satisfies it.
    Forall,
}

impl Quantifier {
    /// The keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::NotExists => "~exists",
            Self::Forall => "forall",
        }
    }

    /// The word in the first line of herd's output.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Exists => "Allowed",
            Self::NotExists => "Forbidden",
            Self::Forall => "Required",
        }
    }
}

/// The right side of an equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Right {
    /// A number or an address.
    Value(Value),
    /// The content of a register or location.
    Var(Var),
}

/// A proposition about a final state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prop {
    /// Always or never.
    Const(bool),
    /// `left = right`.
    Eq(Var, Right),
    /// `~`.
    Not(Box<Prop>),
    /// `/\`.
    And(Box<Prop>, Box<Prop>),
    /// `\/`.
    Or(Box<Prop>, Box<Prop>),
    /// `=>`.
    Implies(Box<Prop>, Box<Prop>),
}

/// What a test asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// What is shown besides what the condition names.
    pub locations: Vec<Var>,
    /// Final states that do not satisfy it do not count.
    pub filter: Option<Prop>,
    /// The quantifier.
    pub quantifier: Quantifier,
    /// The proposition.
    pub prop: Prop,
    /// The condition as written, blanks squeezed.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// The head of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The language of the threads.
    pub arch: Arch,
    /// The test's name.
    pub name: String,
    /// `Key=Value` lines.
    pub info: Vec<(String, String)>,
}
