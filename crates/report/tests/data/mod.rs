//! Hand-made data for the snapshots.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use cyrano_engine::{Stats, Verdict};
use cyrano_report::{CheckReport, LitmusReport, OutcomesReport, Results, RunReport, Size, Style};
use cyrano_trace::{
    Conflict, DependencyInfo, End, Explanation, ModelInfo, NamedValue, Overtaken, ProgramInfo, PropertyInfo, ReadFrom,
    Relations, SCHEMA, Step, ThreadInfo, Tool, Trace, TransactionInfo, ViolationInfo,
};

fn named(name: &str, value: Option<i128>) -> NamedValue {
    NamedValue { name: name.into(), value, shown: None }
}

/// The model tso.
pub fn model() -> ModelInfo {
    ModelInfo {
        name: "tso".into(),
        summary: "Total store order: each thread has a first-in first-out store buffer.".into(),
        different: vec!["load-load".into(), "load-store".into(), "store-store".into()],
        same: vec!["load-load".into(), "load-store".into(), "store-store".into()],
        forwarding: true,
        dependencies: DependencyInfo { data: false, address: false, control: "none".into() },
        serial: false,
        cas: None,
        own_order: false,
        cat: None,
    }
}

fn step(n: usize, thread: &str, line: usize, text: &str, location: &str) -> Step {
    Step {
        n,
        thread: thread.into(),
        po: 0,
        kind: "store".into(),
        location: Some(location.into()),
        event: None,
        rollback: false,
        transaction: None,
        read: None,
        written: None,
        read_shown: None,
        written_shown: None,
        source: None,
        line,
        used: None,
        column: 5,
        text: text.into(),
        label: None,
        call: None,
        within: None,
        overtook: vec![],
        words: vec![],
    }
}

fn load(step: Step, value: i128, source: ReadFrom) -> Step {
    Step { kind: "load".into(), read: Some(value), source: Some(source), ..step }
}

fn store(step: Step, value: i128) -> Step {
    Step { written: Some(value), ..step }
}

fn overtaking(step: Step) -> Step {
    let overtaken =
        Overtaken { po: 0, line: 6, used: None, kind: "store".into(), location: Some("x".into()), label: None };
    let words = "line 7's load of y was performed before line 6's store to x".into();
    Step { po: 1, overtook: vec![overtaken], words: vec![words], ..step }
}

/// Store buffering under tso, as it is shown.
pub fn trace() -> Trace {
    let thread = |name: &str, register: &str| ThreadInfo {
        name: name.into(),
        choices: vec![],
        commands: vec![],
        end: End::Done,
        registers: vec![named(register, Some(0))],
    };
    let steps = vec![
        overtaking(load(step(1, "p0", 7, "r1 := y", "y"), 0, ReadFrom::Initial)),
        store(step(2, "p1", 11, "y := 1", "y"), 1),
        load(step(3, "p1", 12, "r2 := x", "x"), 0, ReadFrom::Initial),
        store(step(4, "p0", 6, "x := 1", "x"), 1),
    ];
    Trace {
        schema: SCHEMA.into(),
        confirmed: true,
        unconfirmed: None,
        tool: Tool { name: "cyrano".into(), version: "0".into() },
        model: model(),
        program: ProgramInfo { file: "sb.rml".into(), source: "…".into(), set: BTreeMap::new(), test: None },
        property: PropertyInfo {
            criterion: "never".into(),
            condition: Some("r1 = 0 && r2 = 0".into()),
            allowed: None,
            specification: None,
        },
        violation: Some(ViolationInfo::FinalState),
        relations: Relations::of(&steps),
        steps,
        threads: vec![thread("p0", "r1"), thread("p1", "r2")],
        transactions: vec![],
        history: vec![],
        operations: vec![],
        initial: vec![],
        changes: vec![],
        locals: vec![],
        helpers: vec![],
        shape: None,
        memory: vec![named("x", Some(1)), named("y", Some(1))],
        explanation: Explanation {
            kind: "final-state".into(),
            sentence: "The final state satisfies `r1 = 0 && r2 = 0`, which must never hold, with r1 = 0, r2 = 0."
                .into(),
            condition: Some("r1 = 0 && r2 = 0".into()),
            values: vec![named("r1", Some(0)), named("r2", Some(0))],
            ..Explanation::default()
        },
    }
}

