//! The reduction `idle-iterations`: with and without it the engine finds the same, within the same bounds.
//!
//! An execution without idle iterations is within the bounds that the original was within. So for the same number of iterations outcome sets are
//! equal and so is whether something goes wrong; only what is proven may differ.

use std::cell::Cell;

use cyrano_conformance::pinned;
use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_symbolic::Symbolic;
use proptest::prelude::*;

/// Work for the reference, which never comes to an end of loops that can go on for ever.
const REFERENCE: f64 = 0.02;
/// Work for the engine; without the reduction a few random programs take much more.
const SYMBOLIC: f64 = 0.5;

fn engine(idle_iterations: bool) -> Symbolic {
    Symbolic { idle_iterations, iterations: 2, check_lemmas: true, ..Symbolic::default() }
}

fn compile(source: &str) -> Program {
    match cyrano_rml::compile(source, "test", &[]) {
        Ok(program) => program,
        Err(error) => panic!("does not compile: {error:?}\n{source}"),
    }
}

fn ask(engine: &dyn Engine, program: &Program, model: &Model, question: Question<'_>, seconds: f64) -> Answer {
    engine.ask(Query::new(program, model, question).expect("a question"), &limits(seconds, 2), &())
}

/// Compares what is found with and without the reduction, and what the reference finds with the work it may do. Says how many of the two questions
/// were answered both times.
fn agrees(program: &Program, model: &Model) -> Result<usize, String> {
    let fail = |what: &str, on: &Answer, off: &Answer| {
        let (a, b) = ((on.verdict, &on.reason, &on.outcomes), (off.verdict, &off.reason, &off.outcomes));
        Err(format!("{}, {what}: {a:?} with, {b:?} without", model.name))
    };
    let both = |question| [true, false].map(|idle| ask(&engine(idle), program, model, question, SYMBOLIC));
    let [on, off] = both(Question::Outcomes);
    if [&on, &off].iter().any(|answer| answer.verdict == Verdict::Unknown) {
        return Ok(0);
    }
    if on.outcomes != off.outcomes || on.verdict.gravity() > off.verdict.gravity() {
        return fail("outcomes", &on, &off);
    }
    let slow = ask(&Interp, program, model, Question::Outcomes, REFERENCE);
    // What either of them has found is all there is only if it says so.
    let possible = slow.verdict != Verdict::Verified || on.outcomes.is_subset(&slow.outcomes);
    let complete = on.verdict != Verdict::Verified || slow.outcomes.is_subset(&on.outcomes);
    if !possible || !complete {
        return fail("the reference", &on, &slow);
    }
    let property = Property::Assertions;
    let [on, off] = both(Question::Holds(&property));
    if [&on, &off].iter().any(|answer| answer.verdict == Verdict::Unknown) {
        return Ok(1);
    }
    if (on.verdict == Verdict::Violated) != (off.verdict == Verdict::Violated) {
        return fail("assertions", &on, &off);
    }
    // Nothing is exercised or something is: bounds do not change that, unless they are all that stands in the way.
    if on.verdict == Verdict::Vacuous && off.verdict == Verdict::Verified {
        return fail("assertions", &on, &off);
    }
    for answer in [on, off] {
        let Some(execution) = &answer.execution else { continue };
        let confirmed = cyrano_interp::confirm(program, model, &property, answer.violation.as_ref(), execution);
        confirmed.map_err(|error| format!("{}: does not replay: {error}", model.name))?;
    }
    Ok(2)
}

fn agrees_everywhere(source: &str) -> Result<(), String> {
    let program = compile(source);
    cyrano_memory::all()
        .iter()
        .try_for_each(|model| match agrees(&program, model)? {
            2 => Ok(()),
            answered => Err(format!("{}: only {answered} of 2 questions were answered", model.name)),
        })
        .map_err(|error| format!("{error}\n{source}"))
}

fn verdict(source: &str, model: &str, question: Question<'_>, idle: bool) -> Verdict {
    let model = cyrano_memory::named(model).expect("a model");
    ask(&engine(idle), &compile(source), &model, question, 60.0).verdict
}

