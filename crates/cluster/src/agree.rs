//! What processes agree on before a search: that all ask the same, and where all of them begin.
//!
//! Each process tells which checkpoints it has a part of, or why it cannot use its directory; the newest one that all have
//! is resumed. If there is none, everybody is told who has what. When everybody has read its states, or somebody could not, all learn
//! that as well, before any file is changed.

use timely::worker::Worker;

use crate::Error;
use crate::findings::STOPS;
use crate::gather::consult;
use crate::key::random;
use crate::link::Links;
use crate::log::Trouble;
use crate::part::Part;
use crate::saved::{Moment, Stamp};
use crate::wire::{Reader, Writer};

/// The processes, as one of their workers sees them.
pub(crate) struct Circle<'a> {
    pub links: &'a Links,
    pub hosts: &'a [String],
    /// Workers of each process.
    pub workers: usize,
}

/// Where a search begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beginning {
    /// The random number of this run.
    pub run: u64,
    /// The checkpoint to go on from.
    pub from: Option<Moment>,
}

impl Circle<'_> {
    fn name(&self, process: usize) -> String {
        format!("process {process} ({})", self.hosts.get(process).map_or("?", String::as_str))
    }

    /// The name of the process of a worker.
    pub fn name_of(&self, worker: usize) -> String {
        self.name(worker / self.workers)
    }

    /// Makes sure that all workers have the same digest.
    pub fn same_question(&self, worker: &mut Worker, digest: &[u8]) -> Result<(), Error> {
        let workers = self.workers;
        let decision = consult(worker, self.links, digest.to_vec(), |words| {
            let other = words.iter().position(|word| *word != words[0]);
            let mut decision = Writer::default();
            decision.number(other.map_or(u64::MAX, |worker| (worker / workers) as u64));
            decision.0
        })?;
        match Reader(&decision).number() {
            Some(u64::MAX) => Ok(()),
            other => {
                let name = self.name(other.unwrap_or_default() as usize);
                Err(Error::new(format!("{name} asks another question than process 0")))
            }
        }
    }

    /// Agrees on where to begin. `part` is this process's directory or what is wrong with it; it is told by the process's first worker.
    pub fn beginning(&self, worker: &mut Worker, part: &Result<Part, String>) -> Result<Beginning, Error> {
        let run = u64::from_le_bytes(random()?);
        let word = if worker.index().is_multiple_of(self.workers) { offer(part) } else { Vec::new() };
        let decision = consult(worker, self.links, word, |words| {
            let offers: Vec<Offer> = words.iter().step_by(self.workers).map(|word| Offer::decode(word)).collect();
            self.decide(run, &offers)
        })?;
        let mut decision = Reader(&decision);
        match (decision.text(), decision.number(), decision.number(), decision.number()) {
            (Some(text), Some(run), Some(round), Some(time)) if text.is_empty() => {
                Ok(Beginning { run, from: (time > 0).then_some(Moment { round, time }) })
            }
            (Some(text), ..) => Err(Error::refusal(text)),
            _ => Err(Error::new("the decision cannot be read".to_owned())),
        }
    }

    fn decide(&self, run: u64, offers: &[Offer]) -> Vec<u8> {
        let mut out = Writer::default();
        match self.choose(offers) {
            Ok(from) => {
                let (round, time) = from.map_or((0, 0), |moment| (moment.round, moment.time));
                out.bytes(b"").number(run).number(round).number(time)
            }
            Err(text) => out.bytes(text.as_bytes()),
        };
        out.0
    }

    /// The newest checkpoint that all have, or why there is none.
    fn choose(&self, offers: &[Offer]) -> Result<Option<Moment>, String> {
        let troubled = offers.iter().enumerate().filter(|(_, offer)| !offer.trouble.is_empty());
        let troubles: Vec<String> =
            troubled.map(|(process, offer)| format!("{}: {}", self.name(process), offer.trouble)).collect();
        if !troubles.is_empty() {
            return Err(troubles.join("\n"));
        }
        if offers.iter().any(|offer| offer.resume != offers[0].resume) {
            return Err("some processes resume a search and some begin a new one".to_owned());
        }
        let Some(first) = offers.first().filter(|first| first.resume) else { return Ok(None) };
        let common = |stamp: &&Stamp| offers.iter().all(|offer| offer.stamps.contains(stamp));
        if let Some(stamp) = first.stamps.iter().filter(common).max() {
            return Ok(Some(stamp.moment));
        }
        let lines: Vec<String> = offers.iter().enumerate().map(|(at, offer)| self.describe(at, offer)).collect();
        let level = |stamp: &Stamp| stamp.moment;
        let same_levels =
            |stamp: &Stamp| offers.iter().all(|offer| offer.stamps.iter().any(|s| level(s) == level(stamp)));
        let why = if first.stamps.iter().any(same_levels) { ": they are of different runs" } else { "" };
        Err(format!("there is no checkpoint that all processes have a part of{why}\n{}", lines.join("\n")))
    }

    fn describe(&self, process: usize, offer: &Offer) -> String {
        let levels: Vec<String> = offer.stamps.iter().map(|stamp| stamp.moment.level().to_string()).collect();
        let levels = if levels.is_empty() { "no level".to_owned() } else { format!("level {}", levels.join(" and ")) };
        format!("  {} has {levels}", self.name(process))
    }

    /// Waits until everybody has read its states. `trouble` says why this worker could not.
    pub fn all_have_read(&self, worker: &mut Worker, trouble: Option<Trouble>) -> Result<(), Error> {
        let mut word = Writer::default();
        if let Some(trouble) = trouble {
            let (weight, text) = weigh(&trouble);
            word.number(weight).bytes(text.as_bytes());
        }
        let decision = consult(worker, self.links, word.0, |words| {
            let told = |(worker, word): (usize, &Vec<u8>)| {
                let mut reader = Reader(word);
                let weight = reader.number()?;
                Some((weight, format!("{}: {}", self.name_of(worker), reader.text()?)))
            };
            let mut told: Vec<(u64, String)> = words.iter().enumerate().filter_map(told).collect();
            // Workers of one process may have the same to say.
            told.dedup();
            let mut out = Writer::default();
            if !told.is_empty() {
                let texts: Vec<&str> = told.iter().map(|(_, text)| text.as_str()).collect();
                let weight = told.iter().map(|(weight, _)| *weight).max().unwrap_or_default();
                out.number(weight).bytes(texts.join("\n").as_bytes());
            }
            out.0
        })?;
        let mut decision = Reader(&decision);
        let Some(weight) = decision.number() else { return Ok(()) };
        let text = decision.text().unwrap_or_default();
        Err(match STOPS.get(weight as usize) {
            Some(stop) => Error::stopped(*stop),
            None if weight == NO_ROOM => Error::new(text),
            None => Error::refusal(text),
        })
    }
}

