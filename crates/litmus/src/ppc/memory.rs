//! Loads and stores.

use cyrano_ir::Tags;

use super::compared;
use crate::asm::cell::Cell;
use crate::asm::instr::{Mem, Register, Step, Value};
use crate::cursor::Parse;
use crate::token::Kind;

/// An access to memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    form: Form,
    bits: u8,
    /// Whether the address is the sum of two registers.
    indexed: bool,
}

#[derive(Clone, Copy)]
enum Form {
    Load { signed: bool },
    Store,
    Reserve,
    Conditional,
}

/// The access of this name.
pub(super) fn named(name: &str) -> Option<Access> {
    const LOAD: Form = Form::Load { signed: false };
    const EXTENDED: Form = Form::Load { signed: true };
    const ACCESSES: [(&str, Form, u8, bool); 22] = [
        ("lbz", LOAD, 8, false),
        ("lbzx", LOAD, 8, true),
        ("lhz", LOAD, 16, false),
        ("lhzx", LOAD, 16, true),
        ("lwz", LOAD, 32, false),
        ("lwzx", LOAD, 32, true),
        ("lwa", EXTENDED, 32, false),
        ("lwax", EXTENDED, 32, true),
        ("ld", LOAD, 64, false),
        ("ldx", LOAD, 64, true),
        ("stb", Form::Store, 8, false),
        ("stbx", Form::Store, 8, true),
        ("sth", Form::Store, 16, false),
        ("sthx", Form::Store, 16, true),
        ("stw", Form::Store, 32, false),
        ("stwx", Form::Store, 32, true),
        ("std", Form::Store, 64, false),
        ("stdx", Form::Store, 64, true),
        ("lwarx", Form::Reserve, 32, true),
        ("ldarx", Form::Reserve, 64, true),
        ("stwcx.", Form::Conditional, 32, true),
        ("stdcx.", Form::Conditional, 64, true),
    ];
    let (_, form, bits, indexed) = ACCESSES.into_iter().find(|(known, ..)| *known == name)?;
    Some(Access { form, bits, indexed })
}

impl Access {
    pub(super) fn steps(self, cell: &mut Cell<'_, '_>, width: u8) -> Parse<Vec<Step>> {
        let register = cell.ppc_register(width)?;
        cell.expect(",")?;
        let mem = self.memory(cell, width)?;
        let (exclusive, none) = (Tags::EXCLUSIVE, Tags::default());
        Ok(match self.form {
            Form::Load { signed } => vec![Step::Load { dst: Some(register), mem, signed, tags: none }],
            Form::Store => vec![Step::Store { mem, value: Value::Reg(register), tags: none }],
            Form::Reserve => vec![Step::Load { dst: Some(register), mem, signed: false, tags: exclusive }],
            Form::Conditional => {
                let status = Register::new("%status", 32);
                let told = compared(Value::Reg(status.clone()), Value::Const(0), 32, 0);
                let (status, value) = (Some(status), Value::Reg(register));
                vec![Step::Conditional { status, mem, value, tags: exclusive }, told]
            }
        })
    }

    /// `0(r2)`, or `r3,r2`.
    fn memory(self, cell: &mut Cell<'_, '_>, width: u8) -> Parse<Mem> {
        let terms = if self.indexed {
            let first = cell.ppc_base(width)?;
            cell.expect(",")?;
            vec![first, Value::Reg(cell.ppc_register(width)?)]
        } else {
            let offset = match cell.peek() {
                Some(token) if token.kind == Kind::Number || token.text == "-" => cell.integer()?,
                _ => 0,
            };
            cell.expect("(")?;
            let base = cell.ppc_base(width)?;
            cell.expect(")")?;
            vec![base, Value::Const(offset)]
        };
        Ok(Mem { terms, bits: self.bits })
    }
}
