//! The expressions of `#if` and `#elif`: integers, `defined`, the operators of C without side effects.
//!
//! Every integer is an `intmax_t` or an `uintmax_t` (C11, 6.10.1), both of 64 bits.

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr};

use crate::ast::Unary;
use crate::convert::character;
use crate::preprocess::macros::Macros;
use crate::preprocess::token::{Token, TokenKind};
use crate::source::{Loc, Problem, Problems};
use crate::types::arith::{self, LONG};
use crate::types::integers::common;
use crate::types::{SIZE, Type};

/// How deeply such an expression may be nested.
const MAX_DEPTH: usize = 64;

/// Operators from the loosest to the tightest.
const LEVELS: [&[BinOp]; 10] = [
    &[BinOp::Or],
    &[BinOp::And],
    &[BinOp::BitOr],
    &[BinOp::BitXor],
    &[BinOp::BitAnd],
    &[BinOp::Eq, BinOp::Ne],
    &[BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge],
    &[BinOp::Shl, BinOp::Shr],
    &[BinOp::Add, BinOp::Sub],
    &[BinOp::Mul, BinOp::Div, BinOp::Rem],
];

/// Whether the condition holds, all macros expanded; an error is reported and counts as false.
pub(crate) fn holds(tokens: &[Token], at: Loc, problems: &mut Problems) -> bool {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let value = parser.choice().and_then(|expr| match parser.tokens.get(parser.at) {
        Some(rest) => Err(format!("`{}` is not expected here", rest.text)),
        None => expr.value.eval(&mut |_| Ok(0)).map_err(|error| error.to_string()),
    });
    value.map(|value| value != 0).unwrap_or_else(|message| {
        problems.add(Problem::new(at, format!("this condition cannot be evaluated: {message}"), "in this directive"));
        false
    })
}

/// Replaces `defined X` and `defined(X)` by 0 or 1, before macros are expanded.
pub(crate) fn resolve_defined(line: &[Token], macros: &Macros) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let token = &line[at];
        let (name, len) = match (line.get(at + 1), line.get(at + 2), line.get(at + 3)) {
            (Some(open), Some(name), Some(close)) if open.is("(") && close.is(")") => (Some(name), 4),
            (Some(name), ..) => (Some(name), 2),
            _ => (None, 1),
        };
        match name.filter(|name| token.is_word("defined") && name.kind == TokenKind::Ident) {
            Some(name) => {
                let text = i32::from(macros.defines(&name.text)).to_string();
                found.push(Token { kind: TokenKind::Number, text, ..token.clone() });
                at += len;
            }
            None => {
                found.push(token.clone());
                at += 1;
            }
        }
    }
    found
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

/// An expression and its type.
struct Typed {
    value: LocalExpr,
    ty: IntType,
}

impl Typed {
    /// As a value of another type.
    fn to(self, ty: IntType) -> LocalExpr {
        arith::convert(self.value, &Type::Int(self.ty), &Type::Int(ty))
    }

    fn unary(self, op: Unary) -> Self {
        let ty = if op == Unary::Not { LONG } else { self.ty };
        Self { value: arith::negate(op, self.ty, self.value), ty }
    }

    fn binary(self, op: BinOp, right: Self) -> Self {
        let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
        let truth = matches!(op, BinOp::And | BinOp::Or);
        let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let ty = if shifts { self.ty } else { common(self.ty, right.ty) };
        let value = match shifts || truth {
            true => arith::integer(op, ty, self.value, right.value),
            false => arith::integer(op, ty, self.to(ty), right.to(ty)),
        };
        Self { value, ty: if compares || truth { LONG } else { ty } }
    }
}

type Parsed = Result<Typed, String>;

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token.is(text));
        self.at += usize::from(found);
        found
    }

    /// `condition ? one : other`.
    fn choice(&mut self) -> Parsed {
        let cond = self.level(0)?;
        if !self.eat("?") {
            return Ok(cond);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        let one = self.choice()?;
        if !self.eat(":") {
            return Err("a `:` is missing".into());
        }
        let other = self.choice()?;
        self.depth -= 1;
        let ty = common(one.ty, other.ty);
        // The other one is not evaluated, whatever is wrong with it.
        let chosen = if cond.value.eval(&mut |_| Ok(0)).map_err(|error| error.to_string())? != 0 { one } else { other };
        Ok(Typed { value: chosen.to(ty), ty })
    }

    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut count = 0;
        while let Some(op) = operators.iter().find(|op| self.eat(op.symbol())) {
            count += 1;
            if count > MAX_DEPTH {
                return Err("it is too long".into());
            }
            left = left.binary(*op, self.level(level + 1)?);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        let parsed = self.operand();
        self.depth -= 1;
        parsed
    }

    fn operand(&mut self) -> Parsed {
        let operators = [("!", Unary::Not), ("-", Unary::Minus), ("~", Unary::Complement), ("+", Unary::Plus)];
        if let Some((_, op)) = operators.into_iter().find(|(text, _)| self.eat(text)) {
            return Ok(self.unary()?.unary(op));
        }
        if self.eat("(") {
            let inner = self.choice()?;
            return if self.eat(")") { Ok(inner) } else { Err("a closing parenthesis is missing".into()) };
        }
        let token = self.tokens.get(self.at).ok_or("it ends too early")?;
        self.at += 1;
        match token.kind {
            TokenKind::Number => {
                let (value, unsigned, _) =
                    parse_integer(&token.text).ok_or_else(|| format!("`{}` is not an integer", token.text))?;
                let ty = if unsigned || LONG.wrap(value) != value { SIZE } else { LONG };
                Ok(Typed { value: Expr::Const(value), ty })
            }
            TokenKind::Char => {
                let value = character(&token.text).ok_or_else(|| format!("`{}` is no character", token.text))?;
                Ok(Typed { value: Expr::Const(value), ty: LONG })
            }
            // As in C, a name that is no macro counts as 0.
            TokenKind::Ident => Ok(Typed { value: Expr::Const(0), ty: LONG }),
            _ => Err(format!("`{}` is not expected here", token.text)),
        }
    }
}

/// The value of an integer constant, whether its suffix says unsigned, and whether it says long.
pub(crate) fn parse_integer(text: &str) -> Option<(i128, bool, bool)> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', b'0'..=b'7', ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let number = digits.trim_end_matches(['u', 'l']);
    let suffix = &digits[number.len()..];
    if !["", "u", "l", "ul", "lu", "ll", "ull", "llu"].contains(&suffix) {
        return None;
    }
    let value = u64::from_str_radix(number, base).ok()?;
    Some((value as i128, suffix.contains('u'), suffix.contains('l')))
}
