//! The proofs of P2 and P3 on the text of a memory against the explorer: what is proven for every size holds at small ones, also of mutants.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Property, Structure};
use cyrano_rml::parametric::{Proofs, prove};

/// What the explorer says of a property at a size.
fn asked(source: &str, name: &str, structure: Structure, (threads, vars): (i128, i128), work: f64) -> Verdict {
    let set = [("threads".to_owned(), threads), ("vars".to_owned(), vars)];
    let program = cyrano_rml::compile(source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let (model, property) = (model("sc"), Property::Structure(structure));
    let query = Query::new(&program, &model, Question::Holds(&property)).expect("a question");
    Explore::default().ask(query, &limits(work, 1), &()).verdict
}

/// The sizes at which a property is asked for, the cheap ones first; the last ones in long runs only.
const RENAMED: [(Structure, (i128, i128)); 3] =
    [(Structure::ThreadSymmetry, (2, 1)), (Structure::SequentialRenaming, (3, 1)), (Structure::ThreadSymmetry, (2, 2))];
const PROJECTED: [(Structure, (i128, i128)); 2] =
    [(Structure::SettledProjection, (2, 2)), (Structure::SettledProjection, (2, 3))];

/// Asks for what is proven; how many questions were answered.
fn confirmed(name: &str, source: &str, Proofs { renaming, projection }: &Proofs) -> usize {
    let mut answered = 0;
    for (proven, sizes) in [(renaming.is_ok(), &RENAMED[..]), (projection.is_ok(), &PROJECTED)] {
        let sizes = if pinned::long() { sizes } else { &sizes[..sizes.len() - 1] };
        for (structure, size) in sizes.iter().filter(|_| proven) {
            let verdict = asked(source, name, *structure, *size, if pinned::long() { 4.0 } else { WORK });
            println!("{name}: {} at {size:?}: {}", structure.name(), verdict.name());
            assert_ne!(verdict, Verdict::Violated, "{name}: {} at {size:?} is proven for every size", structure.name());
            answered += usize::from(verdict != Verdict::Unknown);
        }
    }
    answered
}

/// How much is looked at for one answer.
const WORK: f64 = 0.05;

fn library() -> Vec<(String, String)> {
    corpus::in_folder("stm").into_iter().map(|(name, entry)| (name, entry.source)).collect()
}

#[test]
fn what_is_proven_of_the_library_holds_at_small_sizes() {
    let (mut proven, mut answered) = (Vec::new(), 0);
    for (name, source) in library() {
        let Some(proofs) = prove(&source, &[]) else { continue };
        println!("{name}: P2 {:?}, P3 {:?}", proofs.renaming, proofs.projection);
        proven.push((name.clone(), proofs.renaming.is_ok(), proofs.projection.is_ok()));
        answered += confirmed(&name, &source, &proofs);
    }
    let of = |name: &str| proven.iter().find(|(found, ..)| found == name).map(|(_, p2, p3)| (*p2, *p3));
    assert_eq!(of("mcrt"), Some((true, true)));
    assert_eq!(of("tl2"), Some((true, true)));
    assert_eq!(of("tl2_pso"), Some((true, true)));
    assert_eq!(of("global_lock"), Some((true, true)));
    // A status belongs to a thread and is about all variables of its transaction.
    assert_eq!(of("dstm"), Some((false, false)));
    println!("{answered} answers");
    assert!(answered >= 10, "{answered}");
}

/// A memory of the library, what of it is replaced by what, and the property that a mutant lacks, with a size that shows it, or none if that is not known.
type Mutant = (&'static str, &'static [(&'static str, &'static str)], Option<(Structure, (i128, i128))>);

const P2: Structure = Structure::ThreadSymmetry;
const P3: Structure = Structure::SettledProjection;

/// Each with a change that a careless proof would not notice.
const MUTANTS: &[Mutant] = &[
    // Locals that stay from one transaction to the next.
    (
        "global_lock",
        &[
            ("held, l, d;", "held, l, d, n;"),
            ("        if held == 0 {\n", "        assume(n != 1);\n        if held == 0 {\n"),
            ("            held := 0;\n", "            held := 0;\n            n := 1;\n"),
        ],
        Some((P2, (2, 1))),
    ),
    (
        "mcrt",
        &[
            ("l, m, d;", "l, m, d, n;"),
            ("        commit;", "        n := 1;\n        commit;"),
            ("        g[v] := value;", "        assume(n == 0);\n        g[v] := value;"),
        ],
        Some((P2, (2, 1))),
    ),
    // An abort that no history shows leaves its mark, and so does the commit behind it.
    (
        "global_lock",
        &[
            ("held, l, d;", "held, l, d, n;"),
            (
                "        if held == 0 {\n",
                "        if n == 0 { n := 1; abort; }\n        assume(n == 1);\n        if held == 0 {\n",
            ),
            ("            held := 0;\n", "            held := 0;\n            n := 2;\n"),
        ],
        Some((P2, (2, 1))),
    ),
    // The number of a thread decides.
    ("global_lock", &[("cas(lock, 0, 1)", "cas(lock, self, 1)"), ("lock := 0;", "lock := 1 - self;")], None),
    (
        "global_lock",
        &[("        g[v] := value;", "        assume(self == 0);\n        g[v] := value;")],
        Some((P2, (2, 1))),
    ),
    (
        "global_lock",
        &[("        g[v] := value;", "        assume(self < 1);\n        g[v] := value;")],
        Some((P2, (2, 1))),
    ),
    (
        "mcrt",
        &[("        g[v] := value;", "        l := owner[v];\n        assume(l == 0 - 1);\n        g[v] := value;")],
        Some((P2, (2, 1))),
    ),
    (
        "tl2",
        &[
            (
                "        foreach u in 0..vars-1 {\n                if ws[u] == 2 { owner[u] := 0; }",
                "        foreach u in 0..vars-1 {\n                if ws[u] == 2 { owner[u] := 0; }",
            ),
            ("if l != 0 && l != self + 1 then pa;", "if l > 1 then pa;"),
        ],
        None,
    ),
    // The name of a thread stays behind.
    (
        "tl2",
        &[
            (
                "if l != 0 then pa;\n            d := g[v];",
                "if l != 0 && l != self + 1 then pa;\n            d := g[v];",
            ),
            (
                "if ws[u] == 2 { owner[u] := 0; }\n            }\n        }\n        forget;",
                "if ws[u] == 2 { version[u] := t; }\n            }\n        }\n        forget;",
            ),
        ],
        None,
    ),
    // A number is mistaken for a name.
    (
        "global_lock",
        &[
            ("shared lock;", "shared lock, last;"),
            ("held, l, d;", "held, l, d, n;"),
            (
                "        g[v] := value;",
                "        n := last;\n        if n == 0 { n := 1; }\n        assume(n == self + 1);\n        g[v] := value;",
            ),
            ("            lock := 0;", "            last := self + 1;\n            last := 0;\n            lock := 0;"),
        ],
        Some((P2, (2, 1))),
    ),
    // What is done about one variable depends on others.
    (
        "mcrt",
        &[
            ("l, m, d;", "l, m, d, n;"),
            ("        g[v] := value;", "        assume(n == 1);\n        g[v] := value;"),
            ("        d := g[v];", "        n := 1;\n        d := g[v];"),
            ("        commit;", "        n := 0;\n        commit;"),
        ],
        Some((P3, (2, 2))),
    ),
    (
        "mcrt",
        &[("        g[v] := value;", "        assume(v == 0 || rs[0] == 1);\n        g[v] := value;")],
        Some((P3, (2, 2))),
    ),
    (
        "mcrt",
        &[("        g[v] := value;", "        assume(exists u in 0..vars-1 (rs[u] == 1));\n        g[v] := value;")],
        Some((P3, (2, 2))),
    ),
    (
        "global_lock",
        &[
            ("shared lock;", "shared lock, seen;"),
            ("        d := g[v];", "        seen := 1;\n        d := g[v];"),
            ("        g[v] := value;", "        l := seen;\n        assume(l == 1);\n        g[v] := value;"),
        ],
        Some((P3, (2, 2))),
    ),
    (
        "mcrt",
        &[
            ("shared owner[vars];", "shared owner[vars], n;"),
            ("        g[v] := value;", "        l := n;\n        assume(l == 1);\n        g[v] := value;"),
            ("        d := g[v];", "        d := g[v];\n        n := 1;"),
        ],
        Some((P3, (2, 2))),
    ),
    (
        "tl2",
        &[(
            "        ws[v] := 1;",
            "        foreach u in 0..vars-1 { assume(u == v || rs[u] == 1); }\n        ws[v] := 1;",
        )],
        Some((P3, (2, 2))),
    ),
    // What is done once is not the same in all commands.
    (
        "global_lock",
        &[
            (
                "        acquire;\n        d := g[v];",
                "        if held == 0 { l := 1; while l != 0 { l := cas(lock, 0, 1); } held := 2; }\n        d := g[v];",
            ),
            ("if held == 1 {", "if held != 0 {\n            if held == 1 { assume(false); }"),
        ],
        Some((P3, (2, 2))),
    ),
    // It is not done first.
    (
        "global_lock",
        &[
            ("held, l, d;", "held, l, d, rs[vars];"),
            (
                "        acquire;\n        d := g[v];\n        rfin;",
                "        if rs[v] == 0 { rs[v] := 1; d := g[v]; rfin; }\n        acquire;\n        d := g[v];\n        rfin;",
            ),
            (
                "        if held == 1 {",
                "        foreach u in 0..vars-1 { rs[u] := 0; }\n        assume(held == 1);\n        if held == 1 {",
            ),
        ],
        Some((P3, (2, 2))),
    ),
    // The lock is given back by whoever ends.
    ("global_lock", &[("        if held == 1 {", "        held := 5;\n        if held != 0 {")], None),
    ("global_lock", &[("            lock := 0;\n", "")], None),
    // Clocks and timestamps.
    ("tl2", &[("if lclock < c then pa;\n            rs", "if c < lclock then pa;\n            rs")], None),
    ("tl2", &[("clk: timestamp = 1", "clk: timestamp = 0")], None),
    ("tl2", &[("            t := t + 1;", "            t := t + 2;")], None),
    ("tl2", &[("if lclock < c then pa;\n            rs", "assume(lclock < c);\n            rs")], None),
    (
        "tl2",
        &[("        if exists u in 0..vars-1 (ws[u] != 0) {", "        if exists u in 0..vars-1 (rs[u] != 0) {")],
        None,
    ),
    ("tl2", &[("fetch_add(clk, 1)", "fetch_add(clk, 0)")], None),
    // Something else that is the same for all: proofs may go through, if the properties hold.
    ("mcrt", &[("if l < 0 then pa;", "if l != 0 then pa;")], None),
    ("mcrt", &[("        d := g[v];\n        rfin;", "        rfin;")], None),
];

#[test]
fn mutants_that_lack_a_property_are_not_proven_to_have_it() {
    let library = library();
    let (mut lacking, mut answered, mut unexpected) = (0, 0, Vec::new());
    for (number, (file, changes, lacks)) in MUTANTS.iter().enumerate() {
        let name = format!("{file}, mutant {number}");
        let mut source = library.iter().find(|(found, _)| found == file).expect("it is there").1.clone();
        for (old, new) in *changes {
            assert!(source.contains(old), "{name}: `{old}`");
            source = source.replace(old, new);
        }
        let proofs = prove(&source, &[]).expect("an stm");
        println!("{name}: P2 {:?}, P3 {:?}", proofs.renaming, proofs.projection);
        if let Some((structure, size)) = lacks {
            let verdict = asked(&source, &name, *structure, *size, 4.0);
            println!("{name}: {} at {size:?}: {}, should be violated", structure.name(), verdict.name());
            unexpected.extend((verdict != Verdict::Violated).then(|| name.clone()));
            lacking += 1;
        }
        answered += confirmed(&name, &source, &proofs);
    }
    println!("{lacking} lack a property, {answered} answers");
    assert_eq!(unexpected, Vec::<String>::new(), "these have what they should lack");
    assert!(MUTANTS.len() >= 25 && lacking >= 10 && answered >= 10, "{lacking}, {answered}");
}
