//! Criteria about histories of calls and responses, by values (Samand, section 2).
//!
//! A criterion is not part of the formula. The solver is asked for an execution, its history is judged as the explorer judges it, and if it is accepted no
//! execution whose history it *covers* is asked for again. When none is left, all histories are accepted. Their number makes this a method for small clients: a second
//! opinion where states are the better way.
//!
//! **What a history covers.** All histories in which every thread says and hears the same, and every call that is before a response of another thread still is.
//!
//! **Argument.** Such a history comes about by exchanging neighbours of different threads, none of them a call and a response after it: a pair that has to change sides is
//! exchanged once, and a call is never moved behind a response. Let `P x y` become `P y x`. Longer prefixes have the same events, and no transaction comes after another that did not
//! before: the order that explained one explains the other. So does it at the end, where memory is the same. What is new is the prefix `P y`.
//!
//! - If `y` is a call, `P` is accepted, and no call makes a history wrong.
//! - Else `x` and `y` are responses. Take the order that explains `P x y`. In `P y` the transaction of `x` waits: a commit may count as done, whatever is aborted there may be aborted
//!   here, and a read that has not returned asks for nothing. So the order explains `P y`.
//!
//! The definitions say the same of all short histories (`crates/criteria/tests/definitions/values/covers.rs`). An order that the memory itself names may
//! depend on which response is first, so criteria with one are refused.

use cyrano_criteria::values::{Action, Call, History, Recorder, Reply, finish, holds};
use cyrano_engine::vacuity::Did;
use cyrano_engine::values::{initial, said};
use cyrano_engine::{Access, Violation};
use cyrano_ir::{Program, ThreadId, TxCriterion, UNDEFINED};

use crate::execute::event::Spoken;
use crate::execute::value::Value;
use crate::formula::encode::Encoding;
use crate::formula::lit::Lit;
use crate::solve::decode::Decoded;

/// What is known about the histories of a program.
pub(crate) struct Histories {
    /// Holds while executions with histories that are covered are not asked for.
    pub(crate) open: Lit,
    /// What transactions have been seen doing.
    pub(crate) did: Did,
}

impl Histories {
    /// None is known; the literal is new.
    pub(crate) fn new(open: Lit) -> Self {
        Self { open, did: Did::default() }
    }

    /// Judges the history of an execution: what is wrong with it, or nothing. None if it has no history.
    pub(crate) fn judge(
        &mut self,
        program: &Program,
        criterion: TxCriterion,
        decoded: &Decoded,
        ended: Option<&[i128]>,
    ) -> Option<Option<Violation>> {
        let steps = decoded.execution.order.iter().filter_map(|Access { thread, index, .. }| {
            let said = decoded.said.get(thread.index())?.get(index)?;
            Some((*thread, said.instr, said.values.as_slice()))
        });
        let history = said(program, steps).history?;
        self.note(&history);
        let wrong = is_rejected(criterion, &history, ended, &initial(program), program.restarts());
        Some(wrong.then_some(Violation::Transactions))
    }

    /// Notes what transactions do.
    fn note(&mut self, history: &History) {
        let transactions = usize::from(history.transactions());
        let (mut read, mut wrote) = (vec![false; transactions], vec![false; transactions]);
        for (at, event) in history.events().iter().enumerate() {
            let Action::Respond(reply) = event.action else { continue };
            let (tx, call) = (usize::from(event.tx), history.call_of(at));
            match (call, reply) {
                (Some(Call::Read(_)), Reply::Value(_)) => read[tx] = true,
                (Some(Call::Write(..)), Reply::Ok) => wrote[tx] = true,
                (_, Reply::Committed) => {
                    self.did.committed = true;
                    self.did.committed_read |= read[tx];
                    self.did.committed_store |= wrote[tx];
                }
                _ => {}
            }
        }
        self.did.read |= read.contains(&true);
        self.did.stored |= wrote.contains(&true);
    }
}

