//! Testing the tests: each deliberate bug in the explorer must be noticed by the comparison on the corpus.

use cyrano_certificate::check;
use cyrano_conformance::certified::certificate_of;
use cyrano_conformance::exchanges::{self, BY_ADDRESS, Exchanged, by_address};
use cyrano_conformance::memories::{self, same};
use cyrano_conformance::termination::compare::{Effort, compare, compare_stopped};
use cyrano_conformance::termination::stopping::Asked;
use cyrano_conformance::termination::{contended, random};
use cyrano_conformance::{compare_with, corpus, limits};
use cyrano_engine::configuration::Product;
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_ir::{FinalExpr, Liveness, Program, Property, Quantifier, TxCriterion};
use cyrano_memory::Model;

use crate::{Explore, Fault};

fn programs() -> Vec<(String, cyrano_ir::Program)> {
    let entries = corpus::entries().expect("the library can be read");
    let small = entries.iter().filter(|e| e.path.parent().is_some_and(|p| p.ends_with("litmus")));
    let mut programs: Vec<_> = small
        .map(|entry| {
            let name = entry.path.file_stem().expect("a file name").to_string_lossy().into_owned();
            let program = cyrano_rml::compile(&entry.source, &name, &[]).expect("the library compiles");
            (name, program)
        })
        .collect();
    programs.extend(corpus::ir_programs().expect("the programs can be read"));
    // Short programs first: they are compared sooner, and say more clearly what is wrong.
    programs.sort_by_key(|(_, program)| program.threads.iter().map(|t| t.code.len()).sum::<usize>());
    programs
}

/// What the comparison says against a program, if anything. A broken explorer may also fall over its own invariants.
fn complaint(program: &cyrano_ir::Program, explore: &Explore) -> Option<String> {
    let compared = std::panic::catch_unwind(|| compare_with(program, &[explore], &|| limits(0.05, 1)));
    match compared {
        Ok(result) => result.err().map(|disagreement| disagreement.to_string()),
        Err(_) => Some("panicked".into()),
    }
}

#[test]
fn the_explorer_itself_is_not_blamed() {
    for (name, program) in programs() {
        assert_eq!(complaint(&program, &Explore::default()), None, "{name}");
    }
}

/// The bugs stay in the package that is made for them: nothing else in the workspace is built with them.
#[test]
fn the_engine_that_users_get_has_no_seeded_bugs() {
    let explore = cyrano_explore::Explore { fault: Some(cyrano_explore::Fault::NoForwarding), ..Default::default() };
    for (name, program) in programs().into_iter().take(24) {
        assert_eq!(
            compare_with(&program, &[&explore], &|| limits(0.05, 1)).err().map(|why| why.to_string()),
            None,
            "{name}"
        );
    }
}

#[test]
fn every_seeded_bug_is_noticed() {
    let programs = programs();
    let mut unnoticed = Vec::new();
    for fault in Fault::ALL {
        let explore = Explore { fault: Some(fault), ..Explore::default() };
        let noticed = programs.iter().find_map(|(name, program)| Some((name, complaint(program, &explore)?)));
        match noticed {
            Some((name, disagreement)) => println!("{fault:?}: {name} {disagreement}"),
            None => unnoticed.push(fault),
        }
    }
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}

/// What the comparison with the definition of termination says against random programs, if anything.
fn endless_complaint(seed: u64, explore: &Explore) -> Option<String> {
    let program = random::tree(seed).program();
    let effort = Effort { states: 1_500, work: 0.2 };
    let wrong = |name: &str| {
        let model = cyrano_memory::named(name)?;
        let compared = std::panic::catch_unwind(|| compare(&program, &model, &[explore], effort));
        compared.unwrap_or_else(|_| Err("panicked".into())).err()
    };
    ["sc", "tso", "pso"].into_iter().find_map(wrong)
}

#[test]
fn every_seeded_bug_about_fairness_is_noticed() {
    let unnoticed: Vec<Fault> = Fault::OF_FAIRNESS
        .into_iter()
        .filter(|fault| {
            let explore = Explore { fault: Some(*fault), ..Explore::default() };
            let noticed = (0..400).find_map(|seed| Some((seed, endless_complaint(seed, &explore)?)));
            noticed.iter().for_each(|(seed, why)| println!("{fault:?}: program {seed}, {why}"));
            noticed.is_none()
        })
        .collect();
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}

