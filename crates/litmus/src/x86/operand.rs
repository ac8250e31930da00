//! Operands, in both notations.

use cyrano_ir::{Diagnostic, Span};

use super::ast::{Mem, Operand, Register};
use super::registers::{Word, lookup};
use crate::asm::cell::Cell;
use crate::ast::{Arch, Name};
use crate::cursor::Parse;
use crate::token::{Kind, Token};

impl Cell<'_, '_> {
    /// Every operand, separated by commas, with its place.
    pub(crate) fn operands(&mut self) -> Parse<Vec<(Operand, Span)>> {
        let mut list = Vec::new();
        while self.peek().is_some() {
            let start = self.span();
            let operand = self.operand()?;
            let end = self.tokens[self.at.saturating_sub(1)].span;
            list.push((operand, start.to(end)));
            if self.peek().is_some() && !self.eat(",") {
                let found = self.peek().map_or("", |token| token.text);
                return Err(self.wrong(format!("expected `,` between operands, found `{found}`"), "unexpected"));
            }
        }
        Ok(list)
    }

    fn operand(&mut self) -> Parse<Operand> {
        let Some(token) = self.peek() else {
            return Err(self.wrong("an operand is missing", "behind this"));
        };
        match token.text {
            "$" => {
                self.take();
                match self.peek() {
                    Some(name) if name.kind == Kind::Word => {
                        self.take();
                        Ok(Operand::Address(Name { text: name.text.to_owned(), span: name.span }))
                    }
                    _ => self.integer().map(Operand::Imm),
                }
            }
            "[" | "(" => self.memory().map(Operand::Mem),
            "%" => self.register().map(Operand::Reg),
            "-" => self.integer().map(Operand::Imm),
            _ if token.kind == Kind::Number => {
                let value = self.integer()?;
                if !self.is("(") && !self.is("[") {
                    return Ok(Operand::Imm(value));
                }
                match value {
                    0 => self.memory().map(Operand::Mem),
                    _ => Err(Diagnostic::new(token.span, "addresses with an offset are not supported", "this offset")),
                }
            }
            _ if token.kind == Kind::Word => self.word(token),
            _ => Err(self.wrong(format!("expected an operand, found `{}`", token.text), "unexpected")),
        }
    }

    fn word(&mut self, token: Token<'_>) -> Parse<Operand> {
        match lookup(self.arch, token.text) {
            Word::Register(_) | Word::Refused(_) => self.register().map(Operand::Reg),
            Word::Other => {
                let message = format!("`{}` is no register", token.text);
                let help = format!("memory is written in brackets: `[{}]`", token.text);
                Err(Diagnostic::new(token.span, message, "not an operand").with_help(help))
            }
        }
    }

    fn register(&mut self) -> Parse<Register> {
        let marked = self.eat("%");
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Word) else {
            return Err(self.wrong("expected a register", "here"));
        };
        self.take();
        match lookup(self.arch, token.text) {
            Word::Register(register) => Ok(register),
            Word::Refused(why) => Err(Diagnostic::new(token.span, why, "not supported")),
            Word::Other if marked && self.arch == Arch::X86 => {
                Ok(Register { name: format!("%{}", token.text), bits: 32 })
            }
            Word::Other => Err(Diagnostic::new(token.span, format!("there is no register `{}`", token.text), "here")),
        }
    }

    /// `[x]`, `(x)`, `[EBX]`, `(%rbx)`.
    fn memory(&mut self) -> Parse<Mem> {
        let open = self.span();
        let close = if self.eat("[") { "]" } else { ")" };
        if close == ")" {
            self.eat("(");
        }
        let Some(token) = self.peek() else { return Err(self.wrong("expected an address", "behind this")) };
        let register = token.text == "%" || !matches!(lookup(self.arch, token.text), Word::Other);
        let mem = if register {
            let register = self.register()?;
            Mem::Reg(register, open.to(self.tokens[self.at - 1].span))
        } else if token.kind == Kind::Word {
            self.take();
            Mem::Loc(Name { text: token.text.to_owned(), span: token.span })
        } else {
            return Err(self.wrong(format!("`{}` is not an address", token.text), "expected a location or a register"));
        };
        if !self.eat(close) {
            let message = match self.peek() {
                Some(next) if matches!(next.text, "+" | "-" | "," | "*") => {
                    "addresses with an offset or an index are not supported".to_owned()
                }
                Some(next) => format!("expected `{close}`, found `{}`", next.text),
                None => format!("expected `{close}`"),
            };
            return Err(self.wrong(message, "here"));
        }
        Ok(mem)
    }
}
