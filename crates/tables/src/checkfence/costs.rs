//! Section 4.4: where the time goes (Fig. 11b), what the memory model costs, and what commit points would cost instead (Fig. 12).
//!
//! The paper compares with the method of its authors' case study (Burckhardt, Alur, Martin, CAV 2006), where the user says at which point each operation takes
//! effect and the formula has a serial execution in that order beside the concurrent one. Here that is `commit-atomicity`: the explorer with a shadow memory in which
//! operations run alone in the order of their commit points. The same file, test and model are judged by both, by the same engine.

use cyrano_ir::Property;

use super::measured::Measured;
use super::paper::{ROWS, Row};
use super::question::{Checked, Subject};
use super::{Made, Rows, Setup, each, made, seconds};
use crate::decided;
use cyrano_session::Failure;
use cyrano_session::pool::processors;

/// Less than this is not measured.
const MOMENT: f64 = 0.000_1;

/// A ratio of seconds.
fn ratio(one: f64, other: f64) -> f64 {
    one.max(MOMENT) / other.max(MOMENT)
}

/// The mean of ratios: the geometric one, which does not care which of the two is the slower.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

/// Seconds of one test.
struct Spent {
    implementation: &'static str,
    mining: f64,
    by_formula: f64,
    encoding: f64,
    solving: f64,
    all: f64,
}

/// The parts that are shown, as shares of all seconds.
fn shares(spent: &[&Spent]) -> [f64; 5] {
    let sum = |part: &dyn Fn(&Spent) -> f64| spent.iter().map(|spent| part(spent)).sum::<f64>();
    let all = sum(&|spent| spent.all).max(MOMENT);
    let parts = [sum(&|spent| spent.mining), sum(&|spent| spent.encoding), sum(&|spent| spent.solving)];
    let other = (all - parts.iter().sum::<f64>()).max(0.0);
    let formula = sum(&|spent| spent.by_formula);
    let with_formula = formula / (all - parts[0] + formula).max(MOMENT);
    [parts[0] / all, parts[1] / all, parts[2] / all, other / all, with_formula]
}

/// Where the time goes.
pub fn breakdown(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let mut spent = Vec::new();
    for row in ROWS {
        let measured = Measured::of(setup, row)?;
        let stats = &measured.checked.stats;
        let by_formula = measured.by_formula(setup)?.seconds;
        let (mining, encoding, solving) = (measured.mined.seconds, stats.encode_seconds, stats.solve_seconds);
        let (implementation, all) = (row.implementation, measured.seconds());
        spent.push(Spent { implementation, mining, by_formula, encoding, solving, all });
    }
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let row = |name: &str, tests: usize, shares: [f64; 5]| {
        let mut cells = vec![name.to_owned(), tests.to_string()];
        cells.extend(shares.map(percent));
        Rows::one(cells, Vec::new(), true).rows
    };
    let mut rows = Rows { rows: Vec::new(), complete: true };
    let mut types: Vec<&str> = spent.iter().map(|spent| spent.implementation).collect();
    types.dedup();
    for name in types {
        let of_type: Vec<&Spent> = spent.iter().filter(|spent| spent.implementation == name).collect();
        rows.rows.extend(row(name, of_type.len(), shares(&of_type)));
    }
    let all: Vec<&Spent> = spent.iter().collect();
    rows.rows.extend(row("all seconds", all.len(), shares(&all)));
    let each: Vec<[f64; 5]> = spent.iter().map(|spent| shares(&[spent])).collect();
    let average = std::array::from_fn(|part| each.iter().map(|shares| shares[part]).sum::<f64>() / each.len() as f64);
    rows.rows.extend(row("average test", all.len(), average));
    rows.rows
        .extend(Rows::one(["paper", "", "33", "", "", "", "33"].map(str::to_owned).to_vec(), Vec::new(), true).rows);
    let notes = [
        "Percent of the seconds of mining and check under relaxed together. Types and `all seconds` weigh a test by its seconds, `average test` weighs all tests alike.",
        "The paper prints no numbers: mining takes about a third on average. It mines by formulas, which the last column is about; here serial executions are explored, one operation at a time, and formulas are used only where memory is freed.",
    ];
    let header = ["type", "tests", "mining", "encoding", "solving", "other", "mining by formulas"];
    Ok(made(title, &header, rows, &notes))
}

/// The tests that took the paper less than this many seconds are compared under two models.
const SHORT: f64 = 30.0;

