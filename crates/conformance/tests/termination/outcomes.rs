//! The machines of the oracle are the machines of the models: on random programs they come to the same final states, deadlocks and endless sections as the explorer,
//! whose semantics the reference has confirmed elsewhere; and both machines judge alike.

use cyrano_conformance::compare::model;
use cyrano_conformance::limits;
use cyrano_conformance::pinned::long;
use cyrano_conformance::termination::compare::{MODELS, judgement};
use cyrano_conformance::termination::{Found, Judgement, Size, judge_reordered, random};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Op, Program, Property};
use cyrano_memory::Model;

const SIZE: Size = Size { capacity: 3, states: 5_000 };

/// How much was compared.
#[derive(Default, Debug)]
struct Tally {
    outcomes: usize,
    deadlocks: usize,
    machines: usize,
}

#[test]
fn machines_do_what_the_models_say() {
    let seeds = if long() { 3_000 } else { 120 };
    let mut tally = Tally::default();
    for seed in 0..seeds {
        let mut tree = random::tree(seed);
        tree.observed = true;
        let program = tree.program();
        for model in MODELS.map(model) {
            let judgement = judgement(&program, &model, SIZE);
            let Some(judgement) = judgement.filter(|judgement| judgement.found != Found::TooLarge) else { continue };
            let name = format!("seed {seed}, {}\n{}", model.name, tree.text());
            let explore = Explore::default();
            if explore.runs(&program, &model) {
                tally.outcomes += usize::from(same_outcomes(&explore, &program, &model, &judgement, &name));
                tally.deadlocks += usize::from(same_deadlocks(&explore, &program, &model, &judgement, &name));
            }
            if let Some(other) = judge_reordered(&program, &model, SIZE)
                && other.found != Found::TooLarge
                && !other.full
                && !judgement.full
            {
                let holds = |judgement: &Judgement| matches!(judgement.found, Found::Holds { .. });
                assert_eq!(holds(&judgement), holds(&other), "{name}");
                assert_eq!(judgement.outcomes, other.outcomes, "{name}");
                tally.machines += 1;
            }
        }
    }
    println!("{seeds} programs: {tally:?}");
    assert!(tally.outcomes > seeds as usize && tally.deadlocks > 2 * seeds as usize, "{tally:?}");
    assert!(tally.machines > seeds as usize, "{tally:?}");
}

/// Whether both know all outcomes; then they are the same.
fn same_outcomes(explore: &Explore, program: &Program, model: &Model, judgement: &Judgement, name: &str) -> bool {
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    let answer = explore.ask(query, &limits(2.0, 1), &());
    let limited = program.threads.iter().flat_map(|thread| &thread.code).any(|i| matches!(i.op, Op::Limit { .. }));
    let complete = matches!(answer.verdict, Verdict::Verified | Verdict::Vacuous);
    if judgement.full || !complete || limited {
        return false;
    }
    assert_eq!(
        answer.outcomes.iter().cloned().collect::<std::collections::BTreeSet<_>>(),
        judgement.outcomes,
        "{name}"
    );
    true
}

/// Whether the explorer knows if there is a deadlock or an endless section; then the machine knows as well.
fn same_deadlocks(explore: &Explore, program: &Program, model: &Model, judgement: &Judgement, name: &str) -> bool {
    let query = Query::new(program, model, Question::Holds(&Property::Assertions)).expect("a question");
    let answer = explore.ask(query, &limits(2.0, 1), &());
    if answer.verdict == Verdict::Unknown {
        return false;
    }
    let stuck = matches!(judgement.found, Found::Stuck(_) | Found::Diverges(_));
    assert_eq!(answer.verdict == Verdict::Violated, stuck, "{name}: {:?}", judgement.found);
    true
}
