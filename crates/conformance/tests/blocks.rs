//! Atomic blocks with commit points, in the IR's own text form: small programs whose verdicts were worked out by hand. Every violation is
//! confirmed by the reference interpreter, and switching reductions off changes nothing.

use cyrano_conformance::limits;
use cyrano_engine::{Difference, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, text};

fn program(text: &str) -> Program {
    let program = text::parse(text).expect("it is a program");
    assert_eq!(cyrano_ir::verify(&program), Ok(()), "{text}");
    program
}

/// The verdict under a model with all reductions and with none; what differs, if something does.
#[track_caller]
fn judge(program: &Program, model: &str) -> (Verdict, Option<Difference>) {
    let model = cyrano_memory::named(model).expect("a named model");
    let ask = |explore: &Explore| {
        let property = Property::CommitAtomicity;
        let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
        let answer = explore.ask(query, &limits(60.0, 6), &());
        let difference = answer.violation.as_ref().map(|violation| {
            let execution = answer.execution.as_ref().expect("a violation has its execution");
            let replayed = cyrano_interp::confirm(program, &model, &property, Some(violation), execution);
            let replayed = replayed.unwrap_or_else(|error| panic!("{}: {error}\n{execution:#?}", model.name));
            replayed.serial.expect("it is about blocks").difference
        });
        (answer.verdict, difference, answer.stats.states)
    };
    let on = ask(&Explore::default());
    let plain = Explore {
        dead_registers: false,
        thread_symmetry: false,
        macro_steps: false,
        movers: false,
        ..Explore::default()
    };
    let off = ask(&plain);
    assert_eq!(on.0, off.0, "reductions on and off under {}", model.name);
    assert!(on.2 <= off.2 || on.0 == Verdict::Violated, "reductions make it larger");
    (on.0, on.1)
}

#[track_caller]
fn check(text: &str, expected: &[(&str, Verdict)]) {
    let program = program(text);
    for (model, verdict) in expected {
        assert_eq!(judge(&program, model).0, *verdict, "under {model}:\n{text}");
    }
}

/// Each of these threads, in a loop: take a lock, add one, give it back; `{}` is the way of taking it.
fn counter(threads: usize, take: &str, commit: &str) -> String {
    let code = |name: usize| {
        format!(
            "thread t{name}
  register r = 0
  register d = 0
  @0: block begin add
  {take}
  @3: {commit}
  @4: d := load data
  @5: store data, ((d + 1) % 3)
  @6: store m, 0
  @7: block end
  @8: jump @0
"
        )
    };
    let threads: String = (0..threads).map(code).collect();
    format!("program counter\nlocation m = 0\nlocation data = 0\n{threads}")
}

const SPIN: &str = "@1: r := cas m, 0, 1
  @2: branch (r == 0) then @3 else @1";

#[test]
fn a_spin_lock_makes_blocks_atomic() {
    let verified = [("sc", Verdict::Verified), ("tso", Verdict::Verified)];
    check(&counter(2, SPIN, "block commit"), &verified);
    check(&counter(3, SPIN, "block commit"), &[("sc", Verdict::Verified)]);
    check(&counter(2, SPIN, "block commit"), &[("pso", Verdict::Violated)]);
}

#[test]
fn without_the_lock_they_are_not() {
    let take = "@1: r := load m
  @2: branch (r == 0) then @3 else @1";
    for model in ["sc", "tso", "pso", "rmo"] {
        check(&counter(2, take, "block commit"), &[(model, Verdict::Violated)]);
    }
}

const SINGLE: &str = "program single
location x = 0
thread p
  register r = 0
  @0: r := fetch_add x, 1
  @1: block begin b
  @2: r := load x
  @3: block commit
  @4: store x, (r + 1)
  @5: block end
  @6: halt
thread q
  @0: fetch_add x, 1
  @1: halt
";

