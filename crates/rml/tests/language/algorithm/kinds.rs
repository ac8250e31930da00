//! Which clients are interchangeable: what the text says, and what the executions say.

use std::collections::BTreeSet;

use cyrano_engine::values::{Calls, call};
use cyrano_ir::{Interchangeable, Method, TxCriterion};

use super::*;

const VALUES: &str = "threads 2, ops 1..2, values {0, 1, 2}";
const DISTINCT: &str = "threads 2, ops 2";

/// The program of all clients of a size.
fn program(algorithm: &str, size: &str) -> Program {
    let source = format!("{algorithm}\ncheck opacity for clients {size} on inorder;");
    let all = tests(&source).into_iter().find(|test| test.clients.is_some());
    all.expect("a test for all clients").program
}

/// Whether threads, locations and values are interchangeable.
fn found(algorithm: &str, size: &str) -> [bool; 3] {
    let Interchangeable { threads, locations, values } = program(algorithm, size).interchangeable;
    assert!(values.is_empty() || values == [1, 2], "{values:?}");
    [threads, locations, !values.is_empty()]
}

/// A memory without any synchronization, with something more in `read`, `write` and `commit`.
fn memory(read: &str, write: &str, commit: &str) -> String {
    format!(
        "algorithm A(locs = 2) {{
            record Loc {{ who, what: AtomicRegister }}
            record Other {{ where: AtomicRegister }}
            shared r: AtomicRegister[locs],
                   last: AtomicRegister[locs] = 0,
                   state: AtomicRegister[txns + 1] = {{committed, 0 ..}},
                   start: AtomicCASRegister[locs] = new Loc(0, 0),
                   others: AtomicCASRegister[locs] = new Other(-1),
                   n: AtomicRegister,
                   l: TryLock[locs];
            txlocal m: Map, s: Set, mine: Set[txns + 1], few: Set[2], count: int;
            method read(i) {{ v := r[i].read(); {read} return v; }}
            method write(i, v) {{ {write} r[i].write(v); return ok; }}
            method commit() {{ {commit} return committed; }}
        }}"
    )
}

/// Each kind for itself.
const T: [bool; 3] = [false, true, true];
const L: [bool; 3] = [true, false, true];
const V: [bool; 3] = [true, true, false];
const ALL: [bool; 3] = [true, true, true];

/// Statements of `read` or `write` and what they leave interchangeable.
const IN_READ: [(&str, [bool; 3]); 16] = [
    ("", ALL),
    ("last[i].write(tx);", ALL),
    ("o := last[i].read(); last[i].write(tx); if (o == tx || o == 0) { return aborted; }", ALL),
    ("o := last[i].read(); last[i].write(tx); if (o > tx) { return aborted; }", T),
    ("if (tx == 0) { return aborted; }", ALL),
    ("if (tx == 1) { return aborted; }", T),
    ("if (tx < 2) { return aborted; }", T),
    ("t := tx; u := t; if (u) { return aborted; }", T),
    ("n.write(tx + 1);", T),
    ("if (v == 0) { return aborted; }", ALL),
    ("if (v == 1) { return aborted; }", V),
    ("if (v > 1) { return aborted; }", V),
    ("if (v == tx) { return aborted; }", [false, true, false]),
    ("if (v == i) { return aborted; }", [true, false, false]),
    ("w := r[i].read(); if (v != w) { return aborted; }", ALL),
    ("v := 2;", V),
];

