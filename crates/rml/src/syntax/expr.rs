//! Expressions, ranges and references, by precedence climbing with C's precedences.

use cyrano_ir::{BinOp, Span, UnOp};

use crate::report::{Fallible, Reported};
use crate::syntax::ast::{At, Executed, Expr, ExprKind, LabelRef, Member, Name, Range, RangeKind};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

/// How high an expression's tree may be (the text form of the IR reads 500); a chain `a + b + …` counts as high as it is long.
const MAX_EXPR_DEPTH: u32 = 400;

/// The binary operator that a token stands for, and how tightly it binds.
pub(crate) fn binary_op(token: Token) -> Option<(BinOp, u8)> {
    Some(match token {
        Token::OrOr | Token::Or => (BinOp::Or, 1),
        Token::AndAnd | Token::And => (BinOp::And, 2),
        Token::Pipe => (BinOp::BitOr, 3),
        Token::Caret => (BinOp::BitXor, 4),
        Token::Amp => (BinOp::BitAnd, 5),
        Token::EqEq | Token::Eq => (BinOp::Eq, 6),
        Token::Ne => (BinOp::Ne, 6),
        Token::Lt => (BinOp::Lt, 7),
        Token::Le => (BinOp::Le, 7),
        Token::Gt => (BinOp::Gt, 7),
        Token::Ge => (BinOp::Ge, 7),
        Token::Shl => (BinOp::Shl, 8),
        Token::Shr => (BinOp::Shr, 8),
        Token::Plus => (BinOp::Add, 9),
        Token::Minus => (BinOp::Sub, 9),
        Token::Star => (BinOp::Mul, 10),
        Token::Slash => (BinOp::Div, 10),
        Token::Percent => (BinOp::Rem, 10),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// An expression.
    pub(crate) fn expr(&mut self) -> Fallible<Expr> {
        self.nested(|p| p.binary(1))
    }

    /// An expression without comparisons, so that `=` may follow.
    pub(crate) fn sum(&mut self) -> Fallible<Expr> {
        self.nested(|p| p.binary(8))
    }

    fn binary(&mut self, loosest: u8) -> Fallible<Expr> {
        let start = self.span();
        let mut left = self.unary()?;
        while let Some((op, binding)) = binary_op(self.peek()) {
            if binding < loosest {
                break;
            }
            self.bump();
            let right = self.binary(binding + 1)?;
            let depth = left.depth.max(right.depth) + 1;
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = self.node(kind, start, depth)?;
        }
        Ok(left)
    }

    /// An inner node, unless the tree grows too high.
    fn node(&mut self, kind: ExprKind, start: Span, depth: u32) -> Fallible<Expr> {
        let span = self.since(start);
        if depth > MAX_EXPR_DEPTH {
            let message = format!("this expression is more than {MAX_EXPR_DEPTH} operations deep");
            return Err(self.complain(start, message, "starts here", "compute it in several steps"));
        }
        Ok(Expr { kind, span, depth })
    }

    fn unary(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let op = match self.peek() {
            Token::Minus => UnOp::Neg,
            Token::Bang | Token::Not => UnOp::Not,
            _ => return self.operand(),
        };
        self.bump();
        let arg = self.nested(Self::unary)?;
        let depth = arg.depth + 1;
        self.node(ExprKind::Unary(op, Box::new(arg)), start, depth)
    }

    /// An operand, perhaps with `in set` or `not in set` behind it.
    fn operand(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let inner = self.primary()?;
        let negated = self.peek() == Token::Not && self.peek_second() == Token::In;
        if negated {
            self.bump();
        }
        if !self.eat(Token::In) {
            return Ok(inner);
        }
        let set = self.name()?;
        let depth = inner.depth + 1;
        let inside = self.node(ExprKind::In(Box::new(inner), set), start, depth)?;
        if !negated {
            return Ok(inside);
        }
        self.node(ExprKind::Unary(UnOp::Not, Box::new(inside)), start, depth + 1)
    }

    fn primary(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Int => ExprKind::Int(self.integer()?),
            Token::True | Token::False => ExprKind::Int((self.peek() == Token::True).into()),
            Token::SelfWord => ExprKind::SelfIndex,
            Token::Tid => ExprKind::Tid,
            Token::Ident | Token::Threads => return self.reference(),
            Token::Forall | Token::Exists => return self.quantified(),
            Token::OpenParen => {
                self.bump();
                return self.parenthesised(start);
            }
            Token::Cas | Token::Exchange | Token::FetchAdd => {
                let message = format!("{} stands alone on the right side of `:=`", self.peek().describe());
                return Err(self.complain(start, message, "not inside an expression", "assign it to a local first"));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        Ok(Expr { kind, span: start, depth: 1 })
    }

    /// What follows `(`: an expression, or the second component of a pair behind it.
    fn parenthesised(&mut self, start: Span) -> Fallible<Expr> {
        let first = self.outside_range(Self::expr)?;
        let second = if self.eat(Token::Comma) { Some(self.outside_range(Self::expr)?) } else { None };
        self.expect(Token::CloseParen)?;
        let Some(second) = second else { return Ok(first) };
        let depth = first.depth.max(second.depth) + 1;
        self.node(ExprKind::Tuple(vec![first, second]), start, depth)
    }

    /// Reads something in brackets, where a range around them does not matter.
    fn outside_range<T>(&mut self, inner: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<T> {
        let outer = std::mem::replace(&mut self.in_range, false);
        let result = inner(self);
        self.in_range = outer;
        result
    }

    /// The value of an integer token, which is not consumed unless it is wrong.
    pub(crate) fn integer(&mut self) -> Fallible<i128> {
        let text = self.text(self.span());
        let digits = text.replace('_', "");
        let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        value.map_err(|error| {
            use std::num::IntErrorKind::PosOverflow;
            let span = self.span();
            let reported = if *error.kind() == PosOverflow {
                let help = format!("integers have 128 bits: at most {}", i128::MAX);
                self.complain(span, "this integer is too large", "too large", &help)
            } else {
                let help = "write it in decimal, or in hexadecimal after `0x`";
                self.complain(span, "this is not an integer", "not an integer", help)
            };
            self.bump();
            reported
        })
    }

    /// `x`, `a[e]`, `t.x`, `t[e].a[e]`.
    pub(crate) fn reference(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let name = self.constant_name()?;
        if self.is_algorithm && name.text == "exec" && self.peek() == Token::OpenParen {
            return self.executed(start);
        }
        if name.text == "count" && self.peek() == Token::OpenParen && self.counts() {
            self.bump();
            let (thread, index) = (self.name()?, self.subscript()?);
            self.expect(Token::At)?;
            let point = self.point(start, (thread, index), true)?;
            self.expect(Token::CloseParen)?;
            return Ok(point);
        }
        let index = self.subscript()?;
        if self.eat(Token::At) {
            return self.point(start, (name, index), false);
        }
        if self.eat(Token::Dot) {
            let var = self.name()?;
            let elem = self.subscript()?;
            let depth = 1 + index.iter().chain(&elem).map(|e| e.depth).max().unwrap_or(0);
            if elem.is_none() && self.peek() == Token::OpenParen {
                return Err(self.call_inside(&name, "…"));
            }
            let member = Member { thread: name, thread_index: index, var, index: elem };
            return self.node(ExprKind::Member(Box::new(member)), start, depth);
        }
        if index.is_none() && !self.in_range && self.peek() == Token::OpenParen {
            return Err(self.call_inside(&name, &format!("{}(…)", name.text)));
        }
        match index {
            Some(index) => {
                let depth = index.depth + 1;
                self.node(ExprKind::Element(name, Box::new(index)), start, depth)
            }
            None => self.node(ExprKind::Name(name), start, 1),
        }
    }

    /// Whether `count` is followed by a place of threads in parentheses: a procedure may have that name, too.
    fn counts(&self) -> bool {
        let ahead = (1..).map(|ahead| self.peek_ahead(ahead));
        ahead.take_while(|token| !matches!(token, Token::CloseParen | Token::End)).any(|token| token == Token::At)
    }

    /// What follows `@`.
    fn point(&mut self, start: Span, (thread, index): (Name, Option<Expr>), counted: bool) -> Fallible<Expr> {
        let label = self.name()?;
        let depth = 1 + index.as_ref().map_or(0, |index| index.depth);
        self.node(ExprKind::At(Box::new(At { thread, index, label, counted })), start, depth)
    }

    /// What follows `exec`.
    fn executed(&mut self, start: Span) -> Fallible<Expr> {
        self.bump();
        let mut first = LabelRef { call: None, label: self.name()? };
        if self.eat(Token::Dot) {
            let call = std::mem::replace(&mut first.label, self.name()?);
            first.call = Some(call);
        }
        self.expect(Token::CloseParen)?;
        self.node(ExprKind::Executed(Box::new(Executed { first, second: None })), start, 1)
    }

    fn call_inside(&mut self, name: &Name, call: &str) -> Reported {
        let help = format!("assign it to a local first: `r := {call}`");
        let message = "a call stands alone on the right side of `:=`";
        self.complain(name.span, message, "not inside an expression", &help)
    }

    /// `[e]`, if it is there.
    pub(crate) fn subscript(&mut self) -> Fallible<Option<Expr>> {
        if !self.eat(Token::OpenBracket) {
            return Ok(None);
        }
        let index = self.outside_range(Self::expr)?;
        self.expect(Token::CloseBracket)?;
        Ok(Some(index))
    }

    fn quantified(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let all = self.peek() == Token::Forall;
        self.bump();
        let (binder, range) = self.binder()?;
        self.expect(Token::OpenParen)?;
        let body = Box::new(self.outside_range(Self::expr)?);
        self.expect(Token::CloseParen)?;
        let depth = 1 + body.depth.max(range_depth(&range));
        self.node(ExprKind::Quantified { all, binder, range, body }, start, depth)
    }

    /// `name in range`.
    pub(crate) fn binder(&mut self) -> Fallible<(Name, Range)> {
        let name = self.name()?;
        self.expect(Token::In)?;
        Ok((name, self.range()?))
    }

    /// A range.
    pub(crate) fn range(&mut self) -> Fallible<Range> {
        let outer = std::mem::replace(&mut self.in_range, true);
        let range = self.range_inner();
        self.in_range = outer;
        range
    }

    fn range_inner(&mut self) -> Fallible<Range> {
        let start = self.span();
        let kind = if self.peek() == Token::OpenBrace {
            RangeKind::List(self.list(Token::OpenBrace, Token::CloseBrace, Self::expr)?)
        } else {
            let first = Box::new(self.expr()?);
            match self.peek() {
                Token::Dots => {
                    self.bump();
                    RangeKind::Inclusive(first, Box::new(self.expr()?))
                }
                Token::DotsBelow => {
                    self.bump();
                    RangeKind::Exclusive(first, Box::new(self.expr()?))
                }
                _ => return Err(self.unexpected("`..` or `..<`")),
            }
        };
        Ok(Range { kind, span: self.since(start) })
    }
}

fn range_depth(range: &Range) -> u32 {
    match &range.kind {
        RangeKind::Inclusive(a, b) | RangeKind::Exclusive(a, b) => a.depth.max(b.depth),
        RangeKind::List(values) => values.iter().map(|v| v.depth).max().unwrap_or(0),
    }
}
