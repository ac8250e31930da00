//! Expressions over symbolic values, and what a value was computed from.
//!
//! **Invariant:** the literal beside a value says that its computation goes wrong; where it does, the value means nothing.
//! Dependencies are those of the text, as in the reference interpreter: every register that an expression names counts. Under models about relations two things are told apart, as
//! the reference does: a condition that only selects one of two values does not go into the value directly, and what is not selected does not go in at all.

use std::rc::Rc;

use cyrano_ir::{BinOp, Expr, IntType, LocalExpr, Place, RegId, UnOp};

use crate::execute::arith::Computed;
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// The reading accesses that a value was computed from, each with the literal that says so.
pub(crate) type Taint = Rc<Vec<(u32, Lit)>>;

/// An access that goes into a value directly is in its set once more, with this bit, where a model tells such dependencies apart.
pub(crate) const DIRECT: u32 = 1 << 31;

/// How front ends write a condition that selects a value: a number of one bit that multiplies it.
const CONDITION: UnOp = UnOp::Wrap(IntType { bits: 1, signed: false });

fn is_condition(expr: &LocalExpr) -> bool {
    matches!(expr, Expr::Unary(CONDITION, _))
}

/// What a thread's registers hold.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub(crate) values: Vec<Value>,
    /// One entry per register, or none if the model does not care.
    pub(crate) taints: Vec<Taint>,
    /// Whether the value may rest on a load or a choice.
    pub(crate) open: Vec<bool>,
    /// Whether a value does not depend on what a condition does not select.
    pub(crate) selective: bool,
}

impl Gates {
    /// Evaluates with `lookup` giving the variables' values.
    pub(crate) fn eval<V>(&mut self, expr: &Expr<V>, lookup: &mut dyn FnMut(&mut Self, &V) -> Computed) -> Computed {
        match expr {
            Expr::Const(value) => (Value::constant(*value), FALSE),
            Expr::Var(var) => lookup(self, var),
            Expr::Unary(op, arg) => {
                let (arg, wrong) = self.eval(arg, lookup);
                self.exchanges.retain(|swap| swap.keeps_unary(*op, &arg.range));
                let (value, fails) = self.unary(*op, &arg);
                (value, self.or(wrong, fails))
            }
            Expr::Binary(op, left, right) => {
                let (left, left_wrong) = self.eval(left, lookup);
                let (right, right_wrong) = self.eval(right, lookup);
                // The right side of `&&` and `||` counts only where the left side does not decide.
                let right_wrong = match op {
                    BinOp::And | BinOp::Or => {
                        let holds = self.is_true(&left);
                        let matters = if *op == BinOp::And { holds } else { !holds };
                        self.and(matters, right_wrong)
                    }
                    _ => right_wrong,
                };
                // Where it counts and can never be computed, that is an error already; elsewhere the left side is the value.
                let decides = matches!(op, BinOp::And | BinOp::Or) && right.range.values() == Some(&[]);
                let right = if decides { Value::constant(0) } else { right };
                self.exchanges.retain(|swap| swap.keeps_binary(*op, &left.range, &right.range));
                let (value, fails) = self.binary(*op, &left, &right);
                let wrong = self.or(left_wrong, right_wrong);
                (value, self.or(wrong, fails))
            }
        }
    }

    /// The numbers below `len` that are `valid` and that a value may be, each with its literal; and the literal for none of them.
    pub(crate) fn cases(&mut self, value: &Value, len: u32, valid: impl Fn(i128) -> bool) -> (Vec<(i128, Lit)>, Lit) {
        let valid = |number: &i128| (0..i128::from(len)).contains(number) && valid(*number);
        let (good, bad): (Vec<i128>, Option<Vec<i128>>) = match value.range.values() {
            Some(values) => {
                let (good, bad) = values.iter().copied().partition(valid);
                (good, Some(bad))
            }
            None => {
                let (lo, hi) = value.range.bounds();
                ((lo.max(0)..=hi.min(i128::from(len) - 1)).filter(valid).collect(), None)
            }
        };
        let good: Vec<(i128, Lit)> = good.into_iter().map(|number| (number, self.equals(value, number))).collect();
        let none = match bad {
            _ if good.is_empty() => TRUE,
            Some(bad) => {
                let bad: Vec<Lit> = bad.into_iter().map(|number| self.equals(value, number)).collect();
                self.any(bad)
            }
            None => !self.any(good.iter().map(|(_, lit)| *lit)),
        };
        (good, none)
    }

    /// Both sets.
    pub(crate) fn union(&mut self, a: &Taint, b: &Taint) -> Taint {
        if a.is_empty() || Rc::ptr_eq(a, b) {
            return b.clone();
        }
        if b.is_empty() {
            return a.clone();
        }
        self.merged(a, b, |gates, one, other| gates.or(one, other))
    }

    /// The events of both sets, each with what becomes of its two literals; one that is not in a set has `FALSE` there.
    pub(crate) fn merged(
        &mut self,
        a: &Taint,
        b: &Taint,
        mut combine: impl FnMut(&mut Self, Lit, Lit) -> Lit,
    ) -> Taint {
        let mut all = Vec::with_capacity(a.len().max(b.len()));
        let (mut left, mut right) = (a.iter().copied().peekable(), b.iter().copied().peekable());
        // Both are sorted by event.
        while let Some(event) = left.peek().into_iter().chain(right.peek()).map(|(event, _)| *event).min() {
            let one = left.next_if(|(other, _)| *other == event).map_or(FALSE, |(_, lit)| lit);
            let other = right.next_if(|(other, _)| *other == event).map_or(FALSE, |(_, lit)| lit);
            all.push((event, if one == other { one } else { combine(self, one, other) }));
        }
        Rc::new(all)
    }

