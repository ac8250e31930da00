//! Whole tests in, programs or complaints out.

mod calls;
mod complaints;
mod generated;
mod lowering;
mod machines;
mod soup;

use cyrano_litmus::{Test, compile, line_column};

/// The messages of a test that is refused, each with line and column.
fn complaints(source: &str) -> Vec<String> {
    let errors = compile(source).err().unwrap_or_default();
    let line = |error: &cyrano_ir::Diagnostic| {
        let range = error.span.range();
        assert!(range.start <= range.end && range.end <= source.len(), "{error:?}");
        let (line, column) = line_column(source, range.start);
        format!("{line}:{column} {}", error.message)
    };
    errors.iter().map(line).collect()
}

fn accepted(source: &str) -> Test {
    compile(source).unwrap_or_else(|errors| panic!("{errors:#?}\n{source}"))
}
