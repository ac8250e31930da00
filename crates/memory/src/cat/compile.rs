//! From statements to a plan: names are resolved, types checked, functions put in where they are called.
//!
//! A function is checked once where it is defined, with parameters of any type, and again with the types of its arguments at each call. Recursive definitions
//! start from nothing and grow; so what they define may not stand where more of it would make the whole less, behind `~` or `\`.
//!
//! **Invariant:** equal expressions are one expression; the work is bounded ([`BUDGET`]) and so is recursion ([`MAX_NESTED`]), whatever the text.

use std::collections::HashMap;
use std::rc::Rc;

use cyrano_ir::{Diagnostic, Span, suggest};

use super::ast::{self, Binding, Expr, ExprKind, Infix, Postfix, Stmt};
use super::build::Builder;
use super::names;
use super::parse::MAX_ERRORS;
use super::plan::{Axiom, Base, Node, NodeId, Test, Type};

/// How many expressions are looked at, with those in functions once per call.
const BUDGET: usize = 400_000;

/// How many different ones a model may have. The largest in use has some hundreds, and what looks at them goes as deep as one is inside of another.
const MAX_NODES: usize = 10_000;

/// How deeply they may nest, with functions put in.
const MAX_NESTED: usize = 600;

/// What a name or an expression means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Node(NodeId),
    /// No event, or no pair.
    Nothing,
    /// Of this number.
    Function(usize),
    Domain,
    Range,
    /// Makes sets of orders, or is one: what `with co from` chooses from, and nothing else has a use for.
    Orders,
    /// A parameter, or something about which there is a complaint already.
    Unknown,
}

/// A function, with the meaning that the names in it had where it was defined.
struct Function {
    name: String,
    params: Vec<String>,
    body: Expr,
    captured: Vec<(String, Value)>,
    of_prelude: bool,
}

/// What names mean besides those of the file.
type Locals = Vec<(String, Value)>;

/// Checks statements, one after the other.
pub(super) struct Compiler<'e> {
    pub(super) builder: Builder,
    globals: HashMap<String, (Value, bool)>,
    functions: Vec<Rc<Function>>,
    pub(super) errors: &'e mut Vec<Diagnostic>,
    /// Whether the statements are those of every model.
    pub(super) in_prelude: bool,
    budget: usize,
    nested: usize,
    /// Complaints are not made now.
    quiet: bool,
    /// Whether a name was not known.
    missed: bool,
}

impl<'e> Compiler<'e> {
    pub(super) fn new(errors: &'e mut Vec<Diagnostic>) -> Self {
        let builtins = [("domain", Value::Domain), ("range", Value::Range), ("emptyset", Value::Nothing)];
        let orders = names::ORDERS.into_iter().map(|name| (name, Value::Orders));
        let globals = builtins.into_iter().chain(orders).map(|(name, value)| (name.to_owned(), (value, true)));
        Self {
            builder: Builder::default(),
            globals: globals.collect(),
            functions: Vec::new(),
            errors,
            in_prelude: false,
            budget: BUDGET,
            nested: 0,
            quiet: false,
            missed: false,
        }
    }

