//! Fig. 10b: how time and memory grow with the number of memory accesses in the unrolled code.

use cyrano_report::{Chart, Panel, Series};

use super::measured::Measured;
use super::paper::{Printed, ROWS, Row};
use super::{Made, Rows, Setup, each, made};
use cyrano_session::Failure;
use cyrano_session::pool::processors;

/// One test: accesses, seconds, megabytes.
type Point = [f64; 3];

/// The columns that grow.
const GROWING: [(usize, &str); 2] = [(1, "seconds of encoding and solving"), (2, "MB of the solver")];

/// How costs grow, as a table and as a chart.
pub fn growth(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows: Vec<&Row> = ROWS.iter().collect();
    each(processors(), &rows, |row| Measured::of(setup, row).map(|_| Rows { rows: Vec::new(), complete: true }))?;
    let mut types: Vec<&'static str> = ROWS.iter().map(|row| row.implementation).collect();
    types.dedup();
    let (mut shown, mut series) = (Rows { rows: Vec::new(), complete: true }, Vec::new());
    for name in types {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for row in ROWS.iter().filter(|row| row.implementation == name) {
            let measured = Measured::of(setup, row)?;
            shown.complete &= measured.checked.decided();
            ours.extend(measured.checked.decided().then(|| our_point(&measured)));
            theirs.push(printed_point(row));
        }
        for (who, points) in [("", &ours), ("paper", &theirs)] {
            let mut cells = vec![if who.is_empty() { name } else { "" }.to_owned(), who.to_owned()];
            cells.push(from_to(points, 0, 0));
            for (column, digits) in [(1, 2), (2, 1)] {
                cells.extend([from_to(points, column, digits), slope(points, column)]);
            }
            shown.rows.extend(Rows::one(cells, Vec::new(), true).rows);
        }
        series.push((name, ours, theirs));
    }
    let notes = [
        "Power: the exponent of the straight line through the points of a type, both axes being logarithmic; seconds grow like accesses to this power. Accesses are loads and stores of the unrolled code.",
        "`--svg FILE` draws the points, ours and the paper's.",
    ];
    let header = ["type", "", "accesses", "time [s]", "power", "MB", "power"];
    Ok(Made { chart: Some(chart(title, &series)), ..made(title, &header, shown, &notes) })
}

fn our_point(measured: &Measured) -> Point {
    let stats = &measured.checked.stats;
    [(stats.loads + stats.stores) as f64, stats.seconds, stats.bytes as f64 / f64::from(1 << 20)]
}

/// A number that is only bounded from above is drawn at half of its bound.
fn printed_point(row: &Row) -> Point {
    let number = |printed: Printed| match printed {
        Printed::Is(number) => number,
        Printed::Below(bound) => bound / 2.0,
    };
    [f64::from(row.unrolled[1] + row.unrolled[2]), row.total_seconds, number(row.solver_megabytes)]
}

fn from_to(points: &[Point], column: usize, digits: usize) -> String {
    let values = || points.iter().map(|point| point[column]);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if points.is_empty() { "-".to_owned() } else { format!("{low:.digits$} to {high:.digits$}") }
}

/// The slope of the line with the least squares, both axes being logarithmic.
fn slope(points: &[Point], column: usize) -> String {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|point| point[column] > 0.0).map(|point| (point[0].ln(), point[column].ln())).collect();
    let count = logs.len() as f64;
    let mean = |part: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(&|log| log.0), mean(&|log| log.1));
    let (over, under) = (mean(&|log| (log.0 - x) * (log.1 - y)), mean(&|log| (log.0 - x).powi(2)));
    if logs.len() < 2 || under == 0.0 { "-".to_owned() } else { format!("{:.1}", over / under) }
}

fn chart(title: &str, series: &[(&str, Vec<Point>, Vec<Point>)]) -> Chart {
    let panel = |(column, what): (usize, &str)| {
        let points = |all: &[Point]| all.iter().map(|point| (point[0], point[column])).collect();
        let series = series.iter().map(|(name, ours, theirs)| Series {
            name: (*name).to_owned(),
            filled: points(ours),
            hollow: points(theirs),
        });
        Panel { axes: ["memory accesses in the unrolled code".to_owned(), what.to_owned()], series: series.collect() }
    };
    let hollow = "hollow: the paper's".to_owned();
    Chart { title: title.to_owned(), panels: GROWING.map(panel).into(), hollow }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent() {
        let points: Vec<Point> = (1..5).map(f64::from).map(|x| [x, 3.0 * x.powi(2), 0.0]).collect();
        assert_eq!((slope(&points, 1), slope(&points, 2)), ("2.0".to_owned(), "-".to_owned()));
        assert_eq!(from_to(&points, 1, 0), "3 to 48");
    }
}
