//! Operands: registers, constants, second operands with a shift or an extension, addresses.

use cyrano_ir::{BinOp, Diagnostic, IntType};

use crate::asm::cell::Cell;
use crate::asm::instr::{Mem, Register, Value};
use crate::code::signed;
use crate::cursor::Parse;
use crate::token::Kind;

/// A register, or the one that is always 0.
#[derive(Clone)]
pub(super) struct Operand {
    pub(super) register: Option<Register>,
    pub(super) bits: u8,
}

impl Operand {
    pub(super) fn value(&self) -> Value {
        self.register.clone().map_or(Value::Const(0), Value::Reg)
    }
}

fn unsigned(bits: u8) -> IntType {
    IntType { bits, signed: false }
}

impl Cell<'_, '_> {
    /// `X1`, `W1`, `XZR`, `WZR`.
    pub(super) fn arm_register(&mut self) -> Parse<Operand> {
        let Some(token) = self.peek() else { return Err(self.wrong("a register is missing", "behind this")) };
        let operand = match token.text.to_ascii_uppercase().as_str() {
            "XZR" => Operand { register: None, bits: 64 },
            "WZR" => Operand { register: None, bits: 32 },
            name => match super::register(name) {
                Some(register) => Operand { bits: register.bits, register: Some(register) },
                None => {
                    let message = format!("there is no register `{}`, or it is not supported", token.text);
                    return Err(Diagnostic::new(token.span, message, "expected a register"));
                }
            },
        };
        self.take();
        Ok(operand)
    }

    /// A register of the same width as another.
    pub(super) fn arm_register_of(&mut self, bits: u8) -> Parse<Operand> {
        let span = self.span();
        let operand = self.arm_register()?;
        if operand.bits != bits {
            let message = format!("a register of {} bits where one of {bits} is expected", operand.bits);
            return Err(Diagnostic::new(span, message, "this register"));
        }
        Ok(operand)
    }

    /// `#1`, `1`.
    pub(super) fn arm_constant(&mut self) -> Parse<i128> {
        self.eat("#");
        self.integer()
    }

    pub(super) fn arm_is_constant(&self) -> bool {
        self.peek().is_some_and(|token| token.kind == Kind::Number || matches!(token.text, "#" | "-"))
    }

    /// The second operand of an operation of this width: a constant, or a register, shifted or extended.
    pub(super) fn arm_second(&mut self, bits: u8) -> Parse<Value> {
        if self.arm_is_constant() {
            let constant = Value::Const(signed(bits).wrap(self.arm_constant()?));
            if !self.eat(",") {
                return Ok(constant);
            }
            return self.arm_shift(constant, bits);
        }
        let span = self.span();
        let operand = self.arm_register()?;
        if self.eat(",") {
            return self.arm_shift(operand.value(), operand.bits);
        }
        if operand.bits != bits {
            let message = format!("a register of {} bits where one of {bits} is expected", operand.bits);
            return Err(Diagnostic::new(span, message, "this register").with_help("`W1,SXTW` extends it"));
        }
        Ok(operand.value())
    }

    /// What stands behind a comma: `LSL #2`, `SXTW`, `UXTW #2`.
    fn arm_shift(&mut self, value: Value, bits: u8) -> Parse<Value> {
        let Some(token) = self.take() else { return Err(self.wrong("a shift is missing", "behind this")) };
        let word = token.text.to_ascii_uppercase();
        let extended = match word.as_str() {
            "LSL" | "SXTX" | "UXTX" => value.clone(),
            "SXTW" => Value::wrap(signed(32), value.clone()),
            "UXTW" => Value::wrap(unsigned(32), value.clone()),
            "SXTH" => Value::wrap(signed(16), value.clone()),
            "UXTH" => Value::wrap(unsigned(16), value.clone()),
            "SXTB" => Value::wrap(signed(8), value.clone()),
            "UXTB" => Value::wrap(unsigned(8), value.clone()),
            "LSR" => Value::wrap(unsigned(bits), value.clone()),
            "ASR" => value.clone(),
            _ => {
                let message = format!("there is no shift or extension `{}`", token.text);
                return Err(Diagnostic::new(token.span, message, "expected `LSL`, `SXTW`, …"));
            }
        };
        // A register of 32 bits is a signed number of 32 bits already.
        let extended = if word == "SXTW" && bits == 32 { value } else { extended };
        if !self.arm_is_constant() {
            return Ok(extended);
        }
        let by = self.arm_constant()?;
        if !(0..64).contains(&by) {
            return Err(Diagnostic::new(token.span, format!("a shift by {by}"), "expected 0 to 63"));
        }
        let op = if matches!(word.as_str(), "LSR" | "ASR") { BinOp::Shr } else { BinOp::Shl };
        Ok(if by == 0 { extended } else { Value::binary(op, extended, Value::Const(by)) })
    }

    /// `[X1]`, `[X1,#8]`, `[X1,X2]`, `[X1,W2,SXTW]`.
    pub(super) fn arm_memory(&mut self, bits: u8) -> Parse<Mem> {
        self.expect("[")?;
        let mut terms = vec![self.arm_register_of(64)?.value()];
        if self.eat(",") {
            terms.push(if self.arm_is_constant() { Value::Const(self.arm_constant()?) } else { self.arm_second(64)? });
        }
        self.expect("]")?;
        if self.is("!") || self.is(",") {
            return Err(self.wrong("addresses that are changed by their use are not supported", "not supported"));
        }
        Ok(Mem { terms, bits })
    }
}
