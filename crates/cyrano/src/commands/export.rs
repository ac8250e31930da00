//! `cyrano export`: checks as formulas in files, or transition systems ([`super::aut`]).
//!
//! **Invariant:** a file says what its formula is about and what an answer means; what the engine found out about it stands in the comments and the
//! report, never in the clauses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cyrano_engine::{Question, Verdict, Watch};
use cyrano_ir::{Property, Quantifier};
use cyrano_memory::Model;
use cyrano_report::{ExportReport, FormulaReport, ProofReport, exports_json, exports_text};
use cyrano_session::{Case, EngineName, Failure, Runner, Selected, Subject, VERSION, bug, lines, proof, select};
use cyrano_symbolic::{Export, Form, Refutation};

use crate::args::ExportArgs;
use crate::outputs::Outputs;
use crate::source::Disk;
use crate::{models, progress};

/// The option for proofs.
const PROOF: &str = "--proof";

struct Job {
    subject: usize,
    selected: Selected,
    path: PathBuf,
}

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<u8, Failure> {
    if let Some(path) = &args.aut {
        return super::aut::run(args, path);
    }
    if !matches!(args.run.engine, None | Some(EngineName::Symbolic)) {
        return Err(Failure::input("only the symbolic engine makes formulas"));
    }
    let (subjects, jobs) = gather(args)?;
    let (_, option, folder) = args.form();
    std::fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
    let outputs = Outputs::new(&args.output).silent();
    jobs.iter().try_for_each(|job| outputs.claim(option, Some(&job.path)))?;
    for job in jobs.iter().filter(|_| args.proof) {
        outputs.claim(PROOF, Some(&job.path.with_extension("drat")))?;
    }
    let runner = args.run.runner(jobs.len())?;
    let reports = progress::map(
        &runner,
        &jobs,
        (&args.run, &args.output),
        |_| 0,
        |job, watch| one(args, &runner, &subjects[job.subject], job, &outputs, watch),
    )?;
    outputs.plain(&args.output, || exports_json(&reports, VERSION), |_, style| exports_text(&reports, style));
    let all = reports.iter().all(|report| report.formula.is_some() && !report.unproven);
    Ok(outputs.exit(if all { Verdict::Verified } else { Verdict::Unknown }.exit_code()))
}

