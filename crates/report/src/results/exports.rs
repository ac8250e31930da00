//! Formulas and transition systems that were written to files (`cyrano.export/1`).

use cyrano_engine::Verdict;

use crate::results::json::{document, object};
use crate::style::{Style, count, hang};

/// One check as a formula, or why there is none.
#[derive(Clone, Debug)]
pub struct ExportReport {
    /// The file that was checked.
    pub file: String,
    /// The test of the file, if it has tests.
    pub test: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The criterion.
    pub criterion: String,
    /// The formula.
    pub formula: Option<FormulaReport>,
    /// Whether a proof was wanted, and there is none though the formula may be unsatisfiable.
    pub unproven: bool,
    /// Why there is no formula, or what the verdict leaves open.
    pub reason: Option<String>,
}

/// A formula.
#[derive(Clone, Debug)]
pub struct FormulaReport {
    /// The file that it was written to.
    pub path: String,
    /// Variables.
    pub variables: u64,
    /// Clauses.
    pub clauses: u64,
    /// Whether it is satisfiable, if that is known.
    pub satisfiable: Option<bool>,
    /// The verdict, if the question was answered.
    pub verdict: Option<Verdict>,
    /// Every loop is repeated at most so often,
    pub bound: usize,
    /// except for these: the thread, the line and the bound.
    pub loops: Vec<(String, usize, usize)>,
    /// The proof that it is unsatisfiable, if one was asked for and there is one.
    pub proof: Option<ProofReport>,
}

/// A proof that was written.
#[derive(Clone, Debug)]
pub struct ProofReport {
    /// The file that it was written to.
    pub path: String,
    /// Its lines.
    pub lines: u64,
    /// What it took to find it.
    pub seconds: f64,
}

/// All formulas as one JSON object.
pub fn exports_json(reports: &[ExportReport], version: &str) -> String {
    let formulas = reports.iter().map(|report| {
        let formula = report.formula.as_ref();
        let loops = formula.map(|formula| formula.loops.as_slice()).unwrap_or_default().iter();
        let loops = loops.map(|(thread, line, bound)| object! { "thread": thread, "line": line, "bound": bound });
        object! {
            "file": &report.file,
            "test": &report.test,
            "model": &report.model,
            "criterion": &report.criterion,
            "path": formula.map(|formula| &formula.path),
            "variables": formula.map(|formula| formula.variables),
            "clauses": formula.map(|formula| formula.clauses),
            "satisfiable": formula.and_then(|formula| formula.satisfiable),
            "verdict": formula.and_then(|formula| formula.verdict).map(Verdict::name),
            "reason": &report.reason,
            "bound": formula.map(|formula| formula.bound),
            "loops": loops.collect::<Vec<_>>(),
            "proof": formula.and_then(|formula| formula.proof.as_ref()).map(|proof| {
                object! { "path": &proof.path, "lines": proof.lines, "seconds": proof.seconds }
            }),
        }
    });
    document("cyrano.export/1", version, object! { "formulas": formulas.collect::<Vec<_>>() })
}

/// All formulas as text.
pub fn exports_text(reports: &[ExportReport], style: Style) -> String {
    let mut out = String::new();
    for report in reports {
        let test = report.test.as_ref().map(|test| format!(", test {test}")).unwrap_or_default();
        let model = report.model.as_ref().map(|model| format!(" on {model}")).unwrap_or_default();
        let what = format!("{}{test}: {}{model}", report.file, report.criterion);
        hang(&mut out, "", &what, style);
        if let Some(formula) = &report.formula {
            hang(&mut out, "    ", &words(formula), style);
            if let Some(proof) = &formula.proof {
                let (lines, seconds) = (count(proof.lines), proof.seconds);
                hang(
                    &mut out,
                    "    ",
                    &format!("{}: a proof of {lines} lines in DRAT form, {seconds:.2} s", proof.path),
                    style,
                );
            }
        }
        if let Some(reason) = &report.reason {
            let lead = if report.formula.is_some() { "" } else { "no formula: " };
            hang(&mut out, "    ", &format!("{lead}{reason}"), style);
        }
    }
    out
}

fn words(formula: &FormulaReport) -> String {
    let known = match (formula.satisfiable, formula.verdict) {
        (Some(true), Some(verdict)) => format!("; satisfiable: {}", verdict.name()),
        (Some(false), Some(verdict)) => format!("; unsatisfiable: {}", verdict.name()),
        _ => "; not solved".to_owned(),
    };
    let (variables, clauses) = (count(formula.variables), count(formula.clauses));
    format!("{}: {variables} variables, {clauses} clauses{known}", formula.path)
}

/// A transition system, or why there is none.
#[derive(Clone, Debug)]
pub struct SystemReport {
    /// The file of the program.
    pub file: String,
    /// The test of the file, if it has tests.
    pub test: Option<String>,
    /// The model.
    pub model: String,
    /// The file that it was written to.
    pub path: Option<String>,
    /// States.
    pub states: u32,
    /// Transitions.
    pub transitions: u64,
    /// Why there is none.
    pub reason: Option<String>,
}

/// A transition system as one JSON object.
pub fn systems_json(report: &SystemReport, version: &str) -> String {
    let known = report.path.is_some();
    let system = object! {
        "file": &report.file,
        "test": &report.test,
        "model": &report.model,
        "path": &report.path,
        "states": known.then_some(report.states),
        "transitions": known.then_some(report.transitions),
        "reason": &report.reason,
    };
    document("cyrano.export/1", version, object! { "systems": vec![system] })
}

/// A transition system as text.
pub fn systems_text(report: &SystemReport, style: Style) -> String {
    let mut out = String::new();
    let test = report.test.as_ref().map(|test| format!(", test {test}")).unwrap_or_default();
    hang(&mut out, "", &format!("{}{test} on {}", report.file, report.model), style);
    let text = match &report.path {
        Some(path) => {
            format!("{path}: {} states, {} transitions", count(report.states.into()), count(report.transitions))
        }
        None => format!("no transition system: {}", report.reason.as_deref().unwrap_or("unknown")),
    };
    hang(&mut out, "    ", &text, style);
    out
}
