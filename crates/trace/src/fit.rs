//! Does a recorded execution still fit a program that has changed since, and if not, where does it end to?
//!
//! Each thread of the changed program is run with the recorded choices and the values that its loads returned. The first step, in memory
//! order, whose thread now issues another access in its place is the first that does not fit. Whether what fits is still allowed
//! by the memory model and still wrong is for the reference interpreter to say.

use cyrano_engine::{Execution, Violation};
use cyrano_ir::{InstrId, Op, Program, ThreadId};
use serde::Serialize;

use crate::explain;
use crate::lines::{Line, Lines};
use crate::rerun::{self, Issued};
use crate::restore::TraceError;
use crate::schema::{Step, Trace};

/// What no longer fits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Misfit {
    /// The first step that does not fit, if it is a step.
    pub step: Option<usize>,
    /// The thread, if it is about one.
    pub thread: Option<String>,
    /// The line that was recorded.
    pub line_recorded: Option<usize>,
    /// The line in the program as it is now.
    pub line_now: Option<usize>,
    /// What was recorded.
    pub expected: Option<String>,
    /// What is there now.
    pub found: Option<String>,
    /// All of it in a sentence.
    pub sentence: String,
}

impl Misfit {
    /// One that has only words.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }
}

/// A program with its text.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The program.
    pub program: &'a Program,
    /// The text that it was compiled from.
    pub source: &'a str,
}

impl Trace {
    /// The threads that the changed program lacks or has in addition.
    pub fn misfit_of_threads(&self, program: &Program) -> Option<Misfit> {
        let recorded: Vec<&str> = self.threads.iter().map(|thread| thread.name.as_str()).collect();
        let now: Vec<&str> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
        if recorded == now {
            return None;
        }
        let (expected, found) = (recorded.join(", "), now.join(", "));
        let sentence = format!("the recorded threads are {expected}; the program now has {found}");
        Some(Misfit { expected: Some(expected), found: Some(found), ..Misfit::new(sentence) })
    }

    /// The first step that the changed program does not take.
    pub fn misfit_of_steps(&self, execution: &Execution, now: Version<'_>) -> Option<Misfit> {
        let lines = Lines::new(now.source);
        let issued: Vec<Vec<Issued>> =
            now.program.thread_ids().map(|thread| rerun::issued(now.program, execution, thread)).collect();
        self.steps.iter().zip(&execution.order).find_map(|(step, access)| {
            let own = issued.get(access.thread.index())?;
            let told = Told { step, now, lines: &lines, thread: access.thread };
            match own.get(access.index as usize) {
                Some(issued) => told.differs(issued),
                None => Some(told.missing(own)),
            }
        })
    }

    /// Where a step's access stands in the changed program.
    pub fn line_now(&self, execution: &Execution, step: usize, now: Version<'_>) -> Option<usize> {
        let access = execution.order.get(step.checked_sub(1)?)?;
        let issued = rerun::issued(now.program, execution, access.thread);
        let issued = issued.get(access.index as usize)?;
        Some(Lines::new(now.source).line(now.program.instr(access.thread, issued.instr).span))
    }

    /// The recorded violation in terms of the changed program: statements are found again by what they say.
    pub fn carry_over(
        &self,
        then: Version<'_>,
        now: Version<'_>,
    ) -> Result<Result<Option<Violation>, Box<Misfit>>, TraceError> {
        let mut violation = self.find_violation(then.program)?;
        let places: Vec<(ThreadId, &mut InstrId)> = match &mut violation {
            Some(
                Violation::Assertion { thread, instr }
                | Violation::Error { thread, instr, .. }
                | Violation::AtomicDiverges { thread, instr },
            ) => vec![(*thread, instr)],
            Some(Violation::Deadlock { blocked }) => blocked.iter_mut().map(|b| (b.thread, &mut b.instr)).collect(),
            _ => Vec::new(),
        };
        for (thread, instr) in places {
            match find(thread, *instr, then, now) {
                Ok(found) => *instr = found,
                Err(misfit) => return Ok(Err(misfit)),
            }
        }
        Ok(Ok(violation))
    }
}

