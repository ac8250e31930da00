//! Which engine is asked: the first of the usual ones that answers such a question.

use cyrano_engine::{Cause, Engine, Query, Refusal};
use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Program};

use crate::run::Runner;
use crate::run::options::EngineName;

/// Up to so many accesses, and without loops, the reference is asked first under models about relations.
const FEW_ACCESSES: usize = 24;

impl Runner {
    /// Whether some engine answers a query; `Err` says why none does.
    pub(crate) fn can_ask(&self, query: &Query<'_>) -> Result<(), Cause> {
        self.choose(&EngineName::ALL, query).map(|_| ())
    }

    /// The engine for a query, and why it is not the usual one; `Err` if there is none.
    pub(super) fn choose(
        &self,
        usual: &[EngineName],
        query: &Query<'_>,
    ) -> Result<(EngineName, Option<String>), Cause> {
        let related = for_relations(query.program());
        let usual = if query.model().cat().is_some() { related } else { usual };
        let named = self.engine.as_ref();
        let candidates = named.map_or(usual, std::slice::from_ref);
        let mut refused = Vec::new();
        // Where there is an order of all accesses, executions are states rather than graphs; and models of a user, or exclusive pairs, are judged slowly there. Whoever wants graphs names them.
        let by_graphs = cyrano_graphs::is_quick(query);
        let fits = |chosen: &&EngineName| named.is_some() || by_graphs || **chosen != EngineName::Graphs;
        for chosen in candidates.iter().filter(fits) {
            let engine = self.engine(*chosen);
            match engine.supports(query) {
                Ok(()) => {
                    // The reference interpreter is slow, so its users are told why they got it.
                    let by_model = query.model().cat().is_some();
                    let slow = nearest(refused).filter(|_| matches!(chosen, EngineName::Interp) && !by_model);
                    let note = slow.map(|(engine, why)| Cause::NoEngine { engine, why, instead: None }.to_string());
                    return Ok((*chosen, note));
                }
                Err(why) => refused.push((engine.name(), why)),
            }
        }
        let Some((engine, why)) = nearest(refused) else { unreachable!("there is always an engine to ask") };
        // Only the explorer searches with others.
        let instead = self.cluster.is_none().then(|| self.others(candidates, query));
        Err(Cause::NoEngine { engine, why, instead })
    }

    /// The engines that would answer a query, but for these.
    fn others(&self, refused: &[EngineName], query: &Query<'_>) -> Vec<&'static str> {
        let others =
            EngineName::ALL.into_iter().filter(|chosen| !refused.contains(chosen)).map(|chosen| self.engine(chosen));
        others.filter(|engine| engine.supports(query).is_ok()).map(Engine::name).collect()
    }
}

/// The order of engines under a model about relations. Graphs are for programs that end, where nothing is faster; the reference is faster than a formula where there are
/// few accesses and no loops, and hopeless elsewhere.
fn for_relations(program: &Program) -> &'static [EngineName] {
    let ops = || program.threads.iter().flat_map(|thread| thread.code.iter().enumerate());
    let back = ops().any(|(at, instr)| successors(&instr.op, InstrId::new(at)).any(|to| to.index() <= at));
    let small = ops().filter(|(_, instr)| instr.op.access().is_some()).count() <= FEW_ACCESSES;
    match (back, small) {
        (true, _) => &[EngineName::Symbolic, EngineName::Graphs, EngineName::Interp, EngineName::Explore],
        (false, true) => &[EngineName::Graphs, EngineName::Interp, EngineName::Symbolic, EngineName::Explore],
        (false, false) => &[EngineName::Graphs, EngineName::Symbolic, EngineName::Interp, EngineName::Explore],
    }
}

/// Of engines that refuse a question, the one that comes nearest: some never answer such questions.
fn nearest(refused: Vec<(&'static str, Refusal)>) -> Option<(&'static str, Refusal)> {
    let near = refused.iter().position(|(_, why)| !why.is_for_all_programs()).unwrap_or(0);
    refused.into_iter().nth(near)
}
