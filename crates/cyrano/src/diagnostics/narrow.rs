//! Very long lines, of which a diagnostic shows only what is around its first label: a text of one line may have a megabyte.
//!
//! **Invariant:** places outside of such lines are where they were in their lines, and those inside are on the same character, or at the edge of what is shown.

use std::ops::Range;

/// The longest line that is shown whole, in bytes.
const LONGEST: usize = 300;
/// What is shown of a longer one before and after the first label's beginning.
const AROUND: (usize, usize) = (80, 160);
/// The longest message that is shown whole, in characters.
const WORDS: usize = 600;

/// What stands for what is left out.
const LEFT_OUT: char = '…';

/// A text without most of some long lines.
pub(super) struct Narrow {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A part of the original that is shown, and what is before it.
struct Piece {
    /// The part of the original that it stands for.
    whole: Range<usize>,
    /// What of it is shown.
    kept: Range<usize>,
    /// Where that is now.
    at: usize,
}

impl Narrow {
    /// Shortens the long lines that have one of these places.
    pub(super) fn new(text: &str, places: &[usize]) -> Self {
        let mut this = Self { text: String::new(), pieces: Vec::new() };
        let mut done = 0;
        for line in long_lines(text, places) {
            this.push(text, done..line.start, done..line.start);
            let focus = places.iter().copied().find(|place| (line.start..=line.end).contains(place));
            let focus = focus.unwrap_or(line.start);
            let start = border(text, focus.saturating_sub(AROUND.0).max(line.start));
            let end = border(text, (focus + AROUND.1).min(line.end));
            this.push(text, line.clone(), start..end);
            done = line.end;
        }
        this.push(text, done..text.len(), done..text.len());
        this
    }

    fn push(&mut self, text: &str, whole: Range<usize>, kept: Range<usize>) {
        if kept.start > whole.start {
            self.text.push(LEFT_OUT);
        }
        let at = self.text.len();
        self.text.push_str(&text[kept.clone()]);
        if kept.end < whole.end {
            self.text.push(LEFT_OUT);
        }
        self.pieces.push(Piece { whole, kept, at });
    }

    /// Where a place of the original is.
    pub(super) fn place(&self, offset: usize) -> usize {
        let piece = self.pieces.iter().find(|piece| offset < piece.whole.end).or(self.pieces.last());
        piece.map_or(offset, |piece| piece.at + offset.clamp(piece.kept.start, piece.kept.end) - piece.kept.start)
    }
}

/// The long lines that have one of these places, without their ends.
fn long_lines(text: &str, places: &[usize]) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = places.iter().map(|place| line_of(text, *place)).collect();
    lines.retain(|line| line.len() > LONGEST);
    lines.sort_by_key(|line| line.start);
    lines.dedup();
    lines
}

fn line_of(text: &str, place: usize) -> Range<usize> {
    let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place..].find('\n').map_or(text.len(), |at| place + at);
    start..end
}

/// The column of a place, as people count.
pub(super) fn column(text: &str, place: usize) -> usize {
    text[line_of(text, place).start..place].chars().count() + 1
}

/// A message, or the beginning of a very long one.
pub(super) fn shortened(message: &str) -> String {
    match message.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}{LEFT_OUT}", &message[..end]),
        None => message.to_owned(),
    }
}

fn border(text: &str, offset: usize) -> usize {
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
