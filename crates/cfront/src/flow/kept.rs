//! Which locals somebody may know of after their call has ended.
//!
//! A local that lives in memory is *kept* if its address may go somewhere else than to registers of the call and to calls that give it back:
//! into memory, to another thread, or out as a result.
//!
//! **Argument** that nobody knows a local that is not kept. Its address is in an expression only if a local is mentioned there that holds it, or that is
//! the local itself, and the type of the expression has room for an address. Every such expression that is assigned to a register makes the register one of
//! those that hold it; every one that goes to a parameter asks about the parameter; whatever else is done with it keeps it. What a call returns or
//! writes through a pointer is kept within it. It is the least solution of these equations, over all functions at once.

use crate::check::Checked;
use crate::flow::escape::Escapes;
use crate::tree::{Expr, ExprKind, FuncId, Intrinsic, LocalId, Lvalue, LvalueKind, Part, Stmt, StmtKind, ThreadCall};
use crate::types::Type;

/// For each function and each of its locals whether it is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Vec<Vec<bool>>);

impl Kept {
    /// The kept locals of a checked file.
    pub(crate) fn new(checked: &Checked, escapes: &Escapes) -> Self {
        let none = |function: &crate::tree::Function| vec![false; function.locals.len().max(function.params.len())];
        let mut found = Self(checked.functions.iter().map(none).collect());
        loop {
            let before = found.0.clone();
            for (at, function) in checked.functions.iter().enumerate() {
                let mut walk =
                    Walk { known: &before, escapes, func: FuncId(at), kept: before[at].clone(), flows: Vec::new() };
                function.body.iter().for_each(|body| walk.part(Part::Stmt(body)));
                found.0[at] = walk.solved();
            }
            if found.0 == before {
                return found;
            }
        }
    }

    /// Whether a local may be known after its call has ended.
    pub(crate) fn is_kept(&self, func: FuncId, local: LocalId) -> bool {
        self.0.get(func.0).and_then(|locals| locals.get(local.0)).copied().unwrap_or(true)
    }
}

struct Walk<'k> {
    known: &'k [Vec<bool>],
    escapes: &'k Escapes,
    func: FuncId,
    kept: Vec<bool>,
    /// What the one holds the other may hold.
    flows: Vec<(LocalId, LocalId)>,
}

/// Whether a value of this type may have an address in it.
fn has_room(ty: &Type) -> bool {
    match ty.plain() {
        Type::Void | Type::Bool => false,
        Type::Int(ty) => ty.bits >= 64,
        _ => true,
    }
}

/// The locals whose addresses the value may have in it.
fn sources(part: Part<'_>, found: &mut Vec<LocalId>) {
    match part {
        Part::Expr(expr) if !has_room(&expr.ty) => return,
        Part::Place(Lvalue { kind: LvalueKind::Local(id), .. }) => found.push(*id),
        _ => {}
    }
    let within = match part {
        Part::Expr(expr) => expr.parts(),
        Part::Place(place) => place.parts(),
        Part::Stmt(stmt) => stmt.parts(),
    };
    within.into_iter().for_each(|part| sources(part, found));
}

/// The local that a place is a part of.
fn root(place: &Lvalue) -> Option<LocalId> {
    match &place.kind {
        LvalueKind::Local(id) => Some(*id),
        LvalueKind::Field(base, _) | LvalueKind::Index(base, _) => root(base),
        _ => None,
    }
}

impl Walk<'_> {
    fn part(&mut self, part: Part<'_>) {
        let within = match part {
            Part::Expr(expr) => {
                self.expr(expr);
                expr.parts()
            }
            Part::Place(place) => place.parts(),
            Part::Stmt(stmt) => {
                self.stmt(stmt);
                stmt.parts()
            }
        };
        within.into_iter().for_each(|part| self.part(part));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(id, Some(value)) => self.assigned(Some(*id), value),
            StmtKind::Return(Some(value)) => self.keep(value),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Assign(target, value) => self.assigned(root(target), value),
            ExprKind::Update { target, calc, .. } => self.assigned(root(target), calc.operand()),
            ExprKind::Call { func, args, .. } => {
                for (index, arg) in args.iter().enumerate() {
                    if self.known[func.0].get(index).copied().unwrap_or(true) {
                        self.keep(arg);
                    }
                }
            }
            ExprKind::CallPointer { args, .. } => args.iter().for_each(|arg| self.keep(arg)),
            ExprKind::Intrinsic { what, args, .. } => {
                let kept = |at: &usize| is_kept_by(what, *at);
                (0..args.len()).filter(kept).for_each(|at| self.keep(&args[at]));
            }
            _ => {}
        }
    }

    /// A local gets a value, or something that is none.
    fn assigned(&mut self, target: Option<LocalId>, value: &Expr) {
        match target.filter(|id| !self.escapes.in_memory(self.func, *id)) {
            Some(id) => {
                let mut found = Vec::new();
                sources(Part::Expr(value), &mut found);
                self.flows.extend(found.into_iter().map(|from| (from, id)));
            }
            None => self.keep(value),
        }
    }

    fn keep(&mut self, value: &Expr) {
        let mut found = Vec::new();
        sources(Part::Expr(value), &mut found);
        found.into_iter().for_each(|id| self.kept[id.0] = true);
    }

    fn solved(mut self) -> Vec<bool> {
        loop {
            let more: Vec<_> = self.flows.iter().filter(|(from, to)| self.kept[to.0] && !self.kept[from.0]).collect();
            let Some((from, _)) = more.first() else { return self.kept };
            self.kept[from.0] = true;
        }
    }
}

/// Whether something that the checker knows does more with this argument than to look at what it points to.
fn is_kept_by(what: &Intrinsic, argument: usize) -> bool {
    match what {
        Intrinsic::Assume | Intrinsic::Assert(_) | Intrinsic::Free => false,
        Intrinsic::Cas | Intrinsic::Exchange | Intrinsic::FetchAdd => argument >= 1,
        Intrinsic::Dcas => argument >= 2,
        Intrinsic::Atomic(atomic) => argument >= atomic.locations(),
        Intrinsic::Thread(ThreadCall::Must(_) | ThreadCall::Ignore | ThreadCall::Load(_) | ThreadCall::Join) => false,
        Intrinsic::Thread(ThreadCall::Create | ThreadCall::Store(_)) => argument >= 1,
        _ => true,
    }
}
