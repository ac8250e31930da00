//! Section 4.4: what range analysis is worth (Fig. 11c, whose points are not printed as numbers).

use cyrano_report::count;

use super::question::{Checked, Subject, library};
use super::{Made, Rows, Setup, each, made, seconds, strings};
use cyrano_session::Failure;
use cyrano_session::pool::processors;

/// Small and middling tests: without ranges the large ones, and all of snark, are out of reach.
const TESTS: [(&str, &str); 10] = [
    ("ms2", "T0"),
    ("ms2", "Tpc2"),
    ("ms2", "Tpc3"),
    ("msn", "T0"),
    ("msn", "Tpc2"),
    ("msn", "Tpc3"),
    ("lazylist", "Sac"),
    ("lazylist", "Sar"),
    ("harris", "Sac"),
    ("harris", "Sar"),
];

/// The same checks with ranges and without.
pub fn compared(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(processors(), &TESTS, |(file, test)| compare(setup, file, test))?;
    let notes = [
        "On and off: with ranges of values narrowing words and addresses, and without. Times are those of the check alone.",
        "The paper prints no numbers for single tests: range analysis makes a check about 42 % faster on average, up to three times on large ones.",
        "Off, every loaded value has 64 bits here and may point to any word, which is more than the paper gives up.",
    ];
    let header =
        ["type", "test", "on", "vars", "clauses", "time [s]", "off", "vars", "clauses", "time [s]", "off / on"];
    Ok(made(title, &header, rows, &notes))
}

fn compare(setup: &Setup<'_>, file: &str, test: &str) -> Result<Rows, Failure> {
    let subject = Subject::new(library(setup, file)?, test, setup)?;
    let mined = subject.mine()?;
    let with = subject.check(&mined, "relaxed")?;
    let mut subject = subject.renewed(setup);
    subject.engine.ranges = false;
    let without = subject.check(&mined, "relaxed")?;
    let mut cells = strings(&[file, test]);
    for checked in [&with, &without] {
        cells.push(checked.verdict.name().to_owned());
        cells.push(count(checked.stats.variables));
        cells.push(count(checked.stats.clauses));
        cells.push(seconds(checked.stats.seconds));
    }
    let at_least = if without.decided() { "" } else { ">" };
    cells.push(format!("{at_least}{:.1}", without.stats.seconds / with.stats.seconds.max(0.001)));
    let notes = with.reason.iter().chain(&without.reason).cloned().collect();
    let complete = [&with, &without].into_iter().all(Checked::decided);
    Ok(Rows::one(cells, notes, complete))
}
