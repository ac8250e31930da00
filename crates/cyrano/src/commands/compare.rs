//! `cyrano compare`: the outcomes that one memory model allows and another forbids, each with an execution.

use cyrano_report::{compare_json, compare_text};
use cyrano_session::{Failure, VERSION, frontend};

use crate::args::CompareModelsArgs;
use crate::models;
use crate::outputs::Outputs;
use crate::source::Disk;

/// Runs the command.
pub fn run(args: &CompareModelsArgs) -> Result<u8, Failure> {
    let names: Vec<String> = args.models.iter().chain(&args.run.model).cloned().collect();
    let models = models::resolve_all(&names)?;
    if models.len() < 2 {
        return Err(Failure::input("comparing takes at least two memory models: --models sc,tso"));
    }
    let case = frontend::case(&Disk, &args.run.file(&args.file)?, &args.run.set)?;
    let (report, verdicts) = args.run.runner(models.len())?.compare(&case, &models)?;
    let outputs = Outputs::new(&args.output);
    outputs.plain(
        &args.output,
        || compare_json(&report, VERSION),
        |details, style| compare_text(&report, details, style),
    );
    Ok(outputs.exit(super::exit_code(verdicts)))
}