fn outcomes(source: &str, model: &str) -> std::collections::BTreeSet<Vec<i128>> {
    let model = cyrano_memory::named(model).expect("a model");
    ask(&engine(true), &compile(source), &model, Question::Outcomes, 60.0).outcomes
}

/// A reader that polls a flag is done with after the iteration in which it sees it.
#[test]
fn polling_needs_no_bound() {
    let source = "threads {
        shared data, flag;
        local r, d;
        thread writer { data := 1; fence(store-store); flag := 1; }
        thread reader { loop { r := flag; if r = 1 { break; } } fence(load-load); d := data; }
    }
    observe reader.d;";
    for model in ["sc", "tso", "pso", "rmo", "relaxed"] {
        assert_eq!(verdict(source, model, Question::Outcomes, true), Verdict::Verified, "{model}");
        assert_eq!(verdict(source, model, Question::Outcomes, false), Verdict::Bounded, "{model}");
    }
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// A loop that looks before it loads is the same loop.
#[test]
fn waiting_in_other_words_needs_no_bound() {
    let loops = [
        "while r != 1 { r := flag; }",
        "r := flag; while r = 0 { r := flag; }",
        "r := flag; while r = 0 { d := data; r := flag; }",
        "while r = 0 { if t = 0 { r := flag; } else { d := data; r := flag; } }",
        "while r = 0 { atomic { r := flag; d := data; } }",
        // A lock, and one whose holder is written down.
        "r := exchange(lock, 1); while r = 1 { r := exchange(lock, 1); } lock := 0; while r != 1 { r := flag; }",
        "loop { while r = 1 { r := lock; } r := exchange(lock, 1); if r = 0 { break; } } lock := 0; r := flag;",
        // The exchange in two steps (CheckFence, Fig. 7), with another access of the section beside it.
        "loop { atomic { r := lock; lock := 1; } if r = 0 { break; } } lock := 0; r := flag;",
        "r := 1; while r = 1 { atomic { r := lock; d := data; lock := 1; } } lock := 0; r := flag;",
    ];
    for waiting in loops {
        let source = format!(
            "threads {{
                shared data, flag, lock;
                local r, d, t;
                thread writer {{ data := 1; r := exchange(lock, 1); fence(store-store); flag := 1; lock := 0; }}
                thread reader {{ {waiting} fence(load-load); d := data; }}
            }}
            observe reader.r, reader.d;"
        );
        for model in ["sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"] {
            assert_eq!(verdict(&source, model, Question::Outcomes, true), Verdict::Verified, "{model}, {waiting}");
            assert_eq!(verdict(&source, model, Question::Outcomes, false), Verdict::Bounded, "{model}, {waiting}");
        }
        assert_eq!(agrees_everywhere(&source), Ok(()));
    }
}

