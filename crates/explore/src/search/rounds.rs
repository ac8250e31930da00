//! The one loop: breadth-first search, level by level, by one worker or several. States may be anywhere: what a level is made of, where successors go
//! and what has to be done between rounds is up to whoever keeps them ([`Visited`]).
//!
//! A level is a list of spans. Workers claim spans one at a time until none is left, so that none waits while there is work. A *round* is as much of a
//! level as is done before somebody has to stop all: there is no room, a limit is reached, something went wrong. Between rounds only one thread runs.
//!
//! The processes of a cluster do not take part in rounds: nobody could call them together but by waiting for the slowest in every one.
//! Their workers share spans in the same way, and begin levels when timely says so (`cyrano_cluster`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// With fewer spans than this one worker is enough.
pub const WORTH_SHARING: usize = 8;

/// The states of a search by workers `W`.
pub trait Visited<W>: Sync {
    /// A piece of a level.
    type Span: Clone + Send + Sync;
    /// How a search ends.
    type End;
    /// What is left of the level under way.
    fn level(&mut self) -> &mut Vec<Self::Span>;
    /// Expands the states of a span. If it has to stop before the end, the rest.
    fn expand(&self, worker: &mut W, span: Self::Span, round: &Round<'_>) -> Option<Self::Span>;
    /// All workers rest: makes room for more, and looks at what they found. How the search ends, if it does.
    fn rest(&mut self, workers: &mut Vec<W>) -> Option<Self::End>;
    /// A level is done: goes on to the next one. How the search ends, if it does.
    fn next_level(&mut self, workers: &mut Vec<W>) -> Option<Self::End>;
}

/// What a worker knows of a round.
pub struct Round<'r> {
    shared: &'r Shared,
    /// Whether it is the first of the workers, who looks at limits.
    pub first: bool,
}

#[derive(Default)]
struct Shared {
    next: AtomicUsize,
    pause: AtomicBool,
}

impl Round<'_> {
    /// Whether somebody said stop.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.shared.pause.load(Ordering::Relaxed)
    }

    /// Has everybody stop soon.
    pub fn pause(&self) {
        self.shared.pause.store(true, Ordering::Relaxed);
    }
}

/// Goes on with the level under way, until the search ends.
pub fn search<W: Send, V: Visited<W>>(visited: &mut V, workers: &mut Vec<W>) -> V::End {
    loop {
        while !visited.level().is_empty() {
            one_round(visited, workers);
            if let Some(end) = visited.rest(workers) {
                return end;
            }
        }
        if let Some(end) = visited.next_level(workers) {
            return end;
        }
    }
}

fn one_round<W: Send, V: Visited<W>>(visited: &mut V, workers: &mut [W]) {
    let mut level = std::mem::take(visited.level());
    let shared = Shared::default();
    let count = if level.len() < WORTH_SHARING { 1 } else { workers.len() };
    let (first, others) = workers[..count].split_first_mut().expect("a search has workers");
    let work = |worker: &mut W, first: bool| work(&*visited, worker, &level, &Round { shared: &shared, first });
    let rests: Vec<V::Span> = std::thread::scope(|scope| {
        let others: Vec<_> = others.iter_mut().map(|worker| scope.spawn(|| work(worker, false))).collect();
        let mut rests: Vec<V::Span> = work(first, true).into_iter().collect();
        for other in others {
            rests.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        rests
    });
    level.splice(..shared.next.into_inner().min(level.len()), rests);
    *visited.level() = level;
}

/// Expands spans until there are none left, or somebody says stop.
fn work<W, V: Visited<W>>(visited: &V, worker: &mut W, level: &[V::Span], round: &Round<'_>) -> Option<V::Span> {
    while !round.is_paused() {
        let span = level.get(round.shared.next.fetch_add(1, Ordering::Relaxed))?;
        if let Some(rest) = visited.expand(worker, span.clone(), round) {
            round.pause();
            return Some(rest);
        }
    }
    None
}
