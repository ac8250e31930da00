//! Expressions.

use cyrano_ir::BinOp;
use lang_c::ast as c;
use lang_c::span::Node;

use super::Converter;
use crate::ast::{Designator, Expr, ExprKind, Text, TypeExpr, Unary};
use crate::preprocess::condition::parse_integer;
use crate::source::Loc;

impl Converter<'_> {
    pub(super) fn expr(&mut self, node: &Node<c::Expression>) -> Expr {
        let loc = self.loc(node);
        Expr { kind: self.expr_kind(&node.node, loc), loc }
    }

    fn boxed(&mut self, node: &Node<c::Expression>) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    fn refused(&mut self, loc: Loc, what: &str) -> ExprKind {
        self.refuse(loc, what);
        ExprKind::Error
    }

    fn expr_kind(&mut self, node: &c::Expression, loc: Loc) -> ExprKind {
        match node {
            c::Expression::Identifier(name) => ExprKind::Name(super::written(&name.node)),
            c::Expression::Constant(constant) => self.constant(&constant.node, loc),
            c::Expression::StringLiteral(literal) => self.string(&literal.node, loc),
            c::Expression::Member(member) => ExprKind::Member {
                base: self.boxed(&member.node.expression),
                arrow: member.node.operator.node == c::MemberOperator::Indirect,
                field: self.name(&member.node.identifier),
            },
            c::Expression::Call(call) => {
                let args: Vec<_> = call.node.arguments.iter().map(|arg| self.expr(arg)).collect();
                match &call.node.callee.node {
                    c::Expression::Identifier(name) if is_asm(&name.node.name) => match args.as_slice() {
                        [Expr { kind: ExprKind::Str(text), .. }] if text.chars.is_empty() => {
                            ExprKind::Cast(TypeExpr::Void, Box::new(Expr { kind: zero(), loc }))
                        }
                        _ => self.refused(loc, "assembly; write what it does with atomic operations and fences"),
                    },
                    c::Expression::Identifier(name) => ExprKind::Call { callee: self.name(name), args },
                    _ => ExprKind::CallPointer { callee: self.boxed(&call.node.callee), args },
                }
            }
            c::Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name);
                ExprKind::Compound(ty, self.init_items(&literal.node.initializer_list))
            }
            c::Expression::SizeOfTy(ty) => ExprKind::SizeofType(self.type_name(&ty.node.0)),
            c::Expression::SizeOfVal(value) => ExprKind::SizeofExpr(self.boxed(&value.node.0)),
            c::Expression::UnaryOperator(unary) => self.unary(&unary.node),
            c::Expression::Cast(cast) => {
                let ty = self.type_name(&cast.node.type_name);
                ExprKind::Cast(ty, self.boxed(&cast.node.expression))
            }
            c::Expression::BinaryOperator(binary) => self.binary(&binary.node),
            c::Expression::Conditional(cond) => ExprKind::Cond(
                self.boxed(&cond.node.condition),
                self.boxed(&cond.node.then_expression),
                self.boxed(&cond.node.else_expression),
            ),
            c::Expression::Comma(list) => ExprKind::Comma(list.iter().map(|expr| self.expr(expr)).collect()),
            c::Expression::GenericSelection(selection) => {
                let value = self.boxed(&selection.node.expression);
                let choices = selection.node.associations.iter().map(|association| match &association.node {
                    c::GenericAssociation::Type(ty) => {
                        (Some(self.type_name(&ty.node.type_name)), self.expr(&ty.node.expression))
                    }
                    c::GenericAssociation::Default(value) => (None, self.expr(value)),
                });
                ExprKind::Generic(value, choices.collect())
            }
            c::Expression::AlignOf(ty) => ExprKind::Alignof(self.type_name(&ty.node.0)),
            c::Expression::OffsetOf(offset) => {
                let ty = self.type_name(&offset.node.type_name);
                let mut path = vec![Designator::Field(self.name(&offset.node.designator.node.base))];
                for member in &offset.node.designator.node.members {
                    match &member.node {
                        c::OffsetMember::Member(name) => path.push(Designator::Field(self.name(name))),
                        c::OffsetMember::Index(index) => path.push(Designator::Index(self.expr(index))),
                        c::OffsetMember::IndirectMember(_) => return self.refused(loc, "`->` within `offsetof`"),
                    }
                }
                ExprKind::Offsetof(ty, path)
            }
            c::Expression::VaArg(_) => self.refused(loc, "`va_arg`"),
            c::Expression::Statement(stmt) => match &stmt.node {
                c::Statement::Compound(items) => {
                    ExprKind::Statement(items.iter().filter_map(|item| self.block_item(item)).collect())
                }
                _ => self.refused(loc, "this statement within an expression"),
            },
        }
    }

    fn string(&mut self, parts: &[String], loc: Loc) -> ExprKind {
        let mut text = Text { written: String::new(), chars: Vec::new() };
        for part in parts {
            let inner = part.strip_prefix("u8").unwrap_or(part);
            let inner = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
            let Some((inner, chars)) = inner.and_then(|inner| Some((inner, characters(inner)?))) else {
                return self.refused(loc, "a string of wide characters, or with a character that is none");
            };
            text.written.push_str(inner);
            text.chars.extend(chars);
        }
        ExprKind::Str(text)
    }

    fn constant(&mut self, constant: &c::Constant, loc: Loc) -> ExprKind {
        match constant {
            c::Constant::Integer(integer) => {
                let prefix = match integer.base {
                    c::IntegerBase::Decimal => "",
                    c::IntegerBase::Octal => "0",
                    c::IntegerBase::Hexadecimal => "0x",
                    c::IntegerBase::Binary => "0b",
                };
                let long = integer.suffix.size != c::IntegerSize::Int;
                let decimal = integer.base == c::IntegerBase::Decimal;
                let unsigned = integer.suffix.unsigned || !decimal;
                match parse_integer(&format!("{prefix}{}", integer.number)) {
                    Some((value, ..)) if !unsigned && value > i128::from(i64::MAX) => {
                        self.refused(loc, "a decimal constant that no signed type has; give it the suffix `u`")
                    }
                    Some((value, ..)) => ExprKind::Int { value, unsigned: integer.suffix.unsigned, long, decimal },
                    None => self.refused(loc, "an integer of more than 64 bits"),
                }
            }
            c::Constant::Character(text) => {
                let value = character(text);
                match value {
                    Some(value) => ExprKind::Int { value, unsigned: false, long: false, decimal: true },
                    None => self.refused(loc, "this character constant"),
                }
            }
            c::Constant::Float(_) => self.refused(loc, "floating-point numbers"),
        }
    }

    fn unary(&mut self, unary: &c::UnaryOperatorExpression) -> ExprKind {
        let operand = self.boxed(&unary.operand);
        let step = |by, prefix, target| ExprKind::Step { by, prefix, target };
        match unary.operator.node {
            c::UnaryOperator::PostIncrement => step(1, false, operand),
            c::UnaryOperator::PostDecrement => step(-1, false, operand),
            c::UnaryOperator::PreIncrement => step(1, true, operand),
            c::UnaryOperator::PreDecrement => step(-1, true, operand),
            c::UnaryOperator::Address => ExprKind::AddrOf(operand),
            c::UnaryOperator::Indirection => ExprKind::Deref(operand),
            c::UnaryOperator::Plus => ExprKind::Unary(Unary::Plus, operand),
            c::UnaryOperator::Minus => ExprKind::Unary(Unary::Minus, operand),
            c::UnaryOperator::Complement => ExprKind::Unary(Unary::Complement, operand),
            c::UnaryOperator::Negate => ExprKind::Unary(Unary::Not, operand),
        }
    }

    fn binary(&mut self, binary: &c::BinaryOperatorExpression) -> ExprKind {
        use c::BinaryOperator as B;
        let (left, right) = (self.boxed(&binary.lhs), self.boxed(&binary.rhs));
        let (op, assigns) = match binary.operator.node {
            B::Index => return ExprKind::Index(left, right),
            B::Assign => return ExprKind::Assign(None, left, right),
            B::Multiply => (BinOp::Mul, false),
            B::Divide => (BinOp::Div, false),
            B::Modulo => (BinOp::Rem, false),
            B::Plus => (BinOp::Add, false),
            B::Minus => (BinOp::Sub, false),
            B::ShiftLeft => (BinOp::Shl, false),
            B::ShiftRight => (BinOp::Shr, false),
            B::Less => (BinOp::Lt, false),
            B::Greater => (BinOp::Gt, false),
            B::LessOrEqual => (BinOp::Le, false),
            B::GreaterOrEqual => (BinOp::Ge, false),
            B::Equals => (BinOp::Eq, false),
            B::NotEquals => (BinOp::Ne, false),
            B::BitwiseAnd => (BinOp::BitAnd, false),
            B::BitwiseXor => (BinOp::BitXor, false),
            B::BitwiseOr => (BinOp::BitOr, false),
            B::LogicalAnd => (BinOp::And, false),
            B::LogicalOr => (BinOp::Or, false),
            B::AssignMultiply => (BinOp::Mul, true),
            B::AssignDivide => (BinOp::Div, true),
            B::AssignModulo => (BinOp::Rem, true),
            B::AssignPlus => (BinOp::Add, true),
            B::AssignMinus => (BinOp::Sub, true),
            B::AssignShiftLeft => (BinOp::Shl, true),
            B::AssignShiftRight => (BinOp::Shr, true),
            B::AssignBitwiseAnd => (BinOp::BitAnd, true),
            B::AssignBitwiseXor => (BinOp::BitXor, true),
            B::AssignBitwiseOr => (BinOp::BitOr, true),
        };
        if assigns { ExprKind::Assign(Some(op), left, right) } else { ExprKind::Binary(op, left, right) }
    }
}

