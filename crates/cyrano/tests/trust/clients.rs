//! Sweeps over clients blame exactly the clients that are wrong.
//!
//! Once a location in a sweep was a register of which nothing was known, so that accesses stayed in order which a client in the source
//! could exchange; clients were counted as if aborted transactions had made all of their calls; a lasso was refused because a
//! name was thought to be taken too early; and a transaction's number read as a record was 0.

use crate::cli::{self, Folder};
use crate::verdicts;

/// Right in the order of the text: one transaction commits what it wrote, and raises a flag before. But `a[i]` and `a[2]` are never one
/// object, whatever i is, so out of order the flag may be seen too early or raised too late.
const FLAG: &str = "algorithm Flag(locs = 2) {
    shared a: AtomicRegister[locs + 1] = 0, g: TryLock;
    txlocal w: Map;
    method read(i) {
        if (i in w) { u := w.get(i); return u; }
        v := a[i].read();
        f := a[2].read();
        if (f != 0) { return aborted; }
        return v;
    }
    method write(i, v) { w.put(i, v); return ok; }
    method commit() {
        got := g.tryLock();
        if (!got) { return aborted; }
        a[2].write(1);
        foreach (i -> v in w) { a[i].write(v); }
        return committed;
    }
}
";

fn violated(source: &str, checks: &str) -> Vec<bool> {
    let (verdicts, _) = verdicts("a.rml", &format!("{source}{checks}"), "");
    verdicts.iter().map(|verdict| verdict == "violated").collect()
}

#[test]
fn sweep_client_and_spelling_agree() {
    let client = |name: &str, first: &str, second: &str| {
        format!(
            "client {name} {{ thread {{ tx {{ s := read({first}); read({second}); commit(); }} }}
                thread {{ tx {{ write(0, 1); write(1, 2); commit(); }} }} }}
            check opacity on inorder, declared, literal;\n"
        )
    };
    let checks = format!(
        "{}{}check opacity for clients threads 2, txns 1, ops 2, locs 2 on inorder, declared, literal;",
        client("P", "0", "1"),
        client("Q", "0", "s * 0 + 1")
    );
    assert_eq!(violated(FLAG, &checks), [[false, true, true]; 3].concat());
}

const ABORTS: &str = "algorithm Bad(locs = 1) {
    shared r: AtomicRegister[locs] = 0, n: AtomicRegister = 0;
    method read(i) { v := r[i].read(); m := n.read(); if (m == 0) { n.write(1); return aborted; } return v; }
    method write(i, v) { r[i].write(v); return aborted; }
    method commit() { return committed; }
}
";

/// The numbers of wrong clients and of all clients.
fn counted(source: &str) -> (u64, u64) {
    let place = Folder::new(&[("a.rml", source)]);
    let report = cli::json(&place.run("check a.rml --format json"));
    let clients = &report["checks"][0]["clients"];
    let number = |name: &str| clients[name].as_str().and_then(|n| n.parse().ok()).expect("a number");
    (number("wrong"), number("total"))
}

#[test]
fn clients_with_aborted_transactions_are_counted() {
    // A write, a read before or after it, and another read at the end, which reads what an aborted transaction wrote.
    let one = format!("{ABORTS}check opacity for clients threads 1, txns 3, ops 1 on inorder;");
    assert_eq!(counted(&one), (2, 8));
    // Two threads: each client on its own is wrong or not.
    let two = format!("{ABORTS}check opacity for clients threads 2, txns 2, ops 1 on inorder;");
    let (wrong, total) = counted(&two);
    assert_eq!(total, 16);
    assert_eq!(wrong, named(ABORTS, 2));
}

/// How many clients of two threads with so many transactions of one operation are wrong, each checked on its own.
fn named(source: &str, txns: u32) -> u64 {
    let mut checks = String::new();
    let all = 1u32 << (2 * txns);
    for number in 0..all {
        let operation = |place: u32| match number >> place & 1 {
            0 => "tx { read(0); commit(); }".to_owned(),
            _ => format!("tx {{ write(0, {}); commit(); }}", place + 1),
        };
        let thread = |first: u32| (first..first + txns).map(operation).collect::<Vec<_>>().join(" ");
        let (one, two) = (thread(0), thread(txns));
        checks += &format!("client C{number} {{ thread {{ {one} }} thread {{ {two} }} }}\ncheck opacity on inorder;\n");
    }
    violated(source, &checks).into_iter().filter(|violated| *violated).count() as u64
}

#[test]
fn an_owner_that_is_never_released_lets_nobody_else_in() {
    let source = "algorithm Owner(locs = 1) {
        shared own: AtomicCASRegister[locs] = 0, r: AtomicRegister[locs] = 0;
        method read(i) { v := r[i].read(); return v; }
        method write(i, v) {
            got := own[i].cas(0, tx);
            o := own[i].read();
            if (o != tx) { return aborted; }
            r[i].write(v);
            return ok;
        }
        method commit() { return committed; }
    }
    check local-progress for clients threads 2, ops 1, locs 1;";
    assert_eq!(violated(source, ""), [true]);
}

#[test]
fn a_transaction_is_no_record() {
    let source = "algorithm Ref(locs = 1) {
        record Loc { f: AtomicRegister }
        shared s: AtomicRegister[locs] = new Loc(5);
        method read(i) { st := s[i].read(); v := st.f.read(); w := OBJECT.f.read(); return v; }
        method write(i, v) { st := new Loc(v); s[i].write(st); return ok; }
        method commit() { return committed; }
    }
    client P { thread { tx { r := read(0); commit(); } } }
    check never (r == 0) on inorder;";
    for (object, what) in [("tx", "the number of a transaction"), ("i", "a location")] {
        let place = Folder::new(&[("a.rml", &source.replace("OBJECT", object))]);
        let done = place.run("check a.rml");
        assert_eq!(done.code, 2, "{}", done.stdout);
        assert!(done.stderr.contains(what), "{}", done.stderr);
    }
    assert_eq!(violated(&source.replace("OBJECT", "st"), ""), [false]);
}
