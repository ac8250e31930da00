//! What the tests of the whole crate share: C in, units and diagnostics out.

#![allow(dead_code, reason = "each test file uses its part")]

use cyrano_cfront::{TestFile, Unit};
use cyrano_ir::Diagnostic;

/// A checked file without files beside it.
pub fn unit(source: &str) -> Unit {
    cyrano_cfront::parse(source, "test", &|_| None).unwrap_or_else(|errors| panic!("{}", render(source, &errors)))
}

/// Its tests.
pub fn file(unit: &Unit, tests: &str) -> TestFile {
    cyrano_cfront::tests(tests, unit).unwrap_or_else(|errors| panic!("{}", render(tests, &errors)))
}

/// Diagnostics as lines: `line: message | marked text | label`.
pub fn render(source: &str, errors: &[Diagnostic]) -> String {
    let place = |span: cyrano_ir::Span| {
        let upto = source.get(..span.start as usize).unwrap_or_default();
        let text = source.get(span.range()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        (upto.matches('\n').count() + 1, text)
    };
    let mut lines = String::new();
    for error in errors {
        let (line, text) = place(error.span);
        lines += &format!("{line}: {} | {text} | {}\n", error.message, error.label);
        for (span, what) in &error.related {
            let (line, text) = place(*span);
            lines += &format!("  {line}: {text} | {what}\n");
        }
        lines += &error.help.as_ref().map_or(String::new(), |help| format!("  help: {help}\n"));
    }
    lines
}
