//! Inference of what every name, object, set and map of an algorithm holds, for `kinds`.
//!
//! One pass over the text, whatever the control flow is: what is copied, passed, stored, returned or compared for equality becomes one
//! class, and whatever else is done with something is noted in its class.
//! A method's names and results have one class each for all of its calls.

use std::collections::HashMap;

use cyrano_ir::{BinOp, Method as TmMethod};

use crate::report::Reports;
use crate::resolve::classes::{Class, Classes, Kind};
use crate::resolve::constants::Constants;
use crate::syntax::ast::{Access, Block, Expr, ExprKind, Name, Rhs, Stmt, StmtKind};
use crate::syntax::objects::*;

/// An object, a field of a record, a set or a map.
#[derive(Clone, Copy)]
pub(crate) struct Holder {
    /// Its indices, keys or elements; of a field the references to its records.
    pub(crate) key: Class,
    /// What it holds; of a set the second components of pairs.
    pub(crate) value: Class,
}

/// The classes of everything.
pub(crate) struct Inference<'a> {
    algorithm: &'a Algorithm,
    constants: &'a Constants,
    pub(crate) classes: Classes,
    pub(crate) shared: HashMap<&'a str, Holder>,
    pub(crate) fields: HashMap<&'a str, Holder>,
    pub(crate) sets: HashMap<&'a str, Holder>,
    /// Integers of a transaction.
    integers: HashMap<&'a str, Class>,
    /// Parameters, binders and locals of methods.
    names: HashMap<(&'a str, &'a str), Class>,
    pub(crate) results: HashMap<&'a str, Class>,
}

impl<'a> Inference<'a> {
    /// Goes through an algorithm.
    pub(crate) fn new(algorithm: &'a Algorithm, constants: &'a Constants) -> Self {
        let mut inference = Self {
            algorithm,
            constants,
            classes: Classes::default(),
            shared: HashMap::new(),
            fields: HashMap::new(),
            sets: HashMap::new(),
            integers: HashMap::new(),
            names: HashMap::new(),
            results: HashMap::new(),
        };
        inference.algorithm();
        inference
    }

    fn algorithm(&mut self) {
        let algorithm = self.algorithm;
        for (number, record) in algorithm.records.iter().enumerate() {
            let key = self.classes.reference(number);
            for (field, _) in &record.fields {
                let holder = Holder { key, value: self.classes.fresh() };
                self.fields.insert(&field.text, holder);
            }
        }
        algorithm.shared.iter().for_each(|shared| self.object(shared));
        algorithm.locals.iter().for_each(|local| self.local(local));
        for method in &algorithm.methods {
            let result = self.classes.fresh();
            self.results.insert(&method.name.text, result);
        }
        self.interface();
        for method in &algorithm.methods {
            self.block(method, &method.body);
        }
    }

    fn object(&mut self, shared: &'a Shared) {
        let holder = Holder { key: self.classes.fresh(), value: self.classes.fresh() };
        self.shared.insert(&shared.name.text, holder);
        match &shared.init {
            None => {
                let zero = self.classes.constant(0);
                self.classes.unify(holder.value, zero);
            }
            Some(Init::Value(value)) => self.initial(value, holder.value),
            Some(Init::List { values, .. }) => values.iter().for_each(|value| self.initial(value, holder.value)),
            Some(Init::New(record, args)) => {
                for (position, arg) in args.iter().enumerate() {
                    let field = self.field_at(record, position);
                    self.initial(arg, field);
                }
                let reference = self.reference(record);
                self.classes.unify(holder.value, reference);
            }
        }
    }

    fn initial(&mut self, value: &Expr, class: Class) {
        let value = self.constant(value);
        self.classes.unify(class, value);
    }

    /// An integer has its initial value even if every path assigns it first.
    fn local(&mut self, local: &'a TxLocal) {
        if local.kind == LocalKind::Int {
            let class = match &local.init {
                Some(init) => self.constant(init),
                None => self.classes.constant(0),
            };
            self.integers.insert(&local.name.text, class);
        } else {
            let holder = Holder { key: self.classes.fresh(), value: self.classes.fresh() };
            self.sets.insert(&local.name.text, holder);
        }
    }

