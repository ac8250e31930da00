//! Many questions about one program with different fences, to one solver.
//!
//! Fence synthesis asks about nearly the same program again and again. A [`Session`] has the program with *all* fences that may ever be asked about; they are
//! [optional](crate::formula::optional) in its formula, and a question assumes those that are there. What stays from one question to the next:
//!
//! - the solver with everything it has learnt, also from a question that was stopped by a limit;
//! - the bounds of loops. Bounds that one set of fences needed are larger than others need, which does no harm; where a set needs still larger ones the program is encoded
//!   again, and the solver starts anew. Loops that go on beyond the limit with one set of fences may not do so with another one, so that is found out each time.
//!
//! **Which fences were needed.** An answer `verified` is a proof that under the assumptions no execution shows what is asked about, goes beyond a bound, or reaches a limit of the program; the solver
//! says which assumptions it used ([`Reply::needed`]). With these fences alone the same is unsatisfiable, so their program satisfies the property too, within bounds that are sufficient
//! for it; and so does every program with more fences. One thing could be different with more: that nothing is exercised any more (`vacuous`). So the claim is made only if something is exercised under sequential
//! consistency: an execution in program order is one under every model with all fences, because axioms 1, 2 and 3 ask for nothing but program order. Where a witness makes the verdict (`exists`), nothing is claimed.

use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict, Watch};
use cyrano_ir::{FenceSet, Instr, Program, Property, Quantifier};
use cyrano_memory::Model;
use rustc_hash::FxHashMap;

use crate::execute::event::LoopKey;
use crate::formula::optional::{Positions, Selector};
use crate::solve::ask::{Ask, Last};
use crate::{Symbolic, SymbolicStats};

/// The fences that are asked about.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// The program that has exactly these.
    pub(crate) program: &'a Program,
    pub(crate) fences: &'a [(u32, FenceSet)],
}

impl Chosen<'_> {
    /// Whether this is one of them.
    pub(crate) fn has(&self, selector: &Selector) -> bool {
        self.fences.iter().any(|(position, kinds)| *position == selector.position && kinds.contains(selector.kind))
    }
}

/// A program with optional fences, a property, and a solver that is asked about both.
pub struct Session {
    engine: Symbolic,
    program: Program,
    model: Model,
    property: Property,
    positions: Positions,
    bounds: FxHashMap<LoopKey, usize>,
    last: Option<Last>,
    /// Whether something is exercised even with all fences.
    exercised: bool,
}

/// The answer to one question of a session.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The answer. Its execution and its violation are those of the program that has exactly the fences asked about.
    pub answer: Answer,
    /// What it cost.
    pub stats: SymbolicStats,
    /// If the verdict is `verified`, fences among those asked about with which it would be the same, whatever others there are; none if nothing better
    /// than all of them is known.
    pub needed: Option<Vec<(u32, FenceSet)>>,
}

impl Session {
    /// Prepares questions about whether a property holds. `position` gives those fences of the program a number that are optional; fences with the same number are there together.
    /// None if this engine cannot answer such questions.
    pub fn new(
        engine: &Symbolic,
        program: Program,
        model: &Model,
        property: &Property,
        position: impl Fn(&Instr) -> Option<u32>,
    ) -> Option<Self> {
        let query = Query::new(&program, model, Question::Holds(property)).ok()?;
        engine.supports(&query).ok()?;
        Some(Self {
            engine: engine.clone(),
            positions: Positions::new(&program, position),
            program,
            model: model.clone(),
            property: property.clone(),
            bounds: FxHashMap::default(),
            last: None,
            exercised: false,
        })
    }

    /// Asks about the program with these fences, of these kinds each. `program` is that program; it differs from the session's in nothing but fences.
    pub fn ask(&mut self, fences: &[(u32, FenceSet)], program: &Program, limits: &Limits, watch: &dyn Watch) -> Reply {
        let query = Query::new(&self.program, &self.model, Question::Holds(&self.property))
            .unwrap_or_else(|why| unreachable!("the session was made for this question: {why}"));
        let mut ask = Ask::new(&self.engine, query, limits, watch);
        ask.problem = ask.problem.with_optional(self.positions.clone());
        ask.bounds = std::mem::take(&mut self.bounds);
        ask.last = self.last.take();
        ask.chosen = Some(Chosen { program, fences });
        let mut answer = ask.answer();
        // These are instructions of another program.
        answer.places.clear();
        let witness = matches!(self.property, Property::Final { quantifier: Quantifier::Exists, .. });
        let proven = answer.verdict == Verdict::Verified && !witness;
        let needed = proven.then(|| ask.needed_fences());
        let stats = ask.stats;
        (self.bounds, self.last) = (ask.bounds, ask.last);
        self.exercised = self.exercised || proven && self.is_exercised_in_order(limits, watch);
        if self.bytes() > limits.memory {
            self.forget();
        }
        Reply { answer, stats, needed: needed.filter(|_| self.exercised) }
    }

    /// Whether something is exercised under sequential consistency, within the bounds.
    fn is_exercised_in_order(&self, limits: &Limits, watch: &dyn Watch) -> bool {
        let Some(model) = cyrano_memory::named("sc") else { return false };
        let Ok(query) = Query::new(&self.program, &model, Question::Holds(&self.property)) else { return false };
        let mut ask = Ask::new(&self.engine, query, limits, watch);
        ask.bounds = self.bounds.clone();
        ask.is_exercised()
    }

    /// About how many bytes the solver takes.
    pub fn bytes(&self) -> u64 {
        self.last.as_ref().map_or(0, Last::bytes)
    }

    /// Lets go of the solver; the bounds of loops stay.
    pub fn forget(&mut self) {
        self.last = None;
    }
}
