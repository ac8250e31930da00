//! Names inside bodies and constants: do they exist, and may they stand here?

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Span, origin};

use crate::report::{Reported, Reports};
use crate::resolve::names::{Names, Shape, Symbol, VarId, declared_twice};
use crate::resolve::typing::{self, Kind};
use crate::rules::checker::{Checker, Mode};
use crate::rules::table::no_sets;
use crate::syntax::ast::{Expr, ExprKind, Name, Range, RangeKind, VarKind};

impl<'a> Checker<'a, '_> {
    /// The kind of an expression; reports what is wrong with it.
    pub(crate) fn kind_of(&mut self, expr: &'a Expr) -> Kind {
        match &expr.kind {
            ExprKind::Int(_) => Kind::Const,
            ExprKind::Name(name) => self.check_name(name, None, expr.span),
            ExprKind::Element(name, index) => self.check_name(name, Some(index), expr.span),
            ExprKind::Member(member) => {
                let message = "only `observe` and `check` may name a variable of a thread";
                let help = format!("inside its thread the variable is just `{}`", member.var.text);
                self.complain(expr.span, message, "not here", help)
            }
            ExprKind::At(_) => {
                let help = "claim it of every state: `check invariant (…);`";
                self.complain(expr.span, "only an invariant asks where a thread stands", "not here", help)
            }
            ExprKind::SelfIndex | ExprKind::Tid => self.check_self(expr.span),
            ExprKind::Unary(op, arg) => {
                let kind = self.kind_of(arg);
                typing::unary(*op, kind, expr.span, self.reports)
            }
            ExprKind::Binary(op, left, right) => {
                let kinds = (self.kind_of(left), self.kind_of(right));
                typing::binary(*op, kinds, expr.span, self.reports)
            }
            ExprKind::Quantified { binder, range, body, .. } => {
                self.check_range(range);
                self.bind(binder);
                let kind = self.condition(body);
                self.binders.pop();
                kind
            }
            ExprKind::Tuple(_) | ExprKind::In(..) | ExprKind::Executed(_) => {
                self.reports.add(no_sets(expr.span));
                Kind::Wrong
            }
        }
    }

    /// Checks an expression whose truth decides something.
    pub(crate) fn condition(&mut self, expr: &'a Expr) -> Kind {
        let kind = self.kind_of(expr);
        typing::truth(kind, expr.span, self.reports)
    }

    /// Checks the bounds of a range.
    pub(crate) fn check_range(&mut self, range: &'a Range) {
        match &range.kind {
            RangeKind::Inclusive(first, last) | RangeKind::Exclusive(first, last) => {
                self.constant(first);
                self.constant(last);
            }
            RangeKind::List(values) => values.iter().for_each(|value| {
                self.constant(value);
            }),
        }
    }

    /// Checks that a binder's name is free, and brings it into scope.
    pub(crate) fn bind(&mut self, binder: &'a Name) {
        let bound = self.binders.iter().find(|other| other.text == binder.text).map(|other| other.span);
        let declared = self.names.lookup(self.body, &binder.text).map(|symbol| self.names.span_of(symbol));
        if let Some(first) = bound.or(declared) {
            declared_twice(binder, first, self.reports);
        }
        self.binders.push(binder);
    }

    /// Checks an expression that must be constant.
    pub(crate) fn constant(&mut self, expr: &'a Expr) -> Kind {
        let in_thread = match self.mode {
            Mode::Constant { in_thread } => in_thread,
            _ => true,
        };
        self.with_mode(Mode::Constant { in_thread }, |c| c.kind_of(expr))
    }

    fn check_name(&mut self, name: &'a Name, index: Option<&'a Expr>, span: Span) -> Kind {
        if let Some(index) = index {
            self.check_index(index);
        }
        if self.binders.iter().any(|binder| binder.text == name.text) {
            return self.check_constant(name, index);
        }
        match self.find(name) {
            None => Kind::Wrong,
            Some(Symbol::Const(_)) => self.check_constant(name, index),
            Some(Symbol::Proc(_)) => {
                let message = format!("`{}` is a procedure, not a variable", name.text);
                let help = format!("call it on the right side of `:=`: `r := {}()`", name.text);
                self.complain(name.span, message, "a procedure", help)
            }
            Some(Symbol::Var(var)) if self.is_fixed(var) => self.check_constant(name, index),
            Some(Symbol::Var(var)) => self.check_var(var, index.is_some(), span),
        }
    }

    /// Whether the variable is a constant here: a command is lowered for each value of its parameter, unless a given client with values calls it.
    fn is_fixed(&self, var: VarId) -> bool {
        self.mode != (Mode::Constant { in_thread: false })
            && (self.names.file.client.is_none() || !self.names.file.has_values())
            && self.names.is_command_param(var)
    }

    /// What a declared name stands for; reports it if it is unknown or declared only later.
    pub(crate) fn find(&mut self, name: &Name) -> Option<Symbol> {
        let Some(symbol) = self.names.lookup(self.body, &name.text) else {
            if self.is_hidden(name) {
                return None;
            }
            let candidates = self.names.visible(self.body).chain(self.binders.iter().map(|b| b.text.as_str()));
            report_unknown("name", name, candidates, self.names, self.reports);
            return None;
        };
        let declared = self.names.span_of(symbol);
        // A constant exists from the end of its own value on; procedures may be called before they are declared.
        let exists = match symbol {
            Symbol::Proc(_) => 0,
            Symbol::Const(index) => self.names.file.consts[index].value.span.end,
            Symbol::Var(_) => declared.start,
        };
        // What a used file declares is there from the `use` on, though its text stands at the end.
        let own_end = || origin::own_end(self.names.source) as u32;
        if exists > name.span.start && !(name.span.start < own_end() && declared.start >= own_end()) {
            let message = format!("`{}` is used before its declaration", name.text);
            let diagnostic = Diagnostic::new(name.span, message, "used here");
            let diagnostic = diagnostic.with_related(declared, "declared here");
            self.reports.add(diagnostic.with_help("move the declaration up"));
            return None;
        }
        Some(symbol)
    }

    fn check_constant(&mut self, name: &Name, index: Option<&Expr>) -> Kind {
        match index {
            None => Kind::Const,
            Some(index) => {
                let message = format!("`{}` is a constant and cannot be indexed", name.text);
                self.complain(index.span, message, "an index", "only arrays have elements")
            }
        }
    }

    fn check_var(&mut self, var: VarId, indexed: bool, span: Span) -> Kind {
        if self.bypasses_stm(var, span, false) {
            return Kind::Wrong;
        }
        let (kind, ty) = (self.names.var(var).kind, self.names.var(var).ty);
        let text = self.names.text(span);
        let refused = match self.mode {
            Mode::Constant { .. } => {
                let message = format!("`{text}` is not a constant");
                let help = "only constants, binders, `self` and `tid` can be used here".to_owned();
                Some((message, "a variable", help))
            }
            Mode::Local(what) if kind == VarKind::Shared => {
                let message = format!("{what} cannot read the shared variable `{text}`");
                Some((message, "shared", format!("load it into a local first: `r := {text}`")))
            }
            _ => None,
        };
        if let Some((message, label, help)) = refused {
            return self.complain(span, message, label, help);
        }
        if self.check_shape(var, indexed, span).is_err() {
            return Kind::Wrong;
        }
        ty.into()
    }

    /// Whether the variable has elements exactly if one of them is asked for.
    pub(crate) fn check_shape(&mut self, var: VarId, indexed: bool, span: Span) -> Result<(), Reported> {
        check_shape(var, indexed, span, self.names, self.reports)
    }

    /// Checks the index of an array.
    pub(crate) fn check_index(&mut self, index: &'a Expr) {
        let mode = match self.mode {
            Mode::Constant { in_thread } => Mode::Constant { in_thread },
            _ => Mode::Local("an array index"),
        };
        if self.with_mode(mode, |c| c.kind_of(index)) == Kind::Timestamp {
            let help = crate::resolve::typing::TIMESTAMP_HELP;
            self.complain(index.span, "a timestamp cannot be an index", "a timestamp", help);
        }
    }

    fn check_self(&mut self, span: Span) -> Kind {
        if self.mode == (Mode::Constant { in_thread: false }) {
            let message = format!("`{}` has a value inside threads only", self.names.text(span));
            return self.complain(span, message, "outside a thread", "name the thread instead");
        }
        Kind::Const
    }

    pub(crate) fn complain(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) -> Kind {
        self.reports.complain(span, message, label, help);
        Kind::Wrong
    }
}