#[test]
fn accesses_outside_are_units() {
    check(SINGLE, &[("sc", Verdict::Violated)]);
    let fixed =
        SINGLE.replace("  @2: r := load x\n", "  @2: r := fetch_add x, 1\n").replace("store x, (r + 1)", "r := load x");
    // What it hands on is read again before the end, after the other thread may have added.
    let dead = fixed.replace("block end", "block end 1");
    check(&dead, &[("sc", Verdict::Verified)]);
    check(&dead.replace("block end 1", "block end r"), &[("sc", Verdict::Violated)]);
}

#[test]
fn what_is_handed_on_counts() {
    let text = SINGLE.replace("store x, (r + 1)", "r := load x").replace("block end", "block end r");
    let program = program(&text);
    let (verdict, difference) = judge(&program, "sc");
    assert_eq!(verdict, Verdict::Violated);
    assert!(matches!(difference, Some(Difference::HandedOn { .. })), "{difference:?}");
}

#[test]
fn a_block_that_waits_for_another_never_ends_alone() {
    let text = "program wait
location x = 0
thread p
  register r = 0
  @0: block begin b
  @1: store x, 0
  @2: block commit
  @3: r := load x
  @4: branch (r == 1) then @5 else @3
  @5: block end
  @6: halt
thread q
  @0: store x, 1
  @1: halt
";
    let (verdict, difference) = judge(&program(text), "sc");
    assert_eq!(verdict, Verdict::Violated);
    assert!(matches!(difference, Some(Difference::Stuck { .. })), "{difference:?}");
}

/// Choices in a block are made anew by the serial run.
#[test]
fn some_choice_must_fit() {
    let text = "program choice
location x = 0
location y = 0
thread p
  register c = 0
  register r = 0
  @0: block begin b
  @1: c := choose 0, 1, 2
  @2: r := cas x, c, (c + 1)
  @3: branch (r == c) then @4 else @1
  @4: block commit
  @5: store y, c
  @6: block end c
  @7: halt
thread q
  register c = 0
  @0: c := choose 1, 2
  @1: store x, c
  @2: halt
";
    check(text, &[("sc", Verdict::Verified), ("tso", Verdict::Verified), ("rmo", Verdict::Verified)]);
    let wrong = text.replace("@5: store y, c", "@5: c := load x");
    check(&wrong, &[("sc", Verdict::Violated)]);
}

/// A store before a block may be performed after the block has committed; the serial run keeps the program's order.
#[test]
fn the_serial_run_keeps_program_order() {
    let text = "program late
location x = 0
location y = 0
thread p
  register r = 0
  @0: store x, 1
  @1: block begin b
  @2: store y, 1
  @3: block commit
  @4: block end
  @5: halt
thread q
  register r = 0
  register s = 0
  @0: block begin c
  @1: r := load y
  @2: block commit
  @3: block end r
  @4: s := load x
  @5: halt
observe s = q:s
";
    check(text, &[("sc", Verdict::Verified), ("tso", Verdict::Verified)]);
    check(text, &[("pso", Verdict::Violated), ("rmo", Verdict::Violated)]);
    let fenced = text.replace("  @1: block begin b\n  @2: store y, 1\n  @3: block commit\n  @4: block end\n  @5: halt", "  @1: fence store-store\n  @2: block begin b\n  @3: store y, 1\n  @4: block commit\n  @5: block end\n  @6: halt");
    check(&fenced, &[("pso", Verdict::Verified), ("rmo", Verdict::Violated)]);
}

/// What only a condition on final states looks at is handed on too.
#[test]
fn what_a_condition_reads_is_handed_on() {
    let text = "program condition
location x = 1
location y = 0
thread p
  register r = 0
  register s = 0
  @0: block begin b
  @1: r := load y
  @2: block commit
  @3: s := load x
  @4: store y, 1
  @5: block end
  @6: halt
thread q
  @0: store x, 2
  @1: halt
";
    check(text, &[("sc", Verdict::Verified)]);
    check(&format!("{text}check never (p:s == 5) \"s = 5\" on sc\n"), &[("sc", Verdict::Violated)]);
}

