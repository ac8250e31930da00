//! Models about relations against the same models as orders of all accesses, on the library and on random programs.

use std::cell::Cell;
use std::collections::BTreeSet;

use cyrano_conformance::generate::program;
use cyrano_conformance::pinned;
use cyrano_conformance::twins::twins_agree;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question};
use cyrano_interp::Interp;
use cyrano_ir::Program;
use cyrano_litmus::generate::{Cycle, Relation, Target};
use cyrano_memory::Model;
use cyrano_memory::cat::{Base, Node, Type};
use proptest::prelude::*;
use proptest::test_runner::TestError;

#[test]
fn twins_agree_on_random_programs() {
    let cases = if pinned::long() { 20_000 } else { 700 };
    let compared = Cell::new(0);
    let result = pinned::runner(cases, file!()).run(&program(), |random| {
        let agreed = twins_agree(&random.program(), &|| limits(0.5, 3));
        let new = agreed.map_err(|disagreement| TestCaseError::fail(disagreement.to_string()))?;
        compared.set(compared.get() + new);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    assert!(compared.get() >= cases as usize, "only {} questions were answered by both", compared.get());
}

#[test]
fn twins_agree_on_the_library() {
    let compared = corpus::for_each_litmus(|_, program| {
        twins_agree(program, &|| limits(0.5, 1)).map_err(|disagreement| disagreement.to_string())
    });
    assert!(compared >= 300, "only {compared} questions were answered by both");
}

#[test]
fn twins_agree_on_litmus_tests() {
    let compared = corpus::for_each(&corpus::files("herd", "litmus"), |_, (_, source)| {
        let test = cyrano_litmus::compile(source).map_err(|errors| format!("{errors:?}"))?;
        twins_agree(&test.program, &|| limits(2.0, 3)).map_err(|disagreement| disagreement.to_string())
    });
    assert!(compared >= 90, "only {compared} questions were answered by both");
}

fn native(cycle: &Cycle) -> Program {
    let text = cycle.rml().unwrap_or_else(|error| panic!("{cycle}: {error}"));
    cyrano_rml::compile(&text, &cycle.name(), &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// Four relations with fences, accesses to one location and dependencies; six without.
#[test]
fn twins_agree_on_cycles() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::Rml));
    let mut cycles = Cycle::all(&relations, 4, 4);
    cycles.extend(Cycle::all(&Relation::basic(), 6, 4));
    if pinned::long() {
        relations.extend(Relation::dependencies(Target::Rml));
        cycles.extend(Cycle::all(&relations, 6, 4));
    }
    let mut compared = 0;
    for cycle in &cycles {
        let agreed = twins_agree(&native(cycle), &|| limits(2.0, 3));
        compared += agreed.unwrap_or_else(|disagreement| panic!("{cycle}: {disagreement}"));
    }
    assert!(compared >= 3 * cycles.len(), "only {compared} questions about {} cycles", cycles.len());
}

/// A bug that is built into what a model means; nothing if it is not about this expression.
type Bug = fn(Node) -> Option<Node>;

/// Operators and relations that are computed wrong.
const BUGS: [(&str, Bug); 15] = [
    ("a closure is one step", |node| if let Node::Plus(a) = node { Some(Node::Union(a, a)) } else { None }),
    (
        "an inverse is not turned around",
        |node| if let Node::Inverse(a) = node { Some(Node::Union(a, a)) } else { None },
    ),
    ("r* is r+", |node| if let Node::Star(a) = node { Some(Node::Plus(a)) } else { None }),
    ("r? is r", |node| if let Node::Optional(a) = node { Some(Node::Union(a, a)) } else { None }),
    (
        "a union has its first part only",
        |node| if let Node::Union(a, _) = node { Some(Node::Union(a, a)) } else { None },
    ),
    (
        "an intersection is its first part",
        |node| if let Node::Inter(a, _) = node { Some(Node::Union(a, a)) } else { None },
    ),
    (
        "a difference takes nothing away",
        |node| if let Node::Diff(a, _) = node { Some(Node::Union(a, a)) } else { None },
    ),
    (
        "one after the other is turned around",
        |node| if let Node::Seq(a, b) = node { Some(Node::Seq(b, a)) } else { None },
    ),
    ("pairs are turned around", |node| if let Node::Product(a, b) = node { Some(Node::Product(b, a)) } else { None }),
    (
        "a complement is the thing itself",
        |node| if let Node::Complement(a) = node { Some(Node::Union(a, a)) } else { None },
    ),
    ("no control dependencies", |node| dropped(node, Base::Control)),
    ("no data dependencies", |node| dropped(node, Base::Data)),
    ("no read-modify-writes", |node| dropped(node, Base::Amo)),
    ("nothing is at one location", |node| dropped(node, Base::SameLocation)),
    ("writes hit memory in no order", |node| dropped(node, Base::Coherence)),
];

fn dropped(node: Node, base: Base) -> Option<Node> {
    (node == Node::Base(base)).then_some(Node::Empty(Type::Relation))
}

/// The model with a bug, if there is something in it for the bug.
fn mutant(name: &str, bug: Bug) -> Option<Model> {
    let model = cyrano_memory::named(name).expect("a model");
    let cat = model.cat().expect("a model about relations");
    let mut plan = cat.plan().clone();
    plan.nodes.iter_mut().for_each(|node| *node = bug(*node).unwrap_or(*node));
    (plan != *cat.plan()).then(|| Model::from_cat(name, "", cat.meaning(plan)))
}

/// Nothing if the model is not for the program.
fn outcomes(program: &Program, model: &Model) -> Option<BTreeSet<Vec<i128>>> {
    let query = Query::new(program, model, Question::Outcomes).ok()?;
    Some(Interp.ask(query, &limits(2.0, 3), &()).outcomes)
}

/// What the tests of this file compare tells a wrong evaluator from a right one.
#[test]
fn bugs_in_operators_are_noticed() {
    let mut relations = Relation::basic();
    relations.extend(Relation::same());
    relations.extend(Relation::fences(Target::Rml));
    relations.extend(Relation::dependencies(Target::Rml));
    let mut programs: Vec<Program> = Cycle::all(&relations, 4, 2).iter().map(native).collect();
    let update = "@0: a := fetch_add x, 1\n@1: b := load x\n@2: halt\n";
    let thread = |name: &str| format!("thread {name}\nregister a = 0\nregister b = 0\n{update}");
    let text = format!(
        "program updates\nlocation x = 0\n{}{}observe a = s:a\nobserve b = t:a\nobserve c = s:b\n",
        thread("s"),
        thread("t")
    );
    programs.insert(0, cyrano_ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    for (what, bug) in BUGS {
        let mutants =
            ["cat:tso", "cat:pso", "ra", "armv8", "riscv", "power"].into_iter().filter_map(|name| mutant(name, bug));
        let notices = |mutant: &Model| {
            let right = cyrano_memory::named(&mutant.name).expect("a model");
            programs.iter().any(|program| outcomes(program, mutant) != outcomes(program, &right))
        };
        assert!(mutants.into_iter().any(|mutant| notices(&mutant)), "nobody notices that {what}");
    }
}
