//! Threads that go on for ever: what their programs are like, and what is refused.

use cyrano_ir::{Op, Ty};

use super::*;

const METHODS: &str = "algorithm A(locs = 2) { shared r: AtomicRegister[locs] = 0, ver: AtomicRegister[locs] = 0; txlocal rset: Map; \
    method read(i) { x := ver[i].read(); rset.put(i, x); v := r[i].read(); return v; } \
    method write(i, v) { r[i].write(v); return ok; } \
    method commit() { foreach (i -> x in rset) { y := ver[i].read(); if (x != y) { return aborted; } \
        ver[i].write(y + 1); } return committed; } }";

/// The first message about a file.
fn refused(source: &str) -> String {
    match compile("test", source, &[]) {
        Err(CompileError::Diagnostics(found)) => found.first().map(|d| d.message.clone()).unwrap_or_default(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it compiles: {source}"),
    }
}

#[test]
fn versions_of_different_locations_are_timestamps_of_different_classes() {
    let found = tests(&format!("{METHODS} check progress for clients threads 2, ops 1;"));
    let [test] = found.as_slice() else { panic!("{} tests", found.len()) };
    assert_eq!(test.name, "endless-2x1");
    assert_eq!(test.program.checks.len(), 3);
    assert!(test.program.checks.iter().all(|check| check.models == ["inorder"]));
    let locations = &test.program.locations;
    let clocks = cyrano_ir::dataflow::Clocks::new(&test.program);
    let at = |name: &str| locations.iter().position(|location| location.name == name).expect("a location");
    let class = |name: &str| clocks.location(cyrano_ir::LocId::new(at(name)));
    assert_eq!([locations[at("ver[0]")].ty, locations[at("ver[1]")].ty], [Ty::Timestamp; 2]);
    assert_eq!(locations[at("r[0]")].ty, Ty::Int);
    assert_ne!(class("ver[0]"), class("ver[1]"));
    let halts = test.program.threads.iter().flat_map(|t| &t.code).any(|instr| instr.op == Op::Halt);
    assert!(!halts, "no thread ends");
}

#[test]
fn sizes_and_defaults() {
    let name = |check: &str| tests(&format!("{METHODS} {check}")).remove(0).name;
    assert_eq!(name("check local-progress;"), "endless-2x2");
    let long = "check solo-progress for clients threads 3, ops 1..2, locs 1, values {1} on sc;";
    assert_eq!(name(long), "endless-3x1..2-locs1-values1");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let check = |check: &str| refused(&format!("{METHODS} client P {{ thread {{ tx {{ read(0); }} }} }} {check}"));
    assert!(check("check local-progress for P;").contains("threads that go on for ever"));
    assert!(check("check local-progress for clients txns 2;").contains("`txns` says nothing"));
    assert!(check("check local-progress for clients retry 1;").contains("`retry` says nothing"));
    assert!(check("check locl-progress;").contains("unknown criterion"));
    let computes = METHODS.replace("r[i].write(v); return ok;", "r[i].write(tx + 1); return ok;");
    assert!(refused(&format!("{computes} check progress;")).contains("run out of names"));
}
