//! Checks that are run from an editor: lenses that start them, and what came of them beside the lines that ask for it.

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use cyrano_report::{CheckReport, checks_html};
use cyrano_session::frontend::Wanted;
use cyrano_session::{Failure, Options, Runner, Selected, Subject, VERSION, select};
use serde_json::{Value, json};

use super::documents::{Documents, path};
use super::places::{Encoding, end_of_line};

/// Checks a text; shows the executions of the last time in a browser.
pub const COMMANDS: [&str; 2] = [CHECK, SHOW];
const CHECK: &str = "cyrano.check";
const SHOW: &str = "cyrano.show";

/// What checks that are run from an editor may take: somebody waits for them beside other work.
const TIME: Duration = Duration::from_secs(60);
const MEMORY: u64 = 2 << 30;

/// What came of the checks of a text.
pub struct Done {
    uri: String,
    /// The text that was checked.
    text: String,
    /// Each with the line that asks for it, from 1.
    reports: Result<Vec<(usize, CheckReport)>, String>,
}

/// What is known of checks.
pub struct Checks {
    known: BTreeMap<String, Done>,
    sender: Sender<Done>,
    receiver: Receiver<Done>,
}

impl Default for Checks {
    fn default() -> Self {
        let (sender, receiver) = unbounded();
        Self { known: BTreeMap::new(), sender, receiver }
    }
}

impl Checks {
    /// Where checks that have ended are told.
    pub fn done(&self) -> Receiver<Done> {
        self.receiver.clone()
    }

    /// Keeps what came of a check, and says it in a sentence.
    pub fn keep(&mut self, done: Done) -> String {
        let file =
            path(&done.uri).file_name().map_or_else(|| done.uri.clone(), |name| name.to_string_lossy().into_owned());
        let told = match &done.reports {
            Ok(reports) => {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                reports.iter().for_each(|(_, report)| *counts.entry(report.verdict.name()).or_default() += 1);
                counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect::<Vec<_>>().join(", ")
            }
            Err(why) => why.clone(),
        };
        self.known.insert(done.uri.clone(), done);
        format!("{file}: {told}")
    }

    /// Starts a command that a lens stands for.
    pub fn start(&self, documents: &Documents, params: &Value) -> Result<Value, String> {
        let (command, arguments) = (params["command"].as_str().unwrap_or_default(), &params["arguments"]);
        let uri = arguments[0].as_str().ok_or("expected the URI of a text")?.to_owned();
        match command {
            CHECK => {
                let text = documents.text(&uri).ok_or_else(|| format!("{uri} is not open"))?.to_owned();
                let (documents, sender) = (documents.clone(), self.sender.clone());
                std::thread::spawn(move || {
                    let checked = std::panic::catch_unwind(|| run(&documents, &uri));
                    let reports = checked.unwrap_or_else(|_| Err("internal error: no verdict is given".to_owned()));
                    // An editor that is gone wants no answer.
                    let _ = sender.send(Done { uri, text, reports });
                });
                Ok(Value::Null)
            }
            SHOW => {
                let done = self.known.get(&uri).ok_or("nothing was checked yet")?;
                let reports = done.reports.as_ref().map_err(Clone::clone)?;
                let reports: Vec<CheckReport> = reports.iter().map(|(_, report)| report.clone()).collect();
                Ok(json!({ "html": checks_html(&reports, VERSION) }))
            }
            _ => Err(format!("there is no command `{command}`")),
        }
    }

    /// What came of the checks of a text as it is now.
    fn of(&self, uri: &str, text: &str) -> impl Iterator<Item = &(usize, CheckReport)> {
        let done = self.known.get(uri).filter(|done| done.text == text);
        done.and_then(|done| done.reports.as_ref().ok()).into_iter().flatten()
    }

