//! A question as a file for any SAT or SMT solver, with the bounds of loops that lazy unrolling found (CheckFence, sections 3.2 and 3.3).
//!
//! **Invariant:** the formula is satisfiable exactly if some execution within the bounds shows what is asked about. That the bounds are sufficient is
//! not part of the formula: it is the engine's own answer that says so.

use cyrano_engine::{Answer, Limits, Query, Stop, Watch};
use cyrano_ir::{InstrId, ThreadId};
use rustc_hash::FxHashMap;

use crate::execute::event::LoopKey;
use crate::formula::cubic;
use crate::formula::encode::Problem;
use crate::formula::graph::Graph;
use crate::formula::smt;
use crate::solve::ask::{Ask, FIRST};
use crate::{Symbolic, is_a_formula};

/// What one clause about transitivity takes, in memory and as text.
const BYTES_PER_CLAUSE: u64 = 48;

/// How a formula is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// DIMACS; the memory order is encoded by clauses.
    Dimacs,
    /// An SMT-LIB 2 script; the memory order is one of integers.
    Smt2,
}

/// A formula.
#[derive(Clone, Debug)]
pub struct Export {
    /// The text, without comments.
    pub text: String,
    /// Propositional variables.
    pub variables: u64,
    /// Clauses, or assertions of a script.
    pub clauses: u64,
    /// What the names of a script stand for; none in DIMACS form.
    pub places: Vec<Place>,
    /// Every loop may be repeated so often,
    pub default_bound: usize,
    /// except for these.
    pub loops: Vec<LoopBound>,
    /// What the engine itself found out while it looked for the bounds; none if they were given.
    pub answer: Option<Answer>,
}

/// How often a loop may be repeated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LoopBound {
    /// The thread.
    pub thread: ThreadId,
    /// The first instruction of the loop.
    pub head: InstrId,
    /// So often.
    pub bound: usize,
}

/// An access in a script: `x` with its number says whether it is executed, `v` with its number is what it reads or writes.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its number.
    pub number: usize,
    /// `p` with this number is its place in the memory order, which the accesses of an atomic section share.
    pub node: u32,
    /// The thread.
    pub thread: ThreadId,
    /// The instruction.
    pub instr: InstrId,
    /// What it does.
    pub what: String,
}

impl Symbolic {
    /// The formula of a question. Without `iterations` the question is answered first, so that the bounds of loops are known; with it, every loop is
    /// repeated at most so often and nothing is solved. `Err` says why there is no formula.
    pub fn export(
        &self,
        query: Query<'_>,
        form: Form,
        iterations: Option<usize>,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Export, String> {
        use cyrano_engine::Engine;
        self.supports(&query).and_then(|()| is_a_formula(&query)).map_err(|refusal| refusal.to_string())?;
        if let Some(bound) = iterations {
            let problem = Problem::new(self, query);
            return formula(&problem, form, (&FxHashMap::default(), bound), None, limits);
        }
        let mut ask = Ask::new(self, query, limits, watch);
        let answer = ask.answer();
        // The formula is written whole, also where the answer took all the time there was.
        let problem = Problem::new(self, query);
        formula(&problem, form, (&ask.bounds, FIRST.min(self.iterations)), Some(answer), limits)
    }
}

fn formula(
    problem: &Problem<'_>,
    form: Form,
    (bounds, default_bound): (&FxHashMap<LoopKey, usize>, usize),
    answer: Option<Answer>,
    limits: &Limits,
) -> Result<Export, String> {
    let mut encoding = problem.encode(bounds, default_bound);
    let mut formula = std::mem::take(&mut encoding.formula);
    let order = match form {
        Form::Dimacs => transitive(&encoding.graph),
        Form::Smt2 => encoding.graph.edges.len() as u64,
    };
    let clauses = order + formula.len() as u64;
    if let Some(Stop::Memory) = limits.exceeded(clauses.saturating_mul(BYTES_PER_CLAUSE)) {
        return Err(format!("the formula would have {clauses} clauses, which is more than the memory limit allows"));
    }
    let (text, places, clauses) = match form {
        Form::Dimacs => {
            cubic::encode(&mut formula, &encoding.graph);
            (cubic::dimacs(&formula, &[encoding.target]), Vec::new(), formula.len() as u64 + 1)
        }
        Form::Smt2 => smt::script(problem.program, &encoding, &formula),
    };
    let mut loops: Vec<LoopBound> =
        bounds.iter().map(|(key, bound)| LoopBound { thread: key.thread, head: key.head, bound: *bound }).collect();
    loops.sort_unstable();
    Ok(Export { text, variables: formula.vars.into(), clauses, places, default_bound, loops, answer })
}

/// About how many clauses say that the order is transitive.
fn transitive(graph: &Graph) -> u64 {
    let mut members: FxHashMap<usize, u64> = FxHashMap::default();
    graph.components().into_iter().for_each(|component| *members.entry(component).or_default() += 1);
    members.into_values().map(|n| n * n.saturating_sub(1) * n.saturating_sub(2) / 3).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_engine::Question;
    use cyrano_engine::Verdict;
    use cyrano_ir::Property;

    #[test]
    fn the_bounds_are_those_that_the_answer_rests_on() {
        let source = "threads { shared x; thread p { local i, l; while i < 3 { l := x; i := i + 1 } } thread q { x := 1 } } check assertions;";
        let program = cyrano_rml::compile(source, "a.rml", &[]).expect("the program compiles");
        let model = cyrano_memory::named("sc").expect("a model");
        let never = Property::Assertions;
        let query = Query::new(&program, &model, Question::Holds(&never)).expect("a question");
        let engine = Symbolic::default();
        let limits = Limits::default();
        let found = engine.export(query, Form::Dimacs, None, &limits, &()).expect("a formula");
        let answer = found.answer.expect("an answer");
        assert!(matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous), "{:?}", answer.reason);
        let lines = found.text.lines().count() as u64;
        assert_eq!(lines, found.clauses + 1);
        let given = engine.export(query, Form::Dimacs, Some(2), &limits, &()).expect("a formula");
        assert!(given.answer.is_none() && given.loops.is_empty() && given.default_bound == 2);
        let tight = Limits { memory: 10, ..Limits::default() };
        assert!(
            engine.export(query, Form::Dimacs, Some(2), &tight, &()).is_err_and(|why| why.contains("memory limit"))
        );
    }
}
