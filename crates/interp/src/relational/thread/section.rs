//! Atomic sections of a thread: where it is in one, where it waits at one.
//!
//! **Invariant:** a section that waits has done nothing.

use cyrano_ir::{AccessKind, InstrId, Op};

use super::{Need, Reading, Run, Status};

/// The atomic section that a thread is in.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// How many events and accesses there were before it.
    pub(super) events: usize,
    pub(super) accesses: usize,
    /// Whether it may write as well as read.
    pub(super) updates: bool,
    pub(super) read: Option<usize>,
    beginning: Box<Beginning>,
}

/// Where a section begins, and the registers there.
#[derive(Clone, Debug)]
pub(in crate::relational) struct Beginning {
    pub(in crate::relational) instr: InstrId,
    registers: Vec<i128>,
}

impl Run<'_> {
    pub(super) fn enter_section(&mut self) {
        let stores = |_, op: &Op| op.access_kind().is_some_and(AccessKind::writes);
        let updates = self.program.thread(self.thread).section_has(self.pc, stores);
        let (events, accesses) = (self.events.len(), self.accesses.len());
        let beginning = Box::new(Beginning { instr: self.pc, registers: self.registers.clone() });
        self.section = Some(Section { events, accesses, updates, read: None, beginning });
        self.sections += 1;
    }

    /// A section that waits has done nothing.
    pub(super) fn leave_section(&mut self) {
        if let Some(section) = self.section.take() {
            self.events.truncate(section.events);
            self.accesses.truncate(section.accesses);
            self.waits = Some(section.beginning);
        }
    }

    /// The beginning of a section that it waits at, or in which it has done nothing.
    pub(in crate::relational) fn stands_at(&self) -> Option<&Beginning> {
        let untouched = self.section.as_ref().filter(|section| section.events == self.events.len());
        self.waits.as_deref().or(untouched.map(|section| &*section.beginning))
    }

    /// Whether it waits at a section again if it goes on from its beginning and finds this in memory, whatever it chooses.
    pub(in crate::relational) fn waits_again(&self, at: &Beginning, memory: &[i128]) -> bool {
        let mut again = self.clone();
        (again.pc, again.waits, again.section, again.sections) = (at.instr, None, None, 0);
        again.most = usize::MAX;
        again.registers.clone_from(&at.registers);
        let mut todo = vec![again];
        while let Some(mut run) = todo.pop() {
            let need = run.proceed(false);
            if run.sections != 1 || run.section.is_none() && run.waits.is_none() {
                return false;
            }
            match need {
                Need::End(Status::Dropped) => {}
                Need::Read(access, loc) if run.read(access, loc, memory[loc.index()], Reading::Plain).is_ok() => {
                    todo.push(run)
                }
                Need::Choice(from) => {
                    let mut chosen = vec![run; from.len()];
                    if !chosen.iter_mut().zip(from).all(|(run, value)| run.choose(*value).is_ok()) {
                        return false;
                    }
                    todo.extend(chosen);
                }
                _ => return false,
            }
        }
        true
    }
}
