//! Executions written to files: the trace itself, and drawings of it.

use std::path::{Path, PathBuf};

use cyrano_report::{trace_dot, trace_mermaid, trace_svg};
use cyrano_trace::Trace;

use crate::args::{DrawingArgs, OutputArgs};
use crate::console;
use crate::outputs::Outputs;
use cyrano_session::Failure;

type Form = fn(&Trace) -> String;

/// Option, content, place and form of each file.
fn wanted<'a>(
    save: Option<&'a Path>,
    drawings: &'a DrawingArgs,
) -> [(&'static str, &'static str, Option<&'a Path>, Form); 4] {
    [
        ("--save-trace", "trace", save, Trace::to_json),
        ("--svg", "picture", drawings.svg.as_deref(), trace_svg),
        ("--dot", "graph", drawings.dot.as_deref(), trace_dot),
        ("--mermaid", "diagram", drawings.mermaid.as_deref(), trace_mermaid),
    ]
}

/// Makes sure that the traces can be written later.
pub fn claim(outputs: &Outputs, save: Option<&Path>, drawings: &DrawingArgs) -> Result<(), Failure> {
    wanted(save, drawings).into_iter().try_for_each(|(option, _, path, _)| outputs.claim(option, path))
}

/// Writes the traces wherever the user wants them.
pub fn write(outputs: &Outputs, traces: &[&Trace], save: Option<&Path>, drawings: &DrawingArgs, output: &OutputArgs) {
    for (option, what, path, form) in wanted(save, drawings) {
        let Some(path) = path else { continue };
        if traces.is_empty() {
            console::note(output, &format!("no {what} to save: no check showed an execution"));
        }
        for (at, trace) in traces.iter().enumerate() {
            outputs.save(option, &numbered(path, at + 1), &format!("{what} saved to"), &form(trace));
        }
    }
}

/// `bug.json`, then `bug-2.json`, `bug-3.json`, ….
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let stem = part(path.file_stem()).unwrap_or_default();
    let ending = part(path.extension()).map(|ending| format!(".{ending}")).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_traces_are_numbered() {
        let check = |path: &str, number: usize, expected: &str| {
            assert_eq!(numbered(Path::new(path), number), Path::new(expected));
        };
        check("d/bug.json", 1, "d/bug.json");
        check("d/bug.json", 2, "d/bug-2.json");
        check("bug", 3, "bug-3");
    }
}
