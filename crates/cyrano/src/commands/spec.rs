//! `cyrano spec`: specifications of transactional memories and how their languages compare.

use cyrano_criteria::history::Size;
use cyrano_criteria::spec::named::NAMES;
use cyrano_report::{spec_json, spec_text};
use cyrano_session::{Failure, VERSION};

use crate::args::{CompareArgs, SpecArgs, SpecCommand};
use crate::outputs::Outputs;
use crate::{console, options, specs};

/// Runs the command.
pub fn run(args: &SpecArgs) -> Result<u8, Failure> {
    match &args.command {
        SpecCommand::List => {
            let columns = NAMES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            let lines = NAMES.iter().map(|(name, what)| format!("{name:columns$}  {what}\n"));
            console::print(&lines.collect::<String>())?;
            Ok(0)
        }
        SpecCommand::Compare(args) => compare_two(args),
    }
}

fn compare_two(args: &CompareArgs) -> Result<u8, Failure> {
    let size = Size { threads: args.threads, vars: args.vars };
    let runner = options::sequential(args.timeout)?;
    let (left, right) = (specs::resolve(&args.left)?, specs::resolve(&args.right)?);
    let report = runner.compare_specifications(left, right, size, !args.no_symmetry)?;
    let outputs = Outputs::new(&args.output);
    outputs.plain(&args.output, || spec_json(&report, VERSION), |_, style| spec_text(&report, style));
    Ok(outputs.exit(match report.equivalent {
        Some(true) => 0,
        Some(false) => 1,
        None => 3,
    }))
}
