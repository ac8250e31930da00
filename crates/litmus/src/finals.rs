//! Conditions over final states, and what a final state shows.

use cyrano_ir::{
    Access, Addr, BinOp, Check, Diagnostic, Expr, Fence, FinalExpr, FinalVar, IntType, Observable, Op, Program,
    Property, ThreadId, UnOp,
};

use crate::Column;
use crate::ast::{Condition, Name, Prop, Quantifier, Right, Value, Var};
use crate::code::binary;
use crate::layout::{Layout, WORD};

/// What a register or location is in the finished program.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// How it is shown: `0:EAX`, `x`.
    pub(crate) name: String,
    pub(crate) var: FinalVar,
    /// The type of its values as the condition sees them.
    pub(crate) ty: IntType,
    /// Whether the program keeps more bits than the condition sees, or keeps them in another form.
    pub(crate) narrowed: bool,
    /// The type in which it is shown and compared with numbers, if that is another one: what the initial state declares.
    pub(crate) declared: Option<IntType>,
}

impl Resolved {
    fn value(&self) -> FinalExpr {
        let var = Expr::Var(self.var);
        if self.narrowed { Expr::unary(UnOp::Wrap(self.ty), var) } else { var }
    }

    /// Whether it is this number: both as values of its type, as in herd.
    fn is(&self, number: i128) -> FinalExpr {
        let value = match self.view() {
            Some(ty) => Expr::unary(UnOp::Wrap(ty), Expr::Var(self.var)),
            None => Expr::Var(self.var),
        };
        let ty = self.declared.unwrap_or(self.ty);
        // What is true or false is no other number.
        let meant = ty.bits > 1 || (0..=1).contains(&number);
        if meant { binary(BinOp::Eq, value, Expr::Const(ty.wrap(number))) } else { Expr::Const(0) }
    }

    /// The part of the value that is shown, if it is not all of it. A wider type than the value has does not change it.
    fn view(&self) -> Option<IntType> {
        self.declared.filter(|ty| ty.bits <= self.ty.bits).or(self.narrowed.then_some(self.ty))
    }
}

/// Finds what a name means in a thread, which is there.
pub(crate) type Resolve<'r> = dyn FnMut(ThreadId, &Name) -> Result<Resolved, Diagnostic> + 'r;

/// What a condition became.
pub(crate) struct Finals {
    pub(crate) columns: Vec<Column>,
    pub(crate) observed: Vec<Observable>,
    pub(crate) prop: FinalExpr,
    pub(crate) filter: Option<FinalExpr>,
}

/// Lowers a condition.
pub(crate) fn lower(
    condition: &Condition,
    layout: &Layout,
    threads: usize,
    resolve: &mut Resolve<'_>,
) -> Result<Finals, Vec<Diagnostic>> {
    let mut lowering = Lowering { layout, threads, resolve, seen: Vec::new(), errors: Vec::new() };
    for var in &condition.locations {
        lowering.var(var);
    }
    let prop = lowering.prop(&condition.prop);
    let filter = condition.filter.as_ref().map(|filter| lowering.prop(filter));
    let Lowering { mut seen, errors, .. } = lowering;
    if !errors.is_empty() {
        return Err(errors);
    }
    // Registers first, thread by thread, as herd does.
    seen.sort_by_key(|resolved| match resolved.var {
        FinalVar::Reg(thread, _) => (0, thread.index()),
        FinalVar::Loc(_) => (1, 0),
    });
    let mut observed: Vec<Observable> = Vec::new();
    let mut columns = Vec::new();
    for resolved in seen {
        let at = observed.iter().position(|known| known.var == resolved.var).unwrap_or_else(|| {
            observed.push(Observable { name: resolved.name.clone(), var: resolved.var });
            observed.len() - 1
        });
        let view = resolved.view();
        columns.push(Column { name: resolved.name, at, view, pointer: false });
    }
    Ok(Finals { columns, observed, prop, filter })
}

struct Lowering<'l, 'r> {
    layout: &'l Layout,
    threads: usize,
    resolve: &'l mut Resolve<'r>,
    /// What was named, each once.
    seen: Vec<Resolved>,
    errors: Vec<Diagnostic>,
}

