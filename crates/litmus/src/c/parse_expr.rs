//! Expressions: calls, operators by how tightly they bind.

use cyrano_ir::{BinOp, Diagnostic, Span};

use super::ast::{Expr, ExprKind, Order, Type};
use super::calls::{Call, Called, resolve};
use super::parse::Parser;
use super::types::{self, is_type_word};
use crate::cursor::Parse;
use crate::token::Kind;

impl Parser<'_, '_> {
    /// A call; the inner error is one that reading can go on behind.
    pub(super) fn call(&mut self) -> Parse<Result<Called, Diagnostic>> {
        let name = self.name("a function")?;
        self.cursor.expect("(")?;
        let mut args = Vec::new();
        while !self.cursor.is(")") {
            args.push(self.expr(0)?);
            if !self.cursor.is(")") {
                self.cursor.expect(",")?;
            }
        }
        let end = self.cursor.expect(")")?.span;
        Ok(resolve(Call { span: name.span.to(end), at: name.span, name: name.text, args }))
    }

    /// An expression whose operators bind at least as tightly as this.
    pub(super) fn expr(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.unary()?;
        while let Some((operator, power)) = operator(self.cursor.peek().text).filter(|(_, power)| *power >= least)
            && self.cursor.peek().kind == Kind::Mark
        {
            self.cursor.take()?;
            self.cursor.term()?;
            let right = self.deeper(|parser| parser.expr(power + 1))?;
            let span = left.span.to(right.span);
            let kind = match operator {
                Operator::Plain(op) => ExprKind::Binary(op, left.boxed(), right.boxed()),
                Operator::Lazy(and) => ExprKind::Lazy(and, left.boxed(), right.boxed()),
            };
            left = Expr { kind, span };
        }
        if self.cursor.is("?") {
            return Err(Diagnostic::new(self.cursor.peek().span, "`?:` is not supported", "not supported"));
        }
        Ok(left)
    }

    /// Reads something nested; the depth is limited.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Parser<'_, '_>) -> Parse<T>) -> Parse<T> {
        let errors = &mut self.errors;
        self.cursor.nested(|cursor| {
            let mut parser = Parser { cursor, errors: Vec::new() };
            let result = read(&mut parser);
            errors.append(&mut parser.errors);
            result
        })
    }

    pub(super) fn unary(&mut self) -> Parse<Expr> {
        self.deeper(|parser| parser.unary_here())
    }

    fn unary_here(&mut self) -> Parse<Expr> {
        let token = self.cursor.peek();
        let start = token.span;
        if token.kind == Kind::Mark {
            match token.text {
                "*" => {
                    self.cursor.take()?;
                    let from = self.unary()?;
                    let span = start.to(from.span);
                    return Ok(Expr { kind: ExprKind::Load { from: from.boxed(), order: Order::Plain }, span });
                }
                "-" | "!" | "~" => {
                    self.cursor.take()?;
                    let inner = self.unary()?;
                    let span = start.to(inner.span);
                    let kind = match token.text {
                        "-" => ExprKind::Neg(inner.boxed()),
                        "!" => ExprKind::Not(inner.boxed()),
                        _ => ExprKind::Flip(inner.boxed()),
                    };
                    return Ok(Expr { kind, span });
                }
                "&" => {
                    self.cursor.take()?;
                    let name = self.name("a variable")?;
                    return Ok(Expr { kind: ExprKind::AddressOf(name.text), span: start.to(name.span) });
                }
                "(" => return self.group(start),
                _ => {}
            }
        }
        self.primary()
    }

    /// `(…)`, or a cast, which is left to conversions where it changes nothing.
    fn group(&mut self, start: Span) -> Parse<Expr> {
        self.cursor.take()?;
        if is_type_word(self.cursor.peek().text) {
            let ty: Type = types::read(self.cursor)?;
            self.cursor.expect(")")?;
            let inner = self.unary()?;
            let constant = matches!(inner.kind, ExprKind::Int(value) if ty.pointers > 0 || ty.int.wrap(value) == value);
            if !constant {
                let message = "casts are supported on constants that fit only";
                self.errors.push(Diagnostic::new(start.to(inner.span), message, "this cast"));
            }
            return Ok(inner);
        }
        let inner = self.expr(0)?;
        self.cursor.expect(")")?;
        Ok(inner)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let token = self.cursor.peek();
        match token.kind {
            Kind::Number => {
                let (value, span) = self.cursor.integer("a number")?;
                Ok(Expr { kind: ExprKind::Int(value), span })
            }
            Kind::Word if self.cursor.second().is_some_and(|next| next.text == "(") => {
                let zero = Expr { kind: ExprKind::Int(0), span: token.span };
                match self.call()? {
                    Ok(Called::Value(kind)) => Ok(Expr { kind, span: token.span }),
                    Ok(Called::Stmt(_) | Called::Nothing) => {
                        let message = format!("`{}` has no value", token.text);
                        self.errors.push(Diagnostic::new(token.span, message, "used as a value"));
                        Ok(zero)
                    }
                    Err(error) => {
                        self.errors.push(error);
                        Ok(zero)
                    }
                }
            }
            Kind::Word if token.text == "NULL" => {
                self.cursor.take()?;
                Ok(Expr { kind: ExprKind::Int(0), span: token.span })
            }
            Kind::Word => {
                self.cursor.take()?;
                Ok(Expr { kind: ExprKind::Name(token.text.to_owned()), span: token.span })
            }
            _ => Err(self.cursor.unexpected("an expression")),
        }
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Plain(BinOp),
    /// `&&` (true) or `||`.
    Lazy(bool),
}

/// An operator and how tightly it binds.
fn operator(text: &str) -> Option<(Operator, u8)> {
    use Operator::{Lazy, Plain};
    Some(match text {
        "||" => (Lazy(false), 1),
        "&&" => (Lazy(true), 2),
        "|" => (Plain(BinOp::BitOr), 3),
        "^" => (Plain(BinOp::BitXor), 4),
        "&" => (Plain(BinOp::BitAnd), 5),
        "==" => (Plain(BinOp::Eq), 6),
        "!=" => (Plain(BinOp::Ne), 6),
        "<" => (Plain(BinOp::Lt), 7),
        "<=" => (Plain(BinOp::Le), 7),
        ">" => (Plain(BinOp::Gt), 7),
        ">=" => (Plain(BinOp::Ge), 7),
        "<<" => (Plain(BinOp::Shl), 8),
        ">>" => (Plain(BinOp::Shr), 8),
        "+" => (Plain(BinOp::Add), 9),
        "-" => (Plain(BinOp::Sub), 9),
        "*" => (Plain(BinOp::Mul), 10),
        "/" => (Plain(BinOp::Div), 10),
        "%" => (Plain(BinOp::Rem), 10),
        _ => return None,
    })
}
