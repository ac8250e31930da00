//! The search itself: remembered steps, ample sets, several workers, fingerprints and memory limits, against the plain search.

use std::collections::HashSet;
use std::path::PathBuf;

use cyrano_conformance::generate::program;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::{Explore, Space, Summary};
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;
use proptest::prelude::*;

/// No remembered steps, no ample sets.
fn plain() -> Explore {
    Explore { ample_sets: false, remembered_steps: false, ..Explore::default() }
}

/// Remembered steps without ample sets: the same states.
fn remembered() -> Explore {
    Explore { ample_sets: false, ..Explore::default() }
}

fn counts(answer: &Answer) -> (u64, u64, u64) {
    (answer.stats.states, answer.stats.transitions, answer.stats.depth)
}

/// What differs between the plain search and the faster ones on a question.
fn differs(program: &Program, model: &Model, question: Question<'_>) -> Option<String> {
    if Explore::default().supports(program, model).is_err() {
        return None;
    }
    let query = Query { program, model, question };
    let [before, after, ample] =
        [plain(), remembered(), Explore::default()].map(|explore| explore.ask(query, &limits(0.5, 3), &()));
    if [&before, &after, &ample].iter().any(|answer| answer.verdict == Verdict::Unknown) {
        return None;
    }
    let length = |answer: &Answer| answer.execution.as_ref().map(|execution| execution.order.len());
    let same = (before.verdict, &before.outcomes, length(&before)) == (after.verdict, &after.outcomes, length(&after));
    let counted = counts(&before) == counts(&after) || before.execution.is_some();
    if !same || !counted {
        return Some(format!("{}: plain {before:?}\nremembered {after:?}", model.name));
    }
    if (before.verdict, &before.outcomes, length(&before)) != (ample.verdict, &ample.outcomes, length(&ample)) {
        return Some(format!("{}: plain {before:?}\nample sets {ample:?}", model.name));
    }
    let fewer = ample.stats.states <= after.stats.states || ample.execution.is_some();
    (!fewer).then(|| format!("{}: ample sets have more states", model.name))
}

