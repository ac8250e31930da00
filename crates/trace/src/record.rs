//! From a confirmed replay to a trace.

use cyrano_criteria::spec::own;
use cyrano_engine::{Execution, Racing, Replayed, Source, StepFacts, ThreadEnd, Violation};
use cyrano_ir::{AccessKind, Instr, InstrId, LocId, Op, Program, Property, Tags, ThreadId, TxCriterion, Ty};
use cyrano_memory::Model;

use crate::lines::Lines;
use crate::pointers;
use crate::schema::{
    BlockedInfo, End, ModelInfo, NamedValue, OperationInfo, Overtaken, PositionInfo, ProgramInfo, PropertyInfo,
    RaceEnd, ReadFrom, SCHEMA, Step, TestInfo, ThreadInfo, Tool, Trace, ViolationInfo,
};
use crate::told::objects::Bases;
use crate::told::{self, ToldThread};
use crate::transactions::{self, Blocks};
use crate::{calls, explain, shape, timeline};

/// What a trace is made of.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The version of the tool.
    pub version: &'a str,
    /// The file's name, for people.
    pub file: &'a str,
    /// The source text that `program` was compiled from.
    pub source: &'a str,
    /// The constants that were given another value.
    pub set: &'a [(String, i128)],
    /// The test that `program` stands for, if it came from a C file.
    pub test: Option<&'a TestInfo>,
    /// The program.
    pub program: &'a Program,
    /// The memory model.
    pub model: &'a Model,
    /// What was asked.
    pub property: &'a Property,
    /// What went wrong; `None` for the witness of an `exists`.
    pub violation: Option<&'a Violation>,
    /// The execution.
    pub execution: &'a Execution,
    /// What the confirmation of `execution` brought to light.
    pub replayed: &'a Replayed,
}

impl Trace {
    /// The trace of a confirmed execution.
    pub fn build(parts: &Parts<'_>) -> Self {
        let lines = Lines::new(parts.source);
        let told = told::told(parts);
        let blocks = Blocks::new(parts, &told);
        let text = |facts: &StepFacts| lines.text(parts.program.instr(facts.access.thread, facts.instr).span);
        let bases = Bases::new(parts, &told, &text);
        let changes = timeline::changes(parts);
        let recorder = Recorder { parts, lines: &lines, blocks: &blocks, told: &told, bases: &bases };
        let steps: Vec<Step> =
            parts.replayed.steps.iter().enumerate().map(|(at, facts)| recorder.step(at, facts)).collect();
        let operations = recorder.operations();
        Self {
            schema: SCHEMA.to_owned(),
            confirmed: true,
            unconfirmed: None,
            tool: Tool { name: "cyrano".to_owned(), version: parts.version.to_owned() },
            model: ModelInfo::from(parts.model),
            program: ProgramInfo {
                file: parts.file.to_owned(),
                source: parts.source.to_owned(),
                set: parts.set.iter().cloned().collect(),
                test: parts.test.cloned(),
            },
            property: PropertyInfo::from(parts.property),
            violation: parts.violation.and_then(|violation| recorder.violation(violation)),
            relations: parts.replayed.relations(parts.program).into(),
            shape: shape::shape(parts, &steps, &operations),
            steps,
            threads: parts.program.thread_ids().map(|thread| recorder.thread(thread)).collect(),
            transactions: blocks.infos(parts),
            history: transactions::lines(parts),
            operations,
            initial: recorder.initial(),
            changes: timeline::registers(parts.program, &changes),
            locals: told::locals::locals(parts.program, &changes),
            helpers: recorder.helpers(),
            memory: recorder.memory(),
            explanation: explain::explain(parts, &lines),
        }
    }
}

impl From<&Property> for PropertyInfo {
    fn from(property: &Property) -> Self {
        let condition = match property {
            Property::Assertions
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity
            | Property::Races
            | Property::Observations(_) => None,
            Property::Final { text, .. } => Some(text.clone()),
            Property::Invariant(invariant) => Some(invariant.text.clone()),
        };
        let allowed = match property {
            Property::Observations(allowed) => Some(allowed.clone()),
            _ => None,
        };
        let specification = match property {
            Property::Transactions(TxCriterion::Spec(spec)) => own::known(spec.name()).map(|own| own.text.clone()),
            _ => None,
        };
        Self { criterion: property.criterion().to_owned(), condition, allowed, specification }
    }
}

/// Whether a reader is told about a register: temporaries are left out, and of an algorithm everything but the results of its clients (the
/// locals of its methods and its sets are `method.name` and `set.part[i]`).
pub(crate) fn is_told(program: &Program, register: &str) -> bool {
    !register.starts_with('%') && (program.orders.is_empty() || !register.contains('.'))
}

