//! What a set of final states means for a test's condition.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{Addr, BinOp, EvalError, Expr, FinalExpr, FinalVar, LocalExpr, Op, UnOp, WORD};

use crate::Test;
use crate::ast::Quantifier;

/// How often the proposition holds, whatever the quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Observation {
    /// In no final state.
    Never,
    /// In some, and not in others.
    Sometimes,
    /// In every final state.
    Always,
}

impl Observation {
    /// The word in herd's output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "Never",
            Self::Sometimes => "Sometimes",
            Self::Always => "Always",
        }
    }
}

/// A value as it is shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shown {
    /// A number.
    Int(i128),
    /// The address of this location.
    Address(String),
}

/// A final state as the test shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinalState {
    /// One value per column.
    pub values: Vec<Shown>,
    /// Whether the proposition holds in it.
    pub holds: bool,
}

/// What a set of outcomes means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// The final states that pass the filter, each once.
    pub states: Vec<FinalState>,
    /// The number of those in which the proposition holds.
    pub positive: usize,
    /// The number of the others.
    pub negative: usize,
}

impl Judgement {
    /// How often the proposition holds. Without any state, never.
    pub fn observation(&self) -> Observation {
        match (self.positive, self.negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// Whether the quantified condition holds.
    pub fn holds(&self, quantifier: Quantifier) -> bool {
        match quantifier {
            Quantifier::Exists => self.positive > 0,
            Quantifier::NotExists => self.positive == 0,
            Quantifier::Forall => self.negative == 0,
        }
    }
}

impl Test {
    /// Judges the outcomes of the test's program.
    pub fn judge(&self, outcomes: &BTreeSet<Vec<i128>>) -> Result<Judgement, EvalError> {
        let mut states: BTreeMap<Vec<Shown>, bool> = BTreeMap::new();
        for outcome in outcomes {
            if let Some(filter) = &self.filter
                && self.eval(filter, outcome)? == 0
            {
                continue;
            }
            let holds = self.eval(&self.prop, outcome)? != 0;
            states.insert(self.state(outcome), holds);
        }
        let positive = states.values().filter(|holds| **holds).count();
        let negative = states.len() - positive;
        let states = states.into_iter().map(|(values, holds)| FinalState { values, holds }).collect();
        Ok(Judgement { states, positive, negative })
    }

    /// Whether some execution may go wrong (a pointer to nothing, a division by zero, an overflow of 64 bits), which outcomes alone do
    /// not tell.
    pub fn can_go_wrong(&self) -> bool {
        fn partial(expr: &LocalExpr) -> bool {
            use BinOp::{Add, Div, Mul, Rem, Shl, Shr, Sub};
            match expr {
                Expr::Const(_) | Expr::Var(_) => false,
                // A result that is brought into 32 bits was computed from operands of 32 bits.
                Expr::Unary(UnOp::Wrap(ty), inner) if ty.bits <= 32 => match &**inner {
                    Expr::Binary(Add | Sub | Mul, left, right) => partial(left) || partial(right),
                    inner => partial(inner),
                },
                Expr::Unary(UnOp::Target | UnOp::Neg, _) => true,
                Expr::Unary(_, inner) => partial(inner),
                Expr::Binary(Add | Sub | Mul | Div | Rem | Shl | Shr, ..) => true,
                Expr::Binary(_, left, right) => partial(left) || partial(right),
            }
        }
        let indexed = |op: &Op| match op.addr() {
            Some(Addr::Indexed { index, .. }) => partial(index),
            _ => false,
        };
        let mut code = self.program.threads.iter().flat_map(|thread| &thread.code);
        code.any(|instr| indexed(&instr.op) || instr.op.operands().into_iter().any(partial))
    }

    /// What a final state shows, in the order of the columns.
    pub fn state(&self, outcome: &[i128]) -> Vec<Shown> {
        let shown = self.columns.iter().map(|column| {
            let value = outcome.get(column.at).copied().unwrap_or(0);
            let value = column.view.map_or(value, |view| view.wrap(value));
            if column.pointer { self.pointer(value) } else { Shown::Int(value) }
        });
        shown.collect()
    }

    fn pointer(&self, value: i128) -> Shown {
        let number = usize::try_from(value / WORD).ok().filter(|number| *number > 0 && value % WORD == 0);
        match number.and_then(|number| self.program.locations.get(number)) {
            Some(location) => Shown::Address(location.name.clone()),
            None => Shown::Int(value),
        }
    }

    fn eval(&self, expr: &FinalExpr, outcome: &[i128]) -> Result<i128, EvalError> {
        let find = |var: &FinalVar| self.program.observed.iter().position(|observed| observed.var == *var);
        expr.eval(&mut |var| find(var).and_then(|at| outcome.get(at).copied()).ok_or(EvalError::Undefined))
    }
}