/// Programs in which a thread that is stopped still has something to give: what it has deferred.
const LATE: [&str; 2] = [
    "threads { shared x, y; local r, s; thread p { x := 1; y := 1; } \
     thread q { r := y; if r = 1 { while s = 0 { s := x; } } } }",
    "threads { shared x, y; local r, s; thread p { x := 1; y := 1; } \
     thread q { r := y; if r = 1 { atomic { s := x; assume s = 1; } } } }",
];

/// What the comparison with the definitions for operations says against a program, if anything.
fn stopped_complaint(program: &Program, explore: &Explore) -> Option<String> {
    let effort = Effort { states: 600, work: 0.2 };
    let wrong = |liveness: Liveness| {
        ["sc", "tso", "pso"].into_iter().find_map(|name| {
            let (model, asked) = (cyrano_memory::named(name)?, Asked::Operations(liveness));
            let ask = || compare_stopped(program, &model, asked, &[explore], (effort, &mut false));
            std::panic::catch_unwind(ask).unwrap_or_else(|_| Err("panicked".into())).err()
        })
    };
    [Liveness::LockFree, Liveness::ObstructionFree].into_iter().find_map(wrong)
}

#[test]
fn every_seeded_bug_about_stopped_threads_is_noticed() {
    let by_hand = LATE.iter().map(|source| cyrano_rml::compile(source, "late", &[]).expect("a program"));
    let programs: Vec<Program> = by_hand.chain((0..60).map(|seed| contended::tree(seed).program())).collect();
    let unnoticed: Vec<Fault> = Fault::OF_STOPPING
        .into_iter()
        .filter(|fault| {
            let explore = Explore { fault: Some(*fault), ..Explore::default() };
            let complaint = |program: &Program| stopped_complaint(program, &explore);
            let noticed = programs.iter().enumerate().find_map(|(at, program)| Some((at, complaint(program)?)));
            noticed.iter().for_each(|(at, why)| println!("{fault:?}: program {at}, {why}"));
            noticed.is_none()
        })
        .collect();
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}

/// What the comparison of remembered steps with the plain search says against a transactional memory, if anything.
fn remembered_complaint(program: &Program, model: &str, explore: &Explore) -> Option<String> {
    let (plain, model) = (Explore { remembered_steps: false, ..Explore::default() }, cyrano_memory::named(model)?);
    let opacity = Property::Transactions(TxCriterion::from_name("opacity")?);
    let compared = std::panic::catch_unwind(|| same([&plain, explore], program, &model, &opacity, &limits(0.1, 1)));
    compared.unwrap_or_else(|_| Err("panicked".into())).err()
}

#[test]
fn every_seeded_bug_about_remembered_steps_is_noticed() {
    let library = corpus::in_folder("stm").into_iter().map(|(name, entry)| {
        (name.clone(), cyrano_rml::compile(&entry.source, &name, &[("vars".to_owned(), 1)]).expect("a memory"))
    });
    let random = (0..200).map(|seed| (format!("memory {seed}"), memories::program(seed, 2)));
    let programs: Vec<(String, Program)> = library.chain(random).collect();
    let unnoticed: Vec<Fault> = Fault::OF_REMEMBERED
        .into_iter()
        .filter(|fault| {
            let explore = Explore { fault: Some(*fault), ..Explore::default() };
            let noticed = programs.iter().find_map(|(name, program)| {
                ["sc", "tso"]
                    .into_iter()
                    .find_map(|model| Some((name, remembered_complaint(program, model, &explore)?)))
            });
            noticed.iter().for_each(|(name, why)| println!("{fault:?}: {name} {why}"));
            noticed.is_none()
        })
        .collect();
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}

/// Threads that are told apart by the addresses of their objects must not be exchanged.
#[test]
fn exchanges_of_threads_are_tried() {
    let complaint = |explore: &Explore, rest: &str| {
        let program = by_address(rest).expect("it compiles");
        let models = ["sc", "tso", "pso"].map(|name| cyrano_memory::named(name).expect("a model"));
        let ask = || exchanges::compare(&program, &models, explore, &limits(1.0, 3), &mut Exchanged::default());
        std::panic::catch_unwind(ask).unwrap_or_else(|_| Err("panicked".into())).err()
    };
    let careless = Explore { fault: Some(Fault::ExchangeAnyway), ..Explore::default() };
    for (rest, _) in BY_ADDRESS {
        assert_eq!(complaint(&Explore::default(), rest), None, "{rest}");
    }
    let noticed: Vec<_> = BY_ADDRESS.iter().filter_map(|(rest, _)| complaint(&careless, rest)).collect();
    println!("{noticed:#?}");
    assert!(noticed.len() >= 2, "{noticed:?}");
}

