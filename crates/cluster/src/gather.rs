//! What workers tell each other outside of the search: opinions that one of them puts together, and the way back from a violation.

use std::time::Duration;

use cyrano_explore::Packing;
use timely::worker::Worker;

use crate::Error;
use crate::batch::{Batch, Kind};
use crate::checkpointer::States;
use crate::link::Links;
use crate::mailbox::Mailbox;
use crate::table::RecordId;
use crate::wire::{Reader, Writer};

/// How long a worker sleeps at most when there is nothing to do.
pub(crate) const NAP: Duration = Duration::from_millis(20);

/// One step of the dataflow; sleeps if there is nothing to do. Fails if the cluster cannot go on.
pub(crate) fn step(worker: &mut Worker, links: &Links, nap: Duration) -> Result<bool, Error> {
    match links.trouble() {
        Some(fault) => Err(Error::new(fault)),
        None => Ok(worker.step_or_park(Some(nap))),
    }
}

/// Sends everybody's word to worker 0, who makes one of them, in the order of workers; everybody gets that.
pub(crate) fn consult(
    worker: &mut Worker,
    links: &Links,
    word: Vec<u8>,
    decide: impl FnOnce(&[Vec<u8>]) -> Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let (index, peers) = (worker.index(), worker.peers());
    let mailbox = Mailbox::new(worker);
    let capability = mailbox.capability(0).ok_or_else(closed)?;
    mailbox.send(&capability, Batch::new(Kind::Word, index, 0, word));
    if index == 0 {
        let mut words: Vec<Option<Vec<u8>>> = vec![None; peers];
        while words.iter().any(Option::is_none) {
            step(worker, links, NAP)?;
            while let Some(batch) = mailbox.receive(1) {
                words[batch.from] = Some(batch.bytes().to_vec());
            }
        }
        let words: Vec<Vec<u8>> = words.into_iter().flatten().collect();
        let decision = decide(&words);
        let later = capability.delayed(&1);
        for target in 0..peers {
            mailbox.send(&later, Batch::new(Kind::Word, index, target, decision.clone()));
        }
    }
    drop(capability);
    mailbox.give_up(0);
    let decision = loop {
        step(worker, links, NAP)?;
        if let Some(batch) = mailbox.receive(2) {
            break batch.bytes().to_vec();
        }
    };
    leave(worker, links, &mailbox)?;
    Ok(decision)
}

/// The states on the way to a place, from an initial one: each owner adds those it has and hands the rest on.
pub(crate) fn path(
    worker: &mut Worker,
    links: &Links,
    states: States<'_>,
    to: RecordId,
) -> Result<Vec<Vec<u8>>, Error> {
    let (index, peers) = (worker.index(), worker.peers());
    let mailbox = Mailbox::new(worker);
    let mut time = 0;
    if to.worker() == index {
        let capability = mailbox.capability(0).ok_or_else(closed)?;
        walk(&mailbox, &capability, (index, peers), states, to, Vec::new())?;
    }
    mailbox.give_up(0);
    let path = loop {
        step(worker, links, NAP)?;
        let Some(batch) = mailbox.receive(u64::MAX) else { continue };
        let mut reader = Reader(batch.bytes());
        let next = RecordId(reader.number().ok_or_else(closed)?);
        let mut path = Vec::new();
        while let Some(state) = reader.bytes() {
            path.push(state.to_vec());
        }
        if next == RecordId::NONE {
            path.reverse();
            break path;
        }
        let capability = mailbox.any_capability().ok_or_else(closed)?;
        time = time.max(*capability.time());
        walk(&mailbox, &capability, (index, peers), states, next, path)?;
        drop(capability);
        mailbox.give_up(time);
    };
    leave(worker, links, &mailbox)?;
    Ok(path)
}

/// Adds the states that this worker has, and sends the path to the next owner or, if it is complete, to everybody.
fn walk(
    mailbox: &Mailbox,
    capability: &timely::dataflow::operators::Capability<u64>,
    (index, peers): (usize, usize),
    states: States<'_>,
    from: RecordId,
    mut path: Vec<Vec<u8>>,
) -> Result<(), Error> {
    let mut next = from;
    while next != RecordId::NONE && next.worker() == index {
        let (state, parent) = states.partition.record(next.number()).ok_or_else(closed)?;
        path.push(plain(state, states.packing).ok_or_else(closed)?);
        next = parent;
    }
    let mut word = Writer::default();
    word.number(next.0);
    path.iter().for_each(|state| {
        word.bytes(state);
    });
    let targets = if next == RecordId::NONE { 0..peers } else { next.worker()..next.worker() + 1 };
    for target in targets {
        mailbox.send(capability, Batch::new(Kind::Word, index, target, word.0.clone()));
    }
    Ok(())
}

/// The plain form of a state.
fn plain(state: Vec<u8>, packing: Option<&Packing<'_>>) -> Option<Vec<u8>> {
    match packing {
        None => Some(state),
        Some(packing) => packing.unpack(&state),
    }
}

/// Gives up all capabilities and waits for the others to do so.
fn leave(worker: &mut Worker, links: &Links, mailbox: &Mailbox) -> Result<(), Error> {
    mailbox.give_up(u64::MAX);
    while worker.has_dataflows() {
        step(worker, links, NAP)?;
        mailbox.give_up(u64::MAX);
    }
    Ok(())
}

fn closed() -> Error {
    Error::new("the processes of the cluster do not understand each other".to_owned())
}
