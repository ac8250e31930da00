//! What statements do, seen in the results of small clients.

use cyrano_ir::{Op, Property, reply};

use super::*;

/// An algorithm whose `read(0)` runs some statements, and a client that reads once.
fn check(declarations: &str, read: &str, expected: &[i128]) {
    let source = format!(
        "algorithm A(locs = 2) {{
            {declarations}
            method read(i) {{ {read} }}
            method write(i, v) {{ return ok; }}
            method commit() {{ return committed; }}
        }}
        client P {{ thread {{ tx {{ r := read(0); }} }} }}"
    );
    let found: Vec<i128> = outcomes(&tests(&source)[0]).into_iter().map(|outcome| outcome[0]).collect();
    assert_eq!(found, expected, "{read}");
}

/// The outcomes of a client's threads, one transaction each, for an algorithm with one register `r` and a lock `l`.
fn check_client(register: &str, methods: &str, threads: &[&str], expected: &[&[i128]]) {
    let threads: String = threads.iter().map(|calls| format!("thread {{ tx {{ {calls} }} }} ")).collect();
    let source = format!(
        "algorithm A(locs = 1) {{ shared r: {register} = 0, l: TryLock, c: AtomicCASRegister; txlocal n: int;
            method commit() {{ return committed; }}
            {methods}
        }}
        client P {{ {threads} }}"
    );
    assert_eq!(outcomes(&tests(&source)[0]), expected, "{register} {methods}");
}

const PLAIN: &str = "method read(i) { v := r.read(); return v; } method write(i, v) { r.write(v); return ok; }";

#[test]
fn loops_go_in_the_order_that_is_asked_for() {
    let code = |order: &str| {
        format!(
            "code := 0; s.add(1); s.add(0); s.add(1); foreach {order} (x in s) {{ code := code * 10 + x + 1; }} return code;"
        )
    };
    check("txlocal s: Set;", &code(""), &[12, 21]);
    check("txlocal s: Set;", &code("any"), &[12, 21]);
    check("txlocal s: Set;", &code("insertion"), &[21]);
    check("txlocal s: Set;", &code("index"), &[12]);
    let three = "code := 0; s.add(2); s.add(0); s.add(1); foreach (x in s) { code := code * 10 + x + 1; } return code;";
    check("txlocal s: Set[3];", three, &[123, 132, 213, 231, 312, 321]);
}

#[test]
fn an_unknown_key_is_found_again() {
    let keys = "k := c.read(); s.add(k); s.add(1 - k); code := 0; foreach (x in s) { code := code * 10 + x + 1; } return code;";
    check("shared c: AtomicRegister = 1; txlocal s: Set;", keys, &[12, 21]);
    let one = "k := c.read(); s.add(k); code := 0; foreach (x in s) { code := code * 10 + x + 1; } return code;";
    check("shared c: AtomicRegister = 1; txlocal s: Set;", one, &[2]);
}

#[test]
fn maps_keep_the_last_value() {
    let body = "m.put(0, 3); m.put(1, 4); m.put(0, 5); a := m.get(0); b := m.get(1); return a * 10 + b;";
    check("txlocal m: Map;", body, &[54]);
    let body =
        "m.put(1, 4); sum := 0; foreach index (k -> v in m) { sum := sum + 10 * k + v; } return sum + 100 * (0 in m);";
    check("txlocal m: Map;", body, &[14]);
    let body = "m.put(1, 4); m.put(0, 2); m.put(1, 5); code := 0;
        foreach insertion (k -> v in m) { code := code * 10 + v; } return code;";
    check("txlocal m: Map;", body, &[52]);
}

#[test]
fn sets_of_pairs_hold_each_pair_once() {
    let body = "s.add((0, 1)); s.add((0, 2)); s.add((0, 1)); s.add((1, 1)); n := 0;
        foreach ((a, b) in s) { n := n + 100 + 10 * a + b; } return n;";
    check("txlocal s: Set;", body, &[314]);
    check("txlocal s: Set;", "s.add((0, 2)); return ((0, 2) in s) * 4 + ((0, 1) in s) * 2 + ((1, 2) in s);", &[4]);
    let ordered = "s.add((1, 7)); s.add((0, 5)); code := 0; foreach insertion ((a, b) in s) { code := code * 10 + b; } return code;";
    check("txlocal s: Set;", ordered, &[75]);
}

