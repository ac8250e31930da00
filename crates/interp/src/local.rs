//! All traces of one thread whose loads return candidate values.
//!
//! **Invariant:** every execution whose reads return candidate values is a combination of these traces, except that a
//! loop is followed only so often ([`Limits::iterations`](cyrano_engine::Limits)); where that cuts a path off, its trace says `Stopped`.
//!
//! Within a unit of axiom 6 only the first access to a location is free: the unit is consecutive in memory order and in program
//! order, so a later read returns what the unit itself read or wrote there.

use cyrano_engine::Stop;
use cyrano_ir::{InstrId, LocId, Op};

use crate::machine::stepped::{Request, Step};
use crate::machine::{Code, Machine, SECTION_LIMIT};
use crate::meter::Meter;
use crate::order::Written;
use crate::trace::{Status, Trace};
use crate::values::Candidates;

/// No thread of a program within this engine's means has more accesses in one execution.
pub(crate) const EVENT_LIMIT: usize = 64;

/// A thread that runs this long is stopped like one that jumps back too often.
pub(crate) const INSTRUCTION_LIMIT: usize = 100_000;

/// How branches are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paths {
    /// As their conditions say.
    Real,
    /// Both ways, past every `assume` and `limit`, and every compare-and-swap may succeed: for finding values that a path might write.
    Any,
}

/// A point on a path, from which the rest is still to be followed.
#[derive(Clone)]
struct Point<'p> {
    machine: Machine<'p>,
    /// How often each instruction has jumped back.
    jumps: Vec<(InstrId, usize)>,
    instructions: usize,
    /// The machine before the current section, and the instruction count there.
    section: Option<(Box<Machine<'p>>, usize)>,
    /// The unit that `touched` is about.
    unit: Option<u32>,
    /// What the current unit last read or wrote.
    touched: Vec<(LocId, i128)>,
}

/// Follows all paths of one thread.
pub(crate) struct Local<'a, 'p> {
    candidates: &'a Candidates,
    paths: Paths,
    iterations: usize,
    meter: &'a mut Meter<'p>,
    todo: Vec<Point<'p>>,
    traces: Vec<Trace<'p>>,
}

/// All traces of a thread.
pub(crate) fn traces<'p>(
    code: Code<'p>,
    candidates: &Candidates,
    paths: Paths,
    meter: &mut Meter<'p>,
) -> Result<Vec<Trace<'p>>, Stop> {
    let start = Point {
        machine: Machine::new(code),
        jumps: Vec::new(),
        instructions: 0,
        section: None,
        unit: None,
        touched: Vec::new(),
    };
    let iterations = meter.limits.iterations;
    let mut local = Local { candidates, paths, iterations, meter, todo: vec![start], traces: Vec::new() };
    while let Some(point) = local.todo.pop() {
        local.follow(point)?;
    }
    Ok(local.traces)
}

