//! From a program, a model and bounds on its loops to a formula and a graph, and the literals that questions are about.

use std::mem::discriminant;

use cyrano_engine::{Limits, Query, Question};
use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{FinalVar, InstrId, LocId, Program, Property, Quantifier, ThreadId};
use cyrano_memory::Model;
use cyrano_memory::cat::Cat;
use rustc_hash::FxHashMap;

use crate::Symbolic;
use crate::execute::arith::Computed;
use crate::execute::event::{Address, LoopKey, Run};
use crate::execute::idle::Idle;
use crate::execute::laps::heads;
use crate::execute::loops::Loops;
use crate::execute::range::Range;
use crate::execute::related::Traits;
use crate::execute::silent::Words;
use crate::execute::value::Value;
use crate::execute::walk::{Setting, ThreadWalk};
use crate::formula::gates::{Formula, Gates};
use crate::formula::graph::{Graph, Node};
use crate::formula::hang::{look, stuck};
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::optional::{Optional, Positions};
use crate::formula::order::Order;
use crate::formula::outcomes::none_of;
use crate::formula::relational::{self, Relational};
use crate::formula::swap::Swap;
use crate::formula::symmetry::{self, Exchanges};
use crate::formula::values;
use crate::related::idling;

/// What is encoded; everything that stays the same while bounds grow.
pub(crate) struct Problem<'a> {
    pub(crate) program: &'a Program,
    pub(crate) model: &'a Model,
    pub(crate) question: Question<'a>,
    pub(crate) ranges: bool,
    loops: Vec<Loops>,
    live: Vec<Liveness>,
    /// Where each thread may be found idle.
    idle: Vec<Idle>,
    /// Whether threads stop there.
    pub(crate) idles: bool,
    /// The heads of loops in which each thread may spin for ever, if that is asked under a model about relations.
    pub(crate) rounds: Vec<Vec<InstrId>>,
    /// Exchanges of threads that keep program and question, as far as the text shows it.
    swaps: Vec<Swap>,
    positions: Positions,
    /// Whether a history stands for those that it covers.
    covers: bool,
    /// What ends encoding early, if anything does.
    limits: Option<&'a Limits>,
}

/// A formula, a graph, and what their models mean.
pub(crate) struct Encoding {
    pub(crate) formula: Formula,
    pub(crate) graph: Graph,
    pub(crate) run: Run,
    /// The node of each event.
    pub(crate) nodes: Vec<Node>,
    pub(crate) threads: Vec<Option<ThreadId>>,
    /// Every thread has run to its end and nothing went wrong but assertions.
    pub(crate) complete: Lit,
    /// An assertion fails, if that matters, or a computation goes wrong.
    pub(crate) wrong: Lit,
    /// Whether it matters that assertions fail.
    pub(crate) asserts: bool,
    pub(crate) deadlock: Lit,
    /// Some assertion is evaluated.
    pub(crate) asserted: Lit,
    /// What is asked about: a violation, a witness, or a final state.
    pub(crate) target: Lit,
    /// The condition of the question has no value.
    pub(crate) undefined: Lit,
    pub(crate) observed: Vec<Value>,
    /// What the question is about in final states.
    pub(crate) asked: Vec<(FinalVar, Value)>,
    /// For each loop that a bound cut off, the literal that says so.
    pub(crate) exceeded: Vec<(LoopKey, Lit)>,
    /// Pairs of threads that were put in order.
    pub(crate) ordered_threads: u64,
    /// What is known of relations, under a model about them.
    pub(crate) relational: Option<Box<Relational>>,
    /// What it takes to choose among optional fences, if there are any.
    pub(crate) optional: Option<Optional>,
}