fn gather(args: &ExportArgs) -> Result<(Vec<Subject>, Vec<Job>), Failure> {
    let models = models::resolve_all(&args.run.model)?;
    let (mut subjects, mut jobs, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    let reference = args.reference.as_deref();
    let wanted = args.tests.wanted(reference.is_some());
    let (form, _, folder) = args.form();
    for file in args.run.files(&args.files)? {
        for subject in Subject::load(&Disk, &file, &args.run.set, &wanted, reference)? {
            for selected in select(&subject.case, &args.criterion, &models, &Disk)? {
                let path = folder.join(unused(&name(&subject.case, &selected), form, &mut names));
                jobs.push(Job { subject: subjects.len(), selected, path });
            }
            subjects.push(subject);
        }
    }
    Ok((subjects, jobs))
}

/// `msn.T0.relaxed.observations`, without what file systems may not like.
fn name(case: &Case, selected: &Selected) -> String {
    let (criterion, model) = what(selected);
    let stem = Path::new(&case.source.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parts = [Some(stem), case.test_name(), model.map(|model| model.name.clone()), Some(criterion.to_owned())];
    let clean = |part: String| {
        let words =
            part.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '\'').map(|w| w.replace('\'', "p"));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
    };
    parts.into_iter().flatten().map(clean).collect::<Vec<_>>().join(".")
}

/// A name that was not given yet, with its ending.
fn unused(name: &str, form: Form, names: &mut BTreeSet<String>) -> String {
    let numbered = (1..).map(|number| if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
    // Case does not tell files apart everywhere.
    let free = numbered.into_iter().find(|name| names.insert(name.to_lowercase()));
    let ending = if form == Form::Dimacs { "cnf" } else { "smt2" };
    format!("{}.{ending}", free.unwrap_or_default())
}

fn what(selected: &Selected) -> (&'static str, Option<&Model>) {
    match selected {
        Selected::Run(claim, model) => (claim.name(), Some(model)),
        Selected::Refused { criterion, model, .. } => (criterion, Some(model)),
        Selected::Nothing { criterion, .. } => (criterion, None),
    }
}

fn one(
    args: &ExportArgs,
    runner: &Runner,
    subject: &Subject,
    job: &Job,
    outputs: &Outputs,
    watch: &dyn Watch,
) -> Result<ExportReport, Failure> {
    let case = &subject.case;
    let (criterion, model) = what(&job.selected);
    let mut report = ExportReport {
        file: case.source.name.clone(),
        test: case.test_name(),
        model: model.map(|model| model.name.clone()),
        criterion: criterion.to_owned(),
        formula: None,
        unproven: false,
        reason: None,
    };
    let (property, model) = match subject.property(runner, &job.selected, watch) {
        Ok(asked) => asked,
        Err(reason) => return Ok(ExportReport { reason: Some(reason), ..report }),
    };
    let case = &*case.for_question(Some(&property), model);
    let query = case.query(model, Question::Holds(&property))?;
    let (form, option, _) = args.form();
    let export = match runner.export(query, form, args.bound.map(usize::from), watch) {
        Ok(export) => export,
        Err(reason) => return Ok(ExportReport { reason: Some(reason), ..report }),
    };
    // The comments have the engine's verdict.
    let confirm = |answer| proof::proof(&case.program, &property, model, answer, None);
    let confirmed = export.answer.as_ref().map(confirm).transpose();
    confirmed.map_err(|why| Failure::Internal(bug(&format!("{}: {why}", report.file))))?;
    let text = format!("{}{}", comments(&report, case, (&property, form), &export), export.text);
    if !outputs.save(option, &job.path, "", &text) {
        return Ok(ExportReport { reason: Some("the formula could not be written".to_owned()), ..report });
    }
    report.reason = export.answer.as_ref().and_then(|answer| reason(case, answer));
    let proof = match prove(args, runner, job, &export, outputs) {
        Ok(proof) => proof,
        Err(NoProof::Disagreement) => {
            return Err(Failure::Internal(bug(&format!("{}: another solver finds a model", report.file))));
        }
        Err(NoProof::Satisfiable) => {
            report.reason = Some("no proof: the formula is satisfiable".to_owned());
            None
        }
        Err(NoProof::Because(why)) => {
            report.unproven = true;
            report.reason = Some(why);
            None
        }
    };
    report.formula = Some(FormulaReport {
        path: job.path.display().to_string(),
        variables: export.variables,
        clauses: export.clauses,
        satisfiable: satisfiable(&export),
        verdict: export.answer.as_ref().map(|answer| answer.verdict),
        bound: export.default_bound,
        loops: bounds(case, &export),
        proof,
    });
    Ok(report)
}

/// Why there is no proof.
enum NoProof {
    /// The engine says that there is no model, and the other solver has one.
    Disagreement,
    /// The engine was not asked, and there is a model.
    Satisfiable,
    /// A limit, or the file cannot be written.
    Because(String),
}

/// Writes the proof that a formula is unsatisfiable, if one is wanted and it is.
fn prove(
    args: &ExportArgs,
    runner: &Runner,
    job: &Job,
    export: &Export,
    outputs: &Outputs,
) -> Result<Option<ProofReport>, NoProof> {
    if !args.proof || satisfiable(export) == Some(true) {
        return Ok(None);
    }
    let started = Instant::now();
    let proof = match runner.refute(&export.text).map_err(NoProof::Because)? {
        Refutation::Proof(proof) => proof,
        Refutation::Satisfiable if satisfiable(export) == Some(false) => return Err(NoProof::Disagreement),
        Refutation::Satisfiable => return Err(NoProof::Satisfiable),
    };
    let seconds = started.elapsed().as_secs_f64();
    let path = job.path.with_extension("drat");
    if !outputs.save(PROOF, &path, "", &proof) {
        return Err(NoProof::Because("the proof could not be written".to_owned()));
    }
    let lines = proof.lines().count() as u64;
    Ok(Some(ProofReport { path: path.display().to_string(), lines, seconds }))
}

fn reason(case: &Case, answer: &cyrano_engine::Answer) -> Option<String> {
    answer.reason.as_ref().map(|reason| format!("{reason}{}", lines(case, &answer.places)))
}

/// Whether the formula is satisfiable, by the engine's own answer.
fn satisfiable(export: &Export) -> Option<bool> {
    let answer = export.answer.as_ref()?;
    (answer.verdict != Verdict::Unknown).then_some(answer.execution.is_some())
}

/// The thread, the line and the bound of each loop that may be repeated more often than the others.
fn bounds(case: &Case, export: &Export) -> Vec<(String, usize, usize)> {
    let shown = |bound: &cyrano_symbolic::LoopBound| {
        let line = case.line(bound.thread, bound.head).unwrap_or(0);
        (case.program.thread(bound.thread).name.clone(), line, bound.bound)
    };
    export.loops.iter().map(shown).collect()
}

/// What the file is about.
fn comments(report: &ExportReport, case: &Case, (property, form): (&Property, Form), export: &Export) -> String {
    let mut lines = vec![format!("written by cyrano {VERSION}"), format!("file: {}", report.file)];
    lines.extend(report.test.iter().map(|test| format!("test: {test}")));
    lines.extend(case.set.iter().map(|(name, value)| format!("set: {name}={value}")));
    lines.extend(report.model.iter().map(|model| format!("model: {model}")));
    lines.push(format!("criterion: {}", criterion(property)));
    let times = |bound: usize| if bound == 1 { "once".to_owned() } else { format!("{bound} times") };
    lines.push(format!("bounds: every loop is repeated at most {}", times(export.default_bound)));
    for (thread, line, bound) in bounds(case, export) {
        lines.push(format!("bounds: except in {thread}, the loop of line {line}: {}", times(bound)));
    }
    lines.push(sufficient(export).to_owned());
    let [yes, no] = meaning(property);
    lines.push(format!("satisfiable: {yes}"));
    lines.push(format!("unsatisfiable: {no}"));
    match &export.answer {
        Some(answer) => {
            let why = reason(case, answer).map(|reason| format!(" ({reason})")).unwrap_or_default();
            lines.push(format!("verdict of cyrano: {}{why}", answer.verdict.name()));
        }
        None => lines.push("verdict of cyrano: not asked for".to_owned()),
    }
    for place in &export.places {
        let (thread, line) = (&case.program.thread(place.thread).name, case.line(place.thread, place.instr));
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        let (number, node, what) = (place.number, place.node, &place.what);
        lines.push(format!("x{number}, v{number}, p{node}: {thread}{line} {what}"));
    }
    let mark = if form == Form::Dimacs { 'c' } else { ';' };
    let clean = |line: String| line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    lines.into_iter().map(|line| format!("{mark} {}\n", clean(line))).collect()
}

fn criterion(property: &Property) -> String {
    match property {
        Property::Observations(allowed) => format!("observations, {} of them serial", allowed.len()),
        Property::Final { text, .. } => format!("{} ({text})", property.criterion()),
        _ => property.criterion().to_owned(),
    }
}

fn sufficient(export: &Export) -> &'static str {
    let Some(answer) = &export.answer else { return "bounds: given; executions that go beyond them are left out" };
    match answer.verdict {
        Verdict::Unknown => "bounds: those of an unfinished search; executions that go beyond them are left out",
        Verdict::Bounded => "bounds: not known to be sufficient; executions that go beyond them are left out",
        _ if answer.execution.is_some() => "bounds: those with which an execution was found",
        _ => "bounds: sufficient, no execution goes beyond them",
    }
}

/// What it means if there is a model and if there is none.
fn meaning(property: &Property) -> [&'static str; 2] {
    match property {
        Property::Final { quantifier: Quantifier::Exists, .. } => [
            "some execution within the bounds ends as the condition says: it holds",
            "no execution within the bounds does",
        ],
        Property::Observations(_) => [
            "some execution within the bounds shows an observation that is not serial, goes wrong or gets stuck: violated",
            "no execution within the bounds does: verified, if the bounds are sufficient",
        ],
        _ => [
            "some execution within the bounds violates the criterion: violated",
            "no execution within the bounds does: verified, if the bounds are sufficient",
        ],
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_written_twice() {
        let mut names = BTreeSet::new();
        let mut next = |name: &str| unused(name, Form::Dimacs, &mut names);
        assert_eq!(
            [next("a.sc"), next("a.sc"), next("A.sc"), next("b")],
            ["a.sc.cnf", "a.sc-2.cnf", "A.sc-3.cnf", "b.cnf"]
        );
    }
}
