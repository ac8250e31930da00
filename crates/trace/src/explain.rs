//! Words: which access overtook which, and why an execution matters.

mod atomicity;
mod endless;
mod observation;
mod states;
mod structure;

use std::collections::BTreeSet;

use cyrano_engine::{Replayed, StepFacts, ThreadEnd, Violation};
use cyrano_ir::guards::FREED;
use cyrano_ir::{
    AccessKind, Change, EvalError, FinalExpr, FinalVar, InstrId, LocId, LocalExpr, Op, Place, Program, Property,
    Quantifier, Tags, ThreadId, Ty, UNDEFINED,
};

use crate::lines::{Line, Lines};
use crate::record::Parts;
use crate::rerun::{self, Registers};
use crate::schema::{Explanation, NamedValue, Trace};
use crate::transactions;
use crate::{lasso, pointers};

/// The kind of the explanation of an execution that claims nothing.
const STEPS: &str = "steps";

impl Trace {
    /// Whether the trace claims nothing but that its steps can be taken: somebody took them by hand.
    pub fn claims_nothing(&self) -> bool {
        self.violation.is_none() && self.explanation.kind == STEPS
    }
}

/// Why an `exists` is violated although there is no execution to show.
pub fn no_witness(condition: &str) -> Explanation {
    Explanation {
        kind: Violation::NoWitness.kind().to_owned(),
        sentence: format!("No execution ends in a state that satisfies `{condition}`."),
        condition: Some(condition.to_owned()),
        ..Explanation::default()
    }
}

/// "line 7's load of y": an access as the user finds it in the source.
pub(crate) fn access(line: &Line, kind: AccessKind, op: &Op, location: Option<&str>) -> String {
    let noun = match (kind, op) {
        (AccessKind::Load, _) => "load of",
        (AccessKind::Store, op) if op.has_tag(Tags::ROLLBACK) => "rollback of",
        (AccessKind::Store, _) => "store to",
        (AccessKind::Rmw, op) => match op.change() {
            Some(Change::Cas { .. }) => "cas on",
            Some(Change::Set(_)) => "exchange on",
            Some(Change::Add(_)) => "fetch_add on",
            None => "read-modify-write of",
        },
        (AccessKind::Mark, Op::Transaction(event)) => return format!("line {line}'s {}", event.name()),
        (AccessKind::Mark, Op::Invoke { method, .. }) => return format!("line {line}'s call of {}", method.name()),
        (AccessKind::Mark, _) => return format!("line {line}'s event"),
    };
    let place = location.unwrap_or("an address not known by then");
    format!("line {line}'s {noun} {place}")
}

/// Why the execution matters.
pub(crate) fn explain(parts: &Parts<'_>, lines: &Lines<'_>) -> Explanation {
    let told = Told { parts, lines };
    match (parts.violation, parts.property) {
        (Some(Violation::Assertion { thread, instr }), _) => told.assertion(*thread, *instr),
        (Some(Violation::Error { thread, instr, error }), _) => told.error(*thread, *instr, *error),
        (Some(Violation::AtomicDiverges { thread, instr }), _) => told.divergence(*thread, *instr),
        (Some(Violation::Deadlock { blocked }), _) => {
            told.deadlock(blocked.iter().map(|b| (b.thread, b.instr)).collect())
        }
        (Some(Violation::NoWitness), Property::Final { text, .. }) => no_witness(text),
        (_, Property::Final { quantifier, cond, text }) => told.final_state(*quantifier, cond, text),
        (_, Property::Transactions(criterion)) => transactions::explain(parts, *criterion)
            .unwrap_or_else(|| told.plain("witness", "The execution is as claimed.".to_owned())),
        (Some(Violation::Observation { outcome }), Property::Observations(allowed)) => {
            observation::explain(parts.program, outcome, allowed)
        }
        (Some(Violation::Lasso(lasso)), Property::Progress(progress)) => lasso::explain(parts, *progress, lasso),
        (Some(Violation::Lasso(lasso)), Property::Live(asked)) => endless::explain(parts, lines, lasso, *asked),
        (Some(Violation::Structure { missing }), _) => structure::explain(parts, lines, missing.as_deref()),
        (Some(Violation::Blocks), _) => atomicity::explain(parts, lines),
        (Some(Violation::Invariant { .. }), Property::Invariant(of)) => states::invariant(parts, lines, of),
        (Some(Violation::Race { first, second }), _) => states::race(parts, lines, [*first, *second]),
        (None, Property::Assertions) => told.so_far(),
        (
            _,
            Property::Assertions
            | Property::Observations(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity
            | Property::Invariant(_)
            | Property::Races,
        ) => told.plain("witness", "The execution is as claimed.".to_owned()),
    }
}

struct Told<'a> {
    parts: &'a Parts<'a>,
    lines: &'a Lines<'a>,
}