const IN_WRITE: [(&str, [bool; 3]); 28] = [
    ("x := i + 1;", L),
    ("x := v + 1;", V),
    ("if (i == 0) { return aborted; }", L),
    ("if (i >= 1) { return aborted; }", L),
    ("r[0].write(v);", L),
    ("r[1].write(0);", L),
    ("if (i == -1) { return aborted; }", ALL),
    ("a := state[tx].read(); b := state[i].read();", [false, false, true]),
    ("a := state[tx].read(); b := state[0].read(); if (a == b) { return aborted; }", ALL),
    ("b := state[1].read(); if (b == 1) { return aborted; } state[tx].write(1);", T),
    ("r[v % 2].write(v);", [true, false, false]),
    ("count := count + 1; if (count == 2) { return aborted; }", ALL),
    ("count := tx;", ALL),
    ("count := i;", L),
    ("m.put(i, v); foreach (k -> x in m) { r[k].write(x); }", ALL),
    ("m.put(i, v); foreach insertion (k -> x in m) { r[k].write(x); }", ALL),
    ("m.put(i, v); foreach index (k -> x in m) { r[k].write(x); }", L),
    ("s.add((i, v)); foreach index ((k, x) in s) { r[k].write(x); }", L),
    ("m.put(0, v); x := m.get(0); if (x == v) { r[i].write(x); }", ALL),
    ("mine.add(tx); if (0 in mine) { return aborted; }", ALL),
    ("few.add(tx);", T),
    ("got := l[i].tryLock(); if (!got) { return aborted; } l[i].unlock();", ALL),
    ("p := new Loc(tx, v); q := start[i].read(); b := start[i].cas(q, p); if (!b) { return aborted; }", ALL),
    ("q := start[i].read(); x := q.what.read(); q.what.write(v); if (x == v) { return aborted; }", ALL),
    ("q := start[i].read(); x := q.what.read(); q.what.write(tx); q.what.write(v);", [false, true, false]),
    // Locations begin with a record each, so they are exchanged together with references.
    ("q := start[i].read(); if (q == 0) { return aborted; }", [false, false, true]),
    ("q := start[i].read(); if (q > 0) { return aborted; }", [false, false, true]),
    ("q := start[i].read(); o := others[i].read(); if (q == o) { return aborted; }", [false, false, true]),
];

/// All of these algorithms.
fn variants() -> Vec<(String, [bool; 3])> {
    let read = IN_READ.iter().map(|(more, expected)| (memory(more, "", ""), *expected));
    let write = IN_WRITE.iter().map(|(more, expected)| (memory("", more, ""), *expected));
    read.chain(write).collect()
}

#[test]
fn each_use_spoils_its_kind() {
    for (source, expected) in variants() {
        assert_eq!(found(&source, VALUES), expected, "{source}");
        // If every write has its own value, the threads' values are exchanged along, and only along.
        let [threads, locations, values] = expected;
        assert_eq!(found(&source, DISTINCT), [threads && values, locations, false], "{source}");
    }
}

#[test]
fn what_methods_pass_and_return_is_followed() {
    let with = |methods: &str, write: &str| {
        let source = memory("", write, "");
        found(&source.replacen("method read", &format!("{methods} method read"), 1), VALUES)
    };
    let same = "method same(x) { return x; }";
    assert_eq!(with(same, "j := same(i); r[j].write(v);"), ALL);
    assert_eq!(with(same, "j := same(i); k := j * 2;"), L);
    assert_eq!(with(same, "j := same(tx); k := j == 1;"), T);
    assert_eq!(with("method next(x) { return x + 1; }", "j := next(v);"), V);
    assert_eq!(with("method less(x) { return x < tx; }", "o := last[i].read(); last[i].write(tx); b := less(o);"), T);
    // One class for all calls.
    assert_eq!(with(same, "j := same(i); t := same(tx);"), [false, false, true]);
    // What `write` returns is no location.
    assert_eq!(found(&memory("", "", "").replace("return ok", "return i"), VALUES), L);
    assert_eq!(found(&memory("", "", "t := tx; if (t == 0) { return t; }"), VALUES), T);
}

