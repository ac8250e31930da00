//! Diagnostics as people read them: the source, marked.

mod narrow;

use std::ops::Range;

use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind};
use cyrano_ir::origin::{Piece, pieces};
use cyrano_ir::{Diagnostic, Span};
use cyrano_report::{by_number, is_hidden, mark, visible};

use cyrano_session::Source;

use narrow::{Narrow, column, shortened};

/// All diagnostics of one file, ending with how many there are.
pub fn render(source: &Source, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut out = Vec::new();
    let shown: Vec<Shown> = pieces(&source.text).into_iter().map(|piece| Shown::new(source, piece)).collect();
    for (diagnostic, again) in gathered(diagnostics) {
        one(&shown, diagnostic, &again, color, &mut out);
    }
    // Every escape that is left is one of colour.
    let mut text = String::from_utf8_lossy(&out).replace('\u{1b}', mark());
    let noun = if diagnostics.len() == 1 { "error" } else { "errors" };
    text.push_str(&format!("{} {noun} in {}", diagnostics.len(), visible(&source.name)));
    text
}

/// Each mistake where it is made first, with the other places: one that is made ten times is told once.
fn gathered(diagnostics: &[Diagnostic]) -> Vec<(&Diagnostic, Vec<Span>)> {
    let mut gathered: Vec<(&Diagnostic, Vec<Span>)> = Vec::new();
    for diagnostic in diagnostics {
        let same = |(other, _): &&mut (&Diagnostic, Vec<Span>)| {
            let told = |of: &Diagnostic| (of.message.clone(), of.label.clone(), of.help.clone());
            told(other) == told(diagnostic) && other.related == diagnostic.related
        };
        match gathered.iter_mut().find(same) {
            Some((_, places)) => places.push(diagnostic.span),
            None => gathered.push((diagnostic, Vec::new())),
        }
    }
    gathered
}

/// How many other places of a mistake are named.
const PLACES: usize = 8;

/// `the same in line 3 (twice), 5, 9`: where else a mistake is made; in another file that is named, too.
fn elsewhere(shown: &[Shown], file: usize, again: &[Span]) -> String {
    let mut places: Vec<(String, usize)> = Vec::new();
    for span in again {
        let number = of(shown, *span);
        let range = shown[number].place(*span).1;
        let line = shown[number].text[..range.start].matches('\n').count() + 1;
        let place = if number == file { line.to_string() } else { format!("{line} of {}", shown[number].name) };
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, times)) => *times += 1,
            None => places.push((place, 1)),
        }
    }
    let left = places.len().saturating_sub(PLACES);
    let told = places.iter().take(PLACES).map(|(place, times)| match times {
        1 => place.clone(),
        _ => format!("{place} ({times} times)"),
    });
    let lines = if places.len() == 1 { "line" } else { "lines" };
    let more = if left == 0 { String::new() } else { format!(" and {left} more") };
    format!("the same in {lines} {}{more}", told.collect::<Vec<_>>().join(", "))
}

/// The file that a place stands in.
fn of(shown: &[Shown], span: Span) -> usize {
    shown.iter().rposition(|file| file.start <= span.range().start).unwrap_or(0)
}

/// A file as it is shown: characters that a terminal would obey by their numbers.
struct Shown {
    name: String,
    text: String,
    /// Where it begins in the source.
    start: usize,
    /// Places in the original and in what is shown, behind each such character.
    moved: Vec<(usize, usize)>,
}

impl Shown {
    fn new(source: &Source, piece: Piece) -> Self {
        let name = piece.file.as_ref().unwrap_or(&source.name);
        let start = piece.range.start;
        let own = &source.text[piece.range];
        let mut text = String::with_capacity(own.len());
        let mut moved = Vec::new();
        for (at, c) in own.char_indices() {
            if is_hidden(c) && !matches!(c, '\n' | '\t' | '\r') {
                text.push_str(&by_number(c));
                moved.push((at + c.len_utf8(), text.len()));
            } else {
                text.push(c);
            }
        }
        Self { name: visible(name).into_owned(), text, start, moved }
    }

    fn place(&self, span: Span) -> (String, Range<usize>) {
        let at = |offset: usize| {
            let offset = offset.saturating_sub(self.start);
            let before = self.moved.partition_point(|(original, _)| *original <= offset);
            before.checked_sub(1).map_or(offset, |last| offset - self.moved[last].0 + self.moved[last].1)
        };
        let range = span.range();
        (self.name.clone(), clamp(&self.text, at(range.start)..at(range.end)))
    }
}

