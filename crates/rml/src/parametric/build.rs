//! From the syntax tree to the [`Form`]. What the form cannot say stands in the way of every proof.

use std::collections::HashMap;

use cyrano_ir::{BinOp, Span, Ty, UnOp};

use super::Obstacle;
use super::form::{Binder, Cell, Change, Domain, Form, Index, Len, Step, StepKind, Term, TermKind, Var, VarNo};
use crate::given;
use crate::syntax::ast::{
    Block, Call, Command, Expr, ExprKind, File, Init, Place, Range, RangeKind, Rhs, RmwArgs, Stmt, StmtKind, VarDecl,
    VarKind,
};

/// How deep procedures may call one another.
const MOST_CALLS: usize = 32;

/// The names of the sizes.
const SIZES: [(&str, Domain); 2] = [("vars", Domain::Variables), ("threads", Domain::Threads)];

/// The form of a file with an stm, and what of it the form cannot say.
pub(super) fn build(file: &File, set: &[(String, i128)]) -> (Form, Vec<Obstacle>) {
    let mut builder =
        Builder { file, form: Form::default(), constants: HashMap::new(), obstacles: Vec::new(), calls: 0 };
    for constant in &file.consts {
        let is_size = SIZES.iter().any(|(name, _)| *name == constant.name.text);
        let value = given(set, &constant.name.text).or_else(|| builder.value(&constant.value)).filter(|_| !is_size);
        builder.constants.insert(&constant.name.text, value);
    }
    for decl in &file.decls {
        let var = builder.var(decl);
        builder.form.vars.push(var);
    }
    for command in Command::ALL {
        let Some(procedure) = file.command(command).map(|at| &file.procs[at]) else { continue };
        let mut scope = Scope::new();
        let parameter = procedure.params.first().map(|parameter| {
            let binder = builder.binder(Domain::Variables);
            scope.insert(&parameter.name.text, Term { kind: TermKind::NumberOf(binder), span: parameter.name.span });
            binder
        });
        let body = builder.block(&procedure.body, &scope);
        builder.form.commands.push((parameter, body));
    }
    (builder.form, builder.obstacles)
}

/// What names stand for that are no variables of the stm: parameters and binders.
type Scope<'a> = HashMap<&'a str, Term>;

struct Builder<'a> {
    file: &'a File,
    form: Form,
    /// Those whose value depends on the size have none.
    constants: HashMap<&'a str, Option<i128>>,
    obstacles: Vec<Obstacle>,
    calls: usize,
}

