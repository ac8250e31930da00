//! A question as an SMT-LIB 2 script: guards and bits are Booleans, the place of an access in the memory order is an integer
//! (Lesani and Palsberg, section 4: `exec(l)` and `l ≺ l'`; CheckFence, section 3.2.2, without transitivity).
//!
//! An edge of the graph that has to be acyclic is a comparison of two places, so the script grows with the number of edges and not with the
//! cube of the number of accesses. A graph without a cycle has places that agree with it (any linear extension), and places that agree with all
//! edges leave no cycle; so script and graph have the same models.
//!
//! Each access is defined by name: `x7` says whether it is executed, `v7` which value it reads (or writes, if it only writes), `p` with the
//! number of its node where it is. What the question is about in final states is defined under its own name, behind `final.`. None of these definitions is used in an assertion;
//! they are there for `get-value`.

use std::collections::BTreeSet;
use std::fmt::Write;

use cyrano_ir::{AccessKind, FinalVar, LocId, Program};

use crate::execute::event::Event;
use crate::execute::value::Value;
use crate::formula::encode::Encoding;
use crate::formula::gates::Formula;
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::solve::export::Place;

/// A script that asks whether the encoding's target can be; its places, and how many assertions it has.
pub(crate) fn script(program: &Program, encoding: &Encoding, formula: &Formula) -> (String, Vec<Place>, u64) {
    let mut text = String::from("(set-logic QF_LIA)\n");
    for var in 0..formula.vars {
        let _ = writeln!(text, "(declare-fun b{var} () Bool)");
    }
    for node in 0..encoding.graph.nodes {
        let _ = writeln!(text, "(declare-fun p{node} () Int)");
    }
    let places = definitions(&mut text, program, encoding);
    for clause in formula.clauses() {
        match clause {
            [only] => assert_that(&mut text, &lit(*only)),
            several => {
                let parts: Vec<String> = several.iter().map(|part| lit(*part)).collect();
                assert_that(&mut text, &format!("(or {})", parts.join(" ")));
            }
        }
    }
    for edge in &encoding.graph.edges {
        let before = format!("(< p{} p{})", edge.from.0, edge.to.0);
        match edge.lit {
            TRUE => assert_that(&mut text, &before),
            lit_of => assert_that(&mut text, &format!("(=> {} {before})", lit(lit_of))),
        }
    }
    assert_that(&mut text, &lit(encoding.target));
    text.push_str("(check-sat)\n");
    (text, places, formula.len() as u64 + encoding.graph.edges.len() as u64 + 1)
}

fn assert_that(text: &mut String, what: &str) {
    let _ = writeln!(text, "(assert {what})");
}

/// Names for what a model says about each access and about what is observed.
fn definitions(text: &mut String, program: &Program, encoding: &Encoding) -> Vec<Place> {
    let mut places = Vec::new();
    for (number, event) in encoding.run.events.iter().enumerate().filter(|(_, event)| !event.ghost && !event.looks) {
        let node = encoding.nodes[number].0;
        let _ = writeln!(text, "(define-fun x{number} () Bool {})", lit(event.guard));
        let value = event.read.as_ref().or(event.write.as_ref().map(|(value, _)| value));
        if let Some(value) = value {
            let _ = writeln!(text, "(define-fun v{number} () Int {})", integer(value));
        }
        places.push(Place { number, node, thread: event.thread, instr: event.instr, what: what(program, event) });
    }
    let mut named = BTreeSet::new();
    for (var, value) in &encoding.asked {
        let name = final_name(program, *var).replace(['|', '\\'], "_");
        if named.insert(name.clone()) {
            let _ = writeln!(text, "(define-fun |final.{name}| () Int {})", integer(value));
        }
    }
    places
}

/// The name under which a variable of final states is observed, or `x`, or `thread.r`.
fn final_name(program: &Program, var: FinalVar) -> String {
    let observed = program.observed.iter().find(|observable| observable.var == var);
    match (observed, var) {
        (Some(observable), _) => observable.name.clone(),
        (None, FinalVar::Loc(loc)) => program.location(loc).name.clone(),
        (None, FinalVar::Reg(thread, register)) => {
            let thread = program.thread(thread);
            format!("{}.{}", thread.name, thread.registers[register.index()].name)
        }
    }
}

/// `loads x`, `stores x or y`.
fn what(program: &Program, event: &Event) -> String {
    let verb = match event.kind {
        AccessKind::Load => "loads",
        AccessKind::Store => "stores",
        AccessKind::Rmw => "updates",
        AccessKind::Mark => return "calls or returns".to_owned(),
    };
    let name = |word: u32| program.location(LocId(word)).name.clone();
    match event.address.words[..] {
        [] => verb.to_owned(),
        [(word, _)] => format!("{verb} {}", name(word)),
        [(first, _), .., (last, _)] => format!("{verb} one of {} to {}", name(first), name(last)),
    }
}

fn lit(lit: Lit) -> String {
    match lit {
        TRUE => "true".to_owned(),
        FALSE => "false".to_owned(),
        lit if lit.is_negative() => format!("(not b{})", lit.var()),
        lit => format!("b{}", lit.var()),
    }
}

/// The number with these bits in two's complement.
fn integer(value: &Value) -> String {
    if let Some(number) = value.single().filter(|_| value.undefined == FALSE) {
        return decimal(number < 0, number.unsigned_abs());
    }
    let last = value.bits.len() - 1;
    let weights = value.bits.iter().enumerate().filter(|(_, bit)| **bit != FALSE);
    let terms = weights.map(|(at, bit)| format!("(ite {} {} 0)", lit(*bit), decimal(at == last, 1 << at)));
    let terms: Vec<String> = terms.collect();
    match &terms[..] {
        [] => "0".to_owned(),
        [only] => only.clone(),
        several => format!("(+ {})", several.join(" ")),
    }
}

fn decimal(negative: bool, number: u128) -> String {
    if negative { format!("(- {number})") } else { number.to_string() }
}