/// Weights of what keeps a worker from reading its states: the place of a limit in [`STOPS`], or these. Of what several have to say, the heaviest counts.
const NO_ROOM: u64 = STOPS.len() as u64;
const UNUSABLE: u64 = NO_ROOM + 1;

fn weigh(trouble: &Trouble) -> (u64, String) {
    match trouble {
        Trouble::Stopped(stop) => {
            let place = STOPS.iter().position(|known| known == stop).map_or(NO_ROOM, |place| place as u64);
            (place, stop.reason().to_owned())
        }
        Trouble::NoRoom => (NO_ROOM, "the states of the checkpoint need more memory".to_owned()),
        Trouble::File(error) => (UNUSABLE, error.to_string()),
    }
}

/// What a process brings.
#[derive(Default, PartialEq, Eq, Debug)]
struct Offer {
    trouble: String,
    resume: bool,
    stamps: Vec<Stamp>,
}

fn offer(part: &Result<Part, String>) -> Vec<u8> {
    let offer = match part {
        Ok(part) => Offer { trouble: String::new(), resume: part.resumes(), stamps: part.offers().collect() },
        Err(text) => Offer { trouble: text.clone(), ..Offer::default() },
    };
    offer.encode()
}

impl Offer {
    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(self.trouble.as_bytes()).number(u64::from(self.resume));
        for Stamp { moment, run } in &self.stamps {
            out.number(moment.round).number(moment.time).number(*run);
        }
        out.0
    }

    fn decode(bytes: &[u8]) -> Self {
        let mut input = Reader(bytes);
        let trouble = input.text().unwrap_or_default();
        let resume = input.number().is_some_and(|resume| resume != 0);
        let mut stamps = Vec::new();
        while let (Some(round), Some(time), Some(run)) = (input.number(), input.number(), input.number()) {
            stamps.push(Stamp { moment: Moment { round, time }, run });
        }
        Self { trouble, resume, stamps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn stamps(levels: &[(u64, u64)]) -> Vec<Stamp> {
        let stamp = |(level, run): &(u64, u64)| Stamp { moment: Moment { round: 0, time: level + 1 }, run: *run };
        levels.iter().map(stamp).collect()
    }

    /// What is chosen of what two processes have: levels with the numbers of their runs.
    fn check(zero: &[(u64, u64)], one: &[(u64, u64)]) -> Result<Option<u64>, String> {
        let hosts = ["a:1".to_owned(), "b:2".to_owned()];
        let links = Links::new(&hosts, &[None, None], Duration::from_secs(1)).expect("there are no sockets");
        let circle = Circle { links: &links, hosts: &hosts, workers: 1 };
        let offers = [zero, one].map(|levels| {
            let offer = Offer { trouble: String::new(), resume: true, stamps: stamps(levels) };
            let back = Offer::decode(&offer.encode());
            assert_eq!(back, offer);
            back
        });
        circle.choose(&offers).map(|moment| moment.map(Moment::level))
    }

    #[test]
    fn the_newest_that_all_have_is_chosen() {
        assert_eq!(check(&[(3, 1), (5, 1)], &[(3, 1), (5, 1)]), Ok(Some(5)));
        // A crash while level 5, or 7, was written.
        assert_eq!(check(&[(3, 1), (5, 1)], &[(2, 1), (3, 1)]), Ok(Some(3)));
        assert_eq!(check(&[(5, 1)], &[(5, 1), (7, 1)]), Ok(Some(5)));
        // Level 5 was written again after a resume, but not by all.
        assert_eq!(check(&[(3, 1), (5, 2)], &[(3, 1), (5, 1)]), Ok(Some(3)));
        let none = check(&[(3, 1)], &[]).expect_err("one has nothing");
        assert!(
            none.contains("process 0 (a:1) has level 3") && none.contains("process 1 (b:2) has no level"),
            "{none}"
        );
        let none = check(&[(3, 1), (4, 1)], &[(4, 2)]).expect_err("they are of different runs");
        assert!(none.contains("different runs") && none.contains("has level 3 and 4"), "{none}");
    }
}
