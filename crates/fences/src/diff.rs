//! Unified diffs of two texts, by the greedy algorithm of Myers ("An O(ND) difference algorithm", 1986, section 4).
//!
//! Its time and memory depend on how much changes, not on how long the texts are: right for a few inserted lines.

use std::fmt::Write;
use std::ops::Range;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// The unified diff that turns `old` into `new`; empty if they are equal.
pub fn unified_diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let edits = edits(&old, &new);
    let hunks = hunks(&edits);
    if hunks.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    for hunk in hunks {
        write_hunk(&mut text, &edits, hunk);
    }
    text
}

/// What happens to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit<'t> {
    Keep(&'t str),
    Delete(&'t str),
    Insert(&'t str),
}

impl<'t> Edit<'t> {
    /// The sign before the line, the line, and how many lines of the old and the new text it is.
    fn parts(self) -> (char, &'t str, [usize; 2]) {
        match self {
            Self::Keep(line) => (' ', line, [1, 1]),
            Self::Delete(line) => ('-', line, [1, 0]),
            Self::Insert(line) => ('+', line, [0, 1]),
        }
    }
}

/// A shortest script of edits.
fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Edit<'t>> {
    let trail = trail(old, new);
    let (mut x, mut y) = (old.len(), new.len());
    let mut reversed = Vec::with_capacity(x + y);
    for (d, furthest) in trail.iter().enumerate().rev() {
        let (px, py) = if d == 0 { (0, 0) } else { came_from(furthest, d, x as isize - y as isize) };
        // Unchanged lines lead from this round's edit to (x, y).
        while x > px && y > py {
            (x, y) = (x - 1, y - 1);
            reversed.push(Edit::Keep(old[x]));
        }
        if x > px {
            x -= 1;
            reversed.push(Edit::Delete(old[x]));
        } else if y > py {
            y -= 1;
            reversed.push(Edit::Insert(new[y]));
        }
    }
    reversed.reverse();
    reversed
}

/// For each number of edits how far one gets on each diagonal with one edit less: `furthest[k + d]` for diagonal `k`.
fn trail(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let most = old.len() + new.len();
    let mut furthest = vec![0usize];
    let mut trail = Vec::new();
    for d in 0..=most {
        trail.push(furthest.clone());
        let mut next = vec![0usize; 2 * d + 1];
        for k in (-(d as isize)..=d as isize).step_by(2) {
            let (px, py) = if d == 0 { (0, 0) } else { came_from(&furthest, d, k) };
            let mut x = if d == 0 { 0 } else { px + usize::from(px as isize - py as isize == k - 1) };
            let mut y = (x as isize - k) as usize;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            next[(k + d as isize) as usize] = x;
            if x >= old.len() && y >= new.len() {
                return trail;
            }
        }
        furthest = next;
    }
    trail
}

/// The point from which the `d`-th edit led to diagonal `k`: the one that is further.
fn came_from(furthest: &[usize], d: usize, k: isize) -> (usize, usize) {
    let reach = |diagonal: isize| furthest[(diagonal + d as isize - 1) as usize];
    let (last, end) = (d as isize, -(d as isize));
    let from = if k == end || k != last && reach(k - 1) < reach(k + 1) { k + 1 } else { k - 1 };
    let x = reach(from);
    (x, (x as isize - from) as usize)
}

/// The ranges of edits that are shown together.
fn hunks(edits: &[Edit<'_>]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for at in (0..edits.len()).filter(|at| !matches!(edits[*at], Edit::Keep(_))) {
        let shown = at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(edits.len());
        match hunks.last_mut() {
            Some(last) if shown.start <= last.end => last.end = shown.end,
            _ => hunks.push(shown),
        }
    }
    hunks
}

fn write_hunk(text: &mut String, edits: &[Edit<'_>], hunk: Range<usize>) {
    let count = |edits: &[Edit<'_>], side: usize| edits.iter().map(|edit| edit.parts().2[side]).sum::<usize>();
    let range = |side: usize| {
        let (before, lines) = (count(&edits[..hunk.start], side), count(&edits[hunk.clone()], side));
        // An empty range is named by the line before it.
        format!("{},{lines}", if lines == 0 { before } else { before + 1 })
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "@@ -{} +{} @@", range(0), range(1));
    for edit in &edits[hunk.clone()] {
        let (sign, line, _) = edit.parts();
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        let _ = write!(text, "{sign}{line}{end}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(unified_diff(old, new, "a", "b"), expected);
    }

    #[test]
    fn one_line_more() {
        check("a\nb\nc\n", "a\nb\nc\n", "");
        check("a\nb\n", "a\nx\nb\n", "--- a\n+++ b\n@@ -1,2 +1,3 @@\n a\n+x\n b\n");
        check("", "x\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
    }

    #[test]
    fn far_changes_have_hunks_of_their_own() {
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("2\n3\n", "2\nx\n3\n").replace("\n17\n", "\n");
        let expected = "--- a\n+++ b\n@@ -1,6 +1,7 @@\n 0\n 1\n 2\n+x\n 3\n 4\n 5\n@@ -15,6 +16,5 @@\n 14\n 15\n 16\n-17\n 18\n 19\n";
        check(&old, &new, expected);
    }

    #[test]
    fn the_end_of_the_text() {
        let expected =
            "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        check("a", "b", expected);
    }

    proptest! {
        /// The edits turn one text into the other, and there are no more of them than a longest common subsequence leaves.
        #[test]
        fn edits_are_right_and_few(old in "[ab\n]{0,14}", new in "[ab\n]{0,14}") {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
            let edits = edits(&old, &new);
            let side = |side: usize| -> Vec<&str> {
                edits.iter().filter(|edit| edit.parts().2[side] == 1).map(|edit| edit.parts().1).collect()
            };
            prop_assert_eq!(side(0), &old[..]);
            prop_assert_eq!(side(1), &new[..]);
            let kept = edits.iter().filter(|edit| matches!(edit, Edit::Keep(_))).count();
            prop_assert_eq!(kept, common(&old, &new));
        }
    }

    /// The length of a longest common subsequence, by the textbook recursion.
    fn common(old: &[&str], new: &[&str]) -> usize {
        match (old.split_first(), new.split_first()) {
            (Some((a, rest)), Some((b, other))) if a == b => 1 + common(rest, other),
            (Some((_, rest)), Some((_, other))) => common(rest, new).max(common(old, other)),
            _ => 0,
        }
    }
}
