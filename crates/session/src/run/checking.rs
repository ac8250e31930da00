//! One check: the question, the confirmation of what is answered, and the report.
//!
//! **Invariant:** an execution leaves this file only after the reference interpreter has agreed to it ([`crate::proof`]).

use std::collections::BTreeSet;
use std::time::Duration;

use cyrano_engine::{Answer, Query, Question, Verdict, Violation, Watch};
use cyrano_explore::Explore;
use cyrano_ir::{InstrId, Interchangeable, Property, ThreadId};
use cyrano_memory::Model;
use cyrano_report::{BlockReport, CheckReport, ClientsReport};
use cyrano_trace::PropertyInfo;

use super::options::EngineName;
use super::{Answered, FIRST_MEMORY_OF_CALLS, Runner};
use crate::case::Case;
use crate::clients;
use crate::failure::Failure;

impl Runner {
    /// Checks one property and confirms what comes of it.
    pub fn check(
        &self,
        case: &Case,
        property: &Property,
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        let case = &*case.for_question(Some(property), model);
        let query = case.query(model, Question::Holds(property))?;
        let Answered { engine, note, clauses, mut answer } = match (&self.gpu, &self.large, property) {
            (Some(gpu), ..) => gpu.ask(&self.explore, case, query, &self.limits, watch)?,
            (None, Some(large), _) if self.engine == Some(EngineName::Graphs) => {
                large.ask_graphs(self.graphs, case, &query, &self.limits, watch)?
            }
            (None, Some(large), _) => large.ask(&self.explore, self.cluster(), case, query, &self.limits, watch)?,
            // What a client of a C data type observes; the explorer alone may exhaust memory without answering.
            (None, None, Property::Observations(_)) => self.ask_in_turns(query, watch),
            (None, None, _) => self.ask(query, watch),
        };
        let uncounted = engine.as_deref() == Some("symbolic") && self.engine.is_none();
        let clients = self.count_clients(case, query, &mut answer, uncounted, watch);
        let answered = Answered { engine, note, clauses, answer };
        let proof = self.proof(&case.program, property, model, &answered.answer);
        let proof = proof.map_err(|why| answered.untrusted(property, model, &case.source.name, &why))?;
        let endless = self.endless(case, property, model, &answered);
        let Answered { engine, note, clauses, answer } = answered;
        let left_out = case.left_out().filter(|_| answer.verdict == Verdict::Verified);
        let violation = answer.violation.as_ref();
        let trace = proof
            .as_ref()
            .map(|proof| case.trace(&case.program, (property, model), violation, (&proof.execution, &proof.replayed)));
        let asked = PropertyInfo::from(property);
        let explanation = match (&trace, &answer.violation, &asked.condition) {
            (Some(trace), _, _) => Some(trace.explanation.clone()),
            (None, Some(Violation::NoWitness), Some(condition)) => Some(cyrano_trace::no_witness(condition)),
            _ => None,
        };
        Ok(CheckReport {
            model: Some(model.name.clone()),
            property: asked.condition,
            stats: engine.is_some().then_some(answer.stats),
            engine,
            engine_note: note,
            clients,
            blocks: blocks(&answer),
            unreached: crate::coverage::unreached(case, &answer),
            clauses,
            verdict: if left_out.is_some() { Verdict::Bounded } else { answer.verdict },
            reason: answer.reason.map(|cause| format!("{cause}{}", lines(case, &answer.places))).or(left_out),
            caveats: case.caveats(answer.verdict, model).into_iter().chain(endless).collect(),
            reductions: answer.reductions.iter().map(|name| (*name).to_owned()).collect(),
            trace,
            minimised: proof.and_then(|proof| proof.minimised),
            explanation,
            ..case.report(&asked.criterion)
        })
    }

