//! The search under timely beside the plain search of the explorer: one worker, two workers of one process, two processes that
//! exchange states over the loopback interface.
//!
//! `cargo bench -p cyrano-benches --bench cluster`; on a loaded machine the least time of several runs says more than one of them, and
//! two processes on two processors that do other things too say little. `-- large` adds an instance of 6 million
//! states, which takes some minutes.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use cyrano_cluster::{ClusterSearch, Key, Options};
use cyrano_engine::{Engine, Limits, Query, Question, Stats};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};

/// Name, source, constants, model.
type Row = (&'static str, &'static str, &'static [(&'static str, i128)], &'static str);

const TWO: &[(&str, i128)] = &[("threads", 2), ("vars", 2)];

const ROWS: [Row; 3] = [
    ("TL2 2x2", include_str!("../library/stm/tl2.rml"), TWO, "sc"),
    ("McRT 2x2", include_str!("../library/stm/mcrt.rml"), TWO, "tso"),
    ("DSTM 2x2", include_str!("../library/stm/dstm.rml"), TWO, "tso"),
];
const LARGE: Row = ("11 forks", include_str!("spin/philosophers.rml"), &[("N", 11)], "sc");
/// How often each is measured; the least time counts.
const RUNS: usize = 3;
/// What takes longer than this many seconds is measured once.
const LONG: f64 = 10.0;
/// What one worker under timely may take, in times of the plain search.
const GOAL: f64 = 1.3;

fn ask(engine: &dyn Engine, program: &Program, model: &str, workers: usize) -> Stats {
    let model = cyrano_memory::named(model).expect("a model");
    let given = program.checks.iter().map(|check| &check.property).find(|property| **property == Property::Assertions);
    let property = given.cloned().unwrap_or(Property::Transactions(TxCriterion::Opacity));
    let query = Query { program, model: &model, question: Question::Holds(&property) };
    let limits = Limits { memory: 12 << 30, workers, ..Limits::default() };
    let started = Instant::now();
    let answer = engine.ask(query, &limits, &());
    assert!(answer.reason.is_none(), "{:?}", answer.reason);
    Stats { seconds: started.elapsed().as_secs_f64(), ..answer.stats }
}

/// A question to a cluster of this many processes and workers: the statistics of process 0.
fn cluster(processes: usize, workers: usize, program: &Program, model: &str) -> Stats {
    let listeners: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port is free")).collect();
    let address = |listener: &TcpListener| listener.local_addr().expect("it is bound").to_string();
    let hosts: Vec<String> = listeners.iter().map(address).collect();
    drop(listeners);
    let one = |process: usize| {
        let options = Options {
            hosts: hosts.clone(),
            process,
            key: Key::new(b"a key for this benchmark only").expect("it is long enough"),
            configuration: Vec::new(),
            workers,
            wait: Duration::from_secs(10),
            silence: Duration::from_secs(60),
        };
        let search = ClusterSearch::join(&Explore::default(), options, &|_| {}).expect("the cluster comes together");
        ask(&search, program, model, workers)
    };
    let one = &one;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..processes).map(|process| scope.spawn(move || one(process))).collect();
        let stats = one(0);
        others.into_iter().for_each(|other| drop(other.join()));
        stats
    })
}

/// Seconds of processor time that this process has used, where the system tells it.
fn used() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The least wall time and the least processor time of several runs.
fn least(mut run: impl FnMut() -> Stats) -> (Stats, f64) {
    let mut timed = || {
        let before = used();
        let stats = run();
        (stats, used() - before)
    };
    let first = timed();
    if first.0.seconds > LONG {
        return first;
    }
    (1..RUNS).map(|_| timed()).fold(first, |(least, processor), (stats, used)| {
        (if stats.seconds < least.seconds { stats } else { least }, processor.min(used))
    })
}

fn main() {
    let large = std::env::args().any(|argument| argument == "large");
    let rows = ROWS.iter().chain(large.then_some(&LARGE));
    println!("Wall time, and processor time in parentheses; the goal is about one worker.");
    let heads = ["states", "plain", "timely, 1 worker", "", "2 threads", "2 workers", "2 processes"];
    println!(
        "{:<10} {:>10} {:>18} {:>18} {:<26} {:>18} {:>18} {:>18}",
        "", heads[0], heads[1], heads[2], heads[3], heads[4], heads[5], heads[6]
    );
    for (name, source, constants, model) in rows {
        let set: Vec<(String, i128)> = constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let program = cyrano_rml::compile(source, "stm", &set).expect("the library compiles");
        let explore = Explore { ample_sets: false, ..Explore::default() };
        let plain = least(|| ask(&explore, &program, model, 1));
        let one = least(|| cluster(1, 1, &program, model));
        let threads = least(|| ask(&explore, &program, model, 2));
        let workers = least(|| cluster(1, 2, &program, model));
        let processes = least(|| cluster(2, 1, &program, model));
        for (other, _) in [one, workers, processes] {
            let counts = |stats: Stats| (stats.states, stats.transitions, stats.depth);
            assert_eq!(counts(other), counts(plain.0));
        }
        let (wall, processor) = (one.0.seconds / plain.0.seconds, one.1 / plain.1);
        let verdict = if wall.min(processor) <= GOAL { "good" } else { "bad" };
        let ratio = format!("x{wall:.2} (x{processor:.2}) {verdict}");
        let shown = |(stats, used): (Stats, f64)| format!("{:.2} s ({used:.2} s)", stats.seconds);
        let [a, b, c, d, e] = [plain, one, threads, workers, processes].map(shown);
        println!("{name:<10} {:>10} {a:>18} {b:>18} {ratio:<26} {c:>18} {d:>18} {e:>18}", plain.0.states);
    }
}
