//! One step in words.

use cyrano_trace::{ReadFrom, Step, UsedPlace, shown};

use crate::draw::rows::{Deferred, Drawing, statement};
use crate::style::{Style, hang, width, wrap};

/// `58: l := owner[v]`; of a call or a response what is called or returned.
pub(super) fn title(step: &Step) -> String {
    let text = if speaks(step) { step.event.clone().unwrap_or_default() } else { statement(step) };
    format!("{}: {text}", place(step))
}

/// The label of a step, or its line, with the name of its file if that is one that the program uses: `memory:12`.
pub(crate) fn place(step: &Step) -> String {
    step.label.clone().unwrap_or_else(|| line(step.line, step.used.as_ref()))
}

/// The number of a line, or [`used`].
pub(crate) fn line(number: usize, place: Option<&UsedPlace>) -> String {
    place.map_or_else(|| number.to_string(), used)
}

/// `memory:12`; the whole name of the file stands below the trace.
fn used(UsedPlace { file, line }: &UsedPlace) -> String {
    format!("{}:{line}", short(file))
}

/// A name of a file for a narrow column: without its folder, or the first letters of its words if that is long.
pub(crate) fn short(file: &str) -> String {
    let name = file.rsplit(['/', ':']).next().unwrap_or(file).trim_end_matches(".rml");
    let initials = || name.split('_').filter_map(|word| word.chars().next()).collect::<String>();
    let short = if name.chars().count() > MOST_LETTERS && name.contains('_') { initials() } else { name.to_owned() };
    crate::visible(&short).into_owned()
}

/// Longer names of files are shortened.
const MOST_LETTERS: usize = 10;

/// What a call of a base object returned, and from which step it has that: `: 1 (from 5)`.
fn answer(step: &Step) -> String {
    let Some(call) = &step.call else { return String::new() };
    let result = call.result.as_ref().map(|result| format!(": {result}")).unwrap_or_default();
    let from = call.from.map(|n| format!(" (from {n})")).unwrap_or_default();
    format!("{result}{from}")
}

/// A step whose effect is a part of it, on one line: a call of a base object, or of a transactional memory.
pub(super) fn whole(drawing: &Drawing<'_>, step: &Step, late: bool) -> Option<String> {
    let late = if late { " (late)" } else { "" };
    if step.call.is_some() {
        return Some(format!("{}{}{late}", title(step), answer(step)));
    }
    let label = drawing.call_of(step).map(|call| &call.label).filter(|_| speaks(step))?;
    match step.event.as_deref() {
        Some(event) if event.starts_with("returns ") => Some(event.to_owned()),
        _ => Some(label.clone()),
    }
}

/// `◌ 18: d := 1` and when it is performed.
pub(super) fn postponed(deferred: &Deferred) -> String {
    let until = deferred.performed.map_or("not performed".to_owned(), |n| format!("performed in {n}"));
    format!("◌ {}: {}, {until}", deferred.place, deferred.text)
}

/// Whether it is a call of a transactional memory or a response.
fn speaks(step: &Step) -> bool {
    step.event.as_deref().is_some_and(|event| event.starts_with("call ") || event.starts_with("returns "))
}

/// The effect, with a mark if the access was overtaken.
pub(super) fn effect_marked(step: &Step, late: bool) -> String {
    let text = effect(step);
    if late { format!("{text} (late)").trim_start().to_owned() } else { text }
}

/// `x ← 1`, `y → 0 (initial)`, `x → 0 (initial), ← 1`, `x ← 0 (rollback)`, `T1 commits`.
pub(crate) fn effect(step: &Step) -> String {
    let transaction = step.transaction.as_deref().unwrap_or("the transaction");
    match step.event.as_deref() {
        Some("commit") => return format!("{transaction} commits"),
        Some("abort") => return format!("{transaction} aborts"),
        Some(_) if speaks(step) => return String::new(),
        Some(_) => return "the read is finished".to_owned(),
        None => {}
    }
    if let Some(call) = &step.call {
        let note = call.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        return format!("{}{note}", answer(step).trim_start_matches(": ")).trim_start_matches("; ").to_owned();
    }
    let location = step.location.as_deref().unwrap_or("");
    let mut out = location.to_owned();
    if let Some(value) = step.read {
        out.push_str(&format!(" → {}", step.read_shown.clone().unwrap_or_else(|| shown(value))));
        match &step.source {
            Some(ReadFrom::Initial) => out.push_str(" (initial)"),
            Some(ReadFrom::Step { n }) => out.push_str(&format!(" (from {n})")),
            Some(ReadFrom::Forwarded { line, used, .. }) => {
                let line = self::line(*line, used.as_ref());
                out.push_str(&format!(" (own store, line {line}, not yet performed)"));
            }
            None => {}
        }
    }
    let written = step.written.map(|value| step.written_shown.clone().unwrap_or_else(|| shown(value)));
    match written {
        Some(value) if step.read.is_some() => out.push_str(&format!(", ← {value}")),
        Some(value) => out.push_str(&format!(" ← {value}")),
        None if step.kind == "read-modify-write" => out.push_str(", nothing written"),
        None => {}
    }
    if step.rollback {
        out.push_str(" (rollback)");
    }
    out
}

/// Appends a statement and its effect on one line, or on several with the effect indented.
pub(super) fn hanging(out: &mut String, lead: &str, title: &str, effect: &str, style: Style) {
    let both = format!("{lead}{title}  {effect}");
    if width(both.trim_end()) <= style.columns() {
        out.push_str(both.trim_end());
        out.push('\n');
        return;
    }
    let room = style.columns().saturating_sub(width(lead)).max(20);
    out.push_str(&format!("{lead}{}\n", clip(title, room)));
    if !effect.is_empty() {
        hang(out, &format!("{}    ", " ".repeat(width(lead))), effect, style);
    }
}

/// The text on at most two lines.
pub(super) fn two_lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if lines.len() > 2 {
        let rest = lines.split_off(1).join(" ");
        lines.push(clip(&rest, columns));
    }
    lines
}

/// The text, cut off where it does not fit.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}
