//! The checker: what is wrong whatever the client and the constants are.
//!
//! Names, arities, the methods that a transactional memory must have, recursion, labels, clients and what checks are about. Statements are in
//! `method`. Everything wrong is reported at once; the lowering runs only if nothing was.

use std::collections::HashMap;

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Method as TmMethod, Span, reply};

use crate::report::Reports;
use crate::resolve::calls::order_calls;
use crate::rules::labels::{labels, once};
use crate::syntax::ast::{CheckDecl, Claim, Expr, File, Name};
use crate::syntax::objects::*;

/// The words for what a call returns instead of a value, and `nothing` for a call that never happened.
pub(crate) const REPLIES: [(&str, i128); 4] =
    [("aborted", reply::ABORTED), ("committed", reply::COMMITTED), ("ok", reply::OK), ("nothing", reply::NOTHING)];

/// How many methods, and how many orders, an algorithm may have: some checks compare them all.
const MAX_MEMBERS: usize = 500;

/// What a name means everywhere in the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Global {
    Const,
    Shared(usize),
    Local(usize),
}

/// What the checker knows.
pub(crate) struct Checker<'a, 'r> {
    pub(crate) algorithm: &'a Algorithm,
    pub(crate) globals: HashMap<&'a str, (Global, Span)>,
    /// How many components the elements of a set have, and where that was seen first.
    pub(crate) arity: HashMap<usize, (usize, Span)>,
    pub(crate) reports: &'r mut Reports,
}

/// Checks a file.
pub(crate) fn check(file: &File, reports: &mut Reports) {
    let Some(algorithm) = &file.algorithm else {
        let help = "write `algorithm Name(locs = 2) { … }`";
        reports.complain(Span::default(), "this file has no `algorithm` block", "the file", help);
        return;
    };
    let mut checker = Checker { algorithm, globals: HashMap::new(), arity: HashMap::new(), reports };
    for (count, what) in [(algorithm.methods.len(), "methods"), (algorithm.orders.len(), "orders")] {
        if count > MAX_MEMBERS {
            let message = format!("this algorithm has {count} {what}, at most {MAX_MEMBERS} are allowed");
            checker.reports.add(Diagnostic::new(algorithm.name.span, message, "too large"));
            return;
        }
    }
    checker.declare(file);
    checker.records();
    checker.required(file);
    order_calls("method", algorithm.methods.iter().map(|method| (&method.name, &method.body)), checker.reports);
    for method in &algorithm.methods {
        checker.method(method);
    }
    checker.pairs(file);
    checker.orders();
    crate::rules::named::check(file, &mut checker);
    checker.foreign(file);
}

