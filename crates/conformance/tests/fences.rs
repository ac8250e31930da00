//! Fence synthesis on the library: the sets that theory predicts, and agreement with trying every set.

use std::collections::BTreeSet;

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Execution, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_fences::{
    Costs, Fence, Judgement, Options, Outcome, Position, Ruling, Suite, Verdict as End, Wrong, distinct_positions,
    merge, source, synthesise, unified_diff,
};
use cyrano_interp::Interp;
use cyrano_ir::{FenceSet, Program, Property, Quantifier};
use cyrano_memory::Model;

/// An RML file under some models.
struct Rml {
    text: String,
    positions: Vec<Position>,
    models: Vec<Model>,
}

fn compile(text: &str) -> Result<Program, String> {
    cyrano_rml::compile(text, "test", &[]).map_err(|error| format!("{error:?}"))
}

impl Rml {
    fn new(text: &str, models: &[&str]) -> Self {
        let positions = source::positions(text, &|text| compile(text).is_ok());
        let models = models.iter().map(|name| cyrano_memory::named(name).expect("a model")).collect();
        Self { text: text.to_owned(), positions, models }
    }

    fn library(name: &str, models: &[&str]) -> Self {
        let path = corpus::folder().join("litmus").join(format!("{name}.rml"));
        Self::new(&std::fs::read_to_string(path).expect("the library has it"), models)
    }

    fn judge_under(&self, program: &Program, model: &Model) -> Judgement<()> {
        let explore = Explore::default();
        let engine: &dyn Engine = if explore.runs(program, model) { &explore } else { &Interp };
        for property in program.checks.iter().map(|check| &check.property) {
            if matches!(property, Property::Final { quantifier: Quantifier::Exists, .. }) {
                continue;
            }
            let query = Query::new(program, model, Question::Holds(property)).expect("a question");
            let answer = engine.ask(query, &limits(60.0, 2), &());
            match (answer.verdict, answer.execution) {
                (Verdict::Verified | Verdict::Vacuous, _) => {}
                (Verdict::Violated, Some(execution)) => {
                    return Judgement::Wrong(wrong(program, model, property, answer.violation.as_ref(), &execution));
                }
                (verdict, _) => return Judgement::Unknown(format!("{} ({:?})", verdict.name(), answer.reason)),
            }
        }
        Judgement::Correct
    }
}

fn wrong(
    program: &Program,
    model: &Model,
    property: &Property,
    violation: Option<&Violation>,
    execution: &Execution,
) -> Wrong<()> {
    let confirm = |execution: &Execution| cyrano_interp::confirm(program, model, property, violation, execution);
    let execution = cyrano_trace::minimise(execution, &|execution| confirm(execution).is_ok());
    let replayed = confirm(&execution).expect("every counterexample replays");
    Wrong { execution, replayed, evidence: () }
}

impl Rml {
    fn program(&self, fences: &[Fence]) -> Result<Program, String> {
        let patched = source::insert(&self.text, fences);
        compile(&patched.text).map(|program| patched.with_original_spans(program))
    }

    fn judge_one(&self, program: &Program) -> Judgement<()> {
        let verdicts = self.models.iter().map(|model| self.judge_under(program, model));
        let mut worrying = verdicts.filter(|judgement| !matches!(judgement, Judgement::Correct));
        worrying.next().unwrap_or(Judgement::Correct)
    }
}

impl Suite for Rml {
    type Evidence = ();

    fn positions(&self) -> Vec<Position> {
        self.positions.clone()
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        self.program(fences).map(|program| vec![program])
    }

    fn judge(&self, _: &[Fence], programs: &[Program]) -> Ruling<()> {
        Ruling { program: 0, judgement: self.judge_one(&programs[0]) }
    }

    fn judge_sequentially(&self, programs: &[Program], _: usize) -> Judgement<()> {
        self.judge_under(&programs[0], &cyrano_memory::named("sc").expect("a model"))
    }
}

/// A set in words: the statement before each fence and its kind.
fn show(text: &str, set: &[Fence]) -> String {
    let fence = |fence: &Fence| {
        let before = text[..fence.position.at].trim_end_matches(';');
        let statement = before.rsplit(['\n', ';']).next().unwrap_or_default().trim();
        format!("{statement} / {}", fence.kind)
    };
    set.iter().map(fence).collect::<Vec<_>>().join(", ")
}

fn options(subject: &Rml, sets: usize) -> Options {
    Options { sets, ..Options::default() }.for_models(&subject.models)
}

fn run(subject: &Rml, sets: usize) -> Outcome<()> {
    let outcome = synthesise(subject, &options(subject, sets));
    if outcome.verdict == End::Repaired {
        assert!(outcome.minimal);
        outcome.sets.iter().for_each(|set| every_fence_is_needed(subject, &set.fences));
    }
    outcome
}