/// The same checks under sc and relaxed.
pub fn models(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let tests: Vec<&Row> = ROWS.iter().filter(|row| row.total_seconds < SHORT).collect();
    let ratios = std::sync::Mutex::new(Vec::new());
    let mut rows = each(processors(), &tests, |row| {
        let measured = Measured::of(setup, row)?;
        let sc = measured.subject.renewed(setup).check(&measured.mined, "sc")?;
        let relaxed = &measured.checked;
        let complete = [&sc, relaxed].into_iter().all(Checked::decided);
        let ratio = ratio(relaxed.stats.seconds, sc.stats.seconds);
        ratios.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(complete.then_some(ratio));
        let mut cells = vec![row.implementation.to_owned(), row.test.to_owned()];
        for checked in [&sc, relaxed] {
            let stats = &checked.stats;
            cells.extend([
                checked.verdict.name().to_owned(),
                cyrano_report::count(stats.clauses),
                seconds(stats.seconds),
            ]);
        }
        cells.push(format!("{ratio:.2}"));
        Ok(Rows::one(cells, sc.words(), complete))
    })?;
    let ratios = ratios.into_inner().unwrap_or_default();
    let mut cells = vec![String::new(); 9];
    (cells[0], cells[8]) = ("mean".to_owned(), format!("{:.2}", mean(&ratios)));
    rows.rows.extend(Rows::one(cells, Vec::new(), true).rows);
    let notes = [
        "Times are those of the check by a formula, without mining, of the tests that took the paper less than 30 s. The mean is the geometric one.",
        "The paper: sc is about 4 % faster on average, which it calls insignificant. Under sc the order of a thread's accesses is known beforehand, so that our theory of orders has less to decide; the paper's formulas have the same clauses for both.",
    ];
    let header = ["type", "test", "sc", "clauses", "time [s]", "relaxed", "clauses", "time [s]", "relaxed / sc"];
    Ok(made(title, &header, rows, &notes))
}

/// Types with commit points, and their tests that take long enough to be measured.
const COMMITS: [(&str, &str); 8] = [
    ("ms2", "T1"),
    ("ms2", "Ti2"),
    ("ms2", "Tpc3"),
    ("ms2", "Tpc4"),
    ("msn", "T1"),
    ("msn", "Ti2"),
    ("msn", "Tpc3"),
    ("msn", "Tpc4"),
];

/// Inclusion checks against commit points.
pub fn commit_points(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let ratios = std::sync::Mutex::new(Vec::new());
    let mut rows = each(1, &COMMITS, |(name, test)| {
        let subject = Subject::new(setup.files.open(&format!("lib:atomicity/{name}.c"))?, test, setup)?;
        let mined = subject.mine()?;
        let inclusion = subject.ask(&Property::Observations(mined.observations.clone()), "sc")?;
        let commits = subject.ask(&Property::CommitAtomicity, "sc")?;
        let complete = mined.incomplete.is_none() && decided(&inclusion) && decided(&commits);
        let spent = [&inclusion, &commits].map(|report| report.stats.as_ref().map_or(0.0, |stats| stats.seconds));
        let all = mined.seconds + spent[0];
        let ratio = ratio(spent[1], all);
        ratios.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(complete.then_some(ratio));
        let cells = vec![
            (*name).to_owned(),
            (*test).to_owned(),
            inclusion.verdict.name().to_owned(),
            format!("{:.3}", mined.seconds),
            format!("{all:.3}"),
            commits.verdict.name().to_owned(),
            format!("{:.3}", spent[1]),
            format!("{ratio:.2}"),
        ];
        let notes = mined.incomplete.into_iter().chain(inclusion.reason).chain(commits.reason).collect();
        Ok(Rows::one(cells, notes, complete))
    })?;
    let ratios = ratios.into_inner().unwrap_or_default();
    let average = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    for (name, number) in [("average", format!("{average:.2}")), ("paper", "2.61".to_owned())] {
        let mut cells = vec![String::new(); 8];
        (cells[0], cells[7]) = (name.to_owned(), number);
        rows.rows.extend(Rows::one(cells, Vec::new(), true).rows);
    }
    let notes = [
        "Under sc, both by the explorer, on lib:atomicity/ms2.c and lib:atomicity/msn.c: one file with marks, which are nothing to the inclusion check. Its time is that of mining and check.",
        "The paper prints no numbers for single tests: the inclusion check is 2.61 times faster on average, up to an order of magnitude. Its other method is a formula with both executions in it; ours is a search with a shadow memory.",
        "Commit points have to be found first, and lazylist is not known to have any (paper, section 5).",
    ];
    let header =
        ["type", "test", "inclusion", "mining [s]", "all [s]", "commit points", "time [s]", "commit / inclusion"];
    Ok(made(title, &header, rows, &notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_whole() {
        let spent =
            |mining, all| Spent { implementation: "t", mining, by_formula: 6.0, encoding: 1.0, solving: 2.0, all };
        let shares = shares(&[&spent(1.0, 5.0), &spent(3.0, 7.0)]);
        assert_eq!(shares.map(|share| (share * 120.0).round()), [40.0, 20.0, 40.0, 20.0, 72.0]);
        assert!((mean(&[2.0, 0.5]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn both_methods_agree_on_every_test() {
        let made = commit_points(&crate::tests::setup(60), "").expect("a table");
        assert!(made.complete);
        let verdicts = made.report.rows.iter().take(COMMITS.len()).map(|row| [&row.cells[2], &row.cells[5]]);
        assert!(verdicts.into_iter().all(|pair| pair == ["verified"; 2]), "{:?}", made.report.rows);
    }
}
