//! Algorithms over base objects whose objects are words of a machine's memory (`docs/algorithms.md`): in order they are what `inorder` is, under tso, pso
//! and rmo the engines agree, on the library and on random algorithms; and small ones whose verdicts were worked out by hand.

use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Progress, Property, TxCriterion};
use cyrano_rml::algorithm::{Test, tests};
use cyrano_symbolic::Symbolic;

const MACHINES: [&str; 3] = ["tso", "pso", "rmo"];

fn compile(name: &str, source: &str) -> Vec<Test> {
    tests(name, source, &[]).unwrap_or_else(|error| panic!("{name}: {error:?}\n{source}"))
}

/// The program as a machine runs it, with calls for histories.
fn in_words<'t>(test: &'t Test, source: &str) -> &'t Program {
    let words = test.in_words(source, &[]);
    let words = words.unwrap_or_else(|| panic!("{} is not run on machines\n{source}", test.name));
    assert_eq!(cyrano_ir::verify(words), Ok(()), "{}\n{source}", test.name);
    words
}

/// What an engine says can be observed, if it takes the question and comes to an end.
fn outcomes(engine: &dyn Engine, program: &Program, name: &str, work: f64) -> Option<BTreeSet<Vec<i128>>> {
    let model = model(name);
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    engine.supports(&query).ok()?;
    let answer = engine.ask(query, &limits(work, 2), &());
    (answer.verdict == Verdict::Verified).then_some(answer.outcomes)
}

/// Compares words in order with `inorder`, and the engines on machines; how many sets were compared.
fn agree(test: &Test, source: &str, work: f64) -> (usize, usize) {
    let (words, plain) = (in_words(test, source).with_free_calls(), test.program.without_calls());
    let explore = Explore::default();
    let pair = (outcomes(&explore, &plain, "inorder", work), outcomes(&explore, &words, "sc", work));
    let (Some(in_order), Some(sc)) = pair else { return (0, 0) };
    assert_eq!(sc, in_order, "words in order differ from inorder: {}\n{source}", test.name);
    let (mut compared, mut last) = (0, sc);
    for machine in MACHINES {
        let engines: [(&dyn Engine, f64); 3] = [(&explore, work), (&Symbolic::default(), work), (&Interp, work / 4.0)];
        let found: Vec<_> =
            engines.iter().filter_map(|(engine, work)| outcomes(*engine, &words, machine, *work)).collect();
        assert!(found.iter().all(|one| *one == found[0]), "{} under {machine}: {found:?}\n{source}", test.name);
        compared += usize::from(found.len() > 1);
        let Some(set) = found.into_iter().next() else { break };
        assert!(last.is_subset(&set), "{machine} forbids what a stronger model allows\n{source}");
        last = set;
    }
    (1, compared)
}

#[test]
fn the_library_in_order_is_inorder_and_engines_agree_on_machines() {
    let (mut in_order, mut compared) = (0, 0);
    for (name, (_, source)) in corpus::files("tm-objects", "rml") {
        for test in compile(&name, &source).iter().filter(|test| test.clients.is_none()) {
            if test.name.starts_with("endless") {
                continue;
            }
            let (one, several) = agree(test, &source, if pinned::long() { 20.0 } else { 0.2 });
            in_order += one;
            compared += several;
        }
    }
    assert!(in_order >= 15 && compared >= 20, "{in_order} in order, {compared} on machines");
}

/// What histories are wrong in order is the same for words and for base objects, clients of a size included.
#[test]
fn histories_in_order_are_the_same() {
    let mut compared = BTreeSet::new();
    for (name, (_, source)) in corpus::files("tm-objects", "rml") {
        for test in compile(&name, &source).iter().filter(|test| test.program.has_calls()) {
            for criterion in [TxCriterion::Opacity, TxCriterion::StrictSerializability] {
                let property = Property::Transactions(criterion);
                let judge = |program: &Program, under: &str| {
                    let work = limits(if pinned::long() { 30.0 } else { 0.3 }, 2);
                    corpus::judge(&Explore::default(), program, &model(under), &property, &work).verdict
                };
                let pair = (judge(&test.program, "inorder"), judge(in_words(test, &source), "sc"));
                if pair.0 != Verdict::Unknown && pair.1 != Verdict::Unknown {
                    assert_eq!(pair.0, pair.1, "{name}, {}: {property:?}", test.name);
                    compared.insert((name.clone(), test.name.clone(), pair.0.name()));
                }
            }
        }
    }
    let wrong = compared.iter().filter(|(_, _, verdict)| *verdict == "violated").count();
    assert!(wrong >= 4 && compared.len() - wrong >= 4, "{compared:?}");
}