/// A block that may have committed or not when it comes to a place from which it never ends.
#[test]
fn a_block_that_never_ends_is_not_atomic() {
    let text = "program endless
location x = 0
location y = 0
thread p
  register r = 0
  @0: block begin b
  @1: r := load x
  @2: branch (r == 0) then @3 else @4
  @3: block commit
  @4: store y, 1
  @5: jump @4
";
    check(text, &[("sc", Verdict::Violated)]);
}

/// A bound that is met in a section, in the last state of all.
#[test]
fn a_bound_is_a_bound() {
    let text = "program bounded
location x = 0
thread p
  register r = 0
  @0: block begin b
  @1: r := load x
  @2: block commit
  @3: block end
  @4: atomic begin
  @5: r := load x
  @6: limit (r == 1) \"rounds\"
  @7: atomic end
  @8: halt
";
    check(text, &[("sc", Verdict::Bounded)]);
}

/// Threads that wait for a lock, and threads that try again until nobody came in between; both for ever.
fn mixed(locked: usize, tried: usize) -> String {
    let locked = (0..locked).map(|t| {
        format!(
            "thread l{t}
  register r = 0
  register d = 0
  @0: block begin locked
  @1: atomic begin
  @2: r := load m
  @3: assume (r == 0)
  @4: store m, 1
  @5: atomic end
  @6: block commit
  @7: d := load data
  @8: store data, ((d + 1) % 2)
  @9: store m, 0
  @10: block end
  @11: jump @0
"
        )
    });
    let tried = (0..tried).map(|t| {
        format!(
            "thread t{t}
  register r = 0
  register d = 0
  @0: block begin tried
  @1: d := load n
  @2: r := cas n, d, ((d + 1) % 3)
  @3: branch (r == d) then @4 else @1
  @4: block commit
  @5: block end
  @6: jump @0
"
        )
    });
    let threads: String = locked.chain(tried).collect();
    format!("program mixed\nlocation m = 0\nlocation data = 0\nlocation n = 0\n{threads}")
}

/// Of ten threads eight have a block that movers prove. The others need the shadow, in which the proven ones run as one step.
#[test]
fn proven_blocks_run_as_one_step() {
    let sc = cyrano_memory::named("sc").expect("a named model");
    let property = Property::CommitAtomicity;
    // Without the comparison two may add the same one.
    let wrong = mixed(3, 2).replace("r := cas n, d, ((d + 1) % 3)", "r := exchange n, ((d + 1) % 3)");
    for (source, verdict) in [(mixed(8, 2), Verdict::Verified), (wrong, Verdict::Violated)] {
        let program = program(&source);
        let ask = |movers| {
            let query = Query::new(&program, &sc, Question::Holds(&property)).expect("a question");
            Explore { movers, ..Explore::default() }.ask(query, &limits(60.0, 6), &())
        };
        let (with, without) = (ask(true), ask(false));
        assert_eq!((with.verdict, without.verdict), (verdict, verdict), "{source}");
        if verdict == Verdict::Verified {
            let proven: Vec<(&str, bool)> = with.blocks.iter().map(|b| (b.name.as_str(), b.by_movers)).collect();
            assert_eq!(proven, [("locked", true), ("tried", false)]);
            assert!(with.reductions.contains(&"movers") && !without.reductions.contains(&"movers"));
            let (states, steps) = (with.stats.states, with.stats.transitions);
            let (all_states, all_steps) = (without.stats.states, without.stats.transitions);
            assert!(states * 2 < all_states, "{states} states with proven blocks as one step, {all_states} without");
            assert!(steps * 2 < all_steps, "{steps} steps with proven blocks as one step, {all_steps} without");
            // Of the eight threads that are alike few look different at a time.
            assert!(steps < states * 4, "{steps} steps from {states} states");
        }
    }
}