#[test]
fn what_memory_begins_with_counts() {
    let used = memory("a := last[i].read(); b := state[tx].read();", "", "");
    assert_eq!(found(&used, VALUES), ALL);
    for (from, to, expected) in [
        ("last: AtomicRegister[locs] = 0", "last: AtomicRegister[locs] = {1, 0}", L),
        ("last: AtomicRegister[locs] = 0", "last: AtomicRegister[locs] = {1 ..}", ALL),
        ("last: AtomicRegister[locs] = 0", "last: AtomicRegister[1] = 0", L),
        ("last: AtomicRegister[locs] = 0", "last: AtomicRegister[locs + 1] = {0, 0, 1}", ALL),
        ("[txns + 1] = {committed, 0 ..}", "[3] = {committed, 0, 1}", T),
        ("state: AtomicRegister[txns + 1] = {committed, 0 ..}", "state: AtomicRegister[2]", T),
        ("r: AtomicRegister[locs]", "r: BasicRegister[locs] of 0..2", ALL),
        ("r: AtomicRegister[locs]", "r: BasicRegister[locs]", ALL),
        ("r: AtomicRegister[locs]", "r: BasicRegister[locs] arbitrary", ALL),
        ("r: AtomicRegister[locs]", "r: BasicRegister[locs] of 0..1", V),
        ("r: AtomicRegister[locs]", "r: AtomicRegister[locs] = 1", V),
    ] {
        let changed = used.replace(from, to);
        assert_ne!(changed, used, "{from}");
        assert_eq!(found(&changed, VALUES), expected, "{to}");
    }
    // A register with locations, which a read that meets a write may return.
    let index = |domain: &str| {
        let source = memory("k := n.read(); if (k == i) { return aborted; } n.write(i);", "", "");
        found(&source.replace("n: AtomicRegister", &format!("n: BasicRegister of {domain} = -1")), VALUES)
    };
    assert_eq!([index("-1..1"), index("0..7"), index("-1..0"), index("1..5")], [ALL, ALL, L, L]);
}

#[test]
fn the_library() {
    // TL2 and NOrec go through their sets in ascending order; their clocks are plain numbers.
    for (name, locations) in [
        ("core_mcrt", true),
        ("core_mcrt_fixed", true),
        ("core_mcrt_repaired", true),
        ("mcrt_printed", true),
        ("core_dstm", true),
        ("core_dstm_fixed", true),
        ("tl2", false),
        ("norec", false),
    ] {
        let source = library(name);
        assert_eq!(found(&source, DISTINCT), [true, locations, false], "{name}");
        assert_eq!(found(&source, VALUES), [true, locations, true], "{name}");
        let any = source.replace("foreach index", "foreach");
        assert_eq!(found(&any, VALUES), ALL, "{name}");
        for test in tests(&source).iter().filter(|test| test.clients.is_none()) {
            assert_eq!(test.program.interchangeable, Interchangeable::default(), "{name}, {}", test.name);
        }
    }
}