/// Who goes on for ever gets as far with words as with base objects, in order.
#[test]
fn progress_in_order_is_the_same() {
    let mut compared = 0;
    for (name, (_, source)) in corpus::files("tm-objects", "rml") {
        let wanted = pinned::long() || ["mcrt_printed.rml", "norec.rml"].contains(&name.as_str());
        for test in compile(&name, &source).iter().filter(|test| wanted && test.name.starts_with("endless")) {
            let Some(words) = test.in_words(&source, &[]) else { continue };
            for progress in Progress::ALL {
                let judge = |program: &Program, under: &str| {
                    let property = Property::Progress(progress);
                    corpus::judge(&Explore::default(), program, &model(under), &property, &limits(20.0, 2)).verdict
                };
                assert_eq!(judge(words, "sc"), judge(&test.program, "inorder"), "{name}: {progress:?}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn one<'s>(&mut self, of: &[&'s str]) -> &'s str {
        of[self.below(of.len())]
    }

    /// A method of a few statements, the label `MN` in front of each.
    fn method(&mut self, name: &str, label: &str, takes: bool) -> String {
        let mut text = format!("    method {name}({}) {{\n        a := 0; b := 0;\n", if takes { "v" } else { "" });
        let value = |random: &mut Self| random.one(if takes { &["v", "1", "a", "b + 1"] } else { &["1", "2", "a"] });
        let mut held = false;
        for at in 0..2 + self.below(3) {
            let into = self.one(&["a", "b"]);
            let statement = match self.below(9) {
                0 | 1 => format!("{into} := {}.read();", self.one(&["x", "y", "z", "c"])),
                2..5 => format!("{}.write({});", self.one(&["x", "y", "z", "c"]), value(self)),
                5 => format!("{into} := c.cas({}, {});", self.one(&["0", "1", "a"]), value(self)),
                6 => format!("{into} := l.read();"),
                7 if !held => {
                    held = true;
                    format!(
                        "{into} := l.tryLock(); if ({into}) {{ x.write({}); z.write(1); l.unlock(); }}",
                        value(self)
                    )
                }
                _ => format!("if ({into} == {}) {{ y.write({}); }}", self.below(2), value(self)),
            };
            text.push_str(&format!("        {label}{at}: {statement}\n"));
        }
        text + "        return a * 10 + b;\n    }\n"
    }

    fn algorithm(&mut self) -> String {
        let mut text = "algorithm Random() {\n    shared x: AtomicRegister, y: AtomicRegister, z: BasicRegister of 0..1, c: AtomicCASRegister, l: TryLock;\n".to_owned();
        let (first, second) = (self.method("one", "A", true), self.method("two", "B", false));
        text.push_str(&first);
        text.push_str(&second);
        let mut orders = Vec::new();
        for label in ["A", "B"] {
            if self.below(2) == 0 {
                orders.push(format!("{label}0 < {label}1"));
            }
        }
        if !orders.is_empty() {
            text.push_str(&format!("    order {};\n", orders.join(", ")));
        }
        let call = |random: &mut Self, into: &str| match random.below(2) {
            0 => format!("{into} := one({});", 1 + random.below(2)),
            _ => format!("{into} := two();"),
        };
        let (p, q, r) = (call(self, "p"), call(self, "q"), call(self, "r"));
        let third = if self.below(3) == 0 { format!("thread {{ {r} }}") } else { String::new() };
        let more = if third.is_empty() { r } else { String::new() };
        text + &format!(
            "}}\nclient C {{ thread {{ {p} {more} }} thread {{ {q} }} {third} }}\ncheck never (p == q && p == 99);\n"
        )
    }
}

#[test]
fn random_algorithms_in_order_are_inorder_and_engines_agree_on_machines() {
    let rounds = if pinned::long() { 1500 } else { 40 };
    let (mut in_order, mut compared, mut random) = (0, 0, Random(0x5eed));
    for _ in 0..rounds {
        let source = random.algorithm();
        let Ok(made) = tests("random.rml", &source, &[]) else { continue };
        let (one, several) = agree(&made[0], &source, if pinned::long() { 4.0 } else { 0.2 });
        in_order += one;
        compared += several;
    }
    println!("{in_order} in order, {compared} sets on machines");
    assert!(in_order >= rounds / 2 && compared >= rounds, "{in_order} in order, {compared} on machines");
}

/// Which machines let a client come to a bad end.
fn wrong_under(source: &str) -> Vec<&'static str> {
    let test = &compile("hand.rml", source)[0];
    let words = in_words(test, source).with_free_calls();
    let mut wrong = Vec::new();
    for name in ["sc", "tso", "pso", "rmo"] {
        for engine in [&Explore::default() as &dyn Engine, &Symbolic::default(), &Interp] {
            let property = &test.program.checks[0].property;
            let answer = corpus::judge(engine, &words, &model(name), property, &limits(10.0, 2));
            match answer.verdict {
                Verdict::Violated if !wrong.contains(&name) => wrong.push(name),
                Verdict::Violated | Verdict::Verified => {}
                other => panic!("{}: {other:?}, {:?}\n{source}", engine.name(), answer.reason),
            }
            let again = wrong.contains(&name) == (answer.verdict == Verdict::Violated);
            assert!(again, "{} disagrees under {name}\n{source}", engine.name());
        }
    }
    wrong
}

const FLAGS: &str = "algorithm F() { shared x: AtomicRegister, y: AtomicRegister;
    method left() { A: x.write(1); B: v := y.read(); return v; }
    method right() { A2: y.write(1); B2: v := x.read(); return v; }
    ORDER }
client C { thread { p := left(); } thread { q := right(); } }
check never (p == 0 && q == 0);";

const MESSAGE: &str = "algorithm M() { shared x: KIND, f: AtomicRegister;
    method send() { A: x.write(7); B: f.write(1); return ok; }
    method receive() { C: r := f.read(); D: v := x.read(); if (r == 1 && v != 7) { return 0 - 1; } return 1; }
    ORDER }
