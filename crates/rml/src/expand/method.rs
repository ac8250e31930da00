//! The lowering of methods: every call is inlined where it stands, every loop unrolled, and nothing jumps back.
//!
//! A method's locals are registers that all of its inlined copies share, for a method is never active twice and a local is never used before
//! it is assigned. Parameters and binders whose value is known are constants.

use std::collections::HashMap;

use cyrano_ir::{BinOp, Expr as IrExpr, LocalExpr, Op, Place, RegId, Span};

use crate::expand::budget::Budget;
use crate::expand::fold::compute;
use crate::expand::rounds::is_of_a_round;
use crate::lower::build::{Builder, binary, int, var};
use crate::lower::memory::Memory;
use crate::lower::sets::{Contents, SetShape};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::constants::Constants;
use crate::syntax::ast::{Block, Expr, ExprKind, Name, Rhs, Stmt, StmtKind};
use crate::syntax::objects::{Algorithm, Method};

/// How deep statements may nest once everything is inlined.
const MAX_DEPTH: u32 = 300;

/// An active method.
struct Frame<'a> {
    method: &'a Method,
    /// Parameters and binders with their values, innermost last.
    bound: Vec<(&'a str, LocalExpr)>,
    result: RegId,
    /// Jumps to its end.
    ends: Vec<u32>,
    /// How many conditions stood around its call.
    guards: usize,
    /// Which call it is, where calls do not share registers.
    tag: String,
    /// The rounds of the loops around what is being made, where they do not share registers.
    rounds: Vec<String>,
}

/// Makes the code of one thread.
pub(crate) struct Lower<'a, 'm> {
    pub(crate) algorithm: &'a Algorithm,
    pub(crate) constants: &'m Constants,
    pub(crate) memory: &'m mut Memory,
    pub(crate) reports: &'m mut Reports,
    pub(crate) budget: &'m Budget,
    pub(crate) labels: &'m HashMap<&'a str, u32>,
    pub(crate) build: Builder,
    /// Which thread.
    pub(crate) thread: usize,
    /// The number of the running transaction.
    pub(crate) tx: i128,
    /// The sets and maps, none for integers.
    pub(crate) sets: Vec<Option<SetShape>>,
    /// What each of them can hold here.
    pub(crate) contents: Vec<Contents>,
    /// How often one key of each of them may have been added at most, anywhere.
    pub(crate) most: Vec<u32>,
    /// Whether it goes on for ever; then calls with different constants have registers of their own, so that versions of different
    /// locations never meet.
    pub(crate) endless: bool,
    /// The register for the running transaction's name, where names are used again.
    pub(crate) own_tx: Option<RegId>,
    frames: Vec<Frame<'a>>,
    depth: u32,
}

