//! The text of an stm in a form for proofs about every size: procedures are put in where they are called, names are resolved, and what is about a variable
//! is about a *binder*, a command's parameter or a loop over all variables, whose value nobody knows.
//!
//! Atomic sections are not marked and fences are left out: the proofs are for models that keep everything in order, and hold for
//! every interleaving of the steps.

use cyrano_ir::{BinOp, Span, TxEvent, UnOp};

/// A parameter of a command, or the variable of a loop or quantifier: a position in [`Form::binders`].
pub(super) type Binder = usize;

/// A position in [`Form::vars`].
pub(super) type VarNo = usize;

/// What a binder ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Domain {
    Variables,
    Threads,
}

/// How many elements a variable of the stm has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Len {
    Scalar,
    /// One for each transactional variable, or one for each thread.
    Each(Domain),
    /// Some other number.
    Fixed,
}

/// A variable of the stm.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub name: String,
    pub shared: bool,
    /// Whether it is what transactions read and write.
    pub data: bool,
    pub timestamp: bool,
    pub len: Len,
    /// What every element of it starts with, if that is known for every size.
    pub init: Option<i128>,
}

/// An element of a variable, or all of it if it is a scalar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub var: VarNo,
    pub index: Index,
    pub span: Span,
}

/// Which element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Index {
    /// It is a scalar.
    None,
    /// That of what the array has elements for.
    Of(Binder),
    /// That of this thread.
    Own,
    /// The one with this number.
    Fixed,
}

/// An expression without shared variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Term {
    pub kind: TermKind,
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TermKind {
    Number(i128),
    /// A constant that depends on the size.
    Sized,
    /// The number of this thread.
    Own,
    /// The number that a binder stands for.
    NumberOf(Binder),
    Local(Cell),
    Unary(UnOp, Box<Term>),
    Binary(BinOp, Box<Term>, Box<Term>),
    Quantified {
        all: bool,
        binder: Binder,
        body: Box<Term>,
    },
}

impl Term {
    /// Calls `visit` on every part of it, itself included.
    pub fn for_each<'t>(&'t self, visit: &mut impl FnMut(&'t Self)) {
        visit(self);
        match &self.kind {
            TermKind::Unary(_, arg) | TermKind::Quantified { body: arg, .. } => arg.for_each(visit),
            TermKind::Binary(_, left, right) => {
                left.for_each(visit);
                right.for_each(visit);
            }
            _ => {}
        }
    }

    /// Whether some part of it is like that.
    pub fn has(&self, test: impl Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.for_each(&mut |part| found |= test(part));
        found
    }

    /// Its value, if it is a known constant.
    pub fn number(&self) -> Option<i128> {
        match &self.kind {
            TermKind::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The local scalar that it is.
    pub fn scalar(&self) -> Option<VarNo> {
        match &self.kind {
            TermKind::Local(cell) if cell.index == Index::None => Some(cell.var),
            _ => None,
        }
    }
}

/// What a read-modify-write does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Cas(Term, Term),
    Exchange(Term),
    Add(Term),
}

impl Change {
    /// Its operands.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Cas(expected, new) => vec![expected, new],
            Self::Exchange(term) | Self::Add(term) => vec![term],
        }
    }
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub kind: StepKind,
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    Assign(Cell, Term),
    Load(Cell, Cell),
    Store(Cell, Term),
    Rollback(Cell, Term),
    Rmw { to: Option<Cell>, at: Cell, change: Change },
    If(Term, Vec<Step>, Vec<Step>),
    While(Term, Vec<Step>),
    Each(Binder, Vec<Step>),
    Event(TxEvent),
    Assume(Term),
}

impl Step {
    /// The blocks in it.
    pub fn blocks(&self) -> Vec<&[Step]> {
        match &self.kind {
            StepKind::If(_, then, otherwise) => vec![then, otherwise],
            StepKind::While(_, body) | StepKind::Each(_, body) => vec![body],
            _ => Vec::new(),
        }
    }

    /// The expressions in it, without those of its blocks.
    pub fn terms(&self) -> Vec<&Term> {
        match &self.kind {
            StepKind::Assign(_, term) | StepKind::Store(_, term) | StepKind::Rollback(_, term) => vec![term],
            StepKind::Assume(term) => vec![term],
            StepKind::If(cond, ..) | StepKind::While(cond, _) => vec![cond],
            StepKind::Rmw { change, .. } => change.terms(),
            _ => Vec::new(),
        }
    }

    /// The local that it assigns.
    pub fn assigned(&self) -> Option<&Cell> {
        match &self.kind {
            StepKind::Assign(to, _) | StepKind::Load(to, _) => Some(to),
            StepKind::Rmw { to, .. } => to.as_ref(),
            _ => None,
        }
    }

    /// The shared cell that it accesses.
    pub fn accessed(&self) -> Option<&Cell> {
        match &self.kind {
            StepKind::Load(_, at) | StepKind::Store(at, _) | StepKind::Rollback(at, _) => Some(at),
            StepKind::Rmw { at, .. } => Some(at),
            _ => None,
        }
    }
}

/// Calls `visit` on every statement of a block, also on those inside others.
pub(super) fn for_each_step<'s>(block: &'s [Step], visit: &mut impl FnMut(&'s Step)) {
    for step in block {
        visit(step);
        step.blocks().into_iter().for_each(|inner| for_each_step(inner, visit));
    }
}

/// The same, but nothing that only leads to an abort.
pub(super) fn for_each_live_step<'s>(block: &'s [Step], visit: &mut impl FnMut(&'s Step)) {
    for step in block {
        visit(step);
        let live = step.blocks().into_iter().filter(|inner| !aborts(inner));
        live.into_iter().for_each(|inner| for_each_live_step(inner, visit));
    }
}

/// Whether every way through a block ends with an abort; who rolls something back counts as aborted.
pub(super) fn aborts(block: &[Step]) -> bool {
    for step in block {
        match &step.kind {
            StepKind::Event(event) => return *event == TxEvent::Abort,
            StepKind::Rollback(..) => return true,
            StepKind::If(_, then, otherwise) if aborts(then) && aborts(otherwise) => return true,
            _ if step.blocks().into_iter().any(ends_well) => return false,
            _ => {}
        }
    }
    false
}

/// Whether some way through it may end with something else than an abort.
fn ends_well(block: &[Step]) -> bool {
    let mut found = false;
    for_each_step(block, &mut |step| found |= matches!(step.kind, StepKind::Event(event) if event != TxEvent::Abort));
    found
}

/// An stm: its variables, and `read`, `write` and `end`.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub vars: Vec<Var>,
    pub binders: Vec<Domain>,
    /// With the parameters of the first two.
    pub commands: Vec<(Option<Binder>, Vec<Step>)>,
}

impl Form {
    /// Calls `visit` on every statement.
    pub fn for_each_step<'s>(&'s self, visit: &mut impl FnMut(&'s Step)) {
        self.commands.iter().for_each(|(_, body)| for_each_step(body, visit));
    }

    /// What a variable is called.
    pub fn name(&self, var: VarNo) -> &str {
        &self.vars[var].name
    }
}
