//! Machines: store buffers, Arm, RISC-V, Power.

use super::check;

const YES: bool = true;
const NO: bool = false;

#[test]
fn plain_shapes() {
    let all = |allowed: [bool; 6]| {
        ["cat:sc", "cat:tso", "cat:pso", "armv8", "riscv", "power"].into_iter().zip(allowed).collect::<Vec<_>>()
    };
    let sb = ["store x, 1; a := load y", "store y, 1; a := load x"];
    check(&sb, "0:a=0 1:a=0", &all([NO, YES, YES, YES, YES, YES]));
    let mp = ["store x, 1; store y, 1", "a := load y; b := load x"];
    check(&mp, "1:a=1 1:b=0", &all([NO, NO, YES, YES, YES, YES]));
    let lb = ["a := load x; store y, 1", "a := load y; store x, 1"];
    check(&lb, "0:a=1 1:a=1", &all([NO, NO, NO, YES, YES, YES]));
    let w22 = ["store x, 1; store y, 2", "store y, 1; store x, 2"];
    check(&w22, "x=1 y=1", &all([NO, NO, YES, YES, YES, YES]));
    let iriw = ["store x, 1", "store y, 1", "a := load x; b := load y", "a := load y; b := load x"];
    check(&iriw, "2:a=1 2:b=0 3:a=1 3:b=0", &all([NO, NO, NO, YES, YES, YES]));
    let corr = ["store x, 1", "a := load x; b := load x"];
    check(&corr, "1:a=1 1:b=0", &all([NO; 6]));
    let coww = ["store x, 1; store x, 2", "a := load x"];
    check(&coww, "x=1", &all([NO; 6]));
    let corw = ["a := load x; store x, 1"];
    check(&corw, "0:a=1", &all([NO; 6]));
}

#[test]
fn fences_of_kinds() {
    let all = |allowed: bool| ["cat:sc", "cat:tso", "cat:pso", "armv8", "riscv", "power"].map(|model| (model, allowed));
    let full = "fence load-load load-store store-load store-store";
    let sb = [&*format!("store x, 1; {full}; a := load y"), &*format!("store y, 1; {full}; a := load x")];
    check(&sb, "0:a=0 1:a=0", &all(NO));
    let mp = ["store x, 1; fence store-store; store y, 1", "a := load y; fence load-load; b := load x"];
    check(&mp, "1:a=1 1:b=0", &all(NO));
}

#[test]
fn arm_barriers_and_dependencies() {
    let mp = |first: &str, second: &str, allowed: bool| {
        let writer = format!("store x, 1; {first}; store y, 1");
        let reader = format!("a := load y; {second}");
        check(&[&writer, &reader], "1:a=1 1:b=0", &[("armv8", allowed)]);
    };
    mp("fence dmb.ish", "fence dmb.ishld; b := load x", NO);
    mp("fence dmb.ishst", "fence dmb.ish; b := load x", NO);
    mp("fence dmb.ishld", "fence dmb.ish; b := load x", YES);
    mp("fence dsb.st", "fence dsb.ld; b := load x", NO);
    // A control dependency orders no load, unless there is an ISB behind it.
    mp("fence dmb.ish", "branch (a == 1) then @2 else @2; b := load x", YES);
    mp("fence dmb.ish", "branch (a == 1) then @2 else @2; fence isb; b := load x", NO);
    mp("fence dmb.ish", "fence isb; b := load x", YES);
    // An address that depends on what was read, though never on its value.
    let addr = ["store v[0], 1; fence dmb.ish; store y, 1", "a := load y; b := load v[(a * 0)]"];
    check(&addr, "1:a=1 1:b=0", &[("armv8", NO)]);
    let lb = |dep: &str, allowed: bool| {
        let threads = [format!("a := load x; {} y, 1", dep), format!("a := load y; {} x, 1", dep)];
        check(
            &[&threads[0], &threads[1]],
            "0:a=1 1:a=1",
            &[("armv8", allowed), ("riscv", allowed), ("power", allowed)],
        );
    };
    lb("store", YES);
    lb("branch (a == 1) then @2 else @2; store", NO);
    let datas = ["a := load x; store y, ((a * 0) + 1)", "a := load y; store x, ((a * 0) + 1)"];
    check(&datas, "0:a=1 1:a=1", &[("armv8", NO), ("riscv", NO), ("power", NO), ("imm", NO)]);
}