impl Told<'_> {
    fn assertion(&self, thread: ThreadId, instr: InstrId) -> Explanation {
        let fails = |op: &Op, registers: &Registers| match op {
            Op::Assert { cond, .. } => matches!(rerun::eval(cond, registers), Some(Ok(0))),
            _ => false,
        };
        let (cond, message) = match &self.parts.program.instr(thread, instr).op {
            Op::Assert { cond, message } => (Some(cond), message.clone()),
            _ => (None, None),
        };
        let registers = self.registers(thread, instr, fails);
        let mut values = cond.map(|cond| self.values(thread, cond, &registers)).unwrap_or_default();
        values.extend(cond.map(|cond| self.looked_at(thread, instr, cond, &registers)).unwrap_or_default());
        let text = self.text(thread, instr);
        let condition = asserted(&text);
        let (name, line) = self.place(thread, instr);
        let with = with_values(&values);
        if let Some(message) = message.as_ref().filter(|message| !text.contains("assert") && !text.contains(*message)) {
            // The front end put it there: the statement itself is what goes wrong.
            let sentence = format!("{name} goes wrong at line {line}, `{text}`: {message}{with}.");
            return Explanation {
                thread: Some(name),
                line: Some(line.number),
                values,
                ..self.plain("error", sentence)
            };
        }
        // In C the statement is its own message.
        let message = message.filter(|message| !text.starts_with(message.as_str()));
        let said = message.as_ref().map(|m| format!(" (\"{m}\")")).unwrap_or_default();
        Explanation {
            sentence: format!("The assertion `{condition}` of {name} at line {line} fails{with}{said}."),
            thread: Some(name),
            line: Some(line.number),
            condition: Some(condition),
            message,
            values,
            ..self.plain("assertion", String::new())
        }
    }

    /// What an assertion loads by itself, each variable once, with what it found.
    fn looked_at(&self, thread: ThreadId, at: InstrId, cond: &LocalExpr, registers: &Registers) -> Vec<NamedValue> {
        let program = self.parts.program;
        let code = &program.thread(thread).code;
        let span = code[at.index()].span;
        let mut found: Vec<NamedValue> = Vec::new();
        cond.for_each_var(&mut |place| {
            let loads = |op: &Op| op.access().is_some_and(|access| access.dst.as_ref() == Some(place));
            let own = code[..at.index()].iter().rev().take_while(|instr| instr.span == span);
            let load = own.into_iter().find(|instr| loads(&instr.op)).and_then(|instr| instr.op.addr());
            let loc = load.and_then(|addr| rerun::location(program, addr, registers));
            if let (Some(loc), Some(Ok(index))) = (loc, rerun::register(place, registers)) {
                let location = program.location(loc);
                let value = named(program, &location.name, location.ty, registers.get(index).copied().flatten());
                if !found.contains(&value) {
                    found.push(value);
                }
            }
        });
        found
    }

    /// Who freed the object that an access finds freed.
    fn freed(&self, thread: ThreadId, instr: InstrId, error: EvalError) -> String {
        let program = self.parts.program;
        let steps = &self.parts.replayed.steps;
        let header = |step: &StepFacts| program.guard(step.loc, step.kind);
        let last_free = |before: usize, header: LocId| {
            let stores = steps[..before].iter().enumerate().rev();
            stores.into_iter().find(|(_, step)| step.loc == header && step.access.written.is_some())
        };
        let finds = |(at, step): (usize, &StepFacts)| {
            let (number, by) = last_free(at, header(step)?)?;
            let finds = step.access.thread == thread && step.instr == instr && by.access.written == Some(FREED);
            finds.then_some((number, by))
        };
        let wrong = matches!(error, EvalError::Freed | EvalError::DoubleFree);
        let found = steps.iter().enumerate().find_map(finds).filter(|_| wrong);
        found.map_or_else(String::new, |(number, by)| {
            let (name, line) = self.place(by.access.thread, by.instr);
            format!(", freed by {name} in step {}, line {line}", number + 1)
        })
    }

    fn error(&self, thread: ThreadId, instr: InstrId, error: EvalError) -> Explanation {
        let goes_wrong = |op: &Op, registers: &Registers| rerun::goes_wrong(self.parts.program, op, registers);
        let registers = self.registers(thread, instr, goes_wrong);
        let op = &self.parts.program.instr(thread, instr).op;
        let index = match op.addr() {
            Some(cyrano_ir::Addr::Indexed { index, .. }) => Some(index),
            _ => None,
        };
        let mut values: Vec<NamedValue> = Vec::new();
        for expr in op.operands().into_iter().chain(index) {
            let new = self.values(thread, expr, &registers);
            values.extend(new.into_iter().filter(|v| values.iter().all(|old| old.name != v.name)).collect::<Vec<_>>());
        }
        let (name, line) = self.place(thread, instr);
        let text = self.text(thread, instr);
        let with = with_values(&values);
        Explanation {
            sentence: format!(
                "{name} goes wrong at line {line}, `{text}`: {error}{with}{}.",
                self.freed(thread, instr, error)
            ),
            thread: Some(name),
            line: Some(line.number),
            values,
            ..self.plain(Violation::Error { thread, instr, error }.kind(), String::new())
        }
    }

    fn divergence(&self, thread: ThreadId, instr: InstrId) -> Explanation {
        let (name, line) = self.place(thread, instr);
        let sentence = format!("The atomic section of {name} that starts at line {line} does not reach its end.");
        Explanation { thread: Some(name), line: Some(line.number), ..self.plain("divergence", sentence) }
    }

    fn deadlock(&self, blocked: Vec<(ThreadId, InstrId)>) -> Explanation {
        let spins = matches!(self.parts.property, Property::Live(_));
        let waits = blocked.iter().map(|(thread, instr)| {
            let (name, line) = self.place(*thread, *instr);
            match spins {
                true => {
                    format!("{name} spins in the loop at line {line}, and has read the latest stores in its last round")
                }
                false => format!("{name} waits at line {line}"),
            }
        });
        let waits: Vec<String> = waits.collect();
        let what = if spins { "For ever" } else { "Deadlock" };
        let sentence = format!("{what}: no thread can go on; {}.", join(&waits));
        let blocked = if spins { Vec::new() } else { blocked };
        Explanation { waits: crate::waits::waits(self.parts, &blocked), ..self.plain("deadlock", sentence) }
    }

    fn final_state(&self, quantifier: Quantifier, cond: &FinalExpr, text: &str) -> Explanation {
        let values = final_values(self.parts.program, cond, self.parts.replayed);
        let with = with_values(&values);
        let (kind, sentence) = match quantifier {
            Quantifier::Never => {
                ("final-state", format!("The final state satisfies `{text}`, which must never hold{with}."))
            }
            Quantifier::Always => {
                ("final-state", format!("The final state does not satisfy `{text}`, which must always hold{with}."))
            }
            Quantifier::Exists => ("witness", format!("The final state satisfies `{text}`{with}.")),
        };
        Explanation { condition: Some(text.to_owned()), values, ..self.plain(kind, sentence) }
    }

    /// Steps that claim nothing.
    fn so_far(&self) -> Explanation {
        let ended = self.parts.replayed.ends.iter().all(|end| *end == ThreadEnd::Done);
        let sentence = match (ended, self.parts.replayed.steps.len()) {
            (true, _) => "Every thread has run to its end, and no assertion failed.",
            (false, 0) => "Nothing has been performed yet.",
            (false, _) => "No assertion has failed so far.",
        };
        self.plain(STEPS, sentence.to_owned())
    }

    fn plain(&self, kind: &str, sentence: String) -> Explanation {
        Explanation { kind: kind.to_owned(), sentence, ..Explanation::default() }
    }

    /// The registers at the point in question; at the end of the replay if running the thread again does not get there.
    fn registers(&self, thread: ThreadId, at: InstrId, hit: impl Fn(&Op, &Registers) -> bool) -> Registers {
        let parts = self.parts;
        let found = rerun::registers_at(parts.program, parts.execution, thread, at, hit);
        found.unwrap_or_else(|| parts.replayed.registers.get(thread.index()).cloned().unwrap_or_default())
    }

    fn values(&self, thread: ThreadId, expr: &LocalExpr, registers: &Registers) -> Vec<NamedValue> {
        let declared = &self.parts.program.thread(thread).registers;
        let mut indices = BTreeSet::new();
        let mut note = |place: &Place| {
            if let Some(Ok(index)) = rerun::register(place, registers) {
                indices.insert(index);
            }
        };
        expr.for_each_var(&mut |place| {
            if let Place::Elem { index, .. } = place {
                index.for_each_var(&mut |inner| note(inner));
            }
            note(place);
        });
        let named = indices.into_iter().filter_map(|index| {
            let register = declared.get(index)?;
            let value = registers.get(index).copied().flatten();
            let shown = || named(self.parts.program, &register.name, register.ty, value);
            (!register.name.starts_with('%')).then(shown)
        });
        named.collect()
    }

    fn place(&self, thread: ThreadId, instr: InstrId) -> (String, Line) {
        let program = self.parts.program;
        let line = self.lines.told(program.instr(thread, instr).span);
        (program.thread(thread).name.clone(), line)
    }

    fn text(&self, thread: ThreadId, instr: InstrId) -> String {
        self.lines.text(self.parts.program.instr(thread, instr).span)
    }
}

