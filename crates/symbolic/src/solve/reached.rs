//! Which instructions threads come to: after a complete answer, the others are reached by no execution.
//!
//! Symbolic execution notes the guard of every instruction that it follows. What it never follows, or only under a false guard, is not reached.
//! For the others the solver is asked for an execution that reaches one of them, until there is none; most executions reach many. That takes
//! little work beside the proof before it, but it is a question of its own, so it may take only so many decisions. If they do not
//! suffice nothing is said.
//!
//! Threads of which only some orders are looked at ([`crate::formula::symmetry`]) run the same source text: what one of them reaches the others reach as well.

use cyrano_ir::{InstrId, Span, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::solve::ask::{Ask, Last};
use crate::solve::solver::{Found, Solver};

/// How many decisions the question may take at least.
const DECISIONS: u64 = 20_000;

impl Ask<'_> {
    /// The instructions that no execution reaches, if that could be found out.
    pub(crate) fn unreached(&self, last: &mut Last) -> Option<Vec<(ThreadId, InstrId)>> {
        let mut guards: FxHashMap<(ThreadId, InstrId), Vec<Lit>> = FxHashMap::default();
        for (thread, instr, guard) in &last.encoding.run.reached {
            guards.entry((*thread, *instr)).or_default().push(*guard);
        }
        let reached = self.pursue(last, guards)?;
        let program = self.query.program();
        let span = |(thread, instr): &(ThreadId, InstrId)| program.instr(*thread, *instr).span;
        let spans: FxHashSet<Span> = reached.iter().filter(|_| self.stats.ordered_threads > 0).map(span).collect();
        let of = |thread: ThreadId| (0..program.thread(thread).code.len()).map(move |pc| (thread, InstrId::new(pc)));
        let all = program.thread_ids().flat_map(of);
        Some(all.filter(|place| !reached.contains(place) && !spans.contains(&span(place))).collect())
    }

    /// The instructions that some execution reaches.
    fn pursue(
        &self,
        last: &mut Last,
        guards: FxHashMap<(ThreadId, InstrId), Vec<Lit>>,
    ) -> Option<FxHashSet<(ThreadId, InstrId)>> {
        let is_certain = |guards: &[Lit]| guards.contains(&TRUE);
        let mut reached: FxHashSet<_> =
            guards.iter().filter(|(_, guards)| is_certain(guards)).map(|(place, _)| *place).collect();
        let mut open: Vec<_> = guards.into_iter().filter(|(_, guards)| !is_certain(guards)).collect();
        open.iter_mut().for_each(|(_, guards)| guards.retain(|guard| *guard != FALSE));
        open.sort_unstable();
        let mut decisions = DECISIONS.max(self.stats.decisions / 8);
        let solver = &mut last.solver;
        while open.iter().any(|(_, guards)| !guards.is_empty()) {
            let one_of_them = solver.fresh();
            let guards = open.iter().flat_map(|(_, guards)| guards.iter().copied());
            let clause: Vec<Lit> = guards.chain([!one_of_them]).collect();
            solver.add(&clause);
            match solver.search(&[one_of_them], &mut decisions)? {
                Found::Nothing => break,
                Found::Stopped(_) => return None,
                Found::Model => {
                    let now = |guards: &[Lit]| guards.iter().any(|guard| solver.value(*guard));
                    reached.extend(open.iter().filter(|(_, guards)| now(guards)).map(|(place, _)| *place));
                    open.retain(|(place, _)| !reached.contains(place));
                }
            }
        }
        Some(reached)
    }
}