impl<'a> Builder<'a> {
    fn binder(&mut self, domain: Domain) -> Binder {
        self.form.binders.push(domain);
        self.form.binders.len() - 1
    }

    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        self.obstacles.push(Obstacle { span, what: what.into() });
    }

    /// The value of a constant expression that does not depend on the size.
    fn value(&self, expr: &Expr) -> Option<i128> {
        match &expr.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Name(name) => self.constants.get(name.text.as_str()).copied().flatten(),
            ExprKind::Unary(op, arg) => op.apply(self.value(arg)?).ok(),
            ExprKind::Binary(op, left, right) => op.apply(self.value(left)?, self.value(right)?).ok(),
            _ => None,
        }
    }

    fn var(&mut self, decl: &VarDecl) -> Var {
        let len = match decl.len.as_ref().map(|len| &len.kind) {
            None => Len::Scalar,
            Some(ExprKind::Name(name)) => {
                SIZES.iter().find(|(size, _)| *size == name.text).map_or(Len::Fixed, |(_, domain)| Len::Each(*domain))
            }
            Some(_) => Len::Fixed,
        };
        let init = match &decl.init {
            None => Some(0),
            Some(Init::Value(value)) => self.value(value),
            Some(Init::List(..)) => None,
        };
        if init.is_none() {
            let name = &decl.name.text;
            self.refuse(decl.name.span, format!("what `{name}` starts with depends on the size, or on the element"));
        }
        let shared = decl.kind == VarKind::Shared;
        let timestamp = decl.ty == Ty::Timestamp;
        Var { name: decl.name.text.clone(), shared, data: decl.data, timestamp, len, init }
    }

    fn block(&mut self, block: &'a Block, scope: &Scope<'a>) -> Vec<Step> {
        block.stmts.iter().flat_map(|stmt| self.stmt(stmt, scope)).collect()
    }

    fn stmt(&mut self, stmt: &'a Stmt, scope: &Scope<'a>) -> Vec<Step> {
        let kind = match &stmt.kind {
            StmtKind::Skip | StmtKind::Fence(_) => return Vec::new(),
            StmtKind::Atomic(body) => return self.block(body, scope),
            StmtKind::Do(Rhs::Call(call)) => return self.call(call, scope),
            StmtKind::Assign(place, rhs) => self.assign(place, rhs, scope),
            StmtKind::Do(rhs @ Rhs::Rmw(_)) => self.rmw(None, rhs, scope),
            StmtKind::Rollback(place, value) => {
                self.cell(place, scope).map(|to| StepKind::Rollback(to, self.term(value, scope)))
            }
            StmtKind::Transaction(event) => Some(StepKind::Event(*event)),
            StmtKind::If { arms, otherwise } => return self.arms(arms, otherwise.as_ref(), stmt.span, scope),
            StmtKind::While(cond, body) => {
                let cond = self.term(cond, scope);
                Some(StepKind::While(cond, self.block(body, scope)))
            }
            StmtKind::Assume(cond) => Some(StepKind::Assume(self.term(cond, scope))),
            StmtKind::Foreach(name, range, body) => self.domain(range).map(|domain| {
                let binder = self.binder(domain);
                let mut inner = scope.clone();
                inner.insert(&name.text, Term { kind: TermKind::NumberOf(binder), span: name.span });
                StepKind::Each(binder, self.block(body, &inner))
            }),
            _ => None,
        };
        match kind {
            Some(kind) => vec![Step { kind, span: stmt.span }],
            None => {
                self.refuse(stmt.span, "this statement is not understood for every size");
                Vec::new()
            }
        }
    }

    /// `else if` as an `if` in the `else`.
    fn arms(
        &mut self,
        arms: &'a [(Expr, Block)],
        otherwise: Option<&'a Block>,
        span: Span,
        scope: &Scope<'a>,
    ) -> Vec<Step> {
        let mut rest = otherwise.map_or_else(Vec::new, |block| self.block(block, scope));
        for (cond, then) in arms.iter().rev() {
            let then = self.block(then, scope);
            rest = vec![Step { kind: StepKind::If(self.term(cond, scope), then, rest), span }];
        }
        rest
    }

    fn call(&mut self, call: &'a Call, scope: &Scope<'a>) -> Vec<Step> {
        let called = self.file.procs.iter().find(|procedure| procedure.name.text == call.name.text);
        let Some(procedure) = called.filter(|_| self.calls < MOST_CALLS) else {
            self.refuse(call.span, "this call is not understood for every size");
            return Vec::new();
        };
        let args: Vec<Term> = call.args.iter().map(|arg| self.term(arg, scope)).collect();
        // An argument is put in for its parameter, so it must not change.
        if args.iter().any(|arg| arg.has(|part| matches!(part.kind, TermKind::Local(_)))) {
            self.refuse(call.span, "an argument that is not a constant is not understood for every size");
        }
        let names = procedure.params.iter().map(|parameter| parameter.name.text.as_str());
        let inner: Scope<'a> = names.zip(args).collect();
        self.calls += 1;
        let body = self.block(&procedure.body, &inner);
        self.calls -= 1;
        body
    }

    fn assign(&mut self, place: &'a Place, rhs: &'a Rhs, scope: &Scope<'a>) -> Option<StepKind> {
        let to = self.cell(place, scope)?;
        if self.form.vars[to.var].shared {
            let Rhs::Expr(value) = rhs else { return None };
            return Some(StepKind::Store(to, self.term(value, scope)));
        }
        match rhs {
            Rhs::Expr(value) => Some(match self.shared(value, scope) {
                Some(from) => StepKind::Load(to, from),
                None => StepKind::Assign(to, self.term(value, scope)),
            }),
            rhs => self.rmw(Some(to), rhs, scope),
        }
    }

    fn rmw(&mut self, to: Option<Cell>, rhs: &'a Rhs, scope: &Scope<'a>) -> Option<StepKind> {
        let Rhs::Rmw(rmw) = rhs else { return None };
        let at = self.cell(&rmw.target, scope)?;
        let change = match &rmw.op {
            RmwArgs::Cas(expected, new) => Change::Cas(self.term(expected, scope), self.term(new, scope)),
            RmwArgs::Exchange(value) => Change::Exchange(self.term(value, scope)),
            RmwArgs::FetchAdd(value) => Change::Add(self.term(value, scope)),
        };
        Some(StepKind::Rmw { to, at, change })
    }

    fn declared(&self, name: &str) -> Option<VarNo> {
        self.form.vars.iter().position(|var| var.name == name)
    }

    fn cell(&mut self, place: &'a Place, scope: &Scope<'a>) -> Option<Cell> {
        let var = self.declared(&place.name.text)?;
        Some(Cell { var, index: self.index(var, place.index.as_ref(), scope), span: place.span })
    }

    fn index(&mut self, var: VarNo, index: Option<&'a Expr>, scope: &Scope<'a>) -> Index {
        let Some(index) = index else { return Index::None };
        let len = self.form.vars[var].len;
        match self.term(index, scope).kind {
            TermKind::NumberOf(binder) if len == Len::Each(self.form.binders[binder]) => Index::Of(binder),
            TermKind::Own if len == Len::Each(Domain::Threads) => Index::Own,
            TermKind::Number(_) => Index::Fixed,
            _ => {
                self.refuse(index.span, "which element this is, is not understood for every size");
                Index::Fixed
            }
        }
    }

    /// The shared cell that an expression is.
    fn shared(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Option<Cell> {
        let (name, index) = match &expr.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Element(name, index) => (name, Some(&**index)),
            _ => return None,
        };
        let var = self.declared(&name.text).filter(|var| self.form.vars[*var].shared)?;
        Some(Cell { var, index: self.index(var, index, scope), span: expr.span })
    }

    fn term(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Term {
        let span = expr.span;
        let kind = match &expr.kind {
            ExprKind::Int(value) => Some(TermKind::Number(*value)),
            ExprKind::SelfIndex => Some(TermKind::Own),
            ExprKind::Name(name) => match scope.get(name.text.as_str()) {
                Some(term) => Some(term.kind.clone()),
                None => self.name(expr, &name.text, None, scope),
            },
            ExprKind::Element(name, index) => self.name(expr, &name.text, Some(index), scope),
            ExprKind::Unary(op, arg) => Some(unary(*op, self.term(arg, scope))),
            ExprKind::Binary(op, left, right) => Some(binary(*op, self.term(left, scope), self.term(right, scope))),
            ExprKind::Quantified { all, binder: name, range, body } => self.domain(range).map(|domain| {
                let binder = self.binder(domain);
                let mut inner = scope.clone();
                inner.insert(&name.text, Term { kind: TermKind::NumberOf(binder), span: name.span });
                TermKind::Quantified { all: *all, binder, body: Box::new(self.term(body, &inner)) }
            }),
            _ => None,
        };
        let kind = kind.unwrap_or_else(|| {
            self.refuse(span, "this expression is not understood for every size");
            TermKind::Sized
        });
        Term { kind, span }
    }

    fn name(&mut self, expr: &'a Expr, name: &str, index: Option<&'a Expr>, scope: &Scope<'a>) -> Option<TermKind> {
        if let Some(value) = self.constants.get(name) {
            return Some(value.map_or(TermKind::Sized, TermKind::Number));
        }
        if SIZES.iter().any(|(size, _)| *size == name) {
            return Some(TermKind::Sized);
        }
        let var = self.declared(name).filter(|var| !self.form.vars[*var].shared)?;
        Some(TermKind::Local(Cell { var, index: self.index(var, index, scope), span: expr.span }))
    }

    /// What a range goes over, if that is all variables or all threads.
    fn domain(&self, range: &Range) -> Option<Domain> {
        let (first, last, less) = match &range.kind {
            RangeKind::Inclusive(first, last) => (first, last, 1),
            RangeKind::Exclusive(first, end) => (first, end, 0),
            RangeKind::List(_) => return None,
        };
        let named = |expr: &Expr| match &expr.kind {
            ExprKind::Name(name) => SIZES.iter().find(|(size, _)| *size == name.text).map(|(_, domain)| *domain),
            _ => None,
        };
        let domain = match &last.kind {
            ExprKind::Binary(BinOp::Sub, size, one) if less == 1 && self.value(one) == Some(1) => named(size),
            _ if less == 0 => named(last),
            _ => None,
        };
        domain.filter(|_| self.value(first) == Some(0))
    }
}

fn unary(op: UnOp, arg: Term) -> TermKind {
    match arg.number().and_then(|value| op.apply(value).ok()) {
        Some(value) => TermKind::Number(value),
        None => TermKind::Unary(op, Box::new(arg)),
    }
}

fn binary(op: BinOp, left: Term, right: Term) -> TermKind {
    let value = left.number().zip(right.number()).and_then(|(left, right)| op.apply(left, right).ok());
    value.map_or_else(|| TermKind::Binary(op, Box::new(left), Box::new(right)), TermKind::Number)
}
