//! States and steps for people.

use cyrano_engine::Violation;
use cyrano_engine::configuration::{Deferred, Lane, Mark, Operands, Product, Value, View};
use cyrano_interp::steps::{Beyond, Step, Why};
use cyrano_ir::{AccessKind, InstrId, Op, RegId, ThreadId};

use crate::Certificate;
use crate::judge::{Wrong, value_shown};

/// A state in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// Memory: `x = 0`.
    pub memory: Vec<String>,
    /// The threads.
    pub threads: Vec<ShownThread>,
    /// What the criterion's monitor remembers, in hexadecimal; empty where there is none.
    pub monitor: String,
    /// Memory in each way in which the serial run of blocks can have gone; empty where there is none.
    pub serial: Vec<Vec<String>>,
}

/// Where a thread stands, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShownThread {
    /// Its name.
    pub name: String,
    /// Its place: `line 12`, `at its end`.
    pub place: String,
    /// Its registers that are known: `r1 = 0`.
    pub registers: Vec<String>,
    /// What it has deferred: `store x := 1`.
    pub deferred: Vec<String>,
}

/// Somebody who knows the names.
#[derive(Clone, Copy)]
pub(crate) struct Show<'c> {
    pub(crate) certificate: &'c Certificate,
}

impl<'c> Show<'c> {
    fn name(self, thread: ThreadId) -> &'c str {
        &self.certificate.program.thread(thread).name
    }

    fn op(self, thread: ThreadId, instr: InstrId) -> &'c Op {
        &self.certificate.program.instr(thread, instr).op
    }

    fn location(self, loc: cyrano_ir::LocId) -> &'c str {
        &self.certificate.program.location(loc).name
    }

    /// Where an instruction stands in the source; its number if that is not known.
    fn place(self, thread: ThreadId, instr: InstrId) -> String {
        if matches!(self.op(thread, instr), Op::Halt) {
            return "at its end".into();
        }
        let span = self.certificate.program.instr(thread, instr).span;
        let source = self.certificate.origin.source.as_bytes();
        match source.get(..span.start as usize) {
            Some(before) if span.end > span.start => {
                format!("line {}", 1 + before.iter().filter(|byte| **byte == b'\n').count())
            }
            _ => format!("instruction {}", instr.0),
        }
    }

    fn memory(self, values: &[i128]) -> Vec<String> {
        let names = self.certificate.program.locations.iter().map(|location| &location.name);
        names.zip(values).map(|(name, value)| format!("{name} = {}", value_shown(*value))).collect()
    }

    pub(crate) fn state(self, state: &Product) -> Shown {
        let ids = self.certificate.program.thread_ids();
        Shown {
            memory: self.memory(&state.at.memory),
            threads: ids.zip(&state.at.threads).map(|(thread, lane)| self.thread(thread, lane)).collect(),
            monitor: state.monitor.iter().map(|byte| format!("{byte:02x}")).collect(),
            serial: state.serial.iter().flat_map(|serial| &serial.ways).map(|way| self.memory(&way.memory)).collect(),
        }
    }

    /// A view: the threads in no family, and the members that are there.
    pub(crate) fn view(self, view: &View) -> Shown {
        let program = &self.certificate.program;
        let of = |family: usize| program.families[family].thread;
        let alone = |thread: &ThreadId| program.families.iter().all(|family| family.thread != *thread);
        let fixed = program
            .thread_ids()
            .filter(alone)
            .zip(&view.fixed)
            .map(|(thread, single)| self.thread(thread, &single.lane));
        let members = view.members.iter().map(|(family, single)| self.thread(of(*family), &single.lane));
        Shown {
            memory: self.memory(&view.memory),
            threads: fixed.chain(members).collect(),
            monitor: String::new(),
            serial: view.serial.iter().map(|run| self.memory(&run.memory)).collect(),
        }
    }

    fn thread(self, thread: ThreadId, lane: &Lane) -> ShownThread {
        let register = |(at, value): (usize, &Value)| {
            let name = &self.certificate.program.thread(thread).registers[at].name;
            match value {
                Value::Known(value) => Some(format!("{name} = {}", value_shown(*value))),
                Value::Pending(_) => Some(format!("{name} pending")),
                Value::Forgotten => None,
            }
        };
        ShownThread {
            name: self.name(thread).to_owned(),
            place: self.place(thread, lane.pc),
            registers: lane.registers.iter().enumerate().filter_map(register).collect(),
            deferred: lane.queue.iter().map(|deferred| self.deferred(thread, deferred)).collect(),
        }
    }

    fn deferred(self, thread: ThreadId, deferred: &Deferred) -> String {
        let entry = match deferred {
            Deferred::Fence(kinds) => return format!("fence {kinds}"),
            Deferred::Mark(Mark::Begin) => return "a block begins".into(),
            Deferred::Mark(Mark::Commit(_)) => return "a unit commits".into(),
            Deferred::Mark(Mark::End { .. }) => return "a unit ends".into(),
            Deferred::Op(entry) => entry,
        };
        let values = match &entry.operands {
            Operands::Known(values) => values.iter().map(|value| value_shown(*value)).collect::<Vec<_>>().join(", "),
            Operands::Waiting(_) => "?".into(),
        };
        let place = entry.loc.map_or("", |loc| self.location(loc));
        match self.op(thread, entry.instr).access_kind() {
            Some(AccessKind::Load) => format!("load {place}"),
            Some(AccessKind::Store) => format!("store {place} := {values}"),
            Some(kind) => format!("{} of {place} with {values}", kind.noun()),
            None => format!("computation at {}", self.place(thread, entry.instr)),
        }
    }

    /// A step in words.
    pub(crate) fn step(self, step: &Step) -> String {
        let performed = step.performed.iter().map(|done| {
            let place = done.loc.map_or("", |loc| self.location(loc));
            let part = |verb: &str, value: Option<i128>| {
                value.map(|value| format!(" {verb} {}", value_shown(value))).unwrap_or_default()
            };
            match self.op(step.thread, done.instr) {
                Op::Transaction(event) => event.name().to_owned(),
                _ => format!(
                    "{} of {place}{}{}",
                    done.kind.noun(),
                    part("reads", done.read),
                    part("writes", done.written)
                ),
            }
        });
        let choices = step.choices.iter().map(|value| format!("chooses {value}"));
        let parts: Vec<String> = performed.chain(choices).collect();
        let what = if parts.is_empty() { "goes on".into() } else { parts.join(", then ") };
        format!("{} ({}): {what}", self.name(step.thread), self.place(step.thread, step.instr))
    }

    pub(crate) fn wrong(self, wrong: &Wrong) -> String {
        let at = |thread: ThreadId, instr: InstrId| format!("{} ({})", self.name(thread), self.place(thread, instr));
        let violation = match wrong {
            Wrong::Violation(violation) => &**violation,
            Wrong::History(why) => return format!("the history of transactions is wrong: {why}"),
            Wrong::Final(why) => return format!("a final state contradicts the claim: {why}"),
            Wrong::State(why) => return format!("a state contradicts the claim: {why}"),
            Wrong::Unknown(why) => return why.clone(),
        };
        match violation {
            Violation::Assertion { thread, instr } => format!("an assertion fails in {}", at(*thread, *instr)),
            Violation::Error { thread, instr, error } => format!("{error} in {}", at(*thread, *instr)),
            Violation::AtomicDiverges { thread, instr } => {
                format!("an atomic section does not end in {}", at(*thread, *instr))
            }
            Violation::Deadlock { blocked } => {
                let who: Vec<String> = blocked.iter().map(|blocked| at(blocked.thread, blocked.instr)).collect();
                format!("a deadlock: {} wait for ever", who.join(" and "))
            }
            Violation::Race { first, second } => {
                let (first, second) = (at(first.thread, first.instr), at(second.thread, second.instr));
                format!("a race between {first} and {second}")
            }
            other => format!("a violation of the kind {}", other.kind()),
        }
    }

    pub(crate) fn beyond(self, beyond: Beyond) -> String {
        let Beyond { thread, instr, why } = beyond;
        let place = format!("{} ({})", self.name(thread), self.place(thread, instr));
        match why {
            Why::Forgotten(register) => {
                format!(
                    "{place} looks at the register {}, which the certificate forgot",
                    self.register(thread, register)
                )
            }
            _ => format!("the checker is not exact here: {place} {why}"),
        }
    }

    fn register(self, thread: ThreadId, register: RegId) -> &'c str {
        &self.certificate.program.thread(thread).registers[register.index()].name
    }
}
