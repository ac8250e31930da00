//! What every name stands for: constants with their values, variables with their lengths, procedures, threads.
//!
//! All names that are visible in one place are different: nothing shadows anything, so a name can be looked up
//! without knowing where it stands. Bodies (of procedures and threads) have their own locals; two bodies may use the same names.
//! What cannot be evaluated is kept as unknown, so that later passes neither stumble over it nor report it again.

use std::collections::HashMap;

use cyrano_ir::{Diagnostic, Expr as IrExpr, Span, Ty};

use crate::expand::budget::Budget;
use crate::expand::fold::{Outside, fold_const};
use crate::given;
use crate::report::{Fallible, Reported, Reports};
use crate::syntax::ast::{Block, Command, Count, Expr, ExprKind, File, Init, Name, StmtKind, VarDecl, VarKind};

/// The largest array.
const MAX_ARRAY: i128 = 4096;
/// The largest number of threads.
const MAX_THREADS: i128 = 256;

/// A position in [`Names::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct VarId(pub(crate) usize);

/// A procedure or a thread: procedures first, then threads, in source order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BodyId(pub(crate) usize);

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Const(usize),
    Var(VarId),
    Proc(usize),
}

/// One word, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Scalar,
    Array(u32),
    /// The length could not be evaluated, which is reported.
    Unknown,
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Var<'a> {
    pub(crate) name: &'a Name,
    pub(crate) kind: VarKind,
    /// Whether it is a transactional variable.
    pub(crate) data: bool,
    pub(crate) sync: bool,
    pub(crate) shape: Shape,
    pub(crate) ty: Ty,
    pub(crate) init: Option<&'a Init>,
    /// Whose local it is, if it was declared inside a body.
    pub(crate) body: Option<BodyId>,
}

/// The tables.
pub(crate) struct Names<'a> {
    pub(crate) source: &'a str,
    pub(crate) file: &'a File,
    pub(crate) vars: Vec<Var<'a>>,
    /// The constants' values, where known.
    pub(crate) consts: Vec<Option<i128>>,
    /// How many threads each thread declaration stands for, where known.
    pub(crate) counts: Vec<Option<u32>>,
    /// What the whole compilation may still cost.
    pub(crate) budget: Budget,
    globals: HashMap<&'a str, (Symbol, Span)>,
    locals: Vec<HashMap<&'a str, VarId>>,
}

/// Declares everything in a file. `set` overrides constants.
pub(crate) fn collect<'a>(source: &'a str, file: &'a File, set: &[(String, i128)], reports: &mut Reports) -> Names<'a> {
    let mut names = Names {
        source,
        file,
        vars: Vec::new(),
        consts: Vec::new(),
        counts: Vec::new(),
        budget: Budget::default(),
        globals: HashMap::new(),
        locals: Vec::new(),
    };
    for (index, constant) in file.consts.iter().enumerate() {
        let value = given(set, &constant.name.text).or_else(|| names.constant(&constant.value, reports).ok());
        names.consts.push(value);
        names.declare_global(&constant.name, Symbol::Const(index), reports);
    }
    for decl in &file.decls {
        let var = names.add_var(decl, None, reports);
        names.declare_global(&decl.name, Symbol::Var(var), reports);
    }
    for (index, procedure) in file.procs.iter().enumerate() {
        names.declare_global(&procedure.name, Symbol::Proc(index), reports);
    }
    for procedure in &file.procs {
        names.declare_body(&procedure.params, &procedure.body, reports);
    }
    for thread in &file.threads {
        names.declare_body(&[], &thread.body, reports);
    }
    names.count_threads(reports);
    names
}

impl<'a> Names<'a> {
    /// What a name stands for inside a body, or outside all bodies.
    pub(crate) fn lookup(&self, body: Option<BodyId>, name: &str) -> Option<Symbol> {
        let local = body.and_then(|body| self.locals[body.0].get(name)).map(|var| Symbol::Var(*var));
        let global = || self.globals.get(name).map(|(symbol, _)| *symbol);
        local.or_else(|| global().filter(|symbol| self.is_visible(body, *symbol)))
    }

