//! The orders: which labels stay before which in which mode.

use cyrano_ir::ThreadId;

use super::*;
use cyrano_rml::algorithm::{Mode, OrderPair, orders};

/// Whether the accesses of two labels are all in order: `Some(true)`, none: `Some(false)`, or some.
fn ordered(test: &Test, declared: &[OrderPair], mode: Mode, first: &str, second: &str) -> Option<bool> {
    let (order, program) = (test.kept(mode, declared), &test.program);
    let is_access = |at: &cyrano_ir::InstrId| program.instr(ThreadId(0), *at).op.access_kind().is_some();
    let of = |label: &str| -> Vec<_> { test.labelled(label).remove(0).into_iter().filter(is_access).collect() };
    let mut seen = Vec::new();
    for a in of(first) {
        seen.extend(of(second).into_iter().filter(|b| a < *b).map(|b| order.precedes(ThreadId(0), a, b)));
    }
    assert!(!seen.is_empty(), "{first} and {second} have no accesses in the order of the text");
    match (seen.contains(&true), seen.contains(&false)) {
        (true, true) => None,
        (all, _) => Some(all),
    }
}

fn file(body: &str) -> String {
    format!(
        "algorithm A(locs = 2) {{
            record Loc {{ f: AtomicRegister; g: AtomicRegister }}
            shared a: AtomicRegister[4], b: AtomicRegister[4], c: AtomicCASRegister = -1, l: TryLock, k: TryLock,
                   x: BasicRegister of 0..2, y: BasicRegister of 0..2;
            txlocal s: Set[4], m: Map[4];
            {body}
            method write(i, v) {{ x.write(1); y.write(1); return ok; }}
            method commit() {{ return committed; }}
        }}
        client P {{ thread {{ tx {{ r := read(0); }} }} }}"
    )
}

/// The declared orders of a file.
fn pairs(source: &str) -> Vec<OrderPair> {
    orders(source).expect("a right file").declared.into_iter().map(|(pair, _)| pair).collect()
}

/// Checks which of two labels' accesses are in order, as `declared` and `literal` say.
fn check(body: &str, expected: &[(&str, &str, bool, bool)]) {
    let body = if body.contains("method") { body.to_owned() } else { format!("method read(i) {{ {body} return 0; }}") };
    let test = tests(&file(&body)).remove(0);
    let pairs = pairs(&file(&body));
    for (first, second, declared, literal) in expected {
        let found = Mode::ALL.map(|mode| ordered(&test, &pairs, mode, first, second));
        assert_eq!(found, [Some(*declared), Some(*literal)], "{first} < {second} in {body}");
    }
}

#[test]
fn data_and_conditions_are_kept() {
    check(
        "P: u := a[0].read(); Q: b[u].write(1); R: b[3].write(u); S: a[1].write(1);",
        &[("P", "Q", true, true), ("P", "R", true, true), ("P", "S", false, false)],
    );
    check(
        "P: u := a[0].read(); if (u) { Q: b[0].write(1); } else { R: b[1].write(1); } S: b[2].write(1);",
        &[("P", "Q", true, true), ("P", "R", true, true), ("P", "S", false, false), ("Q", "S", false, false)],
    );
}

#[test]
fn a_new_value_ends_a_dependency() {
    check(
        "P: u := a[0].read(); Q: u := a[1].read(); R: b[0].write(u);",
        &[("P", "R", false, false), ("Q", "R", true, true)],
    );
    check("P: u := a[0].read(); w := 1; if (u) { w := 2; } R: b[0].write(w);", &[("P", "R", true, true)]);
}

#[test]
fn early_returns_are_control_in_one_mode() {
    check("P: u := a[0].read(); if (u) { return 1; } Q: b[0].write(1);", &[("P", "Q", true, false)]);
    // What a called method returned early from decides what its caller does only through its result.
    check(
        "method try() { P: u := a[0].read(); if (u) { return 1; } Q: v := a[1].read(); return v; }
        method read(i) { w := try(); R: b[0].write(1); if (w) { S: b[1].write(1); } return 0; }",
        &[("P", "Q", true, false), ("P", "R", false, false), ("P", "S", true, true), ("Q", "S", true, true)],
    );
    // In a called method everything is behind the caller's early returns.
    check(
        "method late() { Q: b[0].write(1); return 0; }
        method read(i) { P: u := a[0].read(); if (u) { return 1; } late(); return 0; }",
        &[("P", "Q", true, false)],
    );
}

#[test]
fn accesses_of_one_object_stay_in_order_in_one_mode() {
    check(
        "P: a[0].write(1); Q: u := a[0].read(); R: v := a[1].read(); S: w := a[i + 1].read();",
        &[("P", "Q", true, false), ("P", "R", false, false), ("R", "S", true, false)],
    );
    check(
        "P: n := c.read(); Q: a[0].write(1); R: w := a[n].read();",
        // Whether n is 0 is for the execution to say.
        &[("P", "Q", false, false), ("Q", "R", false, false)],
    );
}

#[test]
fn locks_keep_what_they_protect_inside() {
    check(
        "P: a[0].write(1); L: g := l.tryLock(); Q: a[1].write(1); U: l.unlock(); R: a[2].write(1);",
        &[
            ("P", "L", false, false),
            ("L", "Q", true, true),
            ("Q", "U", true, true),
            ("P", "U", true, true),
            ("L", "R", true, true),
            ("U", "R", false, false),
            ("Q", "R", false, false),
        ],
    );
}

