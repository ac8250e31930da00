//! A search of native code, by one who searches or by several: each has a machine of their own, and goes the way to a part of the search by themselves.
//!
//! **Invariant:** parts are named as in [`crate::kept`], so that all machines have to give threads the same numbers: which alternatives there are depends on these.

use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Counters, Limits, Watch};
use cyrano_ir::Program;

use crate::graph::Graph;
use crate::kept::{Keep, Part, Progress, arrive};
use crate::models::consistency::Consistency;
use crate::models::total::{Kept, Total};
use crate::models::views::Views;
use crate::native::goal::Executions;
use crate::native::tape::Tape;
use crate::native::{Counts, Desk, Finish, MAX_THREADS, Machine, Memory, Native};
use crate::run::Run;
use crate::search::level::Level;
use crate::search::pool::Pool;
use crate::search::several::weighs;
use crate::search::{Halt, Search, Shared};
use crate::setup::Start;
use crate::symmetry::twins::Twins;

/// What is to be searched.
pub struct Work<'a> {
    /// Makes somebody who runs threads, on the thread of the machine that is to search.
    pub machine: &'a (dyn Fn() -> Box<dyn Machine> + Sync),
    /// When it ends, and how many search.
    pub limits: &'a Limits,
    /// Who is told how far it is.
    pub watch: &'a dyn Watch,
    /// Who keeps how far it is.
    pub keep: Option<&'a dyn Keep>,
    /// From where it goes on, if not from the beginning.
    pub from: Option<Progress>,
}

/// What was counted, and how much of the whole is done; by those who search, and of before.
type Told = Mutex<Vec<(Counts, f64)>>;

/// Tells what all have done together.
struct Together<'a> {
    watch: &'a dyn Watch,
    told: &'a Told,
    own: usize,
    before: (Counts, f64),
}

impl Watch for Together<'_> {
    fn progress(&self, counters: Counters) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (counts, share) = &mut told[self.own];
        *counts = self.before.0;
        counts.executions += counters.states;
        *share = self.before.1 + counters.share.unwrap_or_default();
        let states = told.iter().map(|(counts, _)| counts.executions + counts.blocked).sum();
        let share = Some(told.iter().map(|(_, share)| share).sum());
        drop(told);
        self.watch.progress(Counters { states, share, ..counters });
    }
}

/// Nothing has happened.
pub(super) fn empty() -> Start<'static> {
    Start {
        program: std::borrow::Cow::Owned(Program::default()),
        accesses: Vec::new(),
        choices: Vec::new(),
        setup: None,
        twins: Twins::default(),
        fresh: None,
    }
}

/// The first thread, in front of what it does first.
pub(super) fn root<'p, M: Consistency<W, Tape>, const W: usize>(
    start: &'p Start<'p>,
    desk: &Rc<Desk>,
    model: M,
) -> Level<'p, M, W, Tape> {
    let code = vec![Rc::clone(desk); MAX_THREADS];
    let mut level = Level::new(Graph::of(start, code, vec![Tape::first()], Vec::new()), model);
    Tape::settle(&mut level.graph, &level.model);
    level
}

impl Native {
    /// Shows every execution to a machine, each to one.
    pub fn search(&self, work: &Work<'_>) -> (Finish, Counts) {
        let small = self.within::<1>(work);
        let medium = small.or_else(|()| self.within::<4>(work));
        let large = medium.or_else(|()| self.within::<16>(work));
        large.unwrap_or((Finish::TooLarge, Counts::default()))
    }

    fn within<const W: usize>(&self, work: &Work<'_>) -> Result<(Finish, Counts), ()> {
        match self.memory {
            Memory::Rc11 => self.by::<_, W>(work, &Views::<W>::native(self.own_stores)),
            Memory::Sc => self.by::<_, W>(work, &Total::<W>::native(Kept::All)),
            Memory::Tso => self.by::<_, W>(work, &Total::<W>::native(Kept::Tso)),
        }
    }

