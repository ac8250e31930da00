//! Tests of `cyrano_ir::automorphisms`.

use cyrano_ir::automorphisms::*;
use cyrano_ir::program::Program;

/// Threads with two registers each, over locations `x` and `y`.
fn program(threads: &[&[&str]]) -> Program {
    let mut text = "program p\nlocation x = 0\nlocation y = 0\n".to_owned();
    for (n, code) in threads.iter().enumerate() {
        text.push_str(&format!("thread t{n}\n  register r = 0\n  register s = 0\n"));
        code.iter().enumerate().for_each(|(pc, op)| text.push_str(&format!("  @{pc}: {op}\n")));
    }
    let program = cyrano_ir::text::parse(&text).expect("the test's program can be read");
    cyrano_ir::verify(&program).expect("the test's program is valid");
    program
}

fn differences(one: &str, other: &str) -> Option<usize> {
    let program = program(&[&[one, "halt"], &[other, "halt"]]);
    let op = |thread: usize| &program.threads[thread].code[0].op;
    Some(twins(op(0), op(1))?.filter(|(one, other)| one != other).count())
}

#[test]
fn instructions_of_one_shape_have_twins() {
    assert_eq!(differences("r := load x", "r := load x"), Some(0));
    assert_eq!(differences("r := load x", "s := load y"), Some(2));
    assert_eq!(differences("r := cas x, 0, 1", "s := cas x, 1, r"), None, "a constant is no register");
    assert_eq!(differences("branch r then @0 else @1", "branch s then @1 else @1"), Some(2));
    assert_eq!(differences("store x, 1", "store x, 1 {release}"), None, "tags are not renamed");
    assert_eq!(differences("fence load-load", "fence store-store"), None);
}

#[test]
fn threads_are_alike_or_differ_in_their_names() {
    let [one, two] = [["store x, 1", "halt"], ["store x, 2", "halt"]];
    let same = program(&[&one, &two, &one, &one]);
    assert_eq!(alike(&same), [vec![0, 2, 3]]);
    let named = Identities::of(&program(&[&one, &two])).expect("each has its number");
    assert_eq!((named.values.as_slice(), named.locations.as_slice()), (&[1, 2][..], &[true, false][..]));
    assert_eq!([0, 1, 2].map(|value| named.renamed(value, &[1, 0])), [0, 2, 1]);
    let computed = ["fetch_add x, 1", "halt"];
    assert!(Identities::of(&program(&[&computed, &["fetch_add x, 2", "halt"]])).is_none(), "numbers, not names");
}

#[test]
fn permutations_of_three() {
    assert_eq!(permutations(3).len(), 5);
    assert!(permutations(1).is_empty());
}
