//! Invariant 8: timestamps are copied, compared, incremented and divided for a remainder, nothing else. Invariant 10: integer types have a width.
//!
//! A small type system: every expression has a [`Kind`], bottom up. Constants fit both types, and so does
//! whatever the checker could not make sense of, so that one mistake is reported once.

use super::Errors;
use crate::access::{Addr, Change};
use crate::cond::{FinalVar, Property};
use crate::expr::{BinOp, EvalError, Expr, UnOp};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program, Register, Thread, Ty};

/// The type of an expression, as far as it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Of this type.
    Typed(Ty),
    /// A constant; it fits every type.
    Const(i128),
    /// A broken id, or something that was reported already.
    Unknown,
}

impl Kind {
    const INT: Self = Self::Typed(Ty::Int);
    const TIMESTAMP: Self = Self::Typed(Ty::Timestamp);

    fn fits(self, other: Self) -> bool {
        match (self, other) {
            (Self::Typed(left), Self::Typed(right)) => left == right,
            _ => true,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::TIMESTAMP => "a timestamp",
            Self::Const(_) => "a constant",
            _ => "an integer",
        }
    }
}

/// Checks that arrays are of one type, and the conditions of checks.
pub(super) fn check_tables(program: &Program, errors: &mut Errors) {
    let mut typing = Typing::default();
    for array in &program.arrays {
        let start = array.base.index();
        let elements = program.locations.get(start..start.saturating_add(array.len as usize)).unwrap_or_default();
        if elements.iter().any(|element| content(element.ty) != content(elements[0].ty)) {
            typing.problem(format!("array `{}` mixes timestamps and integers", array.name));
        }
    }
    for check in &program.checks {
        let kind = match &check.property {
            Property::Final { cond, .. } => typing.expr(cond, &mut |_, var| final_kind(program, *var)),
            Property::Invariant(invariant) => typing
                .expr(&invariant.cond, &mut |_, var| var.value().map_or(Kind::INT, |var| final_kind(program, var))),
            _ => continue,
        };
        typing.expect_int(kind, "a condition");
    }
    typing.found.drain(..).for_each(|found| errors.push(found));
}

/// Checks one thread.
pub(super) fn check_thread(program: &Program, thread: &Thread, errors: &mut Errors) {
    for (pc, instr) in thread.code.iter().enumerate() {
        let mut typing = Typing::default();
        typing.op(program, &thread.registers, &instr.op);
        for problem in typing.found {
            errors.push_at(pc, problem);
        }
    }
}

fn final_kind(program: &Program, var: FinalVar) -> Kind {
    let ty = match var {
        FinalVar::Loc(loc) => program.locations.get(loc.index()).map(|l| l.ty),
        FinalVar::Reg(thread, reg) => program
            .threads
            .get(thread.index())
            .and_then(|thread| thread.registers.get(reg.index()))
            .map(|register| register.ty),
    };
    ty.map_or(Kind::Unknown, |ty| Kind::Typed(content(ty)))
}

/// The problems found so far.
#[derive(Default)]
struct Typing {
    found: Vec<String>,
}

impl Typing {
    fn problem(&mut self, message: impl Into<String>) {
        self.found.push(message.into());
    }

    fn op(&mut self, program: &Program, registers: &[Register], op: &Op) {
        let dst = op.dst().map(|dst| self.place(registers, dst));
        let addr = op.addr().map(|addr| self.addr(program, registers, addr));
        let operands = op.operands().into_iter();
        let kinds: Vec<_> = operands.map(|e| self.local_expr(registers, e)).collect();
        let (dst, addr) = (dst.unwrap_or(Kind::Unknown), addr.unwrap_or(Kind::Unknown));
        match op {
            Op::Assign { .. } => self.expect_fit(kinds[0], dst),
            Op::Access(access) => {
                self.expect_fit(addr, dst);
                self.change(access.change.as_ref(), addr, &kinds);
            }
            Op::Assume(_) | Op::Assert { .. } | Op::Limit { .. } | Op::Branch { .. } => {
                self.expect_int(kinds[0], "a condition");
            }
            Op::Invoke { .. } | Op::Respond(_) => {
                kinds.iter().for_each(|kind| self.expect_int(*kind, "what a call takes or returns"));
            }
            _ => {}
        }
    }

    fn change(&mut self, change: Option<&Change>, addr: Kind, operands: &[Kind]) {
        match (change, addr, operands) {
            (Some(Change::Add(_)), Kind::TIMESTAMP, [Kind::Const(0..) | Kind::Unknown]) => {}
            (Some(Change::Add(_)), Kind::TIMESTAMP, _) => {
                self.problem("fetch-add on a timestamp adds something other than a constant of at least 0");
            }
            _ => operands.iter().for_each(|kind| self.expect_fit(*kind, addr)),
        }
    }