client C { thread { send(); } thread { r := receive(); } }
check never (r == 0 - 1);";

#[test]
fn plain_words_are_deferred_as_the_machine_does() {
    let flags = |order: &str| wrong_under(&FLAGS.replace("ORDER", order));
    assert_eq!(flags(""), ["tso", "pso", "rmo"]);
    assert_eq!(flags("order A < B;"), ["tso", "pso", "rmo"]);
    assert!(flags("order A < B, A2 < B2;").is_empty());
    for kind in ["AtomicRegister", "BasicRegister"] {
        let message = |order: &str| wrong_under(&MESSAGE.replace("KIND", kind).replace("ORDER", order));
        assert_eq!(message(""), ["pso", "rmo"]);
        assert_eq!(message("order A < B;"), ["rmo"]);
        assert_eq!(message("order C < D;"), ["pso", "rmo"]);
        assert!(message("order A < B, C < D;").is_empty());
    }
}

/// A machine knows no calls: what one call stored may be deferred beyond the next one.
#[test]
fn calls_are_no_fences() {
    let source = "algorithm F() { shared x: AtomicRegister[2];
        method raise() { x[tid].write(1); return ok; }
        method look() { v := x[1 - tid].read(); return v; } }
        client C { thread { raise(); p := look(); } thread { raise(); q := look(); } }
        check never (p == 0 && q == 0);";
    assert_eq!(wrong_under(source), ["tso", "pso", "rmo"]);
}

