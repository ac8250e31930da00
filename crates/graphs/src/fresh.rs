//! Objects that a thread makes for itself: nobody else knows of them until it publishes them, by writing a pointer to them somewhere.
//!
//! An object is *owned* by the thread whose code alone names it. Two things are known of it while it is not published, that is, while its owner has written no
//! pointer into it (a value that was read or named before is a pointer into an object if it is the number of a place in it).
//!
//! **Idle iterations.** What the owner writes there in a loop, and overwrites before it publishes anything or reads it again, is no change
//! ([`Fresh::is_dead`]): a push that links its own node to the top of a stack it has seen, and fails to swap it in, has done nothing.
//! *Argument.* As in [`crate::thread`], but for the writes that go with the iteration. The owner overwrites them before it can read them. Others come to the location after the
//! publication by `po | rf` only, which is looked at wherever somebody accesses it ([`Fresh::meets`]), and read what overwrote them or something later: under `sc` and `tso` what was written
//! before the publication is in memory with it, under `ra` it happens before the access. Under `rc11` it need not, but only writes that are not atomic are taken for dead,
//! and then what would have read a dead write races with the one that overwrote it (no reader synchronises with a write that is not atomic, so that what happens before it is the same). Where a race is flagged, the search
//! begins anew without all this. `pso` may publish before it writes, and has none of it.
//!
//! **Races.** Let everything that is written to an object by somebody else, or after its publication, or to what nobody owns, be *shared*, and be no access that is not atomic, nor
//! may such an access read it. Then two accesses race only if one is the owner's before the publication and the other one is somebody else's after it by `po | rf`. So a race is there as soon
//! as its later access is, and an execution that shows it need not go on after it. Hence a thread need not go on after an idle iteration to meet a race ([`crate::races`]), and one that waits behind an old write may be left if its last
//! read does not race itself ([`crate::stale`]). *Argument* for looking at what the search finds, to see that accesses are as they should be: take an execution in which a location has a shared write, and one in which it is read as it should not be.
//! What is before each of these accesses by `po | rf`, without idle iterations that it does not stand in, is part of an execution that is found. So both are seen, if not in one execution, and the
//! marks of locations ([`Fresh::mark`]) are kept from one execution to the next. A program with `assume` is left out: flags are raised by executions in which every thread ends or spins, and
//! what goes on after a race may come to an `assume` that does not hold.
//!
//! Where something is not as it should be the search begins anew without this.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use cyrano_ir::automorphisms::{Named, twins};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{Addr, FinalVar, InstrId, LocId, Op, Program, Tags, ThreadId, Ty, WORD};

use crate::faults::Fault;
use crate::graph::{Event, Graph, Kind};
use crate::races::is_plain;
use crate::rows::EventId;
use crate::run::Run;

/// A location that somebody writes after its publication, or to which it does not apply.
const SHARED: u8 = 1;
/// A location that somebody reads or writes then in a way that is not atomic.
const PLAIN: u8 = 2;

/// The most objects of a thread.
const MOST: usize = 64;

/// The owner of an object, and which of its objects it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Owner {
    thread: usize,
    object: u8,
}

/// What is known of the objects of a program.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// For each location the owner of its object.
    owners: Vec<Option<Owner>>,
    /// Whether races count.
    races: bool,
    marks: Vec<AtomicU8>,
    /// A bug that is there on purpose.
    fault: Option<Fault>,
}