/// What becomes of the certificate that a broken explorer writes: whether it is refused; nothing if there is none, or if the explorer fell over.
fn refuses(explore: &Explore, program: &Program, property: &Property, model: &Model) -> Option<bool> {
    cyrano_certificate::provable(program, property).ok()?;
    let query = Query::new(program, model, Question::Holds(property)).ok()?;
    let written = std::panic::catch_unwind(|| {
        certificate_of((program, property), model, |take: &mut (dyn FnMut(&Product) -> usize + Send)| {
            explore.reachable(query, 5_000, (&limits(0.2, 1), &()), take)
        })
    });
    let certificate = written.ok()?.ok()?;
    Some(check(&certificate, &limits(5.0, 1)).is_err())
}

/// A broken explorer says that something is verified, and its certificate is refused; where it is accepted, the claim is true all the same.
#[test]
fn certificates_of_a_broken_explorer_are_refused() {
    // Those that lose states, or take other steps, without the reductions that certificates do without anyway.
    let faults = [
        Fault::NoForwarding,
        Fault::ForwardOldest,
        Fault::KeepStores,
        Fault::SplitRmw,
        Fault::NoDrain,
        Fault::ZeroLiveRegister,
        Fault::ConfuseHashes,
        Fault::IgnoreStoreLoadFence,
        Fault::IgnoreStoreStoreFence,
        Fault::ReorderStores,
        Fault::SplitAtomic,
        Fault::IgnoreSetup,
        Fault::ForgetLimits,
    ];
    let (programs, models) = (programs(), cyrano_memory::all());
    // True of every program that ends: what is left to check is whether the set of states is complete.
    let trivial =
        Property::Final { quantifier: Quantifier::Always, cond: FinalExpr::Const(1), text: "true".to_owned() };
    let mut unnoticed = Vec::new();
    for fault in faults {
        let explore = Explore { fault: Some(fault), ..Explore::default() };
        let (mut refused, mut accepted) = (0, 0);
        for (name, program) in &programs {
            let declared = program.checks.iter().map(|check| &check.property).chain([&trivial]);
            for (property, model) in declared.flat_map(|property| models.iter().map(move |model| (property, model))) {
                match refuses(&explore, program, property, model) {
                    None => {}
                    Some(true) => refused += 1,
                    Some(false) => {
                        accepted += 1;
                        let query = Query::new(program, model, Question::Holds(property)).expect("a question");
                        let right = cyrano_explore::Explore::default().ask(query, &limits(5.0, 1), &());
                        assert_eq!(right.verdict, Verdict::Verified, "{fault:?}: {name} on {}", model.name);
                    }
                }
            }
        }
        println!("{fault:?}: {refused} certificates refused, {accepted} accepted");
        unnoticed.extend((refused == 0).then_some(fault));
    }
    assert!(unnoticed.is_empty(), "no certificate of {unnoticed:?} is refused");
}

/// Blocks that are not atomic in the order of their commits, as memory tells, and as what they hand on tells.
const NOT_ATOMIC: [(Fault, &str); 2] = [
    (
        Fault::AnyMemory,
        "threads { shared x; thread w[2] { local r; atomic add { r := x; commit; x := r + 1; r := 0; } } } \
         check commit-atomicity;",
    ),
    (
        Fault::HandOnAnything,
        "threads { shared x, y; local r, s; thread w { atomic both { x := 1; commit; y := 1; } } \
         thread q { atomic look { r := x; commit; s := y; } } } check commit-atomicity;",
    ),
];

/// The explorer without its fault refutes these blocks, and the certificate of the broken one is refused.
#[test]
fn certificates_of_blocks_are_refused() {
    assert_eq!(NOT_ATOMIC.map(|(fault, _)| fault), Fault::OF_BLOCKS);
    let model = cyrano_memory::named("sc").expect("a model");
    for (fault, source) in NOT_ATOMIC {
        let program = cyrano_rml::compile(source, "blocks", &[]).expect("a program");
        let property = &program.checks[0].property;
        let query = Query::new(&program, &model, Question::Holds(property)).expect("a question");
        let right = cyrano_explore::Explore::default().ask(query, &limits(5.0, 1), &());
        let explore = Explore { fault: Some(fault), ..Explore::default() };
        let broken = explore.ask(query, &limits(5.0, 1), &());
        let found = (right.verdict, broken.verdict, refuses(&explore, &program, property, &model));
        assert_eq!(found, (Verdict::Violated, Verdict::Verified, Some(true)), "{fault:?}");
    }
}
