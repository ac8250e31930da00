//! Accesses of a thread, and what becomes of the registers that they write.
//!
//! **Invariant:** an access that is performed has its events, and each of these knows what it was computed from.

use cyrano_ir::guards::header_tags;
use cyrano_ir::{Access, AccessKind, Addr, Change, EvalError, InstrId, LocId, Tags, Ty};
use cyrano_memory::cat::What;

use super::{Event, Half, Need, Performed, Run, Status};
use crate::relational::taint::Sources;

/// How an access reads a value, where there is more than one way.
///
/// A compare-and-swap that succeeds leaves in its register what was there before, which is also what memory held: an implementation may take either (Arm's
/// manual, and herd's `aarch64_cas_ok`). If it keeps what it compared with, that is what the register depends on directly, and what was read only decides that it
/// may be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::relational) enum Reading {
    /// The register gets what was read.
    Plain,
    /// A compare-and-swap that succeeds keeps its register.
    Keeping,
    /// A compare-and-swap succeeds whatever it finds.
    Forced,
}

impl<'p> Run<'p> {
    /// Read-modify-writes and what is in an atomic section synchronise threads, marked or not.
    fn tags(&self, loc: LocId, tags: Tags, rmw: bool) -> Tags {
        match self.program.location(loc).ty {
            Ty::Header => header_tags(if rmw { AccessKind::Rmw } else { AccessKind::Store }),
            _ if rmw || self.section.is_some() => tags | Tags::SYNC,
            _ => tags,
        }
    }

    /// Performs a plain store; everything else needs something. What an access is computed from goes wrong before it is performed, whatever it would find.
    pub(super) fn access(&mut self, access: &'p Access) -> Result<Option<Need<'p>>, EvalError> {
        let loc = access.addr.location(self.program, &*self.registers)?;
        access.dst.as_ref().map(|dst| dst.register(&*self.registers)).transpose()?;
        access.operands().into_iter().try_for_each(|operand| operand.value(&*self.registers).map(drop))?;
        let exclusive = access.tags.contains(Tags::EXCLUSIVE);
        if access.kind != AccessKind::Store {
            return Ok(Some(Need::Read(access, loc)));
        }
        if exclusive {
            return Ok(Some(Need::Success(access, loc)));
        }
        if self.accesses.len() >= self.most {
            return Ok(Some(Need::End(Status::Stopped)));
        }
        self.write(access, loc, None)?;
        Ok(None)
    }

    /// The write of a store, which may be the second half of a read-modify-write; goes on with the next instruction.
    fn write(&mut self, access: &Access, loc: LocId, exclusive: Option<usize>) -> Result<(), EvalError> {
        let (value, data) = match access.set() {
            Some(set) => (set.value(&*self.registers)?, self.taint(set)),
            None => unreachable!("a store sets a value"),
        };
        let amo = self.section.as_ref().and_then(|section| section.read);
        let mut event = self.event(What::Write, Some(loc), self.tags(loc, access.tags, false));
        event.value = value;
        event.addr = self.address(access);
        event.data = data;
        event.rmw = amo.is_some();
        event.half = exclusive.map(Half::Exclusive).or(amo.map(Half::Amo));
        self.forget_amo(&mut event, amo);
        let number = self.push(event);
        let kind = AccessKind::Store;
        self.accesses.push(Performed { instr: self.pc, kind, loc, read: None, write: Some(number), kept: false });
        self.pc = InstrId(self.pc.0 + 1);
        Ok(())
    }

    /// Within one instruction nothing depends on anything.
    fn forget_amo(&self, event: &mut Event, read: Option<usize>) {
        if let Some(read) = read {
            event.addr.remove(read);
            event.data.remove(read);
            event.ctrl.remove(read);
        }
    }

    fn push(&mut self, mut event: Event) -> usize {
        event.access = Some(self.accesses.len());
        self.events.push(event);
        self.events.len() - 1
    }

    fn address(&self, access: &Access) -> Sources {
        match &access.addr {
            Addr::Fixed(_) => Sources::default(),
            Addr::Indexed { index, .. } => self.taint(index),
        }
    }

    /// The ways to read this value that are worth trying; only a model that tells `picks` apart sees the difference.
    pub(in crate::relational) fn readings(&self, access: &Access, value: i128, picks: bool) -> &'static [Reading] {
        let Some(Change::Cas { expected, .. }) = &access.change else { return &[Reading::Plain] };
        let same = expected.value(&*self.registers) == Ok(value);
        match (picks && same && access.dst.is_some(), self.taint(expected).all.is_empty()) {
            (false, _) => &[Reading::Plain],
            // What depends on nothing cannot order more than what was read.
            (true, true) => &[Reading::Keeping],
            (true, false) => &[Reading::Keeping, Reading::Plain],
        }
    }