impl Fresh {
    /// The objects of a program, if some are owned and nothing else is looked at in the end; under a model that knows races or under another one.
    pub(crate) fn new(program: &Program, shown: &[FinalVar], races: bool, fault: Option<Fault>) -> Option<Arc<Self>> {
        let words = program.locations.len();
        let whole = program.arrays.iter().all(|array| array.base.0 == 0 && array.len as usize == words);
        let has_gaps = program.locations.iter().any(|location| location.ty == Ty::Gap);
        let waits =
            || program.threads.iter().flat_map(|thread| &thread.code).any(|instr| matches!(instr.op, Op::Assume(_)));
        if !whole || !has_gaps || program.has_headers() || races && program.accesses().any(is_plain) && waits() {
            return None;
        }
        // Objects stand between gaps.
        let mut number = 0;
        let objects: Vec<usize> = program
            .locations
            .iter()
            .map(|location| {
                number += usize::from(location.ty == Ty::Gap);
                number
            })
            .collect();
        let object =
            |value: i128| usize::try_from(value.div_euclid(WORD)).ok().and_then(|word| objects.get(word).copied());
        // For each object who names it; somebody and nobody in particular if the last one does.
        let nobody = program.threads.len();
        let mut named: Vec<Vec<usize>> = vec![Vec::new(); number + 1];
        let mut name = |object: Option<usize>, thread| object.into_iter().for_each(|object| named[object].push(thread));
        let init = program.locations.iter().map(|location| location.init);
        if fault != Some(Fault::Strangers) {
            init.for_each(|value| name(object(value), nobody));
        }
        for var in shown {
            if let FinalVar::Loc(loc) = var {
                name(objects.get(loc.index()).copied(), nobody);
            }
        }
        for thread in program.thread_ids() {
            let code = program.thread(thread);
            code.registers.iter().for_each(|register| name(object(register.init), nobody));
            for (leaf, _) in code.code.iter().filter_map(|instr| twins(&instr.op, &instr.op)).flatten() {
                match leaf {
                    Named::Constant(value) => name(object(value), thread.index()),
                    Named::Location(loc) => name(objects.get(loc.index()).copied(), thread.index()),
                    Named::Register(_) | Named::Target(_) => {}
                }
            }
        }
        let mut owned = vec![0; nobody];
        let owners: Vec<Option<Owner>> = named
            .iter()
            .map(|by| {
                let thread =
                    by.first().copied().filter(|first| *first != nobody && by.iter().all(|other| other == first))?;
                owned[thread] += 1;
                (owned[thread] <= MOST).then(|| Owner { thread, object: owned[thread] as u8 - 1 })
            })
            .collect();
        let owners: Vec<Option<Owner>> = objects.iter().map(|object| owners[*object]).collect();
        let marks = (0..words).map(|_| AtomicU8::new(0)).collect();
        owners.iter().any(Option::is_some).then(|| Arc::new(Self { owners, races, marks, fault }))
    }

    fn owner(&self, loc: LocId) -> Option<Owner> {
        self.owners[loc.index()]
    }

    /// The object that a value points into.
    fn pointed(&self, value: i128) -> Option<Owner> {
        usize::try_from(value.div_euclid(WORD)).ok().and_then(|word| self.owners.get(word).copied().flatten())
    }

    /// What a thread has published once it has written this value, as a set of its objects.
    pub(crate) fn publishes(&self, thread: usize, value: i128) -> u64 {
        self.pointed(value).filter(|owner| owner.thread == thread).map_or(0, |owner| 1 << owner.object)
    }

    /// Whether a thread owns a location whose object is not among those that it has published.
    fn is_private(&self, thread: usize, published: u64, loc: LocId) -> bool {
        let published = if self.fault == Some(Fault::Unpublished) { 0 } else { published };
        self.owner(loc).is_some_and(|owner| owner.thread == thread && published >> owner.object & 1 == 0)
    }

    /// Whether a write of a thread is overwritten before anybody can read it, if it goes around a loop in which these are.
    pub(crate) fn is_dead(&self, (thread, published): (usize, u64), dead: &[LocId], loc: LocId, tags: Tags) -> bool {
        let synchronises = self.races && self.fault != Some(Fault::AtomicOwn) && tags.spoken().contains(Tags::ATOMIC);
        dead.contains(&loc) && self.is_private(thread, published, loc) && !synchronises
    }

