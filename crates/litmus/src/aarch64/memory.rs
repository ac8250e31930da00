//! Loads and stores.

use cyrano_ir::Tags;

use crate::asm::cell::Cell;
use crate::asm::instr::{Mem, Step, Value};
use crate::cursor::Parse;

/// A load or store.
#[derive(Clone, Copy)]
pub(super) struct Access {
    form: Form,
    /// The width, if the register does not say it.
    bits: Option<u8>,
    signed: bool,
    tags: Tags,
}

#[derive(Clone, Copy)]
enum Form {
    Load,
    Store,
    /// A store that says whether it succeeded.
    Exclusive,
    LoadPair,
    StorePair,
}

/// The loads and stores with their tags, without endings for their width.
fn names() -> [(&'static str, Form, Tags); 14] {
    let none = Tags::default();
    [
        ("LDR", Form::Load, none),
        ("LDUR", Form::Load, none),
        ("LDAR", Form::Load, Tags::ACQUIRE),
        ("LDAPR", Form::Load, Tags::ACQUIRE_PC),
        ("LDAPUR", Form::Load, Tags::ACQUIRE_PC),
        ("LDXR", Form::Load, Tags::EXCLUSIVE),
        ("LDAXR", Form::Load, Tags::EXCLUSIVE | Tags::ACQUIRE),
        ("STR", Form::Store, none),
        ("STUR", Form::Store, none),
        ("STLR", Form::Store, Tags::RELEASE),
        ("STXR", Form::Exclusive, Tags::EXCLUSIVE),
        ("STLXR", Form::Exclusive, Tags::EXCLUSIVE | Tags::RELEASE),
        ("LDP", Form::LoadPair, none),
        ("STP", Form::StorePair, none),
    ]
}

/// The access of this name.
pub(super) fn named(name: &str) -> Option<Access> {
    const ENDINGS: [(&str, Option<u8>, bool); 6] = [
        ("", None, false),
        ("B", Some(8), false),
        ("H", Some(16), false),
        ("SB", Some(8), true),
        ("SH", Some(16), true),
        ("SW", Some(32), true),
    ];
    for (start, form, tags) in names() {
        let Some(ending) = name.strip_prefix(start) else { continue };
        let Some((_, bits, signed)) = ENDINGS.into_iter().find(|(known, ..)| *known == ending) else { continue };
        let extends = matches!(start, "LDR" | "LDUR" | "LDAPUR");
        let pair = matches!(form, Form::LoadPair | Form::StorePair);
        if signed && !extends || pair && bits.is_some() {
            continue;
        }
        return Some(Access { form, bits, signed, tags });
    }
    None
}

impl Access {
    pub(super) fn steps(self, cell: &mut Cell<'_, '_>) -> Parse<Vec<Step>> {
        let Self { signed, tags, .. } = self;
        let status = if matches!(self.form, Form::Exclusive) { Some(cell.arm_register_of(32)?) } else { None };
        if status.is_some() {
            cell.expect(",")?;
        }
        let first = cell.arm_register()?;
        cell.expect(",")?;
        let second = match self.form {
            Form::LoadPair | Form::StorePair => {
                let second = cell.arm_register_of(first.bits)?;
                cell.expect(",")?;
                Some(second)
            }
            _ => None,
        };
        let bits = self.bits.unwrap_or(first.bits);
        if bits > first.bits || signed && bits == 32 && first.bits == 32 {
            return Err(
                cell.wrong(format!("a register of {} bits cannot hold this", first.bits), "in this instruction")
            );
        }
        let mem = cell.arm_memory(bits)?;
        Ok(match (self.form, second, status) {
            (Form::Load, ..) => vec![Step::Load { dst: first.register, mem, signed, tags }],
            (Form::Store, ..) => vec![Step::Store { mem, value: first.value(), tags }],
            (Form::Exclusive, _, Some(status)) => {
                vec![Step::Conditional { status: status.register, mem, value: first.value(), tags }]
            }
            (Form::LoadPair, Some(second), _) => {
                let next = behind(&mem);
                vec![
                    Step::Load { dst: first.register, mem, signed, tags },
                    Step::Load { dst: second.register, mem: next, signed, tags },
                ]
            }
            (Form::StorePair, Some(second), _) => {
                let next = behind(&mem);
                vec![
                    Step::Store { mem, value: first.value(), tags },
                    Step::Store { mem: next, value: second.value(), tags },
                ]
            }
            _ => vec![],
        })
    }
}

/// The word behind another.
fn behind(mem: &Mem) -> Mem {
    let mut next = mem.clone();
    next.terms.push(Value::Const(i128::from(mem.bits / 8)));
    next
}
