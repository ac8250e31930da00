//! The language of an `algorithm`: every method is inlined where it is called, every loop unrolled, and nothing jumps back.
//!
//! A method's locals are registers that all of its inlined copies share, for a method is never active twice and a local is never used before
//! it is assigned. Parameters and binders whose value is known are constants. A client's calls stand outside of all methods; there names are
//! constants and results.

use std::collections::HashMap;

use cyrano_ir::{BinOp, Expr as IrExpr, LocalExpr, Place, RegId, Span, reply};

use crate::expand::budget::Budget;
use crate::expand::fold::{compute, decides, fold};
use crate::expand::rounds::is_of_a_round;
use crate::lower::build::{binary, int, var};
use crate::lower::executed::Events;
use crate::lower::expr::Slot;
use crate::lower::memory::Memory;
use crate::lower::sets::{Contents, SetShape};
use crate::lower::{Frame, Language};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::constants::Constants;
use crate::syntax::ast::{Block, Call, Expr, ExprKind, Name, Place as Target, Rhs, Stmt, StmtKind};
use crate::syntax::objects::{Algorithm, Method};

/// An active method.
pub(crate) struct Active<'a> {
    method: &'a Method,
    /// Parameters and binders with their values, innermost last.
    bound: Vec<(&'a str, LocalExpr)>,
    /// How many conditions stood around its call.
    guards: usize,
    /// Which call it is, where calls do not share registers.
    tag: String,
    /// The rounds of the loops around what is being made, where they do not share registers.
    rounds: Vec<String>,
}

/// What a thread that calls methods knows.
pub(crate) struct Methods<'a, 'r> {
    pub(crate) algorithm: &'a Algorithm,
    pub(crate) constants: &'r Constants,
    pub(crate) memory: &'r mut Memory,
    /// Which thread.
    pub(crate) thread: usize,
    /// The number of the running transaction.
    pub(crate) tx: i128,
    /// The sets and maps, none for integers.
    pub(crate) sets: Vec<Option<SetShape>>,
    /// How often one key of each of them may have been added at most, anywhere.
    pub(crate) most: Vec<u32>,
    /// Whether it goes on for ever; then calls with different constants have registers of their own, so that versions of different
    /// locations never meet.
    pub(crate) endless: bool,
    /// Whether base objects are words of a machine's memory.
    pub(crate) words: bool,
    /// Whether the running transaction runs again after an abort.
    pub(crate) again: bool,
    /// The register for the running transaction's name, where names are used again.
    pub(crate) own_tx: Option<RegId>,
    /// What the conditions of checks say about execution, and the label of the client's call that is being made.
    pub(crate) events: &'r Events,
    pub(crate) call_label: Option<&'a str>,
}

/// The lowering of one thread.
pub(crate) type Lower<'a, 'r, 'm> = crate::lower::Lower<'a, 'm, Methods<'a, 'r>>;

