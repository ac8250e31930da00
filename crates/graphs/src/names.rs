//! Values that nobody looks at: a choice among values that are only ever copied is made once, and its value is a *name*.
//!
//! The arguments of a queue's operations (`in {0, 1}`) go into memory and come out again, and the queue never looks at them. So executions are found with a
//! name for each choice, and every execution stands for all that come of giving its names values. What is observed is compared for each of these.
//!
//! **Argument.** A name is a number that no program has ([`NAME`]). While a thread only copies it (moves between registers and memory, and the conversions that
//! leave every value of the choice what it is) it does the same for every value. Whatever else is done with it is noticed before it is done ([`Sees`]): an operand
//! of a computation, a condition, an address, an index, a comparison of a read-modify-write. Then that choice is made as written, and the search begins anew. So
//! in a search that comes to its end nothing has depended on a name: for every way to give names values, the executions with these choices are those found, event
//! by event, with the values put in. Models look at events and not at values. That names may be equal once they are values is of no matter, as nobody compares.
//! Numbers as large as names that a program comes to compute are noticed alike, and then no names are used at all.
//!
//! **Where there are none.** Where a search is kept, or is one of several parts ([`crate::kept`]): it would begin anew when a name is looked at, and its tree would be another one then.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cyrano_engine::{Execution, Query, Question};
use cyrano_ir::dataflow::expr_reads;
use cyrano_ir::{EvalError, Expr, InstrId, LocalExpr, Op, Place, Program, Property, ThreadId, UnOp};

use crate::races::comes_back;

/// From here on numbers are names.
const NAME: i128 = 1 << 120;

/// Values of a choice that may have a name: every integer type of so many bits has all of them.
const PLAIN: std::ops::RangeInclusive<i128> = 0..=127;
const PLAIN_BITS: u8 = 8;

/// No execution stands for more.
const MOST_WAYS: usize = 4096;

/// Why a thread cannot go on with a computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    Error(EvalError),
    /// It is about this name, or about this pointer of equal threads.
    Sees(i128),
}

impl From<EvalError> for Wrong {
    fn from(error: EvalError) -> Self {
        Self::Error(error)
    }
}

/// The choices whose values have names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Names {
    /// Of each whether it is made at most once in an execution.
    choices: BTreeMap<(ThreadId, InstrId), bool>,
}

pub(crate) fn is_name(value: i128) -> bool {
    value >= NAME
}

/// A name, if this is one: somebody looks at it.
pub(crate) fn unseen(value: i128) -> Result<i128, Wrong> {
    if is_name(value) { Err(Wrong::Sees(value)) } else { Ok(value) }
}

impl Names {
    /// The choices of a program that may have names, for a question that is about what is observed.
    pub(crate) fn new(query: &Query<'_>) -> Self {
        let asks = match query.question() {
            Question::Outcomes | Question::Holds(Property::Observations(_)) => true,
            Question::Holds(_) => false,
        };
        if asks { Self::of(query.program()) } else { Self::default() }
    }

    /// The choices of a program that may have names, if the question is about what is observed.
    pub(crate) fn of(program: &Program) -> Self {
        let mut names = Self::default();
        let registers = || program.threads.iter().flat_map(|thread| &thread.registers).map(|register| register.init);
        let mut initial = program.locations.iter().map(|location| location.init).chain(registers());
        if initial.any(is_name) {
            return names;
        }
        for thread in program.thread_ids() {
            for (at, instr) in program.thread(thread).code.iter().enumerate() {
                let Op::Choose { from, .. } = &instr.op else { continue };
                if from.iter().any(|value| is_name(*value)) {
                    return Self::default();
                }
                if from.iter().any(|value| *value != from[0]) && from.iter().all(|value| PLAIN.contains(value)) {
                    let at = InstrId::new(at);
                    names.choices.insert((thread, at), !comes_back(program.thread(thread), at));
                }
            }
        }
        names
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// Takes a name away that somebody looked at; all of them if it is none.
    pub(crate) fn forget(&mut self, name: i128) {
        if choice(name).and_then(|choice| self.choices.remove(&choice)).is_none() {
            self.choices.clear();
        }
    }

    /// The values that a thread may take that has so many events. The name of a choice that is made once is the same in all executions.
    pub(crate) fn values<'p>(
        &self,
        (thread, at): (ThreadId, InstrId),
        from: &'p [i128],
        events: usize,
    ) -> Cow<'p, [i128]> {
        let Some(once) = self.choices.get(&(thread, at)) else { return Cow::Borrowed(from) };
        let events = if *once { 0 } else { events };
        Cow::Owned(vec![NAME + ((thread.index() as i128) << 64) + ((at.index() as i128) << 32) + events as i128])
    }

    /// What an expression is, if nothing looks at a name for it.
    pub(crate) fn value(&self, expr: &LocalExpr, registers: &[i128]) -> Result<i128, Wrong> {
        if self.is_empty() {
            return Ok(expr.value(registers)?);
        }
        if let Some(name) = copied(expr, registers) {
            return Ok(name);
        }
        self.blind(expr, registers)?;
        unseen(expr.value(registers)?)
    }

    /// Whether no register that an expression reads holds a name.
    pub(crate) fn blind(&self, expr: &LocalExpr, registers: &[i128]) -> Result<(), Wrong> {
        let mut seen = Ok(());
        if !self.is_empty() {
            expr_reads(expr, &mut |register| {
                if let Err(why) = unseen(registers[register.index()]) {
                    seen = Err(why);
                }
            });
        }
        seen
    }
}