    /// The locations of its own that a thread overwrites in any case before it reads them or publishes something, from these instructions on.
    pub(crate) fn dead_at(&self, program: &Program, thread: ThreadId, at: &[bool]) -> Vec<Box<[LocId]>> {
        let code = &program.thread(thread).code;
        let stored = |op: &Op| match op.access() {
            Some(access) if access.stored().is_some() => match access.addr {
                Addr::Fixed(loc) => {
                    Some(loc).filter(|loc| self.owner(*loc).is_some_and(|owner| owner.thread == thread.index()))
                }
                Addr::Indexed { .. } => None,
            },
            _ => None,
        };
        let mut own: Vec<LocId> = code.iter().filter_map(|instr| stored(&instr.op)).collect();
        own.sort_unstable();
        own.dedup();
        let all = vec![true; own.len()];
        let none = vec![false; own.len()];
        let mut needed = vec![none.clone(); code.len()];
        loop {
            let mut changed = false;
            for pc in (0..code.len()).rev() {
                let op = &code[pc].op;
                let mut later = none.clone();
                for next in successors(op, InstrId::new(pc)) {
                    later.iter_mut().zip(&needed[next.index()]).for_each(|(one, other)| *one |= other);
                }
                match (stored(op), op.access()) {
                    (Some(loc), _) => own
                        .iter()
                        .zip(&mut later)
                        .filter(|(own, _)| **own == loc)
                        .for_each(|(_, needed)| *needed = false),
                    (None, Some(access)) => match access.addr {
                        Addr::Fixed(_) if !access.kind.writes() && self.fault == Some(Fault::UnreadOwn) => {}
                        Addr::Fixed(loc) if !access.kind.writes() => {
                            own.iter()
                                .zip(&mut later)
                                .filter(|(own, _)| **own == loc)
                                .for_each(|(_, needed)| *needed = true);
                        }
                        _ if self.fault == Some(Fault::PublishedLate) => {}
                        _ => later.clone_from(&all),
                    },
                    (None, None) => {}
                }
                if later != needed[pc] {
                    (needed[pc], changed) = (later, true);
                }
            }
            if !changed {
                break;
            }
        }
        let dead =
            |pc: usize| own.iter().zip(&needed[pc]).filter(|(_, needed)| !**needed).map(|(loc, _)| *loc).collect();
        at.iter().enumerate().map(|(pc, wanted)| if *wanted { dead(pc) } else { Box::default() }).collect()
    }

    /// Marks what an access makes of its location; says whether it should not be.
    fn mark(&self, event: &Event, loc: LocId, private: bool) -> bool {
        if private || !self.races || self.fault == Some(Fault::Unmarked) {
            return false;
        }
        let writes = matches!(event.kind, Kind::Write(_));
        let plain = !event.tags.spoken().contains(Tags::ATOMIC);
        let mark = if writes { SHARED } else { 0 } | if plain { PLAIN } else { 0 };
        let marks = &self.marks[loc.index()];
        let old = marks.load(Relaxed);
        if old | mark != old {
            marks.fetch_or(mark, Relaxed);
        }
        old | mark == SHARED | PLAIN
    }

    /// Looks at an access that was just added to a graph, whose thread had published these before; says whether something is not as it should be.
    pub(crate) fn meets<const W: usize, R: Run>(&self, graph: &Graph<'_, W, R>, id: EventId, published: u64) -> bool {
        let event = graph.event(id);
        let Some(loc) = event.loc.filter(|_| event.is_access()) else { return false };
        let thread = usize::from(event.thread);
        let private = self.is_private(thread, published, loc);
        // A store there is not taken for a publication by [`Self::dead_at`].
        let hides = self.fault != Some(Fault::Hidden)
            && matches!(event.kind, Kind::Write(_))
            && !event.rmw
            && self.owner(loc).is_some_and(|owner| owner.thread == thread)
            && self.publishes(thread, event.value) & !published != 0;
        let knows = |owner: Owner| {
            let mut own = graph.runners[owner.thread].events().iter();
            own.any(|other| {
                let write = graph.event(*other);
                matches!(write.kind, Kind::Write(_))
                    && self.pointed(write.value) == Some(owner)
                    && graph.before[usize::from(id)].contains(*other)
            })
        };
        let looks = |owner: &Owner| owner.thread != thread && self.fault != Some(Fault::Strangers);
        let stranger = self.owner(loc).filter(looks);
        hides || stranger.is_some_and(|owner| !knows(owner)) || self.mark(event, loc, private)
    }
}