impl<'a> Problem<'a> {
    /// A question.
    pub(crate) fn new(engine: &Symbolic, query: Query<'a>) -> Self {
        let (program, model, question) = (query.program(), query.model(), query.question());
        let asked = asked(program, question);
        let live = program.threads.iter().zip(program.thread_ids()).map(|(code, thread)| {
            let exit = asked.iter().filter_map(|var| match var {
                FinalVar::Reg(of, register) if *of == thread => Some(*register),
                _ => None,
            });
            Liveness::new(code, exit)
        });
        let live: Vec<Liveness> = live.collect();
        let loops: Vec<Loops> = program.threads.iter().map(Loops::new).collect();
        let ends = model.cat().is_some() && matches!(question, Question::Holds(Property::Live(_)));
        // There it is asked of every thread whether it spins, and after which rounds.
        let idling = idling(model).filter(|_| engine.idle_iterations && !ends);
        let idles = idling.is_some();
        let rounds = if ends {
            program.threads.iter().zip(&loops).map(|(code, own)| heads(code, own)).collect()
        } else {
            Vec::new()
        };
        let idle = match idling {
            Some(idling) => Idle::all(&Words::new(program, model), idling, &loops, &live),
            None => vec![Idle::default(); program.threads.len()],
        };
        let swaps = if engine.thread_symmetry && model.cat().is_none() {
            symmetry::candidates(program, model, question)
        } else {
            Vec::new()
        };
        let positions = Positions::default();
        let (ranges, covers) = (engine.ranges, engine.covered_histories);
        Self {
            program,
            model,
            question,
            ranges,
            loops,
            live,
            idle,
            idles,
            rounds,
            swaps,
            positions,
            covers,
            limits: None,
        }
    }

    /// The same question, where encoding goes no further once a limit is reached; what it then says of executions is not all.
    pub(crate) fn within(self, limits: &'a Limits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    fn stops(&self) -> bool {
        self.limits.is_some_and(Limits::is_over)
    }

    /// The same question about a program of which some fences may be there or not.
    pub(crate) fn with_optional(self, positions: Positions) -> Self {
        Self { positions, ..self }
    }

    /// The same loop in all threads whose code differs from this one's in nothing but operands.
    pub(crate) fn twins(&self, key: LoopKey) -> impl Iterator<Item = LoopKey> {
        let kinds = |thread: ThreadId| self.program.thread(thread).code.iter().map(|instr| discriminant(&instr.op));
        let same = move |other: &ThreadId| {
            let heads = |thread: ThreadId| &self.loops[thread.index()].heads;
            heads(*other) == heads(key.thread) && kinds(*other).eq(kinds(key.thread))
        };
        self.program.thread_ids().filter(same).map(move |thread| LoopKey { thread, ..key })
    }

    /// Encodes the executions within these bounds.
    pub(crate) fn encode(&self, bounds: &FxHashMap<LoopKey, usize>, default: usize) -> Encoding {
        let bound = |key: LoopKey| bounds.get(&key).copied().unwrap_or(default);
        let words =
            if self.ranges { self.word_ranges(&bound) } else { vec![Range::all(); self.program.locations.len()] };
        let mut gates = Gates::new(false);
        let set = self.setting(&bound, &words);
        let mut run = walk_all(&set, &mut gates);
        run.settle_sections(&mut gates);
        if let Some(cat) = self.model.cat() {
            return self.encode_relations(cat, gates, run, &words);
        }
        let deadlock = match self.looks_for_deadlocks() {
            true => stuck(&set, &mut gates, &mut run, self.about_ends()),
            false => FALSE,
        };
        let finals = self.final_words(&mut gates, &mut run, &words);
        let mut order = Order::new(&run, self.program, self.model, &mut gates);
        values::encode(&mut order, &mut gates);
        if self.about_histories() {
            order.calls(&mut gates, !self.covers);
        }
        let ordered_threads = symmetry::order_threads(&mut order, &mut gates, &self.symmetries(&set));
        let (nodes, threads) = (order.nodes.clone(), order.threads());
        let graph = order.graph;
        let encoding = self.finish(gates, graph, run, nodes, threads, deadlock, &finals);
        Encoding { ordered_threads, ..encoding }
    }

    /// The same under a model about relations.
    fn encode_relations(&self, cat: &Cat, mut gates: Gates, run: Run, words: &[Range]) -> Encoding {
        let asked = asked(self.program, self.question).into_iter().filter_map(|var| match var {
            FinalVar::Loc(loc) => Some(loc),
            FinalVar::Reg(..) => None,
        });
        let asked: Vec<LocId> = asked.collect();
        let set = relational::Setting { program: self.program, run: &run, words, asked: &asked };
        let (mut found, graph) = relational::encode(&set, cat, &mut gates);
        let finals = std::mem::take(&mut found.finals);
        let about_races = matches!(self.question, Question::Holds(Property::Races));
        let raced = about_races.then(|| gates.any(found.races.iter().map(|(.., lit)| *lit)));
        let mut run = run;
        let hangs = if self.rounds.is_empty() { FALSE } else { relational::hang(&mut gates, &mut run, &found) };
        let encoding = self.finish(gates, graph, run, Vec::new(), Vec::new(), hangs, &finals);
        let target = raced.unwrap_or(encoding.target);
        Encoding { relational: Some(Box::new(found)), target, ..encoding }
    }