impl<'a> Checker<'a, '_> {
    pub(crate) fn complain(&mut self, span: Span, message: impl Into<String>, label: &str, help: impl Into<String>) {
        self.reports.complain(span, message, label, help);
    }

    /// Says that nothing has this name, and which name may have been meant.
    pub(crate) fn unknown<'k>(&mut self, what: &str, name: &Name, known: impl IntoIterator<Item = &'k str>) {
        let known: Vec<_> = known.into_iter().collect();
        let help = match closest(&name.text, known.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None if known.is_empty() => format!("no {what} is declared"),
            None => format!("there is `{}`", known.join("`, `")),
        };
        let message = format!("there is no {what} `{}`", name.text);
        self.complain(name.span, message, &format!("unknown {what}"), help);
    }

    fn declare(&mut self, file: &'a File) {
        let algorithm = self.algorithm;
        for constant in file.consts.iter().chain(&algorithm.params).chain(&algorithm.consts) {
            self.add_global(&constant.name, Global::Const);
        }
        for (index, shared) in algorithm.shared.iter().enumerate() {
            self.add_global(&shared.name, Global::Shared(index));
        }
        for (index, local) in algorithm.locals.iter().enumerate() {
            self.add_global(&local.name, Global::Local(index));
        }
        if self.is_memory(file) && algorithm.params.iter().all(|param| param.name.text != "locs") {
            let message = "the algorithm does not say how many locations there are";
            let help = format!("write `algorithm {}(locs = 2)`", algorithm.name.text);
            self.complain(algorithm.name.span, message, "has no parameter `locs`", help);
        }
    }

    /// What belongs to `threads` and `stm`.
    fn foreign(&mut self, file: &File) {
        for observed in &file.observed {
            let help = "what its clients return is observed anyway: name the results, `r1 := read(0)`";
            self.complain(observed.span, "an algorithm has nothing to observe", "not here", help);
        }
    }

    fn add_global(&mut self, name: &'a Name, global: Global) {
        if is_builtin(&name.text) {
            let message = format!("`{}` has a meaning of its own", name.text);
            self.complain(name.span, message, "a built-in name", "choose another name");
        } else if let Some((_, first)) = self.globals.insert(&name.text, (global, name.span)) {
            let diagnostic = Diagnostic::new(name.span, format!("`{}` is declared twice", name.text), "again");
            self.reports.add(diagnostic.with_related(first, "first here").with_help("rename one of the two"));
        }
    }

    fn records(&mut self) {
        let mut fields: HashMap<&str, Span> = HashMap::new();
        let mut names: HashMap<&str, Span> = HashMap::new();
        for record in &self.algorithm.records {
            self.once(&record.name, &mut names, "record");
            for (name, _) in &record.fields {
                self.once(name, &mut fields, "field");
            }
        }
        for shared in &self.algorithm.shared {
            match &shared.init {
                Some(Init::New(record, args)) => {
                    self.new_record(record, args.len());
                    args.iter().for_each(|arg| self.constant(arg));
                }
                Some(Init::Value(value)) => self.constant(value),
                Some(Init::List { values, .. }) => values.iter().for_each(|value| self.constant(value)),
                None => {}
            }
        }
    }

    /// Reports a name that something else of its kind has.
    pub(crate) fn once(&mut self, name: &'a Name, seen: &mut HashMap<&'a str, Span>, what: &str) {
        once(name, seen, what, self.reports);
    }

    /// Checks `new Name(…)`.
    pub(crate) fn new_record(&mut self, name: &Name, given: usize) {
        let Some(record) = self.algorithm.record(&name.text) else {
            return self.unknown("record", name, self.algorithm.records.iter().map(|record| record.name.text.as_str()));
        };
        let wanted = record.fields.len();
        if given != wanted {
            let message = format!("`{}` has {wanted} fields, {given} values are given", name.text);
            let fields: Vec<_> = record.fields.iter().map(|(field, _)| field.text.as_str()).collect();
            let help = format!("write `new {}({})`", name.text, fields.join(", "));
            self.complain(name.span, message, "wrong number of values", help);
        }
    }

    /// Checks an expression over constants.
    pub(crate) fn constant(&mut self, expr: &Expr) {
        expr.for_each_name(&mut |name| {
            let known = matches!(self.globals.get(name.text.as_str()), Some((Global::Const, _)));
            if !known && !is_builtin(&name.text) {
                self.unknown("constant", name, self.constants());
            }
        });
    }

    /// The names of the constants, sorted.
    pub(crate) fn constants(&self) -> Vec<&'a str> {
        let consts = self.globals.iter().filter(|(_, (global, _))| *global == Global::Const);
        let mut names: Vec<_> = consts.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    }

    /// Whether a transactional memory is meant: it commits, or something of a transaction is there.
    fn is_memory(&self, file: &File) -> bool {
        let transactional = |claim: &Claim| matches!(claim, Claim::Transactions(_) | Claim::Progress(_));
        self.algorithm.is_memory()
            || file.clients.is_empty()
            || self.algorithm.initially.is_some()
            || self.algorithm.locals.iter().any(|local| !local.of_thread)
            || file.clients.iter().flat_map(|client| &client.threads).any(|thread| !thread.txns().is_empty())
            || file.checks.iter().any(|check| transactional(&check.claim) || matches!(check.about, About::All(..)))
    }

    fn required(&mut self, file: &File) {
        let mut names = HashMap::new();
        for method in &self.algorithm.methods {
            self.once(&method.name, &mut names, "method");
        }
        let span = self.algorithm.name.span;
        if !self.is_memory(file) {
            return;
        }
        for wanted in TmMethod::ALL {
            let shape = ["()", "(i)", "(i, v)"][wanted.arity()];
            let help = format!("write `method {}{shape} {{ … }}`", wanted.name());
            match self.algorithm.method(wanted.name()) {
                None => self.complain(span, format!("the method `{}` is missing", wanted.name()), "here", help),
                Some(method) if method.params.len() != wanted.arity() => {
                    let message = format!("`{}` takes {}", wanted.name(), count(wanted.arity(), "argument"));
                    let label = format!("has {}", count(method.params.len(), "parameter"));
                    self.complain(method.name.span, message, &label, help);
                }
                Some(_) => {}
            }
        }
    }

    /// The elements of a set all have one component, or all have two.
    pub(crate) fn set_arity(&mut self, set: usize, arity: usize, span: Span) {
        let (known, first) = *self.arity.entry(set).or_insert((arity, span));
        if known != arity {
            let name = &self.algorithm.locals[set].name.text;
            let message = format!("`{name}` holds {} and {}", shape(known), shape(arity));
            let diagnostic = Diagnostic::new(span, message, format!("here {}", shape(arity)));
            let diagnostic = diagnostic.with_related(first, format!("here {}", shape(known)));
            self.reports.add(diagnostic.with_help("declare one set for each"));
        }
    }

    /// A set of pairs has its first components' number as its length, so that one of another length says so.
    fn pairs(&mut self, file: &File) {
        match &self.algorithm.initially {
            Some(Init::Value(value)) => self.constant(value),
            Some(Init::List { values, .. }) => values.iter().for_each(|value| self.constant(value)),
            Some(Init::New(..)) | None => {}
        }
        for local in &self.algorithm.locals {
            local.len.iter().chain(&local.init).for_each(|expr| self.constant(expr));
            let endless = |check: &CheckDecl| matches!(check.claim, Claim::Progress(_));
            let check = file.checks.iter().find(|check| endless(check));
            if let (true, false, Some(check)) = (local.of_thread, local.kind == LocalKind::Int, check) {
                let message = format!("`{}` grows for ever where threads go on for ever", local.name.text);
                let diagnostic = Diagnostic::new(local.name.span, message, "kept by a thread");
                let diagnostic = diagnostic.with_related(check.span, "this check is about such threads");
                self.reports.add(diagnostic.with_help("make it a `txlocal`, or an `int`"));
            }
        }
        for shared in &self.algorithm.shared {
            shared.len.iter().for_each(|len| self.constant(len));
            self.domain(&shared.ty);
        }
        for record in &self.algorithm.records {
            record.fields.iter().for_each(|(_, ty)| self.domain(ty));
        }
    }

    fn domain(&mut self, ty: &ObjectType) {
        let Some((first, last)) = &ty.domain else { return };
        self.constant(first);
        self.constant(last);
        if ty.kind != ObjectKind::BasicRegister {
            let message = format!("`{}` has no domain", ty.kind.word());
            self.complain(ty.span, message, "not here", "only a `BasicRegister` may return a value that nobody wrote");
        }
    }

    fn orders(&mut self) {
        let labels = labels(self.algorithm.methods.iter().map(|method| &method.body), self.reports);
        let mut known: Vec<_> = labels.keys().copied().collect();
        known.sort_unstable();
        for order in &self.algorithm.orders {
            for label in [&order.first, &order.second] {
                if !labels.contains_key(label.text.as_str()) {
                    self.unknown("label", label, known.iter().copied());
                }
            }
        }
    }
}

fn shape(arity: usize) -> &'static str {
    if arity == 1 { "single values" } else { "pairs" }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", if number == 0 { "no".to_owned() } else { number.to_string() })
}

/// Whether the name is built in: a reply, the running transaction, or a constant that the client determines.
pub(crate) fn is_builtin(name: &str) -> bool {
    matches!(name, "tx" | "threads" | "txns") || REPLIES.iter().any(|(word, _)| *word == name)
}
