//! CheckFence's tests: the theory of acyclic orders beside the cubic encoding, ranges on and off, and the paper's times.
//!
//! `cargo bench -p cyrano-benches --bench checkfence` takes some minutes; `-- grow` adds msn Tpc6. Every check has a time limit, so a ratio
//! with `>` in front of it is a lower bound. Clauses are counted without those that the cubic encoding adds for transitivity; its memory shows them.

use std::time::Duration;

use cyrano_cfront::Unit;
use cyrano_engine::{Limits, Query, Question, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_symbolic::{OrderEncoding, Symbolic, SymbolicStats};

/// A C file and its tests.
type Files = (&'static str, &'static str);

const MSN: Files = (include_str!("../library/datatypes/msn.c"), include_str!("../library/datatypes/msn.tests"));
const SNARK_BUG: Files =
    (include_str!("../library/datatypes/snark_bug.c"), include_str!("../library/datatypes/snark.tests"));

/// One check.
struct Case {
    name: &'static str,
    files: Files,
    test: &'static str,
    model: &'static str,
    expected: Verdict,
    /// The paper's seconds: Fig. 10 (a), column "total time", or section 4.1 for the bug.
    paper: f64,
}

const fn msn(name: &'static str, test: &'static str, paper: f64) -> Case {
    Case { name, files: MSN, test, model: "relaxed", expected: Verdict::Verified, paper }
}

const CASES: [Case; 6] = [
    msn("msn Tpc2", "Tpc2", 2.0),
    msn("msn Tpc3", "Tpc3", 11.9),
    msn("msn Tpc4", "Tpc4", 90.4),
    msn("msn Tpc5", "Tpc5", 497.0),
    msn("msn T1", "T1", 336.0),
    Case {
        name: "snark_bug Dq",
        files: SNARK_BUG,
        test: "Dq",
        model: "sc",
        expected: Verdict::Violated,
        paper: 3600.0,
    },
];

const GROWTH: [Case; 1] = [msn("msn Tpc6", "Tpc6", 2060.0)];

/// Seconds for a check as it is meant, and for one with something switched off.
const LIMITS: [u64; 2] = [600, 40];

struct Measured {
    verdict: Verdict,
    stats: SymbolicStats,
}

fn program(case: &Case) -> Program {
    let (source, tests) = case.files;
    let unit: Unit = cyrano_cfront::parse(source, case.name, &|_| None).expect("the library compiles");
    let tests = cyrano_cfront::tests(tests, &unit).expect("the tests are right");
    let test = tests.test(case.test).expect("there is such a test");
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
    let (answer, stats) = engine.ask_with_stats(Query { program, model: &model, question }, &limits, &());
    (Measured { verdict: answer.verdict, stats }, Property::Observations(answer.outcomes))
}

fn row(name: &str, what: &str, measured: &Measured, note: &str) {
    let SymbolicStats { variables, clauses, seconds, conflicts, .. } = measured.stats;
    let mib = measured.stats.bytes as f64 / f64::from(1 << 20);
    let verdict = measured.verdict.name();
    println!(
        "{name:<13} {what:<10} {verdict:<9} {variables:>8} vars {clauses:>9} clauses {conflicts:>8} conflicts {seconds:>7.2} s \
         {mib:>7.1} MiB  {note}"
    );
}

/// How much longer it took with something switched off.
fn ratio(base: &Measured, other: &Measured) -> String {
    let at_least = if other.verdict == base.verdict { "" } else { "> " };
    format!("{at_least}{:.1} times the time", other.stats.seconds / base.stats.seconds.max(0.001))
}

fn measure(case: &Case) {
    let program = program(case);
    let engine = Symbolic::default();
    let (mined, allowed) = ask(&program, "serial", Question::Outcomes, &engine, LIMITS[0]);
    row(case.name, "mining", &mined, "");
    if mined.verdict != Verdict::Verified {
        println!("{:<13} not all serial observations are known; nothing to check against", case.name);
        return;
    }
    let question = Question::Holds(&allowed);
    let (base, _) = ask(&program, case.model, question, &engine, LIMITS[0]);
    let faster = case.paper / (base.stats.seconds + mined.stats.seconds).max(0.001);
    let surprise = if base.verdict == case.expected { "" } else { " (another verdict than expected)" };
    let note = format!("the paper's {:.0} s are {faster:.1} times this with mining{surprise}", case.paper);
    row(case.name, "theory", &base, &note);
    let cubic = Symbolic { order: OrderEncoding::Cubic, ..Symbolic::default() };
    let wide = Symbolic { ranges: false, ..Symbolic::default() };
    for (what, engine) in [("cubic", cubic), ("no ranges", wide)] {
        let (other, _) = ask(&program, case.model, question, &engine, LIMITS[1]);
        row(case.name, what, &other, &ratio(&base, &other));
    }
}

fn main() {
    println!("Inclusion checks (at most {} s, with something switched off {} s)", LIMITS[0], LIMITS[1]);
    CASES.iter().for_each(measure);
    if std::env::args().any(|argument| argument == "grow") {
        GROWTH.iter().for_each(measure);
    }
}
