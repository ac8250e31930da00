//! Diagnostics as people read them: the source, marked.

use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind};
use cyrano_ir::{Diagnostic, Span};

use crate::source::Source;

/// All diagnostics of one file, ending with how many there are.
pub fn render(source: &Source, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut out = Vec::new();
    for diagnostic in diagnostics {
        one(source, diagnostic, color, &mut out);
    }
    let mut text = String::from_utf8_lossy(&out).into_owned();
    let noun = if diagnostics.len() == 1 { "error" } else { "errors" };
    text.push_str(&format!("{} {noun} in {}", diagnostics.len(), source.name));
    text
}

fn one(source: &Source, diagnostic: &Diagnostic, color: bool, out: &mut Vec<u8>) {
    let place = |span: Span| (source.name.as_str(), clamp(&source.text, span));
    let config = Config::new().with_color(color).with_index_type(IndexType::Byte).with_char_set(CharSet::Unicode);
    let mut report = Report::build(ReportKind::Error, place(diagnostic.span))
        .with_config(config)
        .with_message(&diagnostic.message)
        .with_label(Label::new(place(diagnostic.span)).with_message(&diagnostic.label).with_color(Color::Red));
    for (span, text) in &diagnostic.related {
        report = report.with_label(Label::new(place(*span)).with_message(text).with_color(Color::Blue));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    let cache = (source.name.as_str(), ariadne::Source::from(source.text.as_str()));
    let written = report.finish().write(cache, &mut *out);
    written.expect("writing to memory cannot fail");
}

/// The span, moved inside the text and onto characters' borders.
fn clamp(text: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |offset: usize| {
        let offset = offset.min(text.len());
        (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = floor(span.range().start);
    start..floor(span.range().end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn places_outside_the_text_are_survived() {
        check("", (0, 0), &["wrong"]);
        check("", (5, 9), &["wrong"]);
        check("é", (1, 9), &["wrong"]);
        check("a\n", (2, 2), &["wrong"]);
    }
}
