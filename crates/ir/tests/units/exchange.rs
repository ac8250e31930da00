//! Tests of `cyrano_ir::automorphisms::exchange`.

use cyrano_ir::automorphisms::*;
use cyrano_ir::expr::UNDEFINED;
use cyrano_ir::ids::ThreadId;
use cyrano_ir::program::Program;

/// Two threads, each with an object of two words that it links; `extra` is one more instruction of both.
fn program(extra: [&str; 2]) -> Program {
    let [one, two] = extra;
    let text = format!(
        "program test\nlocation \"gap#0\": gap = 0\nlocation top: pointer = 0\nlocation \"gap#1\": gap = 0\n\
         location \"a.next\": pointer = 0\nlocation \"a.value\" = 0\nlocation \"gap#2\": gap = 0\n\
         location \"b.next\": pointer = 0\nlocation \"b.value\" = 0\nlocation \"gap#3\": gap = 0\n\
         array memory = \"gap#0\" of 9\n\
         thread p\n  register r = 0\n  @0: r := load top\n  @1: store \"a.next\", r\n  @2: store top, 24\n  @3: {one}\n  @4: halt\n\
         thread q\n  register r = 0\n  @0: r := load top\n  @1: store \"b.next\", r\n  @2: store top, 48\n  @3: {two}\n  @4: halt\n"
    );
    cyrano_ir::text::parse(&text).expect("the program can be read")
}

fn swap(extra: [&str; 2]) -> Option<Exchange> {
    Exchange::new(&program(extra), ThreadId(0), ThreadId(1))
}

#[test]
fn objects_change_places_whole() {
    let swap = swap(["r := 0"; 2]).expect("the threads are alike");
    assert_eq!([3, 4, 5, 6, 7, 8].map(|word| swap.word(word)), [6, 7, 8, 3, 4, 5]);
    assert_eq!(
        [0, 1, 8, 24, 33, 48, -1, UNDEFINED].map(|value| swap.value(value)),
        [0, 1, 8, 48, 57, 24, -1, UNDEFINED]
    );
}

#[test]
fn what_is_not_the_same_is_no_twin() {
    assert!(swap(["r := 1", "r := 2"]).is_none(), "numbers differ");
    assert!(swap(["store top, 24", "store top, 24"]).is_none(), "both know the object of one");
    assert!(swap(["store top, 24", "store top, 56"]).is_none(), "another place of the object");
    assert!(swap(["store top, 32", "store top, 56"]).is_some());
    for (one, other) in [(100, 200), (24, 1000), (-8, 8), (i64::MAX, 24)] {
        let extra = [format!("r := {one}"), format!("r := {other}")];
        assert!(swap([&extra[0], &extra[1]]).is_none(), "{one} and {other} are numbers");
    }
}
