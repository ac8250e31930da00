//! `cyrano explore`: a page on which the user steps through a program by hand.
//!
//! **Invariant:** the steps so far and each step on offer are a trace that the reference interpreter has confirmed; only how far threads have
//! run on since, and so their registers, is what the explorer says.

use cyrano_engine::{Execution, Question, Violation};
use cyrano_explore::{NextStep, Position, Standing, Stepping};
use cyrano_interp::ReplayError;
use cyrano_ir::{Property, Quantifier, ThreadId};
use cyrano_memory::Model;
use cyrano_report::{EnabledReport, SteppingReport, SteppingState, ThreadRegisters, stepping_html, stepping_json};
use cyrano_session::{Case, Failure, VERSION, bug, frontend};
use cyrano_trace::{NamedValue, Trace, told_registers};

use crate::args::ExploreArgs;
use crate::serve::{Request, Response, Server};
use crate::source::Disk;
use crate::{console, models};

/// How many steps are offered at a time.
const MOST_OFFERED: usize = 200;

/// How long a path may get.
const LONGEST_PATH: usize = 10_000;

const JSON: &str = "application/json";

/// Runs the command.
pub fn run(args: &ExploreArgs) -> Result<u8, Failure> {
    let model = models::resolve(&args.model)?;
    let case = one_program(args)?;
    let case = case.for_question(Some(&Property::Assertions), &model);
    let by_hand = ByHand::new(&case, &model)?;
    // Whatever can go wrong at the start goes wrong here, not in the browser.
    by_hand.report(&[]).map_err(|refusal| Failure::Internal(bug(&refusal.body)))?;
    let server = Server::bind(args.port)?;
    let address = server.address();
    console::print(&format!("{address}\n"))?;
    console::error(&format!("stepping through {} on {}; Ctrl-C ends it", case.source.name, model.name));
    if !args.no_open {
        std::thread::spawn(move || {
            if !super::view::start_browser(address.as_ref()) {
                console::error("no browser could be started; open the address by hand");
            }
        });
    }
    server.run(&|request| by_hand.answer(request))?;
    Ok(0)
}

/// The program of the file; of several tests one has to be named.
fn one_program(args: &ExploreArgs) -> Result<Case, Failure> {
    let mut all = frontend::cases(&Disk, &args.file, &args.set, &args.tests.wanted(false))?;
    match (all.pop(), all.as_slice()) {
        (Some(one), []) => Ok(one),
        (Some(last), others) => {
            let names: Vec<String> = others.iter().chain([&last]).filter_map(Case::test_name).collect();
            let names = names.join(", ");
            Err(Failure::input(format!("{}: one test at a time; --test takes one of {names}", last.source.name)))
        }
        (None, _) => Err(Failure::input(format!("{}: there is no test to step through", args.file))),
    }
}

/// A program that somebody steps through.
struct ByHand<'a> {
    case: &'a Case,
    model: &'a Model,
    stepping: Stepping<'a>,
}

impl<'a> ByHand<'a> {
    fn new(case: &'a Case, model: &'a Model) -> Result<Self, Failure> {
        let file = &case.source.name;
        case.query(model, Question::Holds(&Property::Assertions))?;
        let stepping = Stepping::new(&case.program, model).map_err(|refusal| {
            Failure::input(format!("{file}: cannot be stepped through on {}: {}", model.name, refusal))
        })?;
        Ok(Self { case, model, stepping })
    }

    fn answer(&self, request: &Request) -> Response {
        let result = match (request.post, request.path.as_str()) {
            (false, "") => {
                self.report(&[]).map(|report| Response::ok("text/html; charset=utf-8", stepping_html(&report, VERSION)))
            }
            (true, "state") => self.asked(&request.body, |report| stepping_json(report, VERSION)),
            (true, "trace") => {
                self.asked(&request.body, |report| report.whole.as_ref().unwrap_or(&report.trace).to_json())
            }
            (_, "" | "state" | "trace") => Err(Response::refusal(405, "Not this way.")),
            _ => Err(Response::refusal(404, "There is nothing here.")),
        };
        result.unwrap_or_else(|refusal| refusal)
    }

    /// Where a path in the body of a request leads to.
    fn asked(&self, body: &str, form: impl Fn(&SteppingReport) -> String) -> Result<Response, Response> {
        let path: Result<Vec<usize>, _> = body.split_ascii_whitespace().map(str::parse).collect();
        let path = path.map_err(|_| Response::refusal(400, "A path is the numbers of the steps taken."))?;
        if path.len() > LONGEST_PATH {
            return Err(Response::refusal(400, format!("A path has at most {LONGEST_PATH} steps.")));
        }
        self.report(&path).map(|report| Response::ok(JSON, form(&report)))
    }

