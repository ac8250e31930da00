//! Instructions in a form that all machines share: an instruction of a machine is a few of these steps.
//!
//! Nothing is simplified here: which registers a value, an address or a branch is computed from is what the text says, because models that know
//! dependencies ask for it (`EOR W2,W1,W1` is a value of `W1`).

use cyrano_ir::{BinOp, IntType, Span, Tags};

use super::flags::{self, Cc};
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
    /// What its instruction does, one after the other.
    pub steps: Vec<Step>,
    /// Where the instruction stands.
    pub span: Span,
}

/// A register as an instruction names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register {
    /// The machine's register (`X1` for `X1` and `W1`), or `%` and a name of the test's own.
    pub name: String,
    /// How many of its bits, 32 or 64.
    pub bits: u8,
}

/// A value computed from registers. A register of which `n` bits are named is a signed number of `n` bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant.
    Const(i128),
    /// A register.
    Reg(Register),
    /// The address of a location.
    Address(Name),
    /// Whether the flags in this bank satisfy the condition, 1 or 0.
    Flags(Cc, u8),
    /// An operation on two values.
    Binary(BinOp, Box<Value>, Box<Value>),
    /// A value in the range of a type.
    Wrap(IntType, Box<Value>),
}

/// An operand in memory: the sum of these values is its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mem {
    /// One of them is, or holds, the address of a location.
    pub terms: Vec<Value>,
    /// The width of the access.
    pub bits: u8,
}

/// A part of what an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A register receives a value.
    Set {
        /// The register.
        dst: Register,
        /// The value.
        value: Value,
    },
    /// A load; the value has a sign or not.
    Load {
        /// Where it goes, if not nowhere.
        dst: Option<Register>,
        /// From where.
        mem: Mem,
        /// Whether a narrow value is extended by its sign.
        signed: bool,
        /// What else is said about it.
        tags: Tags,
    },
    /// A store.
    Store {
        /// To where.
        mem: Mem,
        /// The value; the lowest bits of it are stored.
        value: Value,
        /// What else is said about it.
        tags: Tags,
    },
    /// A store that may fail.
    Conditional {
        /// Receives 0 if it succeeds and 1 if not.
        status: Option<Register>,
        /// To where.
        mem: Mem,
        /// The value.
        value: Value,
        /// What else is said about it.
        tags: Tags,
    },
    /// A read-modify-write.
    Update {
        /// Receives the old value, a signed number; it is never used in parts.
        old: Register,
        /// Where.
        mem: Mem,
        /// The new value, which may use the old one.
        new: Value,
        /// What is said about the whole.
        tags: Tags,
    },
    /// A compare-and-swap.
    Cas {
        /// Receives the old value, a signed number; it is never used in parts.
        old: Register,
        /// Where.
        mem: Mem,
        /// What is expected.
        expected: Value,
        /// What is written.
        new: Value,
        /// What is said about the whole.
        tags: Tags,
        /// What is said if it writes nothing.
        failed: Tags,
    },
    /// Flags are set after an operation.
    Flags {
        /// The first operand.
        a: Value,
        /// The second operand.
        b: Value,
        /// The result, in the operation's width.
        value: Value,
        /// How carry and overflow come about.
        kind: flags::Kind,
        /// The width of the operation.
        bits: u8,
        /// Which flags, on machines that have several.
        bank: u8,
    },
    /// A fence of this name; an instruction that does nothing has none.
    Fence(&'static str),
    /// Goes to a label if the value is not 0.
    Branch {
        /// The condition.
        cond: Value,
        /// Where to.
        to: Name,
    },
    /// Goes to a label.
    Jump(Name),
    /// Further steps, if the value is not 0.
    If {
        /// The condition.
        cond: Value,
        /// The steps.
        then: Vec<Step>,
    },
}

impl Thread {
    /// All steps, each with the place of its instruction.
    pub(crate) fn steps(&self) -> Vec<(&Step, Span)> {
        fn add<'s>(steps: &'s [Step], span: Span, list: &mut Vec<(&'s Step, Span)>) {
            for step in steps {
                list.push((step, span));
                if let Step::If { then, .. } = step {
                    add(then, span, list);
                }
            }
        }
        let mut list = Vec::new();
        self.lines.iter().for_each(|line| add(&line.steps, line.span, &mut list));
        list
    }
}

impl Register {
    /// A register of which this many bits are meant.
    pub(crate) fn new(name: impl Into<String>, bits: u8) -> Self {
        Self { name: name.into(), bits }
    }
}

