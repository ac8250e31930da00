//! Loops that create or join threads, unrolled where the number of rounds is a constant.
//!
//! `for (i = a; i < b; i += c)` with constants, whose body does not assign to `i`: in each round `i` is a constant, so that `&t[i]` is a place that is
//! known and every creation a thread of its own. Another loop that creates threads is unrolled up to the bound of objects, with its condition in every round; what goes
//! on longer is left out. All others stay loops.

use cyrano_ir::{BinOp, Expr as Ir, Op};

use super::{Lowerer, Spot};
use std::collections::BTreeMap;

use crate::check::{Checked, fold, fold_with};
use crate::tree::{
    Calc, Expr, ExprKind, FuncId, GlobalId, Intrinsic, LabelId, LocalId, Loop, Lvalue, LvalueKind, Part, Room, Stmt,
    StmtKind, ThreadCall,
};
use crate::types::Type;

/// The most rounds that are unrolled.
const MAX_ROUNDS: usize = 64;

/// A loop that counts.
pub(super) struct Counted {
    variable: LocalId,
    values: Vec<i128>,
    /// What else is done behind each round: `i++, j++`.
    also: Vec<Expr>,
    /// What the variable holds behind the loop.
    last: i128,
}

impl Lowerer<'_, '_> {
    /// How a loop counts that has something to do with threads, if what stands before it says so.
    pub(super) fn counted(&self, before: Option<&Stmt>, repeat: &Loop) -> Option<Counted> {
        let frame = self.frames.last()?;
        let (variable, start) = self.set_last(before?)?;
        let cond = repeat.cond.as_ref().filter(|_| repeat.tests_first)?;
        let (step, also) = self.steps(repeat.step.as_ref()?, variable)?;
        let threads = any(Part::Stmt(&repeat.body), &mut |part| self.is_about_threads(part));
        let changed = any(Part::Stmt(&repeat.body), &mut |part| changes(part, variable));
        let labelled = any(Part::Stmt(&repeat.body), &mut |part| {
            matches!(part, Part::Stmt(Stmt { kind: StmtKind::Goto(..), .. }))
        });
        if !threads || changed || labelled || self.shared.escapes.in_memory(frame.func, variable) {
            return None;
        }
        let mut values = Vec::new();
        let mut value = start;
        while self.holds(cond, variable, value)? {
            values.push(value);
            value += step;
            if values.len() > MAX_ROUNDS || i32::try_from(value).is_err() {
                return None;
            }
        }
        Some(Counted { variable, values, also, last: value })
    }

    fn constant(&self, expr: &Expr) -> Option<i128> {
        let (addresses, fixed) = (self.shared.addresses, &self.shared.fixed);
        let address = |id: usize| addresses.get(id).copied().flatten();
        let read = |place: &Lvalue| match place.kind {
            LvalueKind::Global(id) => fixed.get(&id).copied(),
            _ => None,
        };
        fold_with(expr, &self.shared.checked.types, &address, &read)
    }

