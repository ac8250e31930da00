//! Languages: C11 and the Linux kernel's C.

use cyrano_engine::Verdict;

use super::{ask, check, flags, program};

const YES: bool = true;
const NO: bool = false;

#[test]
fn c11_orders() {
    let mp = |store: &str, load: &str, allowed: bool| {
        let threads = [
            format!("store x, 1 {{atomic}}; store y, 1 {{{store}}}"),
            format!("a := load y {{{load}}}; b := load x {{atomic}}"),
        ];
        check(&[&threads[0], &threads[1]], "1:a=1 1:b=0", &[("rc11", allowed)]);
    };
    mp("atomic", "atomic", YES);
    mp("atomic release", "atomic", YES);
    mp("atomic", "atomic acquire", YES);
    mp("atomic release", "atomic acquire", NO);
    mp("atomic seq_cst", "atomic consume", NO);
    let sb = |store: &str, load: &str, allowed: bool| {
        let threads = [
            format!("store x, 1 {{{store}}}; a := load y {{{load}}}"),
            format!("store y, 1 {{{store}}}; a := load x {{{load}}}"),
        ];
        check(&[&threads[0], &threads[1]], "0:a=0 1:a=0", &[("rc11", allowed), ("imm", allowed)]);
    };
    sb("atomic release", "atomic acquire", YES);
    sb("atomic seq_cst", "atomic seq_cst", NO);
    sb("atomic seq_cst", "atomic acquire", YES);
    let lb = ["a := load x {atomic}; store y, 1 {atomic}", "a := load y {atomic}; store x, 1 {atomic}"];
    check(&lb, "0:a=1 1:a=1", &[("rc11", NO), ("imm", YES)]);
    let iriw = |order: &str, allowed: bool| {
        let reader =
            |first: &str, second: &str| format!("a := load {first} {{{order}}}; b := load {second} {{{order}}}");
        let writer = |loc: &str| format!("store {loc}, 1 {{{order}}}").replace(" acquire", " release");
        let threads = [writer("x"), writer("y"), reader("x", "y"), reader("y", "x")];
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        check(&threads, "2:a=1 2:b=0 3:a=1 3:b=0", &[("rc11", allowed), ("imm", allowed)]);
    };
    iriw("atomic acquire", YES);
    iriw("atomic seq_cst", NO);
}

#[test]
fn c11_fences() {
    let fenced = |order: &str| {
        [
            format!("store x, 1 {{atomic}}; fence thread_fence.{order}; a := load y {{atomic}}"),
            format!("store y, 1 {{atomic}}; fence thread_fence.{order}; a := load x {{atomic}}"),
        ]
    };
    let sb = |order: &str, allowed: bool| {
        let threads = fenced(order);
        check(&[&threads[0], &threads[1]], "0:a=0 1:a=0", &[("rc11", allowed), ("imm", allowed)]);
    };
    sb("seq_cst", NO);
    sb("acq_rel", YES);
    let mp = |first: &str, second: &str, allowed: bool| {
        let threads = [
            format!("store x, 1 {{atomic}}; fence thread_fence.{first}; store y, 1 {{atomic}}"),
            format!("a := load y {{atomic}}; fence thread_fence.{second}; b := load x {{atomic}}"),
        ];
        check(&[&threads[0], &threads[1]], "1:a=1 1:b=0", &[("rc11", allowed), ("imm", allowed)]);
    };
    mp("release", "acquire", NO);
    mp("acq_rel", "seq_cst", NO);
    mp("relaxed", "acquire", YES);
    mp("acquire", "release", YES);
}

/// A read-modify-write by another thread keeps a release sequence going; a store of another thread ends it.
#[test]
fn c11_release_sequences() {
    let writer = "store x, 1 {atomic}; store y, 1 {atomic release}";
    let reader = "a := load y {atomic acquire}; b := load x {atomic}";
    let update = "c := fetch_add y, 1 {atomic}";
    check(&[writer, update, reader], "1:c=1 2:a=2 2:b=0", &[("rc11", NO)]);
    check(&[writer, "store y, 2 {atomic}", reader], "2:a=2 2:b=0", &[("rc11", YES)]);
    // A compare-and-swap that fails has the order that was given for this.
    let fails = |order: &str, allowed: bool| {
        let reader = format!("a := cas y, 7, 8 {{atomic release}} else {{{order}}}; b := load x {{atomic}}");
        check(&[writer, &reader], "1:a=1 1:b=0", &[("rc11", allowed)]);
    };
    fails("atomic", YES);
    fails("atomic acquire", NO);
}

