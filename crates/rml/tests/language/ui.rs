//! Programs beside what is said about them (`errors/`) and what they are lowered to (`lowering/`).
//!
//! A file has cases: a line `==== name`, the program, a line `----`, and what is expected. All differences are listed at once;
//! `UPDATE_EXPECT=1` writes what was found into the files. An `algorithm` has a program for each client, unless its case ends with
//! `[one program]`.

use std::fmt::Write;
use std::path::PathBuf;

use cyrano_ir::{Diagnostic, Program, Span};
use cyrano_rml::{CompileError, algorithm, compile};

#[test]
fn errors() {
    check("errors", 111, diagnostics);
}

#[test]
fn lowering() {
    check("lowering", 20, listing);
}

/// Compares what `show` says about every program of a folder, of which there are so many.
fn check(folder: &str, count: usize, show: fn(&str, &str) -> String) {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let (mut cases, mut wrong) = (0, String::new());
    for path in files(folder) {
        let text = std::fs::read_to_string(&path).expect("a file");
        let (mut found, text) = (String::new(), text.trim_start_matches("==== ").trim_end_matches('\n'));
        for case in text.split("\n\n==== ") {
            cases += 1;
            let (name, rest) = case.split_once('\n').expect("a name");
            let (source, expected) = rest.split_once("\n----\n").expect("a program and what is expected");
            let shown = show(name, source).trim_end().to_owned();
            if shown != expected {
                let _ = writeln!(wrong, "{}: {name}\n{source}\nexpected\n{expected}\nfound\n{shown}", path.display());
            }
            let _ = writeln!(found, "==== {name}\n{source}\n----\n{shown}\n");
        }
        if update {
            std::fs::write(&path, found.trim_end().to_owned() + "\n").expect("a file that can be written");
        }
    }
    assert!(update || wrong.is_empty(), "{wrong}\nUPDATE_EXPECT=1 writes what was found into the files");
    assert_eq!(cases, count, "how many there are stands in this file, so that none is lost");
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// What is wrong with a program, in a form like that of the command line.
fn diagnostics(name: &str, source: &str) -> String {
    let error = match algorithm::is_algorithm(source) && !name.ends_with("[one program]") {
        true => algorithm::tests("test", source, &[]).map(|_| ()),
        false => compile(source, "test", &[]).map(|_| ()),
    };
    match error {
        Err(CompileError::Diagnostics(found)) => found.iter().map(|diagnostic| render(source, diagnostic)).collect(),
        other => format!("{other:?}\n"),
    }
}

fn render(source: &str, diagnostic: &Diagnostic) -> String {
    let mut out = format!("error: {}\n", diagnostic.message);
    out += &marked(source, diagnostic.span, &diagnostic.label);
    for (span, text) in &diagnostic.related {
        out += &marked(source, *span, text);
    }
    out + &diagnostic.help.iter().map(|help| format!("  help: {help}\n")).collect::<String>()
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

/// The text form of a lowered program, with the source text of each span instead of its offsets.
fn listing(_name: &str, source: &str) -> String {
    let program: Program = match compile(source, "test", &[]) {
        Ok(program) => program,
        Err(error) => return format!("{error:?}\n"),
    };
    assert_eq!(cyrano_ir::verify(&program), Ok(()));
    let text = cyrano_ir::text::print(&program);
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