    /// The variable that a statement sets last, and its value.
    fn set_last(&self, stmt: &Stmt) -> Option<(LocalId, i128)> {
        match &stmt.kind {
            StmtKind::Block(list) => self.set_last(list.last()?),
            StmtKind::Declare(id, Some(value)) => Some((*id, self.constant(value)?)),
            StmtKind::Expr(expr) => match &expr.kind {
                ExprKind::Assign(Lvalue { kind: LvalueKind::Local(id), .. }, value) => {
                    Some((*id, self.constant(value)?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// How far the variable goes, and what is done besides that has nothing to do with it.
    fn steps(&self, step: &Expr, variable: LocalId) -> Option<(i128, Vec<Expr>)> {
        let ExprKind::Comma(list) = &step.kind else { return Some((self.step(step, variable)?, Vec::new())) };
        let is_it =
            |part: Part<'_>| matches!(part, Part::Place(Lvalue { kind: LvalueKind::Local(id), .. }) if *id == variable);
        let (own, also): (Vec<_>, Vec<_>) = list.iter().partition(|part| any(Part::Expr(part), &mut { is_it }));
        let [own] = own[..] else { return None };
        Some((self.step(own, variable)?, also.into_iter().cloned().collect()))
    }

    fn step(&self, step: &Expr, variable: LocalId) -> Option<i128> {
        let ExprKind::Update {
            target: Lvalue { kind: LvalueKind::Local(id), .. }, calc: Calc::Arith(op, _, by), ..
        } = &step.kind
        else {
            return None;
        };
        let by = self.constant(by).filter(|_| *id == variable)?;
        match op {
            BinOp::Add => Some(by),
            BinOp::Sub => Some(-by),
            _ => None,
        }
    }

    /// Whether the condition holds for this value, if the variable is the only one in it.
    fn holds(&self, cond: &Expr, variable: LocalId, value: i128) -> Option<bool> {
        fn with(expr: &Expr, variable: LocalId, value: i128) -> Expr {
            let kind = match &expr.kind {
                ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) if *id == variable => ExprKind::Const(value),
                ExprKind::Convert(inner) => ExprKind::Convert(Box::new(with(inner, variable, value))),
                ExprKind::Binary(op, a, b) => {
                    ExprKind::Binary(*op, Box::new(with(a, variable, value)), Box::new(with(b, variable, value)))
                }
                other => other.clone(),
            };
            Expr { kind, ty: expr.ty.clone(), loc: expr.loc }
        }
        // A negative value of an unsigned variable does not occur.
        self.constant(&with(cond, variable, value)).map(|holds| holds != 0)
    }

    /// Whether a loop creates threads, so that each round needs threads of its own.
    pub(super) fn creates(&self, repeat: &Loop) -> bool {
        let creates = |part: Part<'_>| match part {
            Part::Expr(Expr { kind: ExprKind::Call { func, .. }, .. }) => {
                self.shared.creating.get(func.0).copied().unwrap_or_default()
            }
            part => is_creation(part),
        };
        self.end.is_some() && any(Part::Stmt(&repeat.body), &mut { creates })
    }

    /// The rounds one by one up to the bound, each with its condition.
    pub(super) fn bounded_rounds(&mut self, repeat: &Loop, stmt: &Stmt) {
        let end = self.new_label();
        let mut labels = Vec::new();
        labels_in(&repeat.body, &mut labels);
        self.fresh += 1;
        for round in 0..=self.shared.objects {
            let (body, next) = (self.new_label(), self.new_label());
            if let Some(cond) = repeat.cond.as_ref().filter(|_| repeat.tests_first || round > 0) {
                self.at(cond.loc);
                self.condition(cond, body, end);
            }
            self.bind(body);
            if round == self.shared.objects {
                self.at(stmt.loc);
                let what =
                    format!("rounds of a loop that creates threads, at line {}", self.shared.sources.line(stmt.loc));
                self.emit(Op::Limit { cond: Ir::Const(0), what });
                break;
            }
            let (on_break, on_continue) = (self.target(end), self.target(next));
            if let Some(frame) = self.frame() {
                frame.breaks.push(on_break);
                frame.continues.push(on_continue);
                labels.iter().for_each(|label: &LabelId| frame.labels[label.0] = None);
            }
            self.stmt(&repeat.body);
            if let Some(frame) = self.frame() {
                frame.breaks.pop();
                frame.continues.pop();
            }
            self.bind(next);
            if let Some(step) = &repeat.step {
                self.at(step.loc);
                self.discard(step);
            }
        }
        self.fresh -= 1;
        self.bind(end);
    }

    fn is_about_threads(&self, part: Part<'_>) -> bool {
        let Part::Expr(expr) = part else { return false };
        match &expr.kind {
            ExprKind::Intrinsic { what, .. } => {
                matches!(**what, Intrinsic::Thread(ThreadCall::Create | ThreadCall::Join))
            }
            ExprKind::Call { func, .. } => self.shared.threaded.get(func.0).copied().unwrap_or_default(),
            _ => false,
        }
    }

    /// The rounds one by one.
    pub(super) fn rounds(&mut self, counted: &Counted, repeat: &Loop, stmt: &Stmt) {
        let spot = self.new_or_known(counted.variable);
        let end = self.new_label();
        let mut labels = Vec::new();
        labels_in(&repeat.body, &mut labels);
        self.fresh += 1;
        for value in &counted.values {
            let next = self.new_label();
            let (on_break, on_continue) = (self.target(end), self.target(next));
            self.at(stmt.loc);
            self.write_word(&spot, 0, Ir::Const(*value));
            if let Some(frame) = self.frame() {
                frame.breaks.push(on_break);
                frame.continues.push(on_continue);
                frame.locals[counted.variable.0] = Some(Spot::Values(vec![Ir::Const(*value)]));
                labels.iter().for_each(|label: &LabelId| frame.labels[label.0] = None);
            }
            self.stmt(&repeat.body);
            self.bind(next);
            if let Some(frame) = self.frame() {
                frame.breaks.pop();
                frame.continues.pop();
                frame.locals[counted.variable.0] = Some(spot.clone());
            }
            counted.also.iter().for_each(|also| self.discard(also));
        }
        self.fresh -= 1;
        self.write_word(&spot, 0, Ir::Const(counted.last));
        self.bind(end);
    }
}

/// For each function whether it creates or joins threads, be it by what it calls.
pub(crate) fn threaded(checked: &Checked) -> Vec<bool> {
    reaching(checked, &|part| {
        let Part::Expr(Expr { kind: ExprKind::Intrinsic { what, .. }, .. }) = part else { return false };
        matches!(**what, Intrinsic::Thread(ThreadCall::Create | ThreadCall::Join))
    })
}

/// For each function whether it creates threads, be it by what it calls.
pub(crate) fn creating(checked: &Checked) -> Vec<bool> {
    reaching(checked, &is_creation)
}

fn is_creation(part: Part<'_>) -> bool {
    let Part::Expr(Expr { kind: ExprKind::Intrinsic { what, .. }, .. }) = part else { return false };
    matches!(**what, Intrinsic::Thread(ThreadCall::Create))
}

/// For each function whether it may end its thread; a call through a pointer may.
pub(crate) fn exiting(checked: &Checked) -> Vec<bool> {
    reaching(checked, &|part| match part {
        Part::Expr(Expr { kind: ExprKind::Intrinsic { what, .. }, .. }) => {
            matches!(**what, Intrinsic::Thread(ThreadCall::Exit))
        }
        Part::Expr(expr) => matches!(expr.kind, ExprKind::CallPointer { .. }),
        _ => false,
    })
}

/// For each function whether such a part stands in it, or in what it calls.
fn reaching(checked: &Checked, direct: &dyn Fn(Part<'_>) -> bool) -> Vec<bool> {
    let bodies = checked.functions.iter().map(|function| &function.body);
    let mut found: Vec<bool> =
        bodies.map(|body| body.as_ref().is_some_and(|body| any(Part::Stmt(body), &mut |part| direct(part)))).collect();
    loop {
        let more = |at: usize| checked.functions[at].calls.iter().any(|(FuncId(callee), _)| found[*callee]);
        let next: Vec<bool> = (0..found.len()).map(|at| found[at] || more(at)).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

/// Whether something stands within a part, or is the part.
fn any(part: Part<'_>, asked: &mut dyn FnMut(Part<'_>) -> bool) -> bool {
    let within = match part {
        Part::Expr(expr) => expr.parts(),
        Part::Place(place) => place.parts(),
        Part::Stmt(stmt) => stmt.parts(),
    };
    asked(part) || within.into_iter().any(|part| any(part, asked))
}

/// Whether a part may change a local.
fn changes(part: Part<'_>, variable: LocalId) -> bool {
    let is_it = |place: &Lvalue| matches!(place.kind, LvalueKind::Local(id) if id == variable);
    match part {
        Part::Expr(Expr { kind: ExprKind::Assign(target, _) | ExprKind::Update { target, .. }, .. }) => is_it(target),
        Part::Expr(Expr { kind: ExprKind::AddrOf(place), .. }) => is_it(place),
        Part::Stmt(Stmt { kind: StmtKind::Declare(id, _), .. }) => *id == variable,
        _ => false,
    }
}

/// The globals of one word that nobody writes and whose address nobody has, with their values.
pub(crate) fn fixed(checked: &Checked) -> BTreeMap<GlobalId, i128> {
    let value = |at: usize| {
        let global = &checked.globals[at];
        let word = checked.types.is_scalar(&global.ty) && global.room == Room::Start;
        let plain = matches!(global.ty, Type::Int(_) | Type::Bool);
        let init = global.init.first().map_or(Some(0), |(_, value)| fold(value, &checked.types, &|_| None));
        init.filter(|_| word && plain)
    };
    let mut found: BTreeMap<_, _> =
        (0..checked.globals.len()).filter_map(|at| Some((GlobalId(at), value(at)?))).collect();
    for body in checked.functions.iter().filter_map(|function| function.body.as_ref()) {
        any(Part::Stmt(body), &mut |part| {
            let place = match part {
                Part::Expr(Expr { kind: ExprKind::Assign(place, _) | ExprKind::AddrOf(place), .. }) => place,
                Part::Expr(Expr { kind: ExprKind::Update { target, .. }, .. }) => target,
                _ => return false,
            };
            if let LvalueKind::Global(id) = place.kind {
                found.remove(&id);
            }
            false
        });
    }
    let addressed = checked.globals.iter().flat_map(|global| &global.init);
    for (_, value) in addressed {
        any(Part::Expr(value), &mut |part| {
            if let Part::Place(Lvalue { kind: LvalueKind::Global(id), .. }) = part {
                found.remove(id);
            }
            false
        });
    }
    found
}

fn labels_in(stmt: &Stmt, found: &mut Vec<LabelId>) {
    if let StmtKind::Label(id, _) = &stmt.kind {
        found.push(*id);
    }
    for part in stmt.parts() {
        if let Part::Stmt(inner) = part {
            labels_in(inner, found);
        }
    }
}