fn questions(program: &Program) -> Vec<Question<'_>> {
    const ASSERTIONS: Property = Property::Assertions;
    let mut all = vec![Question::Outcomes, Question::Holds(&ASSERTIONS)];
    all.extend(program.checks.iter().map(|check| Question::Holds(&check.property)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_have_the_same_states(random in program()) {
        let program = random.program();
        for model in cyrano_memory::all() {
            for question in questions(&program) {
                if let Some(difference) = differs(&program, &model, question) {
                    return Err(TestCaseError::fail(format!("{difference}\n{}", random.shown())));
                }
            }
        }
    }
}

#[test]
fn the_library_has_the_same_states() {
    let mut ample = 0;
    let wanted = |entry: &corpus::Entry| {
        ["litmus", "atomicity"].iter().any(|f| entry.path.parent().is_some_and(|p| p.ends_with(f)))
    };
    for entry in corpus::entries().expect("the library can be read").into_iter().filter(wanted) {
        let Ok(program) = cyrano_rml::compile(&entry.source, &entry.path.to_string_lossy(), &[]) else { continue };
        let small = entry.path.parent().is_some_and(|parent| parent.ends_with("litmus"));
        for model in cyrano_memory::all()
            .into_iter()
            .filter(|m| small && ["sc", "tso", "rmo"].contains(&&m.name[..]) || m.name == "sc")
        {
            for question in questions(&program) {
                let difference = differs(&program, &model, question);
                assert!(difference.is_none(), "{}: {}", entry.path.display(), difference.unwrap_or_default());
            }
            let query = Query { program: &program, model: &model, question: Question::Outcomes };
            let answer = Explore::default().ask(query, &limits(0.5, 3), &());
            ample += usize::from(answer.reductions.contains(&"ample-sets"));
        }
    }
    assert!(ample > 20, "ample sets are hardly ever used: {ample}");
}

/// The models that are compared with Spin.
fn bench(name: &str, constants: &[(&str, i128)]) -> Program {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../benches/spin/{name}.rml"));
    let source = std::fs::read_to_string(&path).expect("the model can be read");
    let constants: Vec<(String, i128)> = constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    cyrano_rml::compile(&source, name, &constants).expect("the model compiles")
}

fn ask(program: &Program, explore: &Explore, limits: &Limits) -> Answer {
    let model = cyrano_memory::named("sc").expect("there is sc");
    explore.ask(Query { program, model: &model, question: Question::Holds(&Property::Assertions) }, limits, &())
}

/// Large enough for the workers to share levels.
fn large() -> Vec<Program> {
    vec![
        bench("mcs", &[("N", 5)]),
        bench("philosophers", &[("N", 8)]),
        bench("mcrt", &[("N", 2), ("VARS", 2), ("OPS", 3)]),
        bench("peterson", &[]),
    ]
}

#[test]
fn workers_count_the_same() {
    for program in large() {
        for explore in [Explore::default(), remembered()] {
            let one = ask(&program, &explore, &limits(60.0, 3));
            assert!(one.stats.states > 20_000, "{} is too small: {}", program.name, one.stats.states);
            for workers in [2, 3, 8] {
                let several = ask(&program, &explore, &Limits { workers, ..limits(60.0, 3) });
                assert_eq!((several.verdict, counts(&several)), (one.verdict, counts(&one)), "{}", program.name);
            }
        }
    }
}

#[test]
fn workers_count_the_same_with_states_as_bytes() {
    let program = bench("mcs", &[("N", 4)]);
    let one = ask(&program, &plain(), &limits(60.0, 3));
    let several = ask(&program, &plain(), &Limits { workers: 3, ..limits(60.0, 3) });
    assert_eq!((several.verdict, counts(&several)), (one.verdict, counts(&one)));
}

#[test]
fn workers_find_the_shortest_violation() {
    // Nobody ever waits: the mutual exclusion of the filter lock is broken deep inside.
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches/spin/peterson.rml");
    let source = std::fs::read_to_string(path).expect("the model can be read");
    let broken = source.replacen("if t != self { break; }", "if t == self { break; }", 1);
    assert_ne!(source, broken, "the model has changed");
    let program = cyrano_rml::compile(&broken, "broken", &[]).expect("the model compiles");
    let one = ask(&program, &remembered(), &limits(60.0, 3));
    let several = ask(&program, &remembered(), &Limits { workers: 3, ..limits(60.0, 3) });
    let length = |answer: &Answer| answer.execution.as_ref().map(|execution| execution.order.len());
    assert_eq!((one.verdict, several.verdict), (Verdict::Violated, Verdict::Violated));
    assert_eq!(length(&one), length(&several));
}

#[test]
fn fingerprints_find_as_many_states_and_say_what_they_are_worth() {
    let program = bench("mcs", &[("N", 4)]);
    let exact = ask(&program, &remembered(), &limits(60.0, 3));
    for explore in [Explore { fingerprints: true, ..remembered() }, Explore { fingerprints: true, ..plain() }] {
        for workers in [1, 2] {
            let answer = ask(&program, &explore, &Limits { workers, ..limits(60.0, 3) });
            assert_eq!((answer.verdict, answer.stats.states), (Verdict::Bounded, exact.stats.states));
            assert!(answer.reason.is_some_and(|reason| reason.contains("probability")));
        }
    }
    let one = bench("philosophers", &[("N", 3)]);
    assert_eq!(ask(&one, &Explore { fingerprints: true, ..remembered() }, &limits(60.0, 3)).verdict, Verdict::Bounded);
}

#[test]
fn memory_limits_are_kept() {
    let program = bench("philosophers", &[("N", 11)]);
    for explore in [Explore::default(), plain()] {
        for megabytes in [8, 20, 50] {
            let memory = megabytes << 20;
            let answer = ask(&program, &explore, &Limits { memory, ..limits(60.0, 3) });
            assert_eq!(answer.verdict, Verdict::Unknown);
            assert!(answer.reason.is_some_and(|reason| reason.starts_with("memory limit reached")));
            let used = answer.stats.peak_bytes;
            assert!(used <= memory + memory / 10, "{used} bytes of {memory}");
            assert!(used >= memory / 2, "only {used} bytes of {memory}");
        }
    }
}

/// All states that a walker finds, in a plain search of its own, and what it says beside; nothing if there are too many.
fn walked(space: &Space<'_>) -> Option<(HashSet<Vec<u8>>, Summary, bool)> {
    let mut walker = space.walker();
    let (mut seen, mut work, mut wrong) = (HashSet::new(), Vec::new(), false);
    walker.initial(|state| work.push(state.to_vec()));
    while let Some(state) = work.pop() {
        if seen.insert(state.clone()) {
            wrong |= walker.expand(&state, |next| work.push(next.to_vec())).is_some();
        }
        if seen.len() > 100_000 {
            return None;
        }
    }
    Some((seen, walker.summary(), wrong))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walkers_find_the_same_states(random in program()) {
        let program = random.program();
        for model in cyrano_memory::all().into_iter().filter(|model| Explore::default().supports(&program, model).is_ok()) {
            for question in questions(&program) {
                let query = Query { program: &program, model: &model, question };
                let (with, without) = (Explore::default(), plain());
                let spaces = Space::new(query, &with, &limits(5.0, 3)).zip(Space::new(query, &without, &limits(5.0, 3)));
                let Some((with, without)) = spaces else { continue };
                let (with, without) = (walked(&with), walked(&without));
                prop_assert!(with == without, "{}: {}", model.name, random.shown());
            }
        }
    }
}

/// Compressing long states changes no count: transactional memories, by conflicts and with values, timestamps and the shadow of blocks.
#[test]
fn compressed_states_count_the_same() {
    let library = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../library");
    let compile = |file: &str, set: &[(String, i128)]| {
        let source = std::fs::read_to_string(library.join(file)).expect("the library can be read");
        cyrano_rml::compile(&source, file, set).expect("the library compiles")
    };
    let one = |name: &str, value| (name.to_owned(), value);
    let opacity = Property::Transactions(TxCriterion::Opacity);
    let cases = [
        (compile("stm/tl2.rml", &[one("vars", 1)]), &opacity, "sc"),
        (compile("stm/mcrt.rml", &[]), &opacity, "tso"),
        (compile("stm/dstm.rml", &[one("vars", 1)]), &opacity, "rmo"),
        (compile("stm/mcrt_timestamps.rml", &[one("ops", 1)]), &opacity, "sc"),
        (compile("atomicity/transaction.rml", &[]), &Property::CommitAtomicity, "pso"),
    ];
    for (program, property, model) in cases {
        let model = cyrano_memory::named(model).expect("there is such a model");
        let query = Query { program: &program, model: &model, question: Question::Holds(property) };
        let asked = |compressed_from, workers| {
            let explore = Explore { compressed_from, movers: false, ..Explore::default() };
            explore.ask(query, &Limits { workers, ..limits(60.0, 3) }, &())
        };
        let before = asked(usize::MAX, 1);
        for after in [asked(0, 1), asked(0, 3)] {
            assert_eq!(after.verdict, before.verdict, "{}", program.name);
            let length = |answer: &Answer| answer.execution.as_ref().map(|execution| execution.order.len());
            assert_eq!(length(&after), length(&before), "{}", program.name);
            if before.execution.is_none() {
                assert_eq!(counts(&after), counts(&before), "{}", program.name);
            }
        }
    }
}