#[test]
fn a_loop_goes_over_what_was_there_when_it_began() {
    let body = "s.add(0); n := 0; foreach (x in s) { s.add(1); n := n + 1; } return n * 10 + (1 in s);";
    check("txlocal s: Set;", body, &[11]);
    let body = "s.add((0, 0)); n := 0; foreach ((a, b) in s) { s.add((0, b + 1)); n := n + 1; }
        foreach ((a, b) in s) { s.add((1, b)); n := n + 1; } foreach ((a, b) in s) { n := n + 1; } return n;";
    check("txlocal s: Set;", body, &[7]);
}

#[test]
fn returns_leave_loops_and_methods() {
    check(
        "txlocal s: Set;",
        "s.add(0); s.add(1); foreach index (x in s) { if (x == 1) { return 7; } } return 8;",
        &[7],
    );
    let methods = "method half(n) { if (n > 4) return n / 2; return n; }
        method twice(n) { a := half(n); b := half(a); return b; }";
    check(methods, "v := twice(18); w := half(3); return v * 10 + w;", &[43]);
    let chain = "if (tx == 2) { return 1; } else if (tx == 1) { return 2; } else { return 3; }";
    check("", chain, &[2]);
}

#[test]
fn base_objects_do_what_they_are_for() {
    let objects = "shared a: AtomicRegister[2] = {5, 6}, c: AtomicCASRegister = 3, l: TryLock, k: Lock;";
    check(objects, "x := a[1].read(); a[0].write(x + 1); y := a[0].read(); return y;", &[7]);
    check(objects, "b := c.cas(3, 9); d := c.cas(3, 8); x := c.read(); return x * 100 + b * 10 + d;", &[910]);
    let locks = "p := l.tryLock(); q := l.tryLock(); h := l.read(); l.unlock(); n := l.read();
        return p * 1000 + q * 100 + h * 10 + n;";
    check(objects, locks, &[1010]);
    check(objects, "k.lock(); h := k.read(); k.unlock(); n := k.read(); return h * 10 + n;", &[10]);
    check("shared a: AtomicRegister[4] = {7, 5 ..};", "x := a[0].read(); y := a[3].read(); return x * 10 + y;", &[75]);
}

#[test]
fn records_are_new_at_each_place() {
    let objects =
        "record Loc { w: AtomicRegister; o, n: BasicRegister } shared s: AtomicCASRegister[2] = new Loc(1, 2, 3);";
    let body = "old := s[1].read(); fresh := new Loc(4, 5, 6); b := s[1].cas(old, fresh); st := s[1].read();
        x := st.n.read(); y := old.w.read(); st.o.write(9); z := st.o.read(); u := old.o.read();
        return b * 10000 + x * 1000 + y * 100 + z * 10 + u;";
    check(objects, body, &[16192]);
    let twice = "method make(n) { st := new Loc(n, 0, 0); return st; }";
    let body = "a := make(1); b := make(2); x := a.w.read(); y := b.w.read(); return x * 10 + y;";
    check(&format!("{objects} {twice}"), body, &[12]);
}

#[test]
fn a_basic_register_returns_anything_while_it_is_written() {
    let client = ["a := write(0, 1);", "b := read(0);"];
    let ok = reply::OK;
    let all: &[&[i128]] = &[&[ok, 0], &[ok, 1], &[ok, 2], &[ok, 3]];
    check_client("BasicRegister atomic", PLAIN, &client, &all[..2]);
    // 2 stands for whatever nobody writes.
    check_client("BasicRegister", PLAIN, &client, &all[..3]);
    check_client("BasicRegister of 0..3", PLAIN, &client, all);
    check_client("BasicRegister arbitrary of 0..3", PLAIN, &client, all);
}

#[test]
fn overlapping_writes_leave_what_the_policy_says() {
    // The second thread reads after its own write, while no other write is under way unless it overlaps.
    let methods = "method read(i) { d := c.read(); v := r.read(); return v * 10 + d; }
        method write(i, v) { r.write(v); n := c.read(); c.cas(n, n + 1); return ok; }";
    let after_both = |register: &str| -> Vec<i128> {
        let source = format!(
            "algorithm A(locs = 1) {{ shared r: {register} = 0, c: AtomicCASRegister; txlocal n: int;
                method commit() {{ return committed; }} {methods} }}
            client P {{ thread {{ tx {{ write(0, 1); }} }} thread {{ tx {{ write(0, 2); x := read(0); }} }} }}"
        );
        let found = outcomes(&tests(&source)[0]);
        found.into_iter().map(|outcome| outcome[0]).filter(|x| x % 10 == 2).map(|x| x / 10).collect()
    };
    assert_eq!(after_both("BasicRegister atomic"), [1, 2]);
    assert_eq!(after_both("BasicRegister of 0..3"), [1, 2]);
    assert_eq!(after_both("BasicRegister arbitrary of 0..3"), [0, 1, 2, 3]);
}