/// The registers of a thread that a reader is told about, with these values.
pub fn told_registers(program: &Program, thread: ThreadId, values: &[Option<i128>]) -> Vec<NamedValue> {
    let registers = program.thread(thread).registers.iter().zip(values);
    let named = registers.filter(|(register, _)| is_told(program, &register.name));
    named.map(|(register, value)| explain::named(program, &register.name, register.ty, *value)).collect()
}

struct Recorder<'a> {
    parts: &'a Parts<'a>,
    lines: &'a Lines<'a>,
    blocks: &'a Blocks,
    told: &'a [ToldThread],
    bases: &'a Bases,
}

impl Recorder<'_> {
    fn step(&self, at: usize, facts: &StepFacts) -> Step {
        let program = self.parts.program;
        let access = facts.access;
        let instr = program.instr(access.thread, facts.instr);
        let (line, column) = self.lines.position(instr.span);
        // An event of a transaction has no location; the number in its place means nothing.
        let named = |kind: AccessKind, loc: Option<LocId>| {
            let loc = loc.filter(|_| kind != AccessKind::Mark)?;
            Some(program.location(loc).name.clone())
        };
        let location = named(facts.kind, Some(facts.loc));
        let label = |instr: InstrId| program.told.label(program, access.thread, instr).map(str::to_owned);
        let this = self.access((access.thread, access.index), facts.instr, facts.kind, location.as_deref());
        let overtaken = facts.overtook.iter().map(|other| {
            let line = self.lines.told(program.instr(access.thread, other.instr).span);
            let location = named(other.kind, other.loc);
            let that = self.access((access.thread, other.index), other.instr, other.kind, location.as_deref());
            let (kind, label) = (other.kind.noun().to_owned(), label(other.instr));
            let overtaken = Overtaken { po: other.index, line: line.number, used: line.used, kind, location, label };
            (overtaken, format!("{this} was performed before {that}"))
        });
        let (overtook, words) = overtaken.unzip();
        let ty = if facts.kind == AccessKind::Mark { Ty::Int } else { program.location(facts.loc).ty };
        let show = |value: i128| pointers::shown(program, ty, value);
        Step {
            n: at + 1,
            thread: program.thread(access.thread).name.clone(),
            po: access.index,
            kind: facts.kind.noun().to_owned(),
            location,
            event: match &instr.op {
                Op::Transaction(event) => Some(event.name().to_owned()),
                op => calls::event(op, facts),
            },
            rollback: instr.op.has_tag(Tags::ROLLBACK),
            transaction: self.blocks.name(at),
            read: access.read,
            written: access.written,
            read_shown: access.read.and_then(show),
            written_shown: access.written.and_then(show),
            source: facts.source.map(|source| self.source(access.thread, source)),
            line,
            used: self.lines.told(instr.span).used,
            column,
            text: self.lines.text(instr.span),
            label: label(facts.instr),
            call: self.bases.calls.get(&at).cloned(),
            within: self.bases.within.get(&at).map(|first| first + 1),
            overtook,
            words,
        }
    }

    /// An access in words: a base object's call by its label, else by its line.
    fn access(
        &self,
        (thread, po): (ThreadId, u32),
        instr: InstrId,
        kind: AccessKind,
        location: Option<&str>,
    ) -> String {
        let program = self.parts.program;
        let Instr { op, span } = program.instr(thread, instr);
        let line = self.lines.told(*span);
        let label = program.told.label(program, thread, instr);
        let Some((object, _)) = self.told[thread.index()].object(po) else {
            let words = explain::access(&line, kind, op, location);
            return label.map_or(words.clone(), |label| words.replacen(&format!("line {line}"), label, 1));
        };
        let step = self
            .parts
            .replayed
            .steps
            .iter()
            .position(|facts| (facts.access.thread, facts.access.index) == (thread, po));
        let place = label.map_or_else(|| format!("line {line}"), str::to_owned);
        let first = step.map(|step| self.bases.within.get(&step).copied().unwrap_or(step));
        match first.and_then(|first| self.bases.calls.get(&first)) {
            Some(call) => format!("{place} `{}`", call.text),
            None => format!("{place} `{}`", object.text(program, location.unwrap_or("?"))),
        }
    }

    /// The operations, each with its transaction.
    fn operations(&self) -> Vec<OperationInfo> {
        let mut operations = timeline::operations(self.parts.program, self.parts.execution, self.told);
        for operation in &mut operations {
            operation.transaction = operation.first.checked_sub(1).and_then(|step| self.blocks.name(step));
        }
        operations
    }

    /// The locations that stand for nothing in the source.
    fn helpers(&self) -> Vec<String> {
        let program = self.parts.program;
        program.told.helpers.iter().map(|(helper, _)| program.location(*helper).name.clone()).collect()
    }

    fn source(&self, thread: ThreadId, source: Source) -> ReadFrom {
        match source {
            Source::Initial => ReadFrom::Initial,
            Source::Step(at) => ReadFrom::Step { n: at + 1 },
            Source::Forwarded { index, instr } => {
                let span = self.parts.program.instr(thread, instr).span;
                {
                    let line = self.lines.told(span);
                    ReadFrom::Forwarded { po: index, line: line.number, used: line.used }
                }
            }
        }
    }

    fn thread(&self, thread: ThreadId) -> ThreadInfo {
        let declared = self.parts.program.thread(thread);
        let values = &self.parts.replayed.registers[thread.index()];
        ThreadInfo {
            name: declared.name.clone(),
            choices: self.parts.execution.choices.get(thread.index()).cloned().unwrap_or_default(),
            commands: transactions::commands(self.parts, thread),
            end: self.end(thread),
            registers: told_registers(self.parts.program, thread, values),
        }
    }

    fn end(&self, thread: ThreadId) -> End {
        let waits = match self.parts.violation {
            Some(Violation::Deadlock { blocked }) => blocked.iter().find(|b| b.thread == thread),
            _ => None,
        };
        let at = |instr: InstrId| {
            let span = self.parts.program.instr(thread, instr).span;
            let (line, column) = self.lines.position(span);
            let label = self.parts.program.told.label(self.parts.program, thread, instr).map(str::to_owned);
            (line, column, self.lines.text(span), label)
        };
        match (waits, self.parts.replayed.ends[thread.index()]) {
            (Some(blocked), _) => {
                let (line, column, text, label) = at(blocked.instr);
                End::Waiting { line, column, text, label }
            }
            (None, ThreadEnd::Done) => End::Done,
            (None, ThreadEnd::At(instr)) => {
                let (line, column, text, label) = at(instr);
                End::At { line, column, text, label }
            }
        }
    }

    fn initial(&self) -> Vec<NamedValue> {
        let program = self.parts.program;
        let objects = program.locations.iter().filter(|location| !matches!(location.ty, Ty::Gap | Ty::Witness));
        objects.map(|l| explain::named(program, &l.name, l.ty, Some(l.init))).collect()
    }

    fn memory(&self) -> Vec<NamedValue> {
        let locations = self.parts.program.locations.iter().zip(&self.parts.replayed.memory);
        let objects = locations.filter(|(location, _)| !matches!(location.ty, Ty::Gap | Ty::Witness));
        objects.map(|(l, value)| explain::named(self.parts.program, &l.name, l.ty, Some(*value))).collect()
    }

    /// `None` for a violation that no execution can show.
    fn violation(&self, violation: &Violation) -> Option<ViolationInfo> {
        let name = |thread: ThreadId| self.parts.program.thread(thread).name.clone();
        Some(match violation {
            Violation::Assertion { thread, instr } => {
                ViolationInfo::Assertion { thread: name(*thread), instr: instr.0 }
            }
            Violation::Error { thread, instr, error } => {
                ViolationInfo::Error { thread: name(*thread), instr: instr.0, error: *error }
            }
            Violation::AtomicDiverges { thread, instr } => {
                ViolationInfo::Divergence { thread: name(*thread), instr: instr.0 }
            }
            Violation::Deadlock { blocked } => ViolationInfo::Deadlock {
                blocked: blocked.iter().map(|b| BlockedInfo { thread: name(b.thread), instr: b.instr.0 }).collect(),
            },
            Violation::Transactions => ViolationInfo::Cycle,
            Violation::Structure { missing } => ViolationInfo::Structure {
                missing: missing.as_ref().map(|events| events.iter().map(ToString::to_string).collect()),
            },
            Violation::Blocks => ViolationInfo::Atomicity,
            Violation::Lasso(lasso) => ViolationInfo::Lasso(crate::lasso::record(self.parts.program, lasso)),
            Violation::Observation { outcome } => ViolationInfo::Observation { outcome: outcome.clone() },
            Violation::FinalState => ViolationInfo::FinalState,
            Violation::Invariant { standing } => ViolationInfo::Invariant {
                standing: standing
                    .iter()
                    .zip(self.parts.program.thread_ids())
                    .map(|((issued, instr), thread)| PositionInfo {
                        thread: name(thread),
                        issued: *issued,
                        instr: instr.0,
                    })
                    .collect(),
            },
            Violation::Race { first, second } => {
                let end = |racing: &Racing| RaceEnd {
                    thread: name(racing.thread),
                    instr: racing.instr.0,
                    step: racing.step + 1,
                };
                ViolationInfo::Race { first: end(first), second: end(second) }
            }
            Violation::NoWitness => return None,
        })
    }
}
