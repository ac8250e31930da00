//! A whole search, from all starts of a program: with sets of events as large as they have to be, by one worker or by several, from what was kept or from nothing.

use std::sync::{Mutex, PoisonError};

use cyrano_engine::{Limits, Stop, Watch};
use cyrano_ir::{Instr, Op, Program, Thread};
use cyrano_memory::Model;

use super::{Counts, Goal, Halt, Search, Shared};
use crate::code::Rules;
use crate::graph::Graph;
use crate::kept::{Keep, Part, Progress, arrive, divide};
use crate::models::consistency::{ByAxioms, Consistency};
use crate::models::total::Total;
use crate::models::views::Views;
use crate::search::level::Level;
use crate::search::pool::Pool;
use crate::search::several::together;
use crate::setup::Start;
use crate::thread::weak::has_weak;
use crate::{Graphs, is_fresh, is_sorted, kept};

/// One search: what is asked, of which model, within which limits.
pub(crate) struct Whole<'a> {
    pub(crate) graphs: &'a Graphs,
    pub(crate) starts: &'a [Start<'a>],
    pub(crate) model: &'a Model,
    pub(crate) limits: &'a Limits,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) rules: Rules<'a>,
    pub(crate) stale_waits: bool,
    pub(crate) stale_reads_race: bool,
    pub(crate) keep: Option<&'a dyn Keep>,
    /// From where it begins, or where it was when that was kept last.
    pub(crate) so_far: Mutex<Progress>,
}

impl<'a> Whole<'a> {
    /// Searches with sets of 64·`W` events, and with larger ones if a graph does not fit.
    pub(crate) fn run<G>(&self, goal: impl Fn() -> G + Sync) -> (G, Result<(), Halt>, Counts)
    where
        G: Goal<1> + Goal<4> + Goal<16> + Goal<64> + Send,
    {
        let small = self.within::<G, 1>(&goal);
        let medium = small.or_else(|()| self.within::<G, 4>(&goal));
        let large = medium.or_else(|()| self.within::<G, 16>(&goal));
        let largest = large.or_else(|()| self.within::<G, 64>(&goal));
        largest.unwrap_or_else(|()| (goal(), Err(Halt::Stopped(Stop::Memory)), Counts::default()))
    }

    fn within<G: Goal<W> + Send, const W: usize>(
        &self,
        new: &(impl Fn() -> G + Sync),
    ) -> Result<(G, Result<(), Halt>, Counts), ()> {
        let Progress { mut counts, seen, parts, .. } = self.so_far();
        let mut goal = new();
        goal.has_seen(&seen);
        for at in 0..self.starts.len() {
            let (own, later): (Vec<Part>, Vec<Part>) =
                parts.iter().filter(|part| part.start >= at).cloned().partition(|part| part.start == at);
            if own.is_empty() {
                continue;
            }
            match self.from::<G, W>((&own, &later), (&mut goal, new), &mut counts) {
                Ok(()) => {}
                Err(Halt::TooLarge) => return Err(()),
                Err(Halt::Settled) => return Ok((goal, Ok(()), counts)),
                Err(halt) => return Ok((goal, Err(halt), counts)),
            }
        }
        self.keep(Progress { counts, share: 1.0, seen: goal.seen(), parts: Vec::new() });
        Ok((goal, Ok(()), counts))
    }

    fn so_far(&self) -> Progress {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, progress: Progress) {
        if let Some(keep) = self.keep {
            keep.keep(&progress);
            *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        }
    }

