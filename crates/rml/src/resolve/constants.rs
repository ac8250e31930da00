//! The constants of one instance: what the file declares, what the user set, and what the client determines.

use std::collections::HashMap;

use cyrano_ir::{Diagnostic, Expr as IrExpr, FinalExpr, FinalVar, Span};

use crate::expand::budget::Budget;
use crate::expand::fold::{Outside, fold};
use crate::given;
use crate::report::{Fallible, Reported, Reports};
use crate::rules::algorithm::REPLIES;
use crate::syntax::ast::{Executed, Expr, ExprKind, File};
use crate::syntax::objects::Algorithm;

/// The constants with their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    values: HashMap<String, i128>,
    /// Those of the instance, for reports.
    pub(crate) shown: Vec<(String, i128)>,
}

impl Constants {
    /// The constants for so many threads and transactions.
    pub(crate) fn new(
        file: &File,
        algorithm: &Algorithm,
        set: &[(String, i128)],
        (threads, txns): (usize, usize),
        reports: &mut Reports,
    ) -> Fallible<Self> {
        let mut constants = Self::default();
        constants.values.extend(REPLIES.iter().map(|(word, code)| ((*word).to_owned(), *code)));
        let number = |n: usize| i128::try_from(n).unwrap_or(i128::MAX);
        for (name, value) in [("threads", number(threads)), ("txns", number(txns))] {
            constants.add(name, value);
        }
        for constant in file.consts.iter().chain(&algorithm.params).chain(&algorithm.consts) {
            let value = match given(set, &constant.name.text) {
                Some(value) => value,
                None => constants.eval(&constant.value, reports)?,
            };
            constants.add(&constant.name.text, value);
        }
        Ok(constants)
    }

    fn add(&mut self, name: &str, value: i128) {
        self.values.insert(name.to_owned(), value);
        self.shown.push((name.to_owned(), value));
    }

    /// The value of a constant.
    pub(crate) fn get(&self, name: &str) -> Option<i128> {
        self.values.get(name).copied()
    }

    /// The number of locations.
    pub(crate) fn locs(&self, span: Span, reports: &mut Reports) -> Fallible<u32> {
        size(self.get("locs").unwrap_or(0), MAX_KEYS, span, reports)
    }

    /// The value of a constant expression.
    pub(crate) fn eval(&self, expr: &Expr, reports: &mut Reports) -> Fallible<i128> {
        match self.condition(expr, &[], &|_| IrExpr::Const(0), reports)? {
            IrExpr::Const(value) => Ok(value),
            _ => Err(Reported),
        }
    }

    /// A condition over constants, a client's results and what was executed.
    pub(crate) fn condition<'a>(
        &self,
        expr: &'a Expr,
        results: &[(&str, FinalVar)],
        executed: &dyn Fn(&Executed) -> FinalExpr,
        reports: &mut Reports,
    ) -> Fallible<FinalExpr> {
        let atom = |atom: &'a Expr, reports: &mut Reports| {
            if let ExprKind::Executed(found) = &atom.kind {
                return Ok(executed(found));
            }
            let ExprKind::Name(name) = &atom.kind else {
                return Err(reports.add(Diagnostic::new(atom.span, "this is not a constant", "not a constant")));
            };
            if let Some((_, result)) = results.iter().find(|(known, _)| *known == name.text) {
                return Ok(IrExpr::Var(*result));
            }
            self.get(&name.text).map(IrExpr::Const).ok_or_else(|| {
                let message = format!("the constant `{}` is used before it is declared", name.text);
                reports.complain(name.span, message, "not known here", "move its declaration up")
            })
        };
        fold(expr, &mut Outside::new(atom, true, &Budget::default(), reports))
    }
}

/// The most elements that an array may have.
pub(crate) const MAX_ARRAY: u32 = 10_000;
/// The most keys that a set or map may have; conditions mention each of them.
pub(crate) const MAX_KEYS: u32 = 64;

/// A number of elements, at least 1.
pub(crate) fn size(value: i128, most: u32, span: Span, reports: &mut Reports) -> Fallible<u32> {
    match u32::try_from(value) {
        Ok(size) if (1..=most).contains(&size) => Ok(size),
        _ => {
            let message = format!("there cannot be {value} of these");
            let help = format!("write a number from 1 to {most}");
            Err(reports.complain(span, message, "this many", help))
        }
    }
}
