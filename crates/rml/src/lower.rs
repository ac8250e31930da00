//! Statements and expressions to instructions, memory and whole programs.
//!
//! One lowering serves all kinds of programs: [`Lower`] makes the code of one thread, and its statements (`stmt`) and expressions
//! (`expand::fold`) are the same everywhere. What differs is a [`Language`]: `thread` for `threads` and `stm`, where names are variables and
//! procedures are inlined, and `expand::method` for an `algorithm`, whose methods call base objects and go over sets and maps.
//! **Invariant:** control flow is matched by construction: a jump out of an operation ends it first, and the checker has refused
//! jumps out of atomic sections.

use std::collections::{BTreeSet, HashMap};

use cyrano_ir::{LocalExpr, Op, Place, RegId, Span, Ty};

use crate::expand::budget::Budget;
use crate::expand::fold::{Resolve, charge};
use crate::lower::block::OpenBlock;
use crate::lower::build::{Builder, Label};
use crate::lower::expr::Slot;
use crate::lower::sets::Contents;
use crate::report::{Fallible, Reported, Reports};
use crate::syntax::ast::{Block, Call, Expr, Place as Target, Rhs, Stmt};

pub(crate) mod assemble;
pub(crate) mod block;
pub(crate) mod build;
pub(crate) mod executed;
pub(crate) mod expr;
pub(crate) mod finals;
pub(crate) mod invariants;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod points;
pub(crate) mod program;
pub(crate) mod sets;
pub(crate) mod stmt;
pub(crate) mod thread;
pub(crate) mod words;

/// How deep statements may nest when procedures or methods are inlined.
const MAX_INLINED: u32 = 300;