    fn report(&self, path: &[usize]) -> Result<SteppingReport, Response> {
        let place = self.stepping.at(path).ok_or_else(|| Response::refusal(400, "That step cannot be taken."))?;
        let unconfirmed = |why: ReplayError| {
            let text = bug(&format!("the reference interpreter does not confirm a step: {why}"));
            console::error(&text);
            Response::refusal(500, text)
        };
        let whole = self.trace(&place).map_err(unconfirmed)?;
        let trace = whole.clone().cut(place.taken);
        let whole = (whole.steps.len() > place.taken).then_some(whole);
        let offered = place.enabled.iter().take(MOST_OFFERED);
        let enabled = offered.map(|step| self.enabled(&trace, step)).collect::<Result<_, _>>().map_err(unconfirmed)?;
        let (state, outcome) = match &place.standing {
            Standing::Open => (SteppingState::Open, Vec::new()),
            Standing::Done { outcome } => (SteppingState::Done, self.outcome(outcome)),
            Standing::Wrong(_) => (SteppingState::Wrong, Vec::new()),
            Standing::Stuck => (SteppingState::Stuck, Vec::new()),
        };
        let state = if trace.violation.is_some() { SteppingState::Wrong } else { state };
        let registers = self.registers(&place);
        let left_out = place.enabled.len().saturating_sub(MOST_OFFERED);
        let (path, bounded) = (path.to_vec(), place.bounded);
        Ok(SteppingReport { path, state, registers, outcome, enabled, left_out, bounded, trace, whole })
    }

    fn registers(&self, place: &Position) -> Vec<ThreadRegisters> {
        let program = &self.case.program;
        let of = |(thread, values): (ThreadId, &Vec<Option<i128>>)| ThreadRegisters {
            thread: program.thread(thread).name.clone(),
            values: told_registers(program, thread, values),
        };
        program.thread_ids().zip(&place.registers).map(of).collect()
    }

    fn outcome(&self, values: &[i128]) -> Vec<NamedValue> {
        let observed = self.case.program.observed.iter().zip(values);
        observed.map(|(o, value)| NamedValue { name: o.name.clone(), value: Some(*value), shown: None }).collect()
    }

    /// The steps so far: with what went wrong, or with what the file says about its final states.
    fn trace(&self, place: &Position) -> Result<Trace, ReplayError> {
        match &place.standing {
            Standing::Wrong(violation) => self.confirmed(&Property::Assertions, Some(violation), &place.execution),
            Standing::Done { .. } => {
                let declared = self.case.program.checks.iter().map(|check| &check.property);
                let mut decided = declared.filter_map(|property| self.decided(property, &place.execution));
                decided.next().map_or_else(|| self.confirmed(&Property::Assertions, None, &place.execution), Ok)
            }
            Standing::Open | Standing::Stuck => self.confirmed(&Property::Assertions, None, &place.execution),
        }
    }

    /// The trace, if the final state decides a claim about all of them.
    fn decided(&self, property: &Property, execution: &Execution) -> Option<Trace> {
        let Property::Final { quantifier, .. } = property else { return None };
        let violation = (*quantifier != Quantifier::Exists).then_some(Violation::FinalState);
        self.confirmed(property, violation.as_ref(), execution).ok()
    }

    fn confirmed(
        &self,
        property: &Property,
        violation: Option<&Violation>,
        execution: &Execution,
    ) -> Result<Trace, ReplayError> {
        let program = &self.case.program;
        let replayed = cyrano_interp::confirm(program, self.model, property, violation, execution)?;
        Ok(self.case.trace(program, (property, self.model), violation, (execution, &replayed)))
    }

    /// A step on offer, told by the trace that it leads to.
    fn enabled(&self, so_far: &Trace, step: &NextStep) -> Result<EnabledReport, ReplayError> {
        let trace = self.confirmed(&Property::Assertions, step.violation.as_ref(), &step.execution)?;
        let mut trace = trace.cut(step.taken);
        let (line, text) = self.statement(step);
        let commands = |trace: &Trace| trace.threads[step.thread.index()].commands.clone();
        Ok(EnabledReport {
            thread: self.case.program.thread(step.thread).name.clone(),
            line,
            text,
            choices: step.choices.clone(),
            commands: commands(&trace).split_off(commands(so_far).len()),
            steps: trace.steps.split_off(so_far.steps.len()),
            wrong: step.violation.is_some().then(|| trace.explanation.sentence.clone()),
        })
    }

    /// Where the thread of a step stands: line and text.
    fn statement(&self, step: &NextStep) -> (usize, String) {
        let span = self.case.program.instr(step.thread, step.at).span;
        let text = &self.case.source.text;
        let (start, end) = (span.start as usize, span.end as usize);
        let line = self.case.source.line(span).unwrap_or(1);
        let words = text.get(start..end).unwrap_or_default().split_whitespace();
        (line, words.collect::<Vec<_>>().join(" "))
    }
}
