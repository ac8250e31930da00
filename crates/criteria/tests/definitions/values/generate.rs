//! All histories of a size, and random ones.

use cyrano_criteria::values::{Action, Call, Event, Reply};

/// The events that histories are made from.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) transactions: u8,
    pub(super) locations: u8,
    /// Values are `0..values`; everything is 0 at first.
    pub(super) values: i128,
    /// Whether a call is followed by its reply at once, except for commits.
    pub(super) at_once: bool,
}

/// Where each transaction stands.
#[derive(Clone)]
pub(super) struct Frontier {
    pending: Vec<Option<Call>>,
    ended: Vec<bool>,
    begun: u8,
}

impl Size {
    pub(super) fn start(self) -> Frontier {
        let n = self.transactions as usize;
        Frontier { pending: vec![None; n], ended: vec![false; n], begun: 0 }
    }

    fn calls(self) -> Vec<Call> {
        let locations = 0..self.locations;
        let reads = locations.clone().map(Call::Read);
        let writes = locations.flat_map(|loc| (0..self.values).map(move |value| Call::Write(loc, value)));
        reads.chain(writes).chain([Call::Commit]).collect()
    }

    fn replies(self, call: Call) -> Vec<Reply> {
        match call {
            Call::Read(_) => (0..self.values).map(Reply::Value).chain([Reply::Aborted]).collect(),
            Call::Write(..) => vec![Reply::Ok, Reply::Aborted],
            Call::Commit => vec![Reply::Committed, Reply::Aborted],
        }
    }

    /// What may come next. Transactions begin in the order of their numbers.
    pub(super) fn next(self, frontier: &Frontier) -> Vec<Vec<Event>> {
        let mut found = Vec::new();
        for tx in (0..self.transactions).filter(|tx| !frontier.ended[*tx as usize] && *tx <= frontier.begun) {
            let event = |action| Event { tx, action };
            match frontier.pending[tx as usize] {
                Some(call) => found.extend(self.replies(call).into_iter().map(|r| vec![event(Action::Respond(r))])),
                None => {
                    for call in self.calls() {
                        let invoke = event(Action::Invoke(call));
                        if !self.at_once || call == Call::Commit {
                            found.push(vec![invoke]);
                        }
                        if self.at_once {
                            let replies = self.replies(call).into_iter();
                            found.extend(replies.map(|reply| vec![invoke, event(Action::Respond(reply))]));
                        }
                    }
                }
            }
        }
        found
    }
}

impl Frontier {
    pub(super) fn take(&mut self, event: &Event) {
        let tx = event.tx as usize;
        match event.action {
            Action::Invoke(call) => {
                self.pending[tx] = Some(call);
                self.begun = self.begun.max(event.tx + 1);
            }
            Action::Respond(reply) => {
                self.pending[tx] = None;
                self.ended[tx] = matches!(reply, Reply::Aborted | Reply::Committed);
            }
        }
    }
}

/// Calls `visit` with every history of at most so many steps.
pub(super) fn every(size: Size, steps: usize, visit: &mut dyn FnMut(&[Event])) {
    fn extend(size: Size, steps: usize, events: &mut Vec<Event>, at: &Frontier, visit: &mut dyn FnMut(&[Event])) {
        visit(events);
        if steps == 0 {
            return;
        }
        for step in size.next(at) {
            let mut next = at.clone();
            step.iter().for_each(|event| next.take(event));
            events.extend(&step);
            extend(size, steps - 1, events, &next, visit);
            events.truncate(events.len() - step.len());
        }
    }
    extend(size, steps, &mut Vec::new(), &size.start(), visit);
}

/// The history that these numbers stand for.
pub(super) fn chosen(size: Size, choices: &[u16]) -> Vec<Event> {
    let mut frontier = size.start();
    let mut events = Vec::new();
    for choice in choices {
        let next = size.next(&frontier);
        let Some(step) = next.get(*choice as usize % next.len().max(1)) else { break };
        step.iter().for_each(|event| frontier.take(event));
        events.extend(step);
    }
    events
}