fn one(shown: &[Shown], diagnostic: &Diagnostic, again: &[Span], color: bool, out: &mut Vec<u8>) {
    let place = |span: Span| {
        let file = of(shown, span);
        (file, shown[file].place(span).1)
    };
    let said = |text: &str| shortened(&visible(text));
    let related = diagnostic.related.iter().map(|(span, text)| (place(*span), said(text), Color::Blue));
    let mut labels = vec![(place(diagnostic.span), said(&diagnostic.label), Color::Red)];
    labels.extend(related);
    let narrow = |(number, file): (usize, &Shown)| {
        let own = labels.iter().filter(|((file, _), ..)| *file == number);
        Narrow::new(&file.text, &own.flat_map(|((_, range), ..)| [range.start, range.end]).collect::<Vec<_>>())
    };
    let texts: Vec<Narrow> = shown.iter().enumerate().map(narrow).collect();
    let moved = |(file, range): &(usize, Range<usize>)| {
        let text = &texts[*file];
        (shown[*file].name.clone(), text.place(range.start)..text.place(range.end))
    };
    let config = Config::new().with_color(color).with_index_type(IndexType::Byte).with_char_set(CharSet::Unicode);
    let mut report = Report::build(ReportKind::Error, moved(&labels[0].0))
        .with_config(config)
        .with_message(said(&diagnostic.message));
    for (place, text, color) in &labels {
        report = report.with_label(Label::new(moved(place)).with_message(text).with_color(*color));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(said(help));
    }
    if !again.is_empty() {
        report = report.with_note(elsewhere(shown, labels[0].0.0, again));
    }
    let cache = ariadne::sources(shown.iter().zip(&texts).map(|(file, text)| (file.name.clone(), text.text.clone())));
    let mut written = Vec::new();
    report.finish().write(cache, &mut written).expect("writing to memory cannot fail");
    let (file, range) = &labels[0].0;
    let columns =
        [column(&texts[*file].text, texts[*file].place(range.start)), column(&shown[*file].text, range.start)];
    out.extend(with_column(String::from_utf8_lossy(&written).into_owned(), &shown[*file].name, columns).bytes());
}

/// The text with the column of the first place that it names, as it is in the whole line.
fn with_column(text: String, name: &str, [shown, real]: [usize; 2]) -> String {
    if shown == real {
        return text;
    }
    let head = text.find(&format!(" {name}:")).map(|at| at + name.len() + 2);
    let column = head.and_then(|at| Some(at + text[at..].find(':')? + 1));
    match column {
        Some(at) if text[at..].starts_with(&format!("{shown} ")) => {
            format!("{}{real}{}", &text[..at], &text[at + shown.to_string().len()..])
        }
        _ => text,
    }
}

/// The range, moved inside the text and onto characters' borders.
fn clamp(text: &str, range: Range<usize>) -> Range<usize> {
    let floor = |offset: usize| {
        let offset = offset.min(text.len());
        (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_once() {
        let source = Source { name: "a.rml".into(), text: "x\nx x\ny x\n".into(), dir: None };
        let at = |at: usize, what: &str| Diagnostic::new(Span::new(at, at + 1), what, "not declared");
        let wrong = [at(0, "no x"), at(2, "no x"), at(4, "no x"), at(6, "no y"), at(8, "no x")];
        let rendered = render(&source, &wrong, false);
        assert_eq!(rendered.matches("Error: no x").count(), 1, "{rendered}");
        assert!(rendered.contains("the same in lines 2 (2 times), 3"), "{rendered}");
        assert!(rendered.contains("Error: no y") && rendered.ends_with("5 errors in a.rml"), "{rendered}");
    }

    fn check(text: &str, span: (usize, usize), parts: &[&str]) {
        let source = Source { name: "a.rml".into(), text: text.into(), dir: None };
        let diagnostic = Diagnostic::new(Span::new(span.0, span.1), "wrong", "here").with_help("right");
        let rendered = render(&source, &[diagnostic], false);
        for part in parts {
            assert!(rendered.contains(part), "{rendered}");
        }
    }

    #[test]
    fn places_are_shown() {
        check("x := 1;\né := y", (11, 15), &["a.rml:2:3", "Error: wrong", "here", "Help: right", "1 error in a.rml"]);
    }

    #[test]
    fn escape_sequences_are_shown_and_move_no_place() {
        let text = "// \u{1b}[2J\u{202e}\n\u{7}x := 1";
        check(text, (12, 13), &["a.rml:2:5", "\\x07x := 1"]);
        let source = Source { name: "\u{1b}c.rml".into(), text: text.into(), dir: None };
        let diagnostic = Diagnostic::new(Span::new(0, 5), "no `\u{1b}`", "\u{9b}").with_help("\u{7f}");
        let rendered = render(&source, &[diagnostic], false);
        assert!(!rendered.contains(|c: char| c.is_control() && c != '\n'), "{rendered:?}");
        let colored = render(&source, &[Diagnostic::new(Span::new(0, 5), "a", "b")], true);
        let printed = cyrano_report::terminal(&colored);
        assert!(printed.contains("\u{1b}[") && !printed.contains("\u{1b}[2J"), "{printed:?}");
    }

    #[test]
    fn long_lines_are_shown_in_part() {
        let text = format!("one\n{}é := y;{}\nthree", "x".repeat(5000), "z".repeat(1 << 20));
        check(&text, (5007, 5009), &["a.rml:2:5003 ", "…xxx", "é := y;zzz", "zzz…", "here"]);
        let source = Source { name: "a.rml".into(), text: text.clone(), dir: None };
        let related =
            Diagnostic::new(Span::new(5007, 5009), "w".repeat(9000), "here").with_related(Span::new(0, 3), "there");
        let rendered = render(&source, &[related], false);
        assert!(rendered.len() < 3000 && rendered.contains("there"), "{rendered}");
        check(&text, (4, text.len()), &["a.rml:2:1 "]);
        check(&text, (2, text.len() - 1), &["a.rml:1:3 ", "here"]);
        check(&"long ".repeat(1 << 17), (1 << 18, (1 << 18) + 3), &["a.rml:1:262145 "]);
    }

    #[test]
    fn places_outside_the_text_are_survived() {
        check("", (0, 0), &["wrong"]);
        check("", (5, 9), &["wrong"]);
        check("é", (1, 9), &["wrong"]);
        check("a\n", (2, 2), &["wrong"]);
    }
}
