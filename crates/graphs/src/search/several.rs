//! Several search together: each takes a part of the search from a pool and gives what it can spare to those who have nothing.
//!
//! **Invariant:** when they stop early, what each of them has left to do is in the pool again.

use crate::models::consistency::Consistency;
use crate::search::level::Level;
use crate::search::{Goal, Halt, Search, Shared};

/// Several search what is in a pool.
pub(crate) fn together<'p, G: Goal<W> + Send, M: Consistency<W> + Send + Sync, const W: usize>(
    shared: &Shared<'_, Level<'p, M, W>>,
    goal: &mut G,
    new: &(impl Fn() -> G + Sync),
    workers: usize,
) -> Result<(), Halt> {
    let Some(pool) = &shared.pool else { return Ok(()) };
    let work = || {
        let (mut goal, mut since) = (new(), 0);
        while let Some(level) = pool.take() {
            let mut search = Search::new(&mut goal, vec![level], shared);
            search.since = since;
            let ended = search.run();
            since = search.since;
            search.tell();
            if ended.is_err() {
                pool.close();
                search.left().into_iter().for_each(|level| pool.give(level));
                return (goal, ended);
            }
        }
        (goal, Ok(()))
    };
    let ends: Vec<(G, Result<(), Halt>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut ended = Ok(());
    for (other, end) in ends {
        goal.join(other);
        if weighs(end) > weighs(ended) {
            ended = end;
        }
    }
    ended
}

/// What ends the work of all is what weighs most: what settles the question comes before what only interrupts.
pub(crate) fn weighs(end: Result<(), Halt>) -> u8 {
    match end {
        Ok(()) => 0,
        Err(Halt::Elsewhere) => 1,
        Err(Halt::Long | Halt::Paused) => 2,
        Err(Halt::Stopped(_)) => 3,
        Err(Halt::Settled) => 4,
        Err(Halt::TooLarge | Halt::Lost | Halt::Apart | Halt::Strange) => 5,
    }
}