impl<'a, 'r> Language<'a> for Methods<'a, 'r> {
    /// None outside of all methods.
    type Frame = Option<Active<'a>>;

    const GOES_ON: bool = false;
    const COMPACTS: bool = false;

    fn atom(lower: &mut Lower<'a, 'r, '_>, atom: &'a Expr) -> Fallible<LocalExpr> {
        match &atom.kind {
            ExprKind::Name(name) => lower.name(name),
            ExprKind::Tid => Ok(int(i128::try_from(lower.own.thread).unwrap_or(i128::MAX))),
            _ => Err(Reported),
        }
    }

    fn slot(lower: &mut Lower<'a, 'r, '_>, target: &'a Target) -> Fallible<Slot> {
        lower.target(&target.name).map(|register| Slot::Local(Place::Reg(register)))
    }

    fn call(lower: &mut Lower<'a, 'r, '_>, call: &'a Call, _into: Option<Place>) -> Fallible<Option<LocalExpr>> {
        let args = lower.exprs(&call.args)?;
        lower.call(&call.name.text, args, lower.stmt_span).map(|result| Some(var(result)))
    }

    fn own_right(
        lower: &mut Lower<'a, 'r, '_>,
        rhs: &'a Rhs,
        into: Option<Place>,
        span: Span,
    ) -> Fallible<Option<LocalExpr>> {
        let register = match &into {
            Some(Place::Reg(register)) => Some(*register),
            _ => None,
        };
        let value = match rhs {
            Rhs::New(made) => {
                let args = lower.exprs(&made.args)?;
                lower.new_record(&made.name.text, args, register, span)?
            }
            Rhs::Access(access) => lower.access(access, register, span)?,
            _ => return Err(Reported),
        };
        Ok(Some(value).filter(|value| into.map(IrExpr::Var).as_ref() != Some(value)))
    }

    fn own_stmt(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt) -> Fallible<()> {
        match &stmt.kind {
            StmtKind::Each(each) => lower.each(each, lower.label_of(stmt), stmt.span),
            _ => Err(Reported),
        }
    }

    fn labelled(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt) -> Fallible<()> {
        stmt.label.iter().try_for_each(|label| lower.note_executed(&label.text, stmt.span))
    }

    fn before_ordered(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt) -> Fallible<Option<usize>> {
        lower.before_ordered(stmt)
    }

    fn behind_ordered(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt, at: usize) {
        lower.behind_ordered(stmt, at);
    }

    fn leave_body(lower: &mut Lower<'a, 'r, '_>, _value: bool, span: Span) -> Fallible<()> {
        lower.jump(lower.frame.on_return, span)?;
        let guards = lower.active()?.guards;
        let context = &mut lower.build.context;
        let deciding: Vec<u32> = context.guards[guards..].to_vec();
        for guard in deciding {
            if !context.early.contains(&guard) {
                context.early.push(guard);
            }
        }
        Ok(())
    }

    fn own_expr(lower: &mut Lower<'a, 'r, '_>, expr: &'a Expr) -> Option<Fallible<LocalExpr>> {
        match &expr.kind {
            ExprKind::In(element, set) => {
                Some(lower.exprs(element.parts()).and_then(|parts| lower.contains(&set.text, parts)))
            }
            ExprKind::Binary(op, left, right) => Some(lower.binary(*op, left, right, expr.span)),
            _ => None,
        }
    }
}

impl<'a, 'r, 'm> Lower<'a, 'r, 'm> {
    /// A thread without code. The other parts are filled in by the client.
    pub(crate) fn client(
        algorithm: &'a Algorithm,
        (constants, labels, events): (&'r Constants, &HashMap<&'a str, u32>, &'r Events),
        memory: &'r mut Memory,
        known: (&'m Budget, &'m mut Reports),
        thread: usize,
    ) -> Self {
        let locals = algorithm.locals.len();
        let (sets, most) = (Vec::new(), vec![0; locals]);
        let own = Methods {
            algorithm,
            constants,
            memory,
            thread,
            tx: 0,
            sets,
            most,
            endless: false,
            words: false,
            again: false,
            own_tx: None,
            events,
            call_label: None,
        };
        let mut lower = Self::new(own, None, known);
        lower.contents = vec![Contents::default(); locals];
        lower.labels = labels.clone();
        lower
    }

    fn active(&self) -> Fallible<&Active<'a>> {
        self.frame.own.as_ref().ok_or(Reported)
    }

    /// Inlines a method; the register that holds its result.
    pub(crate) fn call(&mut self, name: &str, args: Vec<LocalExpr>, span: Span) -> Fallible<RegId> {
        let method = self.own.algorithm.method(name).ok_or(Reported)?;
        let tag = self.call_tag(&args);
        let result = self.build.register(&format!("{name}.result{tag}"), 0);
        let mut bound = Vec::new();
        for (param, arg) in method.params.iter().zip(args) {
            let value = match arg {
                IrExpr::Const(value) => int(value),
                other => {
                    let register = self.build.register(&format!("{name}.{}{tag}", param.text), 0);
                    self.assign(Place::Reg(register), other, span)?;
                    var(register)
                }
            };
            bound.push((param.text.as_str(), value));
        }
        let (guards, early) = (self.build.context.guards.len(), self.build.context.early.len());
        let (active, end) = (Active { method, bound, guards, tag, rounds: Vec::new() }, self.label());
        let frame = Frame { result: Some(Place::Reg(result)), ..Frame::new(Some(active), end) };
        let done = self.within(frame, |lower| lower.lower_block(&method.body));
        self.build.context.early.truncate(early);
        self.place(end);
        done.map(|()| result)
    }

