//! `cyrano litmus --dot` and `--svg`: the executions of tests as drawings.

use std::path::{Path, PathBuf};

use cyrano_report::{GraphReport, LitmusReport, graph_dot, graph_svg};
use cyrano_session::Failure;

use crate::args::LitmusArgs;
use crate::outputs::Outputs;
use crate::traces::numbered;

/// A way to draw: the option, its path, the ending of its files, the drawing.
type Form<'a> = (&'static str, Option<&'a Path>, &'static str, fn(&str, &GraphReport) -> String);

fn forms(args: &LitmusArgs) -> [Form<'_>; 2] {
    [("--dot", args.dot.as_deref(), "dot", graph_dot), ("--svg", args.svg.as_deref(), "svg", graph_svg)]
}

/// A path with an ending is a file, unless a folder is called so.
fn is_file(path: &Path) -> bool {
    path.extension().is_some() && !path.is_dir()
}

/// Makes sure that the drawings can be written later; a folder that is not there is made.
pub fn claim(outputs: &Outputs, args: &LitmusArgs) -> Result<(), Failure> {
    for (option, path, ..) in forms(args) {
        let Some(path) = path else { continue };
        if is_file(path) {
            outputs.claim(option, Some(path))?;
        } else {
            let failed = |error| Failure::input(format!("{option} {}: cannot be made: {error}", path.display()));
            std::fs::create_dir_all(path).map_err(failed)?;
        }
    }
    Ok(())
}

/// Draws the executions of all tests.
pub fn write(outputs: &Outputs, args: &LitmusArgs, reports: &[LitmusReport]) {
    let several = reports.iter().any(|report| report.model != reports[0].model);
    for (option, path, ending, draw) in forms(args) {
        let Some(path) = path else { continue };
        let mut number = 0;
        for report in reports {
            for (at, graph) in report.graphs.iter().enumerate() {
                number += 1;
                let file = match is_file(path) {
                    true => numbered(path, number),
                    false => numbered(&path.join(file_name(report, several, ending)), at + 1),
                };
                let title = format!("{} under {}: {}", report.name, report.model, report.text);
                outputs.save(option, &file, "drawing saved to", &draw(&title, graph));
            }
        }
        if number == 0 {
            crate::console::note(&args.output, &format!("{option}: there is no execution to draw"));
        }
    }
}

/// The name of a test, and of the model if there are several, without what no file name has.
fn file_name(report: &LitmusReport, several: bool, ending: &str) -> PathBuf {
    let model = if several { format!("-{}", report.model) } else { String::new() };
    let plain = |c: char| if c.is_ascii_alphanumeric() || "+-._".contains(c) { c } else { '_' };
    let name: String = format!("{}{model}", report.name).chars().map(plain).collect();
    PathBuf::from(format!("{name}.{ending}"))
}