const GUARDED: &str = "algorithm G() { shared x: AtomicRegister, y: AtomicRegister, l: TryLock;
    method put() { got := l.tryLock(); if (got) { x.write(1); y.write(1); l.unlock(); } return got; }
    method get() { got := l.tryLock(); if (!got) { return 0; } a := y.read(); b := x.read(); l.unlock(); return a * 10 + b; } }
client C { thread { put(); } thread { r := get(); } }
check never (r == 10 || r == 1);";

#[test]
fn locks_keep_what_they_guard() {
    assert!(wrong_under(GUARDED).is_empty());
    let bare = GUARDED
        .replace("got := l.tryLock(); if (!got)", "got := 1; if (!got)")
        .replace("l.unlock(); return a", "return a");
    assert_eq!(wrong_under(&bare), ["sc", "tso", "pso", "rmo"]);
    // A lock of a word and `cas` is released by a store, which pso does not keep behind what was stored before.
    let words = GUARDED.replace("l: TryLock", "l: AtomicCASRegister").replace("l.tryLock()", "l.cas(0, 1)");
    assert_eq!(wrong_under(&words.replace("l.unlock()", "l.write(0)")), ["pso", "rmo"]);
}

/// A read that meets a write returns any value, on machines as in order; also if the write is deferred.
#[test]
fn basic_registers_keep_their_policy() {
    let source = "algorithm B() { shared x: BasicRegister of 0..2;
        method put() { x.write(1); return ok; }
        method get() { v := x.read(); return v; } }
        client C { thread { put(); } thread { r := get(); } }
        check never (r == 2);";
    assert_eq!(wrong_under(source), ["sc", "tso", "pso", "rmo"]);
    assert!(wrong_under(&source.replace("BasicRegister of 0..2", "BasicRegister atomic")).is_empty());
}

/// What is announced before it is filled in is seen empty where stores overtake one another.
#[test]
fn records_are_words_like_others() {
    let source = "algorithm N() { record Box { full: AtomicRegister } shared at: AtomicRegister = 0 - 1;
        method make() { b := new Box(1); A: at.write(b); return ok; }
        method look() { b := at.read(); if (b == 0 - 1) { return 1; } v := b.full.read(); return v; } }
        client C { thread { make(); } thread { r := look(); } }
        check never (r == 0);";
    let Ok(compiled) = tests("new.rml", source, &[]) else { panic!("{:?}", tests("new.rml", source, &[])) };
    let words = in_words(&compiled[0], source).with_free_calls();
    let property = &compiled[0].program.checks[0].property;
    let judge = |engine: &dyn Engine, name: &str| {
        corpus::judge(engine, &words, &model(name), property, &limits(10.0, 2)).verdict
    };
    for name in ["sc", "tso", "pso", "rmo"] {
        let expected = if ["sc", "tso"].contains(&name) { Verdict::Verified } else { Verdict::Violated };
        assert_eq!((judge(&Symbolic::default(), name), judge(&Interp, name)), (expected, expected), "{name}");
    }
    assert_eq!(
        [judge(&Explore::default(), "tso"), judge(&Explore::default(), "pso")],
        [Verdict::Verified, Verdict::Violated]
    );
}

/// What words cannot say is not said: the order of execution, `arbitrary` registers, and names that are used again.
#[test]
fn what_is_more_than_words_is_not_run() {
    let order = FLAGS.replace("ORDER", "").replace("p == 0 && q == 0", "A < B2");
    let test = &compile("order.rml", &order)[0];
    assert!(test.asks_for_order(&test.program.checks[0].property));
    let arbitrary = FLAGS.replace("ORDER", "").replace("x: AtomicRegister", "x: BasicRegister arbitrary of 0..1");
    assert!(compile("arbitrary.rml", &arbitrary)[0].in_words(&arbitrary, &[]).is_none());
    let files = corpus::files("tm-objects", "rml");
    let (_, (_, dstm)) = files.iter().find(|(name, _)| name == "core_dstm.rml").expect("the file");
    let compiled = compile("core_dstm.rml", dstm);
    let endless = compiled.iter().find(|test| test.name.starts_with("endless")).expect("a check of progress");
    assert!(endless.in_words(dstm, &[]).is_none());
}
