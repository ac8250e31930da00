//! Breadth-first search: the first violation found has the fewest steps.

use std::collections::BTreeSet;
use std::time::Instant;

use cyrano_engine::values::Calls;
use cyrano_engine::{Blocked, Limits, Progress, Stats, Stop, Violation, Watch};
use cyrano_ir::{InstrId, LocId, Op, Program, Property, Quantifier, ThreadId, Ty};

use crate::faults::Fault;
use crate::machine::Machine;
use crate::state::State;
use crate::step::{Notes, Stepper, Successors};
use crate::table::{Batch, MAX_STATE, Record, Table};
use crate::values::Heard;

/// How often the limits are looked at, in expanded states.
const CHECK_EVERY: u64 = 1024;

/// What a search found out.
pub(crate) struct Found {
    pub stop: Option<Stop>,
    pub hit: Option<Hit>,
    /// Whether some execution runs to its end.
    pub ended: bool,
    pub outcomes: BTreeSet<Vec<i64>>,
    /// The calls of clients that went wrong, if they are told apart.
    pub clients: BTreeSet<Calls>,
    pub notes: Notes,
    pub stats: Stats,
    /// When a limit was reached: the location with the largest value in the last state, if that is suspiciously large.
    pub growing: Option<(LocId, i64)>,
}

/// Values beyond this one, and beyond every initial value, suggest that there is no end to them.
const SUSPICIOUS: u64 = 64;

/// The end of a path worth showing.
pub(crate) struct Hit {
    /// The records on the way there, from an initial state on.
    pub path: Vec<Vec<u8>>,
    /// What goes wrong; `None` for the witness of an `exists`.
    pub violation: Option<Violation>,
    /// Whether it goes wrong in a step from the last state of the path, or in that state.
    pub in_step: bool,
}

/// A search under way.
pub(crate) struct Search<'m, 'a> {
    m: &'m Machine<'m>,
    stepper: Stepper<'m>,
    property: Option<&'a Property>,
    table: Table,
    batch: Batch,
    successors: Successors,
    state: State,
    scratch: Vec<(cyrano_ir::dataflow::Class, i64)>,
    found: Found,
    expanded: u64,
    /// The smallest client that went wrong so far, where clients are told apart.
    smallest: Option<Calls>,
}

