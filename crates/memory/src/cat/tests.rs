//! The language: what is said about bad texts, what expressions mean on one small execution, and texts of random words.

use cyrano_ir::{Fence, LocId, Tags, ThreadId};

use super::graph::{Event, Found, Graph, What};
use super::{Cat, Judge, Level};

/// Two threads: `x = 1; r = y` and `y = 1; r = x; mfence; x = r`, after initial writes of both; the reads see the initial write of `y` and the first one of `x`.
fn execution() -> Graph {
    let event = |thread: Option<u16>, what, loc: Option<usize>| Event {
        thread: thread.map(ThreadId),
        what,
        loc: loc.map(LocId::new),
        tags: Tags::default(),
        rmw: false,
    };
    let fence = Fence::named("mfence").expect("a fence");
    let mut graph = Graph::new(vec![
        event(None, What::Write, Some(0)),
        event(None, What::Write, Some(1)),
        event(Some(0), What::Write, Some(0)),
        event(Some(0), What::Read, Some(1)),
        event(Some(1), What::Write, Some(1)),
        event(Some(1), What::Read, Some(0)),
        event(Some(1), What::Fence(fence), None),
        event(Some(1), What::Write, Some(0)),
    ]);
    [(2, 3), (4, 5), (4, 6), (4, 7), (5, 6), (5, 7), (6, 7)].into_iter().for_each(|(a, b)| graph.po.insert(a, b));
    [(1, 3), (2, 5)].into_iter().for_each(|(a, b)| graph.rf.insert(a, b));
    [(0, 2), (0, 7), (2, 7), (1, 4)].into_iter().for_each(|(a, b)| graph.co.insert(a, b));
    graph.data.insert(5, 7);
    graph.ctrl.insert(5, 7);
    graph
}

/// What an expression denotes on that execution: pairs, or events.
fn value(expr: &str) -> String {
    let cat = Cat::parse(&format!("\"t\"\nempty {expr} as e\n")).unwrap_or_else(|errors| panic!("{expr}: {errors:?}"));
    let mut judge = Judge::new(cat.plan());
    for level in [Level::Events, Level::ReadsFrom, Level::Coherence] {
        judge.passes(&execution(), level);
    }
    let shown: Vec<String> = match judge.value(cat.plan().axioms[0].of) {
        Found::Relation(pairs) => pairs.iter().map(|(from, to)| format!("{from}{to}")).collect(),
        Found::Set(events) => events.iter().map(|event| event.to_string()).collect(),
    };
    shown.join(" ")
}