#[test]
fn c11_races_are_flagged() {
    let race = |threads: &[&str], expected: bool| {
        assert_eq!(flags(threads, "rc11").contains("data-race"), expected, "{threads:?}")
    };
    race(&["store x, 1", "a := load x"], YES);
    race(&["store x, 1 {atomic}", "a := load x"], YES);
    race(&["store x, 1 {atomic}", "a := load x {atomic}"], NO);
    race(&["a := load x", "a := load x"], NO);
    let guarded = |order: &str| format!("a := load y {{{order}}}; branch (a == 1) then @2 else @3; b := load x");
    race(&["store x, 1; store y, 1 {atomic release}", &guarded("atomic acquire")], NO);
    race(&["store x, 1; store y, 1 {atomic release}", &guarded("atomic")], YES);
}

#[test]
fn kernel_barriers() {
    let once = |text: &str| text.replace(" once", " {atomic}");
    let check = |threads: &[&str], outcome: &str, allowed: bool| {
        let threads: Vec<String> = threads.iter().map(|thread| once(thread)).collect();
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        check(&threads, outcome, &[("lkmm", allowed)]);
    };
    let mp = "1:a=1 1:b=0";
    check(&["store x, 1 once; store y, 1 once", "a := load y once; b := load x once"], mp, YES);
    check(
        &["store x, 1 once; fence smp_wmb; store y, 1 once", "a := load y once; fence smp_rmb; b := load x once"],
        mp,
        NO,
    );
    check(
        &["store x, 1 once; fence smp_rmb; store y, 1 once", "a := load y once; fence smp_rmb; b := load x once"],
        mp,
        YES,
    );
    check(&["store x, 1 once; store y, 1 {atomic release}", "a := load y {atomic acquire}; b := load x once"], mp, NO);
    let sb = "0:a=0 1:a=0";
    let with = |fence: &str| {
        [format!("store x, 1 once; {fence}; a := load y once"), format!("store y, 1 once; {fence}; a := load x once")]
    };
    let sb_with = |fence: &str, allowed: bool| {
        let threads = with(fence);
        check(&[&threads[0], &threads[1]], sb, allowed);
    };
    sb_with("fence smp_mb", NO);
    sb_with("fence smp_wmb", YES);
    sb_with("b := exchange z, 1 {atomic full}", NO);
    sb_with("b := exchange z, 1 {atomic}", YES);
    sb_with("b := cas z, 7, 1 {atomic full}", YES);
    sb_with("fence smp_mb__before_atomic; fetch_add z, 1 {atomic noreturn}", NO);
    sb_with("fetch_add z, 1 {atomic noreturn}; fence smp_mb__after_atomic", NO);
    sb_with("fence smp_mb__after_atomic", YES);
    sb_with("fence synchronize_rcu", NO);
    let lb = "0:a=1 1:a=1";
    check(&["a := load x once; store y, 1 once", "a := load y once; store x, 1 once"], lb, YES);
    let ctrl =
        |from: &str, to: &str| format!("a := load {from} once; branch (a == 1) then @2 else @2; store {to}, 1 once");
    check(&[&ctrl("x", "y"), &ctrl("y", "x")], lb, NO);
    // The model is not multi-copy atomic, and full barriers make up for it.
    let iriw = |fence: &str| {
        let reader =
            |first: &str, second: &str| format!("a := load {first} once; fence {fence}; b := load {second} once");
        [reader("x", "y"), reader("y", "x")]
    };
    let [first, second] = iriw("smp_mb");
    check(&["store x, 1 once", "store y, 1 once", &first, &second], "2:a=1 2:b=0 3:a=1 3:b=0", NO);
    let [first, second] = iriw("smp_rmb");
    check(&["store x, 1 once", "store y, 1 once", &first, &second], "2:a=1 2:b=0 3:a=1 3:b=0", YES);
}

/// As many grace periods as critical sections in a cycle forbid it; fewer do not.
#[test]
fn kernel_rcu() {
    let section = |body: &str| format!("fence rcu_read_lock; {body}; fence rcu_read_unlock");
    let reader = section("a := load x {atomic}; store y, 1 {atomic}");
    let wait = "a := load y {atomic}; fence synchronize_rcu; store x, 1 {atomic}";
    check(&[&reader, wait], "0:a=1 1:a=1", &[("lkmm", NO)]);
    let first = section("store x, 1 {atomic}; store y, 1 {atomic}");
    check(
        &[&first, "a := load y {atomic}; fence synchronize_rcu; b := load x {atomic}"],
        "1:a=1 1:b=0",
        &[("lkmm", NO)],
    );
    let second = section("a := load y {atomic}; store z, 1 {atomic}");
    let wait_z = "a := load z {atomic}; fence synchronize_rcu; store x, 1 {atomic}";
    check(&[&reader, &second, wait_z], "0:a=1 1:a=1 2:a=1", &[("lkmm", YES)]);
    let twice = "a := load z {atomic}; fence synchronize_rcu; fence synchronize_rcu; store x, 1 {atomic}";
    check(&[&reader, &second, twice], "0:a=1 1:a=1 2:a=1", &[("lkmm", NO)]);
}

