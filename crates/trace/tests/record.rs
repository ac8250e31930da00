//! Traces of a hand-made program and replay: names, places, words, and the way back.

use cyrano_engine::{Access, Blocked, Execution, Overtaking, Replayed, Source, StepFacts, ThreadEnd, Violation};
use cyrano_ir::{
    AccessKind, Addr, BinOp, EvalError, Expr, FinalVar, Instr, InstrId, LocId, LocalExpr, Location, Op, Place, Program,
    Property, Quantifier, RegId, Register, Span, Thread, ThreadId, Ty,
};
use cyrano_trace::{End, Parts, Trace};
use expect_test::{Expect, expect};

const SOURCE: &str = "\
x := 1;
r1 := y;
assert r1 = 1, \"seen\";
y := 1;
r2 := 7 / r2;
";

fn span(text: &str) -> Span {
    let start = SOURCE.find(text).expect("the text occurs in the source");
    Span::new(start, start + text.len())
}

fn instr(op: Op, text: &str) -> Instr {
    Instr { op, span: span(text) }
}

fn var(register: u32) -> LocalExpr {
    Expr::Var(Place::Reg(RegId(register)))
}

fn equals<V>(left: Expr<V>, value: i128) -> Expr<V> {
    Expr::binary(BinOp::Eq, left, Expr::Const(value))
}

/// p0: x := 1; r1 := y; assert r1 = 1. p1: y := 1; r2 := 7 / r2.
fn program() -> Program {
    let location = |name: &str| Location { name: name.into(), init: 0, ty: Ty::Int, span: Span::default() };
    let register = |name: &str, init| Register { name: name.into(), init, ty: Ty::Int };
    let store = |loc: u32| Op::store(Addr::Fixed(LocId(loc)), Expr::Const(1));
    let load = Op::load(Place::Reg(RegId(0)), Addr::Fixed(LocId(1)));
    let assert = Op::Assert { cond: equals(var(0), 1), message: Some("seen".into()) };
    let divide = Op::Assign { dst: Place::Reg(RegId(0)), value: Expr::binary(BinOp::Div, Expr::Const(7), var(0)) };
    let p0 = vec![
        instr(store(0), "x := 1"),
        instr(load, "r1 := y"),
        instr(assert, "assert r1 = 1, \"seen\""),
        // The register changes after the assertion, so its last value is not the one that the assertion saw.
        instr(Op::Assign { dst: Place::Reg(RegId(0)), value: Expr::Const(5) }, "r1 := y"),
        instr(Op::Halt, "r1 := y"),
    ];
    let p1 = vec![instr(store(1), "y := 1"), instr(divide, "r2 := 7 / r2"), instr(Op::Halt, "r2 := 7 / r2")];
    let thread = |name: &str, registers: Vec<Register>, code| Thread { name: name.into(), registers, code };
    Program {
        name: "hand-made".into(),
        locations: vec![location("x"), location("y")],
        threads: vec![
            thread("p0", vec![register("r1", 3), register("%0", 0)], p0),
            thread("p1", vec![register("r2", 0)], p1),
        ],
        ..Program::default()
    }
}

/// The load of y is performed before the store to x.
fn execution() -> Execution {
    let access = |thread: u16, index, read, written| Access { thread: ThreadId(thread), index, read, written };
    Execution {
        order: vec![access(0, 1, Some(0), None), access(1, 0, None, Some(1)), access(0, 0, None, Some(1))],
        choices: vec![vec![], vec![]],
        relations: None,
    }
}

fn replayed(execution: &Execution) -> Replayed {
    let overtaken = Overtaking { index: 0, instr: InstrId(0), kind: AccessKind::Store, loc: Some(LocId(0)) };
    let facts = |at: usize, kind, instr, loc, source, overtook| StepFacts {
        access: execution.order[at],
        kind,
        instr: InstrId(instr),
        loc: LocId(loc),
        source,
        overtook,
        said: vec![],
    };
    Replayed {
        steps: vec![
            facts(0, AccessKind::Load, 1, 1, Some(Source::Initial), vec![overtaken]),
            facts(1, AccessKind::Store, 0, 1, None, vec![]),
            facts(2, AccessKind::Store, 0, 0, None, vec![]),
        ],
        ends: vec![ThreadEnd::Done, ThreadEnd::At(InstrId(1))],
        memory: vec![1, 1],
        registers: vec![vec![Some(5), Some(0)], vec![Some(0)]],
        serial: None,
        relations: None,
    }
}