    /// The exchanges of threads that every computation commutes with.
    fn symmetries(&self, set: &Setting<'_>) -> Vec<Swap> {
        let mut gates = Gates::new(true);
        gates.exchanges = Exchanges::new(self.swaps.clone());
        if !self.swaps.is_empty() {
            walk_all(set, &mut gates);
        }
        gates.exchanges.into_swaps()
    }

    fn setting<'s>(&'s self, bound: &'s dyn Fn(LoopKey) -> usize, words: &'s [Range]) -> Setting<'s> {
        let (loops, live, idle) = (&self.loops, &self.live, &self.idle);
        let (rounds, optional) = (&self.rounds, &self.positions);
        let (traits, limits) = (Traits::of(self.model), self.limits);
        Setting {
            limits,
            program: self.program,
            model: self.model,
            traits,
            loops,
            live,
            idle,
            rounds,
            bound,
            words,
            optional,
        }
    }

    /// What each word may hold (CheckFence, section 3.4): the initial value and what is ever stored there.
    ///
    /// Rounds of symbolic execution without clauses, each with what the round before found. A value that a load returns was computed from values of
    /// other loads, without a circle (axiom 7), so one that takes `d` stores to come about is found in round `d`; after as many
    /// rounds as there are stores nothing is missing, even if the ranges would still grow.
    fn word_ranges(&self, bound: &dyn Fn(LoopKey) -> usize) -> Vec<Range> {
        let mut words: Vec<Range> = self.program.locations.iter().map(|location| Range::one(location.init)).collect();
        let mut rounds = 0;
        loop {
            let mut gates = Gates::new(true);
            let run = walk_all(&self.setting(bound, &words), &mut gates);
            let before = words.clone();
            for (word, initial) in words.iter_mut().zip(&run.initial) {
                *word = word.join(&initial.range);
            }
            let stores = run.events.iter().filter_map(|event| Some((&event.address, event.write.as_ref()?)));
            let mut count = 0;
            for (address, (value, _)) in stores {
                count += 1;
                for (word, _) in &address.words {
                    let word = &mut words[*word as usize];
                    *word = word.join(&value.range);
                }
            }
            rounds += 1;
            if words == before || rounds > count + 1 || self.stops() {
                return words;
            }
        }
    }

    fn looks_for_deadlocks(&self) -> bool {
        let about_steps = matches!(self.question, Question::Holds(Property::Assertions | Property::Observations(_)));
        about_steps || self.about_histories() || self.about_ends().is_some()
    }

    /// Whether the question is about threads coming to an end.
    fn about_ends(&self) -> Option<cyrano_ir::Liveness> {
        match self.question {
            Question::Holds(Property::Live(liveness)) => Some(*liveness),
            _ => None,
        }
    }

    /// Whether the question is about what threads say to a transactional memory and hear from it.
    pub(crate) fn about_histories(&self) -> bool {
        matches!(self.question, Question::Holds(Property::Transactions(_)))
    }

    /// A look at each word of final memory that the question is about.
    fn final_words(&self, gates: &mut Gates, run: &mut Run, words: &[Range]) -> FxHashMap<LocId, Value> {
        let mut finals = FxHashMap::default();
        for var in asked(self.program, self.question) {
            let FinalVar::Loc(loc) = var else { continue };
            finals.entry(loc).or_insert_with(|| look(gates, run, ThreadId(0), Address::fixed(loc.0), words));
        }
        finals
    }

    #[allow(clippy::too_many_arguments)]
    fn finish(
        &self,
        mut gates: Gates,
        graph: Graph,
        run: Run,
        nodes: Vec<Node>,
        threads: Vec<Option<ThreadId>>,
        deadlock: Lit,
        finals: &FxHashMap<LocId, Value>,
    ) -> Encoding {
        let errors = gates.any(run.errors.iter().copied());
        let failed = gates.any(run.failed.iter().copied());
        // Who asks whether threads get done does not mind what they assert.
        let asserts = self.about_ends().is_none();
        let wrong = if asserts { gates.or(errors, failed) } else { errors };
        let halted = gates.all(run.threads.iter().map(|thread| thread.halted));
        let complete = gates.and(halted, !errors);
        let asserted = gates.any(run.asserted.iter().copied());
        let lookup = |var: &FinalVar| match var {
            FinalVar::Loc(loc) => finals[loc].clone(),
            FinalVar::Reg(thread, register) => run.threads[thread.index()].registers.values[register.index()].clone(),
        };
        let observed: Vec<Value> = shown(self.program, self.question).iter().map(lookup).collect();
        let asked = asked(self.program, self.question).into_iter().map(|var| (var, lookup(&var))).collect();
        let mut undefined = FALSE;
        let target = match self.question {
            Question::Outcomes
            | Question::Holds(
                Property::Progress(_)
                | Property::Structure(_)
                | Property::CommitAtomicity
                | Property::Invariant(_)
                | Property::Races,
            ) => complete,
            // No formula tells a wrong history; histories are judged as they are found.
            Question::Holds(Property::Transactions(_)) => FALSE,
            Question::Holds(Property::Assertions | Property::Live(_)) => gates.or(wrong, deadlock),
            Question::Holds(Property::Observations(allowed)) => {
                let other = none_of(&mut gates, &self.program.observed, &observed, allowed);
                let shows = gates.and(complete, other);
                let goes_wrong = gates.or(wrong, deadlock);
                gates.or(shows, goes_wrong)
            }
            Question::Holds(Property::Final { quantifier, cond, .. }) => {
                let computed = gates.eval(cond, &mut |_, var| (lookup(var), FALSE));
                undefined = computed.1;
                let decides = decides(&mut gates, *quantifier, &computed);
                gates.and(complete, decides)
            }
        };
        let mut loops: FxHashMap<LoopKey, Vec<Lit>> = FxHashMap::default();
        run.exceeded.iter().for_each(|(key, lit)| loops.entry(*key).or_default().push(*lit));
        let mut exceeded: Vec<(LoopKey, Lit)> = loops.into_iter().map(|(key, lits)| (key, gates.any(lits))).collect();
        exceeded.sort();
        let formula = std::mem::take(&mut gates.formula);
        let optional = (!self.positions.is_empty()).then(|| Optional::new(gates.settled()));
        Encoding {
            formula,
            graph,
            run,
            nodes,
            threads,
            complete,
            wrong,
            asserts,
            deadlock,
            asserted,
            target,
            undefined,
            observed,
            asked,
            exceeded,
            ordered_threads: 0,
            relational: None,
            optional,
        }
    }
}

