//! The definitions on histories that one can check by hand.

use cyrano_criteria::criterion::TxCriterion;
use expect_test::{Expect, expect};

use cyrano_criteria::history::{Event, parse};
use cyrano_criteria::oracle::{accepts, explain};

/// Checks what is said about a history under both criteria, and that both ways to judge it agree.
fn check(text: &str, expect: Expect) {
    let source = format!("history memory\n{}", text.replace(", ", "\n"));
    let parsed = parse(&source).expect("the test's history is one");
    let mut said = String::new();
    for criterion in TxCriterion::BY_CONFLICTS {
        let explanation = explain(criterion, &parsed.history);
        let words = explanation.as_ref().map_or_else(
            || "accepted".into(),
            |e| format!("event {}: {}", e.at + 1, e.words(&parsed.history, &parsed.names)),
        );
        said += &format!("{}: {words}\n", criterion.name());
        assert_eq!(accepts(criterion, &parsed.history), explanation.is_none(), "{criterion:?}: {text}");
        if let Some(explanation) = explanation {
            let before: &[Event] = &parsed.history[..explanation.at];
            assert!(accepts(criterion, before), "{criterion:?}: {text}, before event {}", explanation.at + 1);
        }
    }
    expect.assert_eq(&said);
}

#[test]
fn a_cycle_of_two() {
    let text = "1 load x, 1 rfin, 2 load y, 2 rfin, 2 store x, 1 store y, 1 commit, 2 commit";
    check(
        text,
        expect![[r#"
            opacity: event 6: T1 read x before T2 wrote it; T2 read y before T1 wrote it; so neither can come first
            strict-serializability: event 8: T1 read x before T2 wrote it; T2 read y before T1 wrote it; so neither can come first
        "#]],
    );
}

#[test]
fn a_cycle_through_real_time() {
    let text = "3 load b, 3 rfin, 1 store b, 1 commit, 2 load a, 2 rfin, 2 commit, 3 store a, 3 commit";
    check(
        text,
        expect![[r#"
            opacity: event 8: T1 read b before T2 wrote it; T2 had finished before T3 began; T3 read a before T1 wrote it; so none of them can come first
            strict-serializability: event 9: T1 read b before T2 wrote it; T2 had finished before T3 began; T3 read a before T1 wrote it; so none of them can come first
        "#]],
    );
}

#[test]
fn an_unused_load_does_not_begin_a_transaction() {
    // Thread 2's first load is never used, so its transaction begins after thread 1's has finished.
    let text = "3 load b, 3 rfin, 2 load c, 1 store b, 1 commit, 2 load a, 2 rfin, 3 store a";
    check(
        text,
        expect![[r#"
            opacity: event 8: T1 read b before T2 wrote it; T2 had finished before T3 began; T3 read a before T1 wrote it; so none of them can come first
            strict-serializability: accepted
        "#]],
    );
    // Here it is used later, so it has begun before.
    check(
        "3 load b, 3 rfin, 2 load c, 1 store b, 1 commit, 2 rfin, 2 load a, 2 rfin, 3 store a",
        expect![[r#"
            opacity: accepted
            strict-serializability: accepted
        "#]],
    );
}

#[test]
fn a_load_counts_where_it_stands_and_only_if_it_is_used() {
    check(
        "1 load x, 2 store x, 2 commit, 1 load x, 1 commit",
        expect![[r#"
            opacity: accepted
            strict-serializability: accepted
        "#]],
    );
    check(
        "1 load x, 2 store x, 2 store y, 2 commit, 1 rfin, 1 load y, 1 rfin",
        expect![[r#"
            opacity: event 7: T1 read x before T2 wrote it; T2 wrote y before T1 read it; so neither can come first
            strict-serializability: accepted
        "#]],
    );
}

#[test]
fn read_finishes_without_a_load_do_nothing() {
    check(
        "1 rfin, 1 store x, 1 rfin, 1 rfin, 1 commit, 1 rfin",
        expect![[r#"
            opacity: accepted
            strict-serializability: accepted
        "#]],
    );
}

#[test]
fn rollbacks() {
    check(
        "1 rollback x",
        expect![[r#"
            opacity: event 1: T1 rolled back x without a store of it to undo
            strict-serializability: event 1: T1 rolled back x without a store of it to undo
        "#]],
    );
    check(
        "1 store x, 1 store x, 1 rollback x, 1 rollback x",
        expect![[r#"
            opacity: event 4: T1 rolled back x without a store of it to undo
            strict-serializability: event 4: T1 rolled back x without a store of it to undo
        "#]],
    );
    check(
        "1 store x, 1 commit, 1 rollback x",
        expect![[r#"
            opacity: event 3: T2 rolled back x without a store of it to undo
            strict-serializability: event 3: T2 rolled back x without a store of it to undo
        "#]],
    );
    check(
        "1 store x, 1 store y, 1 rollback x, 1 abort",
        expect![[r#"
            opacity: event 4: T1 aborted without rolling back its store of y
            strict-serializability: event 4: T1 aborted without rolling back its store of y
        "#]],
    );
    check(
        "1 store x, 2 store x, 1 rollback x",
        expect![[r#"
            opacity: event 3: T2 overwrote the value of x that T1 stored and rolled back
            strict-serializability: event 3: T2 overwrote the value of x that T1 stored and rolled back
        "#]],
    );
}

#[test]
fn dirty_reads() {
    check(
        "1 store x, 2 load x, 1 rollback x, 2 rfin, 2 commit",
        expect![[r#"
            opacity: event 4: T2 used the value of x that T1 stored and rolled back
            strict-serializability: event 5: T2 used the value of x that T1 stored and rolled back and committed
        "#]],
    );
    check(
        "1 store x, 2 load x, 2 rfin, 2 commit, 1 rollback x",
        expect![[r#"
            opacity: event 5: T2 used the value of x that T1 stored and rolled back and committed
            strict-serializability: event 5: T2 used the value of x that T1 stored and rolled back and committed
        "#]],
    );
    check(
        "1 store x, 2 load x, 2 rfin, 1 rollback x, 2 abort",
        expect![[r#"
            opacity: event 4: T2 used the value of x that T1 stored and rolled back
            strict-serializability: accepted
        "#]],
    );
    check(
        "1 store x, 2 load x, 2 rfin, 2 commit, 1 commit",
        expect![[r#"
            opacity: accepted
            strict-serializability: accepted
        "#]],
    );
}

#[test]
fn a_rollback_takes_conflicts_away() {
    let text = "1 load x, 1 rfin, 2 store x, 2 rollback x, 1 store x, 1 commit, 2 load x, 2 rfin, 2 commit";
    check(
        text,
        expect![[r#"
            opacity: accepted
            strict-serializability: accepted
        "#]],
    );
    // But the prefix before the rollback is judged too: the example of section 2.4.2, its last write by thread 2.
    check(
        "1 load x, 1 rfin, 2 load y, 2 rfin, 1 store y, 2 store x, 2 rollback x, 1 rollback y",
        expect![[r#"
            opacity: event 6: T1 read x before T2 wrote it; T2 read y before T1 wrote it; so neither can come first
            strict-serializability: accepted
        "#]],
    );
}

#[test]
fn a_cas_is_a_used_load_and_a_store() {
    check(
        "1 cas x, 2 cas x, 1 cas x",
        expect![[r#"
            opacity: event 3: T1 wrote x before T2 wrote it; T2 wrote x before T1 wrote it; so neither can come first
            strict-serializability: accepted
        "#]],
    );
    // Its load stays when its store is rolled back.
    check(
        "1 cas x, 1 rollback x, 2 store x, 2 store y, 1 load y, 1 rfin",
        expect![[r#"
            opacity: event 6: T1 read x before T2 wrote it; T2 wrote y before T1 read it; so neither can come first
            strict-serializability: accepted
        "#]],
    );
}