fn build(property: &Property, violation: Option<&Violation>) -> Trace {
    let execution = execution();
    Trace::build(&Parts {
        version: "0",
        file: "a.rml",
        source: SOURCE,
        set: &[("N".into(), 2)],
        test: None,
        program: &program(),
        model: &cyrano_memory::named("tso").expect("tso is a model"),
        property,
        violation,
        execution: &execution,
        replayed: &replayed(&execution),
    })
}

fn check(property: &Property, violation: Option<&Violation>, expected: Expect) {
    expected.assert_eq(&build(property, violation).explanation.sentence);
}

fn condition(quantifier: Quantifier) -> Property {
    let cond = Expr::binary(
        BinOp::And,
        equals(Expr::Var(FinalVar::Reg(ThreadId(0), RegId(0))), 5),
        equals(Expr::Var(FinalVar::Loc(LocId(1))), 1),
    );
    Property::Final { quantifier, cond, text: "r1 = 5 && y = 1".into() }
}

const ASSERTION: Violation = Violation::Assertion { thread: ThreadId(0), instr: InstrId(2) };

#[test]
fn explanations_have_the_values_of_the_moment() {
    check(
        &Property::Assertions,
        Some(&ASSERTION),
        expect![[r#"The assertion `r1 = 1` of p0 at line 3 fails, with r1 = 0 ("seen")."#]],
    );
    let error = Violation::Error { thread: ThreadId(1), instr: InstrId(1), error: EvalError::DivisionByZero };
    check(
        &Property::Assertions,
        Some(&error),
        expect!["p1 goes wrong at line 5, `r2 := 7 / r2`: division by zero, with r2 = 0."],
    );
    let blocked =
        vec![Blocked { thread: ThreadId(0), instr: InstrId(1) }, Blocked { thread: ThreadId(1), instr: InstrId(0) }];
    check(
        &Property::Assertions,
        Some(&Violation::Deadlock { blocked }),
        expect!["Deadlock: no thread can go on; p0 waits at line 2 and p1 waits at line 4."],
    );
    let diverges = Violation::AtomicDiverges { thread: ThreadId(1), instr: InstrId(0) };
    check(
        &Property::Assertions,
        Some(&diverges),
        expect!["The atomic section of p1 that starts at line 4 does not reach its end."],
    );
    check(
        &condition(Quantifier::Never),
        Some(&Violation::FinalState),
        expect!["The final state satisfies `r1 = 5 && y = 1`, which must never hold, with r1 = 5, y = 1."],
    );
    check(
        &condition(Quantifier::Always),
        Some(&Violation::FinalState),
        expect!["The final state does not satisfy `r1 = 5 && y = 1`, which must always hold, with r1 = 5, y = 1."],
    );
    check(
        &condition(Quantifier::Exists),
        None,
        expect!["The final state satisfies `r1 = 5 && y = 1`, with r1 = 5, y = 1."],
    );
}

#[test]
fn steps_have_places_sources_and_words() {
    let trace = build(&Property::Assertions, Some(&ASSERTION));
    let steps = serde_json::to_string_pretty(&trace.steps[0]).expect("steps serialise");
    expect![[r#"
        {
          "n": 1,
          "thread": "p0",
          "po": 1,
          "kind": "load",
          "location": "y",
          "event": null,
          "rollback": false,
          "transaction": null,
          "read": 0,
          "written": null,
          "source": {
            "from": "initial"
          },
          "line": 2,
          "column": 1,
          "text": "r1 := y",
          "overtook": [
            {
              "po": 0,
              "line": 1,
              "kind": "store",
              "location": "x"
            }
          ],
          "words": [
            "line 2's load of y was performed before line 1's store to x"
          ]
        }"#]]
    .assert_eq(&steps);
    assert_eq!(trace.steps[1].line, 4);
    assert_eq!(trace.threads[0].end, End::Done);
    assert_eq!(trace.threads[0].registers.len(), 1, "temporaries are left out");
}

#[test]
fn a_trace_survives_the_way_through_json() {
    let trace = build(&Property::Assertions, Some(&ASSERTION));
    let back = Trace::parse(&trace.to_json()).expect("its own output is a trace");
    assert!(trace.confirmed && trace.doubt().is_none());
    assert!(back.doubt().is_some_and(|doubt| doubt.starts_with("NOT CONFIRMED")), "a file is not believed");
    let mut unconfirmed = trace;
    unconfirmed.confirmed = false;
    assert_eq!(back, unconfirmed);
    assert_eq!(back.execution(), Ok(execution()));
    assert_eq!(back.find_violation(&program()), Ok(Some(ASSERTION)));
    assert_eq!(back.find_property(&program()), Ok(Property::Assertions));
    assert_eq!(back.memory_model().ok(), cyrano_memory::named("tso"));
}

#[test]
fn bad_traces_are_refused_with_a_reason() {
    let refused = |json: &str, part: &str| {
        let error = Trace::parse(json).expect_err("this is no trace").to_string();
        assert!(error.contains(part), "{error}");
    };
    refused("{", "cut off");
    refused("{]", "not JSON");
    refused("[]", "no schema");
    refused(r#"{"schema":"cyrano.trace/9"}"#, "`cyrano.trace/9`");
    refused(r#"{"schema":"cyrano.trace/1"}"#, "missing field");
    let trace = build(&condition(Quantifier::Never), Some(&ASSERTION));
    let mut bad = trace.clone();
    bad.steps[0].thread = "p7".into();
    assert!(bad.execution().is_err());
    let mut bad = trace.clone();
    bad.violation = Some(cyrano_trace::ViolationInfo::Assertion { thread: "p0".into(), instr: 99 });
    assert!(bad.find_violation(&program()).is_err());
    let mut bad = trace.clone();
    bad.threads.pop();
    assert!(bad.find_violation(&program()).is_err());
    assert!(trace.find_property(&program()).is_err(), "the program declares no such check");
}

/// Writes to a location in order, reads with what they see, and what comes after that; computed again for a trace from a file, also an old one.
#[test]
fn relations_follow_from_the_steps() {
    let trace = build(&condition(Quantifier::Never), Some(&ASSERTION));
    let writes = |location: &str| -> Vec<usize> {
        let steps = trace.steps.iter().filter(|step| step.location.as_deref() == Some(location));
        steps.filter(|step| step.written.is_some()).map(|step| step.n).collect()
    };
    let relations = &trace.relations;
    assert!(!relations.co.is_empty() && !relations.rf.is_empty(), "{relations:?}");
    for location in ["x", "y"] {
        let mut from = 0;
        for write in writes(location) {
            assert!(relations.co.contains(&(from, write)), "{relations:?}");
            from = write;
        }
    }
    for (from, read) in &relations.rf {
        let seen = trace.steps.iter().find(|step| step.n == *from).map_or(Some(0), |step| step.written);
        assert_eq!(trace.steps[read - 1].read, seen, "{relations:?}");
    }
    for (read, after) in &relations.fr {
        let from = relations.rf.iter().find(|(_, other)| other == read).expect("it reads").0;
        assert!(relations.co.contains(&(from, *after)), "{relations:?}");
    }
    let mut forged = trace.clone();
    forged.relations = Default::default();
    let old = forged.to_json().replace("cyrano.trace/2", "cyrano.trace/1");
    let read = Trace::parse(&old).expect("an old trace is read");
    assert_eq!((read.schema.as_str(), &read.relations), ("cyrano.trace/2", relations));
}
