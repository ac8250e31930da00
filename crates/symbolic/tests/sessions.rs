//! Sessions: one solver that is asked about a program with different fences says what a new one says about each.
//!
//! Fences are put before every instruction of the program. Some positions belong to all threads at once, as positions in a procedure do. Each session is asked about several sets,
//! in an order that makes bounds grow and assumptions come and go.

use std::time::{Duration, Instant};

use cyrano_conformance::generate::program as random_program;
use cyrano_conformance::pinned::pinned;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Stop, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{AccessKind, FenceSet, Instr, InstrId, Op, Program, Property, Span};
use cyrano_memory::Model;
use cyrano_symbolic::{OrderEncoding, Session, Symbolic};
use proptest::prelude::*;

type Set = Vec<(u32, FenceSet)>;

/// Where the position of an inserted fence is noted: no source is this long.
const AT: usize = 1 << 24;

fn compile(source: &str) -> Program {
    match cyrano_rml::compile(source, "test", &[]) {
        Ok(program) => program,
        Err(error) => panic!("does not compile: {error:?}\n{source}"),
    }
}

/// The position before an instruction; `shared` ones belong to all threads.
fn number(thread: usize, pc: usize, shared: bool) -> u32 {
    u32::try_from(if shared { pc } else { 1000 * (thread + 1) + pc }).expect("a small program")
}

fn position(instr: &Instr) -> Option<u32> {
    let Span { start, end } = instr.span;
    (matches!(instr.op, Op::Fence(_)) && start == end && start as usize >= AT).then(|| start - AT as u32)
}

/// The program with fences of these kinds at its positions, but for atomic sections; jumps lead to the fence before their target.
fn with_fences(program: &Program, shared: bool, kinds: &dyn Fn(u32) -> FenceSet) -> Program {
    let mut program = program.clone();
    for (number_of_thread, thread) in program.threads.iter_mut().enumerate() {
        let (mut code, mut starts) = (Vec::new(), Vec::new());
        let mut in_section = false;
        for (pc, instr) in thread.code.iter().enumerate() {
            starts.push(InstrId::new(code.len()));
            let at = number(number_of_thread, pc, shared);
            if kinds(at) != FenceSet::NONE && !in_section {
                let span = Span::new(AT + at as usize, AT + at as usize);
                code.push(Instr { op: Op::fence(kinds(at)), span });
            }
            in_section = instr.op == Op::AtomicBegin || in_section && instr.op != Op::AtomicEnd;
            code.push(instr.clone());
        }
        let end = InstrId::new(code.len());
        let moved = |target: InstrId| starts.get(target.index()).copied().unwrap_or(end);
        for instr in &mut code {
            match &mut instr.op {
                Op::Branch { then_to, else_to, .. } => (*then_to, *else_to) = (moved(*then_to), moved(*else_to)),
                Op::Jump(target) => *target = moved(*target),
                _ => {}
            }
        }
        thread.code = code;
    }
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

fn with_set(program: &Program, shared: bool, set: &Set) -> Program {
    let kinds = |at: u32| {
        let own = set.iter().filter(|(position, _)| *position == at);
        own.fold(FenceSet::NONE, |all, (_, kind)| all | *kind)
    };
    with_fences(program, shared, &kinds)
}

/// All positions and kinds of a program.
fn candidates(program: &Program, shared: bool) -> Set {
    let threads = program.threads.iter().enumerate();
    let positions = threads.flat_map(|(thread, code)| (0..code.code.len()).map(move |pc| number(thread, pc, shared)));
    let mut positions: Vec<u32> = positions.collect();
    positions.sort_unstable();
    positions.dedup();
    positions.into_iter().flat_map(|at| FenceSet::KINDS.map(|(kind, _)| (at, kind))).collect()
}

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Each of these with this chance in eight.
    fn some(&mut self, of: &Set, chance: u64) -> Set {
        of.iter().copied().filter(|_| self.roll(8) < chance).collect()
    }
}

/// What is compared, and how often.
struct Trial<'a> {
    engine: Symbolic,
    program: &'a Program,
    model: &'a Model,
    shared: bool,
    seed: u64,
    sets: usize,
    /// Whether the explorer is asked, too.
    explore: bool,
}

