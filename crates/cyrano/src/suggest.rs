//! "Did you mean": the nearest of some names.

/// The name that is most like `wrong`, if one is near enough to be a misspelling. Single letters have no misspellings.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wrong.chars().count();
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let rated = names.into_iter().map(|name| (distance(wrong, name), name));
    rated.filter(|(distance, _)| *distance <= limit).min().map(|(_, name)| name)
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspellings_are_recognised() {
        let check = |wrong: &str, expected: Option<&str>| {
            assert_eq!(nearest(wrong, ["sc", "tso", "pso", "relaxed", "sparc-rmo"]), expected);
        };
        check("tos", Some("tso"));
        check("TSO", Some("tso"));
        check("relaxd", Some("relaxed"));
        check("sparcrmo", Some("sparc-rmo"));
        check("power", None);
        check("s", None);
    }
}
