//! `cyrano litmus`: tests in herd's format, many at a time.

use std::collections::BTreeMap;
use std::path::Path;

use cyrano_engine::{Query, Question, Verdict, Violation, vacuity};
use cyrano_ir::Property;
use cyrano_litmus::ast::{Arch, Quantifier};
use cyrano_litmus::{Judgement, Observation, Shown, Test};
use cyrano_memory::Model;
use cyrano_report::{LitmusReport, LitmusValue, Results, RunReport};

use crate::args::{EngineChoice, LitmusArgs, LitmusCommand};
use crate::failure::{self, BAD_INPUT, Failure, INTERNAL};
use crate::outputs::Outputs;
use crate::progress::Meter;
use crate::run::{Answered, Runner, VERSION};
use crate::shard::Inputs;
use crate::source::{self, Source};
use crate::{litmus, models, proof};

/// One test under one model; no model where the test could not be read and none was asked for.
struct Job<'a> {
    source: &'a Source,
    test: &'a Result<Test, String>,
    model: Model,
}

impl Job<'_> {
    /// A question about the test; one that makes no sense is bad input.
    fn query<'a>(&'a self, test: &'a Test, question: Question<'a>) -> Result<Query<'a>, Failure> {
        let refused = |why| Failure::input(format!("{}: {why}", self.source.name));
        Query::new(&test.program, &self.model, question).map_err(refused)
    }
}

/// Runs the command.
pub fn run(args: &LitmusArgs) -> Result<u8, Failure> {
    if let Some(LitmusCommand::Generate(args)) = &args.command {
        return super::litmus_generate::run(args);
    }
    let color = args.output.color;
    let chosen = models::resolve_all(&args.run.model, color)?;
    let expected = args.expect.as_deref().map(expectations).transpose()?.unwrap_or_default();
    let sources = litmus::gather(&args.paths)?;
    let compile =
        |source: &Source| cyrano_litmus::compile(&source.text).map_err(|errors| litmus::reason(source, &errors));
    let tests: Vec<(&Source, Result<Test, String>)> = sources.iter().map(|source| (source, compile(source))).collect();
    let mut jobs = Vec::new();
    for (source, test) in &tests {
        let default = if chosen.is_empty() { vec![default_model(test)] } else { Vec::new() };
        let models = chosen.iter().cloned().chain(default);
        jobs.extend(models.map(|model| Job { source, test, model }));
    }
    for job in &jobs {
        job.test.as_ref().map_or(Ok(()), |test| job.query(test, Question::Outcomes).map(|_| ()))?;
    }
    let shard = args.shard.map(|shard| Ok(shard.report(jobs.len(), inputs(args, &jobs)?))).transpose()?;
    if let Some(shard) = args.shard {
        jobs = shard.part(jobs);
    }
    let runner = Runner::new(&args.run, jobs.len())?;
    let meter = Meter::new(jobs.len(), &args.run, &args.output);
    let reports = runner.map(&jobs, |at, job| {
        let mut report = one(args, &runner, job, &meter, at)?;
        expect(&mut report, &expected);
        meter.done(at, 0);
        Ok(report)
    });
    meter.finish();
    let reports = reports?;
    let report = RunReport { results: Results::Litmus(&reports), version: VERSION, shard: shard.as_ref() };
    let exit = super::exit_code_of(&report, false);
    let outputs = Outputs::new(&args.output);
    outputs.print(&super::render(&report, exit, &args.output, false));
    Ok(outputs.exit(exit))
}