/// What nobody asks about does not keep an iteration from being idle.
#[test]
fn only_what_is_asked_about_matters() {
    let source = "threads {
        shared x, y;
        local r, s;
        thread p { loop { r := x; if r = 1 { break; } if r = 2 { s := y; } } }
        thread q { y := 1; x := 2; x := 1; r := 1; assert r = 1; }
    }
    observe p.s, q.r;
    check always (q.r = 1) on relaxed;";
    let program = compile(source);
    let property = &program.checks[0].property;
    for model in ["sc", "relaxed"] {
        assert_eq!(verdict(source, model, Question::Outcomes, true), Verdict::Bounded, "{model}");
        for property in [property, &Property::Assertions] {
            assert_eq!(verdict(source, model, Question::Holds(property), true), Verdict::Verified, "{model}");
            assert_eq!(verdict(source, model, Question::Holds(property), false), Verdict::Bounded, "{model}");
        }
    }
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// An exchange that finds what it writes hides where a value comes from. Without it `q` would see a value that was computed from what `q` saw.
#[test]
fn an_exchange_that_changes_nothing_may_be_a_source() {
    let source = "threads {
        shared x, y;
        local r, s, w, l;
        thread p { w := x; assume w = 3; fence(load-load, load-store); loop { l := exchange(x, 3); if l = 2 { break; } } }
        thread q { r := x; y := r; x := 2; }
        thread t { s := y; x := s; }
    }
    observe q.r, p.l;";
    assert!(outcomes(source, "relaxed").contains(&vec![3, 2]));
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// The same of an exchange in two steps.
#[test]
fn a_swap_that_changes_nothing_may_be_a_source() {
    let source = "threads {
        shared x, y;
        local r, s, w, l;
        thread p { w := x; assume w = 3; fence(load-load, load-store); loop { atomic { l := x; x := 3; } if l = 2 { break; } } }
        thread q { r := x; y := r; x := 2; }
        thread t { s := y; x := s; }
    }
    observe q.r, p.l;";
    assert!(outcomes(source, "relaxed").contains(&vec![3, 2]));
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// A swap that changes nothing is seen by a later load of its thread before it is performed, which without it would see something older.
#[test]
fn a_swap_that_changes_nothing_may_be_forwarded() {
    let source = "threads {
        shared x, y, data[4];
        local r, d, f, l;
        thread p {
            loop { f := y; if f = 1 { break; } atomic { l := x; x := 3; } assume l = 3; }
            r := x; d := data[r];
        }
        thread q { data[3] := 1; fence(store-store); x := 3; y := 1; }
    }
    observe p.r, p.d;";
    assert!(outcomes(source, "sparc-rmo").contains(&vec![3, 0]));
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// Locks in an array: the address of the one that is tried is not known beforehand.
#[test]
fn a_lock_at_any_address_needs_no_bound() {
    let source = "threads {
        shared lock[2], next, x;
        local i, j, r;
        thread p { i := next; loop { atomic { r := lock[i]; lock[i] := 1; } if r = 0 { break; } } j := x; x := j + 1; lock[i] := 0; }
        thread q { i := next; loop { atomic { r := lock[i]; lock[i] := 1; } if r = 0 { break; } } j := x; x := j + 1; lock[i] := 0; }
        thread t { next := 1; }
    }
    observe p.j, q.j;";
    for model in ["sc", "tso", "relaxed"] {
        assert_eq!(verdict(source, model, Question::Outcomes, true), Verdict::Verified, "{model}");
        assert_eq!(verdict(source, model, Question::Outcomes, false), Verdict::Bounded, "{model}");
    }
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// The assertion fails, and the other thread, which waits for what comes after it, can do nothing but idle.
#[test]
fn an_error_is_seen_beside_a_thread_that_idles_for_ever() {
    let source = "threads {
        shared x, y;
        local r;
        thread p { r := y; assert r = 1; assume r = 1; x := 1; }
        thread q { loop { r := x; if r = 1 { break; } } }
    }
    check assertions;";
    for model in ["sc", "relaxed"] {
        let property = Property::Assertions;
        assert_eq!(verdict(source, model, Question::Holds(&property), true), Verdict::Violated, "{model}");
    }
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// What keeps an iteration from being idle; each of these fails if that is not looked at.
#[test]
fn iterations_that_are_not_idle() {
    let bodies = [
        // A register that is looked at later.
        "loop { s := x; if s != r { break; } r := s + 1; }",
        // Two iterations store different things.
        "loop { r := x; if r = 1 { break; } y := r + 1; }",
        "loop { r := x; if r = 1 { break; } s := fetch_add(y, 1); }",
        // A compare-and-swap that succeeds once.
        "loop { r := x; if r = 1 { break; } s := cas(y, 0, 2); }",
        // An assertion that fails only in an iteration that is not the last one.
        "loop { r := x; if r = 1 { break; } s := y; assert s != 1; }",
        // A computation that goes wrong there.
        "loop { r := x; if r = 1 { break; } s := y; s := 1 / (1 - s); }",
        // A loop in a loop.
        "loop { r := x; if r = 1 { break; } loop { s := y; if s = 1 { break; } } y := 2; }",
        "loop { r := x; if r = 1 { break; } loop { s := y; if s != 0 { break; } s := cas(y, 0, 2); } }",
        // The same where the loop begins with a look at what it loaded.
        "while r = 0 { r := x; s := s + r + 1; }",
        "while r != 1 { r := x; y := r + 1; }",
        "while r != 1 { s := fetch_add(y, 1); r := x; }",
        "while r != 1 { r := x; s := exchange(y, 2); }",
        "while r != 1 { s := y; assert s != 1; r := x; }",
        "while r != 1 { if s = 0 { r := x; s := 1; } else { r := x; y := 2; } }",
        "while r != 1 { loop { s := y; if s != 0 { break; } s := cas(y, 0, 2); } r := x; }",
        // An iteration that does not pass the point at all.
        "choose s in 0..1; r := s; while r != 2 { if r = 0 { r := y; } else { r := x; r := r + 1; } }",
    ];
    for body in bodies {
        let source = format!(
            "threads {{
                shared x, y;
                local r, s;
                thread p {{ {body} }}
                thread q {{ x := 1; y := 1; r := y; }}
            }}
            observe x, y, p.s, q.r;"
        );
        assert_eq!(agrees_everywhere(&source), Ok(()));
    }
}

