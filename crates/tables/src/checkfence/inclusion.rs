//! Fig. 10: the inclusion checks of the fenced implementations; section 4.4: what mining their specifications costs (Fig. 11a and b, whose points
//! are not printed as numbers).

use cyrano_report::{TableRow, count};

use super::measured::Measured;
use super::paper::{self, Printed, ROWS};
use super::question::Checked;
use super::{Made, Rows, Setup, each, made, seconds, strings};
use cyrano_session::Failure;
use cyrano_session::pool::processors;

/// The columns of Fig. 10. The first line of a test is ours, the second the paper's.
const HEADER: [&str; 11] =
    ["test", "verdict", "instrs", "loads", "stores", "vars", "clauses", "enc [s]", "sat [s]", "MB", "all [s]"];

/// The rows of one implementation.
pub fn figure(setup: &Setup<'_>, title: &str, implementation: &str) -> Result<Made, Failure> {
    let printed: Vec<&paper::Row> = ROWS.iter().filter(|row| row.implementation == implementation).collect();
    let rows = each(processors(), &printed, |row| test(setup, row))?;
    let notes = [
        "First line of a test: ours, the times with all rounds of lazy unrolling, the sizes those of the last round and without the initialisation. Second line: the paper's, without the time for unrolling.",
        "An instruction of ours may compute a whole expression, the paper's has one operator. A compare-and-swap is one instruction here and counts as a load and as a store.",
        "Our clauses do not say that the memory order is transitive, which a theory sees to; the paper's do.",
    ];
    Ok(made(title, &HEADER, rows, &notes))
}

fn test(setup: &Setup<'_>, printed: &paper::Row) -> Result<Rows, Failure> {
    let measured = Measured::of(setup, printed)?;
    let complete = measured.checked.decided();
    Ok(Rows { rows: vec![ours(printed.test, &measured.checked), theirs(printed)], complete })
}

fn ours(test: &str, checked: &Checked) -> TableRow {
    let stats = &checked.stats;
    let mut cells = strings(&[test, checked.verdict.name()]);
    let numbers = [
        count(stats.instructions),
        count(stats.loads),
        count(stats.stores),
        count(stats.variables),
        count(stats.clauses),
        seconds(stats.encode_seconds),
        seconds(stats.solve_seconds),
        (stats.bytes >> 20).to_string(),
        seconds(stats.seconds),
    ];
    // Without a round there is nothing to count.
    cells.extend(numbers.map(|number| if stats.rounds == 0 { "-".to_owned() } else { number }));
    TableRow { cells, notes: checked.words() }
}

fn theirs(row: &paper::Row) -> TableRow {
    let printed = |number: Printed, digits: usize| match number {
        Printed::Is(number) => format!("{number:.digits$}"),
        Printed::Below(number) => format!("<{number:.digits$}"),
    };
    let [instructions, loads, stores] = row.unrolled.map(|number| count(number.into()));
    let [variables, clauses] = row.cnf.map(|number| count(number.into()));
    let cells = vec![
        String::new(),
        "paper".to_owned(),
        instructions,
        loads,
        stores,
        variables,
        clauses,
        format!("{:.1}", row.encode_seconds),
        printed(row.solver_seconds, 1),
        printed(row.solver_megabytes, 0),
        format!("{:.1}", row.total_seconds),
    ];
    TableRow { cells, notes: Vec::new() }
}

/// How many observations each test has, and how long it takes to find them.
pub fn mining(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let tests: Vec<&paper::Row> = ROWS.iter().collect();
    let rows = each(processors(), &tests, |row| {
        let measured = Measured::of(setup, row)?;
        let (mined, by_formula) = (&measured.mined, measured.by_formula(setup)?);
        let complete = [mined, by_formula].into_iter().all(|mined| mined.incomplete.is_none());
        let same = !complete || mined.observations == by_formula.observations;
        let differ = "The explorer and the formula find other sets: this is a bug.".to_owned();
        let cells = vec![
            row.implementation.to_owned(),
            row.test.to_owned(),
            if complete { "complete" } else { "unknown" }.to_owned(),
            count(mined.observations.len() as u64),
            format!("{:.3}", mined.seconds),
            by_formula.clauses.map_or_else(|| "-".to_owned(), count),
            format!("{:.3}", by_formula.seconds),
        ];
        let reasons = [mined, by_formula].into_iter().flat_map(|mined| mined.incomplete.clone());
        Ok(Rows::one(cells, reasons.chain((!same).then_some(differ)).collect(), complete && same))
    })?;
    let notes = [
        "First time: as `cyrano check` mines, by exploring serial executions; then by one formula, as the paper does. The sets are compared.",
        "The paper prints no numbers for single tests: most sets have less than 200 elements, and mining takes about a third of the time on average.",
    ];
    let header = ["type", "test", "set", "observations", "time [s]", "clauses", "by formula [s]"];
    Ok(made(title, &header, rows, &notes))
}

#[cfg(test)]
mod tests {
    use super::super::question::{Subject, library};
    use super::*;

    #[test]
    fn every_test_of_the_figure_is_in_the_library() {
        let setup = crate::tests::setup(0);
        for row in ROWS {
            let subject = library(&setup, row.implementation).and_then(|file| Subject::new(file, row.test, &setup));
            assert!(subject.is_ok(), "{} {}", row.implementation, row.test);
        }
    }

    #[test]
    fn rows_fill_their_columns_and_a_limit_is_unknown() {
        let rows = |seconds| {
            let setup = crate::tests::setup(seconds);
            let subject = Subject::new(library(&setup, "ms2").expect("a file"), "T0", &setup).expect("a test");
            let checked = subject.check(&subject.mine().expect("an answer"), "relaxed").expect("an answer");
            ours("T0", &checked).cells
        };
        assert_eq!(theirs(&ROWS[0]).cells.len(), HEADER.len());
        let done = rows(60);
        assert_eq!((done.len(), done[1].as_str()), (HEADER.len(), "verified"));
        assert!(done[2..].iter().all(|cell| cell != "-"), "{done:?}");
        let stopped = rows(0);
        assert_eq!((stopped.len(), stopped[1].as_str(), stopped[6].as_str()), (HEADER.len(), "unknown", "-"));
    }
}