impl Trial<'_> {
    fn fresh(&self, program: &Program, property: &Property) -> Answer {
        let query = Query::new(program, self.model, Question::Holds(property)).expect("a question");
        self.engine.ask(query, &limits(60.0, 1), &())
    }

    /// Asks one session about many sets and compares each answer with that of a new engine, and of the explorer.
    fn run(&self, property: &Property) -> Result<(), String> {
        let Self { engine, program, model, shared, .. } = self;
        let all = candidates(program, *shared);
        let everywhere = with_set(program, *shared, &all);
        let mut session = Session::new(engine, everywhere, model, property, position).expect("a session");
        let mut dice = Dice(self.seed);
        let chances = [1, 0, 3, 8, 2, 5, 1, 2];
        for chance in chances.iter().cycle().take(self.sets) {
            let set = dice.some(&all, *chance);
            let built = with_set(program, *shared, &set);
            let reply = session.ask(&set, &built, &limits(60.0, 1), &());
            let expected = self.fresh(&built, property);
            let (name, answer) = (&model.name, &reply.answer);
            let what = format!("{name}, {}, {set:?}", property.criterion());
            if reply.stats.wrong_lemmas > 0 {
                return Err(format!("{what}: {} lemmas are not cycles", reply.stats.wrong_lemmas));
            }
            if answer.verdict != expected.verdict {
                let (a, b) = ((answer.verdict, &answer.reason), (expected.verdict, &expected.reason));
                return Err(format!("{what}: {a:?} in a session, {b:?} alone"));
            }
            if let Some(execution) = &answer.execution {
                let confirmed = cyrano_interp::confirm(&built, model, property, answer.violation.as_ref(), execution);
                confirmed.map_err(|error| format!("{what}: {:?} does not replay: {error}", answer.violation))?;
            }
            if self.explore && Explore::default().runs(&built, model) {
                let query = Query::new(&built, model, Question::Holds(property)).expect("a question");
                let explored = Explore::default().ask(query, &limits(60.0, 1), &()).verdict;
                let settled = |verdict| matches!(verdict, Verdict::Verified | Verdict::Violated);
                if settled(explored) && settled(answer.verdict) && explored != answer.verdict {
                    return Err(format!("{what}: {:?}, but the explorer says {explored:?}", answer.verdict));
                }
            }
            self.needed_is_enough(property, &set, reply.needed, &mut dice).map_err(|why| format!("{what}: {why}"))?;
        }
        Ok(())
    }

    /// What an answer rests on is part of the set, and verified alone and with other fences.
    fn needed_is_enough(
        &self,
        property: &Property,
        set: &Set,
        needed: Option<Set>,
        dice: &mut Dice,
    ) -> Result<(), String> {
        let Some(needed) = needed else { return Ok(()) };
        if !needed.iter().all(|fence| set.contains(fence)) {
            return Err(format!("{needed:?} is not part of the set"));
        }
        let all = candidates(self.program, self.shared);
        let more = [needed.clone(), dice.some(&all, 1)].concat();
        for enough in [needed, more] {
            let answer = self.fresh(&with_set(self.program, self.shared, &enough), property);
            if answer.verdict != Verdict::Verified {
                return Err(format!("{enough:?} should be enough, but is {:?} {:?}", answer.verdict, answer.reason));
            }
        }
        Ok(())
    }
}

/// Few repetitions: spinning loops can be repeated for ever.
fn engine() -> Symbolic {
    Symbolic { iterations: 3, check_lemmas: true, ..Symbolic::default() }
}

/// The outcomes under sequential consistency: what most random programs should show and some do not.
fn sequential(program: &Program) -> Property {
    let sc = cyrano_memory::named("sc").expect("a model");
    let query = Query::new(program, &sc, Question::Outcomes).expect("a question");
    Property::Observations(engine().ask(query, &limits(60.0, 1), &()).outcomes)
}

fn models() -> impl Iterator<Item = Model> {
    cyrano_memory::all().into_iter().filter(|model| !model.reordering().own_order && !model.reordering().serial)
}