/// What goes wrong in the first iteration is seen only because of a store after the loop that is performed before it: the thread must not stop
/// there, though nothing else happens in that iteration.
#[test]
fn what_goes_wrong_may_rest_on_what_comes_later() {
    for check in ["assert s != 1;", "s := 1 / (1 - s);"] {
        let source = format!(
            "threads {{
                shared x, y, z;
                local r, s, t;
                thread p {{ loop {{ r := x; if r = 1 {{ break; }} s := y; {check} }} z := 1; }}
                thread q {{ x := 1; t := z; if t = 1 {{ y := 1; }} }}
            }}
            check assertions;"
        );
        let property = Property::Assertions;
        assert_eq!(verdict(&source, "relaxed", Question::Holds(&property), true), Verdict::Violated, "{check}");
        assert_eq!(agrees_everywhere(&source), Ok(()));
    }
}

/// Nobody sees the middle of a section, also if it goes round in there.
#[test]
fn sections_do_not_stop_half_way() {
    let source = "threads {
        shared x, y;
        local r;
        thread p { atomic { y := 1; loop { r := x; if r = 1 { break; } } y := 0; } }
        thread q { r := y; assert r = 0; x := 1; }
    }
    check assertions;";
    assert_eq!(agrees_everywhere(source), Ok(()));
}

/// Models about relations that need no marked accesses to leave out iterations.
const RELATIONAL: [&str; 8] = ["cat:sc", "cat:tso", "cat:pso", "ra", "imm", "armv8", "riscv", "power"];

/// Two threads that wait for a lock, each in its own way, until somebody gives it back.
fn under_a_lock(one: &str, other: &str) -> String {
    format!(
        "threads {{
            shared l = 1, x;
            local r, s;
            thread p {{ {one} x := 1; l := 0; }}
            thread q {{ {other} s := x; l := 0; }}
            thread o {{ l := 0; }}
        }}
        observe x, q.s;"
    )
}

/// The ways in which a lock is taken that need no bound, each with whether all who read the lock write it, too.
const TAKES: [(&str, bool); 6] = [
    ("loop { r := exchange(l, 1); if r = 0 { break; } }", true),
    ("r := 1; while r != 0 { r := exchange(l, 1); }", true),
    ("loop { atomic { r := l; l := 1; } if r = 0 { break; } }", true),
    ("loop { r := l; if r = 0 { r := exchange(l, 1); if r = 0 { break; } } }", false),
    ("loop { r := exchange(l, 1); if r = 0 { break; } loop { r := l; if r = 0 { break; } } }", false),
    ("loop { r := l; if r = 0 { break; } }", false),
];