#[test]
fn helpers_are_clean_in_the_end() {
    for policy in ["any", "arbitrary"] {
        let source = format!(
            "algorithm A(locs = 1) {{ shared r: BasicRegister {policy} of 0..2 = 0;
                method commit() {{ return committed; }} {PLAIN} }}
            client P {{ thread {{ tx {{ write(0, 1); x := read(0); }} }} thread {{ tx {{ write(0, 2); y := read(0); }} }} }}"
        );
        let mut test = tests(&source).remove(0);
        let helpers = test.program.locations.iter().enumerate().filter(|(_, location)| location.name.contains('.'));
        let helpers: Vec<_> = helpers.map(|(at, _)| at).collect();
        assert_eq!(helpers.len(), if policy == "any" { 1 } else { 2 });
        test.program.observed = helpers
            .into_iter()
            .map(|at| cyrano_ir::Observable {
                name: format!("h{at}"),
                var: cyrano_ir::FinalVar::Loc(cyrano_ir::LocId::new(at)),
            })
            .collect();
        assert_eq!(outcomes(&test), [vec![0; test.program.observed.len()]]);
    }
}

#[test]
fn a_register_that_only_new_writes_has_no_helpers() {
    let source = "algorithm A(locs = 1) { record L { a, b: BasicRegister } shared s: AtomicCASRegister = new L(1, 2);
        method read(i) { st := s.read(); v := st.a.read(); return v; }
        method write(i, v) { st := s.read(); st.b.write(v); return ok; }
        method commit() { return committed; } }
        client P { thread { tx { write(0, 3); x := read(0); } } }";
    let names: Vec<_> = tests(source)[0].program.locations.iter().map(|location| location.name.clone()).collect();
    assert!(names.iter().any(|name| name.starts_with("L.b.writers")), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("L.a.")), "{names:?}");
}

#[test]
fn an_abort_skips_the_rest_and_a_retry_runs_it_again() {
    // The first transaction to read is aborted.
    let methods = "method read(i) { b := c.cas(0, 1); if (b) { return aborted; } return tx; }
        method write(i, v) { n := n + 1; return ok; }";
    let (no, gone) = (reply::NOTHING, reply::ABORTED);
    check_client("BasicRegister", methods, &["a := read(0); b := write(0, 1); c := commit();"], &[&[gone, no, no]]);
    let source = |retry: &str| {
        format!(
            "algorithm A(locs = 1) {{ shared c: AtomicCASRegister; txlocal n: int = 5;
                method read(i) {{ n := n + 1; b := c.cas(0, 1); if (b) {{ return aborted; }} return tx * 10 + n; }}
                method write(i, v) {{ return ok; }} method commit() {{ return committed; }} }}
            client P {{ thread {{ tx {retry} {{ a := read(0); c := commit(); }} tx {{ d := read(0); }} }} }}"
        )
    };
    let done = reply::COMMITTED;
    assert_eq!(outcomes(&tests(&source(""))[0]), [[gone, no, 26]]);
    assert_eq!(outcomes(&tests(&source("retry 1"))[0]), [[26, done, 36]]);
    assert_eq!(outcomes(&tests(&source("retry 2"))[0]), [[26, done, 46]]);
}

#[test]
fn a_lock_waits_and_unlocking_a_free_one_fails() {
    let methods = "method read(i) { l.lock(); v := r.read(); r.write(v + 1); l.unlock(); return v; }
        method write(i, v) { r.write(0); return ok; }";
    check_client("BasicRegister of 0..3", methods, &["a := read(0);", "b := read(0);"], &[&[0, 1], &[1, 0]]);
    let source = "algorithm A(locs = 1) { shared l: Lock; method read(i) { l.unlock(); return 0; }
        method write(i, v) { return ok; } method commit() { return committed; } }
        client P { thread { tx { read(0); } } } check assertions on inorder;";
    assert_eq!(verdicts(&tests(source)[0])[0].2, Verdict::Violated);
}