fn cases() -> u32 {
    std::env::var("CYRANO_SYMBOLIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

proptest! {
    #![proptest_config(pinned(cases()))]

    #[test]
    fn random_programs_agree(random in random_program(), seed in any::<u64>(), shared in any::<bool>()) {
        let source = random.source();
        let program = compile(&source);
        for model in models().filter(|model| engine().runs(&program, model)) {
            let orders = [OrderEncoding::Theory, OrderEncoding::Cubic];
            let engine = Symbolic { order: orders[seed as usize % 8 / 7], ..engine() };
            let trial = Trial { engine, program: &program, model: &model, shared, seed, sets: 4, explore: true };
            for property in [Property::Assertions, sequential(&program)] {
                if let Err(why) = trial.run(&property) {
                    return Err(TestCaseError::fail(format!("{why}\n{source}")));
                }
            }
        }
    }
}

/// Every check of every program of the library, loops included.
#[test]
fn the_library_agrees() {
    let entries = corpus::entries().expect("the library can be read");
    let mut failures = Vec::new();
    let litmus = entries.iter().filter(|entry| entry.path.parent().is_some_and(|parent| parent.ends_with("litmus")));
    for (number, entry) in litmus.enumerate() {
        let program = compile(&entry.source);
        for model in models().filter(|model| engine().runs(&program, model)) {
            let (shared, seed) = (number % 2 == 0, number as u64);
            let trial =
                Trial { engine: engine(), program: &program, model: &model, shared, seed, sets: 5, explore: false };
            for check in &program.checks {
                if let Err(why) = trial.run(&check.property) {
                    failures.push(format!("{}: {why}", entry.path.display()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Dekker's algorithm, whose loops have to be repeated with some sets of fences and need not with others.
fn dekker() -> Program {
    let path = corpus::folder().join("litmus").join("dekker.rml");
    compile(&std::fs::read_to_string(path).expect("the library has it"))
}

#[test]
fn bounds_grow_and_stay() {
    let program = dekker();
    let model = cyrano_memory::named("relaxed").expect("a model");
    let all = candidates(&program, true);
    let mut session =
        Session::new(&Symbolic::default(), with_set(&program, true, &all), &model, &Property::Assertions, position)
            .expect("a session");
    let ask =
        |session: &mut Session, set: &Set| session.ask(set, &with_set(&program, true, set), &Limits::default(), &());
    let violated = ask(&mut session, &Vec::new());
    assert_eq!(violated.answer.verdict, Verdict::Violated);
    let first = ask(&mut session, &all);
    assert_eq!(first.answer.verdict, Verdict::Verified, "{:?}", first.answer.reason);
    // A formula that reaches far enough is there, and what is needed was learnt.
    let again = ask(&mut session, &all);
    assert_eq!((again.answer.verdict, again.stats.rounds), (Verdict::Verified, 0));
    assert!(again.stats.conflicts < first.stats.conflicts.max(1));
    let needed = again.needed.expect("some fences are needed");
    assert!(!needed.is_empty() && needed.len() < all.len(), "{} of {}", needed.len(), all.len());
    assert!(session.bytes() > 0);
    session.forget();
    assert_eq!(session.bytes(), 0);
    assert_eq!(ask(&mut session, &needed).answer.verdict, Verdict::Verified);
}

#[test]
fn a_session_that_was_stopped_goes_on() {
    let program = dekker();
    let model = cyrano_memory::named("relaxed").expect("a model");
    let all = candidates(&program, true);
    let built = with_set(&program, true, &all);
    let mut session =
        Session::new(&Symbolic::default(), built.clone(), &model, &Property::Assertions, position).expect("a session");
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let stopped = session.ask(&all, &built, &late, &()).answer;
    assert_eq!((stopped.verdict, stopped.reason), (Verdict::Unknown, Some(Stop::Timeout.into())));
    let full = Limits { memory: 1, ..Limits::default() };
    let stopped = session.ask(&all, &built, &full, &()).answer;
    assert_eq!((stopped.verdict, stopped.reason), (Verdict::Unknown, Some(Stop::Memory.into())));
    assert_eq!(session.bytes(), 0, "what does not fit is not kept");
    let cancelled = Limits::default();
    cancelled.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(session.ask(&all, &built, &cancelled, &()).answer.reason, Some(Stop::Cancelled.into()));
    let enough = Limits::default().with_timeout(Some(Duration::from_secs(60)));
    assert_eq!(session.ask(&all, &built, &enough, &()).answer.verdict, Verdict::Verified);
}

/// With more fences nothing may be left that exercises an assertion: then that fewer are enough is not claimed.
#[test]
fn what_only_weak_executions_exercise_is_not_claimed() {
    let source = "threads { shared x, y; local r, s;
        thread p { x := 1; r := y; if r = 0 { s := exchange(y, 1); if s = 0 { assert 1 = 1; } } }
    } check assertions;";
    let program = compile(source);
    let model = cyrano_memory::named("relaxed").expect("a model");
    let trial =
        Trial { engine: engine(), program: &program, model: &model, shared: false, seed: 1, sets: 3, explore: false };
    assert_eq!(trial.run(&Property::Assertions), Ok(()));
    let weak = "threads { shared x, y; local r, s;
        thread p { x := 1; y := 1; }
        thread q { r := y; s := x; assume r = 1 && s = 0; assert 1 = 1; }
    } check assertions;";
    let program = compile(weak);
    let all = candidates(&program, false);
    let mut session = Session::new(&engine(), with_set(&program, false, &all), &model, &Property::Assertions, position)
        .expect("a session");
    let verified = session.ask(&[], &program, &Limits::default(), &());
    assert_eq!((verified.answer.verdict, verified.needed), (Verdict::Verified, None));
    let vacuous = session.ask(&all, &with_set(&program, false, &all), &Limits::default(), &());
    assert_eq!(vacuous.answer.verdict, Verdict::Vacuous);
}

/// The position of the first instruction of a thread for which this holds, as one of its own.
fn before(program: &Program, thread: usize, is: impl Fn(&Op) -> bool) -> u32 {
    let code = &program.threads[thread].code;
    number(thread, code.iter().position(|instr| is(&instr.op)).expect("the instruction is there"), false)
}

/// Two threads with the same text, but a fence in one of them only: whoever is first writes, and then the second thread must be allowed to be first.
#[test]
fn fences_break_symmetry() {
    let source = "threads { shared c, x, y; local r, s, t;
        thread p[2] {
            r := fetch_add(c, 1);
            if r = 0 { x := 1; y := 1; } else { s := y; t := x; assert !(s = 1 && t = 0); }
        }
    } check assertions;";
    let program = compile(source);
    let model = cyrano_memory::named("relaxed").expect("a model");
    // Behind the first store and the first load of a thread.
    let second = |thread: usize, kind: &dyn Fn(&Op) -> bool| {
        let code = &program.threads[thread].code;
        let found: Vec<usize> = (0..code.len()).filter(|pc| kind(&code[*pc].op)).collect();
        number(thread, found[1], false)
    };
    let writes = |thread| (second(thread, &|op| op.access_kind() == Some(AccessKind::Store)), FenceSet::SS);
    let reads = |thread| (second(thread, &|op| op.access_kind() == Some(AccessKind::Load)), FenceSet::LL);
    let all = candidates(&program, false);
    let mut session = Session::new(&engine(), with_set(&program, false, &all), &model, &Property::Assertions, position)
        .expect("a session");
    let mut ask = |set: Set| {
        let reply = session.ask(&set, &with_set(&program, false, &set), &Limits::default(), &());
        reply.answer.verdict
    };
    assert_eq!(ask(vec![writes(0), reads(0), reads(1)]), Verdict::Violated);
    assert_eq!(ask(vec![writes(1), reads(0), reads(1)]), Verdict::Violated);
    assert_eq!(ask(vec![writes(0), writes(1), reads(0)]), Verdict::Violated);
    assert_eq!(ask(vec![writes(0), writes(1), reads(0), reads(1)]), Verdict::Verified);
}

/// A proof that a limit of the program is never reached needs fences, too.
#[test]
fn limits_are_part_of_the_proof() {
    let source = "threads { shared x, y; local r, s;
        thread p { x := 1; y := 1; }
        thread q { r := y; s := x; assert !(r = 1 && s = 0); }
    } check never (q.r = 2);";
    let mut program = compile(source);
    let code = &mut program.threads[1].code;
    let asserts = code.iter().position(|instr| matches!(instr.op, Op::Assert { .. })).expect("an assertion");
    let Op::Assert { cond, .. } = code[asserts].op.clone() else { panic!("an assertion") };
    code[asserts].op = Op::Limit { cond, what: "nothing is late".into() };
    let model = cyrano_memory::named("relaxed").expect("a model");
    let property = program.checks[0].property.clone();
    let writes = (before(&program, 0, |op| op.access_kind() == Some(AccessKind::Store)) + 1, FenceSet::SS);
    let reads = (before(&program, 1, |op| op.access_kind() == Some(AccessKind::Load)) + 1, FenceSet::LL);
    let all = candidates(&program, false);
    let mut session =
        Session::new(&engine(), with_set(&program, false, &all), &model, &property, position).expect("a session");
    let mut ask = |set: &Set| session.ask(set, &with_set(&program, false, set), &Limits::default(), &());
    assert_eq!(ask(&vec![writes]).answer.verdict, Verdict::Bounded);
    let verified = ask(&vec![writes, reads]);
    assert_eq!((verified.answer.verdict, verified.needed), (Verdict::Verified, Some(vec![writes, reads])));
}