#[test]
fn arm_acquire_and_release() {
    let mp = ["store x, 1; store y, 1 {release}", "a := load y {acquire}; b := load x"];
    check(&mp, "1:a=1 1:b=0", &[("armv8", NO), ("riscv", NO)]);
    let mp_pc = ["store x, 1; store y, 1 {release}", "a := load y {acquire_pc}; b := load x"];
    check(&mp_pc, "1:a=1 1:b=0", &[("armv8", NO)]);
    let sb = ["store x, 1 {release}; a := load y {acquire}", "store y, 1 {release}; a := load x {acquire}"];
    // RISC-V has no such loads and stores; rule 7 is about atomic instructions and pairs.
    check(&sb, "0:a=0 1:a=0", &[("armv8", NO), ("riscv", YES)]);
    let sb_pc = ["store x, 1 {release}; a := load y {acquire_pc}", "store y, 1 {release}; a := load x {acquire_pc}"];
    check(&sb_pc, "0:a=0 1:a=0", &[("armv8", YES)]);
}

#[test]
fn dependencies_beyond_branches() {
    // Speculation (PPOCA) and forwarding: a store behind a branch may be read early, one whose value is known late may not (PPOAA).
    let writer = "store z, 1; fence dmb.ish; store y, 1";
    let ctrl =
        "a := load y; branch (a == 1) then @2 else @2; store x, 1; b := load x; c := load v[(b * 0)]; d := load z";
    check(&[writer, ctrl], "1:a=1 1:d=0", &[("armv8", YES)]);
    let ppoca = "a := load y; branch (a == 1) then @2 else @2; store v[0], 1; b := load v[0]; d := load v[b]";
    let threads = ["store v[1], 1; fence dmb.ish; store y, 1", ppoca];
    check(&threads, "1:a=1 1:b=1 1:d=0", &[("armv8", YES)]);
    let ppoaa = "a := load y; store v[(a * 0)], 1; b := load v[0]; d := load v[b]";
    check(&["store v[1], 1; fence dmb.ish; store y, 1", ppoaa], "1:a=1 1:b=1 1:d=0", &[("armv8", NO)]);
}

#[test]
fn exclusive_pairs_are_atomic() {
    // Both succeed and add one to the same value: an update is lost.
    let add = "a := load x {exclusive}; b := store x, (a + 1) {exclusive}";
    let lost = "0:b=0 1:b=0 x=1";
    check(&[add, add], lost, &[("armv8", NO), ("riscv", NO), ("power", NO)]);
    check(&[add, add], "0:b=0 1:b=0 x=2", &[("armv8", YES), ("riscv", YES), ("power", YES)]);
    check(&[add, add], "0:b=0 1:b=1 x=1", &[("armv8", YES)]);
    // Without a load-exclusive, or with one of another location, it fails.
    check(&["b := store x, 1 {exclusive}"], "0:b=0", &[("armv8", NO)]);
    check(&["a := load y {exclusive}; b := store x, 1 {exclusive}"], "0:b=0", &[("armv8", NO)]);
    check(&["b := store x, 1 {exclusive}"], "0:b=1 x=0", &[("armv8", YES)]);
    // One load-exclusive is good for one store.
    let twice = "a := load x {exclusive}; b := store x, 1 {exclusive}; c := store x, 2 {exclusive}";
    check(&[twice], "0:b=0 0:c=0", &[("armv8", NO)]);
}