/// Two transactions of which neither can come first.
pub fn transactional() -> Trace {
    let mut trace = trace();
    let of = |step: Step, name: &str| Step { transaction: Some(name.into()), ..step };
    let event = |n, thread: &str, line, word: &str, name: &str| Step {
        kind: "event".into(),
        location: None,
        event: Some(word.into()),
        ..of(step(n, thread, line, word, ""), name)
    };
    trace.threads[0].choices = vec![0, 1];
    trace.threads[0].commands = vec!["read(0)".into(), "read(1)".into()];
    trace.property = PropertyInfo { criterion: "opacity".into(), condition: None, allowed: None, specification: None };
    trace.violation = Some(ViolationInfo::Cycle);
    trace.steps = vec![
        of(load(step(1, "p0", 10, "l := g[0]", "g[0]"), 0, ReadFrom::Initial), "T1"),
        event(2, "p0", 11, "rfin", "T1"),
        of(store(step(3, "p1", 20, "g[0] := 1", "g[0]"), 1), "T2"),
        of(store(step(4, "p1", 20, "g[1] := 1", "g[1]"), 1), "T2"),
        event(5, "p1", 21, "commit", "T2"),
        of(load(step(6, "p0", 10, "l := g[1]", "g[1]"), 1, ReadFrom::Step { n: 4 }), "T1"),
        Step { rollback: true, ..of(store(step(7, "p1", 30, "rollback g[1] := 0", "g[1]"), 0), "T3") },
        event(8, "p0", 11, "rfin", "T1"),
    ];
    let transaction = |name: &str, thread: &str, first, last, status: &str| TransactionInfo {
        name: name.into(),
        thread: thread.into(),
        first,
        last,
        status: status.into(),
        again: None,
    };
    trace.transactions = vec![
        transaction("T1", "p0", 1, 8, "unfinished"),
        transaction("T2", "p1", 3, 5, "committed"),
        transaction("T3", "p1", 7, 7, "unfinished"),
    ];
    let conflict = |first: &str, second: &str, reason: &str, variable: &str, steps| Conflict {
        first: first.into(),
        second: second.into(),
        reason: reason.into(),
        variable: Some(variable.into()),
        steps,
    };
    trace.explanation = Explanation {
        kind: "cycle".into(),
        sentence: "T1 read g[0] before T2 wrote it; T2 wrote g[1] before T1 read it; so neither can come first.".into(),
        conflicts: vec![
            conflict("T1", "T2", "read-before-write", "g[0]", (1, 3)),
            conflict("T2", "T1", "write-before-read", "g[1]", (4, 6)),
        ],
        ..Explanation::default()
    };
    trace
}

/// A trace with everything that the simple one lacks.
pub fn crowded() -> Trace {
    let mut trace = trace();
    let rmw = |step: Step, read, written| Step {
        kind: "read-modify-write".into(),
        read: Some(read),
        written,
        read_shown: None,
        written_shown: None,
        source: Some(ReadFrom::Step { n: 4 }),
        ..step
    };
    trace.steps.push(load(
        step(5, "worker[2]", 20, "l := x", "x"),
        1,
        ReadFrom::Forwarded { po: 0, line: 6, used: None },
    ));
    trace.steps.push(rmw(step(6, "worker[2]", 21, "l := cas(x, 1, 2)", "x"), 1, Some(2)));
    trace.steps.push(rmw(step(7, "p1", 22, "some_longer_name := cas(lock[i + 1], 0, self + 1)", "lock[1]"), 2, None));
    trace.threads.push(ThreadInfo {
        name: "worker[2]".into(),
        choices: vec![1, 0],
        commands: vec![],
        end: End::Waiting { line: 30, column: 3, text: "atomic {".into(), label: None },
        registers: vec![named("l", None)],
    });
    trace
}

