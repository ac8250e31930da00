//! Searches whose states are packed, each process with numbers of its own: the same answers as one machine and as states that are not packed.

mod local;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use cyrano_cluster::{Settings, info};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::{Explore, Space};
use cyrano_ir::{Program, Property};
use local::Cluster;

const SHAPES: [(usize, usize); 5] = [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2)];
const PHILOSOPHERS: &str = include_str!("../../../benches/spin/philosophers.rml");
/// Threads that are alike, and a location with more values than are seen at first: states get more bits, and more words.
const GROWING: &str = "const P = 1; threads { shared x, f, pad[P]; local r; \
    thread p[2] { loop { atomic { r := x; x := (r * 3 + 1) % 5003; } f := 1; f := 0; } } \
    thread q { loop { atomic { r := x; x := (r * 5 + 2) % 5003; } } } } check assertions on sc;";
/// Threads that are alike, of which two lose an update after many steps.
const LOST: &str = "threads { shared x, n; local r, s; thread p[3] { loop { \
    atomic { s := n; assume s < 9; n := s + 1; } r := x; x := r + 1; assert r + 5 > s, \"updates are lost\"; } } } \
    check assertions on sc;";

fn program(text: &str, set: &[(&str, i128)]) -> Program {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    cyrano_rml::compile(text, "packed.rml", &set).expect("it compiles")
}

fn programs() -> [Program; 4] {
    [
        program(PHILOSOPHERS, &[("N", 7)]),
        program(GROWING, &[("P", 3)]),
        program(GROWING, &[("P", 46)]),
        program(LOST, &[]),
    ]
}

fn limits() -> Limits {
    Limits { workers: 1, ..Limits::default() }
}

