//! The symbolic engine against the reference interpreter: the library and random programs, every model, every switch.

use cyrano_conformance::generate::{program as random_program, units};
use cyrano_conformance::models;
use cyrano_conformance::pinned::{self, pinned};
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict, Violation};
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::{OrderEncoding, Symbolic};
use proptest::prelude::*;

fn ask(engine: &dyn Engine, program: &Program, model: &Model, question: Question<'_>, limits: &Limits) -> Answer {
    engine.ask(Query::new(program, model, question).expect("a question"), limits, &())
}

/// Outcome sets are equal, or, where an engine had to stop early, its set is part of the other's. Says whether both sets are complete.
fn outcomes_agree(symbolic: &Symbolic, program: &Program, model: &Model, slow_limits: &Limits) -> Result<bool, String> {
    let slow = ask(&Interp, program, model, Question::Outcomes, slow_limits);
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    let (fast, stats) = symbolic.ask_with_stats(query, &limits(60.0, 1), &());
    if stats.wrong_lemmas > 0 {
        return Err(format!("{}: {} of {} lemmas are not cycles", model.name, stats.wrong_lemmas, stats.lemmas));
    }
    let missing: Vec<_> = slow.outcomes.difference(&fast.outcomes).collect();
    let invented: Vec<_> = fast.outcomes.difference(&slow.outcomes).collect();
    // A bounded answer of the symbolic engine has everything that the interpreter finds with fewer repetitions.
    let misses = fast.verdict != Verdict::Unknown && !missing.is_empty();
    let invents = slow.verdict == Verdict::Verified && !invented.is_empty();
    if misses || invents || fast.verdict == Verdict::Unknown {
        let (verdict, reason) = (fast.verdict, fast.reason);
        return Err(format!("{}: {verdict:?} {reason:?}, misses {missing:?}, invents {invented:?}", model.name));
    }
    Ok(slow.verdict == Verdict::Verified && fast.verdict == Verdict::Verified)
}

/// Verdicts agree where both engines settle the question, and every execution replays. Says whether both do.
fn verdicts_agree(
    symbolic: &Symbolic,
    program: &Program,
    model: &Model,
    property: &Property,
    slow_limits: &Limits,
) -> Result<bool, String> {
    let fast = ask(symbolic, program, model, Question::Holds(property), &limits(60.0, 1));
    let name = &model.name;
    if let Some(execution) = &fast.execution {
        let replayed = cyrano_interp::confirm(program, model, property, fast.violation.as_ref(), execution);
        if let Err(error) = replayed {
            return Err(format!("{name}, {}: {:?} does not replay: {error}", property.criterion(), fast.violation));
        }
    }
    let slow = ask(&Interp, program, model, Question::Holds(property), slow_limits);
    let settled = |verdict: Verdict| matches!(verdict, Verdict::Verified | Verdict::Violated | Verdict::Vacuous);
    let found = |verdict: Verdict| verdict == Verdict::Violated;
    let differ = settled(slow.verdict) && settled(fast.verdict) && slow.verdict != fast.verdict;
    // A violation is a violation, however far the other engine looked.
    let missed = found(slow.verdict) && slow.execution.is_some() && !found(fast.verdict);
    // The symbolic engine says so where it does not look for deadlocks, and takes an endless section for a loop.
    let known = matches!(slow.violation, Some(Violation::Deadlock { .. } | Violation::AtomicDiverges { .. }));
    let missed = missed && !(known && fast.verdict == Verdict::Bounded);
    if differ || missed || fast.verdict == Verdict::Unknown {
        let criterion = property.criterion();
        return Err(format!(
            "{name}, {criterion}: {:?} {:?}, interp {:?} {:?}",
            fast.verdict, fast.reason, slow.verdict, slow.violation
        ));
    }
    Ok(settled(slow.verdict) && settled(fast.verdict))
}

/// How many questions were settled by both.
fn everything_agrees(symbolic: &Symbolic, program: &Program, limits: &dyn Fn() -> Limits) -> Result<usize, String> {
    cyrano_memory::all().iter().try_fold(0, |sum, model| Ok(sum + agrees_under(symbolic, program, model, limits)?))
}

fn agrees_under(
    symbolic: &Symbolic,
    program: &Program,
    model: &Model,
    limits: &dyn Fn() -> Limits,
) -> Result<usize, String> {
    if !symbolic.runs(program, model) {
        return Ok(0);
    }
    let mut settled = usize::from(outcomes_agree(symbolic, program, model, &limits())?);
    settled += usize::from(verdicts_agree(symbolic, program, model, &Property::Assertions, &limits())?);
    for check in &program.checks {
        settled += usize::from(verdicts_agree(symbolic, program, model, &check.property, &limits())?);
    }
    Ok(settled)
}

/// Few repetitions: spinning loops can be repeated for ever.
fn engine() -> Symbolic {
    Symbolic { iterations: 4, check_lemmas: true, ..Symbolic::default() }
}

#[test]
fn the_library_agrees() {
    let settled = corpus::for_each_litmus(|_, program| everything_agrees(&engine(), program, &|| limits(0.06, 1)));
    assert!(settled >= 2800, "only {settled} questions were settled by both");
}

