//! `cyrano export --aut`: the transition system of a program in a file (FOIL, section 7.1).

use std::path::Path;

use cyrano_engine::{Question, Verdict};
use cyrano_report::{SystemReport, aut, systems_json, systems_text};
use cyrano_session::{Failure, Subject, VERSION};

use crate::args::ExportArgs;
use crate::models;
use crate::outputs::Outputs;
use crate::source::Disk;

/// The option for the file.
const AUT: &str = "--aut";

/// Runs the command.
pub fn run(args: &ExportArgs, path: &Path) -> Result<u8, Failure> {
    let models = models::resolve_all(&args.run.model)?;
    let model = match models.as_slice() {
        [] => models::resolve("sc")?,
        [model] => model.clone(),
        _ => return Err(Failure::input("--aut needs a single model")),
    };
    let files = args.run.files(&args.files)?;
    let subjects = files.iter().map(|file| Subject::load(&Disk, file, &args.run.set, &args.tests.wanted(false), None));
    let subjects: Vec<Subject> = Failure::all(subjects)?.into_iter().flatten().collect();
    let [subject] = subjects.as_slice() else {
        return Err(Failure::input("--aut needs a single program; --test chooses one of several"));
    };
    // Nobody asks about calls, so they are no part of the system.
    let case = subject.case.for_question(None, &model);
    let query = case.query(&model, Question::Outcomes)?;
    let outputs = Outputs::new(&args.output).silent();
    outputs.claim(AUT, Some(path))?;
    let runner = args.run.runner(1)?;
    let mut report = SystemReport {
        file: case.source.name.clone(),
        test: case.test_name(),
        model: model.name.clone(),
        path: None,
        states: 0,
        transitions: 0,
        reason: None,
    };
    match runner.transition_system(query) {
        Ok(system) => {
            report.states = system.states;
            report.transitions = system.transitions.len() as u64;
            if outputs.save(AUT, path, "", &aut(&case.program, &system)) {
                report.path = Some(path.display().to_string());
            } else {
                report.reason = Some("the file could not be written".to_owned());
            }
        }
        Err(why) => report.reason = Some(why.to_string()),
    }
    outputs.plain(&args.output, || systems_json(&report, VERSION), |_, style| systems_text(&report, style));
    let done = report.path.is_some();
    Ok(outputs.exit(if done { Verdict::Verified } else { Verdict::Unknown }.exit_code()))
}