fn is_asm(name: &str) -> bool {
    matches!(name, "asm" | "__asm" | "__asm__")
}

fn zero() -> ExprKind {
    ExprKind::Int { value: 0, unsigned: false, long: false, decimal: true }
}

/// The value of a character constant, which is that of a signed `char`.
pub(crate) fn character(text: &str) -> Option<i128> {
    match characters(text.strip_prefix('\'')?.strip_suffix('\'')?)?[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// The values of the bytes between quotes, as those of a signed `char`.
fn characters(text: &str) -> Option<Vec<i128>> {
    let mut found = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = if *first == b'\\' { escaped(after)? } else { (*first, after) };
        found.push(i128::from(byte.cast_signed()));
        rest = after;
    }
    Some(found)
}

/// The byte that stands behind a backslash, and what is behind it.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    let numbered = |digits: &[u8], base| u8::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok();
    let byte = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'e' => 27,
        b'\\' | b'\'' | b'"' | b'?' => *first,
        b'x' => {
            let count = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            return Some((numbered(&rest[..count], 16)?, &rest[count..]));
        }
        b'0'..=b'7' => {
            let count = text.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
            return Some((numbered(&text[..count], 8)?, &text[count..]));
        }
        _ => return None,
    };
    Some((byte, rest))
}