    /// How many of all clients of a size are wrong. Where some are, a second search tells them apart, and its smallest one is shown; unless there are too many
    /// states to count them.
    fn count_clients(
        &self,
        case: &Case,
        query: Query<'_>,
        answer: &mut Answer,
        uncounted: bool,
        watch: &dyn Watch,
    ) -> Option<ClientsReport> {
        let space = case.clients()?;
        let total = clients::total(space).to_string();
        if answer.violation.is_none() || space.retry > 0 {
            let wrong = (answer.verdict == Verdict::Verified).then(|| "0".to_owned());
            return Some(ClientsReport { total, complete: wrong.is_some(), wrong, smallest: None });
        }
        if self.cluster.is_some() || uncounted {
            // The second search is for one machine, and for as many states as the explorer can go through.
            return Some(ClientsReport { total, complete: false, wrong: None, smallest: None });
        }
        let seconds = answer.stats.seconds;
        let off = Interchangeable::default();
        let renames = if self.explore.client_symmetry { &case.program.interchangeable } else { &off };
        let explore = Explore { client_programs: true, ..self.explore.clone() };
        let mut counting = self.part(Duration::MAX, None);
        if query.model().has_own_order() && self.engine.is_none() {
            counting.limits.memory = self.limits.memory.min(FIRST_MEMORY_OF_CALLS);
        }
        let all = counting.search(&explore, query, watch);
        let complete = all.reason.is_none();
        // Whatever went wrong, it went wrong with somebody; a search that was cut short may not have come that far.
        let wrong = (!all.clients.is_empty()).then(|| clients::wrong(space, &all.clients, renames).to_string());
        let smallest = clients::smallest(&all.clients).map(clients::in_words);
        if all.execution.is_some() {
            *answer = Answer { reason: None, ..all };
            answer.stats.seconds += seconds;
        }
        Some(ClientsReport { total, wrong, complete, smallest })
    }
}

/// Where in the source a verdict's reason is to be found: ` (line 12)`.
pub fn lines(case: &Case, places: &[(ThreadId, InstrId)]) -> String {
    let line = |(thread, instr): &(ThreadId, InstrId)| case.line(*thread, *instr);
    let lines: BTreeSet<usize> = places.iter().filter_map(line).collect();
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    match shown.len() {
        0 => String::new(),
        1 => format!(" (line {})", shown[0]),
        _ => format!(" (lines {})", shown.join(", ")),
    }
}

/// How atomic blocks were proven: movers stand on their own, the comparison with a serial run counts only if nothing differed.
fn blocks(answer: &Answer) -> Vec<BlockReport> {
    let verified = answer.verdict == Verdict::Verified;
    let proven = |block: &cyrano_engine::BlockProof| BlockReport {
        name: block.name.clone(),
        proven_by: if block.by_movers { Some("movers") } else { verified.then_some("serial-run") },
    };
    answer.blocks.iter().map(proven).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Saved, case};
    use crate::proof;
    use crate::run::unasked;
    use cyrano_engine::{Access, Execution, Limits, Stop};
    use cyrano_ir::ThreadId;

    /// What becomes of an engine's claim that the check of a one-store program is violated.
    fn check(violation: Violation, order: Option<Vec<Access>>) -> Result<Option<usize>, String> {
        let text = "threads { shared x; thread p { x := 1 } } check never (x = 1);".to_owned();
        let files = [("a.rml".to_owned(), text)].into();
        let case = case(&Saved(&files), "a.rml", &[]).expect("the program compiles");
        let property = case.program.checks[0].property.clone();
        let mut answer = unasked(Stop::Timeout.into()).answer;
        answer.verdict = Verdict::Violated;
        answer.violation = Some(violation);
        answer.execution = order.map(|order| Execution { order, choices: vec![vec![]], relations: None });
        let sc = cyrano_memory::named("sc").expect("sc is a model");
        let limits = Limits::default();
        let proof = proof::proof(&case.program, &property, &sc, &answer, Some(&limits));
        proof.map(|proof| proof.map(|proof| proof.replayed.steps.len()))
    }

    #[test]
    fn only_confirmed_claims_pass() {
        let store = |value| Access { thread: ThreadId(0), index: 0, read: None, written: Some(value) };
        assert_eq!(check(Violation::FinalState, Some(vec![store(1)])), Ok(Some(1)));
        assert_eq!(check(Violation::NoWitness, None), Ok(None));
        let refuted = |claim: Result<Option<usize>, String>, part: &str| {
            let why = claim.expect_err("the claim is false");
            assert!(why.contains(part), "{why}");
        };
        refuted(check(Violation::FinalState, None), "without an execution");
        refuted(check(Violation::FinalState, Some(vec![store(2)])), "does not confirm");
        refuted(check(Violation::FinalState, Some(vec![])), "does not confirm");
    }
}