fn library(name: &str) -> String {
    let path = format!("{}/../../library/tm-objects/{name}.rml", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("a file");
    // Other checks about all clients would only take time, and a changed algorithm need not be fit for those about progress.
    let about_all = |line: &&str| line.starts_with("check ") && line.contains("for clients");
    let checks = source.lines().filter(|line| !about_all(line));
    checks.collect::<Vec<_>>().join("\n")
}

type Clients = BTreeSet<Calls>;

/// The clients that go wrong, found without using that some are interchangeable.
fn wrong(program: &Program) -> Clients {
    explored(&Program { interchangeable: Interchangeable::default(), ..program.clone() })
}

/// The clients that go wrong; of those that are interchangeable one at least.
fn explored(program: &Program) -> Clients {
    let property = Property::Transactions(TxCriterion::Opacity);
    let model = cyrano_memory::named("inorder").expect("a model");
    let explore =
        Explore { client_programs: true, thread_symmetry: false, variable_symmetry: false, ..Explore::default() };
    let limits = Limits::default().with_looks(30_000);
    let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
    let answer = explore.ask(query, &limits, &());
    assert_ne!(answer.verdict, Verdict::Unknown, "{:?}", answer.reason);
    answer.clients
}

/// The same clients by other names. `value` says what becomes of a value.
fn renamed(clients: &Clients, location: impl Fn(i128) -> i128, value: impl Fn(i128) -> i128) -> Clients {
    let mut table = vec![(call(Method::Commit, &[]), call(Method::Commit, &[]))];
    for at in 0..2 {
        table.push((call(Method::Read, &[at]), call(Method::Read, &[location(at)])));
        let written = (0..=4).map(|written| ([at, written], [location(at), value(written)]));
        table.extend(written.map(|(from, to)| (call(Method::Write, &from), call(Method::Write, &to))));
    }
    let mut clients: Vec<Calls> = clients.iter().cloned().collect();
    for call in clients.iter_mut().flatten().flatten().flatten() {
        *call = table.iter().find(|(from, _)| from == call).expect("a call of these clients").1;
    }
    clients.into_iter().collect()
}

/// The clients with two threads, two locations and the values 1 and 2 exchanged. Where every write has its own value, a thread has so
/// many of them.
fn exchanged(clients: &Clients, own: Option<i128>) -> [Clients; 3] {
    let swapped: Clients = clients.iter().map(|client| client.iter().rev().cloned().collect()).collect();
    let along = |value: i128| match own {
        Some(own) if value > own => value - own,
        Some(own) => value + own,
        None => value,
    };
    let other = |value: i128| if value == 0 { 0 } else { 3 - value };
    [
        renamed(&swapped, |at| at, along),
        renamed(clients, |at| 1 - at, |value| value),
        match own {
            Some(_) => clients.clone(),
            None => renamed(clients, |at| at, other),
        },
    ]
}

/// What is said to be interchangeable is, and the wrong clients that are left out follow from those that are not.
/// Says for each of the three whether exchanging it makes wrong clients right ones.
fn agrees(source: &str, size: &str, own: Option<i128>) -> [bool; 3] {
    let program = program(source, size);
    let clients = wrong(&program);
    let Interchangeable { threads, locations, values } = &program.interchangeable;
    let said = [*threads, *locations, !values.is_empty()];
    let differs = exchanged(&clients, own).map(|exchanged| exchanged != clients);
    let mut followed = explored(&program);
    for (position, said) in said.into_iter().enumerate() {
        assert!(!said || !differs[position], "{source}");
        if said {
            followed.extend(exchanged(&followed, own)[position].clone());
        }
    }
    assert_eq!(followed, clients, "{source}");
    differs
}

#[test]
fn what_is_said_to_be_interchangeable_is() {
    let mut not = [0; 3];
    for (source, _) in variants() {
        agrees(&source, "threads 2, ops 1..2", Some(2));
        let found = agrees(&source, "threads 2, ops 1..2, values {0, 1, 2}", None);
        not.iter_mut().zip(found).for_each(|(count, not)| *count += usize::from(not));
    }
    // The question is not idle: some of these algorithms do tell names apart.
    assert!(not.iter().all(|count| *count >= 3), "{not:?}");
}

#[test]
fn wrong_clients_come_in_all_names() {
    let source = library("core_mcrt");
    let program = program(&source, DISTINCT);
    let clients = wrong(&program);
    assert!(clients.len() > 10, "{}", clients.len());
    assert_eq!(program.interchangeable, Interchangeable { threads: true, locations: true, values: Vec::new() });
    assert_eq!(agrees(&source, DISTINCT, Some(2)), [false; 3]);
    assert_eq!(agrees(&source, VALUES, None), [false; 3]);
    // References are renamed as well.
    assert_eq!(agrees(&library("core_dstm"), DISTINCT, Some(2)), [false; 3]);

    // Only the first transaction forgets to lock: then it matters who writes.
    let lopsided = source.replace("if (!locked) {", "if (!locked && tx == 2) {");
    assert_ne!(lopsided, source);
    assert!(agrees(&lopsided, DISTINCT, Some(2))[0]);
    // Only one location is not rolled back.
    let lopsided = source.replace("A03: r[i].write(v);", "A03: if (i == 0) { r[i].write(v); }");
    assert_ne!(lopsided, source);
    assert!(agrees(&lopsided, DISTINCT, Some(2))[1]);
}

/// Who knows the number of its thread tells threads apart; initial values that differ tell locations apart, and no value is exchanged with
/// an initial or a negative one.
#[test]
fn threads_initial_and_negative_values_are_told_apart() {
    let numbered = memory("n.write(tid);", "", "");
    assert_eq!(found(&numbered, VALUES), [false, true, true]);
    let begins = |init: &str| {
        let source = memory("", "", "").replace("shared r", &format!("initially {init}; shared r"));
        program(&source, "threads 2, ops 1, values {-2, 0, 1, 2, 3}").interchangeable
    };
    assert_eq!(begins("0").values, [1, 2, 3]);
    assert_eq!((begins("3").values, begins("3").locations), (vec![1, 2], true));
    assert_eq!((begins("{0, 3}").values, begins("{0, 3}").locations), (vec![1, 2], false));
}