impl<'p> Local<'_, 'p> {
    /// Follows one path to its end; at a fork the other ways are put on the list.
    fn follow(&mut self, mut point: Point<'p>) -> Result<(), Stop> {
        loop {
            self.meter.tick()?;
            point.instructions += 1;
            if point.instructions > INSTRUCTION_LIMIT {
                return self.end(point.machine, Status::Stopped);
            }
            if self.paths == Paths::Real && point.machine.may_pause() {
                self.end(point.machine.clone(), Status::Paused)?;
            }
            if point.machine.at_section() {
                self.enter_section(&mut point)?;
            }
            if let Some((before, since)) = &point.section
                && point.instructions - since > SECTION_LIMIT
            {
                return self.keep(Trace::diverging((**before).clone(), point.machine));
            }
            let step = match self.forks(&mut point) {
                Some(step) => step,
                None => point.machine.step(),
            };
            if !self.after(&mut point, step)? {
                return Ok(());
            }
            if !point.machine.in_section() {
                point.section = None;
                if point.machine.events.len() > EVENT_LIMIT {
                    return Err(Stop::Size);
                }
            }
        }
    }

    /// Deals with what a step brought; false at the end of the path.
    fn after(&mut self, point: &mut Point<'p>, step: Step<'p>) -> Result<bool, Stop> {
        let status = match step {
            Step::Local => return Ok(true),
            Step::Stored => {
                point.note_last();
                return Ok(true);
            }
            Step::Read(request) => {
                self.read(point, request);
                return Ok(true);
            }
            Step::Choose(from) => match self.choose(point, from) {
                Step::Failed(error) => Status::Failed(point.machine.pc, error),
                _ => return Ok(true),
            },
            Step::Back(from) => {
                if self.may_jump_back(point, from) {
                    return Ok(true);
                }
                Status::Stopped
            }
            // A path through a section whose `assume` fails is no path: the thread waits before the section.
            Step::Refused if point.machine.in_section() => return Ok(false),
            Step::Refused => Status::Dropped,
            Step::Limited => return self.limited(point).map(|()| false),
            Step::Failed(error) => Status::Failed(point.machine.pc, error),
            Step::Halted => Status::Done,
            Step::Missing => unreachable!("every value is given when traces are enumerated"),
        };
        let machine = point.machine.clone();
        self.end(machine, status).map(|()| false)
    }

    /// The path ends at a `limit`.
    fn limited(&mut self, point: &mut Point<'p>) -> Result<(), Stop> {
        let machine = point.machine.clone();
        if let Some((before, _)) = point.section.take() {
            return self.keep(Trace::limited(*before, machine));
        }
        let status = Status::Limited { instr: machine.pc, cut: machine.events.len() };
        self.end(machine, status)
    }

    fn end(&mut self, machine: Machine<'p>, status: Status) -> Result<(), Stop> {
        self.keep(Trace::new(machine, status))
    }

    fn keep(&mut self, trace: Trace<'p>) -> Result<(), Stop> {
        self.meter.bytes += trace.bytes();
        self.traces.push(trace);
        self.meter.tick()
    }

    /// Before a section that may have to wait, waiting is one way on.
    fn enter_section(&mut self, point: &mut Point<'p>) -> Result<(), Stop> {
        let machine = &point.machine;
        point.section = Some((Box::new(machine.clone()), point.instructions));
        if self.paths == Paths::Real && machine.code.thread().section_may_wait(machine.pc) {
            self.end(machine.clone(), Status::Waiting(machine.pc))?;
        }
        Ok(())
    }

    /// Takes both ways where conditions do not count.
    fn forks(&mut self, point: &mut Point<'p>) -> Option<Step<'p>> {
        if self.paths == Paths::Real {
            return None;
        }
        let machine = &mut point.machine;
        match machine.op() {
            Op::Assume(_) | Op::Limit { .. } => Some(machine.go(InstrId(machine.pc.0 + 1))),
            Op::Branch { then_to, else_to, .. } => {
                let mut other = point.clone();
                let step = other.machine.go(*else_to);
                let goes_on = !matches!(step, Step::Back(from) if !self.may_jump_back(&mut other, from));
                if goes_on {
                    self.todo.push(other);
                }
                Some(point.machine.go(*then_to))
            }
            _ => None,
        }
    }

    /// Counts a jump back. Sections that follow real paths are bounded by their length alone.
    fn may_jump_back(&mut self, point: &mut Point<'p>, from: InstrId) -> bool {
        if point.machine.in_section() && self.paths == Paths::Real {
            return true;
        }
        let found = point.jumps.iter().position(|(instr, _)| *instr == from);
        let at = found.unwrap_or_else(|| {
            point.jumps.push((from, 0));
            point.jumps.len() - 1
        });
        point.jumps[at].1 += 1;
        let allowed = point.jumps[at].1 <= self.iterations;
        if !allowed && point.machine.in_section() {
            self.meter.clipped = true;
        }
        allowed
    }

    fn read(&mut self, point: &mut Point<'p>, request: Request) {
        if let Some(value) = point.determined(request.loc).filter(|_| self.paths == Paths::Real) {
            point.read(request, value);
            return;
        }
        let mut values = self.candidates.of(&point.machine, request.loc);
        if self.paths == Paths::Any {
            values.extend(point.machine.expected().filter(|value| !values.contains(value)));
        }
        let (first, others) = values.split_first().expect("a location always has a value");
        for value in others {
            let mut other = point.clone();
            other.read(request.clone(), *value);
            self.todo.push(other);
        }
        point.read(request, *first);
    }

    fn choose(&mut self, point: &mut Point<'p>, from: &[i128]) -> Step<'p> {
        let (first, others) = from.split_first().expect("a choice has at least one value");
        for (at, value) in others.iter().enumerate() {
            let mut other = point.clone();
            let repeated = from[..=at].contains(value);
            if !repeated && matches!(other.machine.choose(*value), Step::Local) {
                self.todo.push(other);
            }
        }
        point.machine.choose(*first)
    }
}

impl Point<'_> {
    /// What the current unit left in this location, if it touched it.
    fn determined(&mut self, loc: LocId) -> Option<i128> {
        let unit = self.machine.unit()?;
        if self.unit != Some(unit) {
            self.unit = Some(unit);
            self.touched.clear();
        }
        let touched = self.touched.iter().rev().find(|(touched, _)| *touched == loc);
        touched.map(|(_, value)| *value)
    }

    fn read(&mut self, request: Request, value: i128) {
        self.machine.read(request, Some(value));
        self.note_last();
    }

    /// Notes what the last event leaves in its location, as far as its unit is concerned.
    fn note_last(&mut self) {
        let event = self.machine.events.last().expect("called after an access");
        let (loc, value) = match event.written {
            Written::Value(value) => (event.loc, value),
            _ => (event.loc, event.read.expect("an access that writes nothing reads")),
        };
        if event.unit.is_none() {
            return;
        }
        if self.unit != event.unit {
            self.unit = event.unit;
            self.touched.clear();
        }
        self.touched.retain(|(touched, _)| *touched != loc);
        self.touched.push((loc, value));
    }
}