#[test]
fn headers_tell_the_truth() {
    let decided = corpus::for_each_litmus(|entry, program| {
        let mut decided = 0;
        for expectation in entry.expectations.iter().filter(|expectation| expectation.verdict != "skip") {
            let model = cyrano_memory::named(&expectation.model).ok_or(format!("no model {}", expectation.model))?;
            let verdicts = program.checks.iter().map(|check| {
                ask(&engine(), program, &model, Question::Holds(&check.property), &limits(60.0, 1)).verdict
            });
            let verdict = verdicts.max_by_key(|verdict| verdict.gravity()).ok_or("checks nothing")?;
            if verdict.name() != expectation.verdict && verdict != Verdict::Bounded {
                return Err(format!(
                    "{}: header says {}, engine says {}",
                    model.name,
                    expectation.verdict,
                    verdict.name()
                ));
            }
            decided += usize::from(verdict != Verdict::Bounded);
        }
        Ok(decided)
    });
    assert!(decided >= 1050, "only {decided} promises were decided");
}

#[test]
fn theory_and_clauses_agree_with_ranges_on_and_off() {
    let theory = Symbolic { iterations: 1, check_lemmas: true, ..Symbolic::default() };
    let others = [
        Symbolic { order: OrderEncoding::Cubic, ..theory.clone() },
        Symbolic { ranges: false, ..theory.clone() },
        Symbolic { order: OrderEncoding::Cubic, ranges: false, ..theory.clone() },
    ];
    let compared = corpus::for_each_litmus(|entry, program| {
        let mut compared = 0;
        // Each program under every other model, some under these and some under those, but for a long run.
        let first = entry.source.len() % 2;
        let models = cyrano_memory::all().into_iter().enumerate();
        for (_, model) in models.filter(|(number, _)| pinned::long() || number % 2 == first) {
            let expected = ask(&theory, program, &model, Question::Outcomes, &limits(60.0, 1));
            for other in &others {
                let answer = ask(other, program, &model, Question::Outcomes, &limits(60.0, 1));
                if answer.outcomes != expected.outcomes || answer.verdict != expected.verdict {
                    let (a, b) = (answer.verdict, expected.verdict);
                    return Err(format!(
                        "{}: {other:?} gives {a:?} {:?} instead of {b:?} {:?}",
                        model.name, answer.outcomes, expected.outcomes
                    ));
                }
                compared += usize::from(answer.verdict != Verdict::Unknown);
            }
        }
        Ok(compared)
    });
    assert!(compared >= 1600, "only {compared} sets of outcomes were compared");
}

/// What random programs rarely need: each of these fails if one argument of the encoding is dropped.
#[test]
fn corner_cases_agree() {
    // A value that only a circle of copies could bring about, though the program text has it.
    let thin_air = "threads {
        shared x, y, z;
        local r;
        thread p0 { r := x; y := r; }
        thread p1 { r := y; x := r; }
        thread p2 { r := z; if r = 1 { x := 1; } }
    }
    observe p0.r, p1.r;";
    // A section whose store is not executed passes no order on from the store before it to the load after it.
    let skipped = "threads {
        shared x, y, z, w;
        local r, s, o;
        thread p0 { x := 1; choose r in 0..1; atomic { o := z; if r = 1 { w := 1; } } s := y; }
        thread p1 { y := 1; choose r in 0..1; atomic { o := z; if r = 1 { w := 1; } } s := x; }
    }
    observe p0.s, p1.s, p0.r, p1.r;";
    // The same for a read-modify-write that is not executed.
    let exchange = "threads {
        shared x, y, z, w;
        local r, s, o;
        thread p0 { x := 1; choose r in 0..1; if r = 1 { o := exchange(w, 1); } s := y; }
        thread p1 { y := 1; choose r in 0..1; if r = 1 { o := exchange(w, 1); } s := x; }
    }
    observe p0.s, p1.s, p0.r, p1.r;";
    // A section that its bound cuts off is seen by nobody, and two of them need not be each after the other.
    let cut = "threads {
        shared x = 1, y;
        local r, n;
        thread p0 { atomic { r := x; y := 1; while n < 3 { n := n + 1; if r = 0 { break; } } y := 0; } }
        thread p1 { atomic { r := y; x := 0; while n < 3 { n := n + 1; if r = 1 { break; } } x := 1; } }
    }
    observe p0.r, p1.r, p0.n, p1.n;";
    // An operation that is not finished comes last; what is beside operations need not come before it.
    let beside = "threads {
        shared x = 1;
        local r, n;
        thread p0 { operation f { r := x; assert r = 0; while n < 3 { n := n + 1; } assume r = 0; } }
        thread p1 { operation g { n := 1; } x := 0; }
    }
    observe p0.r;";
    for source in [thin_air, skipped, exchange, cut, beside] {
        let program = cyrano_rml::compile(source, "corner", &[]).expect("the test's program compiles");
        let agrees = everything_agrees(&engine(), &program, &|| limits(60.0, 3));
        assert!(agrees.as_ref().is_ok_and(|settled| *settled >= 7), "{agrees:?}\n{source}");
    }
}

fn cases() -> u32 {
    std::env::var("CYRANO_SYMBOLIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(pinned(cases()))]

    #[test]
    fn random_programs_agree(random in random_program()) {
        if let Err(error) = everything_agrees(&engine(), &random.program(), &|| limits(0.1, 3)) {
            return Err(TestCaseError::fail(format!("{error}\n{}", random.shown())));
        }
    }

    #[test]
    fn random_programs_of_units_agree_under_users_models(random in units(), model in models::model()) {
        if let Err(error) = agrees_under(&engine(), &random.program(), &model, &|| limits(0.1, 3)) {
            return Err(TestCaseError::fail(format!("{error}\n{model:?}\n{}", random.shown())));
        }
    }
}