#[test]
fn locks_by_exchange_need_no_bound() {
    for (one, both_write) in &TAKES[..5] {
        for (other, also) in TAKES {
            let source = under_a_lock(one, other);
            for name in RELATIONAL {
                // Between two reads of riscv there must be a write.
                let fits = name != "riscv" || *both_write && also;
                let found = verdict(&source, name, Question::Outcomes, true);
                assert!(!fits || found == Verdict::Verified, "{name}: {found:?}\n{source}");
            }
        }
        let source = under_a_lock(one, TAKES[0].0);
        assert_eq!(verdict(&source, "armv8", Question::Outcomes, false), Verdict::Bounded, "{source}");
        let model = cyrano_memory::named("armv8").expect("a model");
        assert_eq!(agrees(&compile(&source), &model).map(|_| ()), Ok(()), "{source}");
    }
}

/// Who looks at the lock and goes on may have seen what an idle iteration wrote, which counts therefore.
#[test]
fn iterations_that_somebody_sees_are_not_idle() {
    let others = [
        "r := l;",
        "r := exchange(l, 1);",
        "r := cas(l, 0, 1);",
        "r := fetch_add(l, 0);",
        "atomic { r := l; l := 1; }",
        // Goes round, but with something done before or after.
        "loop { x := 2; r := exchange(l, 1); if r = 0 { break; } }",
        "loop { r := exchange(l, 1); if r = 0 { break; } x := 2; }",
        "loop { r := exchange(l, 1); assert x != 7; if r = 0 { break; } }",
        // Writes something else, or waits for something else.
        "loop { r := exchange(l, 2); if r = 0 { break; } }",
        "loop { r := exchange(l, 1); if r = 1 { break; } }",
        "loop { r := l; if r = 1 { break; } }",
        // What it waits for is not all that it looks at.
        "choose s in 0..1; loop { r := exchange(l, 1); if r = s { break; } }",
        "loop { r := exchange(l, 1); if r = 0 { break; } choose s in 0..1; if s = 0 { break; } }",
        // Twice in an iteration, and once before the first.
        "loop { r := exchange(l, 1); r := exchange(l, 1); if r = 0 { break; } }",
        "r := exchange(l, 1); while r != 0 { r := exchange(l, 1); }",
    ];
    for other in others {
        let source = under_a_lock(TAKES[0].0, other);
        for name in ["armv8", "power", "cat:tso"] {
            let found = verdict(&source, name, Question::Outcomes, true);
            assert_eq!(found, Verdict::Bounded, "{name}\n{source}");
        }
        let model = cyrano_memory::named("armv8").expect("a model");
        assert_eq!(agrees(&compile(&source), &model).map(|_| ()), Ok(()), "{source}");
    }
}

/// The library's queue: the same observations with and without, and the same verdict.
#[test]
fn the_queue_agrees() {
    let folder = corpus::folder().join("datatypes");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the library can be read");
    for file in ["msn.c", "msn_unfenced.c"] {
        let unit = cyrano_cfront::parse(&read(file), file, &|_| None).expect("the library compiles");
        let tests = format!("{}\ntest pair = ( e | e )\n", read("msn.tests"));
        let tests = cyrano_cfront::tests(&tests, &unit).expect("the tests are right");
        for name in ["T0", "pair"] {
            let program = unit.program(tests.test(name).expect("there is such a test")).expect("it becomes a program");
            for model in ["sc", "relaxed"].map(|name| cyrano_memory::named(name).expect("a model")) {
                let [on, off] = [true, false].map(|idle_iterations| {
                    let engine = Symbolic { idle_iterations, ..Symbolic::default() };
                    ask(&engine, &program, &model, Question::Outcomes, 60.0)
                });
                assert_eq!(on.verdict, Verdict::Verified, "{file} {name} {}: {:?}", model.name, on.reason);
                assert_eq!(on.outcomes, off.outcomes, "{file} {name} {}", model.name);
            }
        }
    }
}