/// Whether a variable has elements exactly if one of them is asked for.
pub(crate) fn check_shape(
    var: VarId,
    indexed: bool,
    span: Span,
    names: &Names<'_>,
    reports: &mut Reports,
) -> Result<(), Reported> {
    let var = names.var(var);
    let name = &var.name.text;
    let (message, help) = match (var.shape, indexed) {
        (Shape::Unknown, _) => return Err(Reported),
        (Shape::Scalar, true) => (format!("`{name}` is not an array"), format!("write just `{name}`")),
        (Shape::Array(len), false) => {
            let help = format!("choose one of its {len} elements: `{name}[0]`");
            (format!("`{name}` is an array"), help)
        }
        _ => return Ok(()),
    };
    let diagnostic = Diagnostic::new(span, message, "used here").with_help(help);
    Err(reports.add(diagnostic.with_related(var.name.span, "declared here")))
}

/// Reports an unknown name, unless a lost declaration may be the reason.
pub(crate) fn report_unknown<'c>(
    what: &str,
    name: &Name,
    candidates: impl Iterator<Item = &'c str>,
    names: &Names<'_>,
    reports: &mut Reports,
) {
    if names.file.incomplete {
        return;
    }
    let shown: String = name.text.chars().take(60).collect();
    let mut diagnostic = Diagnostic::new(name.span, format!("unknown {what} `{shown}`"), "not declared");
    let close = if reports.is_full() { None } else { closest(&name.text, candidates) };
    if let Some(close) = close {
        diagnostic = diagnostic.with_help(format!("did you mean `{close}`?"));
    }
    reports.add(diagnostic);
}
