//! "Did you mean …?", by edit distance, for every front end and the command line.

/// Names longer than this are not compared: the cost is quadratic and nobody misspells them by one letter.
const MAX_LEN: usize = 64;

/// The candidate closest to `word`, if it is close enough to be meant, whatever the case of its letters.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let len = word.chars().count();
    if len > MAX_LEN {
        return None;
    }
    let allowed = (len / 3).max(1);
    let near = candidates.into_iter().filter(|c| c.len() <= MAX_LEN && c.len().abs_diff(word.len()) <= allowed);
    let scored = near.map(|c| (distance(word, c), c));
    let (_, best) = scored.filter(|(d, c)| *d <= allowed && *d < c.chars().count()).min()?;
    Some(best)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, each swap counted once.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let (a, b) = (letters(a), letters(b));
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
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
    use super::*;

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        let check = |word, expected| assert_eq!(closest(word, ["flag", "turn", "x", "store-load"]), expected);
        check("falg", Some("flag"));
        check("turm", Some("turn"));
        check("store-laod", Some("store-load"));
        check("TURN", Some("turn"));
        check("y", None);
        check("counter", None);
    }
}
