//! Memory models, explained: a table of their parameters and a paragraph each.

use cyrano_trace::ModelInfo;
use serde::Serialize;

use crate::results::json::{document, object};
use crate::style::{Paint, Style, hang};
use crate::table::{Cell, Row, table};

/// One model and who runs it.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Its parameters.
    #[serde(flatten)]
    pub model: ModelInfo,
    /// The engines that run it, each with what it cannot do, if anything.
    pub engines: Vec<String>,
    /// The file of the library that it is in, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// All models as one JSON object (`cyrano.models/1`).
pub fn models_json(models: &[ModelReport], version: &str) -> String {
    document("cyrano.models/1", version, object! { "models": models })
}

/// What the table means.
const PAIRS: &str = "A pair XY, listed for accesses to other addresses and to the same one, is kept: an access of kind X (L load, S store, C compare-and-swap) \
    is performed before every later one of kind Y of its thread. A model that forwards lets a load see its own thread's \
    stores before they are performed. Dependencies say which of a load's consequences stay behind it.";

/// What is not in it.
const RELATIONS: &str = "The models after the table's are written in cat, as axioms about relations between events; `cyrano library show models/NAME.cat` shows \
    them, and a .cat file of your own is a model, too.";

/// The models as text.
pub fn models_text(models: &[ModelReport], style: Style) -> String {
    let mut out = String::new();
    let header = ["model", "other address", "same address", "forwards", "dependencies"];
    let (relational, reordering): (Vec<_>, Vec<_>) = models.iter().partition(|report| report.model.cat.is_some());
    let rows: Vec<Row> = reordering.iter().map(|report| row(&report.model)).collect();
    if !rows.is_empty() {
        table(&mut out, &header, &rows, style);
        out.push('\n');
        hang(&mut out, "  ", PAIRS, style);
    }
    if !relational.is_empty() && !rows.is_empty() {
        out.push('\n');
        hang(&mut out, "  ", RELATIONS, style);
    }
    for report in models {
        if !out.is_empty() {
            out.push('\n');
        }
        style.line(&mut out, Paint::Strong, &report.model.name);
        hang(&mut out, "  ", &report.model.summary, style);
        if let Some(file) = &report.file {
            hang(&mut out, "  ", &format!("Text: `cyrano library show {file}`."), style);
        }
        hang(&mut out, "  ", &format!("Engines: {}.", report.engines.join(", ")), style);
    }
    out
}

fn row(model: &ModelInfo) -> Row {
    Row {
        cells: vec![
            Cell::left(&model.name).paint(Paint::Strong),
            Cell::left(different(model)),
            Cell::left(pairs(&model.same)),
            Cell::left(if model.forwarding { "yes" } else { "no" }),
            Cell::left(dependencies(model)),
        ],
        notes: Vec::new(),
    }
}

fn different(model: &ModelInfo) -> String {
    let cas = model.cas.as_ref().map(|kept| format!("; cas: {}", pairs(kept)));
    pairs(&model.different) + &cas.unwrap_or_default()
}

/// `load-store` is written `LS`.
fn pairs(names: &[String]) -> String {
    let initials = |name: &String| name.split('-').filter_map(|word| word.chars().next()).collect::<String>();
    let short: Vec<String> = names.iter().map(|name| initials(name).to_uppercase()).collect();
    if short.is_empty() { "none".to_owned() } else { short.join(" ") }
}

fn dependencies(model: &ModelInfo) -> String {
    let kinds = &model.dependencies;
    let mut kept = Vec::new();
    if kinds.data {
        kept.push("data");
    }
    if kinds.address {
        kept.push("address");
    }
    match kinds.control.as_str() {
        "all" => kept.push("control"),
        "stores" => kept.push("control to stores"),
        _ => {}
    }
    let kept = if kept.is_empty() { "none".to_owned() } else { kept.join(", ") };
    if model.serial { kept + "; whole operations" } else { kept }
}
