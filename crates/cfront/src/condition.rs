//! The expressions of `#if` and `#elif`: integers, `defined`, the operators of C without side effects.

use cyrano_ir::{BinOp, Expr, UnOp};

use crate::macros::Macros;
use crate::source::{Loc, Problem, Problems};
use crate::token::{Token, TokenKind};

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

/// Whether the condition holds; an error is reported and counts as false.
pub(crate) fn holds(line: &[Token], at: Loc, macros: &mut Macros, problems: &mut Problems) -> bool {
    let tokens = resolve_defined(line, macros);
    let tokens = macros.expand(tokens, problems);
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let value = parser.level(0).and_then(|expr| match parser.tokens.get(parser.at) {
        Some(rest) => Err(format!("`{}` is not expected here", rest.text)),
        None => expr.eval(&mut |()| Ok(0)).map_err(|error| error.to_string()),
    });
    value.map(|value| value != 0).unwrap_or_else(|message| {
        problems.add(Problem::new(at, format!("this condition cannot be evaluated: {message}"), "in this directive"));
        false
    })
}

/// Replaces `defined X` and `defined(X)` by 0 or 1, before macros are expanded.
fn resolve_defined(line: &[Token], macros: &Macros) -> Vec<Token> {
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
                let text = i32::from(macros.table.contains_key(&name.text)).to_string();
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

type Parsed = Result<Expr<()>, String>;

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| token.is(text));
        self.at += usize::from(found);
        found
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
            left = Expr::binary(*op, left, self.level(level + 1)?);
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
        if self.eat("!") {
            return Ok(Expr::unary(UnOp::Not, self.unary()?));
        }
        if self.eat("-") {
            return Ok(Expr::unary(UnOp::Neg, self.unary()?));
        }
        if self.eat("~") {
            return Ok(Expr::binary(BinOp::BitXor, self.unary()?, Expr::Const(-1)));
        }
        if self.eat("+") {
            return self.unary();
        }
        if self.eat("(") {
            let inner = self.level(0)?;
            return if self.eat(")") { Ok(inner) } else { Err("a closing parenthesis is missing".into()) };
        }
        let token = self.tokens.get(self.at).ok_or("it ends too early")?;
        self.at += 1;
        match token.kind {
            TokenKind::Number => {
                let parsed = parse_integer(&token.text).map(|(value, ..)| Expr::Const(value));
                parsed.ok_or_else(|| format!("`{}` is not an integer", token.text))
            }
            // As in C, a name that is no macro counts as 0.
            TokenKind::Ident => Ok(Expr::Const(0)),
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
