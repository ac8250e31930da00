//! Every form of output on small, hand-made data.

mod data;

use cyrano_engine::Verdict;
use cyrano_report::{
    ModelReport, ReplayReport, Style, models_json, models_text, outcomes_text, replay_json, replay_text, trace_text,
};
use cyrano_trace::DependencyInfo;
use data::{checks_text, crowded, model, outcomes, report, several, trace, transactional};
use expect_test::{Expect, expect};

fn style(width: usize) -> Style {
    Style { color: false, width }
}

fn check(text: &str, width: usize, expected: Expect) {
    for line in text.lines() {
        assert!(line.chars().count() <= width, "wider than {width}: {line}");
    }
    expected.assert_eq(text);
}

#[test]
fn lanes() {
    check(
        &trace_text(&trace(), style(100)),
        100,
        expect![[r#"
                 p0                          │ p1
                 ◌ 6: x := 1, performed in 4 │
              1  7: r1 := y  y → 0 (initial) │
              2                              │ 11: y := 1   y ← 1
              3                              │ 12: r2 := x  x → 0 (initial)
              4  6: x := 1   x ← 1 (late)    │

            Reordered:
              step 1, p0: line 7's load of y was performed before line 6's store to x

            At the end:
              p0: done; r1 = 0
              p1: done; r2 = 0
              memory: x = 1, y = 1

            Why: The final state satisfies `r1 = 0 && r2 = 0`, which must never hold, with r1 = 0, r2 = 0.
        "#]],
    );
}

#[test]
fn transactions_are_blocks() {
    check(
        &trace_text(&transactional(), style(100)),
        100,
        expect![[r#"
                 p0                                    │ p1
                 ┌ T1 unfinished                       │
              1  ┊ 10: l := g[0]  g[0] → 0 (initial)   │
              2  ┊ 11: rfin       the read is finished │
                 ┊                                     │ ┌ T2 committed
              3  ┊                                     │ ┊ 20: g[0] := 1           g[0] ← 1
              4  ┊                                     │ ┊ 20: g[1] := 1           g[1] ← 1
              5  ┊                                     │ └ 21: commit              T2 commits
              6  ┊ 10: l := g[1]  g[1] → 1 (from 4)    │
                 ┊                                     │ ┌ T3 unfinished
              7  ┊                                     │ ┊ 30: rollback g[1] := 0  g[1] ← 0 (rollback)
              8  ┊ 11: rfin       the read is finished │ ┊

            At the end:
              p0: done; r1 = 0; commands read(0), read(1)
              p1: done; r2 = 0
              memory: x = 1, y = 1

            Why: T1 read g[0] before T2 wrote it; T2 wrote g[1] before T1 read it; so neither can come first.
                 T1 before T2: read-before-write of g[0], steps 1 and 3
                 T2 before T1: write-before-read of g[1], steps 4 and 6
        "#]],
    );
    check(
        &trace_text(&transactional(), style(10)),
        60,
        expect![[r#"
                 p0                       │ p1
                 ┌ T1 unfinished          │
              1  ┊ 10: l := g[0]          │
                 ┊   g[0] → 0 (initial)   │
              2  ┊ 11: rfin               │
                 ┊   the read is finished │
                 ┊                        │ ┌ T2 committed
              3  ┊                        │ ┊ 20: g[0] := 1
                 ┊                        │ ┊   g[0] ← 1
              4  ┊                        │ ┊ 20: g[1] := 1
                 ┊                        │ ┊   g[1] ← 1
              5  ┊                        │ └ 21: commit
                 ┊                        │     T2 commits
              6  ┊ 10: l := g[1]          │
                 ┊   g[1] → 1 (from 4)    │
                 ┊                        │ ┌ T3 unfinished
              7  ┊                        │ ┊ 30: rollback g[1] := 0
                 ┊                        │ ┊   g[1] ← 0 (rollback)
              8  ┊ 11: rfin               │ ┊
                 ┊   the read is finished │ ┊

            At the end:
              p0: done; r1 = 0; commands read(0), read(1)
              p1: done; r2 = 0
              memory: x = 1, y = 1

            Why: T1 read g[0] before T2 wrote it; T2 wrote g[1] before
                 T1 read it; so neither can come first.
                 T1 before T2: read-before-write of g[0], steps 1 and 3
                 T2 before T1: write-before-read of g[1], steps 4 and 6
        "#]],
    );
}

#[test]
fn lanes_with_long_effects() {
    check(
        &trace_text(&crowded(), style(100)),
        100,
        expect![[r#"
                 p0                          │ p1                              │ worker[2]
                 ◌ 6: x := 1, performed in 4 │                                 │
              1  7: r1 := y                  │                                 │
                   y → 0 (initial)           │                                 │
              2                              │ 11: y := 1                      │
                                             │   y ← 1                         │
              3                              │ 12: r2 := x                     │
                                             │   x → 0 (initial)               │
              4  6: x := 1                   │                                 │
                   x ← 1 (late)              │                                 │
              5                              │                                 │ 20: l := x
                                             │                                 │   x → 1 (own store, line 6, not
                                             │                                 │   yet performed)
              6                              │                                 │ 21: l := cas(x, 1, 2)
                                             │                                 │   x → 1 (from 4), ← 2
              7                              │ 22: some_longer_name :=         │
                                             │ cas(lock[i + 1], 0, self + 1)   │
                                             │   lock[1] → 2 (from 4), nothing │
                                             │   written                       │

            Reordered:
              step 1, p0: line 7's load of y was performed before line 6's store to x

            At the end:
              p0: done; r1 = 0
              p1: done; r2 = 0
              worker[2]: waits at line 30, `atomic {`; l = ?; chose 1, 0
              memory: x = 1, y = 1

            Why: The final state satisfies `r1 = 0 && r2 = 0`, which must never hold, with r1 = 0, r2 = 0.
        "#]],
    );
}

#[test]
fn stacked_on_a_narrow_terminal() {
    check(
        &trace_text(&crowded(), style(10)),
        60,
        expect![[r#"
                 p0         ◌ 6: x := 1, performed in 4
              1  p0         7: r1 := y  y → 0 (initial)
              2  p1         11: y := 1  y ← 1
              3  p1         12: r2 := x  x → 0 (initial)
              4  p0         6: x := 1  x ← 1 (late)
              5  worker[2]  20: l := x
                                x → 1 (own store, line 6, not yet
                                performed)
              6  worker[2]  21: l := cas(x, 1, 2)  x → 1 (from 4), ← 2
              7  p1         22: some_longer_name := cas(lock[i + 1], 0,…
                                lock[1] → 2 (from 4), nothing written

            Reordered:
              step 1, p0: line 7's load of y was performed before line
                          6's store to x

            At the end:
              p0: done; r1 = 0
              p1: done; r2 = 0
              worker[2]: waits at line 30, `atomic {`; l = ?; chose 1, 0
              memory: x = 1, y = 1

            Why: The final state satisfies `r1 = 0 && r2 = 0`, which
                 must never hold, with r1 = 0, r2 = 0.
        "#]],
    );
}

#[test]
fn many_checks() {
    check(
        &checks_text(&several(), true, style(100)),
        100,
        expect![[r#"
            sb.rml (threads = 2, vars = 2)
              verdict   model    engine   states    time   memory  check
              verified  sc       explore   1,234  0.01 s  3.0 MiB  never (r1 = 0 && r2 = 0 || r1 = 1 && r2 = 1
                                                                   || r1 = 2 && r2 = 2 || r1 = 3 && r2 = 3)
              violated  tso      explore   1,234  0.01 s  3.0 MiB  never (r1 = 0 && r2 = 0)
              unknown   relaxed  interp    1,234  0.01 s  3.0 MiB  never (r1 = 0)
                  time limit reached
                  explore cannot run this: addresses depend on loaded values
              vacuous   -        -             -       -        -  never (r1 = 0)
                  nothing to check
              explore used dead-registers, macro-steps

            violated: never (r1 = 0 && r2 = 0) on tso (sb.rml)

                 p0                          │ p1
                 ◌ 6: x := 1, performed in 4 │
              1  7: r1 := y  y → 0 (initial) │
              2                              │ 11: y := 1   y ← 1
              3                              │ 12: r2 := x  x → 0 (initial)
              4  6: x := 1   x ← 1 (late)    │

            Reordered:
              step 1, p0: line 7's load of y was performed before line 6's store to x

            At the end:
              p0: done; r1 = 0
              p1: done; r2 = 0
              memory: x = 1, y = 1

            Why: The final state satisfies `r1 = 0 && r2 = 0`, which must never hold, with r1 = 0, r2 = 0.

            4 checks: 1 violated, 1 unknown, 1 vacuous, 1 verified
        "#]],
    );
}

#[test]
fn quiet_checks_have_no_executions() {
    check(
        &checks_text(&several()[1..2], false, style(80)),
        80,
        expect![[r#"
        sb.rml (threads = 2, vars = 2)
          verdict   model  engine   states    time   memory  check
          violated  tso    explore   1,234  0.01 s  3.0 MiB  never (r1 = 0 && r2 = 0)
          explore used dead-registers, macro-steps
    "#]],
    );
}

#[test]
fn an_explanation_without_an_execution() {
    let mut report = report(Verdict::Violated, "sc", "r1 = 0", None);
    report.criterion = "exists".into();
    report.explanation = Some(cyrano_trace::no_witness("r1 = 0"));
    check(
        &checks_text(&[report], true, style(80)),
        80,
        expect![[r#"
        sb.rml (threads = 2, vars = 2)
          verdict   model  engine   states    time   memory  check
          violated  sc     explore   1,234  0.01 s  3.0 MiB  exists (r1 = 0)
          explore used dead-registers, macro-steps

        violated: exists (r1 = 0) on sc (sb.rml)

        Why: No execution ends in a state that satisfies `r1 = 0`.
    "#]],
    );
}

#[test]
fn colour_adds_nothing_but_colour() {
    let plain = checks_text(&several(), true, style(100));
    let coloured = checks_text(&several(), true, Style { color: true, width: 100 });
    assert_ne!(plain, coloured);
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').expect("every sequence ends").1;
    }
    stripped.push_str(rest);
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&stripped), trimmed(&plain));
}

#[test]
fn outcomes_as_text() {
    check(
        &outcomes_text(&outcomes(), true, style(100)),
        100,
        expect![[r#"
        sb.rml
        sc: 2 outcomes (complete; explore, 0 states)
          r1  p1.r2
           0      1
           1      0
        tso: 3 outcomes (bounded, there may be more; explore, 0 states)
            loops were unrolled 3 times
           r1  p1.r2
          -10      0  new
            0      1
            1      0
        serial: 0 outcomes (complete; explore, 0 states)
            no execution ends
    "#]],
    );
}

#[test]
fn models() {
    let report = ModelReport { model: model(), engines: vec!["explore".into(), "interp".into()], file: None };
    check(
        &models_text(std::slice::from_ref(&report), style(80)),
        80,
        expect![[r#"
              model  other address  same address  forwards  dependencies
              tso    LL LS SS       LL LS SS      yes       none

              A pair XY, listed for accesses to other addresses and to the same one, is
              kept: an access of kind X (L load, S store, C compare-and-swap) is performed
              before every later one of kind Y of its thread. A model that forwards lets a
              load see its own thread's stores before they are performed. Dependencies say
              which of a load's consequences stay behind it.

            tso
              Total store order: each thread has a first-in first-out store buffer.
              Engines: explore, interp.
        "#]],
    );
    let value: serde_json::Value = serde_json::from_str(&models_json(&[report], "0")).expect("models are JSON");
    assert_eq!(value["models"][0]["forwarding"], true);
    assert_eq!(value["models"][0]["engines"][0], "explore");
}

#[test]
fn tables_on_a_narrow_terminal() {
    check(
        &checks_text(&several()[..3], false, style(60)),
        60,
        expect![[r#"
        sb.rml (threads = 2, vars = 2)
          verdict   model    engine   states    time   memory
          verified  sc       explore   1,234  0.01 s  3.0 MiB
              never (r1 = 0 && r2 = 0 || r1 = 1 && r2 = 1 || r1 = 2
              && r2 = 2 || r1 = 3 && r2 = 3)
          violated  tso      explore   1,234  0.01 s  3.0 MiB
              never (r1 = 0 && r2 = 0)
          unknown   relaxed  interp    1,234  0.01 s  3.0 MiB
              never (r1 = 0)
              time limit reached
              explore cannot run this: addresses depend on loaded
              values
          explore used dead-registers, macro-steps
        3 checks: 1 violated, 1 unknown, 1 verified
    "#]],
    );
    let mut model = model();
    model.dependencies = DependencyInfo { data: true, address: true, control: "stores".into() };
    model.serial = true;
    let report = ModelReport { model, engines: vec!["interp".into()], file: None };
    check(
        &models_text(&[report], style(60)),
        60,
        expect![[r#"
              model  other address  same address  forwards  dependencies
              tso    LL LS SS       LL LS SS      yes       data,
                                                            address,
                                                            control to
                                                            stores;
                                                            whole
                                                            operations

              A pair XY, listed for accesses to other addresses and to
              the same one, is kept: an access of kind X (L load, S
              store, C compare-and-swap) is performed before every later
              one of kind Y of its thread. A model that forwards lets a
              load see its own thread's stores before they are
              performed. Dependencies say which of a load's consequences
              stay behind it.

            tso
              Total store order: each thread has a first-in first-out
              store buffer.
              Engines: interp.
        "#]],
    );
}

#[test]
fn replays() {
    let good = ReplayReport { trace: trace(), against: None, misfit: None };
    check(
        &replay_text(&good, false, style(80)),
        80,
        expect![[r#"
        confirmed: never (r1 = 0 && r2 = 0) on tso (sb.rml), 4 steps
    "#]],
    );
    let bad = ReplayReport {
        trace: trace(),
        against: None,
        misfit: Some(cyrano_trace::Misfit::new("step 2: the load reads 1, not 0")),
    };
    check(
        &replay_text(&bad, true, style(80)),
        80,
        expect![[r#"
        not confirmed: never (r1 = 0 && r2 = 0) on tso (sb.rml)
          step 2: the load reads 1, not 0
    "#]],
    );
    let value: serde_json::Value = serde_json::from_str(&replay_json(&bad, "0")).expect("replays are JSON");
    assert_eq!(value["confirmed"], false);
    assert_eq!(value["reason"], "step 2: the load reads 1, not 0");
}