    fn from<'p, G: Goal<W> + Send, const W: usize>(
        &self,
        parts: (&[Part], &[Part]),
        goal: (&mut G, &(impl Fn() -> G + Sync)),
        counts: &mut Counts,
    ) -> Result<(), Halt>
    where
        'a: 'p,
    {
        let start = &self.starts[parts.0.first().map_or(0, |part| part.start)];
        let Some(cat) = self.model.cat() else { unreachable!("a model about relations") };
        match self.model.name.as_str() {
            _ if self.graphs.by_axioms && !self.rules.ordered => {
                self.by::<G, _, W>((start, parts), goal, ByAxioms::new(cat.plan()), counts)
            }
            "ra" => self.by((start, parts), goal, Views::<W>::release_acquire(&start.program), counts),
            "rc11" => self.by((start, parts), goal, Views::<W>::c11(&start.program), counts),
            name => match kept(name) {
                Some(kept) => self.by((start, parts), goal, Total::<W>::new(kept, &start.program), counts),
                None => self.by::<G, _, W>((start, parts), goal, ByAxioms::new(cat.plan()), counts),
            },
        }
    }

    fn by<'p, G: Goal<W> + Send, M: Consistency<W> + Send + Sync, const W: usize>(
        &self,
        (start, (parts, later)): (&'p Start<'p>, (&[Part], &[Part])),
        (goal, new): (&mut G, &(impl Fn() -> G + Sync)),
        model: M,
        counts: &mut Counts,
    ) -> Result<(), Halt> {
        let graphs = self.graphs;
        let is_new = parts.iter().all(|part| *part == Part::whole(part.start));
        let share = if is_new { 0.0 } else { self.so_far().share };
        let mut shared = Shared {
            limits: self.limits,
            watch: self.watch,
            fault: graphs.fault,
            pool: None,
            told: Mutex::new((*counts, share)),
            pace: graphs.pace,
            patience: (self.limits.workers > 1).then_some(graphs.patience),
            stale_waits: self.stale_waits,
            stale_reads_race: self.stale_reads_race,
            keep: self.keep,
        };
        let root = || Level::new(Graph::<W>::new(start, self.rules), model.clone());
        let first = parts.iter().try_fold(Vec::new(), |mut todo, part| {
            match graphs.share.filter(|_| *part == Part::whole(part.start)) {
                Some(share) => todo.extend(divide(root(), share, (&mut *goal, &shared))?),
                None => todo.push(arrive(root(), part, graphs.fault)?.ok_or(Halt::Lost)?),
            }
            Ok(todo)
        });
        let (mut todo, begun) = first.map_or_else(|halt| (Vec::new(), Err(halt)), |todo| (todo, Ok(())));
        let mut several = false;
        let ended = loop {
            if begun.is_err() {
                break begun;
            }
            let ended = if several {
                shared.pool = Some(Pool::new(self.limits.workers, todo));
                let ended = together(&shared, goal, new, self.limits.workers);
                todo = shared.pool.take().map_or_else(Vec::new, Pool::left);
                ended
            } else {
                let mut search = Search::new(&mut *goal, todo, &shared);
                let ended = search.run();
                search.tell();
                todo = search.left();
                ended
            };
            several |= ended == Err(Halt::Long);
            if let (Err(Halt::Paused | Halt::Stopped(_)), Some(part)) = (ended, parts.first()) {
                let (counts, share) = *shared.told.lock().unwrap_or_else(PoisonError::into_inner);
                let mut parts = Vec::new();
                todo.iter().for_each(|level| level.parts(part.start, &mut parts));
                parts.extend_from_slice(later);
                self.keep(Progress { counts, share, seen: goal.seen(), parts });
            }
            if !matches!(ended, Err(Halt::Paused | Halt::Long)) {
                break ended;
            }
        };
        *counts = shared.told.into_inner().unwrap_or_else(PoisonError::into_inner).0;
        ended
    }
}

impl Whole<'_> {
    /// The reductions that were used.
    pub(crate) fn used(&self, program: &Program) -> Vec<&'static str> {
        let loops = program.threads.iter().any(Thread::has_loop);
        let waits = loops || program.threads.iter().any(|thread| thread.code.iter().any(is_assume));
        let used = [
            ("thread-symmetry", is_sorted(self.starts)),
            ("idle-iterations", self.rules.idle.is_some() && loops),
            ("stale-waits", self.stale_waits && waits),
            ("unseen-values", !self.rules.names.is_empty()),
            ("fresh-objects", is_fresh(self.starts) && loops),
            ("weak-failures", self.rules.weak.is_some() && has_weak(program)),
        ];
        used.into_iter().filter(|(_, used)| *used).map(|(name, _)| name).collect()
    }
}

fn is_assume(instr: &Instr) -> bool {
    matches!(instr.op, Op::Assume(_))
}