/// A name with its value.
pub(crate) fn named(program: &Program, name: &str, ty: Ty, value: Option<i128>) -> NamedValue {
    let shown = value.and_then(|value| pointers::shown(program, ty, value));
    NamedValue { name: name.to_owned(), value, shown }
}

/// The variables of a condition over final states, each once, with their values.
fn final_values(program: &Program, cond: &FinalExpr, replayed: &Replayed) -> Vec<NamedValue> {
    let mut vars: Vec<FinalVar> = Vec::new();
    cond.for_each_var(&mut |var| vars.push(*var));
    values_of(program, vars, replayed)
}

/// Variables, each once, with their values at the end.
pub(crate) fn values_of(program: &Program, vars: Vec<FinalVar>, replayed: &Replayed) -> Vec<NamedValue> {
    let mut seen: Vec<FinalVar> = Vec::new();
    for var in vars {
        if !seen.contains(&var) {
            seen.push(var);
        }
    }
    let named = seen.into_iter().map(|var| match var {
        FinalVar::Loc(loc) => {
            let location = program.location(loc);
            named(program, &location.name, location.ty, replayed.memory.get(loc.index()).copied())
        }
        FinalVar::Reg(thread, reg) => {
            let value = replayed.registers.get(thread.index()).and_then(|r| r.get(reg.index()).copied().flatten());
            let ty = program.thread(thread).registers.get(reg.index()).map_or(Ty::Int, |register| register.ty);
            named(program, &register_name(program, thread, reg.index()), ty, value)
        }
    });
    named.collect()
}

