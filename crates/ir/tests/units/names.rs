//! Tests of `cyrano_ir::dataflow::names`.

use cyrano_ir::dataflow::*;
use cyrano_ir::ids::{InstrId, ThreadId};

/// `head` refers to a record, whose field refers to another one.
const LIST: &str = "program p\nlocation head = 0\nlocation next.0 = 3\nlocation next.1 = 0\nlocation next.2 = 1\n\
    location next.3 = 9\narray next = next.0 of 4\nlocation other = 2\nthread t\n  register %fresh.node = 0\n  \
    register h = 0\n  register n = 0\n  @0: %fresh.node := choose 0, 1, 2, 3\n  @1: h := load head\n  \
    @2: store next[%fresh.node], h\n  @3: store head, %fresh.node\n  @4: n := 5\n  @5: halt\n";

fn check(memory: [i128; 6], live: &[Live], free: Option<i128>, renamed: [i128; 6]) {
    let program = cyrano_ir::text::parse(LIST).unwrap_or_else(|error| panic!("{error:?}"));
    let names = Names::new(&program).expect("one pool");
    assert_eq!(names.pool_at(ThreadId::new(0), InstrId(0)), Some(0));
    assert_eq!(names.pool_at(ThreadId::new(0), InstrId(1)), None);
    let held = names.held(&memory, live);
    assert_eq!(names.free(&held, 0), free, "{held:?}");
    let mut found = memory;
    names.rename(&mut found, live, |_, _| {});
    assert_eq!(found, renamed, "{held:?}");
}

#[test]
fn what_can_be_reached_is_held() {
    // From the head through the fields; `other` never receives a name, whatever its number is.
    check([0, 3, 0, 1, 9, 2], &[], Some(1), [0, 1, 9, 0, 0, 2]);
    check([2, 3, 0, 1, 9, 2], &[], None, [0, 1, 2, 3, 9, 2]);
    check([3, 3, 0, 1, 9, 2], &[], Some(0), [0, 9, 0, 0, 0, 2]);
}

#[test]
fn live_registers_hold() {
    let register = |at: usize, value: i128| (ThreadId::new(0), at, value);
    check([3, 3, 0, 1, 9, 2], &[register(1, 0)], Some(1), [0, 9, 0, 0, 0, 2]);
    check([3, 3, 0, 1, 9, 2], &[register(0, 2)], None, [0, 9, 2, 3, 0, 2]);
    check([3, 3, 0, 1, 9, 2], &[register(2, 0)], Some(0), [0, 9, 0, 0, 0, 2]);
}

#[test]
fn what_may_be_of_two_pools_is_refused() {
    let source = "program p\nlocation a = 0\nthread t\n  register %fresh.a = 0\n  register %fresh.b = 0\n  \
        @0: %fresh.a := choose 0, 1\n  @1: %fresh.b := choose 0, 1\n  @2: store a, %fresh.a\n  \
        @3: store a, %fresh.b\n  @4: halt\n";
    assert!(Names::new(&cyrano_ir::text::parse(source).expect("a program")).is_none());
}