    /// The set where a literal holds, and nothing elsewhere.
    pub(crate) fn guarded(&mut self, lit: Lit, taint: &Taint) -> Taint {
        if lit == TRUE || taint.is_empty() {
            return taint.clone();
        }
        let kept = taint.iter().map(|(event, when)| (*event, self.and(lit, *when)));
        Rc::new(kept.filter(|(_, when)| *when != FALSE).collect())
    }
}

impl Registers {
    /// Evaluates an expression.
    pub(crate) fn eval(&self, gates: &mut Gates, expr: &LocalExpr) -> Computed {
        gates.eval(expr, &mut |gates, place| self.read(gates, place))
    }

    fn read(&self, gates: &mut Gates, place: &Place) -> Computed {
        let (choices, wrong) = self.resolve(gates, place);
        let Some(((last, _), others)) = choices.split_last() else { return (Value::constant(0), wrong) };
        let mut value = self.values[last.index()].clone();
        for (register, lit) in others {
            value = gates.choose(*lit, &self.values[register.index()], &value);
        }
        (value, wrong)
    }

    /// The registers that a place may stand for, each with its literal, and whether it stands for none.
    pub(crate) fn resolve(&self, gates: &mut Gates, place: &Place) -> (Vec<(RegId, Lit)>, Lit) {
        match place {
            Place::Reg(register) => (vec![(*register, TRUE)], FALSE),
            Place::Elem { base, len, index } => {
                let (index, wrong) = self.eval(gates, index);
                gates.exchanges.retain(|swap| !swap.moves(&index.range));
                let (cases, outside) = gates.cases(&index, *len, |_| true);
                let element = |(number, lit): (i128, Lit)| (RegId(base.0 + number as u32), lit);
                (cases.into_iter().map(element).collect(), gates.or(wrong, outside))
            }
        }
    }

    /// Whether an expression's value may rest on a load or a choice.
    pub(crate) fn is_open(&self, expr: &LocalExpr) -> bool {
        let mut open = false;
        cyrano_ir::dataflow::expr_reads(expr, &mut |register| open |= self.open[register.index()]);
        open
    }

    /// What an expression's value was computed from.
    pub(crate) fn taint(&self, gates: &mut Gates, expr: &LocalExpr) -> Taint {
        if self.selective && expr.applies(CONDITION) { self.selected(gates, expr) } else { self.named(gates, expr) }
    }

    /// The same for an expression with conditions that select.
    fn selected(&self, gates: &mut Gates, expr: &LocalExpr) -> Taint {
        match expr {
            Expr::Const(_) | Expr::Var(_) => self.named(gates, expr),
            Expr::Unary(CONDITION, inner) => {
                let taint = self.taint(gates, inner);
                Rc::new(taint.iter().filter(|(event, _)| event & DIRECT == 0).copied().collect())
            }
            Expr::Unary(_, inner) => self.taint(gates, inner),
            Expr::Binary(BinOp::Mul, select, other) if is_condition(select) => {
                let (value, wrong) = self.eval(gates, select);
                let holds = gates.is_true(&value);
                let counts = gates.or(holds, wrong);
                let (cond, value) = (self.taint(gates, select), self.taint(gates, other));
                let value = gates.guarded(counts, &value);
                gates.union(&cond, &value)
            }
            Expr::Binary(_, left, right) => {
                let (left, right) = (self.taint(gates, left), self.taint(gates, right));
                gates.union(&left, &right)
            }
        }
    }

    /// What the registers depend on that an expression names.
    fn named(&self, gates: &mut Gates, expr: &LocalExpr) -> Taint {
        let mut places = Vec::new();
        expr.for_each_var(&mut |place| places.push(place));
        let mut all = Taint::default();
        if self.taints.is_empty() {
            return all;
        }
        for place in places {
            let index = self.index_taint(gates, place);
            all = gates.union(&all, &index);
            for (register, lit) in self.resolve(gates, place).0 {
                let one = gates.guarded(lit, &self.taints[register.index()]);
                all = gates.union(&all, &one);
            }
        }
        all
    }

    /// What the choice of an array element was computed from.
    pub(crate) fn index_taint(&self, gates: &mut Gates, place: &Place) -> Taint {
        match place {
            Place::Elem { index, .. } if !self.taints.is_empty() => self.taint(gates, index),
            _ => Taint::default(),
        }
    }

    /// Writes a place; `choices` is what [`Registers::resolve`] said.
    pub(crate) fn write(
        &mut self,
        gates: &mut Gates,
        choices: &[(RegId, Lit)],
        value: &Value,
        taint: &Taint,
        open: bool,
    ) {
        for (register, lit) in choices {
            let at = register.index();
            self.open[at] = open || *lit != TRUE;
            self.values[at] = gates.choose(*lit, value, &self.values[at]);
            if !self.taints.is_empty() {
                let new = gates.guarded(*lit, taint);
                let old = gates.guarded(!*lit, &self.taints[at]);
                self.taints[at] = gates.union(&new, &old);
            }
        }
    }
}