    /// What a name stands for in the stm whose client cannot see it.
    pub(crate) fn hidden(&self, body: BodyId, name: &str) -> Option<Symbol> {
        let global = self.globals.get(name).map(|(symbol, _)| *symbol);
        global.filter(|symbol| !self.is_visible(Some(body), *symbol))
    }

    /// A client sees the commands of its stm, except `end`, and what they work on if it is told what that holds.
    fn is_visible(&self, body: Option<BodyId>, symbol: Symbol) -> bool {
        match symbol {
            _ if !body.is_some_and(|body| self.is_client(body)) => true,
            Symbol::Const(_) => true,
            Symbol::Var(var) => self.var(var).data && self.file.has_values(),
            Symbol::Proc(index) => matches!(self.file.procs[index].command, Some(Command::Read | Command::Write)),
        }
    }

    /// Whether a body is a thread of a given client.
    pub(crate) fn is_client(&self, body: BodyId) -> bool {
        self.file.client.is_some() && body.0 >= self.file.procs.len()
    }

    /// The constant of this name, if its value is known: the value, and where it was declared.
    pub(crate) fn value(&self, name: &str) -> Option<(i128, Span)> {
        let Some(symbol @ Symbol::Const(constant)) = self.lookup(None, name) else { return None };
        Some((self.consts[constant]?, self.span_of(symbol)))
    }