impl<'a, 'm> Lower<'a, 'm> {
    /// A thread without code. The other parts are filled in by the client.
    pub(crate) fn new(
        algorithm: &'a Algorithm,
        (constants, labels): (&'m Constants, &'m HashMap<&'a str, u32>),
        memory: &'m mut Memory,
        (budget, reports): (&'m Budget, &'m mut Reports),
        thread: usize,
    ) -> Self {
        let locals = algorithm.locals.len();
        Self {
            algorithm,
            constants,
            memory,
            reports,
            budget,
            labels,
            build: Builder::default(),
            thread,
            tx: 0,
            sets: Vec::new(),
            contents: vec![Contents::default(); locals],
            most: vec![0; locals],
            endless: false,
            own_tx: None,
            frames: Vec::new(),
            depth: 0,
        }
    }

    /// Adds an instruction.
    pub(crate) fn emit(&mut self, op: Op, span: Span) -> Fallible<u32> {
        self.build.emit(op, span, self.budget, self.reports)
    }

    /// `dst := value`.
    pub(crate) fn assign(&mut self, dst: Place, value: LocalExpr, span: Span) -> Fallible<u32> {
        self.emit(Op::Assign { dst, value }, span)
    }

    /// A branch whose first target is the next instruction; the second one lands later.
    pub(crate) fn branch(&mut self, cond: LocalExpr, span: Span) -> Fallible<u32> {
        let next = cyrano_ir::InstrId(self.build.here() + 1);
        self.emit(Op::Branch { cond, then_to: next, else_to: next }, span)
    }

    /// A jump that lands later.
    pub(crate) fn jump(&mut self, span: Span) -> Fallible<u32> {
        let next = cyrano_ir::InstrId(self.build.here() + 1);
        self.emit(Op::Jump(next), span)
    }

    /// Inlines a method; the register that holds its result.
    pub(crate) fn call(&mut self, name: &str, args: Vec<LocalExpr>, span: Span) -> Fallible<RegId> {
        let method = self.algorithm.method(name).ok_or(Reported)?;
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
        let guards = self.build.context.guards.len();
        let early = self.build.context.early.len();
        self.frames.push(Frame { method, bound, result, ends: Vec::new(), guards, tag, rounds: Vec::new() });
        let done = self.block(&method.body);
        self.build.context.early.truncate(early);
        if let Some(frame) = self.frames.pop() {
            self.build.land(&frame.ends);
        }
        done.map(|()| result)
    }

    /// What tells the registers of a call from those of others: its constants, and the call and the rounds it stands in.
    fn call_tag(&self, args: &[LocalExpr]) -> String {
        if !self.endless {
            return String::new();
        }
        let around = self.frames.last().map(|frame| format!("{}{}", frame.tag, frame.rounds.concat()));
        let args = args.iter().filter_map(|arg| match arg {
            IrExpr::Const(value) => Some(format!("@{value}")),
            _ => None,
        });
        around.unwrap_or_default() + &args.collect::<String>()
    }

    fn block(&mut self, block: &'a Block) -> Fallible<()> {
        if self.depth >= MAX_DEPTH {
            let span = block.stmts.first().map_or(self.algorithm.name.span, |stmt| stmt.span);
            let message = format!("nested more than {MAX_DEPTH} levels deep once methods are inlined");
            return Err(self.reports.complain(span, message, "too deep", "call fewer methods from one another"));
        }
        self.depth += 1;
        let done = block.stmts.iter().try_for_each(|stmt| self.stmt(stmt));
        self.depth -= 1;
        done
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        let label = stmt.label.as_ref().and_then(|label| self.labels.get(label.text.as_str()).copied());
        match &stmt.kind {
            StmtKind::If { arms, otherwise } => self.branches(arms, otherwise.as_ref(), label, stmt.span),
            StmtKind::Each(each) => self.each(each, label, stmt.span),
            _ => self.labelled(label, |lower| lower.simple(stmt)),
        }
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

    fn simple(&mut self, stmt: &'a Stmt) -> Fallible<()> {
        match &stmt.kind {
            StmtKind::Assign(place, rhs) => {
                let target = self.target(&place.name)?;
                let value = self.right(rhs, Some(target), stmt.span)?;
                if value != var(target) {
                    self.assign(Place::Reg(target), value, stmt.span)?;
                }
            }
            StmtKind::Do(rhs) => {
                self.right(rhs, None, stmt.span)?;
            }
            StmtKind::Return(Some(rhs)) => {
                let value = self.right(rhs, None, stmt.span)?;
                let result = self.frames.last().ok_or(Reported)?.result;
                self.assign(Place::Reg(result), value, stmt.span)?;
                let end = self.jump(stmt.span)?;
                let frame = self.frames.last_mut().ok_or(Reported)?;
                frame.ends.push(end);
                let context = &mut self.build.context;
                let deciding: Vec<u32> = context.guards[frame.guards..].to_vec();
                for guard in deciding {
                    if !context.early.contains(&guard) {
                        context.early.push(guard);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The register that an assignment writes.
    fn target(&mut self, name: &Name) -> Fallible<RegId> {
        if self.algorithm.locals.iter().any(|local| local.name.text == name.text) {
            return Ok(self.build.register(&name.text, 0));
        }
        let frame = self.frames.last().ok_or(Reported)?;
        let (method, tag) = (&frame.method.name.text, &frame.tag);
        let round = frame.rounds.first().filter(|_| is_of_a_round(frame.method, &name.text));
        let round = round.map(String::as_str).unwrap_or_default();
        Ok(self.build.register(&format!("{method}.{}{tag}{round}", name.text), 0))
    }

    fn right(&mut self, rhs: &'a Rhs, into: Option<RegId>, span: Span) -> Fallible<LocalExpr> {
        match rhs {
            Rhs::Expr(expr) => self.expr(expr),
            Rhs::Call(call) => {
                let args = self.exprs(&call.args)?;
                Ok(var(self.call(&call.name.text, args, span)?))
            }
            Rhs::New(made) => {
                let args = self.exprs(&made.args)?;
                self.new_record(&made.name.text, args, into, span)
            }
            Rhs::Rmw(_) => Err(Reported),
            Rhs::Access(access) => self.access(access, into, span),
        }
    }

    fn branches(
        &mut self,
        arms: &'a [(Expr, Block)],
        otherwise: Option<&'a Block>,
        label: Option<u32>,
        span: Span,
    ) -> Fallible<()> {
        let before = self.contents.clone();
        let mut after = before.clone();
        let guards = self.build.context.guards.len();
        let mut ends = Vec::new();
        let bodies = arms.iter().map(|(cond, body)| (Some(cond), body));
        let mut bodies = bodies.chain(otherwise.map(|body| (None, body))).peekable();
        while let Some((cond, body)) = bodies.next() {
            let mut test = None;
            if let Some(cond) = cond {
                let folded = self.expr(cond)?;
                let at = self.labelled(label, |lower| lower.branch(folded, cond.span))?;
                self.build.context.guards.push(at);
                test = Some(at);
            }
            self.contents.clone_from(&before);
            self.block(body)?;
            after.iter_mut().zip(&self.contents).for_each(|(all, one)| all.join(one));
            if let Some(test) = test {
                if bodies.peek().is_some() {
                    ends.push(self.jump(span)?);
                }
                self.build.land(&[test]);
            }
        }
        self.build.land(&ends);
        self.build.context.guards.truncate(guards);
        self.contents = after;
        Ok(())
    }

    /// Several expressions.
    pub(crate) fn exprs(&mut self, exprs: &'a [Expr]) -> Fallible<Vec<LocalExpr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// An expression over the running method's names.
    pub(crate) fn expr(&mut self, expr: &'a Expr) -> Fallible<LocalExpr> {
        match &expr.kind {
            ExprKind::Int(value) => Ok(int(*value)),
            ExprKind::Name(name) => self.name(name),
            ExprKind::In(element, set) => {
                let parts = self.parts(element)?;
                self.contains(&set.text, parts)
            }
            ExprKind::Unary(op, arg) => {
                let arg = self.expr(arg)?;
                self.settle(IrExpr::unary(*op, arg), expr.span)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left)?;
                if decides(*op, &left) {
                    return Ok(self.undecided_side(*op, left, right));
                }
                let right = self.expr(right)?;
                let made = binary(*op, left, right);
                self.settle(made, expr.span)
            }
            _ => Err(Reported),
        }
    }

    /// `&&` or `||` that a constant on the left decides. What stands on the right is a dependency all the same, as where the
    /// left side is known only when the program runs; only what goes wrong there does not matter.
    fn undecided_side(&mut self, op: BinOp, left: LocalExpr, right: &'a Expr) -> LocalExpr {
        let reports = std::mem::take(self.reports);
        let right = self.expr(right);
        *self.reports = reports;
        match right {
            Ok(IrExpr::Const(_)) | Err(_) => int(i128::from(op == BinOp::Or)),
            Ok(right) => IrExpr::binary(op, left, right),
        }
    }

    /// The components of an element.
    pub(crate) fn parts(&mut self, element: &'a Expr) -> Fallible<Vec<LocalExpr>> {
        self.exprs(element.parts())
    }

    /// Computes an operation on constants.
    pub(crate) fn settle(&mut self, expr: LocalExpr, span: Span) -> Fallible<LocalExpr> {
        compute(&expr, span, self.reports).map_or(Ok(expr), |value| value.map(int))
    }

    /// What a name stands for.
    pub(crate) fn name(&mut self, name: &Name) -> Fallible<LocalExpr> {
        let text = name.text.as_str();
        if text == "tx" {
            return Ok(self.own_tx.map_or(int(self.tx), var));
        }
        let frame = self.frames.last().ok_or(Reported)?;
        if let Some((_, value)) = frame.bound.iter().rev().find(|(bound, _)| *bound == text) {
            return Ok(value.clone());
        }
        if let Some(value) = self.constants.get(text) {
            return Ok(int(value));
        }
        Ok(var(self.target(name)?))
    }

    /// Brings binders into scope while something is made.
    fn with_binders(&mut self, binders: Vec<(&'a str, LocalExpr)>, body: &'a Block) -> Fallible<()> {
        let frame = self.frames.last_mut().ok_or(Reported)?;
        let before = frame.bound.len();
        frame.bound.extend(binders);
        let done = self.block(body);
        if let Some(frame) = self.frames.last_mut() {
            frame.bound.truncate(before);
        }
        done
    }

    /// The register of a binder in a round about this slot.
    pub(crate) fn binder(&mut self, name: &Name, slot: &LocalExpr) -> Fallible<RegId> {
        let round = self.round_tag(slot);
        let frame = self.frames.last().ok_or(Reported)?;
        let (method, tag) = (&frame.method.name.text, &frame.tag);
        Ok(self.build.register(&format!("{method}.{}{tag}{round}", name.text), 0))
    }

    /// What tells the registers of a round from those of others.
    fn round_tag(&self, slot: &LocalExpr) -> String {
        match slot {
            IrExpr::Const(slot) if self.endless => format!("@{slot}"),
            _ => String::new(),
        }
    }

    /// Makes the body of a round about this slot.
    pub(crate) fn body(
        &mut self,
        slot: &LocalExpr,
        binders: Vec<(&'a str, LocalExpr)>,
        body: &'a Block,
    ) -> Fallible<()> {
        let tag = self.round_tag(slot);
        self.frames.last_mut().ok_or(Reported)?.rounds.push(tag);
        let done = self.with_binders(binders, body);
        if let Some(frame) = self.frames.last_mut() {
            frame.rounds.pop();
        }
        done
    }
}

/// Whether a constant on the left side of `&&` or `||` decides.
fn decides(op: BinOp, left: &LocalExpr) -> bool {
    match (op, left) {
        (BinOp::Or, IrExpr::Const(value)) => *value != 0,
        (BinOp::And, IrExpr::Const(value)) => *value == 0,
        _ => false,
    }
}