    /// Completes a read: of a load, or of a read-modify-write together with its write.
    pub(in crate::relational) fn read(
        &mut self,
        access: &'p Access,
        loc: LocId,
        value: i128,
        reading: Reading,
    ) -> Result<(), EvalError> {
        let mut sources = Sources::default();
        let register = access.dst.as_ref().map(|dst| self.destination(dst, &mut sources)).transpose()?;
        let written = match &access.change {
            Some(Change::Cas { new, .. }) if reading == Reading::Forced => new.value(&*self.registers).map(Some),
            Some(change) => change.apply(value, |operand| operand.value(&*self.registers)),
            None => Ok(None),
        };
        // What cannot be added to what is there goes wrong after it has been read.
        let (written, error) = (written.unwrap_or(None), written.err());
        let failed = access.failed.filter(|_| written.is_none());
        let tags = self.tags(loc, failed.unwrap_or(access.tags), access.kind == AccessKind::Rmw);
        let mut event = self.event(What::Read, Some(loc), tags);
        event.value = value;
        event.addr = self.address(access);
        event.rmw = access.kind == AccessKind::Rmw || self.section.as_ref().is_some_and(|section| section.updates);
        if let Some(Change::Cas { expected, .. }) = &access.change {
            event.compared = self.taint(expected).all;
        }
        let read = self.push(event);
        let write = written.map(|written| self.write_half(access, loc, written, read));
        let kind = access.kind;
        let kept = reading == Reading::Keeping && write.is_some();
        self.accesses.push(Performed { instr: self.pc, kind, loc, read: Some(read), write, kept });
        if let Some(error) = error {
            return Err(error);
        }
        if let Some(register) = register {
            match &access.change {
                Some(Change::Cas { expected, .. }) if kept => {
                    sources.absorb(&self.taint(expected));
                    sources.all.insert(read);
                }
                _ => sources.insert(read),
            }
            self.set(register, value, sources);
        }
        if let Some(section) = &mut self.section {
            section.read = Some(read);
        }
        if access.tags.contains(Tags::EXCLUSIVE) {
            self.exclusive = Some(read);
        }
        self.pc = InstrId(self.pc.0 + 1);
        Ok(())
    }

    fn write_half(&mut self, access: &Access, loc: LocId, value: i128, read: usize) -> usize {
        let mut event = self.event(What::Write, Some(loc), self.tags(loc, access.tags, true));
        event.value = value;
        event.addr = self.address(access);
        event.data = match &access.change {
            Some(Change::Set(operand) | Change::Add(operand) | Change::Cas { new: operand, .. }) => self.taint(operand),
            None => Sources::default(),
        };
        event.rmw = true;
        event.half = Some(Half::Amo(read));
        self.push(event)
    }

    /// Whether a store-exclusive to this location can succeed: the last exclusive access was a load of it.
    pub(in crate::relational) fn is_reserved(&self, loc: LocId) -> bool {
        self.exclusive.is_some_and(|read| self.events[read].loc == Some(loc))
    }

    /// Completes a store-exclusive.
    pub(in crate::relational) fn store_exclusive(
        &mut self,
        access: &Access,
        loc: LocId,
        succeeds: bool,
    ) -> Result<(), EvalError> {
        let mut sources = Sources::default();
        let register = access.dst.as_ref().map(|dst| self.destination(dst, &mut sources)).transpose()?;
        let reserved = self.exclusive.take();
        if succeeds {
            let number = self.events.len();
            self.write(access, loc, reserved)?;
            if access.tags.contains(Tags::SUCCESS) {
                sources.insert(number);
            }
        } else {
            let kind = AccessKind::Store;
            self.accesses.push(Performed { instr: self.pc, kind, loc, read: None, write: None, kept: false });
            self.pc = InstrId(self.pc.0 + 1);
        }
        if let Some(register) = register {
            self.set(register, i128::from(!succeeds), sources);
        }
        Ok(())
    }
}