/// Whether some prefix of a history is wrong, or its end; `ended` has the memory there.
fn is_rejected(
    criterion: TxCriterion,
    history: &History,
    ended: Option<&[i128]>,
    init: &[i128],
    judges_memory: bool,
) -> bool {
    let mut recorder = Recorder::new(history);
    for event in history.events() {
        let completed = recorder.observe(event);
        let judges = completed.is_some_and(|(call, reply)| criterion.judges(call, reply));
        if judges && !holds(criterion, recorder.digest(), init) {
            return true;
        }
    }
    let Some(memory) = ended else { return false };
    let digest = recorder.digest();
    let accepted = criterion.judges_prefixes() || holds(criterion, digest, init);
    !accepted || judges_memory && finish(criterion, digest, init, memory).is_none()
}

/// A clause that says: an execution that goes wrong, or whose history that of the model does not cover; with the memory at the end, if that was judged.
pub(crate) fn other_than(
    encoding: &Encoding,
    open: Lit,
    ended: bool,
    covers: bool,
    holds: &dyn Fn(Lit) -> bool,
) -> Vec<Lit> {
    let mut clause = vec![!open, encoding.wrong, encoding.deadlock];
    let run = &encoding.run;
    for spoken in &run.spoken {
        let guard = run.events[spoken.event].guard;
        if holds(guard) {
            clause.push(!guard);
            spoken.said.iter().for_each(|value| differs(value, holds, &mut clause));
        } else {
            clause.push(guard);
        }
    }
    if ended {
        clause.push(!encoding.complete);
        encoding.observed.iter().for_each(|value| differs(value, holds, &mut clause));
    }
    let order = if covers { calls_before(encoding, holds) } else { whole_order(encoding, holds) };
    clause.extend(order.into_iter().map(|lit| !lit));
    clause
}

/// All literals about the order of what was said in the model: the history stands for itself alone.
fn whole_order(encoding: &Encoding, holds: &dyn Fn(Lit) -> bool) -> Vec<Lit> {
    let executed = |spoken: &&Spoken| holds(encoding.run.events[spoken.event].guard);
    let nodes: Vec<_> =
        encoding.run.spoken.iter().filter(executed).map(|spoken| encoding.nodes[spoken.event]).collect();
    let pairs = nodes.iter().enumerate().flat_map(|(at, one)| nodes[at + 1..].iter().map(move |other| (one, other)));
    let order = pairs.filter_map(|(one, other)| encoding.graph.pair(*one, *other));
    order.map(|lit| if holds(lit) { lit } else { !lit }).collect()
}

/// Literals, one of which holds if a value is another one than in the model.
fn differs(value: &Value, holds: &dyn Fn(Lit) -> bool, clause: &mut Vec<Lit>) {
    let flip = |lit: Lit| if holds(lit) { !lit } else { lit };
    clause.push(flip(value.undefined));
    if value.read(holds) != UNDEFINED {
        clause.extend(value.bits.iter().map(|bit| flip(*bit)));
    }
}

/// The literals that put calls before responses of other threads in the model. Of the calls of a thread the last one before a response is enough, and a later response needs none
/// that an earlier one of its thread has.
fn calls_before(encoding: &Encoding, holds: &dyn Fn(Lit) -> bool) -> Vec<Lit> {
    let run = &encoding.run;
    let executed = |invokes: bool| {
        run.spoken.iter().filter(move |spoken| spoken.invokes == invokes && holds(run.events[spoken.event].guard))
    };
    let thread = |spoken: &Spoken| run.events[spoken.event].thread;
    let mut needed: Vec<Lit> = Vec::new();
    for caller in (0..run.threads.len()).map(ThreadId::new) {
        let mut known = vec![0; run.threads.len()];
        for response in executed(false).filter(|response| thread(response) != caller) {
            let calls = executed(true).filter(|call| thread(call) == caller);
            let before = calls.map_while(|call| {
                let pair = encoding.graph.pair(encoding.nodes[call.event], encoding.nodes[response.event])?;
                holds(pair).then_some(pair)
            });
            let (count, last) = before.fold((0, None), |(count, _), pair| (count + 1, Some(pair)));
            let known = &mut known[thread(response).index()];
            if count > *known {
                *known = count;
                needed.extend(last);
            }
        }
    }
    needed
}