#[test]
fn orders_pass_through_what_is_not_executed() {
    // Q is executed only if u is 1, and orders P before R all the same.
    check(
        "P: u := a[0].read(); v := 0; if (u == 1) { Q: v := a[1].read(); } R: b[0].write(v);",
        &[("P", "R", true, true), ("Q", "R", true, true)],
    );
    check(
        "method read(i) { P: u := a[0].read(); if (u == 1) { Q: n := c.read(); } R: b[0].write(1); return 0; } order Q < R;",
        &[("P", "R", true, true)],
    );
}

#[test]
fn sets_and_maps_carry_values() {
    check(
        "P: u := a[0].read(); s.add(u); if (1 in s) { Q: b[0].write(1); } R: b[1].write(1);",
        &[("P", "Q", true, true), ("P", "R", false, false)],
    );
    check("P: u := a[0].read(); m.put(0, u); w := m.get(0); Q: b[0].write(w);", &[("P", "Q", true, true)]);
    // Two looks at a set: the second depends on nothing of the first, but stays behind it in one mode.
    check("P: u := a[0].read(); f := u in s; g := 1 in s; if (g) { Q: b[0].write(1); }", &[("P", "Q", true, false)]);
}

#[test]
fn a_reference_is_used_after_its_record_is_written() {
    check(
        "P: st := new Loc(1, 2); Q: ok2 := c.cas(-1, st); R: w := st.f.read(); S: b[0].write(1);",
        &[("P", "Q", true, true), ("P", "R", true, true), ("P", "S", false, false)],
    );
}

#[test]
fn a_basic_register_is_two_steps_in_order() {
    check(
        "P: u := a[0].read(); Q: x.write(u); R: v := y.read(); S: b[0].write(v); T: x.write(1);",
        &[("P", "Q", true, true), ("R", "S", true, true), ("P", "T", true, false), ("Q", "T", true, false)],
    );
    check(
        "P: u := x.read(); Q: v := x.read(); R: w := y.read();",
        &[("P", "Q", true, false), ("P", "R", false, false)],
    );
    let test = tests(&file("method read(i) { P: x.write(1); return 0; }")).remove(0);
    assert_eq!(ordered(&test, &[], Mode::Literal, "P", "P"), Some(true));
}

#[test]
fn declared_orders_hold_in_both_modes() {
    let body = "method inner() { I: a[1].write(1); J: a[2].write(1); return 0; }
        method read(i) { P: a[0].write(1); Q: b[0].write(1); C: inner(); R: b[1].write(1); return 0; }";
    check(
        body,
        &[("P", "Q", false, false), ("P", "I", false, false), ("I", "J", false, false), ("J", "R", false, false)],
    );
    check(&format!("{body} order P < Q;"), &[("P", "Q", true, true), ("P", "R", false, false)]);
    check(
        &format!("{body} order P < C, C < R;"),
        &[("P", "J", true, true), ("I", "R", true, true), ("P", "R", true, true)],
    );
}

#[test]
fn each_pairs_one_iteration() {
    let body = "method read(i) { s.add(0); s.add(1);
        foreach index (z in s) { P: a[z].write(1); Q: b[z].write(1); } R: c.write(1); return 0; }";
    let precedes = |declared: &str| {
        let source = file(&format!("{body} {declared}"));
        ordered(&tests(&source).remove(0), &pairs(&source), Mode::Declared, "P", "Q")
    };
    assert_eq!(precedes(""), Some(false));
    assert_eq!(precedes("order P < Q;"), Some(true));
    assert_eq!(precedes("order each P < Q;"), None);
}

#[test]
fn orders_can_be_replaced() {
    let source = file("method read(i) { P: a[0].write(1); Q: b[0].write(1); return 0; } order P < Q;");
    let test = tests(&source).remove(0);
    let known = orders(&source).expect("a right file");
    let pair = OrderPair { first: "P".into(), second: "Q".into(), each: false };
    assert_eq!(known.declared.iter().map(|(pair, _)| pair.clone()).collect::<Vec<_>>(), std::slice::from_ref(&pair));
    assert_eq!(known.labels.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(), ["P", "Q"]);
    assert_eq!(&source[known.end.range()], "}");
    assert_ne!(test.with_orders(&[]), test.program);
    assert_eq!(ordered(&test, &[], Mode::Declared, "P", "Q"), Some(false));
    assert_eq!(test.with_orders(std::slice::from_ref(&pair)), test.program);
    assert_eq!(test.labels_at(0, test.labelled("Q")[0][0]), ["Q"]);
}

#[test]
fn engines_agree_on_outcomes() {
    let source = "algorithm A(locs = 2) { shared a: AtomicRegister[2], x: BasicRegister of 0..1; txlocal s: Set;
        method read(i) { P: u := a[0].read(); if (u) { return u; } Q: v := a[1].read(); R: w := x.read(); return v * 10 + w; }
        method write(i, v) { W: a[1].write(v); X: a[0].write(2); Y: x.write(1); return ok; }
        method commit() { return committed; } order W < X; }
        client P { thread { tx { r := read(0); } } thread { tx { write(0, 1); } } }";
    let program = tests(source).remove(0).program.without_calls();
    for name in ["inorder", "declared", "literal"] {
        let model = cyrano_memory::named(name).expect("a model");
        let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
        let fast = Explore::default().ask(query, &Limits::default(), &());
        let slow = cyrano_interp::Interp.ask(query, &Limits::default(), &());
        assert_eq!((fast.verdict, slow.verdict), (Verdict::Verified, Verdict::Verified), "{name}");
        assert_eq!(fast.outcomes, slow.outcomes, "{name}");
    }
}
