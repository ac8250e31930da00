//! Loads, stores, read-modify-writes.

use cyrano_ir::{BinOp, Diagnostic, IntType, Span, Tags};

use super::{settable, value};
use crate::asm::cell::Cell;
use crate::asm::instr::{Mem, Register, Step, Value};
use crate::code::signed;
use crate::cursor::Parse;
use crate::token::Kind;

/// An access to memory.
pub(super) struct Access {
    form: Form,
    bits: u8,
    tags: Tags,
}

#[derive(Clone, Copy)]
enum Form {
    Load { signed: bool },
    Store,
    Reserve,
    Conditional,
    Amo(Change),
}

#[derive(Clone, Copy)]
enum Change {
    Swap,
    With(BinOp),
    Least { max: bool, signed: bool },
}

/// The access of this name: `lw`, `sd.rl`, `lr.w.aq`, `amoadd.w.aqrl`.
pub(super) fn named(name: &str) -> Option<Access> {
    let mut parts = name.split('.');
    let (form, mut bits) = form(parts.next()?)?;
    let mut tags = Tags::default();
    for part in parts {
        match part {
            "w" if bits == 0 => bits = 32,
            "d" if bits == 0 => bits = 64,
            "aq" => tags |= Tags::ACQUIRE,
            "rl" => tags |= Tags::RELEASE,
            "aqrl" => tags |= Tags::ACQUIRE | Tags::RELEASE,
            _ => return None,
        }
    }
    (bits != 0).then_some(Access { form, bits, tags })
}

/// What the first part of a name says, and the width; 0 where the second part says it.
fn form(word: &str) -> Option<(Form, u8)> {
    const AMOS: [(&str, Change); 9] = [
        ("swap", Change::Swap),
        ("add", Change::With(BinOp::Add)),
        ("and", Change::With(BinOp::BitAnd)),
        ("or", Change::With(BinOp::BitOr)),
        ("xor", Change::With(BinOp::BitXor)),
        ("max", Change::Least { max: true, signed: true }),
        ("min", Change::Least { max: false, signed: true }),
        ("maxu", Change::Least { max: true, signed: false }),
        ("minu", Change::Least { max: false, signed: false }),
    ];
    let load = |signed, bits| Some((Form::Load { signed }, bits));
    match word {
        "lb" => load(true, 8),
        "lbu" => load(false, 8),
        "lh" => load(true, 16),
        "lhu" => load(false, 16),
        "lw" => load(true, 32),
        "lwu" => load(false, 32),
        "ld" => load(true, 64),
        "sb" => Some((Form::Store, 8)),
        "sh" => Some((Form::Store, 16)),
        "sw" => Some((Form::Store, 32)),
        "sd" => Some((Form::Store, 64)),
        "lr" => Some((Form::Reserve, 0)),
        "sc" => Some((Form::Conditional, 0)),
        _ => {
            let amo = word.strip_prefix("amo")?;
            let (_, change) = AMOS.into_iter().find(|(known, _)| *known == amo)?;
            Some((Form::Amo(change), 0))
        }
    }
}

impl Access {
    pub(super) fn steps(self, cell: &mut Cell<'_, '_>, span: Span) -> Parse<Vec<Step>> {
        let Self { form, bits, tags } = self;
        let first = cell.riscv_register()?;
        cell.expect(",")?;
        let second = match form {
            Form::Conditional | Form::Amo(_) => Some(cell.riscv_source()?),
            _ => None,
        };
        let mem = memory(cell, bits)?;
        let both = tags.contains(Tags::ACQUIRE | Tags::RELEASE);
        let refuse = |what: &str| {
            let message = format!("a {what} is not supported");
            Err(Diagnostic::new(span, message, "not supported"))
        };
        Ok(match (form, second) {
            // Everything before the load comes before it, and it before everything later: so a fence adds nothing else.
            (Form::Load { signed }, _) if both => {
                let load = Step::Load { dst: settable(first), mem, signed, tags: Tags::ACQUIRE };
                vec![Step::Fence("fence.rw.r"), load]
            }
            // Likewise.
            (Form::Store, _) if both => {
                vec![Step::Store { mem, value: value(first), tags: Tags::RELEASE }, Step::Fence("fence.w.rw")]
            }
            (Form::Load { .. }, _) if tags.contains(Tags::RELEASE) => {
                return refuse("load that releases and does not acquire (`.rl`)");
            }
            (Form::Store, _) if tags.contains(Tags::ACQUIRE) => {
                return refuse("store that acquires and does not release (`.aq`)");
            }
            (Form::Load { signed }, _) => vec![Step::Load { dst: settable(first), mem, signed, tags }],
            (Form::Store, _) => vec![Step::Store { mem, value: value(first), tags }],
            (Form::Reserve, _) => {
                vec![Step::Load { dst: settable(first), mem, signed: true, tags: tags | Tags::EXCLUSIVE }]
            }
            (Form::Conditional, Some(value)) => {
                let tags = tags | Tags::EXCLUSIVE | Tags::SUCCESS;
                vec![Step::Conditional { status: settable(first), mem, value, tags }]
            }
            (Form::Amo(change), Some(with)) => {
                let old = Register::new("%q0", 64);
                let new = change.applied(Value::Reg(old.clone()), with, bits);
                let update = Step::Update { old: old.clone(), mem, new, tags };
                let set = settable(first).map(|dst| Step::Set { dst, value: Value::Reg(old) });
                std::iter::once(update).chain(set).collect()
            }
            (Form::Conditional | Form::Amo(_), None) => vec![],
        })
    }
}

impl Change {
    fn applied(self, old: Value, with: Value, bits: u8) -> Value {
        let value = match self {
            Self::Swap => with,
            Self::With(op) => Value::binary(op, old, with),
            Self::Least { max, signed } => Value::least(old, with, IntType { bits, signed }, max),
        };
        if value.fits(bits) { value } else { Value::wrap(signed(bits), value) }
    }
}

/// `0(x6)`, `(x6)`.
fn memory(cell: &mut Cell<'_, '_>, bits: u8) -> Parse<Mem> {
    let offset = match cell.peek() {
        Some(token) if token.kind == Kind::Number || token.text == "-" => cell.integer()?,
        _ => 0,
    };
    cell.expect("(")?;
    let base = value(cell.riscv_register()?);
    cell.expect(")")?;
    Ok(Mem { terms: vec![base, Value::Const(offset)], bits })
}
