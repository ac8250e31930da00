//! Sources that are repaired under a model about relations: with the fences of its machine, and with stronger accesses where the source has tags.

use std::collections::BTreeMap;
use std::time::Instant;

use cyrano_fences::repair::{Edit, Machine, Seen};
use cyrano_fences::{EditSet, EditsOutcome, Verdict, synthesise_edits, weights};
use cyrano_report::{CandidateInfo, FenceInfo, FencesReport};
use cyrano_trace::Trace;

use super::ends::unjudged;
use super::{Asker, Repaired, sentence};
use crate::case::Case;
use crate::failure::Failure;

type Found = EditsOutcome<Seen<Trace>>;

/// Finds fences and orders for one model.
pub(super) fn repair_edits(asker: &Asker<'_>, case: &Case) -> Result<Repaired, Failure> {
    let (start, task) = (Instant::now(), asker.task);
    let (language, source) = (case.frontend.fences().map_err(|why| case.refused(why))?, &case.source.text);
    let weights = match task.weights {
        [] => BTreeMap::new(),
        given => weights(source, &language.blocks(source), given).map_err(|why| case.refused(why))?,
    };
    let machine = Machine::new(asker, source, task.model, language, &weights);
    let machine = machine.map_err(|trouble| asker.failure(trouble, "fences"))?;
    let found = synthesise_edits(&machine, task.sets());
    let texts: Vec<String> = found.sets.iter().map(|set| machine.written(&set.edits)).collect();
    let candidate = found.undecided.as_ref().map(|(set, reason)| CandidateInfo {
        fences: infos(&machine, source, &found, set),
        reason: reason.clone(),
        diff: task.diff(&case.source, &machine.written(&set.edits)),
    });
    let cost = |set: &EditSet| set.edits.iter().map(|edit| machine.cost(*edit)).sum();
    let text = texts.into_iter().next();
    let report = FencesReport {
        criterion: task.criteria(),
        reason: reason(&found, asker),
        minimal: !found.sets.is_empty() && found.sets.iter().all(|set| set.minimal),
        complete: task.all && found.complete,
        sets: found.sets.iter().map(|set| infos(&machine, source, &found, set)).collect(),
        costs: found.sets.iter().filter(|_| !task.weights.is_empty()).map(cost).collect(),
        candidate,
        trace: shown(&found),
        questions: found.questions,
        ..task.report(case, found.verdict, text.as_ref(), start)
    };
    machine.finish().map_err(|trouble| asker.failure(trouble, "fences"))?;
    Ok(Repaired { report, text })
}

/// The execution that nothing prevents.
fn shown(found: &Found) -> Option<Trace> {
    let last = found.counterexamples.last().filter(|_| found.verdict == Verdict::Irreparable);
    last.and_then(|seen| seen.trace.clone())
}

/// Why it ended like that, and what was not looked at.
fn reason(found: &Found, asker: &Asker<'_>) -> Option<String> {
    let task = asker.task;
    let unjudged = unjudged(task.aims).filter(|_| task.model.cat().is_some()).map(str::to_owned);
    let left_out = task.aims.iter().filter_map(|aim| aim.case.for_question(None, task.model).left_out());
    let mapped = task.aims[0].case.for_question(None, task.model).mapped(task.model);
    let said: Vec<String> = unjudged.chain(left_out).chain(mapped).collect();
    let said = said.into_iter().filter(|_| found.verdict != Verdict::Irreparable);
    let reasons: Vec<String> = found.reason.clone().into_iter().chain(said).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// What is written, without the bracket of a call.
fn word(written: &str) -> String {
    written.trim_end_matches(['(', '*', '&']).to_owned()
}

/// One set as it is told, in the order of the source.
fn infos(machine: &Machine<'_, Asker<'_>>, source: &str, found: &Found, set: &EditSet) -> Vec<FenceInfo> {
    let told = |(edit, prevents): (&usize, &Option<usize>)| {
        let (kind, instead_of, line, program) = match &machine.edits[*edit] {
            Edit::Fence { position, fence } => (fence.fence.to_string(), None, position.line, position.program.clone()),
            Edit::Order { way, line, program } => {
                (word(&way.text), Some(word(&source[way.range.clone()])), *line, program.clone())
            }
        };
        let trace = prevents.and_then(|number| found.counterexamples.get(number)?.trace.clone());
        let place = if instead_of.is_some() { "at" } else { "after" };
        let (prevents, counterexamples) = trace.into_iter().map(|trace| (sentence(&trace), trace)).unzip();
        FenceInfo { line, place, kind, order: None, instead_of, program, prevents, counterexamples }
    };
    let mut infos: Vec<FenceInfo> = set.edits.iter().zip(&set.prevents).map(told).collect();
    infos.sort_by(|a, b| (a.line, &a.program).cmp(&(b.line, &b.program)));
    infos
}
