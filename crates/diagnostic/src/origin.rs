//! Texts that were put together from several files: the file's own text, and behind it each file that it uses, after a line `//@file NAME`.
//!
//! So it is still one text, with one place for everything, and a saved trace carries all of it; places in it can be told as those of the files.

use std::ops::Range;

/// What a line starts with that says which file the lines behind it are.
pub const MARK: &str = "//@file ";

/// A file in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Its name; none if it is the file that the text is called by.
    pub file: Option<String>,
    /// Where it stands in the text.
    pub range: Range<usize>,
}

/// The files of a text, in order.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut all = vec![Piece { file: None, range: 0..text.len() }];
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(name) = line.strip_prefix(MARK) {
            if let Some(last) = all.last_mut() {
                last.range.end = start;
            }
            all.push(Piece { file: Some(name.trim_end().to_owned()), range: end..text.len() });
        }
        start = end;
    }
    all
}

/// Where the file's own text ends.
pub fn own_end(text: &str) -> usize {
    pieces(text).first().map_or(text.len(), |own| own.range.end)
}

/// For each file that was put in: its name, and in which lines of the text it stands.
pub fn lines(text: &str) -> Vec<(String, Range<usize>)> {
    let line = |offset: usize| text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
    let told =
        |Piece { file, range }: Piece| Some((file?, line(range.start)..line(range.end.max(range.start + 1) - 1) + 1));
    pieces(text).into_iter().filter_map(told).collect()
}

/// The file of [`lines`] that a line of the text stands in, and which line it is there; none if it is the text's own.
pub fn found(files: &[(String, Range<usize>)], line: usize) -> Option<(&str, usize)> {
    let (file, range) = files.iter().find(|(_, range)| range.contains(&line))?;
    Some((file, line - range.start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_again() {
        let text = "a\nb\n//@file lib:m\nc\nd\n//@file n.rml\ne";
        let found: Vec<_> = pieces(text).into_iter().map(|p| (p.file.unwrap_or_default(), &text[p.range])).collect();
        assert_eq!(found, [(String::new(), "a\nb\n"), ("lib:m".to_owned(), "c\nd\n"), ("n.rml".to_owned(), "e")]);
        assert_eq!(lines(text), [("lib:m".to_owned(), 4..6), ("n.rml".to_owned(), 7..8)]);
        let place = |line| super::found(&lines(text), line).map(|(file, line)| (file.to_owned(), line));
        assert_eq!((place(2), place(3), place(5)), (None, None, Some(("lib:m".to_owned(), 2))));
        assert_eq!((own_end(text), own_end("x"), lines("x")), (4, 1, Vec::new()));
    }
}