    /// A statement; an `include` is the business of whoever has the files.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { recursive: false, bindings } => {
                let values: Vec<Value> = bindings.iter().map(|b| self.binding(b, &Locals::new())).collect();
                for (binding, value) in bindings.iter().zip(values) {
                    self.define(&binding.name, value);
                }
            }
            Stmt::Let { recursive: true, bindings } => self.recursive(bindings),
            Stmt::Axiom(axiom) => self.axiom(axiom),
            Stmt::Include { .. } => {}
        }
    }

    /// The relation that a name of the text stands for.
    pub(super) fn relation(&self, name: &str) -> Option<NodeId> {
        let (Value::Node(node), false) = *self.globals.get(name)? else { return None };
        (self.builder.ty(node) == Type::Relation).then_some(node)
    }

    fn define(&mut self, name: &str, value: Value) {
        self.globals.insert(name.to_owned(), (value, self.in_prelude));
    }

    fn error(&mut self, span: Span, message: impl Into<String>, label: &str, help: Option<String>) -> Value {
        if !self.quiet && self.errors.len() < MAX_ERRORS {
            let error = Diagnostic::new(span, message, label);
            self.errors.push(Diagnostic { help, ..error });
        }
        Value::Unknown
    }

    fn binding(&mut self, binding: &Binding, locals: &Locals) -> Value {
        match &binding.params {
            None => self.expr(&binding.body, locals),
            Some(params) => self.function(binding.name.clone(), params, &binding.body, locals),
        }
    }

    /// A function; names in it are looked up now.
    fn function(&mut self, name: String, params: &[String], body: &Expr, locals: &Locals) -> Value {
        let mut inside = locals.clone();
        inside.extend(params.iter().map(|param| (param.clone(), Value::Unknown)));
        self.expr(body, &inside);
        let mut captured = Locals::new();
        for free in body.names() {
            let known = captured.iter().any(|(known, _)| *known == free);
            if !known && !params.contains(&free) {
                // What is not known here has been complained about; what is defined later is not meant, least of all the function itself.
                let value = self.lookup(&free, locals).unwrap_or(Value::Unknown);
                captured.push((free, value));
            }
        }
        let (params, body, of_prelude) = (params.to_vec(), body.clone(), self.in_prelude);
        self.functions.push(Rc::new(Function { name, params, body, captured, of_prelude }));
        Value::Function(self.functions.len() - 1)
    }

    fn recursive(&mut self, bindings: &[Binding]) {
        if let Some(function) = bindings.iter().find(|binding| binding.params.is_some()) {
            let message = format!("`{}` is a recursive function", function.name);
            self.error(
                function.span,
                message,
                "not supported",
                Some("only relations and sets may be recursive".into()),
            );
            return;
        }
        let twice = |at: &usize| bindings[..*at].iter().any(|before| before.name == bindings[*at].name);
        if let Some(again) = (0..bindings.len()).find(twice) {
            let message = format!("`{}` is defined twice here", bindings[again].name);
            self.error(bindings[again].span, message, "again", None);
            bindings.iter().for_each(|binding| self.define(&binding.name, Value::Unknown));
            return;
        }
        // What is defined is taken for a relation at first; what turns out to be none is tried as a set.
        let mut guesses = vec![Type::Relation; bindings.len()];
        for last in [false, false, true] {
            let (before, missed) = (self.errors.len(), std::mem::take(&mut self.missed));
            let values = self.recursive_as(&guesses, bindings);
            let unknown = self.missed;
            self.missed |= missed;
            if unknown {
                // With a name that nobody knows, what is wrong with the types is not worth telling.
                bindings.iter().for_each(|binding| self.define(&binding.name, Value::Unknown));
                return;
            }
            let found = |value: &Value, guess: Type| match value {
                Value::Node(node) => self.builder.ty(*node),
                Value::Nothing => guess,
                _ => Type::Set,
            };
            let found: Vec<Type> = values.iter().zip(&guesses).map(|(value, guess)| found(value, *guess)).collect();
            let wrong = values.contains(&Value::Unknown) || found != guesses;
            if !wrong || last {
                if wrong && self.errors.len() == before {
                    self.error(
                        bindings[0].span,
                        "what is defined here is neither a set nor a relation",
                        "recursive",
                        None,
                    );
                }
                return;
            }
            self.errors.truncate(before);
            guesses = found;
        }
    }

    /// Definitions that see one another, with these types; what their bodies are.
    fn recursive_as(&mut self, types: &[Type], bindings: &[Binding]) -> Vec<Value> {
        let group = self.builder.open();
        for (number, (binding, ty)) in bindings.iter().zip(types).enumerate() {
            let so_far = self.builder.node(Node::Sofar(group, number as u32), *ty);
            self.define(&binding.name, Value::Node(so_far));
        }
        let values: Vec<Value> = bindings.iter().map(|binding| self.operand_or_unknown(&binding.body)).collect();
        let bodies = values.iter().zip(types).map(|(value, ty)| self.builder.body(*value, *ty)).collect();
        let results = self.builder.close(group, bodies, types);
        for (binding, result) in bindings.iter().zip(results) {
            self.define(&binding.name, Value::Node(result));
        }
        values
    }

    fn operand_or_unknown(&mut self, expr: &Expr) -> Value {
        self.operand(expr, &Locals::new()).unwrap_or(Value::Unknown)
    }

    fn axiom(&mut self, axiom: &ast::Axiom) {
        let value = self.expr(&axiom.of, &Locals::new());
        let of = match value {
            Value::Nothing => self.builder.node(Node::Empty(Type::Relation), Type::Relation),
            Value::Node(node) if axiom.test != Test::Empty && self.builder.ty(node) == Type::Set => {
                let message = format!("`{}` is about a relation, and this is a set", axiom.test.word());
                self.error(axiom.of.span, message, "a set", None);
                return;
            }
            Value::Node(node) => node,
            Value::Unknown => return,
            other => {
                self.not_events(other, axiom.of.span);
                return;
            }
        };
        let number = self.builder.plan.axioms.len() + 1;
        let name = axiom.name.clone().unwrap_or_else(|| format!("{}-{number}", axiom.test.word()));
        let (flag, negated, test) = (axiom.flag, axiom.negated, axiom.test);
        self.builder.plan.axioms.push(Axiom { name, flag, negated, test, of, span: axiom.span });
    }

    fn lookup(&mut self, name: &str, locals: &Locals) -> Option<Value> {
        if let Some((_, value)) = locals.iter().rev().find(|(known, _)| known == name) {
            return Some(*value);
        }
        let (value, of_prelude) = match self.globals.get(name) {
            Some(known) => *known,
            None => (self.base(name)?, true),
        };
        if let Value::Node(node) = value
            && of_prelude
            && !self.in_prelude
        {
            self.builder.mentioned.push(node);
        }
        Some(value)
    }

    fn base(&mut self, name: &str) -> Option<Value> {
        if let Some(base) = names::base(name) {
            return Some(Value::Node(self.builder.base(base)));
        }
        let fence = names::fence_relation(name)?;
        let (po, fence) = (self.builder.base(Base::ProgramOrder), self.builder.base(fence));
        let at = self.builder.node(Node::Diagonal(fence), Type::Relation);
        let first = self.builder.node(Node::Seq(po, at), Type::Relation);
        Some(Value::Node(self.builder.node(Node::Seq(first, po), Type::Relation)))
    }

    fn expr(&mut self, expr: &Expr, locals: &Locals) -> Value {
        if self.budget == 0 || self.nested >= MAX_NESTED {
            if self.budget > 0 {
                self.error(expr.span, "functions and expressions nest too deep here", "too deep", None);
            }
            return Value::Unknown;
        }
        self.budget -= 1;
        if self.builder.plan.nodes.len() > MAX_NODES {
            self.budget = 0;
        }
        if self.budget == 0 {
            self.quiet = false;
            self.error(expr.span, "with all functions put in, this model is too large", "too large", None);
        }
        self.nested += 1;
        let value = self.expr_inside(expr, locals);
        self.nested -= 1;
        value
    }

    fn expr_inside(&mut self, expr: &Expr, locals: &Locals) -> Value {
        match &expr.kind {
            ExprKind::Nothing => Value::Nothing,
            ExprKind::Everything => Value::Node(self.builder.base(Base::Events)),
            ExprKind::Name(name) => match self.lookup(name, locals) {
                Some(value) => value,
                None => self.unknown(name, expr.span),
            },
            ExprKind::Chain(infix, operands) => self.chain(*infix, operands, locals),
            ExprKind::Complement(inner) => {
                let Some(value) = self.operand(inner, locals) else { return Value::Unknown };
                self.monotone(value, inner.span, "`~`");
                self.builder.complement(value)
            }
            ExprKind::Postfix(inner, ops) => self.postfix(inner, ops, locals),
            ExprKind::Diagonal(inner) => match self.typed(inner, Type::Set, "`[…]` is about a set", locals) {
                Some(set) => self.builder.made(Node::Diagonal(set), Type::Relation),
                None => Value::Unknown,
            },
            ExprKind::Call(callee, args) => self.call(callee, args, expr.span, locals),
            ExprKind::If { holds, then, otherwise } => self.expr(if *holds { then } else { otherwise }, locals),
            ExprKind::Try(first, second) => {
                let (quiet, missed) = (std::mem::replace(&mut self.quiet, true), std::mem::take(&mut self.missed));
                let value = self.expr(first, locals);
                let unknown = self.missed;
                (self.quiet, self.missed) = (quiet, missed);
                if unknown { self.expr(second, locals) } else { value }
            }
            ExprKind::Let(bindings, inner) => {
                let mut inside = locals.clone();
                for binding in bindings {
                    let value = self.binding(binding, locals);
                    inside.push((binding.name.clone(), value));
                }
                self.expr(inner, &inside)
            }
            ExprKind::Function(params, body) => self.function("fun".into(), params, body, locals),
        }
    }

    fn unknown(&mut self, name: &str, span: Span) -> Value {
        self.missed = true;
        let mut known = names::all();
        known.extend(self.globals.keys().cloned());
        known.sort();
        let near = suggest::closest(name, known.iter().map(String::as_str));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        self.error(span, format!("`{name}` is not defined"), "unknown", help)
    }

    /// An operand that is a set or a relation, or nothing.
    fn operand(&mut self, expr: &Expr, locals: &Locals) -> Option<Value> {
        match self.expr(expr, locals) {
            Value::Unknown => None,
            value @ (Value::Node(_) | Value::Nothing) => Some(value),
            other => {
                self.not_events(other, expr.span);
                None
            }
        }
    }

    /// Complains about what is neither a set nor a relation.
    fn not_events(&mut self, value: Value, span: Span) {
        if value == Value::Orders {
            let help = "it makes sense only behind `with co from`, and every execution comes with its `co`";
            self.error(span, "this is a set of orders", "neither a set of events nor a relation", Some(help.into()));
        } else {
            self.error(span, "this is a function", "needs its arguments", None);
        }
    }

    fn typed(&mut self, expr: &Expr, ty: Type, why: &str, locals: &Locals) -> Option<NodeId> {
        if let Some(fences) = self.fences_of(expr, locals).filter(|_| ty == Type::Set) {
            return Some(fences);
        }
        let value = self.operand(expr, locals)?;
        if let Value::Node(node) = value
            && self.builder.ty(node) != ty
        {
            let found = self.builder.ty(node).noun();
            let help = (ty == Type::Relation).then(|| "`[S]` pairs each event of a set with itself".to_owned());
            self.error(expr.span, format!("{why}, and this is {found}"), found, help);
            return None;
        }
        Some(self.builder.body(value, ty))
    }

    /// Where a set has to stand, a fence's own word is that of such fences: `[sync]`.
    fn fences_of(&mut self, expr: &Expr, locals: &Locals) -> Option<NodeId> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let defined = self.globals.contains_key(name) || locals.iter().any(|(known, _)| known == name);
        let fence = names::fence_relation(name).filter(|_| !defined && names::base(name).is_none())?;
        let fences = self.builder.base(fence);
        self.builder.mentioned.push(fences);
        Some(fences)
    }

    fn chain(&mut self, infix: Infix, operands: &[Expr], locals: &Locals) -> Value {
        let mut left: Option<Value> = None;
        let mut known = true;
        for (number, operand) in operands.iter().enumerate() {
            let right = match infix {
                Infix::Seq => self.typed(operand, Type::Relation, "`;` joins relations", locals).map(Value::Node),
                Infix::Product => {
                    self.typed(operand, Type::Set, "`*` makes pairs of two sets", locals).map(Value::Node)
                }
                _ => self.operand(operand, locals),
            };
            let Some(right) = right else {
                known = false;
                continue;
            };
            if infix == Infix::Diff && number > 0 {
                self.monotone(right, operand.span, "`\\`");
            }
            left = match left {
                None => Some(right),
                Some(left) => match self.builder.join(infix, left, right) {
                    Some(joined) => Some(joined),
                    None => {
                        let message = "a set and a relation cannot be joined like this";
                        let found =
                            if let Value::Node(node) = right { self.builder.ty(node).noun() } else { "nothing" };
                        let label = format!("this is {found}, what comes before is not");
                        return self.error(operand.span, message, &label, None);
                    }
                },
            };
        }
        left.filter(|_| known).unwrap_or(Value::Unknown)
    }

    /// Complains if the value grows with what is being defined.
    fn monotone(&mut self, value: Value, span: Span, operator: &str) {
        if let Value::Node(node) = value
            && self.builder.is_open(node)
        {
            let message = format!("a recursive definition cannot use itself behind {operator}");
            let help = "it starts from nothing and grows, and what stands here must grow with it";
            self.error(span, message, "would shrink as it grows", Some(help.into()));
        }
    }

    fn postfix(&mut self, inner: &Expr, ops: &[(Postfix, Span)], locals: &Locals) -> Value {
        let why = "closures and inverses are those of relations";
        let Some(mut node) = self.typed(inner, Type::Relation, why, locals) else { return Value::Unknown };
        for (op, _) in ops {
            let made = match op {
                Postfix::Plus => Node::Plus(node),
                Postfix::Star => Node::Star(node),
                Postfix::Optional => Node::Optional(node),
                Postfix::Inverse => Node::Inverse(node),
            };
            node = self.builder.node(made, Type::Relation);
        }
        Value::Node(node)
    }

    fn call(&mut self, callee: &Expr, args: &[Expr], span: Span, locals: &Locals) -> Value {
        let function = match self.expr(callee, locals) {
            Value::Function(number) => number,
            builtin @ (Value::Domain | Value::Range) => {
                let [arg] = args else { return self.arity(span, 1, args.len()) };
                let Some(of) = self.typed(arg, Type::Relation, "this is for relations", locals) else {
                    return Value::Unknown;
                };
                let node = if builtin == Value::Domain { Node::Domain(of) } else { Node::Range(of) };
                return self.builder.made(node, Type::Set);
            }
            known @ (Value::Unknown | Value::Orders) => {
                args.iter().for_each(|arg| {
                    self.expr(arg, locals);
                });
                return known;
            }
            Value::Node(_) | Value::Nothing => return self.error(callee.span, "this is no function", "called", None),
        };
        let values: Vec<Value> = args.iter().map(|arg| self.expr(arg, locals)).collect();
        let function = Rc::clone(&self.functions[function]);
        if function.params.len() != values.len() {
            return self.arity(span, function.params.len(), values.len());
        }
        let mut inside = function.captured.clone();
        inside.extend(function.params.iter().cloned().zip(values));
        let before = self.errors.len();
        let value = self.expr(&function.body, &inside);
        for error in &mut self.errors[before..] {
            if function.of_prelude {
                error.span = span;
                error.label = format!("in this use of `{}`", function.name);
            } else {
                error.related.push((span, format!("in this use of `{}`", function.name)));
            }
        }
        value
    }

    fn arity(&mut self, span: Span, needs: usize, has: usize) -> Value {
        self.error(span, format!("this function takes {needs} argument(s), not {has}"), "called here", None)
    }
}