/// Asks the judge about the set and about the set without each of its fences.
fn every_fence_is_needed(subject: &Rml, set: &[Fence]) {
    let judge = |set: &[Fence]| subject.judge_one(&subject.program(&merge(set)).expect("it builds"));
    assert!(matches!(judge(set), Judgement::Correct));
    for number in 0..set.len() {
        let mut rest = set.to_vec();
        rest.remove(number);
        assert!(matches!(judge(&rest), Judgement::Wrong(_)), "not minimal: {}", show(&subject.text, set));
    }
}

/// The cheapest set for a file of the library under a model, with default costs.
fn check(name: &str, model: &str, expected: &[&str]) {
    let subject = Rml::library(name, &[model]);
    let outcome = run(&subject, 1);
    assert_eq!(outcome.verdict, End::Repaired, "{name} under {model}: {:?}", outcome.reason);
    let found = show(&subject.text, &outcome.sets[0].fences);
    assert_eq!(found, expected.join(", "), "{name} under {model}");
}

#[test]
fn textbook_repairs() {
    for model in ["tso", "pso", "rmo", "relaxed"] {
        check("sb", model, &["x := 1 / store-load", "y := 1 / store-load"]);
    }
    check("mp", "pso", &["d := 1 / store-store"]);
    check("mp", "rmo", &["d := 1 / store-store", "r1 := f / load-load"]);
    check("lb", "rmo", &["r1 := x / load-store", "r2 := y / load-store"]);
    check("iriw", "rmo", &["r1 := x / load-load", "r3 := y / load-load"]);
    check("seqlock", "pso", &["seq := 1 / store-store", "d2 := 1 / store-store"]);
}

#[test]
fn mutual_exclusion() {
    check("dekker", "tso", &["flag[self] := 1 / store-load"]);
    check("peterson", "tso", &["turn := 1 - self / store-load"]);
    check("peterson", "pso", &["flag[self] := 1 / store-store", "turn := 1 - self / store-load"]);
    let leave = "fetch_add(in_cs, -1) / load-store";
    check("peterson", "rmo", &[leave, "flag[self] := 1 / store-store", "turn := 1 - self / store-load"]);
    check("spin_lock", "pso", &["count := c + 1 / store-store"]);
    check("bakery", "tso", &["choosing[self] := 1 / store-load", "number[self] := mine / store-load"]);
}

#[test]
fn several_models_at_once() {
    let subject = Rml::library("mp", &["tso", "pso", "rmo"]);
    let outcome = run(&subject, 1);
    assert_eq!(show(&subject.text, &outcome.sets[0].fences), "d := 1 / store-store, r1 := f / load-load");
}

/// Every file is repaired under every model that breaks it, unless sequential consistency breaks it already.
#[test]
fn the_whole_library() {
    let entries = corpus::entries().expect("the library can be read");
    for entry in entries.iter().filter(|entry| entry.path.parent().is_some_and(|p| p.ends_with("litmus"))) {
        let is = |model: &str, verdict| entry.expectations.iter().any(|e| e.model == model && e.verdict == verdict);
        for model in ["tso", "pso", "rmo"].into_iter().filter(|model| is(model, "violated") || is(model, "verified")) {
            let expected = match (is(model, "violated"), is("sc", "violated")) {
                (true, true) => End::Irreparable,
                (true, false) => End::Repaired,
                (false, _) => End::AlreadyCorrect,
            };
            let subject = Rml::new(&entry.source, &[model]);
            let outcome = run(&subject, usize::MAX);
            let name = entry.path.display();
            assert_eq!(outcome.verdict, expected, "{name} under {model}: {:?}", outcome.reason);
            assert!(outcome.complete, "{name} under {model}: {:?}", outcome.reason);
        }
    }
}

#[test]
fn a_statement_with_two_accesses_has_no_gap() {
    let text = "threads { shared x, y; local r;\n thread p { x := 1; fence; y := 1; }\n thread q { r := y * 2 + x; } }
check never (r = 2) on rmo;";
    let outcome = run(&Rml::new(text, &["rmo"]), 1);
    assert_eq!(outcome.verdict, End::Irreparable);
    assert_eq!(outcome.reason.as_deref(), Some("it goes wrong without any reordering that a fence could forbid"));
}

#[test]
fn one_fence_where_branches_meet() {
    let text = "threads { shared x, y; local r, s, c, d;
 thread p { choose d in 5..6; choose c in 0..1; if c = 0 { x := 1; } else { x := 2; }
  r := y; }
 thread q { y := 1; fence(store-load); s := x; } }
check never (r = 0 && s = 0) on tso;";
    let subject = Rml::new(text, &["tso"]);
    let outcome = run(&subject, usize::MAX);
    let found: Vec<String> = outcome.sets.iter().map(|set| show(text, &set.fences)).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(outcome.sets[0].fences.len(), 1, "the fence behind the branch comes first: {found:?}");
    assert_eq!(outcome.sets[1].fences.len(), 2, "one fence per branch comes second: {found:?}");
}