    fn by<M: Consistency<W, Tape> + Sync, const W: usize>(
        &self,
        work: &Work<'_>,
        model: &M,
    ) -> Result<(Finish, Counts), ()> {
        let Progress { counts, share, mut parts, .. } =
            work.from.clone().unwrap_or_else(|| Progress { parts: vec![Part::whole(0)], ..Progress::default() });
        let mut so_far = (counts, share);
        let mut workers = 1;
        loop {
            let (ended, told, left) = self.go::<M, W>(work, model, (parts, workers), so_far);
            (so_far, parts) = (told, left);
            let (counts, share) = so_far;
            if let (Err(Halt::Paused | Halt::Stopped(_)), Some(keep)) = (ended, work.keep) {
                keep.keep(&Progress { counts, share, parts: parts.clone(), ..Progress::default() });
            }
            match ended {
                Ok(()) => return Ok((Finish::All, counts)),
                Err(Halt::Settled) => return Ok((Finish::Enough, counts)),
                Err(Halt::TooLarge) => return Err(()),
                Err(Halt::Lost) => return Ok((Finish::Lost, counts)),
                Err(Halt::Stopped(stop)) => return Ok((Finish::Stopped(stop), counts)),
                Err(Halt::Long) => workers = work.limits.workers,
                Err(Halt::Paused) => {}
                Err(halt) => unreachable!("{halt:?}: native threads are not sorted, and somebody ended this"),
            }
        }
    }

    /// So many search these parts; says what is left, and what was counted.
    fn go<M: Consistency<W, Tape> + Sync, const W: usize>(
        &self,
        work: &Work<'_>,
        model: &M,
        (parts, workers): (Vec<Part>, usize),
        so_far: (Counts, f64),
    ) -> (Result<(), Halt>, (Counts, f64), Vec<Part>) {
        let mut all = vec![(Counts::default(), 0.0); workers];
        all.push(so_far);
        let told = Told::new(all);
        let pool = Pool::new(workers, parts);
        let one = |own: usize| self.take_part::<M, W>(work, model, (&pool, &told), (own, workers));
        let ended = if workers == 1 {
            one(0)
        } else {
            let ends: Vec<Result<(), Halt>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..workers).map(|own| scope.spawn(move || one(own))).collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            });
            ends.into_iter().max_by_key(|end| weighs(*end)).unwrap_or(Ok(()))
        };
        let (mut counts, mut share) = (Counts::default(), 0.0);
        for (own, part) in told.into_inner().unwrap_or_else(PoisonError::into_inner) {
            counts.add(&own);
            share += part;
        }
        (ended, (counts, share), pool.left())
    }

    /// Searches what there is to search, until there is nothing.
    fn take_part<M: Consistency<W, Tape>, const W: usize>(
        &self,
        work: &Work<'_>,
        model: &M,
        (pool, told): (&Pool<Part>, &Told),
        (own, workers): (usize, usize),
    ) -> Result<(), Halt> {
        let desk = Desk::new((work.machine)(), own);
        let start = empty();
        let mut since = 0;
        while let Some(part) = pool.take() {
            let before = told.lock().unwrap_or_else(PoisonError::into_inner)[own];
            let watch = Together { watch: work.watch, told, own, before };
            let shared: Shared<'_, Level<'_, M, W, Tape>> = Shared {
                limits: work.limits,
                watch: &watch,
                fault: self.fault,
                pool: None,
                parts: (workers > 1).then_some(pool),
                told: Mutex::default(),
                patience: (workers == 1 && work.limits.workers > 1).then_some(self.patience),
                stale_waits: self.stale_waits,
                stale_reads_race: false,
                pace: self.pace,
                keep: work.keep,
            };
            let root = root::<M, W>(&start, &desk, model.clone());
            let mut goal = Executions { desk: Rc::clone(&desk) };
            let mut ended = Err(Halt::Lost);
            if let Some(level) = arrive(root, &part, self.fault)? {
                let mut search = Search::new(&mut goal, vec![level], &shared);
                search.since = since;
                ended = search.run();
                since = search.since;
                let (counts, share) = search.tell();
                let mut done = before;
                done.0.add(&counts);
                done.1 += share;
                told.lock().unwrap_or_else(PoisonError::into_inner)[own] = done;
                if ended.is_err() {
                    let mut left = Vec::new();
                    search.left().iter().for_each(|level| level.parts(0, &mut left));
                    left.into_iter().for_each(|part| pool.give(part));
                }
            }
            if ended.is_err() {
                pool.close();
                return ended;
            }
        }
        Ok(())
    }
}
