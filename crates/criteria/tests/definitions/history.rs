//! The text form of histories: what is read, and what is said about bad files.

use expect_test::{Expect, expect};

use cyrano_criteria::history::parse;

/// Checks the events that are read, or each complaint with the text that it marks.
fn check(source: &str, expect: Expect) {
    let said = match parse(source) {
        Ok(parsed) => {
            let lines = parsed.history.iter().zip(&parsed.spans);
            let lines: Vec<String> =
                lines.map(|(event, span)| format!("{event} <- {}", &source[span.range()])).collect();
            format!("{}\nthreads {:?}, variables {:?}", lines.join("\n"), parsed.names.threads, parsed.names.variables)
        }
        Err(errors) => {
            let lines = errors.iter().map(|e| format!("{:?}: {} ({})", &source[e.span.range()], e.message, e.label));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    expect.assert_eq(&said);
}

#[test]
fn every_event() {
    check(
        "# a comment\n\n history   memory # the alphabet\r\n7 load head\n7 rfin\n2 store tail # T2\n2 cas head\n2 rollback tail\n2 commit\n7 abort",
        expect![[r#"
            1 load x <- 7 load head
            1 rfin <- 7 rfin
            2 store y <- 2 store tail
            2 cas x <- 2 cas head
            2 rollback y <- 2 rollback tail
            2 commit <- 2 commit
            1 abort <- 7 abort
            threads ["7", "2"], variables ["head", "tail"]"#]],
    );
}

#[test]
fn a_history_without_events() {
    check(
        "history memory",
        expect![[r#"

            threads [], variables []"#]],
    );
}

#[test]
fn everything_wrong_is_reported_at_once() {
    check(
        "history memory now\nT1 load x\n1\n1 load\n1 read x\n1 commit x y\n-1 jump",
        expect![[r#"
            "now": the first line has too many words (not expected)
            "T1": `T1` is not a thread (a number is expected)
            "1": the line ends after the thread (what does it do?)
            "load": `load` needs a variable (of which variable?)
            "read": `read` is not an action (unknown)
            "x y": the line goes on after the event (not expected)
            "-1": `-1` is not a thread (a number is expected)
            "jump": `jump` is not an action (unknown)"#]],
    );
}

#[test]
fn another_kind_of_file() {
    check("", expect![[r#""": this history is empty (no line of a history)"#]]);
    check(
        "history values\nT1 write x 1",
        expect![[r#""values": a history of values, not of memory events (the other alphabet)"#]],
    );
    check("history traces\n1 load x", expect![[r#""traces": no such alphabet (unknown)"#]]);
    check("stm TL2 {\n}\n", expect![[r#""stm TL2 {": this is not a history (not a first line)"#]]);
}

#[test]
fn too_many_names() {
    let lines: String = (1..=257).map(|i| format!("1 load v{i}\n{i} rfin\n")).collect();
    check(
        &format!("history memory\n{lines}"),
        expect![[r#"
            "v257": too many variables (the 257th)
            "257": too many threads (the 257th)"#]],
    );
}
