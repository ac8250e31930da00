//! Random programs of C11, as text.

#![allow(dead_code, reason = "each test file uses its part")]

use cyrano_ir::Program;
use proptest::prelude::*;

/// Instructions of C11 over three locations and three registers.
fn instruction() -> impl Strategy<Value = String> {
    let loc = || prop::sample::select(vec!["x", "y", "z"]);
    let register = || prop::sample::select(vec!["a", "b", "c"]);
    let load = prop::sample::select(vec!["", " {atomic}", " {atomic acquire}", " {atomic seq_cst}"]);
    let store = prop::sample::select(vec!["", " {atomic}", " {atomic release}", " {atomic seq_cst}"]);
    let update = prop::sample::select(vec![" {atomic}", " {atomic acquire release}", " {atomic seq_cst}"]);
    let fence = prop::sample::select(vec!["acquire", "release", "acq_rel", "seq_cst"]);
    let value = prop::sample::select(vec!["1", "2", "a", "b + 1"]);
    prop_oneof![
        6 => (register(), loc(), load).prop_map(|(r, l, t)| format!("{r} := load {l}{t}")),
        6 => (loc(), value.clone(), store).prop_map(|(l, v, t)| format!("store {l}, ({v}){t}")),
        2 => (register(), loc(), update.clone()).prop_map(|(r, l, t)| format!("{r} := fetch_add {l}, 1{t}")),
        2 => (register(), loc(), value, update).prop_map(|(r, l, v, t)| format!("{r} := cas {l}, 0, ({v}){t}")),
        1 => fence.prop_map(|order| format!("fence thread_fence.{order}")),
        1 => register().prop_map(|r| format!("{r} := choose 0, 1")),
        1 => register().prop_map(|r| format!("assume ({r} < 2)")),
    ]
}

/// Two or three threads of such instructions.
pub fn c11() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(instruction(), 1..4), 2..4)
}

/// Such threads with exclusive pairs in them, some of which do not belong together.
#[allow(dead_code, reason = "not every test has exclusive pairs")]
pub fn with_pairs() -> impl Strategy<Value = Vec<Vec<String>>> {
    let register = || prop::sample::select(vec!["a", "b", "c"]);
    let loc = || prop::sample::select(vec!["x", "x", "y"]);
    let value = prop::sample::select(vec!["1", "a + 1", "c"]);
    let load = (register(), loc()).prop_map(|(r, l)| format!("{r} := load {l} {{atomic exclusive}}"));
    let store =
        (register(), loc(), value).prop_map(|(r, l, v)| format!("{r} := store {l}, ({v}) {{atomic exclusive}}"));
    let one = prop_oneof![2 => instruction(), 3 => load, 4 => store];
    prop::collection::vec(prop::collection::vec(one, 1..4), 2..4)
}

pub fn text(threads: &[Vec<String>]) -> String {
    let mut source = String::from("program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n");
    for (number, thread) in threads.iter().enumerate() {
        source.push_str(&format!("thread t{number}\nregister a = 0\nregister b = 0\nregister c = 0\n"));
        for (pc, op) in thread.iter().map(String::as_str).chain(["halt"]).enumerate() {
            source.push_str(&format!("@{pc}: {op}\n"));
        }
    }
    source
}

pub fn parsed(threads: &[Vec<String>]) -> Program {
    let source = text(threads);
    cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}