/// Whether a question is about what the program observes.
fn shows_outcomes(question: Question<'_>) -> bool {
    matches!(question, Question::Outcomes | Question::Holds(Property::Observations(_)))
}

/// The variables of final states that are told of an execution: what the program observes, or where the end is judged with the history, what memory holds then.
fn shown(program: &Program, question: Question<'_>) -> Vec<FinalVar> {
    match question {
        Question::Holds(Property::Transactions(_)) => {
            program.transactional.iter().map(|loc| FinalVar::Loc(*loc)).collect()
        }
        question if shows_outcomes(question) => program.observed.iter().map(|observable| observable.var).collect(),
        _ => Vec::new(),
    }
}

/// The variables of final states that a question is about; nothing else has to be known at the end.
fn asked(program: &Program, question: Question<'_>) -> Vec<FinalVar> {
    let mut vars = Vec::new();
    if let Question::Holds(Property::Final { cond, .. }) = question {
        cond.for_each_var(&mut |var| vars.push(*var));
    }
    vars.extend(shown(program, question));
    vars
}

/// Runs all threads, the setup thread first.
fn walk_all(set: &Setting<'_>, gates: &mut Gates) -> Run {
    let program = set.program;
    let mut run = Run::default();
    let mut memory: Vec<Value> = program.locations.iter().map(|location| Value::constant(location.init)).collect();
    let mut start = TRUE;
    let mut setup = None;
    if let Some(thread) = program.setup {
        let (done, left) = ThreadWalk::thread(set, gates, &mut run, thread, TRUE, Some(memory.clone()));
        start = done.halted;
        memory = left.unwrap_or(memory);
        setup = Some(done);
    }
    run.initial = memory;
    for thread in program.thread_ids() {
        let of_thread = match setup.take_if(|_| program.setup == Some(thread)) {
            Some(done) => done,
            None => ThreadWalk::thread(set, gates, &mut run, thread, start, None).0,
        };
        run.threads.push(of_thread);
    }
    run
}

/// Whether a final state settles the question. A condition without a value is neither a witness nor fine.
fn decides(gates: &mut Gates, quantifier: Quantifier, (value, wrong): &Computed) -> Lit {
    let holds = gates.is_true(value);
    match quantifier {
        Quantifier::Exists => gates.and(holds, !*wrong),
        Quantifier::Never => gates.or(holds, *wrong),
        Quantifier::Always => gates.or(!holds, *wrong),
    }
}