impl Lowering<'_, '_> {
    fn resolve(&mut self, var: &Var) -> Result<Resolved, Diagnostic> {
        match var {
            Var::Reg { thread, name } => {
                let Some(at) = usize::try_from(*thread).ok().filter(|at| *at < self.threads) else {
                    let message = format!("condition: there is no thread {thread}");
                    return Err(Diagnostic::new(name.span, message, format!("the test has {} threads", self.threads)));
                };
                (self.resolve)(ThreadId::new(at), name)
            }
            Var::Loc(name) => {
                let Some(number) = self.layout.find(&name.text) else {
                    let message = format!("condition: there is no location `{}`", name.text);
                    return Err(Diagnostic::new(name.span, message, "not a location"));
                };
                let ty = self.layout.cells[number].ty.unwrap_or(WORD);
                let (name, var) = (name.text.clone(), FinalVar::Loc(self.layout.id(number)));
                Ok(Resolved { name, var, ty, narrowed: false, declared: None })
            }
        }
    }

    fn var(&mut self, var: &Var) -> Option<Resolved> {
        match self.resolve(var) {
            Ok(resolved) => {
                if self.seen.iter().all(|known| known.name != resolved.name) {
                    self.seen.push(resolved.clone());
                }
                Some(resolved)
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn prop(&mut self, prop: &Prop) -> FinalExpr {
        match prop {
            Prop::Const(value) => Expr::Const((*value).into()),
            Prop::Eq(left, right) => self.equation(left, right),
            Prop::Not(inner) => Expr::unary(UnOp::Not, self.prop(inner)),
            Prop::And(left, right) => Expr::binary(BinOp::And, self.prop(left), self.prop(right)),
            Prop::Or(left, right) => Expr::binary(BinOp::Or, self.prop(left), self.prop(right)),
            Prop::Implies(left, right) => {
                let not = Expr::unary(UnOp::Not, self.prop(left));
                Expr::binary(BinOp::Or, not, self.prop(right))
            }
        }
    }

    fn equation(&mut self, left: &Var, right: &Right) -> FinalExpr {
        let left = self.var(left);
        let right = match right {
            Right::Value(Value::Int(value)) => return left.map_or(Expr::Const(0), |left| left.is(*value)),
            Right::Value(Value::Address(name)) => match self.layout.find(&name.text) {
                Some(number) => Some(Expr::Const(crate::layout::address(number))),
                None => {
                    let message = format!("condition: there is no location `{}`", name.text);
                    self.errors.push(Diagnostic::new(name.span, message, "expected a number or a location's address"));
                    None
                }
            },
            Right::Var(var) => self.var(var).map(|resolved| resolved.value()),
        };
        match (left, right) {
            (Some(left), Some(right)) => binary(BinOp::Eq, left.value(), right),
            _ => Expr::Const(0),
        }
    }
}

/// The property that `cyrano check` checks.
pub(crate) fn check(condition: &Condition, finals: &Finals) -> Check {
    let (prop, filter) = (finals.prop.clone(), finals.filter.clone());
    let with = |filter: Option<FinalExpr>, prop| match filter {
        Some(filter) => Expr::binary(BinOp::And, filter, prop),
        None => prop,
    };
    let (quantifier, cond) = match condition.quantifier {
        Quantifier::Exists => (cyrano_ir::Quantifier::Exists, with(filter, prop)),
        Quantifier::NotExists => (cyrano_ir::Quantifier::Never, with(filter, prop)),
        Quantifier::Forall => {
            let cond = match filter {
                Some(filter) => Expr::binary(BinOp::Or, Expr::unary(UnOp::Not, filter), prop),
                None => prop,
            };
            (cyrano_ir::Quantifier::Always, cond)
        }
    };
    let text = condition.text.trim_start_matches(condition.quantifier.name()).trim();
    let text = unwrapped(text).unwrap_or(text).to_owned();
    Check { property: Property::Final { quantifier, cond, text }, models: Vec::new(), span: condition.span }
}

/// The text between parentheses that enclose all of it.
fn unwrapped(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0i32;
    let closed = inner.chars().any(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth < 0
    });
    (!closed).then_some(inner.trim())
}

/// Renumbers locations once it is known whether there is a gap before them.
pub(crate) fn settle(program: &mut Program, layout: &Layout) {
    for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        match &mut instr.op {
            Op::Access(Access { addr: Addr::Fixed(loc), .. }) | Op::Fence(Fence::Named { at: Some(loc), .. }) => {
                *loc = layout.id(loc.index());
            }
            _ => {}
        }
    }
}
