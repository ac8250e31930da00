//! Documents that come from outside: nothing in them counts as confirmed until it has been replayed here.
//!
//! Whoever replays is a function, for this crate knows no interpreter: it takes a trace as it was read and gives the trace of the replayed execution,
//! or the same one with what is wrong with it ([`Trace::doubted`]).
//!
//! **Invariant:** a trace that leaves this file confirmed is one that the function made, and is of the check that it stands with.

use cyrano_engine::Verdict;
use cyrano_trace::Trace;
use serde_json::Value;

use crate::exchange::saved::Saved;
use crate::results::checks::CheckReport;

/// Replays a trace.
pub type Replays<'a> = &'a dyn Fn(Trace) -> Trace;

/// What a check says about itself, to be compared with its execution.
struct Claim<'a> {
    file: &'a str,
    model: Option<&'a str>,
    criterion: &'a str,
    violated: bool,
}

impl Claim<'_> {
    /// What does not fit, if something does not.
    fn differs(&self, trace: &Trace) -> Option<String> {
        let different = |what: &str, said: &str, found: &str| {
            (said != found)
                .then(|| format!("it is of another {what}: the check says `{said}`, the execution `{found}`"))
        };
        let model = self.model.unwrap_or_default();
        let kind = |violated: bool| if violated { "a violation" } else { "a witness" };
        different("file", self.file, &trace.program.file)
            .or_else(|| different("model", model, &trace.model.name))
            .or_else(|| different("criterion", self.criterion, &trace.property.criterion))
            .or_else(|| different("kind", kind(self.violated), kind(trace.violation.is_some())))
    }
}

fn replayed(claim: &Claim<'_>, trace: Trace, replays: Replays<'_>) -> Trace {
    match claim.differs(&trace) {
        Some(why) => trace.doubted(why),
        None => replays(trace),
    }
}

impl Saved {
    /// Replays every execution.
    pub fn confirm(&mut self, replays: Replays<'_>) {
        match self {
            Self::Checks(checks) => checks.iter_mut().for_each(|check| confirm(check, replays)),
            // Those of litmus tests have none.
            Self::Litmus(_) => {}
        }
    }

    /// What is not confirmed, a line for each.
    pub fn doubts(&self) -> Vec<String> {
        let Self::Checks(checks) = self else { return Vec::new() };
        checks
            .iter()
            .filter_map(|check| Some(format!("{}: {}: {}", check.file, check.title(), check.doubt()?)))
            .collect()
    }
}

fn confirm(check: &mut CheckReport, replays: Replays<'_>) {
    let Some(trace) = check.trace.take() else { return };
    let claim = Claim {
        file: &check.file,
        model: check.model.as_deref(),
        criterion: &check.criterion,
        violated: check.verdict == Verdict::Violated,
    };
    let trace = replayed(&claim, trace, replays);
    if trace.confirmed {
        check.explanation = Some(trace.explanation.clone());
    }
    check.trace = Some(trace);
}

impl CheckReport {
    /// What a reader has to be told if the verdict rests on something that nobody has replayed.
    pub fn doubt(&self) -> Option<String> {
        // That there is no witness is shown by no execution.
        let needs_one = self.verdict == Verdict::Violated && self.criterion != "exists";
        match &self.trace {
            Some(trace) => trace.doubt(),
            None => needs_one.then(|| "NOT CONFIRMED: there is no execution to replay".to_owned()),
        }
    }
}

/// Replays every execution of a JSON document, each in its place; the doubts that are left, or what is wrong with the document.
pub(crate) fn confirm_document(value: &mut Value, schema: &str, replays: Replays<'_>) -> Result<Vec<String>, String> {
    let mut doubts = Vec::new();
    let mut one = |place: &mut Value, claim: Option<Claim<'_>>| -> Result<bool, String> {
        let trace = Trace::parse(&place.to_string()).map_err(|error| error.to_string())?;
        let trace = match claim {
            Some(claim) => replayed(&claim, trace, replays),
            None => replays(trace),
        };
        doubts.extend(trace.doubt());
        *place = serde_json::to_value(&trace).map_err(|error| error.to_string())?;
        Ok(trace.confirmed)
    };
    match schema {
        "cyrano.trace/1" | "cyrano.trace/2" => _ = one(value, None)?,
        "cyrano.replay/1" => {
            let trace = value.get_mut("trace").ok_or("it has no trace")?;
            // A trace that did not fit a later version may well fit its own program.
            let confirmed = one(trace, None)?;
            if !confirmed {
                let why = value["trace"]["unconfirmed"].clone();
                value["confirmed"] = Value::Bool(false);
                value["reason"] = why;
            }
        }
        "cyrano.fences/1" => {
            for result in list(value, "results", "it has no list of results")? {
                if let Some(trace) = result.get_mut("trace").filter(|trace| !trace.is_null()) {
                    one(trace, None)?;
                }
                let sets = result.get_mut("sets").and_then(Value::as_array_mut).into_iter().flatten();
                let fences = sets.filter_map(Value::as_array_mut).flatten();
                let mut shown = fences.filter_map(|fence| fence.get_mut("counterexamples")?.as_array_mut()).flatten();
                shown.try_for_each(|trace| one(trace, None).map(drop))?;
            }
        }
        _ => {
            for check in list(value, "checks", "it has no list of checks")? {
                let text = |key: &str| check.get(key).and_then(Value::as_str).map(str::to_owned);
                let (file, model, criterion) = (text("file"), text("model"), text("criterion"));
                let violated = text("verdict").as_deref() == Some(Verdict::Violated.name());
                let Some(trace) = check.get_mut("trace").filter(|trace| !trace.is_null()) else { continue };
                let file = file.as_deref().unwrap_or_default();
                let criterion = criterion.as_deref().unwrap_or_default();
                let claim = Claim { file, model: model.as_deref(), criterion, violated };
                let confirmed = one(trace, Some(claim))?;
                check["confirmed"] = Value::Bool(confirmed);
            }
        }
    }
    Ok(doubts)
}

fn list<'a>(value: &'a mut Value, key: &str, missing: &str) -> Result<&'a mut Vec<Value>, String> {
    value.get_mut(key).and_then(Value::as_array_mut).ok_or_else(|| missing.to_owned())
}
