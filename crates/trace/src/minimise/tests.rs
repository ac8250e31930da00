//! Minimising by rules that stand in for the reference interpreter.

use super::*;
use cyrano_ir::ThreadId;

/// Executions are written as `a0 b0 a1`: thread letter and program-order number.
fn parse(text: &str) -> Execution {
    let order = text.split_whitespace().map(|word| Access {
        thread: ThreadId::new((word.as_bytes()[0] - b'a').into()),
        index: word[1..].parse().expect("a number follows the letter"),
        read: None,
        written: Some(1),
    });
    Execution { order: order.collect(), choices: vec![vec![]; 3], relations: None }
}

fn print(execution: &Execution) -> String {
    let name = |a: &Access| format!("{}{}", (b'a' + a.thread.0 as u8) as char, a.index);
    execution.order.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// `keep` lists pairs that have to stay in this order; a single name has to stay.
fn check(input: &str, keep: &[&str], expected: &str) {
    let accept = |execution: &Execution| {
        let text = print(execution);
        let position = |name: &str| text.split(' ').position(|n| n == name);
        keep.iter().all(|rule| match rule.split_once('<') {
            Some((a, b)) => position(a).is_some() && position(a) < position(b),
            None => position(rule).is_some(),
        })
    };
    let result = minimise(&parse(input), &accept);
    assert!(accept(&result));
    assert_eq!(print(&result), expected);
}

#[test]
fn switches_disappear() {
    check("a0 b0 a1 b1", &["a0", "a1", "b0", "b1"], "a0 a1 b0 b1");
    check("a0 b0 a1 b1", &["a0", "a1", "b0<a1", "b1"], "b0 b1 a0 a1");
    check("a0 b0 c0 a1 b1 c1", &["a0<b0", "b0<a1", "a1<b1", "c0", "c1"], "a0 b0 a1 b1 c0 c1");
}

#[test]
fn needless_reorderings_disappear() {
    check("a1 b1 a0 b0", &["a1<b0", "b1<a0"], "b1 a0 a1 b0");
    check("a1 a0", &["a0", "a1"], "a0 a1");
}

#[test]
fn steps_that_nobody_needs_disappear() {
    check("a0 b0 a1 b1", &["b0<a1"], "b0 a0 a1");
    check("a0 b0 a1 c0", &["a1"], "a0 a1");
}

#[test]
fn choices_that_nobody_needs_disappear() {
    let execution = Execution { choices: vec![vec![1, 2, 3], vec![4], vec![]], ..parse("a0") };
    let needed = |execution: &Execution| execution.choices[0].first() == Some(&1);
    let result = minimise(&execution, &needed);
    assert_eq!(result.choices, [vec![1], vec![], vec![]]);
}

#[test]
fn nothing_is_accepted_unasked() {
    check("a1 b1 a0 b0", &["a1<b1", "b1<a0", "a0<b0"], "a1 b1 a0 b0");
}

#[test]
fn moves_are_judged_as_the_whole_order_would_be() {
    for text in ["a1 b1 a0 b0 c0 a2", "a0 b0 a1 b1 a3 a2", "c0 c1 a0 b0 c2"] {
        let order = parse(text).order;
        for from in 0..order.len() {
            let helps = useful_moves(&order, from);
            for (to, helps) in helps.iter().enumerate().filter(|(to, _)| *to != from) {
                let mut moved = order.clone();
                let step = moved.remove(from);
                moved.insert(to, step);
                assert_eq!(*helps, Effort::of(&moved) < Effort::of(&order), "{text}: {from} to {to}");
            }
        }
    }
}

#[test]
fn long_executions_end_soon_and_keep_what_they_show() {
    let text: Vec<String> = (0..3_000).map(|at| format!("{}{}", ["a", "b"][at % 2], at / 2)).collect();
    let execution = parse(&text.join(" "));
    let trials = std::cell::Cell::new(0);
    let accept = |execution: &Execution| {
        trials.set(trials.get() + 1);
        execution.order.iter().any(|access| access.thread.0 == 1 && access.index == 40)
    };
    let result = minimise_until(&execution, &accept, &|| false);
    assert!(accept(&result.execution));
    assert_eq!(result.to, Effort { reorderings: 0, switches: 0, steps: 41 });
    assert_eq!((result.from.steps, result.from.switches), (3_000, 2_999));
    assert!(trials.get() < 400, "{}", trials.get());
}

#[test]
fn one_may_say_stop() {
    let execution = parse("a0 b0 a1 b1 a2 b2");
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) >= 2;
    let result = minimise_until(&execution, &|_| true, &stop);
    assert!(!result.complete && result.to.steps < 6, "{result:?}");
    let result = minimise_until(&execution, &|_| true, &|| true);
    assert_eq!((result.complete, print(&result.execution)), (false, print(&execution)));
}