/// One check with made-up costs.
pub fn report(verdict: Verdict, model: &str, property: &str, trace: Option<Trace>) -> CheckReport {
    CheckReport {
        test: None,
        specification: None,
        clients: None,
        blocks: Vec::new(),
        unreached: Vec::new(),
        clauses: None,
        file: "sb.rml".into(),
        model: Some(model.into()),
        criterion: "never".into(),
        property: Some(property.into()),
        set: BTreeMap::new(),
        engine: Some("explore".into()),
        engine_note: None,
        instance: vec![("threads".into(), Size::Number(2)), ("vars".into(), Size::Number(2))],
        every_number: None,
        verdict,
        reason: None,
        caveats: Vec::new(),
        stats: Some(Stats {
            states: 1234,
            transitions: 5678,
            depth: 4,
            seconds: 0.0123,
            peak_bytes: 3 << 20,
            ..Stats::default()
        }),
        reductions: vec!["dead-registers".into(), "macro-steps".into()],
        explanation: trace.as_ref().map(|trace| trace.explanation.clone()),
        trace,
        minimised: None,
    }
}

/// Checks with every kind of oddity.
pub fn several() -> Vec<CheckReport> {
    let mut unknown = report(Verdict::Unknown, "relaxed", "r1 = 0", None);
    unknown.reason = Some("time limit reached".into());
    unknown.engine = Some("interp".into());
    unknown.engine_note = Some("explore cannot run this: addresses depend on loaded values".into());
    unknown.reductions.clear();
    let mut vacuous = report(Verdict::Vacuous, "sc", "r1 = 0", None);
    vacuous.model = None;
    vacuous.engine = None;
    vacuous.stats = None;
    vacuous.reductions.clear();
    vacuous.reason = Some("nothing to check".into());
    let long = "r1 = 0 && r2 = 0 || r1 = 1 && r2 = 1 || r1 = 2 && r2 = 2 || r1 = 3 && r2 = 3";
    vec![
        report(Verdict::Verified, "sc", long, None),
        report(Verdict::Violated, "tso", "r1 = 0 && r2 = 0", Some(trace())),
        unknown,
        vacuous,
    ]
}

/// A complete set, a bounded one and an empty one.
pub fn outcomes() -> Vec<OutcomesReport> {
    let report = |model: &str, verdict, outcomes: &[[i128; 2]]| OutcomesReport {
        test: None,
        file: "sb.rml".into(),
        model: model.into(),
        engine: Some("explore".into()),
        engine_note: None,
        verdict,
        reason: (verdict != Verdict::Verified).then(|| "loops were unrolled 3 times".into()),
        columns: vec!["r1".into(), "p1.r2".into()],
        outcomes: outcomes.iter().map(|values| values.to_vec()).collect::<BTreeSet<_>>(),
        replies: false,
        stats: Some(Stats::default()),
    };
    vec![
        report("sc", Verdict::Verified, &[[0, 1], [1, 0]]),
        report("tso", Verdict::Bounded, &[[0, 1], [1, 0], [-10, 0]]),
        OutcomesReport { reason: Some("no execution ends".into()), ..report("serial", Verdict::Vacuous, &[]) },
    ]
}

/// A run of these checks, all there are.
pub fn run<'a>(checks: &'a [CheckReport], version: &'a str) -> RunReport<'a> {
    RunReport { results: Results::Checks(checks), version, shard: None }
}

pub fn checks_text(checks: &[CheckReport], details: bool, style: Style) -> String {
    run(checks, "0").to_text(details, style)
}

pub fn checks_json(checks: &[CheckReport], version: &str) -> String {
    run(checks, version).to_json()
}

pub fn checks_sarif(checks: &[CheckReport], exit: u8, version: &str) -> String {
    run(checks, version).to_sarif(exit, false)
}

pub fn checks_junit(checks: &[CheckReport]) -> String {
    run(checks, "0").to_junit(false)
}

/// A run of these litmus tests.
pub fn litmus(tests: &[LitmusReport]) -> RunReport<'_> {
    RunReport { results: Results::Litmus(tests), version: "0", shard: None }
}