    fn addr(&mut self, program: &Program, registers: &[Register], addr: &Addr) -> Kind {
        let loc = match addr {
            Addr::Fixed(loc) => Some(*loc),
            Addr::Indexed { array, index } => {
                let kind = self.local_expr(registers, index);
                self.expect_int(kind, "an index");
                program.arrays.get(array.index()).map(|array| array.base)
            }
        };
        let location = loc.and_then(|loc| program.locations.get(loc.index()));
        location.map_or(Kind::Unknown, |location| Kind::Typed(content(location.ty)))
    }

    fn local_expr(&mut self, registers: &[Register], expr: &LocalExpr) -> Kind {
        self.expr(expr, &mut |typing, place| typing.place(registers, place))
    }

    fn place(&mut self, registers: &[Register], place: &Place) -> Kind {
        let (base, len) = match place {
            Place::Reg(reg) => (reg.index(), 1),
            Place::Elem { base, len, index } => {
                let kind = self.local_expr(registers, index);
                self.expect_int(kind, "an index");
                (base.index(), *len as usize)
            }
        };
        match registers.get(base..base.saturating_add(len)) {
            Some([first, rest @ ..]) => {
                if rest.iter().any(|register| content(register.ty) != content(first.ty)) {
                    self.problem("a local array mixes timestamps and integers");
                    return Kind::Unknown;
                }
                Kind::Typed(content(first.ty))
            }
            _ => Kind::Unknown,
        }
    }

    fn expr<V>(&mut self, expr: &Expr<V>, var: &mut dyn FnMut(&mut Self, &V) -> Kind) -> Kind {
        match expr {
            Expr::Const(value) => Kind::Const(*value),
            Expr::Var(v) => var(self, v),
            Expr::Unary(op, arg) => {
                let kind = self.expr(arg, var);
                self.unary(*op, kind)
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.expr(left, var), self.expr(right, var));
                self.binary(*op, left, right)
            }
        }
    }

    fn unary(&mut self, op: UnOp, arg: Kind) -> Kind {
        if let UnOp::Wrap(ty) | UnOp::Fit(ty) = op
            && !ty.is_valid()
        {
            self.problem(format!("`{}`: integers have 1 to 64 bits", op.word()));
            return Kind::Unknown;
        }
        if let Kind::Const(value) = arg {
            let folded = Expr::<()>::unary(op, Expr::Const(value));
            return constant(folded.eval(&mut |()| Ok(0)));
        }
        self.expect_int(arg, &format!("an operand of `{}`", op.word()));
        Kind::INT
    }

    fn binary(&mut self, op: BinOp, left: Kind, right: Kind) -> Kind {
        use BinOp::{Add, Eq, Ge, Gt, Le, Lt, Ne, Rem};
        match (op, left, right) {
            (_, Kind::Const(a), Kind::Const(b)) => constant(op.apply(a, b)),
            (Add, Kind::TIMESTAMP, Kind::Const(by)) | (Add, Kind::Const(by), Kind::TIMESTAMP) => {
                if by < 0 {
                    self.problem(format!("a timestamp plus {by}, which is negative"));
                }
                Kind::TIMESTAMP
            }
            (Rem, Kind::TIMESTAMP, Kind::Const(by)) if by > 0 => Kind::INT,
            (Eq | Ne | Lt | Le | Gt | Ge, ..) => {
                if !left.fits(right) {
                    self.problem("a timestamp is compared with an integer");
                }
                Kind::INT
            }
            _ => {
                let role = format!("an operand of `{}`", op.symbol());
                self.expect_int(left, &role);
                self.expect_int(right, &role);
                Kind::INT
            }
        }
    }

    fn expect_int(&mut self, kind: Kind, role: &str) {
        if kind == Kind::TIMESTAMP {
            self.problem(format!("a timestamp is used as {role}"));
        }
    }

    fn expect_fit(&mut self, value: Kind, target: Kind) {
        if !value.fits(target) {
            let (value, target) = (value.noun(), target.noun());
            self.problem(format!("{value} is used as {target}"));
        }
    }
}

/// The type of what a place holds, as far as it matters here: pointers are integers, and gaps stand among those only.
fn content(ty: Ty) -> Ty {
    if ty == Ty::Timestamp { ty } else { Ty::Int }
}

/// An expression without variables is a constant, unless computing it goes wrong.
fn constant(value: Result<i128, EvalError>) -> Kind {
    value.map_or(Kind::INT, Kind::Const)
}