    /// The names that can be used inside a body, or outside all bodies.
    pub(crate) fn visible(&self, body: Option<BodyId>) -> impl Iterator<Item = &'a str> {
        let locals = body.into_iter().flat_map(|body| self.locals[body.0].keys().copied());
        locals.chain(self.globals.keys().copied())
    }

    /// A local of one body.
    pub(crate) fn local(&self, body: BodyId, name: &str) -> Option<VarId> {
        self.locals[body.0].get(name).copied()
    }

    /// The variable.
    pub(crate) fn var(&self, var: VarId) -> &Var<'a> {
        &self.vars[var.0]
    }

    /// Where a symbol was declared.
    pub(crate) fn span_of(&self, symbol: Symbol) -> Span {
        match symbol {
            Symbol::Const(index) => self.file.consts[index].name.span,
            Symbol::Var(var) => self.var(var).name.span,
            Symbol::Proc(index) => self.file.procs[index].name.span,
        }
    }

    /// The body of a procedure.
    pub(crate) fn proc_body(&self, procedure: usize) -> BodyId {
        BodyId(procedure)
    }

    /// The command of an stm that a body is, if it is one.
    pub(crate) fn command(&self, body: BodyId) -> Option<Command> {
        self.file.procs.get(body.0).and_then(|procedure| procedure.command)
    }

    /// Whether the variable is a command's parameter, which is a constant in the command.
    pub(crate) fn is_command_param(&self, var: VarId) -> bool {
        let var = self.var(var);
        var.kind == VarKind::Param && var.body.is_some_and(|body| self.command(body).is_some())
    }

    /// The body of a thread declaration.
    pub(crate) fn thread_body(&self, thread: usize) -> BodyId {
        BodyId(self.file.procs.len() + thread)
    }

    /// The source text of a span.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        self.source.get(span.range()).unwrap_or_default()
    }

    fn declare_global(&mut self, name: &'a Name, symbol: Symbol, reports: &mut Reports) {
        if let Some((_, first)) = self.globals.get(name.text.as_str()) {
            declared_twice(name, *first, reports);
            return;
        }
        self.globals.insert(&name.text, (symbol, name.span));
    }

    /// Declares the parameters of a body and the locals of its outermost block.
    fn declare_body(&mut self, params: &'a [VarDecl], block: &'a Block, reports: &mut Reports) {
        let body = BodyId(self.locals.len());
        self.locals.push(HashMap::new());
        let declared = block.stmts.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Declare(decls) => Some(decls),
            _ => None,
        });
        for decl in params.iter().chain(declared.flatten()) {
            let first = self.globals.get(decl.name.text.as_str());
            let first = first.filter(|(symbol, _)| self.is_visible(Some(body), *symbol)).map(|(_, span)| *span);
            let local = self.local(body, &decl.name.text).map(|var| self.var(var).name.span);
            if let Some(first) = first.or(local) {
                declared_twice(&decl.name, first, reports);
                continue;
            }
            let var = self.add_var(decl, Some(body), reports);
            self.locals[body.0].insert(&decl.name.text, var);
        }
    }

    fn add_var(&mut self, decl: &'a VarDecl, body: Option<BodyId>, reports: &mut Reports) -> VarId {
        let shape = match &decl.len {
            None => Shape::Scalar,
            Some(len) => self.array_len(len, reports).map_or(Shape::Unknown, Shape::Array),
        };
        let (name, kind, ty) = (&decl.name, decl.kind, decl.ty);
        self.vars.push(Var { name, kind, data: decl.data, sync: decl.sync, shape, ty, init: decl.init.as_ref(), body });
        VarId(self.vars.len() - 1)
    }

    fn array_len(&self, len: &'a Expr, reports: &mut Reports) -> Fallible<u32> {
        let value = self.constant(len, reports)?;
        let fits = u32::try_from(value).ok().filter(|_| (1..=MAX_ARRAY).contains(&value));
        fits.ok_or_else(|| {
            let message = format!("an array cannot have {value} elements");
            reports.complain(len.span, message, "the length", format!("an array has 1 to {MAX_ARRAY} elements"))
        })
    }

    fn count_threads(&mut self, reports: &mut Reports) {
        let mut total = 0;
        let family = if self.file.stm().is_some() { "an stm" } else { "a family" };
        let mut first: HashMap<&str, Span> = HashMap::new();
        for thread in &self.file.threads {
            if let Some(first) = first.get(thread.name.text.as_str()) {
                declared_twice(&thread.name, *first, reports);
            }
            first.entry(&thread.name.text).or_insert(thread.name.span);
            let span = thread.count.span().unwrap_or(thread.name.span);
            let count = match &thread.count {
                Count::Number(count) => self.constant(count, reports),
                // One stands for all.
                Count::One | Count::Any { .. } => Ok(1),
            };
            let count = count.and_then(|count| {
                total += count.clamp(0, MAX_THREADS + 1);
                check_count((family, count), total, span, reports)
            });
            self.counts.push(count.ok());
        }
    }

    /// Evaluates a constant outside all threads. A name that is no known constant is reported by the checker, not here.
    pub(crate) fn constant(&self, expr: &'a Expr, reports: &mut Reports) -> Fallible<i128> {
        let atom = |atom: &'a Expr, _: &mut Reports| -> Fallible<IrExpr<()>> {
            let ExprKind::Name(name) = &atom.kind else { return Err(Reported) };
            let Some(Symbol::Const(index)) = self.lookup(None, &name.text) else { return Err(Reported) };
            self.consts.get(index).copied().flatten().map(IrExpr::Const).ok_or(Reported)
        };
        fold_const(expr, &mut Outside::new(atom, false, &self.budget, reports))
    }
}

fn check_count((family, count): (&str, i128), total: i128, span: Span, reports: &mut Reports) -> Fallible<u32> {
    let help = format!("a program has 1 to {MAX_THREADS} threads");
    let message = match count {
        ..=0 => format!("{family} cannot have {count} threads"),
        _ if total > MAX_THREADS => format!("more than {MAX_THREADS} threads"),
        _ => return u32::try_from(count).map_err(|_| Reported),
    };
    Err(reports.complain(span, message, "the number of threads", help))
}

pub(crate) fn declared_twice(name: &Name, first: Span, reports: &mut Reports) {
    let message = format!("`{}` is declared twice", name.text);
    let diagnostic = Diagnostic::new(name.span, message, "declared again");
    reports.add(diagnostic.with_related(first, "first declared here"));
}