impl<'m, 'a> Search<'m, 'a> {
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>) -> Self {
        let found = Found {
            stop: None,
            hit: None,
            ended: false,
            outcomes: BTreeSet::new(),
            clients: BTreeSet::new(),
            notes: Notes::default(),
            stats: Stats::default(),
            growing: None,
        };
        Self {
            m,
            stepper: Stepper::new(m),
            property,
            table: Table::new(m.config.has_fault(Fault::ConfuseHashes)),
            batch: Batch::default(),
            successors: Successors::default(),
            state: m.initial(),
            scratch: Vec::new(),
            found,
            expanded: 0,
            smallest: None,
        }
    }

    /// Searches to the end, to a hit or to a limit.
    pub fn run(mut self, limits: &Limits, watch: &dyn Watch) -> Found {
        let started = Instant::now();
        self.seed();
        let mut record = (self.table.len() > 0).then(|| self.table.first());
        let mut level_end = self.table.end();
        while let Some(current) = record {
            if current >= level_end {
                self.found.stats.depth += 1;
                level_end = self.table.end();
            }
            let go_on = self.m.config.client_programs && self.m.values.is_some();
            if self.found.hit.is_some() && !go_on || self.limit(limits, watch) {
                break;
            }
            self.expand(current);
            record = self.table.next(current);
            if record.is_none_or(|next| next >= level_end) {
                self.table.insert(&mut self.batch);
                record = self.table.next(current);
            }
            self.expanded += 1;
        }
        if self.stepper.notes.too_large && self.found.hit.is_none() {
            self.found.stop = Some(Stop::Size);
        }
        if self.found.stop.is_some() {
            self.found.growing = self.growing();
        }
        self.found.notes = self.stepper.notes;
        self.found.stats.states = self.table.len();
        self.found.stats.peak_bytes = self.table.bytes();
        self.found.stats.seconds = started.elapsed().as_secs_f64();
        self.found
    }

    fn seed(&mut self) {
        let mut successors = std::mem::take(&mut self.successors);
        self.stepper.initial(&mut successors);
        self.collect(Record::NONE, &mut successors);
        self.successors = successors;
        self.table.insert(&mut self.batch);
    }

    fn limit(&mut self, limits: &Limits, watch: &dyn Watch) -> bool {
        if self.expanded.is_multiple_of(CHECK_EVERY) {
            let bytes = self.table.bytes();
            self.found.stop = limits.exceeded(bytes);
            watch.progress(Progress {
                states: self.table.len(),
                frontier: self.table.len().saturating_sub(self.expanded),
                depth: self.found.stats.depth,
                bytes,
            });
        }
        if self.stepper.notes.too_large {
            self.found.stop = Some(Stop::Size);
        }
        self.found.stop.is_some() || self.stepper.notes.gap_too_small
    }

    /// The location with the largest value in the state that was looked at last.
    fn growing(&self) -> Option<(LocId, i64)> {
        let locations = &self.m.program.locations;
        let usual = locations.iter().map(|l| l.init.unsigned_abs()).max().unwrap_or(0).max(SUSPICIOUS);
        let values = self.state.memory.iter().zip(locations).enumerate().filter(|(_, (_, l))| l.ty == Ty::Int);
        let (at, (value, _)) = values.max_by_key(|(_, (value, _))| value.unsigned_abs())?;
        (value.unsigned_abs() > usual).then(|| (LocId::new(at), *value))
    }

    fn expand(&mut self, record: Record) {
        let mut state = std::mem::take(&mut self.state);
        let mut successors = std::mem::take(&mut self.successors);
        self.m.decode(self.table.state(record), &mut state);
        self.stepper.successors(&state, &mut successors);
        if (0..self.m.threads.len()).all(|t| self.m.done(&state, t)) {
            self.final_state(record, &state);
        } else if successors.len() == 0 {
            self.stuck(record, &state);
        }
        self.collect(record, &mut successors);
        self.state = state;
        self.successors = successors;
    }

    /// Puts successors into the batch; one that went wrong is a hit or, if nobody asked, the end of its path.
    fn collect(&mut self, parent: Record, successors: &mut Successors) {
        for successor in successors.iter_mut().filter(|successor| !successor.dropped) {
            self.found.stats.transitions += 1;
            if let Some(violation) = &successor.event {
                let calls = successor.state.heard.as_ref().filter(|_| *violation == Violation::Transactions);
                if let Some(calls) = calls.filter(|_| self.m.config.client_programs).map(Heard::calls) {
                    let size = |calls: &Calls| calls.iter().map(Vec::len).sum::<usize>();
                    let better = |best: &Calls| (size(&calls), &calls) < (size(best), best);
                    if self.smallest.as_ref().is_none_or(better) {
                        self.found.hit = None;
                        self.smallest = Some(calls.clone());
                    }
                    self.found.clients.insert(calls);
                }
                if self.m.judge_assertions && self.found.hit.is_none() {
                    self.found.hit =
                        Some(Hit { path: self.path(parent), violation: Some(violation.clone()), in_step: true });
                }
                continue;
            }
            self.m.rank(&mut successor.state, &mut self.scratch);
            let length = self.batch.push(parent, |out| self.m.encode_canonical(&successor.state, out));
            if length > MAX_STATE {
                self.batch.pop();
                self.stepper.notes.too_large = true;
            }
            if self.batch.is_full() {
                self.table.insert(&mut self.batch);
            }
        }
    }

    fn final_state(&mut self, record: Record, state: &State) {
        self.found.ended = true;
        match self.property {
            None => {
                let observed = &self.m.program.observed;
                let outcome = observed.iter().map(|o| self.m.final_value(state, o.var)).collect();
                self.found.outcomes.insert(outcome);
            }
            Some(Property::Transactions(_)) => {
                let right = self.m.values.as_ref().is_none_or(|values| values.finishes(self.m, state));
                if !right && self.found.hit.is_none() {
                    let violation = Some(Violation::Transactions);
                    self.found.hit = Some(Hit { path: self.path(record), violation, in_step: false });
                }
            }
            Some(Property::Assertions | Property::Progress(_) | Property::CommitAtomicity) => {}
            Some(Property::Observations(allowed)) => {
                let observed = &self.m.program.observed;
                let outcome: Vec<i64> = observed.iter().map(|o| self.m.final_value(state, o.var)).collect();
                if !allowed.contains(&outcome) && self.found.hit.is_none() {
                    let violation = Some(Violation::Observation { outcome });
                    self.found.hit = Some(Hit { path: self.path(record), violation, in_step: false });
                }
            }
            Some(Property::Final { quantifier, cond, .. }) => {
                // A condition that has no value, by a division by zero say, is no witness and saves no claim.
                let holds = cond.eval(&mut |var| Ok(self.m.final_value(state, *var))).map(|value| value != 0);
                let (hit, violation) = match quantifier {
                    Quantifier::Exists => (holds == Ok(true), None),
                    Quantifier::Never => (holds != Ok(false), Some(Violation::FinalState)),
                    Quantifier::Always => (holds != Ok(true), Some(Violation::FinalState)),
                };
                if hit && self.found.hit.is_none() {
                    self.found.hit = Some(Hit { path: self.path(record), violation, in_step: false });
                }
            }
        }
    }

    /// No thread can go on: a deadlock if all of those that are not done wait at an atomic section.
    fn stuck(&mut self, record: Record, state: &State) {
        if self.m.shadows.is_some() {
            return;
        }
        let mut blocked = Vec::new();
        // Threads that have not started wait for the setup thread, which is the one that is blocked.
        let setup = self.m.unfinished_setup(state);
        let started = |t: &usize| setup.is_none_or(|setup| setup == *t);
        for thread in (0..self.m.threads.len()).filter(started).filter(|t| !self.m.done(state, *t)) {
            if self.m.own_order.is_some() {
                let Some(instr) = self.m.own_blocked(state, thread) else { return };
                blocked.push(Blocked { thread: ThreadId::new(thread), instr });
                continue;
            }
            let pc = state.threads[thread].pc;
            let waits = matches!(self.m.op(thread, pc), Op::AtomicBegin) && state.threads[thread].queue.is_empty();
            if !waits || self.opens(state, thread) {
                return;
            }
            blocked.push(Blocked { thread: ThreadId::new(thread), instr: InstrId(pc) });
        }
        let out_of_order = self.m.own_order.is_some() && !matches!(self.property, Some(Property::Assertions));
        if self.m.judge_assertions && self.found.hit.is_none() && !out_of_order {
            let violation = Some(Violation::Deadlock { blocked });
            self.found.hit = Some(Hit { path: self.path(record), violation, in_step: false });
        }
    }

    /// Whether a section would open if only its thread were allowed to step, which a serial model may forbid, or is shut by
    /// nothing but a `limit`.
    fn opens(&mut self, state: &State, thread: usize) -> bool {
        let mut out = Successors::default();
        let noted = self.stepper.notes.limited.take();
        self.stepper.section_now(state, thread, &mut out);
        let limited = self.stepper.notes.limited.is_some();
        self.stepper.notes.limited = noted.or(self.stepper.notes.limited);
        limited || out.len() > 0
    }

    /// The states on the way to a record, that one included.
    fn path(&self, record: Record) -> Vec<Vec<u8>> {
        let mut path = Vec::new();
        let mut current = record;
        while !current.is_none() {
            path.push(self.table.state(current).to_vec());
            current = self.table.parent(current);
        }
        path.reverse();
        path
    }
}

/// Whether a program can have a deadlock at all: only an `assume` in an atomic section waits.
pub(crate) fn can_wait(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut inside = false;
        thread.code.iter().any(|instr| {
            match instr.op {
                Op::AtomicBegin => inside = true,
                Op::AtomicEnd => inside = false,
                _ => {}
            }
            inside && matches!(instr.op, Op::Assume(_))
        })
    })
}
