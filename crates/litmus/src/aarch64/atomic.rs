//! Read-modify-writes of one instruction.

use cyrano_ir::{BinOp, IntType, Tags};

use crate::asm::cell::Cell;
use crate::asm::instr::{Register, Step, Value};
use crate::code::signed;
use crate::cursor::Parse;

/// A read-modify-write.
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    change: Change,
    /// The form that returns nothing, such as `STADD`.
    store: bool,
    /// The width, if the register does not say it.
    bits: Option<u8>,
    tags: Tags,
}

#[derive(Clone, Copy)]
enum Change {
    Swap,
    Cas,
    Add,
    Clear,
    Xor,
    Set,
    Least { max: bool, signed: bool },
}

/// The access of this name: `LDADDAL`, `STCLRLB`, `SWPA`, `CASAL`.
pub(super) fn named(name: &str) -> Option<Atomic> {
    const CHANGES: [(&str, Change); 8] = [
        ("ADD", Change::Add),
        ("CLR", Change::Clear),
        ("EOR", Change::Xor),
        ("SET", Change::Set),
        ("SMAX", Change::Least { max: true, signed: true }),
        ("SMIN", Change::Least { max: false, signed: true }),
        ("UMAX", Change::Least { max: true, signed: false }),
        ("UMIN", Change::Least { max: false, signed: false }),
    ];
    let (change, store, rest) = if let Some(rest) = name.strip_prefix("SWP") {
        (Change::Swap, false, rest)
    } else if let Some(rest) = name.strip_prefix("CAS") {
        (Change::Cas, false, rest)
    } else {
        let (store, rest) = match name.strip_prefix("ST") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix("LD")?),
        };
        let (start, change) = CHANGES.into_iter().find(|(start, _)| rest.starts_with(start))?;
        (change, store, &rest[start.len()..])
    };
    let (order, bits) = match rest {
        _ if rest.ends_with('B') => (&rest[..rest.len() - 1], Some(8)),
        _ if rest.ends_with('H') => (&rest[..rest.len() - 1], Some(16)),
        _ => (rest, None),
    };
    let tags = match order {
        "" => Tags::default(),
        "A" if !store => Tags::ACQUIRE,
        "L" => Tags::RELEASE,
        "AL" if !store => Tags::ACQUIRE | Tags::RELEASE,
        _ => return None,
    };
    Some(Atomic { change, store, bits, tags })
}

impl Atomic {
    pub(super) fn steps(self, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
        let first = cell.arm_register()?;
        cell.expect(",")?;
        let second = if self.store {
            None
        } else {
            let second = cell.arm_register_of(first.bits)?;
            cell.expect(",")?;
            Some(second)
        };
        let (bits, width) = (self.bits.unwrap_or(first.bits), first.bits);
        let mem = cell.arm_memory(bits)?;
        // The old value is a signed number of as many bits as the access has.
        let old = Register::new(if width == 64 { "%q0" } else { "%t0" }, width);
        let extended = |old: &Register| {
            let value = Value::Reg(old.clone());
            if bits < width { Value::wrap(IntType { bits, signed: false }, value) } else { value }
        };
        if let (Change::Cas, Some(new)) = (self.change, second.clone()) {
            let narrow = |value| if bits < width { Value::wrap(signed(bits), value) } else { value };
            let (expected, new, tags) = (narrow(first.value()), narrow(new.value()), self.returning(&first.register));
            let failed = tags.without(Tags::RELEASE);
            let cas = Step::Cas { old: old.clone(), mem, expected, new, tags, failed };
            let set = first.register.map(|dst| Step::Set { dst, value: extended(&old) });
            return Ok(std::iter::once(cas).chain(set).collect());
        }
        let dst = second.and_then(|second| second.register);
        let tags = self.returning(&dst);
        let new = self.change.applied(Value::Reg(old.clone()), first.value(), bits);
        let update = Step::Update { old: old.clone(), mem, new, tags };
        let set = dst.map(|dst| Step::Set { dst, value: extended(&old) });
        Ok(std::iter::once(update).chain(set).collect())
    }

    /// What is said of the access: where nobody gets the old value, it acquires nothing.
    fn returning(self, dst: &Option<Register>) -> Tags {
        match dst {
            Some(_) => self.tags,
            None => self.tags.without(Tags::ACQUIRE) | Tags::NORETURN,
        }
    }
}

impl Change {
    fn applied(self, old: Value, with: Value, bits: u8) -> Value {
        let binary = Value::binary;
        let value = match self {
            Self::Swap | Self::Cas => with,
            Self::Add => binary(BinOp::Add, old, with),
            Self::Clear => binary(BinOp::BitAnd, old, binary(BinOp::BitXor, with, Value::Const(-1))),
            Self::Xor => binary(BinOp::BitXor, old, with),
            Self::Set => binary(BinOp::BitOr, old, with),
            Self::Least { max, signed } => Value::least(old, with, IntType { bits, signed }, max),
        };
        if value.fits(bits) { value } else { Value::wrap(signed(bits), value) }
    }
}
