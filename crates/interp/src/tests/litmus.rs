//! The classical shapes: how many outcomes each model allows.

use cyrano_engine::Verdict;

use super::{model, notation, outcomes};

/// Compares the number of outcomes under each model.
fn check(threads: &[&str], observed: &str, counts: [(&str, usize); 7]) {
    let program = notation::program(threads, observed);
    for (name, count) in counts {
        let answer = outcomes(&program, &model(name));
        assert_eq!(answer.verdict, Verdict::Verified, "{name}: {:?}", answer.reason);
        assert_eq!(answer.outcomes.len(), count, "{threads:?} under {name}: {:?}", answer.outcomes);
    }
}

/// Counts in the order serial, sc, tso, pso, rmo, sparc-rmo, relaxed.
fn counts(counts: [usize; 7]) -> [(&'static str, usize); 7] {
    let names = ["serial", "sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"];
    std::array::from_fn(|at| (names[at], counts[at]))
}

/// Compares which models allow one outcome.
fn check_outcome(threads: &[&str], observed: &str, outcome: &[i128], allowed: &[&str]) {
    let program = notation::program(threads, observed);
    for model in cyrano_memory::all() {
        let found = outcomes(&program, &model).outcomes.contains(outcome);
        assert_eq!(found, allowed.contains(&model.name.as_str()), "{threads:?} under {}", model.name);
    }
}

#[test]
fn store_buffering() {
    check(&["x=1; r0=y", "y=1; r0=x"], "0r0 1r0", counts([2, 3, 4, 4, 4, 4, 4]));
    check(&["x=1; mfence; r0=y", "y=1; mfence; r0=x"], "0r0 1r0", counts([2, 3, 3, 3, 3, 3, 3]));
    let fence = ["x=1; fence store-load; r0=y", "y=1; fence store-load; r0=x"];
    check(&fence, "0r0 1r0", counts([2, 3, 3, 3, 3, 3, 3]));
    // A fence orders only what it stands between.
    check(&["mfence; x=1; r0=y; mfence", "mfence; y=1; r0=x; mfence"], "0r0 1r0", counts([2, 3, 4, 4, 4, 4, 4]));
    let wrong = ["x=1; fence load-load load-store store-store; r0=y", "y=1; mfence; r0=x"];
    check(&wrong, "0r0 1r0", counts([2, 3, 4, 4, 4, 4, 4]));
}

#[test]
fn message_passing() {
    check(&["x=1; y=1", "r0=y; r1=x"], "1r0 1r1", counts([2, 3, 3, 4, 4, 4, 4]));
    check(&["x=1; fence store-store; y=1", "r0=y; r1=x"], "1r0 1r1", counts([2, 3, 3, 3, 4, 4, 4]));
    let both = ["x=1; fence store-store; y=1", "r0=y; fence load-load; r1=x"];
    check(&both, "1r0 1r1", counts([2, 3, 3, 3, 3, 3, 3]));
}

#[test]
fn message_passing_with_dependencies() {
    let writer = "a[1]=1; fence store-store; y=1";
    check(&[writer, "r0=y; r1=a[r0]"], "1r0 1r1", counts([2, 2, 2, 2, 2, 2, 3]));
    let compared = ["x=1; fence store-store; y=1", "r0=y; r1=cas x r0 5"];
    check_outcome(&compared, "1r0 1r1", &[1, 0], &["relaxed"]);
    let control = ["x=1; fence store-store; y=1", "r0=y; unless r0 skip 1; r1=x"];
    check(&control, "1r0 1r1", counts([2, 2, 2, 2, 2, 3, 3]));
    let assumed = ["x=1; fence store-store; y=1", "r0=y; assume r0; r1=x"];
    check(&assumed, "1r0 1r1", counts([1, 1, 1, 1, 1, 2, 2]));
}

#[test]
fn load_buffering() {
    check(&["r0=x; y=1", "r0=y; x=1"], "0r0 1r0", counts([2, 3, 3, 3, 4, 4, 4]));
    check(&["r0=x; y=r0", "r0=y; x=1"], "0r0 1r0", counts([2, 2, 2, 2, 3, 3, 3]));
    // No value out of thin air, also where dependencies are not kept.
    check(&["r0=x; y=r0", "r0=y; x=r0"], "0r0 1r0", counts([1; 7]));
    check(&["r0=x; r1=r0+1; y=r1", "r0=y; x=r0"], "0r0 1r0", counts([2, 2, 2, 2, 2, 2, 2]));
    // Values that branches alone lead to are no values out of thin air.
    let control = ["r0=x; unless r0 skip 1; y=1", "r0=y; unless r0 skip 1; x=1"];
    check(&control, "0r0 1r0", counts([1, 1, 1, 1, 1, 1, 2]));
}

#[test]
fn where_a_value_came_from_matters() {
    // The first thread's load may take its 1 from the compare-and-swap, whose 1 is its own, but not from the second thread.
    let threads = ["r0=x; y=r0; fence load-load; r1=add w 1", "r0=y; x=r0", "r1=cas x 1 1; mfence; r2=add w 2", "r0=w"];
    check_outcome(&threads, "0r0 1r0 2r1 3r0", &[1, 1, 1, 3], &["relaxed"]);
}

#[test]
fn write_shapes() {
    check(&["x=2; y=1", "r0=y; x=1"], "1r0 x", counts([2, 3, 3, 4, 4, 4, 4]));
    check(&["x=1; y=1", "y=2; r0=x"], "1r0 y", counts([2, 3, 4, 4, 4, 4, 4]));
    check(&["x=1; y=2", "y=1; x=2"], "x y", counts([2, 3, 3, 4, 4, 4, 4]));
    check(&["x=1; x=2"], "x", counts([1; 7]));
}

#[test]
fn coherence() {
    check(&["x=1", "r0=x; r1=x"], "1r0 1r1", counts([2, 3, 3, 3, 4, 4, 4]));
    check(&["r0=x; x=1"], "0r0", counts([1; 7]));
    check(&["x=1; r0=x"], "0r0", counts([1; 7]));
    check(&["x=1; x=2; r0=x"], "0r0", counts([1; 7]));
    check(&["x=1; r0=x", "x=2"], "0r0 x", counts([2, 3, 3, 3, 3, 3, 3]));
}

#[test]
fn independent_reads() {
    let threads = ["x=1", "y=1", "r0=x; r1=y", "r0=y; r1=x"];
    check(&threads, "2r0 2r1 3r0 3r1", counts([14, 15, 15, 15, 16, 16, 16]));
    let fenced = ["x=1", "y=1", "r0=x; fence load-load; r1=y", "r0=y; fence load-load; r1=x"];
    check(&fenced, "2r0 2r1 3r0 3r1", counts([14, 15, 15, 15, 15, 15, 15]));
}

#[test]
fn figure_4_of_foil() {
    let threads = ["x=1; z=1; r0=w; unless r0 skip 1; r1=y; x=2", "y=1; w=1; r0=z; unless r0 skip 1; r1=x; y=2"];
    let program = notation::program(&threads, "0r0 1r0 0r1 1r1");
    for (name, count) in [("sc", 7), ("tso", 8), ("pso", 15), ("rmo", 16)] {
        assert_eq!(outcomes(&program, &model(name)).outcomes.len(), count, "{name}");
    }
}

#[test]
fn own_writes_are_forwarded() {
    check(&["x=1; r0=x; r1=y", "y=1; r0=y; r1=x"], "0r0 0r1 1r0 1r1", counts([2, 3, 4, 4, 4, 4, 4]));
    let branch = ["x=1; r0=x; unless r0 skip 1; r1=y", "y=1; r0=y; unless r0 skip 1; r1=x"];
    check(&branch, "0r1 1r1", counts([2, 3, 4, 4, 4, 4, 4]));
    let n6 = ["x=1; r0=x; r1=y", "y=2; x=2"];
    check_outcome(&n6, "0r0 0r1 x", &[1, 0, 1], &["tso", "pso", "rmo", "sparc-rmo", "relaxed"]);
    // A forwarded value waits for the loads that it was computed from (axiom 5).
    let known = ["r0=x; z=r0; r1=z; unless r1==1 skip 1; r2=y", "y=1; fence store-store; x=1"];
    check_outcome(&known, "0r0 0r1 0r2", &[1, 1, 0], &["sparc-rmo", "relaxed"]);
}

#[test]
fn read_modify_writes() {
    check(&["r0=cas x 0 1", "r0=cas x 0 1"], "0r0 1r0", counts([2; 7]));
    check(&["r0=add x 1", "r0=add x 1"], "0r0 1r0 x", counts([2; 7]));
    check(&["r0=xchg x 1", "r0=xchg x 2"], "0r0 1r0 x", counts([2; 7]));
    check(&["r0=x; x=r0+1", "r0=x; x=r0+1"], "x", counts([1, 2, 2, 2, 2, 2, 2]));
    // A failed compare-and-swap is ordered like a successful one.
    let failed = ["x=1; r1=cas z 5 6; r0=y", "y=1; r1=cas z 5 6; r0=x"];
    check(&failed, "0r0 1r0", counts([2, 3, 3, 4, 4, 4, 4]));
}

#[test]
fn atomic_sections() {
    let increment = "atomic{; r0=x; x=r0+1; }";
    check(&[increment, increment], "x", counts([1; 7]));
    check(&["atomic{; x=1; y=1; }", "atomic{; r0=y; r1=x; }"], "1r0 1r1", counts([2; 7]));
    check(&["x=1; y=1", "atomic{; r0=y; r1=x; }"], "1r0 1r1", counts([2, 3, 3, 4, 4, 4, 4]));
    let waiting = ["atomic{; r0=x; assume r0; }; r1=y", "y=1; x=1"];
    check(&waiting, "0r0 0r1", counts([1, 1, 1, 2, 2, 2, 2]));
}

#[test]
fn operations_do_not_interleave_under_serial() {
    let operations = ["op{; x=1; y=1; }op; op{; z=1; }op", "op{; r0=x; r1=y; }op; r2=z"];
    check_outcome(
        &operations,
        "1r0 1r1 1r2",
        &[1, 1, 0],
        &["serial", "sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"],
    );
    check_outcome(&operations, "1r0 1r1 1r2", &[1, 0, 1], &["sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"]);
    check_outcome(
        &operations,
        "1r0 1r1 1r2",
        &[0, 0, 1],
        &["serial", "sc", "tso", "pso", "rmo", "sparc-rmo", "relaxed"],
    );
}

#[test]
fn choices_and_loops() {
    check(&["r0=choose 3 5 3; x=r0", "r0=x"], "0r0 1r0", counts([4; 7]));
    let poll = notation::program(&["r0=x; while r0==0 back 1", "x=1"], "0r0");
    let answer = outcomes(&poll, &model("sc"));
    assert_eq!(answer.verdict, Verdict::Bounded);
    assert_eq!(answer.reason.as_deref(), Some("loops were unrolled 3 times"));
    assert_eq!(answer.outcomes.len(), 1);
    // A bound that no execution reaches does not matter: nobody writes anything but 0.
    let ends = notation::program(&["r0=x; while r0 back 1", "x=0"], "0r0");
    assert_eq!(outcomes(&ends, &model("sc")).verdict, Verdict::Verified);
    let reached = notation::program(&["r0=x; while r0 back 1; r1=y", "x=1; y=1; x=0"], "0r0");
    assert_eq!(outcomes(&reached, &model("sc")).verdict, Verdict::Bounded);
}

#[test]
fn errors_remove_outcomes_and_assertions_do_not() {
    check(&["r0=x; r1=1/r0", "x=1"], "0r0", counts([1; 7]));
    check(&["r0=x; assert r0", "x=1"], "0r0", counts([2; 7]));
}

#[test]
fn size_is_limited() {
    let long = "x=1;".repeat(65);
    let answer = outcomes(&notation::program(&[&long], "x"), &model("sc"));
    assert_eq!(answer.verdict, Verdict::Unknown);
    assert_eq!(answer.reason.as_deref(), Some("larger than this engine can hold"));
}
