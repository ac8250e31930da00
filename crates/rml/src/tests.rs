//! The crate's tests: one `check` function for lowered programs and one for diagnostics.

mod algorithm;
mod blocks;
mod client;
mod diagnostics;
mod homes;
mod limits;
mod lowering;
mod placement;
mod reference;
mod references;
mod soup;
mod stm;
mod stm_errors;
mod stm_events;
mod syntax;
mod timestamps;
mod unrolling;
mod values;

use cyrano_ir::{Diagnostic, Program, Span};
use expect_test::Expect;

use crate::{CompileError, compile};

/// Compiles a program that must be right.
fn program(source: &str, set: &[(&str, i128)]) -> Program {
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = match compile(source, "test", &set) {
        Ok(program) => program,
        Err(CompileError::Diagnostics(diagnostics)) => panic!("{}", render(source, &diagnostics)),
        Err(other) => panic!("{other:?}"),
    };
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    program
}

/// Compares the text form of a lowered program, with the source text of each span instead of its offsets.
fn check(source: &str, expect: Expect) {
    expect.assert_eq(&listing(source, &program(source, &[])));
}

fn listing(source: &str, program: &Program) -> String {
    let text = cyrano_ir::text::print(program);
    let lines = text.lines().skip(1).map(|line| match line.rsplit_once(" ; ") {
        Some((line, span)) if line.starts_with("  @") => format!("{line:<40} // {}\n", spanned(source, span)),
        Some((line, _)) => format!("{line}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn spanned(source: &str, span: &str) -> String {
    let (start, end) = span.split_once("..").expect("a span");
    let text = &source[start.parse().expect("an offset")..end.parse().expect("an offset")];
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares the diagnostics of a wrong program.
fn check_errors(source: &str, expect: Expect) {
    match compile(source, "test", &[]) {
        Err(CompileError::Diagnostics(diagnostics)) => expect.assert_eq(&render(source, &diagnostics)),
        other => panic!("{other:?}"),
    }
}

/// Diagnostics in a form like that of the command line.
fn render(source: &str, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&format!("error: {}\n", diagnostic.message));
        out.push_str(&marked(source, diagnostic.span, &diagnostic.label));
        for (span, text) in &diagnostic.related {
            out.push_str(&marked(source, *span, text));
        }
        if let Some(help) = &diagnostic.help {
            out.push_str(&format!("  help: {help}\n"));
        }
    }
    out
}

fn marked(source: &str, span: Span, label: &str) -> String {
    let start = (span.start as usize).min(source.len());
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let number = source[..start].matches('\n').count() + 1;
    let line = source[line_start..].lines().next().unwrap_or_default();
    let column = source[line_start..start].chars().count();
    let width =
        source.get(span.range()).map_or(1, |text| text.lines().next().unwrap_or_default().chars().count().max(1));
    format!("{number:>3} | {line}\n    | {}{} {label}\n", " ".repeat(column), "^".repeat(width))
}
