//! All clients of a size.

use cyrano_ir::{Op, Property, TxCriterion};

use super::*;
use cyrano_rml::algorithm::{ClientSpace, Values};

/// Whether all clients of a size see an opaque memory, in order.
fn opaque(methods: &str, clients: &str) -> Verdict {
    let source = format!("{methods} check opacity for clients {clients} on inorder;");
    let tests = tests(&source);
    let [test] = tests.as_slice() else { panic!("{} tests", tests.len()) };
    let opacity = Property::Transactions(TxCriterion::Opacity);
    ask(&test.program, "inorder", Question::Holds(&opacity)).verdict
}

/// One global lock, held from the first operation to the end.
fn locked(commit: &str) -> String {
    format!(
        "algorithm Locked(locs = 2) {{
            shared r: AtomicRegister[locs], l: TryLock, done: AtomicRegister[txns + 1];
            txlocal started: int;
            method begin() {{ if (!started) {{ l.lock(); started := 1; }} return 1; }}
            method read(i) {{ begin(); v := r[i].read(); return v; }}
            method write(i, v) {{ begin(); r[i].write(v); return ok; }}
            method commit() {{ {commit} return committed; }}
        }}"
    )
}

const UNLOCK: &str = "if (started) { l.unlock(); }";

#[test]
fn a_global_lock_is_opaque() {
    for clients in [
        "threads 2, txns 1, ops 2, locs 2",
        "threads 2, txns 1..2, ops 0..1, locs 2",
        "threads 3, ops 1, locs 1",
        "threads 2, ops 2, locs 1, values {0, 1}",
        "threads 2, ops 1, retry 1",
    ] {
        assert_eq!(opaque(&locked(UNLOCK), clients), Verdict::Verified, "{clients}");
    }
}

#[test]
fn a_lock_that_is_released_at_once_is_not() {
    let source = locked("").replace("v := r[i].read();", "v := r[i].read(); l.unlock(); started := 0;");
    let source = source.replace("r[i].write(v);", "r[i].write(v); l.unlock(); started := 0;");
    assert_eq!(opaque(&source, "threads 2, ops 1, locs 2"), Verdict::Violated);
    assert_eq!(opaque(&source, "threads 1, txns 2, ops 2, locs 2"), Verdict::Verified);
}

#[test]
fn a_bug_in_second_transactions_needs_two() {
    // A transaction that follows another one of its thread forgets what it wrote.
    let source = locked(UNLOCK).replace("r[i].write(v);", "if (tx == 1) { r[i].write(v); }");
    assert_eq!(opaque(&source, "threads 1, txns 1, ops 2, locs 1"), Verdict::Verified);
    assert_eq!(opaque(&source, "threads 1, txns 1..2, ops 2, locs 1"), Verdict::Violated);
}

#[test]
fn a_bug_that_needs_a_retry() {
    let source = locked(UNLOCK).replace(
        "method read(i) { begin();",
        "method read(i) { begin(); d := done[1].read(); done[1].write(1);
            if (!d) { l.unlock(); return aborted; } if (tx == 2) { return 7; }",
    );
    assert_eq!(opaque(&source, "threads 1, ops 1, locs 1"), Verdict::Vacuous);
    assert_eq!(opaque(&source, "threads 1, ops 1, locs 1, retry 1"), Verdict::Violated);
}

#[test]
fn values_that_recur_can_hide_a_change() {
    // A read returns 1 to everybody: with distinct values that is noticed, with only 1 to write after a write it is not.
    let source = locked(UNLOCK).replace("v := r[i].read();", "v := r[i].read(); if (v > 0) { v := 1; }");
    assert_eq!(opaque(&source, "threads 1, ops 2, locs 1, values {1}"), Verdict::Verified);
    assert_eq!(opaque(&source, "threads 1, ops 2, locs 1, values {1, 3}"), Verdict::Violated);
    assert_eq!(opaque(&source, "threads 1, ops 3, locs 1"), Verdict::Violated);
}

#[test]
fn each_choice_is_one_number() {
    let source = format!("{} check opacity for clients threads 2, txns 1..2, ops 1..2, locs 2;", locked(UNLOCK));
    let test = tests(&source).remove(0);
    assert_eq!(test.name, "clients-2x1..2x1..2");
    let choices = |thread: usize| -> Vec<usize> {
        let code = test.program.threads[thread].code.iter();
        code.filter_map(|instr| match &instr.op {
            Op::Choose { from, .. } => Some(from.len()),
            _ => None,
        })
        .collect()
    };
    // Two reads and two writes; then `commit now` as well; the second transaction may be left out.
    assert_eq!(choices(0), [4, 5, 5, 5]);
    assert_eq!(choices(0), choices(1));
    let written = |thread: usize| -> Vec<i128> {
        let code = test.program.threads[thread].code.iter();
        code.filter_map(|instr| match &instr.op {
            Op::Invoke { args, .. } => match args.as_slice() {
                [_, cyrano_ir::Expr::Const(value)] => Some(*value),
                _ => None,
            },
            _ => None,
        })
        .collect()
    };
    assert_eq!((written(0), written(1)), (vec![1, 2, 3, 4], vec![5, 6, 7, 8]));
}

#[test]
fn sizes_are_read_and_can_be_set() {
    let source = format!(
        "{} check opacity for clients threads 2, txns 1..2, ops 3, locs 1, values {{2, 0, 2}}, retry 1;
        check serializability for clients threads 2, txns 1..2, ops 3, locs 1, values {{0, 2}}, retry 1;
        check opacity for clients ops 1;",
        locked(UNLOCK)
    );
    let found = tests(&source);
    let expected =
        ClientSpace { threads: 2, txns: 1..=2, ops: 3..=3, locs: 1, values: Values::Among(vec![0, 2]), retry: 1 };
    assert_eq!(found[0].clients, Some(expected));
    assert_eq!(found[0].name, "clients-2x1..2x3-locs1-values0_2-retry1");
    assert_eq!(found[0].program.checks.len(), 2);
    assert_eq!(found[0].program.checks[0].models, ["declared"]);
    let sets = [("threads", 1), ("txns", 3), ("ops", 2), ("locs", 1)];
    let set = tests_with(&source, &sets);
    assert_eq!(set[1].name, "clients-1x3x2");
    assert_eq!(set[1].clients.as_ref().map(ClientSpace::transactions), Some(3));
}

#[test]
fn equal_threads_differ_in_numbers_only() {
    let source = format!("{} check opacity for clients threads 2, txns 2, ops 2;", locked(UNLOCK));
    let program = tests(&source).remove(0).program;
    let digits = |thread: usize| -> String {
        let text = format!("{:?}", program.threads[thread].code);
        text.chars().filter(|c| !c.is_ascii_digit()).collect()
    };
    assert_eq!(digits(0), digits(1));
}
