//! An observation that no serial execution has, in words, beside the serial ones that come closest (CheckFence, section 2.2).

use std::collections::BTreeSet;

use cyrano_engine::Violation;
use cyrano_ir::{Observable, Program, Ty};

use crate::explain::listed;
use crate::pointers::shown;
use crate::schema::{Explanation, NamedValue};

/// How many serial observations are shown beside the one that is not.
const NEAREST: usize = 3;

/// Why an outcome matters that is not among the allowed ones.
pub(crate) fn explain(program: &Program, outcome: &[i128], allowed: &BTreeSet<Vec<i128>>) -> Explanation {
    let violation = Violation::Observation { outcome: outcome.to_vec() };
    let values = named(program, outcome);
    let nearest: Vec<_> = nearest(outcome, allowed).into_iter().map(|row| named(program, row)).collect();
    let shows = if values.is_empty() { "The execution ends".to_owned() } else { listed(&values) };
    let closest = match nearest.first() {
        None => "there is no serial execution at all".to_owned(),
        Some(first) if first.is_empty() => String::new(),
        Some(first) => format!("the nearest serial observation has {}", differing(first, &values)),
    };
    let closest = if closest.is_empty() { closest } else { format!("; {closest}") };
    Explanation {
        kind: violation.kind().to_owned(),
        sentence: format!("{shows}: no serial execution gives this observation{closest}."),
        values,
        nearest,
        ..Explanation::default()
    }
}

/// The allowed outcomes with the fewest differing columns, the smallest first among equals.
fn nearest<'a>(outcome: &[i128], allowed: &'a BTreeSet<Vec<i128>>) -> Vec<&'a [i128]> {
    let distance = |row: &[i128]| row.iter().zip(outcome).filter(|(a, b)| a != b).count();
    let mut rows: Vec<&[i128]> = allowed.iter().map(Vec::as_slice).collect();
    rows.sort_by_key(|row| distance(row));
    rows.truncate(NEAREST);
    rows
}

fn named(program: &Program, row: &[i128]) -> Vec<NamedValue> {
    let columns = program.observed.iter().zip(row);
    let named = |(column, value): (&Observable, &i128)| NamedValue {
        name: column.name.clone(),
        value: Some(*value),
        shown: shown(program, Ty::Int, *value),
    };
    columns.map(named).collect()
}

/// The columns in which a serial observation differs, with its values.
fn differing(serial: &[NamedValue], shown: &[NamedValue]) -> String {
    let different = serial.iter().zip(shown).filter(|(a, b)| a.value != b.value);
    listed(&different.map(|(serial, _)| serial.clone()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_ir::{FinalVar, LocId};

    fn check(outcome: &[i128], allowed: &[&[i128]], sentence: &str, closest: &[&[i128]]) {
        let column = |name: &str| Observable { name: name.into(), var: FinalVar::Loc(LocId(0)) };
        let observed = ["a", "b", "c"].map(column).into_iter().take(outcome.len()).collect();
        let program = Program { observed, ..Program::default() };
        let allowed = allowed.iter().map(|row| row.to_vec()).collect();
        let explanation = explain(&program, outcome, &allowed);
        assert_eq!(explanation.sentence, sentence);
        assert_eq!(explanation.kind, "observation");
        let values = |row: &Vec<NamedValue>| row.iter().filter_map(|v| v.value).collect::<Vec<_>>();
        assert_eq!(explanation.nearest.iter().map(values).collect::<Vec<_>>(), closest);
    }

    #[test]
    fn the_nearest_observations_stand_beside_it() {
        check(
            &[1, 2, i128::MIN],
            &[&[5, 6, 7], &[1, 2, 4], &[1, 1, 1], &[1, 2, 3]],
            "a = 1, b = 2, c = undefined: no serial execution gives this observation; \
             the nearest serial observation has c = 3.",
            &[&[1, 2, 3], &[1, 2, 4], &[1, 1, 1]],
        );
    }

    #[test]
    fn there_may_be_nothing_to_compare_with() {
        let none = "a = 1: no serial execution gives this observation; there is no serial execution at all.";
        check(&[1], &[], none, &[]);
    }
}