#[test]
fn read_modify_writes_are_atomic() {
    let add = "a := fetch_add x, 1";
    for model in ["cat:sc", "cat:tso", "cat:pso", "ra", "imm", "armv8", "riscv", "power"] {
        check(&[add, add], "0:a=0 1:a=0", &[(model, NO)]);
        check(&[add, add], "0:a=0 1:a=1 x=2", &[(model, YES)]);
        let section = "atomic begin; a := load x; store x, (a + 1); atomic end";
        check(&[section, section], "x=1", &[(model, NO)]);
        // A lock is taken once.
        let lock = "atomic begin; a := load x; assume (a == 0); store x, 1; atomic end; b := 1";
        check(&[lock, lock], "0:b=1 1:b=1", &[(model, NO)]);
        check(&["a := cas x, 0, 1", "a := cas x, 0, 2"], "0:a=0 1:a=0", &[(model, NO)]);
    }
}

#[test]
fn power_is_not_multi_copy_atomic() {
    let iriw = |fence: &str, expected: &[(&str, bool)]| {
        let reader = |first: &str, second: &str| format!("a := load {first}; fence {fence}; b := load {second}");
        let threads = ["store x, 1".into(), "store y, 1".into(), reader("x", "y"), reader("y", "x")];
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        check(&threads, "2:a=1 2:b=0 3:a=1 3:b=0", expected);
    };
    iriw("sync", &[("power", NO)]);
    iriw("lwsync", &[("power", YES)]);
    iriw("dmb.ish", &[("armv8", NO)]);
    iriw("fence.rw.rw", &[("riscv", NO)]);
    iriw("load-load", &[("armv8", NO), ("riscv", NO), ("power", YES)]);
    let wrc = |fence: &str, expected: &[(&str, bool)]| {
        let second = format!("a := load x; {fence}; store y, 1");
        check(&["store x, 1", &second, "a := load y; fence load-load; b := load x"], "1:a=1 2:a=1 2:b=0", expected);
    };
    wrc("fence lwsync", &[("power", NO)]);
    wrc("branch (a == 1) then @2 else @2", &[("power", YES), ("armv8", NO), ("riscv", NO)]);
}

#[test]
fn power_barriers() {
    let w22 = |fence: &str, allowed: bool| {
        let threads =
            [format!("store x, 1; fence {fence}; store y, 2"), format!("store y, 1; fence {fence}; store x, 2")];
        check(&[&threads[0], &threads[1]], "x=1 y=1", &[("power", allowed)]);
    };
    w22("lwsync", NO);
    w22("eieio", NO);
    let lb = ["a := load x; fence eieio; store y, 1", "a := load y; fence eieio; store x, 1"];
    check(&lb, "0:a=1 1:a=1", &[("power", YES)]);
    let r = |fence: &str, allowed: bool| {
        let second = format!("store y, 2; fence {fence}; a := load x");
        check(&["store x, 1; fence lwsync; store y, 1", &second], "y=2 1:a=0", &[("power", allowed)]);
    };
    r("sync", YES);
    let strong = ["store x, 1; fence sync; store y, 1", "store y, 2; fence sync; a := load x"];
    check(&strong, "y=2 1:a=0", &[("power", NO)]);
    let sb = ["store x, 1; fence lwsync; a := load y", "store y, 1; fence lwsync; a := load x"];
    check(&sb, "0:a=0 1:a=0", &[("power", YES)]);
    let mp = [
        "store x, 1; fence lwsync; store y, 1",
        "a := load y; branch (a == 1) then @2 else @2; fence isync; b := load x",
    ];
    check(&mp, "1:a=1 1:b=0", &[("power", NO)]);
}

#[test]
fn riscv_rules() {
    let sb = |fence: &str, allowed: bool| {
        let threads =
            [format!("store x, 1; fence {fence}; a := load y"), format!("store y, 1; fence {fence}; a := load x")];
        check(&[&threads[0], &threads[1]], "0:a=0 1:a=0", &[("riscv", allowed)]);
    };
    sb("fence.rw.rw", NO);
    sb("fence.w.r", NO);
    sb("fence.tso", YES);
    sb("fence.r.r", YES);
    sb("fence.i", YES);
    let mp = ["store x, 1; fence fence.w.w; store y, 1", "a := load y; fence fence.r.r; b := load x"];
    check(&mp, "1:a=1 1:b=0", &[("riscv", NO)]);
    // Rule 2: two reads of one location see different writes in order, and the first one depends on nothing.
    let rule2 =
        ["store x, 1; fence fence.w.w; store y, 1", "a := load y; b := load y; c := load v[(b * 0)]; d := load x"];
    check(&rule2, "1:a=1 1:d=0", &[("riscv", YES)]);
    // An atomic instruction that acquires and releases.
    let amo = "a := exchange z, 1 {acquire release}";
    let sb = [format!("store x, 1; {amo}; b := load y"), format!("store y, 1; {amo}; b := load x")];
    check(&[&sb[0], &sb[1]], "0:b=0 1:b=0", &[("riscv", NO)]);
    let sb = ["store x, 1; a := exchange z, 1; b := load y", "store y, 1; a := exchange z, 1; b := load x"];
    check(&sb, "0:b=0 1:b=0", &[("riscv", YES)]);
}