#[test]
fn the_change_as_a_diff() {
    let subject = Rml::library("mp", &["pso"]);
    let outcome = run(&subject, 1);
    let patched = source::insert(&subject.text, &outcome.sets[0].fences);
    let diff = unified_diff(&subject.text, &patched.text, "mp.rml", "mp.rml");
    let expected = "\n     thread p0 {\n         d := 1;\n+        fence(store-store);\n         f := 1;\n     }\n";
    assert!(diff.contains(expected), "{diff}");
}

/// All sets of at most `size` fences that repair the subject and are minimal, by trying every one.
fn brute_force(subject: &Rml, positions: &[Position], size: usize) -> BTreeSet<Vec<Fence>> {
    let kinds = options(subject, 1).kinds;
    let kinds: Vec<FenceSet> = FenceSet::KINDS.iter().map(|(kind, _)| *kind).filter(|k| kinds.contains(*k)).collect();
    let at = |position: &Position| kinds.iter().map(|kind| Fence { position: position.clone(), kind: *kind }).collect();
    let candidates: Vec<Fence> = positions.iter().flat_map(|position| -> Vec<Fence> { at(position) }).collect();
    let mut found: BTreeSet<Vec<Fence>> = BTreeSet::new();
    for size in 1..=size {
        for set in subsets(&candidates, size) {
            let minimal = !found.iter().any(|smaller| smaller.iter().all(|fence| set.contains(fence)));
            let program = subject.program(&merge(&set)).expect("it builds");
            if minimal && matches!(subject.judge_one(&program), Judgement::Correct) {
                found.insert(set);
            }
        }
    }
    found
}

fn subsets<T: Clone>(of: &[T], size: usize) -> Vec<Vec<T>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let starting = |(at, first): (usize, &T)| {
        let rest = subsets(&of[at + 1..], size - 1);
        rest.into_iter().map(move |rest| [vec![first.clone()], rest].concat()).collect::<Vec<_>>()
    };
    of.iter().enumerate().flat_map(starting).collect()
}

/// Behind a procedure's last statement is not the same place as behind one of its two calls.
#[test]
fn a_fence_in_a_procedure_is_in_all_its_copies() {
    let text = "threads { shared x, y; local r, s;
 proc put(v) { x := v; }
 thread p { put(1); put(2);
  r := y; }
 thread q { y := 1; fence(store-load); s := x; } }
check never (r = 0 && s < 2) on tso;";
    let outcome = run(&Rml::new(text, &["tso"]), usize::MAX);
    let found: Vec<String> = outcome.sets.iter().map(|set| show(text, &set.fences)).collect();
    assert_eq!(found, ["proc put(v) { x := v / store-load", "put(2) / store-load"]);
}

/// Four positions before a loop are one place, the two behind it another.
#[test]
fn distinct_positions_are_enough() {
    let text = "threads { shared x, y; local r, s, i;
 proc put { x := 1; i := 2; }
 thread p { put(); i := i + 1; while i < 2 { i := 3; } i := 4; r := y; i := 5; }
 thread q { y := 1; fence(store-load); s := x; } }
check never (r = 0 && s = 0) on tso;";
    let subject = Rml::new(text, &["tso"]);
    let distinct = distinct_positions(&subject).expect("it builds with a fence everywhere");
    let (few, all) = (brute_force(&subject, &distinct, 1), brute_force(&subject, &subject.positions, 1));
    let lines = |sets: &BTreeSet<Vec<Fence>>| sets.iter().map(|set| show(text, set)).collect::<Vec<_>>();
    assert_eq!(lines(&few), ["proc put { x := 1 / store-load", "} / store-load"]);
    let before = ["proc put { x := 1", "i := 2", "thread p { put()", "i := i + 1"];
    let behind = ["}", "} i := 4"];
    let expected: Vec<_> = [&before[..], &behind].concat().iter().map(|line| format!("{line} / store-load")).collect();
    assert_eq!(lines(&all), expected);
}

/// Finds the same sets as trying every one of at most `size` fences does.
fn agrees(name: &str, model: &str, size: usize) {
    let subject = Rml::library(name, &[model]);
    let positions = distinct_positions(&subject).expect("it builds with a fence everywhere");
    let expected = brute_force(&subject, &positions, size);
    let options = Options { costs: Costs::UNIFORM, ..options(&subject, usize::MAX) };
    let outcome = synthesise(&subject, &options);
    assert!(outcome.complete && outcome.minimal, "{name} under {model}: {:?}", outcome.reason);
    let small = outcome.sets.iter().filter(|set| set.fences.len() <= size);
    let found: BTreeSet<Vec<Fence>> = small.map(|set| set.fences.clone()).collect();
    assert_eq!(found, expected, "{name} under {model}");
}

#[test]
fn as_trying_every_set() {
    for model in ["tso", "pso", "rmo"] {
        agrees("sb", model, 3);
    }
    let shapes = ["mp", "lb", "s", "r", "corr", "two_plus_two_w", "sb_rfi_one", "mp_exchange_flag", "lb_exchange"];
    for name in shapes {
        agrees(name, "rmo", 3);
    }
    agrees("n6", "pso", 3);
    agrees("dekker", "tso", 2);
    agrees("peterson", "pso", 2);
}