/// What the results depend on.
fn inputs(args: &LitmusArgs, jobs: &[Job<'_>]) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::default();
    for job in jobs {
        inputs.add(&job.source.name, &job.source.text);
        // The model with all its parameters: it may come from a file.
        inputs.add(&job.source.name, &format!("{:?}", job.model));
    }
    if let Some(path) = &args.expect {
        inputs.add(&path.display().to_string(), &source::file(path)?.text);
    }
    Ok(inputs)
}

/// The model of a test if the command line names none: what the machine does, or no relaxation at all.
fn default_model(test: &Result<Test, String>) -> Model {
    let name = match test {
        Ok(test) if test.head.arch == Arch::C => "sc",
        _ => "tso",
    };
    cyrano_memory::named(name).expect("this is a named model")
}

/// The exit code of the results; `missing` ones are undecided.
pub fn exit_code(reports: &[LitmusReport], missing: bool) -> u8 {
    let any = |wanted: fn(&LitmusReport) -> bool| reports.iter().any(wanted);
    if any(|report| report.disagreement.is_some()) {
        INTERNAL
    } else if any(|report| report.differs) {
        Verdict::Violated.exit_code()
    } else if missing || any(|report| report.observation.is_none() && !report.refused && !report.vacuous) {
        Verdict::Unknown.exit_code()
    } else if any(|report| report.refused) {
        BAD_INPUT
    } else if any(|report| report.vacuous) {
        Verdict::Vacuous.exit_code()
    } else {
        0
    }
}

fn one(args: &LitmusArgs, runner: &Runner, job: &Job<'_>, meter: &Meter, at: usize) -> Result<LitmusReport, Failure> {
    let mut report =
        LitmusReport { file: job.source.name.clone(), model: job.model.name.clone(), ..LitmusReport::default() };
    let test = match job.test {
        Ok(test) => test,
        Err(reason) => {
            let stem = Path::new(&report.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            report.name = cyrano_litmus::name(&job.source.text).or(stem).unwrap_or_default();
            report.reason = Some(reason.clone());
            report.refused = true;
            return Ok(report);
        }
    };
    report.name.clone_from(&test.head.name);
    report.condition = Some(test.condition.quantifier.name());
    report.kind = Some(test.condition.quantifier.kind());
    report.text.clone_from(&test.condition.text);
    report.columns = test.columns.iter().map(|column| column.name.clone()).collect();
    let own = runner.part(args.test_timeout, None);
    if test.can_go_wrong()
        && let asked = job.query(test, Question::Holds(&Property::Assertions))?
        && let Some(reason) = goes_wrong(&own.ask(asked, &()), asked, &job.source.name)?
    {
        report.reason = Some(reason);
        report.refused = true;
        return Ok(report);
    }
    let query = job.query(test, Question::Outcomes)?;
    let mut answered = own.ask(query, &meter.watch(at));
    if answered.answer.verdict != Verdict::Verified && args.run.engine == EngineChoice::Auto {
        // Another engine may not need the bound that this one reached.
        let second = runner.part(args.test_timeout, Some(EngineChoice::Symbolic)).ask(query, &meter.watch(at));
        if second.answer.verdict == Verdict::Verified {
            answered = second;
        }
    }
    fill(&mut report, test, &answered, own.stopped().is_some());
    if args.compare {
        compare(args, runner, query, &answered, &mut report, meter, at);
    }
    Ok(report)
}

/// Why a test has no meaning, if some execution computes nonsense: one that the reference interpreter confirms.
fn goes_wrong(answered: &Answered, query: Query<'_>, file: &str) -> Result<Option<String>, Failure> {
    let property = Property::Assertions;
    proof::proof(query.program(), &property, query.model(), &answered.answer, None).map_err(|why| {
        let who = answered.engine.as_deref().unwrap_or("no engine");
        let text = format!("{who} answered `{}` on {} for {file}, but {why}", property.criterion(), query.model().name);
        Failure::Internal(failure::bug(&text))
    })?;
    Ok(match &answered.answer.violation {
        Some(Violation::Error { thread, error, .. }) => {
            Some(format!("an execution goes wrong in P{}: {error}", thread.0))
        }
        Some(violation) => Some(format!("an execution goes wrong: {}", violation.kind())),
        None => None,
    })
}

/// What an answer says about a test; without an engine it was refused, unless the run was `stopped` before.
fn fill(report: &mut LitmusReport, test: &Test, answered: &Answered, stopped: bool) {
    let answer = &answered.answer;
    report.engine.clone_from(&answered.engine);
    report.seconds = answer.stats.seconds;
    report.reason = answer.reason.as_ref().map(ToString::to_string);
    report.refused = answered.engine.is_none() && !stopped;
    let judgement = match test.judge(&answer.outcomes) {
        Ok(judgement) => judgement,
        Err(error) => {
            report.reason = Some(format!("the condition cannot be evaluated: {error}"));
            report.refused = true;
            return;
        }
    };
    let complete = answer.verdict == Verdict::Verified;
    if complete && judgement.states.is_empty() {
        // Nothing can be said about final states where there are none, neither that all are right nor that none is wrong.
        let why = if answer.outcomes.is_empty() { vacuity::NO_END } else { "no final state passes the filter" };
        report.reason = Some(why.to_owned());
        report.vacuous = true;
        return;
    }
    let (observation, holds) = decided(&judgement, test.condition.quantifier, complete);
    report.observation = observation.map(Observation::name);
    report.holds = holds;
    if report.observation.is_some() {
        report.reason = None;
    }
    let value = |shown: &Shown| match shown {
        Shown::Int(value) => LitmusValue::Int(*value),
        Shown::Address(name) => LitmusValue::Address(name.clone()),
    };
    report.states = judgement.states.iter().map(|state| state.values.iter().map(value).collect()).collect();
    report.positive = judgement.positive;
}

/// What is certain: final states that were not found can only add to those that were.
fn decided(judgement: &Judgement, quantifier: Quantifier, complete: bool) -> (Option<Observation>, Option<bool>) {
    let observation = judgement.observation();
    let certain = complete || observation == Observation::Sometimes;
    let holds = judgement.holds(quantifier);
    let settled = complete
        || match quantifier {
            Quantifier::Exists => holds,
            Quantifier::NotExists | Quantifier::Forall => !holds,
        };
    (certain.then_some(observation), settled.then_some(holds))
}

/// Asks the other engines and compares sets of outcomes.
fn compare(
    args: &LitmusArgs,
    runner: &Runner,
    query: Query<'_>,
    first: &Answered,
    report: &mut LitmusReport,
    meter: &Meter,
    at: usize,
) {
    if first.answer.verdict != Verdict::Verified {
        return;
    }
    report.compared.extend(first.engine.clone());
    for engine in [EngineChoice::Explore, EngineChoice::Symbolic, EngineChoice::Interp] {
        let answered = runner.part(args.test_timeout, Some(engine)).ask(query, &meter.watch(at));
        let Some(name) = &answered.engine else { continue };
        if answered.answer.verdict != Verdict::Verified || report.compared.contains(name) {
            continue;
        }
        report.compared.push(name.clone());
        if answered.answer.outcomes != first.answer.outcomes {
            let (own, other) = (first.answer.outcomes.len(), answered.answer.outcomes.len());
            let who = first.engine.as_deref().unwrap_or_default();
            let text = format!("{who} finds {own} outcomes and {name} {other}, or other ones");
            report.disagreement = Some(text);
        }
    }
}

/// The expectations of a file, by name and perhaps model.
type Expected = BTreeMap<(String, Option<String>), String>;

/// Reads lines `name verdict` or `name model verdict`; herd's lines `Observation name verdict …` will do too.
fn expectations(path: &Path) -> Result<Expected, Failure> {
    let file = source::file(path)?;
    let mut expected = Expected::new();
    for (at, line) in file.text.lines().enumerate() {
        let plain = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let (name, model, verdict) = match words.as_slice() {
            [] => continue,
            ["Observation", name, verdict, ..] => (*name, None, *verdict),
            [name, verdict] => (*name, None, *verdict),
            [name, model, verdict] => (*name, Some((*model).to_owned()), *verdict),
            _ => return Err(bad_line(&file, at, "expected `name verdict`")),
        };
        if accepts(verdict, &LitmusReport::default()).is_none() {
            let known = "Never, Sometimes, Always, Allowed, Forbidden, Ok, No, Refused or Vacuous";
            return Err(bad_line(&file, at, &format!("`{verdict}` is not a verdict; expected {known}")));
        }
        expected.insert((name.to_owned(), model), verdict.to_owned());
    }
    Ok(expected)
}

fn bad_line(file: &Source, at: usize, what: &str) -> Failure {
    Failure::input(format!("{}: line {}: {what}", file.name, at + 1))
}

/// Whether a verdict fits a result; nothing if it is not a verdict at all.
fn accepts(verdict: &str, report: &LitmusReport) -> Option<bool> {
    let observation = report.observation;
    Some(match verdict.to_ascii_lowercase().as_str() {
        "never" | "sometimes" | "always" => observation.is_some_and(|found| found.eq_ignore_ascii_case(verdict)),
        "allowed" | "allow" => matches!(observation, Some("Sometimes" | "Always")),
        "forbidden" | "forbid" => observation == Some("Never"),
        "ok" => report.holds == Some(true),
        "no" => report.holds == Some(false),
        "refused" => report.refused,
        "vacuous" => report.vacuous,
        _ => return None,
    })
}

fn expect(report: &mut LitmusReport, expected: &Expected) {
    let own = expected.get(&(report.name.clone(), Some(report.model.clone())));
    let Some(verdict) = own.or_else(|| expected.get(&(report.name.clone(), None))) else { return };
    report.expected = Some(verdict.clone());
    report.differs = accepts(verdict, report) == Some(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_wrong_has_to_be_confirmed() {
        let text = "C t\n{}\nP0(int *x) { int r = 1 / *x; }\nexists (0:r=1)\n";
        let test = cyrano_litmus::compile(text).expect("it compiles");
        let model = cyrano_memory::named("sc").expect("this is a named model");
        let query = Query::new(&test.program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let runner = Runner::sequential(None).expect("a runner can be made");
        let mut answered = runner.ask(query, &());
        let reason = goes_wrong(&answered, query, "t.litmus").expect("it is confirmed").expect("it goes wrong");
        assert!(reason.contains("goes wrong in P0"), "{reason}");
        let execution = answered.answer.execution.as_mut().expect("it is shown");
        execution.order.iter_mut().for_each(|access| access.read = Some(1));
        let refuted = goes_wrong(&answered, query, "t.litmus").expect_err("no such value can be read");
        assert!(refuted.message().contains("does not confirm"), "{}", refuted.message());
    }

    #[test]
    fn partial_knowledge_is_used_and_not_stretched() {
        let judgement = |positive, negative| Judgement { states: Vec::new(), positive, negative };
        let check = |positive, negative, quantifier, complete, expected| {
            assert_eq!(decided(&judgement(positive, negative), quantifier, complete), expected);
        };
        use Observation::{Always, Never, Sometimes};
        check(1, 2, Quantifier::Exists, false, (Some(Sometimes), Some(true)));
        check(0, 2, Quantifier::Exists, false, (None, None));
        check(0, 2, Quantifier::Exists, true, (Some(Never), Some(false)));
        check(2, 0, Quantifier::Exists, false, (None, Some(true)));
        check(2, 0, Quantifier::Forall, false, (None, None));
        check(2, 0, Quantifier::Forall, true, (Some(Always), Some(true)));
        check(0, 1, Quantifier::Forall, false, (None, Some(false)));
        check(0, 1, Quantifier::NotExists, false, (None, None));
    }
}
