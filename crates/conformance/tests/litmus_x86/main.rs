//! Assembly tests against a machine with store buffers that knows nothing of the lowering, the axioms and the engines.

mod random;
mod store_buffers;

use std::collections::BTreeSet;

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_litmus::ast::Arch;
use cyrano_litmus::{Shown, Test};

/// The final states of a test under a model, as the explorer finds them.
fn explored(test: &Test, model: &str) -> BTreeSet<Vec<Shown>> {
    let model = cyrano_memory::named(model).expect("a named model");
    let query = Query::new(&test.program, &model, Question::Outcomes).expect("a question");
    let answer = Explore::default().ask(query, &limits(60.0, 3), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{}: {:?}", test.head.name, answer.reason);
    answer.outcomes.iter().map(|outcome| test.state(outcome)).collect()
}

fn check(test: &Test, source: &str) {
    for (model, buffered) in [("tso", true), ("sc", false)] {
        let expected = store_buffers::outcomes(test, buffered).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let found = explored(test, model);
        let missing: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&expected).collect();
        let names: Vec<&str> = test.columns.iter().map(|column| column.name.as_str()).collect();
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "{model}: {names:?}\nmissing {missing:?}\nwrong {wrong:?}\n{source}"
        );
    }
}

#[test]
fn random_tests_agree_with_the_machine() {
    let mut kinds = BTreeSet::new();
    for seed in 0..600 {
        let source = random::test(seed);
        let test = cyrano_litmus::compile(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
        check(&test, &source);
        kinds.extend(source.split_whitespace().filter(|word| word.len() > 2).map(str::to_owned));
    }
    for kind in ["LOCK", "XCHG", "CMPXCHG", "XADD", "MFENCE", "CMOVE", "NEG"] {
        assert!(kinds.contains(kind), "no test has {kind}");
    }
}

/// Runs `test` on every litmus test of the library.
fn for_each(test: impl Fn(&str, &Test, &str) -> usize + Sync) -> usize {
    corpus::for_each(&corpus::files("herd", "litmus"), |name, (_, source)| {
        let compiled = cyrano_litmus::compile(source).map_err(|errors| format!("{errors:?}"))?;
        Ok(test(name, &compiled, source))
    })
}

#[test]
fn the_library_agrees_with_the_machine() {
    let count = for_each(|_, test, source| {
        let assembly = test.head.arch != Arch::C;
        if assembly {
            check(test, source);
        }
        assembly.into()
    });
    assert!(count >= 30, "only {count} assembly tests");
}

/// Every `Expect=` line of the library tells the truth: `Expect=sc Never, tso Sometimes`.
#[test]
fn the_library_keeps_its_promises() {
    for_each(|name, test, _| {
        let promised = test.head.info.iter().find(|(key, _)| key == "Expect").map(|(_, value)| value.clone());
        let promised = promised.unwrap_or_else(|| panic!("{name} promises nothing"));
        for promise in promised.split(',') {
            let words: Vec<&str> = promise.split_whitespace().collect();
            let [model, verdict] = words.as_slice() else { panic!("{name}: `{promise}`") };
            assert_eq!(observation(test, model), *verdict, "{name} under {model}");
        }
        1
    });
}

/// What a test shows under a model, by an engine that can run it.
fn observation(test: &Test, model: &str) -> &'static str {
    let model = cyrano_memory::named(model).expect("a named model");
    let (explore, symbolic) = (Explore::default(), cyrano_symbolic::Symbolic::default());
    let program = cyrano_litmus::fenced(&test.program);
    let engine: &dyn Engine = if explore.runs(&program, &model) { &explore } else { &symbolic };
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 3), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{} under {}: {:?}", test.head.name, model.name, answer.reason);
    test.judge(&answer.outcomes).expect("a condition without overflow").observation().name()
}