    /// What came of the checks that a line asks for, in words.
    pub fn told(&self, uri: &str, text: &str, line: usize) -> Option<String> {
        let told: Vec<String> =
            self.of(uri, text).filter(|(at, _)| *at == line).map(|(_, report)| long(report)).collect();
        (!told.is_empty()).then(|| told.join("\n\n"))
    }

    /// Verdicts behind the lines that ask for them.
    pub fn hints(&self, uri: &str, text: &str, encoding: Encoding) -> Value {
        let mut lines: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (line, report) in self.of(uri, text) {
            let model = report.model.as_deref().unwrap_or("-");
            lines.entry(*line).or_default().push(format!("{model}: {}", report.verdict.name()));
        }
        let hint = |(line, verdicts): (&usize, &Vec<String>)| json!({ "position": end_of_line(text, *line, encoding), "label": verdicts.join(", "), "paddingLeft": true });
        lines.iter().map(hint).collect()
    }
}

/// A verdict with who gave it and why it is no more.
fn long(report: &CheckReport) -> String {
    let model = report.model.as_deref().unwrap_or("-");
    let engine = report.engine.as_deref().map(|engine| format!(" by {engine}")).unwrap_or_default();
    let states = report.stats.as_ref().map(|stats| format!(", {} states, {:.2} s", stats.states, stats.seconds));
    let why = report.reason.as_ref().map(|why| format!("\n{why}")).unwrap_or_default();
    let shown = report.explanation.as_ref().map(|shown| format!("\n{}", shown.sentence)).unwrap_or_default();
    format!("**{}** on {model}{engine}{}{why}{shown}", report.verdict.name(), states.unwrap_or_default())
}

/// Runs the checks that a text declares.
fn run(documents: &Documents, uri: &str) -> Result<Vec<(usize, CheckReport)>, String> {
    let plain = |failure: Failure| failure.to_string();
    let name = path(uri).display().to_string();
    let options = Options { timeout: Some(TIME), memory: Some(MEMORY), ..Options::default() };
    let subjects = Subject::load(documents, &name, &[], &Wanted::default(), None).map_err(plain)?;
    let mut jobs = Vec::new();
    for subject in &subjects {
        let selected = select(&subject.case, &[], &[], documents).map_err(plain)?;
        jobs.extend(selected.into_iter().map(|selected| (subject, selected)));
    }
    let runner = Runner::new(&options, jobs.len());
    let checked = runner
        .map(&jobs, |_, (subject, selected)| Ok((line(subject, selected), subject.check(&runner, selected, &())?)));
    checked.map_err(plain)
}

/// The line that asks for a check: the first one where nobody asks.
fn line(subject: &Subject, selected: &Selected) -> usize {
    let case = &subject.case;
    let claimed = |claim| case.program.checks.iter().find(|check| check.property.claim() == claim);
    let check = match selected {
        Selected::Run(claim, _) => claimed(claim.clone()),
        _ => None,
    };
    check.and_then(|check| case.source.line(check.span)).unwrap_or(1)
}

/// Above each line that asks for something, or above the first one: check, and show.
pub fn lenses(uri: &str, text: &str, encoding: Encoding) -> Value {
    let native = uri.ends_with(".rml");
    if !native && !uri.ends_with(".c") && !uri.ends_with(".litmus") {
        return json!([]);
    }
    let asks = |(_, line): &(usize, &str)| native && line.trim_start().starts_with("check ");
    let mut lines: Vec<usize> = text.lines().enumerate().filter(asks).map(|(at, _)| at + 1).collect();
    if lines.is_empty() {
        lines.push(1);
    }
    let lens = |line: usize, title: &str, command: &str| {
        let end = end_of_line(text, line, encoding);
        let start = lsp_types::Position::new(end.line, 0);
        json!({ "range": { "start": start, "end": end }, "command": { "title": title, "command": command, "arguments": [uri] } })
    };
    lines.into_iter().flat_map(|line| [lens(line, "check", CHECK), lens(line, "show the executions", SHOW)]).collect()
}