    /// What tells the registers of a call from those of others: its constants, and the call and the rounds it stands in.
    fn call_tag(&self, args: &[LocalExpr]) -> String {
        if !self.own.endless {
            return String::new();
        }
        let around = self.frame.own.as_ref().map(|active| format!("{}{}", active.tag, active.rounds.concat()));
        let args = args.iter().filter_map(|arg| match arg {
            IrExpr::Const(value) => Some(format!("@{value}")),
            _ => None,
        });
        around.unwrap_or_default() + &args.collect::<String>()
    }

    /// The register that an assignment writes.
    fn target(&mut self, name: &Name) -> Fallible<RegId> {
        if self.own.algorithm.locals.iter().any(|local| local.name.text == name.text) {
            return Ok(self.build.register(&name.text, 0));
        }
        let active = self.active()?;
        let (method, tag) = (&active.method.name.text, &active.tag);
        let round = active.rounds.first().filter(|_| is_of_a_round(active.method, &name.text));
        let round = round.map(String::as_str).unwrap_or_default();
        Ok(self.build.register(&format!("{method}.{}{tag}{round}", name.text), 0))
    }

    /// Several expressions.
    pub(crate) fn exprs(&mut self, exprs: &'a [Expr]) -> Fallible<Vec<LocalExpr>> {
        exprs.iter().map(|expr| fold(expr, self)).collect()
    }

    /// A binary operation, simplified. Where a constant on the left of `&&` or `||` decides, what stands on the right is a dependency all
    /// the same, as where the left side is known only when the program runs; only what goes wrong there does not matter.
    fn binary(&mut self, op: BinOp, left: &'a Expr, right: &'a Expr, span: Span) -> Fallible<LocalExpr> {
        let left = fold(left, self)?;
        if decides(op, &left) {
            let reports = std::mem::take(self.reports);
            let right = fold(right, self);
            *self.reports = reports;
            return Ok(match right {
                Ok(IrExpr::Const(_)) | Err(_) => int((op == BinOp::Or).into()),
                Ok(right) => IrExpr::binary(op, left, right),
            });
        }
        let made = binary(op, left, fold(right, self)?);
        compute(&made, span, self.reports).map_or(Ok(made), |value| value.map(int))
    }

    /// What a name stands for.
    pub(crate) fn name(&mut self, name: &Name) -> Fallible<LocalExpr> {
        let text = name.text.as_str();
        let Some(active) = &self.frame.own else {
            let value = self.own.constants.get(text).map(int);
            return Ok(value.unwrap_or_else(|| var(self.build.register(text, reply::NOTHING))));
        };
        if text == "tx" {
            return Ok(self.own.own_tx.map_or(int(self.own.tx), var));
        }
        if let Some((_, value)) = active.bound.iter().rev().find(|(bound, _)| *bound == text) {
            return Ok(value.clone());
        }
        if let Some(value) = self.own.constants.get(text) {
            return Ok(int(value));
        }
        Ok(var(self.target(name)?))
    }

    /// The register of a binder in a round about this slot.
    pub(crate) fn binder(&mut self, name: &Name, slot: &LocalExpr) -> Fallible<RegId> {
        let round = self.round_tag(slot);
        let active = self.active()?;
        let (method, tag) = (&active.method.name.text, &active.tag);
        Ok(self.build.register(&format!("{method}.{}{tag}{round}", name.text), 0))
    }

    /// What tells the registers of a round from those of others.
    fn round_tag(&self, slot: &LocalExpr) -> String {
        match slot {
            IrExpr::Const(slot) if self.own.endless => format!("@{slot}"),
            _ => String::new(),
        }
    }

    /// Makes the body of a round about this slot, with binders in scope.
    pub(crate) fn body(
        &mut self,
        slot: &LocalExpr,
        binders: Vec<(&'a str, LocalExpr)>,
        body: &'a Block,
    ) -> Fallible<()> {
        let tag = self.round_tag(slot);
        let active = self.frame.own.as_mut().ok_or(Reported)?;
        let before = active.bound.len();
        active.bound.extend(binders);
        active.rounds.push(tag);
        let done = self.lower_block(body);
        if let Some(active) = &mut self.frame.own {
            active.bound.truncate(before);
            active.rounds.pop();
        }
        done
    }
}