/// The name that an expression copies, if that is all it does.
fn copied(expr: &LocalExpr, registers: &[i128]) -> Option<i128> {
    match expr {
        Expr::Var(Place::Reg(register)) => Some(registers[register.index()]).filter(|value| is_name(*value)),
        Expr::Unary(UnOp::Defined, arg) => copied(arg, registers),
        Expr::Unary(UnOp::Wrap(ty) | UnOp::Fit(ty), arg) if ty.bits >= PLAIN_BITS => copied(arg, registers),
        _ => None,
    }
}

/// The choice that a name is for.
fn choice(name: i128) -> Option<(ThreadId, InstrId)> {
    let name = name.checked_sub(NAME).filter(|name| (0..1 << 96).contains(name))?;
    let part = |shift: u32| usize::try_from((name >> shift) & i128::from(u32::MAX)).ok();
    Some((ThreadId::new(part(64)?), InstrId::new(part(32)?)))
}

/// The values of a name.
pub(crate) fn values(program: &Program, name: i128) -> &[i128] {
    let instr = choice(name).and_then(|(thread, at)| program.threads.get(thread.index())?.code.get(at.index()));
    match instr.map(|instr| &instr.op) {
        Some(Op::Choose { from, .. }) => from,
        _ => &[],
    }
}

/// Shows all ways to give the names in what is observed values, with what is observed then, until one is taken; a name if there are too many ways.
pub(crate) fn each_way(
    program: &Program,
    shown: &[i128],
    mut take: impl FnMut(&[i128], &dyn Fn(i128) -> i128) -> bool,
) -> Result<(), Wrong> {
    let mut names: Vec<i128> = shown.iter().copied().filter(|value| is_name(*value)).collect();
    names.sort_unstable();
    names.dedup();
    let choices: Vec<&[i128]> = names.iter().map(|name| values(program, *name)).collect();
    let ways = choices.iter().try_fold(1usize, |ways, values| ways.checked_mul(values.len()));
    let ways = match (ways, names.first()) {
        (Some(ways @ 1..=MOST_WAYS), _) => ways,
        (_, Some(name)) => return Err(Wrong::Sees(*name)),
        (_, None) => 1,
    };
    let mut outcome = shown.to_vec();
    for way in 0..ways {
        let mut rest = way;
        let mut given = Vec::with_capacity(names.len());
        for values in &choices {
            given.push(values[rest % values.len()]);
            rest /= values.len();
        }
        let value = |value: i128| match names.binary_search(&value) {
            Ok(at) => given[at],
            // Whatever is not observed may be any.
            Err(_) if is_name(value) => values(program, value).first().copied().unwrap_or(value),
            Err(_) => value,
        };
        outcome.iter_mut().zip(shown).for_each(|(place, shown)| *place = value(*shown));
        if take(&outcome, &value) {
            break;
        }
    }
    Ok(())
}

/// Gives the names in an execution values.
pub(crate) fn give(mut execution: Execution, value: &dyn Fn(i128) -> i128) -> Execution {
    for access in &mut execution.order {
        access.read = access.read.map(value);
        access.written = access.written.map(value);
    }
    execution.choices.iter_mut().flatten().for_each(|chosen| *chosen = value(*chosen));
    execution
}

/// Gives every name in an execution its first value.
pub(crate) fn give_first(program: &Program, execution: Execution) -> Execution {
    let first = |value: i128| if is_name(value) { values(program, value).first().copied() } else { None };
    give(execution, &|value| first(value).unwrap_or(value))
}