    /// What clients give to methods and receive from them.
    fn interface(&mut self) {
        for method in &self.algorithm.methods {
            if !TmMethod::ALL.iter().any(|known| known.name() == method.name.text) {
                continue;
            }
            for (param, kind) in method.params.iter().zip([Kind::Location, Kind::Value]) {
                let given = self.classes.of(kind);
                self.names.insert((&method.name.text, &param.text), given);
            }
            if method.name.text == TmMethod::Read.name() {
                let read = self.classes.of(Kind::Value);
                let result = self.result(&method.name);
                self.classes.unify(result, read);
            }
        }
    }

    fn reference(&mut self, record: &Name) -> Class {
        match self.algorithm.records.iter().position(|known| known.name.text == record.text) {
            Some(number) => self.classes.reference(number),
            None => self.classes.number(),
        }
    }

    fn field_at(&mut self, record: &Name, position: usize) -> Class {
        let fields = self.algorithm.record(&record.text).map(|record| &record.fields);
        let field = fields.and_then(|fields| self.fields.get(fields.get(position)?.0.text.as_str()));
        field.map(|field| field.value).unwrap_or_else(|| self.classes.number())
    }

    fn constant(&mut self, expr: &Expr) -> Class {
        match self.constants.eval(expr, &mut Reports::default()) {
            Ok(value) => self.classes.constant(value),
            Err(_) => self.classes.number(),
        }
    }

