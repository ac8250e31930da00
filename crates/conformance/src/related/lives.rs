//! Random programs of C11 in which one object is freed and made alive again, with messages between threads that synchronise or do not.

use proptest::prelude::*;

/// The words: an object `w`, `v` behind a header, and `f`, by which threads tell each other.
const WORDS: &str = "program p\nlocation g: gap = 0\nlocation h: header = 0\nlocation w = 5\nlocation v = 0\nlocation e: gap = 0\n\
                     location f = 0\narray objects = g of 5 headers\n";

fn one(line: impl Into<String>) -> Vec<String> {
    vec![line.into()]
}

/// What stands together. `@+n` is so many instructions further on.
fn piece() -> impl Strategy<Value = Vec<String>> {
    let word = || prop::sample::select(vec!["w", "v"]);
    let register = || prop::sample::select(vec!["a", "b"]);
    let load = || prop::sample::select(vec!["", " {atomic}", " {atomic acquire}"]);
    let store = || prop::sample::select(vec!["", " {atomic}", " {atomic release}"]);
    let fence = prop::sample::select(vec!["acquire", "release", "seq_cst"]);
    let again =
        ["atomic begin", "c := cas objects[1], 1, 0", "branch (c == 1) then @+1 else @+2", "store w, 7", "atomic end"];
    let again: Vec<String> = again.into_iter().chain(["assume (c == 1)"]).map(str::to_owned).collect();
    let free =
        |wanted: i128| vec![format!("branch (a == {wanted}) then @+1 else @+2"), "store objects[1], 1".to_owned()];
    prop_oneof![
        5 => (register(), word(), load()).prop_map(|(r, l, t)| one(format!("{r} := load {l}{t}"))),
        3 => (word(), 1..3i128, store()).prop_map(|(l, v, t)| one(format!("store {l}, {v}{t}"))),
        3 => Just(one("store objects[1], 1")),
        3 => (0..2i128).prop_map(free),
        3 => Just(again),
        3 => load().prop_map(|t| one(format!("a := load f{t}"))),
        3 => (1..3i128, store()).prop_map(|(v, t)| one(format!("store f, {v}{t}"))),
        2 => Just(one("a := fetch_add f, 1 {atomic acquire release}")),
        2 => (0..2i128).prop_map(|value| one(format!("assume (a == {value})"))),
        1 => fence.prop_map(|order| one(format!("fence thread_fence.{order}"))),
    ]
}

/// The text of such a program.
pub fn lives() -> impl Strategy<Value = String> {
    let thread = prop::collection::vec(piece(), 1..4);
    prop::collection::vec(thread, 2..4).prop_map(|threads| text(&threads))
}

fn text(threads: &[Vec<Vec<String>>]) -> String {
    let mut source = WORDS.to_owned();
    for (number, pieces) in threads.iter().enumerate() {
        source.push_str(&format!("thread t{number}\nregister a = 0\nregister b = 0\nregister c = 0\n"));
        let lines = pieces.iter().flatten().map(String::as_str).chain(["halt"]);
        for (pc, line) in lines.enumerate() {
            let line =
                (1..3).fold(line.to_owned(), |line, by| line.replace(&format!("@+{by}"), &format!("@{}", pc + by)));
            source.push_str(&format!("@{pc}: {line}\n"));
        }
    }
    source.push_str("observe f = f\n");
    (0..threads.len()).for_each(|thread| source.push_str(&format!("observe b{thread} = t{thread}:b\n")));
    source
}
