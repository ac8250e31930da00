//! Traces of a hand-made transactional memory: blocks, events, and the cycle in words.

use cyrano_engine::{Access, Execution, Replayed, Source, StepFacts, ThreadEnd, Violation};
use cyrano_ir::{
    AccessKind, Addr, Expr, Instr, InstrId, LocId, Location, Op, Place, Program, Property, RegId, Register, Span, Tags,
    Thread, ThreadId, TxCriterion, TxEvent, Ty,
};
use cyrano_trace::{Parts, Trace};
use expect_test::{Expect, expect};

fn load(loc: u32) -> Op {
    Op::load(Place::Reg(RegId(0)), Addr::Fixed(LocId(loc)))
}

fn store(loc: u32, rollback: bool) -> Op {
    let tags = if rollback { Tags::ROLLBACK } else { Tags::default() };
    Op::store(Addr::Fixed(LocId(loc)), Expr::Const(1)).tagged(tags)
}

/// One instruction per access or event; location 0 is a lock, 1 and 2 are transactional.
fn program(codes: [Vec<Op>; 2]) -> Program {
    let location = |name: &str| Location { name: name.into(), init: 0, ty: Ty::Int, span: Span::default() };
    let thread = |name: &str, code: Vec<Op>| Thread {
        name: name.into(),
        registers: vec![Register { name: "l".into(), init: 0, ty: Ty::Int }],
        code: code.into_iter().chain([Op::Halt]).map(|op| Instr { op, span: Span::default() }).collect(),
    };
    let [p, q] = codes;
    Program {
        locations: vec![location("lock"), location("x"), location("y")],
        threads: vec![thread("p", p), thread("q", q)],
        transactional: vec![LocId(1), LocId(2)],
        ..Program::default()
    }
}

/// The threads take turns as `order` says, each performing its accesses in program order.
fn build(program: &Program, order: &[u16], criterion: TxCriterion) -> Trace {
    let mut next = [0; 2];
    let mut steps = Vec::new();
    for &thread in order {
        let index = next[thread as usize];
        next[thread as usize] += 1;
        let op = &program.instr(ThreadId(thread), InstrId(index)).op;
        let kind = op.event_kind().expect("the program has only accesses and events");
        let loc = match op.addr() {
            Some(Addr::Fixed(loc)) => *loc,
            // An event has no location, so any number will do, also one that is out of range.
            _ => LocId(99),
        };
        let read = kind.reads().then_some(0);
        let access = Access { thread: ThreadId(thread), index, read, written: kind.writes().then_some(1) };
        let source = (kind == AccessKind::Load).then_some(Source::Initial);
        steps.push(StepFacts { access, kind, instr: InstrId(index), loc, source, overtook: vec![], said: vec![] });
    }
    let execution = Execution {
        order: steps.iter().map(|facts| facts.access).collect(),
        choices: vec![vec![], vec![]],
        relations: None,
    };
    let ends = next.map(|at| ThreadEnd::At(InstrId(at))).to_vec();
    let registers = vec![vec![Some(0)]; 2];
    let replayed = Replayed { steps, ends, memory: vec![0, 1, 1], registers, ..Replayed::default() };
    Trace::build(&Parts {
        version: "0",
        file: "a.rml",
        source: "stm",
        set: &[],
        test: None,
        program,
        model: &cyrano_memory::named("sc").expect("sc is a model"),
        property: &Property::Transactions(criterion),
        violation: Some(&Violation::Transactions),
        execution: &execution,
        replayed: &replayed,
    })
}

/// The transactions, the conflicts and the sentence.
fn check(codes: [Vec<Op>; 2], order: &[u16], criterion: TxCriterion, expected: Expect) {
    let program = program(codes);
    let trace = build(&program, order, criterion);
    let mut out = String::new();
    for t in &trace.transactions {
        out.push_str(&format!("{} of {}: {}..{} {}\n", t.name, t.thread, t.first, t.last, t.status));
    }
    for c in &trace.explanation.conflicts {
        let variable = c.variable.as_deref().unwrap_or("-");
        out.push_str(&format!("{} < {}: {} {variable} {:?}\n", c.first, c.second, c.reason, c.steps));
    }
    out.push_str(&format!("{}\n", trace.history.join("; ")));
    // What is told of the history is what is judged.
    let parsed = cyrano_criteria::history::parse(&trace.history.join("\n")).map(|parsed| parsed.history);
    let rejected = parsed.map(|history| !cyrano_criteria::oracle::accepts(criterion, &history));
    assert!(trace.history.is_empty() || rejected == Ok(true), "{:?} is accepted", trace.history);
    out.push_str(&format!("{}: {}", trace.explanation.kind, trace.explanation.sentence));
    expected.assert_eq(&out);
    let back = Trace::parse(&trace.to_json()).expect("its own output is a trace");
    assert_eq!(back, Trace { confirmed: false, ..trace });
    assert_eq!(back.find_property(&program), Ok(Property::Transactions(criterion)));
    assert_eq!(back.find_violation(&program), Ok(Some(Violation::Transactions)));
}

fn reader() -> Vec<Op> {
    let rfin = || Op::Transaction(TxEvent::ReadFinish);
    vec![load(0), load(1), rfin(), load(2), rfin()]
}

#[test]
fn a_cycle_is_told_with_steps_and_blocks() {
    let writer = vec![store(1, false), store(2, false), Op::Transaction(TxEvent::Commit), load(0), load(1)];
    check(
        [reader(), writer],
        &[0, 0, 0, 1, 1, 1, 1, 1, 0, 0],
        TxCriterion::Opacity,
        expect![[r#"
            T1 of p: 1..10 unfinished
            T2 of q: 4..6 committed
            T3 of q: 7..8 unfinished
            T1 < T2: read-before-write x (2, 4)
            T2 < T1: write-before-read y (5, 9)
            history memory; 1 load x; 1 rfin; 2 store x; 2 store y; 2 commit; 2 load x; 1 load y; 1 rfin
            cycle: T1 read x before T2 wrote it; T2 wrote y before T1 read it; so neither can come first."#]],
    );
}

#[test]
fn a_broken_rule_is_told_without_a_cycle() {
    let forgetful = vec![store(1, false), Op::Transaction(TxEvent::Abort)];
    check(
        [reader(), forgetful],
        &[1, 1],
        TxCriterion::StrictSerializability,
        expect![[r#"
            T1 of q: 1..2 aborted
            history memory; 2 store x; 2 abort
            ill-formed: T1 aborted without rolling back its store of x."#]],
    );
}

#[test]
fn events_have_neither_location_nor_value() {
    let undoing = vec![store(1, false), store(1, true), Op::Transaction(TxEvent::Abort)];
    let trace = build(&program([reader(), undoing]), &[1, 1, 1], TxCriterion::Opacity);
    let told = trace.steps.iter().map(|step| {
        let place = step.location.as_deref().or(step.event.as_deref()).unwrap_or("-");
        format!("{} {place} {} {:?} {:?}", step.kind, step.rollback, step.written, step.transaction.as_deref())
    });
    expect![[r#"
        store x false Some(1) Some("T1")
        store x true Some(1) Some("T1")
        event abort false None Some("T1")"#]]
    .assert_eq(&told.collect::<Vec<_>>().join("\n"));
}
