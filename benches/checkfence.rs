//! CheckFence's tests (Fig. 10): our times beside the paper's, and the theory of acyclic orders beside the cubic encoding.
//!
//! `cargo bench -p cyrano-benches --bench checkfence` takes some minutes; `-- grow` adds the longest rows, `-- --only NAME` runs the rows whose name contains
//! this. `-- --callgrind` counts instructions instead of seconds, for a few short rows: it runs itself under
//! `valgrind --tool=callgrind`, which has to be installed; such counts do not depend on what else the machine does.
//!
//! Every check has a time limit, so a ratio with `>` in front of it is a lower bound. Clauses are counted without those that the cubic
//! encoding adds for transitivity; its memory shows them. A ratio above 1 says how much longer a check takes with something switched off.

use std::process::Command;
use std::time::Duration;

use cyrano_cfront::Unit;
use cyrano_engine::{Limits, Query, Question, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_symbolic::{OrderEncoding, Symbolic, SymbolicStats};

/// A C file and its tests.
type Files = (&'static str, &'static str);

macro_rules! files {
    ($code:literal, $tests:literal) => {
        (
            include_str!(concat!("../library/datatypes/", $code, ".c")),
            include_str!(concat!("../library/datatypes/", $tests, ".tests")),
        )
    };
}

const MS2: Files = files!("ms2", "ms2");
const MSN: Files = files!("msn", "msn");
const LAZYLIST: Files = files!("lazylist", "lazylist");
const HARRIS: Files = files!("harris", "harris");
const SNARK: Files = files!("snark", "snark");
const SNARK_BUG: Files = files!("snark_bug", "snark");

/// One check.
struct Case {
    name: &'static str,
    files: Files,
    /// The test, in the notation of tests if the file has no such name.
    test: &'static str,
    model: &'static str,
    expected: Verdict,
    /// The paper's seconds: Fig. 10 (a), column "total time", or section 4.1 for the bug. Mining is not in them.
    paper: Option<f64>,
}

const fn row(name: &'static str, files: Files, test: &'static str, paper: f64) -> Case {
    Case { name, files, test, model: "relaxed", expected: Verdict::Verified, paper: Some(paper) }
}

const fn ours(name: &'static str, test: &'static str) -> Case {
    Case { name, files: MSN, test, model: "relaxed", expected: Verdict::Verified, paper: None }
}

const CASES: [Case; 21] = [
    row("ms2 T56", MS2, "T56", 4.9),
    row("msn T0", MSN, "T0", 0.2),
    row("msn T1", MSN, "T1", 336.0),
    row("msn T53", MSN, "T53", 127.0),
    row("msn Ti2", MSN, "Ti2", 15.7),
    row("msn Ti3", MSN, "Ti3", 61.0),
    row("msn Tpc2", MSN, "Tpc2", 2.0),
    row("msn Tpc3", MSN, "Tpc3", 11.9),
    row("msn Tpc4", MSN, "Tpc4", 90.4),
    row("msn Tpc5", MSN, "Tpc5", 497.0),
    row("lazylist Saacr", LAZYLIST, "Saacr", 15.2),
    row("lazylist Sarr", LAZYLIST, "Sarr", 150.3),
    row("harris Sacr", HARRIS, "Sacr", 34.9),
    row("snark Da", SNARK, "Da", 4.9),
    row("snark D0", SNARK, "D0", 29.2),
    row("snark Db", SNARK, "Db", 97.0),
    row("snark Dm", SNARK, "Dm", 36.8),
    row("snark Dq", SNARK, "Dq", 130.0),
    ours("msn ee|e|e", "( ee | e | e )"),
    ours("msn e|e|e|e", "( e | e | e | e )"),
    Case {
        name: "snark_bug Dq",
        files: SNARK_BUG,
        test: "Dq",
        model: "sc",
        expected: Verdict::Violated,
        paper: Some(3600.0),
    },
];

const GROWTH: [Case; 4] =
    [row("msn Tpc6", MSN, "Tpc6", 2060.0), ours("msn T54", "T54"), ours("msn T55", "T55"), ours("msn T56", "T56")];

/// The rows whose instructions are counted.
const COUNTED: [&str; 4] = ["msn T1", "msn Tpc3", "snark Da", "msn ee|e|e"];

/// Seconds for a check as it is meant, and for one with something switched off.
const LIMITS: [u64; 2] = [600, 20];

struct Measured {
    verdict: Verdict,
    stats: SymbolicStats,
}

fn program(case: &Case) -> Program {
    let (source, tests) = case.files;
    let unit: Unit = cyrano_cfront::parse(source, case.name, &|_| None).expect("the library compiles");
    let inline = case.test.starts_with('(');
    let more = if inline { format!("\ntest inline = {}\n", case.test) } else { String::new() };
    let tests = cyrano_cfront::tests(&format!("{tests}{more}"), &unit).expect("the tests are right");
    let test = tests.test(if inline { "inline" } else { case.test }).expect("there is such a test");
    unit.program(test).expect("the test becomes a program")
}

fn ask(
    program: &Program,
    model: &str,
    question: Question<'_>,
    engine: &Symbolic,
    seconds: u64,
) -> (Measured, Property) {
    let model = cyrano_memory::named(model).expect("a model");
    let limits = Limits::default().with_timeout(Some(Duration::from_secs(seconds)));
    let query = Query::new(program, &model, question).expect("a question");
    let (answer, stats) = engine.ask_with_stats(query, &limits, &());
    (Measured { verdict: answer.verdict, stats }, Property::Observations(answer.outcomes))
}

fn print_row(name: &str, what: &str, measured: &Measured, note: &str) {
    let SymbolicStats { variables, clauses, seconds, conflicts, propagations, .. } = measured.stats;
    let mib = measured.stats.bytes as f64 / f64::from(1 << 20);
    let verdict = measured.verdict.name();
    println!(
        "{name:<14} {what:<11} {verdict:<9} {variables:>6} vars {clauses:>7} clauses {conflicts:>7} conflicts \
         {propagations:>10} propagations {seconds:>7.2} s {mib:>7.1} MiB  {note}"
    );
}

/// How much longer it took with something switched off.
fn ratio(base: &Measured, other: &Measured) -> String {
    let at_least = if other.verdict == base.verdict { "" } else { "> " };
    format!("{at_least}{:.1} times the time", other.stats.seconds / base.stats.seconds.max(0.001))
}

/// The engine as it is meant, and with something switched off.
fn variants() -> [(&'static str, Symbolic); 4] {
    let meant = Symbolic::default();
    [
        ("theory", meant.clone()),
        ("cubic", Symbolic { order: OrderEncoding::Cubic, ..meant.clone() }),
        ("no ranges", Symbolic { ranges: false, ..meant.clone() }),
        ("no symmetry", Symbolic { thread_symmetry: false, ..meant }),
    ]
}

fn measure(case: &Case) {
    let program = program(case);
    let [(meant, engine), others @ ..] = variants();
    let (mined, allowed) = ask(&program, "serial", Question::Outcomes, &engine, LIMITS[0]);
    print_row(case.name, "mining", &mined, "");
    if mined.verdict != Verdict::Verified {
        println!("{:<14} not all serial observations are known; nothing to check against", case.name);
        return;
    }
    let question = Question::Holds(&allowed);
    let (base, _) = ask(&program, case.model, question, &engine, LIMITS[0]);
    let surprise = if base.verdict == case.expected { "" } else { " (another verdict than expected)" };
    let note = match case.paper {
        Some(paper) => {
            let [alone, all] = [0.0, mined.stats.seconds].map(|more| paper / (base.stats.seconds + more).max(0.001));
            format!("the paper's {paper:.1} s are {alone:.1} times this, {all:.1} times this with mining{surprise}")
        }
        None => format!("not in the paper{surprise}"),
    };
    print_row(case.name, meant, &base, &note);
    for (what, engine) in others.iter().filter(|(_, engine)| engine.thread_symmetry || base.stats.ordered_threads > 0) {
        let (other, _) = ask(&program, case.model, question, engine, LIMITS[1]);
        print_row(case.name, what, &other, &ratio(&base, &other));
    }
}

/// One check, mining included, and nothing printed: what callgrind looks at.
fn check_once(name: &str, variant: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("there is such a row");
    let (_, engine) = variants().into_iter().find(|(what, _)| *what == variant).expect("there is such a variant");
    let program = program(case);
    let (_, allowed) = ask(&program, "serial", Question::Outcomes, &engine, LIMITS[0]);
    ask(&program, case.model, Question::Holds(&allowed), &engine, LIMITS[0]);
}

/// The instructions of one check, mining included.
fn instructions(name: &str, variant: &str) -> Option<u64> {
    let itself = std::env::current_exe().ok()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(itself).args(["--once", name, variant]);
    let said = String::from_utf8(valgrind.output().ok()?.stderr).ok()?;
    let count = said.lines().find_map(|line| line.split_once("Collected :"))?.1;
    count.trim().parse().ok()
}

fn count_instructions() {
    println!("Instructions of mining and inclusion check, in millions (valgrind --tool=callgrind)");
    for name in COUNTED {
        let counts = ["theory", "no symmetry"].map(|variant| instructions(name, variant));
        match counts {
            [Some(theory), Some(without)] => {
                let ratio = without as f64 / theory as f64;
                let [theory, without] = [theory, without].map(|count| count / 1_000_000);
                println!("{name:<14} {theory:>8}  without symmetry {without:>8} ({ratio:.2} times)");
            }
            _ => println!("{name:<14} valgrind did not run"),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |word: &str| arguments.iter().position(|argument| argument == word).map(|at| &arguments[at + 1..]);
    if let Some([name, variant, ..]) = after("--once") {
        return check_once(name, variant);
    }
    if after("--callgrind").is_some() {
        return count_instructions();
    }
    let only = after("--only").and_then(|rest| rest.first());
    let wanted = |case: &&Case| only.is_none_or(|text| case.name.contains(text.as_str()));
    println!("Inclusion checks (at most {} s, with something switched off {} s)", LIMITS[0], LIMITS[1]);
    CASES.iter().filter(wanted).for_each(measure);
    if arguments.iter().any(|argument| argument == "grow") {
        GROWTH.iter().filter(wanted).for_each(measure);
    }
}