    fn block(&mut self, method: &'a Method, block: &'a Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(method, stmt));
    }

    fn stmt(&mut self, method: &'a Method, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Do(rhs) => {
                self.right(method, rhs);
            }
            StmtKind::Assign(place, rhs) => {
                let value = self.right(method, rhs);
                let target = self.name(method, &place.name);
                self.classes.unify(target, value);
            }
            StmtKind::Return(Some(rhs)) => {
                let value = self.right(method, rhs);
                let result = self.result(&method.name);
                self.classes.unify(result, value);
            }
            StmtKind::If { arms, otherwise } => {
                for (cond, body) in arms {
                    let cond = self.expr(method, cond);
                    self.classes.use_as_number(cond);
                    self.block(method, body);
                }
                otherwise.iter().for_each(|body| self.block(method, body));
            }
            StmtKind::Each(each) => self.each(method, each),
            _ => {}
        }
    }

    /// A loop in ascending order tells its keys apart; within a key the elements come in the order of insertion.
    fn each(&mut self, method: &'a Method, each: &'a Each) {
        let set = self.set(&each.set);
        for (binder, class) in each.binders.iter().zip([set.key, set.value]) {
            let binder = self.name(method, binder);
            self.classes.unify(binder, class);
        }
        if each.order == LoopOrder::Index {
            self.classes.use_as_number(set.key);
        }
        self.block(method, &each.body);
    }

    fn set(&mut self, name: &Name) -> Holder {
        let known = self.sets.get(name.text.as_str()).copied();
        known.unwrap_or_else(|| Holder { key: self.classes.number(), value: self.classes.number() })
    }

    fn right(&mut self, method: &'a Method, rhs: &'a Rhs) -> Class {
        match rhs {
            Rhs::Expr(expr) => self.expr(method, expr),
            Rhs::Access(access) => self.access(method, access),
            Rhs::New(made) => {
                for (position, arg) in made.args.iter().enumerate() {
                    let value = self.expr(method, arg);
                    let field = self.field_at(&made.name, position);
                    self.classes.unify(field, value);
                }
                self.reference(&made.name)
            }
            Rhs::Call(call) => {
                let args: Vec<_> = call.args.iter().map(|arg| self.expr(method, arg)).collect();
                let Some(called) = self.algorithm.method(&call.name.text) else { return self.classes.number() };
                for (param, arg) in called.params.iter().zip(args) {
                    let param = self.name(called, param);
                    self.classes.unify(param, arg);
                }
                self.result(&called.name)
            }
            Rhs::Rmw(_) => self.classes.number(),
        }
    }

    fn access(&mut self, method: &'a Method, access: &'a Access) -> Class {
        let object = access.object.text.as_str();
        if access.field.is_none() && self.sets.contains_key(object) {
            return self.set_access(method, access);
        }
        let (found, index) = match &access.field {
            Some(field) => {
                let reference = self.name(method, &access.object);
                (self.fields.get(field.text.as_str()), Some(reference))
            }
            None => {
                let index = access.index.as_ref().map(|index| self.expr(method, index));
                (self.shared.get(object), index)
            }
        };
        let Some(holder) = found.copied() else { return self.classes.number() };
        index.into_iter().for_each(|index| self.classes.unify(holder.key, index));
        for arg in &access.args {
            let arg = self.expr(method, arg);
            self.classes.unify(holder.value, arg);
        }
        match access.method.text.as_str() {
            "read" if !self.is_lock(access) => holder.value,
            _ => self.classes.number(),
        }
    }

    /// Whether a lock is accessed; reading one tells only whether it is held.
    fn is_lock(&self, access: &Access) -> bool {
        let shared = self.algorithm.shared.iter().map(|shared| (&shared.name, shared.ty.kind));
        let fields = self.algorithm.records.iter().flat_map(|record| &record.fields);
        let mut objects = shared.chain(fields.map(|(name, ty)| (name, ty.kind)));
        let name = access.field.as_ref().unwrap_or(&access.object);
        objects.any(|(known, kind)| known.text == name.text && matches!(kind, ObjectKind::Lock | ObjectKind::TryLock))
    }

    /// `put`, `get` or `add`.
    fn set_access(&mut self, method: &'a Method, access: &'a Access) -> Class {
        let set = self.set(&access.object);
        let parts = access.args.iter().flat_map(Expr::parts);
        for (part, class) in parts.zip([set.key, set.value]) {
            let part = self.expr(method, part);
            self.classes.unify(class, part);
        }
        if access.method.text == "get" { set.value } else { self.classes.number() }
    }

    fn expr(&mut self, method: &'a Method, expr: &'a Expr) -> Class {
        if let Some(value) = self.known(expr) {
            return self.classes.constant(value);
        }
        match &expr.kind {
            ExprKind::Name(name) => self.name(method, name),
            ExprKind::In(element, set) => {
                let set = self.set(set);
                for (part, class) in element.parts().iter().zip([set.key, set.value]) {
                    let part = self.expr(method, part);
                    self.classes.unify(class, part);
                }
                self.classes.number()
            }
            ExprKind::Binary(BinOp::Eq | BinOp::Ne, left, right) => {
                let (left, right) = (self.expr(method, left), self.expr(method, right));
                self.classes.unify(left, right);
                self.classes.number()
            }
            // The number of a thread; where there is one, threads are told apart anyway.
            ExprKind::Tid => self.classes.number(),
            ExprKind::Tuple(parts) => self.computed(method, parts),
            ExprKind::Unary(_, arg) => self.computed(method, [&**arg]),
            ExprKind::Binary(_, left, right) => self.computed(method, [&**left, &**right]),
            _ => self.classes.number(),
        }
    }

    /// Something computed from these.
    fn computed(&mut self, method: &'a Method, args: impl IntoIterator<Item = &'a Expr>) -> Class {
        for arg in args {
            let arg = self.expr(method, arg);
            self.classes.use_as_number(arg);
        }
        self.classes.number()
    }

    /// The value of an expression over constants.
    fn known(&self, expr: &Expr) -> Option<i128> {
        let mut constant = true;
        expr.for_each_name(&mut |name| constant &= self.constants.get(&name.text).is_some());
        constant.then(|| self.constants.eval(expr, &mut Reports::default()).ok()).flatten()
    }

    /// A name that is no constant.
    fn name(&mut self, method: &'a Method, name: &'a Name) -> Class {
        if name.text == "tx" {
            return self.classes.of(Kind::Transaction);
        }
        if let Some(class) = self.integers.get(name.text.as_str()) {
            return *class;
        }
        let Self { names, classes, .. } = self;
        *names.entry((&method.name.text, &name.text)).or_insert_with(|| classes.fresh())
    }

    fn result(&mut self, method: &Name) -> Class {
        let known = self.results.get(method.text.as_str()).copied();
        known.unwrap_or_else(|| self.classes.number())
    }
}