/// What a kind of programs says about names, calls and right sides, and which statements it has besides the common ones.
pub(crate) trait Language<'a>: Sized {
    /// What it knows about the body that is being lowered.
    type Frame;

    /// Whether all errors of a body are looked for, not only the first one.
    const GOES_ON: bool;

    /// Whether jumps that lead nowhere new are dropped when the code is done. Otherwise none is made, and an `if` with a constant
    /// condition still branches, for orders see what depends on it.
    const COMPACTS: bool;

    /// A name, an element, a member, `self` or `tid`.
    fn atom(lower: &mut Lower<'a, '_, Self>, atom: &'a Expr) -> Fallible<LocalExpr>;

    /// What an assignment writes.
    fn slot(lower: &mut Lower<'a, '_, Self>, target: &'a Target) -> Fallible<Slot>;

    /// The slot that an expression reads, if it is nothing but one variable.
    fn slot_read(_: &mut Lower<'a, '_, Self>, _: &'a Expr) -> Fallible<Option<Slot>> {
        Ok(None)
    }

    /// Inlines a call. What it returns is in `into`, or else is the result.
    fn call(lower: &mut Lower<'a, '_, Self>, call: &'a Call, into: Option<Place>) -> Fallible<Option<LocalExpr>>;

    /// A right side that only this language has.
    fn own_right(
        _: &mut Lower<'a, '_, Self>,
        _: &'a Rhs,
        _into: Option<Place>,
        _: Span,
    ) -> Fallible<Option<LocalExpr>> {
        Err(Reported)
    }

    /// A statement that only this language has.
    fn own_stmt(lower: &mut Lower<'a, '_, Self>, stmt: &'a Stmt) -> Fallible<()>;

    /// Takes note of a statement with a label.
    fn labelled(_: &mut Lower<'a, '_, Self>, _: &'a Stmt) -> Fallible<()> {
        Ok(())
    }

    /// Leaves room in front of a statement that has to stay behind others; where.
    fn before_ordered(_: &mut Lower<'a, '_, Self>, _: &'a Stmt) -> Fallible<Option<usize>> {
        Ok(None)
    }

    /// Fills the room, once the statement is made.
    fn behind_ordered(_: &mut Lower<'a, '_, Self>, _: &'a Stmt, _at: usize) {}

    /// Leaves a body at a `return`, with or without a value.
    fn leave_body(lower: &mut Lower<'a, '_, Self>, value: bool, span: Span) -> Fallible<()>;

    /// An expression that means something else in this language than elsewhere.
    fn own_expr(_: &mut Lower<'a, '_, Self>, _: &'a Expr) -> Option<Fallible<LocalExpr>> {
        None
    }
}

/// A loop around the current statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopTargets {
    pub(crate) on_break: Label,
    pub(crate) on_continue: Label,
    pub(crate) in_operation: bool,
}

/// The body being lowered: the thread's own, or one that is inlined.
pub(crate) struct Frame<'a, L: Language<'a>> {
    pub(crate) own: L::Frame,
    /// The binders that are constants, innermost last.
    pub(crate) binders: Vec<(&'a str, i128)>,
    pub(crate) loops: Vec<LoopTargets>,
    pub(crate) on_return: Label,
    /// Where a returned value goes, if anywhere.
    pub(crate) result: Option<Place>,
    pub(crate) in_operation: bool,
}

impl<'a, L: Language<'a>> Frame<'a, L> {
    /// A body that goes to a label when it returns.
    pub(crate) fn new(own: L::Frame, on_return: Label) -> Self {
        Self { own, binders: Vec::new(), loops: Vec::new(), on_return, result: None, in_operation: false }
    }
}

/// The lowering of one thread.
pub(crate) struct Lower<'a, 'r, L: Language<'a>> {
    /// What only this language knows.
    pub(crate) own: L,
    pub(crate) reports: &'r mut Reports,
    pub(crate) budget: &'r Budget,
    pub(crate) build: Builder,
    pub(crate) frame: Frame<'a, L>,
    pub(crate) in_operation: bool,
    /// Whether the current statement stands in an atomic section.
    pub(crate) in_section: bool,
    /// The labels that invariants name.
    pub(crate) named: BTreeSet<&'a str>,
    /// The atomic block around the current statement.
    pub(crate) block: Option<OpenBlock>,
    /// The numbers of the labels in front of statements.
    pub(crate) labels: HashMap<&'a str, u32>,
    /// What each set and map can hold here.
    pub(crate) contents: Vec<Contents>,
    /// The statement being lowered, which the loads of its right side belong to.
    pub(crate) stmt_span: Span,
    /// For each type the temporaries, and how many of them the current statement uses.
    temporaries: [(Vec<RegId>, usize); 2],
    depth: u32,
}

/// Several ways, of which one is taken.
pub(crate) struct Fork {
    pub(crate) end: Label,
    before: Vec<Contents>,
    after: Vec<Contents>,
}

impl<'a, 'r, L: Language<'a>> Lower<'a, 'r, L> {
    /// A thread with nothing in it yet.
    pub(crate) fn new(own: L, frame: L::Frame, (budget, reports): (&'r Budget, &'r mut Reports)) -> Self {
        let mut build = Builder::default();
        let end = build.label();
        Self {
            own,
            reports,
            budget,
            build,
            frame: Frame::new(frame, end),
            in_operation: false,
            in_section: false,
            named: BTreeSet::new(),
            block: None,
            labels: HashMap::new(),
            contents: Vec::new(),
            stmt_span: Span::default(),
            temporaries: Default::default(),
            depth: 0,
        }
    }

    /// Lowers the statements of a block.
    pub(crate) fn lower_block(&mut self, block: &'a Block) -> Fallible<()> {
        if self.depth >= MAX_INLINED {
            let message = format!("calls and blocks nest more than {MAX_INLINED} levels deep after inlining");
            let reported = self.reports.complain(block.close, message, "too deep here", "flatten the calls");
            return if L::GOES_ON { Ok(()) } else { Err(reported) };
        }
        self.depth += 1;
        let lowered = block.stmts.iter().try_for_each(|stmt| self.lower_or_skip(stmt));
        self.depth -= 1;
        lowered
    }

    fn lower_or_skip(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        if L::GOES_ON && self.budget.is_exhausted() {
            return Ok(());
        }
        self.temporaries.iter_mut().for_each(|(_, used)| *used = 0);
        self.stmt_span = stmt.span;
        let lowered = charge(self, 1, stmt.span).and_then(|()| self.lower_stmt(stmt));
        if lowered.is_ok() || !L::GOES_ON {
            return lowered;
        }
        // The other statements may have errors of their own.
        self.reports.skip(stmt.span);
        Ok(())
    }

    /// Makes something in a frame of its own.
    pub(crate) fn within<T>(
        &mut self,
        frame: Frame<'a, L>,
        make: impl FnOnce(&mut Self) -> Fallible<T>,
    ) -> Fallible<T> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let made = make(self);
        self.frame = outer;
        made
    }

    /// Makes something for which a label stands.
    pub(crate) fn labelled<T>(
        &mut self,
        label: Option<u32>,
        make: impl FnOnce(&mut Self) -> Fallible<T>,
    ) -> Fallible<T> {
        self.build.context.labels.extend(label);
        let made = make(self);
        if label.is_some() {
            self.build.context.labels.pop();
        }
        made
    }

    /// Makes something that is done only if a condition holds.
    pub(crate) fn guarded(
        &mut self,
        cond: LocalExpr,
        span: Span,
        make: impl FnOnce(&mut Self) -> Fallible<()>,
    ) -> Fallible<()> {
        let end = self.label();
        let test = self.unless(cond, end, span)?;
        self.build.context.guards.push(test);
        let made = make(self);
        self.build.context.guards.pop();
        self.place(end);
        made
    }

    /// Begins several ways, of which one is taken.
    pub(crate) fn fork(&mut self) -> Fork {
        Fork { end: self.label(), before: self.contents.clone(), after: self.contents.clone() }
    }

    /// Makes one of several ways.
    pub(crate) fn way<T>(&mut self, fork: &mut Fork, make: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<T> {
        self.contents.clone_from(&fork.before);
        let made = make(self)?;
        fork.after.iter_mut().zip(&self.contents).for_each(|(all, one)| all.join(one));
        Ok(made)
    }

    /// Ends all of them: sets and maps can hold what some way allows.
    pub(crate) fn join(&mut self, fork: Fork) {
        self.contents = fork.after;
        self.place(fork.end);
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, op: Op, span: Span) -> Fallible<()> {
        self.reports.settle(self.budget.charge_instruction(span))?;
        self.build.push(op, span);
        Ok(())
    }

    /// `dst := value`.
    pub(crate) fn assign(&mut self, dst: Place, value: LocalExpr, span: Span) -> Fallible<()> {
        self.emit(Op::Assign { dst, value }, span)
    }

    /// A new label.
    pub(crate) fn label(&mut self) -> Label {
        self.build.label()
    }

    /// Puts a label in front of the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.build.place(label);
    }

    /// Goes to a label.
    pub(crate) fn jump(&mut self, label: Label, span: Span) -> Fallible<()> {
        self.emit(Op::Jump(label.target()), span)
    }

    /// Goes one way or the other.
    pub(crate) fn branch(&mut self, cond: LocalExpr, then_to: Label, else_to: Label, span: Span) -> Fallible<()> {
        let (then_to, else_to) = (then_to.target(), else_to.target());
        self.emit(Op::Branch { cond, then_to, else_to }, span)
    }

    /// Goes to a label if a condition holds, and on otherwise.
    pub(crate) fn when(&mut self, cond: LocalExpr, to: Label, span: Span) -> Fallible<()> {
        let next = self.label();
        self.branch(cond, to, next, span)?;
        self.place(next);
        Ok(())
    }

    /// Goes on if a condition holds, and to a label otherwise; which instruction decides that.
    pub(crate) fn unless(&mut self, cond: LocalExpr, other: Label, span: Span) -> Fallible<u32> {
        let (test, next) = (self.build.here(), self.label());
        self.branch(cond, next, other, span)?;
        self.place(next);
        Ok(test)
    }

    /// A register for an intermediate value, free until the next statement.
    pub(crate) fn temporary(&mut self, ty: Ty, span: Span) -> Fallible<RegId> {
        let (pool, used) = &self.temporaries[ty as usize];
        let register = match pool.get(*used) {
            Some(register) => *register,
            None => {
                let made: usize = self.temporaries.iter().map(|(pool, _)| pool.len()).sum();
                let register = self.register(&format!("%{made}"), ty, span)?;
                self.temporaries[ty as usize].0.push(register);
                register
            }
        };
        self.temporaries[ty as usize].1 += 1;
        Ok(register)
    }

    /// The register of this name, made when it is first asked for.
    pub(crate) fn register(&mut self, name: &str, ty: Ty, span: Span) -> Fallible<RegId> {
        self.row(name, None, ty, span)
    }

    /// So many registers in a row, at least one; the first of them.
    pub(crate) fn row(&mut self, name: &str, len: Option<u32>, ty: Ty, span: Span) -> Fallible<RegId> {
        if let Some(found) = self.build.find(name) {
            return Ok(found);
        }
        self.reports.settle(self.budget.charge_registers(len.unwrap_or(1), span))?;
        Ok(self.build.row(name, len, 0, ty))
    }
}

impl<'a, L: Language<'a>> Resolve<'a> for Lower<'a, '_, L> {
    type Var = Place;

    fn atom(&mut self, atom: &'a Expr) -> Fallible<LocalExpr> {
        L::atom(self, atom)
    }

    fn own(&mut self, expr: &'a Expr) -> Option<Fallible<LocalExpr>> {
        L::own_expr(self, expr)
    }

    fn is_timestamp(&self, var: &Place) -> bool {
        let (Place::Reg(register) | Place::Elem { base: register, .. }) = var;
        self.build.thread.registers[register.index()].ty == Ty::Timestamp
    }

    fn binders(&mut self) -> &mut Vec<(&'a str, i128)> {
        &mut self.frame.binders
    }

    fn reports(&mut self) -> &mut Reports {
        self.reports
    }

    fn budget(&self) -> &Budget {
        self.budget
    }
}