/// A statement of a random thread.
fn statement() -> BoxedStrategy<String> {
    let var = || prop_oneof![Just("x"), Just("y"), Just("z")];
    let reg = || prop_oneof![Just("r"), Just("s"), Just("t")];
    let simple = prop_oneof![
        3 => (var(), 1..3).prop_map(|(x, v)| format!("{x} := {v};")),
        1 => (var(), reg()).prop_map(|(x, r)| format!("{x} := {r} + 1;")),
        3 => (reg(), var()).prop_map(|(r, x)| format!("{r} := {x};")),
        1 => (reg(), var(), 0..2).prop_map(|(r, x, v)| format!("{r} := cas({x}, {v}, 2);")),
        1 => (reg(), var(), 1..3).prop_map(|(r, x, v)| format!("{r} := exchange({x}, {v});")),
        1 => (reg(), var(), reg()).prop_map(|(r, x, s)| format!("{r} := exchange({x}, {s});")),
        1 => (reg(), 0..3).prop_map(|(r, v)| format!("assert {r} != {v};")),
        1 => (reg(), 0..3).prop_map(|(r, v)| format!("assume {r} != {v};")),
        1 => prop_oneof![Just("load-load"), Just("store-store"), Just("store-load")].prop_map(|f| format!("fence({f});")),
        1 => (reg(), var(), var()).prop_map(|(r, x, y)| format!("atomic {{ {r} := {x}; {y} := 1; }}")),
        1 => (reg(), var()).prop_map(|(r, x)| format!("atomic {{ {r} := {x}; assume {r} != 0; }}")),
        1 => (reg(), var(), 1..3).prop_map(|(r, x, v)| format!("atomic {{ {r} := {x}; {x} := {v}; }}")),
        1 => reg().prop_map(|r| format!("choose {r} in 0..1;")),
    ]
    .boxed();
    let rest = prop::collection::vec(simple.clone(), 0..3);
    let spin = (reg(), var(), 0..2, rest)
        .prop_map(|(r, x, v, rest)| format!("loop {{ {r} := {x}; if {r} != {v} {{ break; }} {} }}", rest.join(" ")));
    let few = || prop::collection::vec(simple.clone(), 0..2).prop_map(|statements| statements.join(" "));
    let attempt = || {
        prop_oneof![
            3 => (reg(), var()).prop_map(|(r, x)| format!("{r} := {x};")),
            1 => (reg(), var(), 1..3).prop_map(|(r, x, v)| format!("{r} := exchange({x}, {v});")),
            1 => (reg(), var(), 1..3).prop_map(|(r, x, v)| format!("atomic {{ {r} := {x}; {x} := {v}; }}")),
        ]
    };
    let wait = (attempt(), attempt(), few(), reg(), 0..3)
        .prop_map(|(first, again, rest, r, v)| format!("{first} while {r} = {v} {{ {again} {rest} }}"));
    let either = (attempt(), attempt(), few(), few(), reg(), reg(), 0..2).prop_map(|(one, other, a, b, r, s, v)| {
        format!("while {r} = {v} {{ if {s} = 0 {{ {one} {a} }} else {{ {other} {b} }} }}")
    });
    prop_oneof![2 => simple.clone(), 2 => spin, 2 => wait, 1 => either].boxed()
}

fn cases() -> u32 {
    std::env::var("CYRANO_SYMBOLIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

#[test]
fn random_loops_agree() {
    let thread = || prop::collection::vec(statement(), 1..4);
    let observed = prop_oneof![Just("p.r, q.r"), Just("p.r, p.s, q.t"), Just("x, y"), Just("x, q.s")];
    let strategy = (thread(), thread(), prop::sample::select(cyrano_memory::all()), observed);
    let answered = Cell::new(0);
    let result = pinned::runner(cases(), file!()).run(&strategy, |(p, q, model, observed)| {
        let source = format!(
            "threads {{\nshared x, y, z;\nlocal r, s, t;\nthread p {{\n{}\n}}\nthread q {{\n{}\n}}\n}}\nobserve {observed};",
            p.join("\n"),
            q.join("\n")
        );
        let new = agrees(&compile(&source), &model);
        answered.set(answered.get() + new.map_err(|error| TestCaseError::fail(format!("{error}\n{source}")))?);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (answered, asked) = (answered.get(), 2 * cases() as usize);
    println!("{answered} of {asked} questions were answered");
    assert!(answered * 10 >= asked * 9, "only {answered} of {asked} questions were answered");
}