/// The register's name, with its thread's where other threads have a register of that name.
fn register_name(program: &Program, thread: ThreadId, register: usize) -> String {
    let name = &program.thread(thread).registers[register].name;
    let owners = program.threads.iter().filter(|t| t.registers.iter().any(|r| r.name == *name));
    if owners.count() == 1 { name.clone() } else { format!("{}.{name}", program.thread(thread).name) }
}

/// The condition within an `assert` statement, whose span may or may not have the keyword and the message, and in C has parentheses.
fn asserted(statement: &str) -> String {
    let condition = statement.strip_prefix("assert").unwrap_or(statement);
    let condition = condition.split('"').next().unwrap_or(condition).trim().trim_end_matches(';');
    let condition = condition.strip_suffix(',').unwrap_or(condition).trim_end();
    let inner = condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| is_balanced(inner)).unwrap_or(condition).to_owned()
}

/// Whether every parenthesis is closed after it is opened.
fn is_balanced(text: &str) -> bool {
    let depth = text.chars().try_fold(0usize, |depth, c| match c {
        '(' => Some(depth + 1),
        ')' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

fn with_values(values: &[NamedValue]) -> String {
    if values.is_empty() {
        return String::new();
    }
    format!(", with {}", listed(values))
}

/// `r1 = 0, r2 = 1`.
pub(crate) fn listed(values: &[NamedValue]) -> String {
    let number = |v: &NamedValue| v.value.map_or_else(|| "not yet loaded".to_owned(), shown);
    let value = |v: &NamedValue| v.shown.clone().unwrap_or_else(|| number(v));
    values.iter().map(|v| format!("{} = {}", v.name, value(v))).collect::<Vec<_>>().join(", ")
}

/// A value for people.
pub fn shown(value: i128) -> String {
    if value == UNDEFINED { "undefined".to_owned() } else { value.to_string() }
}

/// `a, b and c`.
pub fn join<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(T::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
