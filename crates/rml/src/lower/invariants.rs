//! Invariants: conditions over shared variables, locals of threads and the statements that threads stand at.
//!
//! Variables are resolved as in final states (`finals`). `w[0]@L` is a point of the program, made when it is first mentioned; `count(w@L)`
//! is the sum over a family.

use cyrano_ir::{
    BinOp, Check, Diagnostic, Expr as IrExpr, Invariant, Point, PointId, Property, StateExpr, StateVar, ThreadId,
};

use crate::expand::budget::Budget;
use crate::expand::fold::{Resolve, fold};
use crate::lower::finals::Finals;
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::calls::walk;
use crate::resolve::names::Names;
use crate::resolve::typing::truth;
use crate::rules::names::report_unknown;
use crate::syntax::ast::{At, Block, Expr, ExprKind};

/// Resolves what invariants read.
pub(crate) struct Invariants<'a, 'r, 'f> {
    pub(crate) finals: &'f mut Finals<'a, 'r>,
    pub(crate) points: Vec<Point>,
}

impl<'a> Invariants<'a, '_, '_> {
    /// The property that a written condition stands for.
    pub(crate) fn property(&mut self, written: &'a Expr, text: &str) -> Fallible<Property> {
        let cond = fold(written, self)?;
        let timed = |finals: &Finals<'_, '_>, var: &StateVar| var.value().is_some_and(|var| finals.is_timestamp(&var));
        let kind = self.finals.kind(&cond, &timed, written.span);
        truth(kind, written.span, self.finals.reports);
        Ok(Property::Invariant(Invariant { cond, text: text.to_owned() }))
    }

    /// The checks of the invariants that the program declares. Without any that says on which models, they are checked on the default one.
    pub(crate) fn declared(&mut self) -> Vec<Check> {
        let file = self.finals.shared.names.file;
        if let (true, Some((_, span))) = (file.invariants.is_empty(), file.invariant_checks.first()) {
            let help = "declare one, `invariant (count(w@cs) <= 1);`, or claim it here: `check invariant (…);`";
            self.finals.reports.complain(*span, "the program declares no invariant", "which one?", help);
        }
        let mut checks = Vec::new();
        for declared in &file.invariants {
            let Ok(property) = self.property(&declared.cond, &declared.text) else {
                self.finals.reports.skip(declared.span);
                continue;
            };
            let on = |models: &Vec<String>| Check {
                property: property.clone(),
                models: models.clone(),
                span: declared.span,
            };
            match file.invariant_checks.as_slice() {
                [] => checks.push(on(&Vec::new())),
                asked => checks.extend(asked.iter().map(|(models, _)| on(models))),
            }
        }
        checks
    }

    fn at(&mut self, at: &'a At) -> Fallible<StateExpr> {
        let names = self.finals.shared.names;
        let declared = self.finals.declared_thread(&at.thread)?;
        self.check_label(at, declared)?;
        let threads = match (&at.index, at.counted) {
            (None, true) => {
                let count = names.counts[declared].ok_or(Reported)?;
                (0..count).filter_map(|index| self.finals.lowered(declared, index)).collect()
            }
            _ => vec![self.finals.find_thread(declared, (&at.thread, at.index.as_ref()), at.counted_help())?],
        };
        let points: Vec<_> =
            threads.into_iter().map(|thread| IrExpr::Var(StateVar::At(self.point(thread, at)))).collect();
        Ok(sum(&points))
    }

    /// The point of a thread, made when it is first named.
    fn point(&mut self, thread: usize, at: &At) -> PointId {
        let (id, label) = (ThreadId::new(thread), &at.label.text);
        let known = self.points.iter().position(|point| point.thread == id && point.label == *label);
        let number = known.unwrap_or_else(|| {
            let places = self.finals.threads[thread].points.get(label).cloned().unwrap_or_default().places;
            self.points.push(Point { label: label.clone(), thread: id, places });
            self.points.len() - 1
        });
        PointId::new(number)
    }