/// The instruction of the same kind with the same text: of several, the one with as many such ones before it.
fn find(thread: ThreadId, instr: InstrId, then: Version<'_>, now: Version<'_>) -> Result<InstrId, Box<Misfit>> {
    let same = |version: Version<'_>, wanted: (&Op, &str)| -> Vec<InstrId> {
        let lines = Lines::new(version.source);
        let code = version.program.thread(thread).code.iter().enumerate();
        let kind = std::mem::discriminant(wanted.0);
        let alike = code.filter(|(_, i)| std::mem::discriminant(&i.op) == kind && lines.text(i.span) == wanted.1);
        alike.filter_map(|(at, _)| u32::try_from(at).ok().map(InstrId)).collect()
    };
    let old = then.program.instr(thread, instr);
    let lines = Lines::new(then.source);
    let text = lines.text(old.span);
    let number = same(then, (&old.op, &text)).iter().position(|other| *other == instr).unwrap_or(0);
    let found = same(now, (&old.op, &text));
    found.get(number).or_else(|| found.last()).copied().ok_or_else(|| {
        let (line, name) = (lines.told(old.span), &then.program.thread(thread).name);
        Box::new(Misfit {
            thread: Some(name.clone()),
            line_recorded: Some(line.number),
            expected: Some(text.clone()),
            ..Misfit::new(format!("the statement in which it goes wrong, line {line}'s `{text}` of {name}, is gone"))
        })
    })
}

/// One step against the changed program.
struct Told<'a> {
    step: &'a Step,
    now: Version<'a>,
    lines: &'a Lines<'a>,
    thread: ThreadId,
}

impl Told<'_> {
    fn differs(&self, issued: &Issued) -> Option<Misfit> {
        let Self { step, now, .. } = self;
        let instr = now.program.instr(self.thread, issued.instr);
        let kind = instr.op.event_kind().map_or("", |kind| kind.noun());
        let location = issued.loc.map(|loc| now.program.location(loc).name.as_str());
        let elsewhere = issued.loc.is_some() && location != step.location.as_deref();
        let other_event =
            matches!((&instr.op, &step.event), (Op::Transaction(event), Some(name)) if event.name() != name);
        if kind != step.kind || elsewhere || other_event {
            let text = self.lines.text(instr.span);
            let access =
                instr.op.event_kind().map(|kind| explain::access(&self.line(issued), kind, &instr.op, location));
            return Some(self.misfit(Some(issued), format!("{} (`{text}`)", access.unwrap_or_default())));
        }
        match (step.written, issued.written) {
            (Some(then), Some(value)) if then != value && step.kind == "store" => {
                let (text, location) = (self.lines.text(instr.span), location.unwrap_or_default());
                let found =
                    format!("line {}'s store of {location} (`{text}`), which writes {value}", self.line(issued));
                Some(self.misfit(Some(issued), found))
            }
            _ => None,
        }
    }

    fn missing(&self, own: &[Issued]) -> Misfit {
        let name = &self.step.thread;
        let found = match own.last() {
            None => format!("{name} accesses nothing"),
            Some(last) => format!("{name} gets no further than line {}", self.line(last)),
        };
        self.misfit(None, found)
    }

    fn misfit(&self, issued: Option<&Issued>, found: String) -> Misfit {
        let step = self.step;
        let location = step.location.as_ref().map(|location| format!(" of {location}")).unwrap_or_default();
        let kind = step.event.as_ref().unwrap_or(&step.kind);
        let value = step.written.filter(|_| step.kind == "store").map(|value| format!(", which wrote {value}"));
        let expected = format!("line {}'s {kind}{location} (`{}`){}", step.line, step.text, value.unwrap_or_default());
        Misfit {
            step: Some(step.n),
            thread: Some(step.thread.clone()),
            line_recorded: Some(step.line),
            line_now: issued.map(|issued| self.line(issued).number),
            sentence: format!("step {} of {} was {expected}; now it is {found}", step.n, step.thread),
            expected: Some(expected),
            found: Some(found),
        }
    }

    fn line(&self, issued: &Issued) -> Line {
        self.lines.told(self.now.program.instr(self.thread, issued.instr).span)
    }
}