/// The condition of a selection orders writes, but no reads; and what is not selected is no dependency.
#[test]
fn arm_pick_dependencies() {
    let writer = "store v[0], 1; fence dmb.ish; store y, 1";
    let mp = |value: &str, allowed: bool| {
        let reader = format!("a := load y; store z, {value}; b := load z; c := load v[(b * 0)]");
        check(&[writer, &reader], "1:a=1 1:c=0", &[("armv8", allowed)]);
    };
    mp("((a == 1) * 1)", NO);
    mp("(wrap_u1((a == 1)) * 1)", YES);
    mp("(wrap_u1((a == 1)) * a)", NO);
    mp("(wrap_u1((a == 0)) * a)", YES);
    let lb = |value: &str, allowed: bool| {
        let second = format!("a := load y; store z, {value}; b := load z; store v[(b * 0)], 1");
        check(&["a := load v[0]; fence dmb.ish; store y, 1", &second], "0:a=1 1:a=1", &[("armv8", allowed)]);
    };
    lb("(wrap_u1((a == 1)) * 1)", NO);
    lb("1", YES);
    lb("(wrap_u1((b == 1)) * a)", YES);
    // What a compare-and-swap compares with orders its write; what it finds, if it succeeds, no later read.
    let compared = |first: &str| format!("a := load y; {first}");
    let lb = |second: &str, outcome: &str, allowed: bool| {
        check(&["a := load x; fence dmb.ish; store y, 1", &compared(second)], outcome, &[("armv8", allowed)]);
    };
    lb("b := cas x, (a * 0), 1", "0:a=1 1:a=1", NO);
    lb("b := cas x, 0, 1", "0:a=1 1:a=1", YES);
    let mp = |found: &str, allowed: bool| {
        let reader = format!("b := cas y, {found}, 2; c := load v[(b * 0)]");
        check(&[writer, &reader], "1:b=1 1:c=0", &[("armv8", allowed)]);
    };
    mp("1", YES);
    mp("3", NO);
}

#[test]
fn arm_compare_and_swap_keeps_its_register_or_takes_what_it_read() {
    let reader = |cas: &str| format!("{cas}; c := load v[(b * 0)]");
    let arm = |threads: &[&str], end: &str, allowed: bool| check(threads, end, &[("armv8", allowed)]);
    // It depends on what was compared with, or else on what was read; on one of them for sure.
    let both = "store v[0], 1; store z, 1 {release}; store y, 1 {release}";
    let compared = "store v[0], 1; store y, 1 {release}";
    let read = "store v[0], 1; store z, 1 {release}";
    let cas = reader("a := load y; b := cas z, a, 5");
    arm(&[both, &cas], "1:a=1 1:b=1 1:c=0", NO);
    arm(&[compared, &cas, "store z, 1"], "1:a=1 1:b=1 1:c=0", YES);
    arm(&[read, &cas, "store y, 1"], "1:a=1 1:b=1 1:c=0", YES);
    // What is compared with a number may be that number.
    arm(&[read, &reader("b := cas z, 1, 5")], "1:b=1 1:c=0", YES);
    // One that fails gets what it read.
    arm(&[read, &reader("b := cas z, 7, 5")], "1:b=1 1:c=0", NO);
    arm(&[compared, &reader("a := load y; b := cas z, a, 5")], "1:a=1 1:b=0 1:c=0", YES);
}