#[test]
fn calls_are_operations_with_a_history() {
    let source = "algorithm A(locs = 2) { shared r: AtomicRegister[locs];
        method read(i) { v := r[i].read(); return v; } method write(i, v) { r[i].write(v); return ok; }
        method commit() { return committed; } }
        client P { thread { tx { a := read(1); write(0, a + 1); c := commit(); } } }";
    let program = &tests(source)[0].program;
    let shown = program.threads[0].code.iter().filter_map(|instr| match &instr.op {
        Op::OperationBegin(name) => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["read(1)", "write", "commit()"]);
    assert!(program.has_calls());
    let forward = |(at, instr): (usize, &cyrano_ir::Instr)| {
        cyrano_ir::dataflow::successors(&instr.op, cyrano_ir::InstrId::new(at)).all(|next| next.index() > at)
    };
    assert!(program.threads[0].code.iter().enumerate().all(forward));
    let serializable = Property::Transactions(cyrano_ir::TxCriterion::Serializability);
    let answer = ask(program, "inorder", Question::Holds(&serializable));
    assert_eq!(answer.verdict, Verdict::Verified);
}

/// A memory without synchronization that begins with 3, and how often a thread has read.
const BEGINS: &str = "algorithm A(locs = 2) { shared r: AtomicRegister[locs] = 3; initially 3; threadlocal n: int = 0;
    method read(i) { n := n + 1; v := r[i].read(); return v; }
    method write(i, v) { r[i].write(v * 10 + n + tid); return ok; }
    method commit() { return committed; } }";

#[test]
fn clients_decide_by_results() {
    let client = "client P { thread { tx { a := read(0); if (a == 3) { write(0, -1); } else { write(0, 1); } c := commit(); }
        if (c == committed && a != 3) { tx { d := read(1); commit(); } } else { tx { e := read(0); f := commit(); } } } }";
    let source = format!("{BEGINS} {client} check never (e == 0);");
    let (c, nothing) = (cyrano_ir::reply::COMMITTED, cyrano_ir::reply::NOTHING);
    // -1 * 10, one read, thread 0.
    assert_eq!(outcomes(&tests(&source)[0]), [[3, c, nothing, -9, c]]);
}

/// A thread's variable survives a transaction, and threads have numbers.
#[test]
fn threads_keep_what_is_theirs() {
    let client = "client P { thread { tx { read(0); commit(); } tx { read(0); write(0, 1); commit(); } }
        thread { tx { write(1, 1); commit(); } } } check never (1 == 0);
        client Q { thread { tx { a := read(0); b := read(1); commit(); } } } check never (a != 3 || b != 3);";
    let tests = tests(&format!("{BEGINS} {client}"));
    let written = |program: &Program| {
        let memory = program.locations.iter().map(|location| location.init).collect::<Vec<_>>();
        let (first, second) = (12, 11);
        let cond = cyrano_ir::Expr::Var(cyrano_ir::FinalVar::Loc(cyrano_ir::LocId(0)));
        let is = |cond, value| cyrano_ir::Expr::binary(cyrano_ir::BinOp::Eq, cond, cyrano_ir::Expr::Const(value));
        let other = cyrano_ir::Expr::Var(cyrano_ir::FinalVar::Loc(cyrano_ir::LocId(1)));
        let both = cyrano_ir::Expr::binary(cyrano_ir::BinOp::And, is(cond, first), is(other, second));
        assert_eq!(memory[..2], [3, 3]);
        Property::Final { quantifier: cyrano_ir::Quantifier::Always, cond: both, text: String::new() }
    };
    let property = written(&tests[0].program);
    assert_eq!(ask(&tests[0].program, "inorder", Question::Holds(&property)).verdict, Verdict::Verified);
    assert_eq!(verdicts(&tests[1])[0].2, Verdict::Verified);
}

/// What is read before anything is written is the initial value, and nothing else is opaque.
#[test]
fn histories_begin_with_initial_values() {
    let opaque = |initially: &str| {
        let algorithm = BEGINS.replace("initially 3;", initially).replace("v * 10 + n + tid", "v");
        let client = "client P { thread { tx { a := read(0); commit(); } } thread { tx { write(1, -7); commit(); } } }";
        verdicts(&tests(&format!("{algorithm} {client} check opacity on inorder;"))[0])[0].2
    };
    assert_eq!(opaque("initially 3;"), Verdict::Verified);
    assert_eq!(opaque("initially {3, 3};"), Verdict::Verified);
    assert_eq!(opaque("initially {0, 3};"), Verdict::Violated);
    assert_eq!(opaque(""), Verdict::Violated);
}
