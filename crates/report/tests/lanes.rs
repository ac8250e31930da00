//! The lane diagram of executions that are long, have a setup, or reorder a lot.

mod data;
mod hostile;

use cyrano_report::{Style, trace_text};
use cyrano_trace::{OperationInfo, Overtaken, ReadFrom, Step, ThreadInfo, Trace};
use data::trace;
use hostile::hostile;

const STYLE: Style = Style { color: false, width: 100 };

/// A trace of these threads: each step is a thread's number and its number in program order.
fn made(threads: &[&str], order: &[(usize, u32)]) -> Trace {
    let mut made = trace();
    let (thread, step) = (made.threads[0].clone(), made.steps[1].clone());
    made.threads = threads.iter().map(|name| ThreadInfo { name: (*name).into(), ..thread.clone() }).collect();
    let steps = order.iter().enumerate().map(|(at, (thread, po))| Step {
        n: at + 1,
        thread: threads[*thread].into(),
        po: *po,
        line: 10 + *po as usize,
        text: format!("v{po} := 1"),
        location: Some(format!("v{po}")),
        ..step.clone()
    });
    made.steps = steps.collect();
    made
}

fn overtake(trace: &mut Trace, n: usize, po: u32) {
    let step = &mut trace.steps[n - 1];
    let location = Some(format!("v{po}"));
    step.overtook.push(Overtaken {
        po,
        line: 10 + po as usize,
        kind: "store".into(),
        location,
        label: None,
        used: None,
    });
    step.words.push(format!("line {}'s store was performed before line {}'s store to v{po}", step.line, 10 + po));
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn the_setup_stands_above_the_lanes() {
    let text = trace_text(&made(&["init", "p", "q"], &[(0, 0), (0, 1), (1, 0), (2, 0)]), STYLE);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        ["  1  init  10: v0 := 1  v0 ← 1", "  2  init  11: v1 := 1  v1 ← 1", "", "     p                   │ q"]
    );
    // A thread that comes back is no setup.
    let text = trace_text(&made(&["init", "p", "q"], &[(0, 0), (1, 0), (2, 0), (0, 1)]), STYLE);
    assert!(text.lines().next().is_some_and(|line| line.contains("init") && line.contains('│')), "{text}");
}

#[test]
fn what_many_steps_overtook_is_said_once() {
    let mut trace = made(&["p", "q"], &[(0, 2), (0, 3), (0, 4), (1, 0), (0, 0)]);
    for n in 1..=3 {
        overtake(&mut trace, n, 0);
        overtake(&mut trace, n, 1);
    }
    let text = trace_text(&trace, STYLE);
    assert!(
        text.contains("p: line 10's store to v0 and line 11's store to v1 were overtaken by steps 1 to 3"),
        "{text}"
    );
    assert!(
        text.contains("◌ 10: v0 := 1, performed in 5") && text.contains("◌ 11: store to v1, not performed"),
        "{text}"
    );
    assert!(text.contains("v0 ← 1 (late)"), "{text}");
    assert_eq!(text.matches("overtaken by").count(), 1);
}

#[test]
fn operations_are_blocks() {
    let mut trace = made(&["p", "q"], &[(0, 0), (1, 0), (0, 1), (0, 2)]);
    let operation = |name: &str, first, last, po, status: &str| OperationInfo {
        name: name.into(),
        thread: "p".into(),
        first,
        last,
        po,
        status: status.into(),
        result: None,
        transaction: None,
    };
    trace.operations =
        vec![operation("push(1)", 1, 3, (0, 1), "finished"), operation("pop()", 4, 4, (2, 9), "unfinished")];
    let text = trace_text(&trace, STYLE);
    for part in ["┌ push(1)", "1  ┊ 10", "2  ┊", "3  └ 11", "┌ pop(), unfinished", "4  ┊ 12"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn long_executions_are_folded() {
    let order: Vec<(usize, u32)> = (0..80).map(|at| (usize::from(at >= 40), at % 40)).collect();
    let mut trace = made(&["p", "q"], &order);
    trace.steps[60].source = Some(ReadFrom::Step { n: 20 });
    let text = trace_text(&trace, STYLE);
    let shown = |n: usize| text.lines().any(|line| line.trim_start().starts_with(&format!("{n}  ")));
    for n in [20, 40, 61, 80] {
        assert!(shown(n), "{n}: {text}");
    }
    assert!(!shown(10) && !shown(50), "{text}");
    assert!(text.contains("… 19 steps that only their own thread sees"), "{text}");
    trace.steps.truncate(60);
    assert!(!trace_text(&trace, STYLE).contains("that only their own thread sees"));
}

#[test]
fn every_line_fits() {
    let order: Vec<(usize, u32)> = (0..24).map(|at| (at % 3, (at / 3) as u32)).collect();
    let mut trace = made(&["worker", "helper", "reader"], &order);
    for step in &mut trace.steps {
        step.text = "some_quite_long_name := cas(&queue->entries[index].next, expected, desired)".into();
        step.location = Some("queue.entries[12].next".into());
    }
    overtake(&mut trace, 4, 0);
    fits(&trace_text(&trace, STYLE));
    fits(&trace_text(&hostile(), STYLE));
}
