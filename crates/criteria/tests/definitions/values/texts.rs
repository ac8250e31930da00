//! The text form of histories: what is read, and what is said about bad files.

use expect_test::{Expect, expect};

use cyrano_criteria::values::parse;

/// Checks the events that are read, or each complaint with the text that it marks.
fn check(source: &str, expect: Expect) {
    let said = match parse(source) {
        Ok(parsed) => {
            let lines = parsed.history.events().iter().zip(&parsed.spans);
            let lines =
                lines.map(|(event, span)| format!("{} <- {}", parsed.names.event(event), &source[span.range()]));
            format!("{}\ninit {:?}", lines.collect::<Vec<_>>().join("\n"), parsed.history.init())
        }
        Err(errors) => {
            let lines = errors.iter().map(|e| format!("{:?}: {} ({})", &source[e.span.range()], e.message, e.label));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    expect.assert_eq(&said);
}

#[test]
fn every_line() {
    check(
        "# a comment\n history values # values\r\ninit y -3\nT1 inv read x\nB write y 2\nB write x 1 ok\nT1 ret 1\nT1 inv commit\nB commit C\nT1 ret A\nT3 read y A\nT4 inv write x 9\nT4 ret A\nT5 write y 1 A\nT6 read y 2",
        expect![[r#"
            T1 inv read x <- T1 inv read x
            B inv write y 2 <- B write y 2
            B ret ok <- B write y 2
            B inv write x 1 <- B write x 1 ok
            B ret ok <- B write x 1 ok
            T1 ret 1 <- T1 ret 1
            T1 inv commit <- T1 inv commit
            B inv commit <- B commit C
            B ret C <- B commit C
            T1 ret A <- T1 ret A
            T3 inv read y <- T3 read y A
            T3 ret A <- T3 read y A
            T4 inv write x 9 <- T4 inv write x 9
            T4 ret A <- T4 ret A
            T5 inv write y 1 <- T5 write y 1 A
            T5 ret A <- T5 write y 1 A
            T6 inv read y <- T6 read y 2
            T6 ret 2 <- T6 read y 2
            init [-3, 0]"#]],
    );
    check(
        "history values",
        expect![[r#"

        init []"#]],
    );
}

#[test]
fn everything_wrong_is_reported_at_once() {
    check(
        "history values now\nT1\nT1 read\nT1 write x\nT1 write x one\nT1 jump\nT1 inv\nT1 inv read x 3\nT1 ret\nT1 ret maybe\nT1 commit\nT2 read y\ninit\ninit z 0 0\ninit z 1\nT3 commit C\nT3 read x 0\ninit x 999999999999999999999999999999999999999999",
        expect![[r#"
            "now": the first line has too many words (not expected)
            "T1": the line ends after the transaction (what does it do?)
            "read": `read` needs a location (of which location?)
            "write": `write` needs a location and a value (what to where?)
            "one": `one` is not a value (not a value)
            "jump": `jump` is not a call (unknown)
            "inv": `inv` needs a call (of what?)
            "3": the line goes on after the event (not expected)
            "ret": `ret` needs a reply (what does it return?)
            "maybe": `maybe` is not a reply (unknown)
            "commit": how does the commit end? (no reply)
            "read": what does the read return? (no reply)
            "init": `init` needs a location and a value (which, and what?)
            "init": an initial value after the first event (too late)
            "0": the line goes on after the event (not expected)
            "init": an initial value after the first event (too late)
            "z": `z` has an initial value already (again)
            "T3 read x 0": the transaction has ended (after its end)
            "init": an initial value after the first event (too late)
            "999999999999999999999999999999999999999999": `999999999999999999999999999999999999999999` is not a value (not a value)"#]],
    );
}

#[test]
fn events_out_of_place() {
    check(
        "history values\nT1 ret 0\nT2 inv read x\nT2 inv commit\nT2 ret ok\nT2 ret C\nT2 ret 0\nT3 write x 0\nT3 commit C\nT3 commit C\nT4 read x C\nT5 commit 4",
        expect![[r#"
            "T1 ret 0": a reply without a call (to which call?)
            "T2 inv commit": a call before the reply to the last one (still waiting)
            "T2 ret ok": no reply to such a call (does not fit)
            "T2 ret C": no reply to such a call (does not fit)
            "T3 commit C": the transaction has ended (after its end)
            "T4 read x C": no reply to such a call (does not fit)
            "T5 commit 4": no reply to such a call (does not fit)"#]],
    );
}

#[test]
fn another_kind_of_file() {
    check("", expect![[r#""": this is not a history of values (not a first line)"#]]);
    check(
        "history memory\n1 load x",
        expect![[r#""history memory": this is not a history of values (not a first line)"#]],
    );
}

#[test]
fn too_many() {
    let lines: String = (0..40).map(|n| format!("T{n} read x{n} 0\n")).collect();
    let errors = parse(&format!("history values\n{lines}")).expect_err("40 are too many");
    assert_eq!(errors.len(), 16);
    assert!(errors[0].help.as_ref().is_some_and(|help| help.contains("32")));
}