#[test]
fn kernel_sleepable_rcu() {
    let reader = "c := load z {srcu}; a := load x {atomic}; store y, 1 {atomic}; store z, c {srcu}";
    let wait =
        |domain: &str| format!("a := load y {{atomic}}; fence synchronize_srcu at {domain}; store x, 1 {{atomic}}");
    check(&[reader, &wait("z")], "0:a=1 1:a=1", &[("lkmm", NO)]);
    check(&[reader, &wait("v[0]").replace("v[0]", "\"v[0]\"")], "0:a=1 1:a=1", &[("lkmm", YES)]);
}

#[test]
fn kernel_locks_and_races() {
    let lock = "atomic begin; d := load z {atomic acquire lock}; assume (d == 0); store z, 1 {atomic lock}; atomic end";
    let unlock = "store z, 0 {atomic release lock}";
    let add = format!("{lock}; a := load x; store x, (a + 1); {unlock}");
    check(&[&add, &add], "x=1", &[("lkmm", NO)]);
    check(&[&add, &add], "x=2", &[("lkmm", YES)]);
    let race = |threads: &[&str], expected: bool| {
        assert_eq!(flags(threads, "lkmm").contains("data-race"), expected, "{threads:?}")
    };
    race(&[&add, &add], NO);
    race(&["a := load x; store x, (a + 1)", &add], YES);
    race(&["store x, 1", "a := load x {atomic}"], YES);
    race(&["store x, 1 {atomic}", "a := load x {atomic}"], NO);
    let publish = "store x, 1; store y, 1 {atomic release}";
    let seen = |order: &str| format!("a := load y {{{order}}}; branch (a == 1) then @2 else @3; b := load x");
    race(&[publish, &seen("atomic acquire")], NO);
    race(&[publish, &seen("atomic")], YES);
}

/// A value that comes from nowhere but itself: the kernel's model allows it for plain accesses, so that nothing is said of all executions.
#[test]
fn values_out_of_thin_air() {
    let copies = |tags: &str| {
        let copy = |from: &str, to: &str| format!("a := load {from} {tags}; store {to}, a {tags}");
        let threads = [copy("x", "y"), copy("y", "x")];
        program(&[&threads[0], &threads[1]], "0:a 1:a")
    };
    let plain = ask(&copies(""), "lkmm");
    assert_eq!(plain.verdict, Verdict::Bounded, "{:?}", plain.reason);
    assert!(plain.reason.is_some_and(|reason| reason.to_string().contains("out of thin air")));
    assert!(plain.outcomes.iter().any(|outcome| outcome[0] != 0 && outcome[0] == outcome[1]));
    for (tags, model) in [("{atomic}", "lkmm"), ("{atomic}", "rc11"), ("{atomic}", "imm"), ("", "armv8"), ("", "power")]
    {
        let answer = ask(&copies(tags), model);
        assert_eq!(answer.verdict, Verdict::Verified, "{model}: {:?}", answer.reason);
        assert_eq!(answer.outcomes.into_iter().collect::<Vec<_>>(), [[0, 0]], "{model}");
    }
    // Without a circle there is nothing to come from.
    let straight = ["a := load x; store y, a", "a := load y; store z, a"];
    check(&straight, "0:a=0 1:a=0", &[("lkmm", YES)]);
    check(&straight, "0:a=0 1:a=1", &[("lkmm", NO)]);
}

/// It may come from where a read looks, which is a circle without a write that is computed from what was read at first.
#[test]
fn places_out_of_thin_air() {
    let mut program = program(&["a := load x; b := load v[a]; store y, b", "a := load y; store x, a"], "0:a 1:a");
    let one = program.locations.iter_mut().find(|location| location.name == "v[1]").expect("a location");
    one.init = 1;
    let answer = ask(&program, "lkmm");
    assert!(answer.outcomes.contains(&vec![1, 1]), "{:?}", answer.outcomes);
    assert_eq!(ask(&program, "armv8").outcomes.into_iter().collect::<Vec<_>>(), [[0, 0]]);
}