#[test]
fn expressions_mean_what_they_should() {
    let table = [
        ("po", "23 45 46 47 56 57 67"),
        ("R", "3 5"),
        ("W", "0 1 2 4 7"),
        ("IW", "0 1"),
        ("FW", "4 7"),
        ("M \\ IW", "2 3 4 5 7"),
        ("~M", "6"),
        ("[R]", "33 55"),
        ("R * F", "36 56"),
        ("F * R", "63 65"),
        ("rf^-1", "31 52"),
        ("fr", "34 57"),
        ("fre", "34"),
        ("fri", "57"),
        ("rfe", "13 25"),
        ("coe", "02 07 14 27"),
        ("po-loc", "57"),
        ("rf ; po", "26 27"),
        ("po ; po", "46 47 57"),
        ("(rf | [F] ; po)+", "13 25 67"),
        ("(rf | fr)+", "13 14 25 27 34 57"),
        ("(rf | fr)*", "00 11 13 14 22 25 27 33 34 44 55 57 66 77"),
        ("rf?", "00 11 13 22 25 33 44 55 66 77"),
        ("domain(rf)", "1 2"),
        ("range(rf)", "3 5"),
        ("mfence", "47 57"),
        ("fencerel(MFENCE)", "47 57"),
        ("[mfence]", "66"),
        ("MFENCE", "6"),
        ("data & ctrl", "57"),
        ("ctrl \\ data", ""),
        // Operators from the loosest to the tightest: | ; \ & and then those behind an operand.
        ("po \\ po ; po", ""),
        ("po \\ (po ; po)", "23 45 56 67"),
        ("rf | rf ; po", "13 25 26 27"),
        ("po & loc | rf", "13 25 57"),
        ("rf ; po & loc", "27"),
        ("co \\ co & int", "02 07 14 27"),
        ("singlestep(po)", "23 45 56 67"),
        ("let r = rf in r ; r^-1", "11 22"),
        ("let f = fun s -> [s] ; po in f(W)", "23 45 46 47"),
        ("if \"a\" || ~\"b\" then rf else co", "13 25"),
        ("if \"a\" && ~\"b\" then rf else co", "02 07 14 27"),
        ("if not (\"a\" || \"b\") then rf else co", "13 25"),
        ("try nobody-knows with rf", "13 25"),
        ("{}", ""),
        ("si", "00 11 22 33 44 55 66 77"),
    ];
    for (expr, expected) in table {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

/// Without mixed sizes an access has one piece, and the halves of a read-modify-write are two accesses: `lws ; si` in Arm's models leads to nothing but later writes.
#[test]
fn halves_of_an_update_are_not_pieces_of_one_access() {
    let mut graph = execution();
    graph.amo.insert(5, 7);
    let cat = Cat::parse("\"t\"\nempty rmw & si as e\nirreflexive po-loc ; [W] ; si as f\n").expect("a model");
    assert!(Judge::new(cat.plan()).allows(&graph));
}

#[test]
fn recursive_definitions_grow_until_they_stop() {
    let means = |text: &str, allowed: bool| {
        let cat = Cat::parse(&format!("\"t\"\n{text}\n")).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        assert_eq!(Judge::new(cat.plan()).allows(&execution()), allowed, "{text}");
    };
    means("let rec t = (rf | fr) | t ; t\nempty t \\ (rf | fr)+ as a\nempty (rf | fr)+ \\ t as b", true);
    means("let rec a = rf | b ; [W] and b = fr | a ; [R]\nempty a \\ (rf | fr) as c", true);
    means("let rec s = R | domain([M] ; po ; [s])\nempty s \\ (R | W) as a\nempty [W] ; po ; [s] as b", false);
    means("acyclic po | com as sc", true);
    means("acyclic po | com | co^-1 as nonsense", false);
    means("~acyclic po | co^-1 ; co as odd", true);
    means("flag ~empty rf as told\nacyclic po as a", true);
}

/// What is wrong with a text, and nothing else.
#[test]
fn bad_texts_are_told_why() {
    let table = [
        ("acyclic", "expected a set or a relation, found the end"),
        ("acyclic po |", "expected a set or a relation, found the end"),
        ("let a = po", "this model demands nothing of an execution"),
        ("acyclic pox", "`pox` is not defined"),
        ("acyclic R", "`acyclic` is about a relation, and this is a set"),
        ("acyclic po ; R", "`;` joins relations, and this is a set"),
        ("acyclic po | R", "a set and a relation cannot be joined like this"),
        ("acyclic [po]", "`[…]` is about a set, and this is a relation"),
        ("acyclic po * R", "`*` makes pairs of two sets, and this is a relation"),
        ("acyclic R+", "closures and inverses are those of relations, and this is a set"),
        ("acyclic domain", "this is a function"),
        ("acyclic domain(R)", "this is for relations, and this is a set"),
        ("acyclic fencerel(F, F)", "this function takes 1 argument(s), not 2"),
        ("let rec a = ~a\nacyclic a", "a recursive definition cannot use itself behind `~`"),
        ("let rec a = po \\ a\nacyclic a", "a recursive definition cannot use itself behind `\\`"),
        ("let rec f(x) = x\nacyclic po", "`f` is a recursive function"),
        ("let rec a = po and a = rf\nacyclic a", "`a` is defined twice here"),
        ("let f(x) = f(x)\nacyclic f(po)", "`f` is not defined"),
        ("include \"other.cat\"\nacyclic po", "`other.cat` is not there"),
        ("acyclic classes-loc(W)", "this is a set of orders"),
        ("let f = cross\nacyclic po ; f", "this is a set of orders"),
        ("acyclic (po", "expected `)`, found the end"),
        ("acyclic if po then po else po", "expected the name of a variant in quotes, found `po`"),
        ("(* never ends", "this comment does not end"),
        ("acyclic po $", "`$` is no word of the language"),
        ("with sw from cross(po)\nacyclic po", "`sw` cannot be enumerated"),
        ("forall x in R do end\nacyclic po", "`forall` statements are not supported"),
        // One unknown name is one complaint, also where definitions see one another.
        ("let rec a = pox | b ; po and b = a | po\nacyclic a | b", "`pox` is not defined"),
    ];
    for (text, expected) in table {
        let errors = Cat::parse(&format!("\"t\"\n{text}\n")).expect_err(text);
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    }
}

#[test]
fn titles_are_read() {
    let title = |text: &str| Cat::parse(text).expect("a model").title().map(str::to_owned);
    assert_eq!(title("\"A model\"\nacyclic po"), Some("A model".into()));
    assert_eq!(title("Power\nacyclic po"), Some("Power".into()));
    assert_eq!(title("C \"C++11\"\nacyclic po"), Some("C++11".into()));
    assert_eq!(title("acyclic po"), None);
}

/// A model that speaks of one fence of a machine is about that machine; one that speaks of fences with orders is about C11's.
#[test]
fn what_models_speak_of() {
    let knows = |text: &str, fence: &str| {
        let cat = Cat::parse(&format!("\"t\"\nacyclic po as a\n{text}\n")).expect("a model");
        cat.plan().knows(Fence::named(fence).expect("a fence"))
    };
    assert!(knows("let f = [SYNC]", "sync") && knows("let f = [sync]", "lwsync"));
    assert!(knows("let f = MFENCE", "lfence") && !knows("let f = MFENCE", "sync"));
    assert!(knows("let f = [F & SC]", "thread_fence.acquire") && !knows("let f = [F]", "thread_fence.acquire"));
    assert!(!knows("let f = rmw", "mfence"));
    let tags = |text: &str| Cat::parse(&format!("\"t\"\nacyclic po as a\n{text}\n")).expect("a model").plan().tags;
    assert!(tags("let f = rmw").contains(Tags::EXCLUSIVE) && !tags("let f = po").contains(Tags::EXCLUSIVE));
}

/// Whatever stands in a text, there is a model or a complaint within it.
#[test]
fn random_words_are_no_reason_to_panic() {
    const WORDS: [&str; 44] = [
        "let",
        "rec",
        "and",
        "in",
        "=",
        "acyclic",
        "irreflexive",
        "empty",
        "flag",
        "~",
        "po",
        "rf",
        "co",
        "fr",
        "R",
        "W",
        "F",
        "[",
        "]",
        "(",
        ")",
        "|",
        ";",
        "\\",
        "&",
        "*",
        "+",
        "?",
        "^-1",
        "as",
        "a",
        "b",
        "f",
        ",",
        "fun",
        "->",
        "if",
        "\"v\"",
        "then",
        "else",
        "try",
        "with",
        "\n",
        "domain",
    ];
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut models = 0;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..next(24) {
            text.push_str(WORDS[next(WORDS.len())]);
            text.push(' ');
        }
        match Cat::parse(&format!("acyclic po as first\n{text}")) {
            Ok(cat) => {
                models += 1;
                Judge::new(cat.plan()).allows(&execution());
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                let end = "acyclic po as first\n".len() + text.len();
                assert!(errors.iter().all(|error| error.span.range().end <= end), "{text}: {errors:?}");
            }
        }
    }
    assert!(models > 50, "only {models} of the texts are models");
}

/// Large and deep texts end with a complaint or a model, and soon.
#[test]
fn large_texts_are_no_reason_to_panic() {
    let deep = format!("\"t\"\nacyclic {}po{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Cat::parse(&deep).is_err());
    assert!(Cat::parse(&format!("\"t\"\nacyclic {}\"v\" then po else po", "if (".repeat(50_000))).is_err());
    assert!(Cat::parse(&"\u{1F600} ) ( let ".repeat(60_000)).is_err());
    let long = |count| format!("\"t\"\nacyclic {}", vec!["po"; count].join(" | "));
    assert!(Cat::parse(&long(5_000)).is_ok());
    assert!(Cat::parse(&long(50_000)).is_err());
    let doubling: String = (1..60).map(|n| format!("let f{n}(x) = f{}(x) ; f{}(x)\n", n - 1, n - 1)).collect();
    assert!(Cat::parse(&format!("\"t\"\nlet f0(x) = x\n{doubling}acyclic f59(po)")).is_err());
    let chain = format!("\"t\"\nacyclic {}", vec!["po"; 50_000].join(" ; "));
    assert!(Cat::parse(&chain).is_err());
}

/// Each definition uses the one before twice: there are more ways through them than anybody can go.
#[test]
fn many_ways_are_not_all_gone() {
    let defined: String = (1..30).map(|n| format!("let a{n} = a{} | (a{}+ & ~rf)\n", n - 1, n - 1)).collect();
    let cat = Cat::parse(&format!("\"t\"\nlet a0 = po | ~po\n{defined}acyclic a29 as all\n")).expect("a model");
    assert!(!cat.plan().has_no_circles());
    let graph = execution();
    let mut judge = Judge::new(cat.plan());
    assert_eq!(judge.objects(&graph).map(|why| why.axiom), Some("all".to_owned()));
}