    /// The label exists, the thread comes there, and can be seen there.
    fn check_label(&mut self, at: &At, declared: usize) -> Fallible<()> {
        let names = self.finals.shared.names;
        let (file, text) = (names.file, &at.label.text);
        let bodies = file.threads.iter().map(|thread| (&thread.name, &thread.body));
        let bodies = bodies.chain(file.procs.iter().map(|procedure| (&procedure.name, &procedure.body)));
        let labels: Vec<_> =
            bodies.flat_map(|(owner, body)| labels_of(body).into_iter().map(move |label| (owner, label))).collect();
        let Some((owner, label)) = labels.iter().find(|(_, label)| label.text == *text) else {
            report_unknown(
                "label",
                &at.label,
                labels.iter().map(|(_, label)| label.text.as_str()),
                names,
                self.finals.reports,
            );
            return Err(Reported);
        };
        let mut of_family = self.finals.threads.iter().filter(|thread| thread.declared == declared);
        let inside = of_family.all(|thread| thread.points.get(text).is_some_and(|places| places.inside));
        let problem = if inside {
            let help = "the accesses of an atomic section happen at once: put the label in front of `atomic`";
            Some((format!("no thread is ever seen at `{text}`"), "inside of an atomic section", help.to_owned()))
        } else if !comes_to(names, &file.threads[declared].body, text, &mut Vec::new()) {
            let help = format!("`{text}` stands in `{}`", owner.text);
            Some((format!("`{}` never comes to `{text}`", at.thread.text), "not a statement of it", help))
        } else {
            None
        };
        let Some((message, what, help)) = problem else { return Ok(()) };
        let diagnostic = Diagnostic::new(at.label.span, message, what).with_related(label.span, "the label");
        Err(self.finals.reports.add(diagnostic.with_help(help)))
    }
}

/// The labels in a body.
fn labels_of(body: &Block) -> Vec<&crate::syntax::ast::Name> {
    let mut found = Vec::new();
    walk(body, &mut |stmt| found.extend(&stmt.label));
    found
}

/// Whether a body, or a procedure that it calls, has this label.
fn comes_to(names: &Names<'_>, body: &Block, label: &str, seen: &mut Vec<usize>) -> bool {
    if labels_of(body).iter().any(|name| name.text == label) {
        return true;
    }
    let mut calls = Vec::new();
    walk(body, &mut |stmt| calls.extend(stmt.call()));
    calls.into_iter().any(|call| {
        let procedure = names.file.procs.iter().position(|procedure| procedure.name.text == call.name.text);
        let Some(procedure) = procedure.filter(|procedure| !seen.contains(procedure)) else { return false };
        seen.push(procedure);
        comes_to(names, &names.file.procs[procedure].body, label, seen)
    })
}

/// The sum of truth values, balanced.
fn sum(parts: &[StateExpr]) -> StateExpr {
    match parts {
        [] => IrExpr::Const(0),
        [one] => one.clone(),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            IrExpr::binary(BinOp::Add, sum(left), sum(right))
        }
    }
}

impl At {
    fn counted_help(&self) -> String {
        let (thread, label) = (&self.thread.text, &self.label.text);
        format!("choose one, `{thread}[0]@{label}`, or count them: `count({thread}@{label})`")
    }
}

impl<'a> Resolve<'a> for Invariants<'a, '_, '_> {
    type Var = StateVar;

    fn atom(&mut self, atom: &'a Expr) -> Fallible<StateExpr> {
        if let ExprKind::At(at) = &atom.kind {
            return self.at(at);
        }
        Ok(match self.finals.atom(atom)? {
            IrExpr::Var(var) => IrExpr::Var(var.into()),
            IrExpr::Const(value) => IrExpr::Const(value),
            _ => return Err(Reported),
        })
    }

    fn not_constant(&mut self, expr: &Expr) -> Reported {
        self.finals.not_constant(expr)
    }

    fn is_timestamp(&self, var: &StateVar) -> bool {
        var.value().is_some_and(|var| self.finals.is_timestamp(&var))
    }

    fn binders(&mut self) -> &mut Vec<(&'a str, i128)> {
        self.finals.binders()
    }

    fn reports(&mut self) -> &mut Reports {
        self.finals.reports()
    }

    fn budget(&self) -> &Budget {
        self.finals.budget()
    }
}