impl Value {
    pub(crate) fn binary(op: BinOp, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    pub(crate) fn wrap(ty: IntType, value: Self) -> Self {
        Self::Wrap(ty, Box::new(value))
    }

    /// The smaller of two values of a type, or the larger.
    pub(crate) fn least(a: Self, b: Self, ty: IntType, max: bool) -> Self {
        let (a, b) = (Self::wrap(ty, a), Self::wrap(ty, b));
        let first = Self::binary(if max { BinOp::Gt } else { BinOp::Lt }, a.clone(), b.clone());
        let change = Self::binary(BinOp::Mul, first, Self::binary(BinOp::Sub, a, b.clone()));
        Self::binary(BinOp::Add, b, change)
    }

    /// Whether it is a signed number of this many bits as it is.
    pub(crate) fn fits(&self, bits: u8) -> bool {
        use BinOp::{BitAnd, BitOr, BitXor, Eq, Ge, Gt, Le, Lt, Ne};
        match self {
            Self::Const(value) => IntType { bits, signed: true }.wrap(*value) == *value,
            Self::Reg(register) => register.bits <= bits,
            Self::Address(_) | Self::Flags(..) => true,
            Self::Wrap(ty, _) => ty.bits < bits || ty.signed && ty.bits == bits,
            Self::Binary(BitAnd | BitOr | BitXor, left, right) => left.fits(bits) && right.fits(bits),
            Self::Binary(op, ..) => matches!(op, Eq | Ne | Lt | Le | Gt | Ge),
        }
    }

    /// Calls `see` with every register that it names.
    pub(crate) fn registers<'v>(&'v self, see: &mut impl FnMut(&'v Register)) {
        match self {
            Self::Reg(register) => see(register),
            Self::Binary(_, left, right) => {
                left.registers(see);
                right.registers(see);
            }
            Self::Wrap(_, inner) => inner.registers(see),
            Self::Const(_) | Self::Address(_) | Self::Flags(..) => {}
        }
    }

    /// Calls `see` with every condition over flags that it names.
    pub(crate) fn conditions(&self, see: &mut impl FnMut(Cc, u8)) {
        match self {
            Self::Flags(cc, bank) => see(*cc, *bank),
            Self::Binary(_, left, right) => {
                left.conditions(see);
                right.conditions(see);
            }
            Self::Wrap(_, inner) => inner.conditions(see),
            Self::Const(_) | Self::Address(_) | Self::Reg(_) => {}
        }
    }
}

impl Step {
    /// The operand in memory.
    pub(crate) fn mem(&self) -> Option<&Mem> {
        match self {
            Self::Load { mem, .. }
            | Self::Store { mem, .. }
            | Self::Conditional { mem, .. }
            | Self::Update { mem, .. }
            | Self::Cas { mem, .. } => Some(mem),
            _ => None,
        }
    }

    /// The register that it writes.
    pub(crate) fn written(&self) -> Option<&Register> {
        match self {
            Self::Set { dst, .. } => Some(dst),
            Self::Update { old, .. } | Self::Cas { old, .. } => Some(old),
            Self::Load { dst, .. } => dst.as_ref(),
            Self::Conditional { status, .. } => status.as_ref(),
            _ => None,
        }
    }

    /// The values that it computes, addresses aside.
    pub(crate) fn values(&self) -> Vec<&Value> {
        match self {
            Self::Set { value, .. }
            | Self::Store { value, .. }
            | Self::Conditional { value, .. }
            | Self::Update { new: value, .. } => vec![value],
            Self::Cas { expected, new, .. } => vec![expected, new],
            Self::Flags { a, b, value, .. } => vec![a, b, value],
            Self::Branch { cond, .. } | Self::If { cond, .. } => vec![cond],
            Self::Load { .. } | Self::Fence(_) | Self::Jump(_) => vec![],
        }
    }

    /// The label that it may go to.
    pub(crate) fn target(&self) -> Option<&Name> {
        match self {
            Self::Branch { to, .. } | Self::Jump(to) => Some(to),
            _ => None,
        }
    }

    /// Every register that it names.
    pub(crate) fn registers(&self) -> Vec<&Register> {
        let mut list: Vec<&Register> = self.written().into_iter().collect();
        let terms = self.mem().map(|mem| mem.terms.iter()).into_iter().flatten();
        for value in self.values().into_iter().chain(terms) {
            value.registers(&mut |register| list.push(register));
        }
        list
    }
}