/// Does something with the question whether assertions hold.
fn asking<R>(program: &Program, model: &str, work: impl FnOnce(Query<'_>) -> R) -> R {
    let model = cyrano_memory::named(model).expect("a model");
    work(Query { program, model: &model, question: Question::Holds(&Property::Assertions) })
}

fn alone(program: &Program, model: &str) -> Answer {
    let explore = Explore { ample_sets: false, ..Explore::default() };
    asking(program, model, |query| {
        let space = Space::new(query, &explore, &limits()).expect("it has levels");
        assert!(space.packing().is_some(), "its states are packed");
        explore.ask(query, &limits(), &())
    })
}

/// What must be the same. After a violation, how much had been looked at may differ.
fn facts(answer: &Answer) -> (Verdict, Option<String>, u64, bool, Option<(u64, u64)>) {
    let found = answer.execution.is_some();
    let counts = (!found).then_some((answer.stats.states, answer.stats.transitions));
    (answer.verdict, answer.reason.clone(), answer.stats.depth, found, counts)
}

/// Asks about all programs on one cluster.
fn check(cluster: &Cluster, expected: &[Answer]) {
    let programs = programs();
    let all = cluster.run(|search| {
        let ask = |program: &Program| asking(program, "sc", |query| search.ask(query, &limits(), &()));
        programs.each_ref().map(ask)
    });
    for answers in all {
        for (found, expected) in answers.expect("the cluster comes together").iter().zip(expected) {
            assert_eq!(facts(found), facts(expected), "{} processes", cluster.processes);
        }
    }
}

/// With alike threads, with more bits and words than at first, and with a violation whose way leads through all processes.
#[test]
fn packed_searches_agree_and_so_do_others() {
    let expected = programs().each_ref().map(|program| alone(program, "sc"));
    let violated = &expected[3];
    assert!(violated.verdict == Verdict::Violated && violated.stats.depth > 12, "{violated:?}");
    for answer in &expected[..3] {
        assert!(answer.execution.is_none() && answer.stats.states > 3000, "{answer:?}");
    }
    for (processes, workers) in SHAPES {
        check(&Cluster { processes, workers, ..Cluster::default() }, &expected);
    }
    let explore = Explore { remembered_steps: false, ..Explore::default() };
    check(&Cluster { explore, ..Cluster::default() }, &expected);
}

#[test]
fn buffers_are_packed_too() {
    let program = program(LOST, &[]);
    for model in ["tso", "pso"] {
        let expected = facts(&alone(&program, model));
        for answer in
            Cluster::default().run(|search| asking(&program, model, |query| search.ask(query, &limits(), &())))
        {
            assert_eq!(facts(&answer.expect("the cluster comes together")), expected);
        }
    }
}

/// A process that is resumed has other numbers than the one before, and the way to a violation leads through states of both.
#[test]
fn packed_searches_are_resumed() {
    for (processes, workers) in [(3, 1), (2, 2)] {
        let cluster = Cluster { processes, workers, ..Cluster::default() };
        let [forks, _, growing, lost] = programs();
        for program in &[forks, growing, lost] {
            let dir = tempfile::tempdir().expect("a temporary directory can be made");
            let expected = facts(&alone(program, "sc"));
            let (mut time, mut stops) = (Duration::from_millis(10), 0);
            let last = loop {
                let resume = info(dir.path()).is_ok_and(|parts| parts.len() == processes);
                if !resume {
                    std::fs::remove_dir_all(dir.path()).expect("it can be removed");
                }
                let all = cluster.run(|search| {
                    let limits = limits().with_timeout(Some(time));
                    let settings =
                        Settings { dir: dir.path().to_owned(), resume, every: Duration::ZERO, about: vec![] };
                    asking(program, "sc", |query| search.run(query, &limits, &(), Some(&settings)))
                });
                let answers: Vec<Answer> =
                    all.into_iter().map(|found| found.expect("it comes together").expect("no refusal")).collect();
                if answers.iter().any(|answer| answer.verdict != Verdict::Unknown) {
                    break answers;
                }
                (time, stops) = (time * 2, stops + 1);
            };
            println!("{processes} processes: {stops} stops");
            last.iter().for_each(|answer| assert_eq!(facts(answer), expected));
        }
    }
}

#[test]
fn what_is_remembered_counts_as_memory() {
    let program = program(GROWING, &[("P", 3)]);
    let little = Limits { memory: 3 << 20, ..limits() };
    for answer in Cluster::default().run(|search| asking(&program, "sc", |query| search.ask(query, &little, &()))) {
        let answer = answer.expect("the cluster comes together");
        assert_eq!((answer.verdict, answer.reason.as_deref()), (Verdict::Unknown, Some("memory limit reached")));
    }
}

/// Two searches that find states in another order have other numbers for them, but agree on what they are and where they belong.
#[test]
fn routes_do_not_depend_on_numbers() {
    let mut differ = 0;
    for program in &programs()[..3] {
        let explore = Explore { ample_sets: false, ..Explore::default() };
        let [deep, broad] = [true, false].map(|deep| {
            asking(program, "sc", |query| {
                let space = Space::new(query, &explore, &limits()).expect("it has levels");
                let packing = space.packing().expect("its states are packed");
                let mut walker = packing.routing_walker();
                let (mut routes, mut work) = (BTreeMap::new(), VecDeque::new());
                walker.initial(|state| work.push_back((state.to_vec(), None)));
                while let Some((state, route)) = if deep { work.pop_back() } else { work.pop_front() } {
                    // Remembered with a step, and from the values themselves.
                    let own = walker.route(&state).expect("there is room");
                    assert!(route.is_none_or(|route| route == own));
                    let plain = packing.unpack(&state).expect("it is one");
                    let mut back = Vec::new();
                    walker.pack(&plain, |packed| back.extend_from_slice(packed));
                    assert_eq!(back, state);
                    if routes.insert(plain, (own, state.clone())).is_none() {
                        walker.expand_routed(&state, |next, route| work.push_back((next.to_vec(), Some(route))));
                    }
                }
                routes
            })
        });
        differ += usize::from(deep.values().zip(broad.values()).any(|(one, other)| one.1 != other.1));
        assert!(deep.iter().map(|(plain, (route, _))| (plain, route)).eq(broad.iter().map(|(p, (r, _))| (p, r))));
        let even = deep.values().filter(|(route, _)| route % 2 == 0).count();
        let distinct: BTreeSet<u64> = deep.values().map(|(route, _)| *route).collect();
        assert!(distinct.len() == deep.len() && (deep.len() * 2 / 5..deep.len() * 3 / 5).contains(&even));
    }
    assert!(differ > 0, "some have other numbers");
}
