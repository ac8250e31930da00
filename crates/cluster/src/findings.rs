//! What was found out, as workers tell each other.

use cyrano_engine::{Answer, Cause, Stats, Stop, Verdict};
use cyrano_explore::{Space, Summary, Wrong};

use crate::begin::Found;
use crate::job::Job;
use crate::saved::Moment;
use crate::table::RecordId;
use crate::wire::{Reader, Writer};

/// What one worker found out, or all together.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Findings {
    pub summary: Summary,
    /// Where something goes wrong: the time of the level, how, and the record; there is none if it does before the first state.
    pub hit: Option<(u64, Wrong, RecordId)>,
    pub stop: Option<Stop>,
    /// Why no checkpoint can be written.
    pub trouble: Option<String>,
    states: u64,
    bytes: u64,
    pub depth: u64,
    /// The levels that were begun: by all workers, and by any.
    pub times: [u64; 2],
    /// The last checkpoints: with all workers in them, and with any.
    pub written: [Option<Moment>; 2],
}

/// The limits, by the number that stands for each on the wire.
pub(crate) const STOPS: [Stop; 4] = [Stop::Timeout, Stop::Memory, Stop::Cancelled, Stop::Size];

impl Findings {
    pub fn of(found: &Found<'_>) -> Self {
        Self {
            summary: found.summary.clone(),
            hit: found.hit,
            stop: found.stop,
            trouble: found.trouble.clone(),
            states: found.partition.len(),
            bytes: found.bytes,
            depth: found.depth,
            times: [found.time; 2],
            written: [found.checkpointer.as_ref().and_then(|checkpointer| checkpointer.written()); 2],
        }
    }

    /// What all found out together. Of several violations the one with the fewest steps counts.
    pub fn join(words: &[Vec<u8>]) -> Self {
        let all = words.iter().filter_map(|word| Self::decode(word)).reduce(|mut all, one| {
            all.summary.absorb(one.summary);
            all.hit = all.hit.into_iter().chain(one.hit).min();
            all.stop = all.stop.or(one.stop);
            all.trouble = all.trouble.or(one.trouble);
            all.states += one.states;
            all.bytes += one.bytes;
            all.depth = all.depth.max(one.depth);
            all.times = [all.times[0].min(one.times[0]), all.times[1].max(one.times[1])];
            all.written = [all.written[0].min(one.written[0]), all.written[1].max(one.written[1])];
            all
        });
        all.unwrap_or_default()
    }

    /// Of which level a last checkpoint can be written, if a limit has ended the search.
    pub fn late_checkpoint(&self, round: u64) -> Option<u64> {
        let [all, any] = self.times;
        let wanted = self.stop.is_some() && self.hit.is_none() && self.trouble.is_none();
        let possible = any - all <= 1 && self.written[1] < Some(Moment { round, time: all });
        (wanted && possible && !self.summary.must_give_up()).then_some(all)
    }

    /// Whether all states are known.
    pub fn is_complete(&self) -> bool {
        let open = self.stop.is_some() || self.hit.is_some() || self.trouble.is_some();
        !open && !self.summary.must_give_up()
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let Summary { transitions, ended, outcomes, notes, limited } = &self.summary;
        out.number(*transitions).number(u64::from(*ended)).number(u64::from(*notes));
        let (thread, pc) = limited.map_or((u64::MAX, 0), |(thread, pc)| (thread as u64, u64::from(pc)));
        out.number(thread).number(pc);
        let (level, wrong, place) = self.hit.unwrap_or((u64::MAX, Wrong::Here, RecordId::NONE));
        out.number(level).number(u64::from(wrong == Wrong::InStep)).number(place.0);
        out.number(
            self.stop.and_then(|stop| STOPS.iter().position(|known| *known == stop)).map_or(0, |at| at as u64 + 1),
        );
        out.bytes(self.trouble.as_deref().unwrap_or_default().as_bytes());
        out.number(self.states).number(self.bytes).number(self.depth).number(self.times[0]).number(self.times[1]);
        for moment in self.written {
            let (round, time) = moment.map_or((0, 0), |moment| (moment.round, moment.time));
            out.number(round).number(time);
        }
        for outcome in outcomes {
            let bytes: Vec<u8> = outcome.iter().flat_map(|value| value.to_le_bytes()).collect();
            out.bytes(&bytes);
        }
        out.0
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader(bytes);
        let mut next = || input.number();
        let (transitions, ended, notes) = (next()?, next()? != 0, next()? as u32);
        let (thread, pc) = (next()?, next()? as u32);
        let limited = (thread != u64::MAX).then_some((thread as usize, pc));
        let (level, in_step, place) = (next()?, next()? != 0, RecordId(next()?));
        let wrong = if in_step { Wrong::InStep } else { Wrong::Here };
        let hit = (level != u64::MAX).then_some((level, wrong, place));
        let stop = (next()? as usize).checked_sub(1).and_then(|at| STOPS.get(at).copied());
        let trouble = input.text().filter(|text| !text.is_empty());
        let mut next = || input.number();
        let (states, bytes, depth, times) = (next()?, next()?, next()?, [next()?, next()?]);
        let mut moment = || Some(Moment { round: next()?, time: next()? });
        let written = [moment()?, moment()?].map(|moment| (moment.time > 0).then_some(moment));
        let mut summary = Summary { transitions, ended, notes, limited, ..Summary::default() };
        while let Some(outcome) = input.bytes() {
            let values = outcome.as_chunks::<16>().0.iter().map(|value| i128::from_le_bytes(*value));
            summary.outcomes.insert(values.collect());
        }
        Some(Self { summary, hit, stop, trouble, states, bytes, depth, times, written })
    }

    /// The answer, with the states on the way to where something goes wrong.
    pub fn answer(&self, space: &Space<'_>, job: &Job, path: &[Vec<u8>]) -> Answer {
        let stats = Stats { states: self.states, depth: self.depth, peak_bytes: self.bytes, ..Stats::default() };
        let too_large = self.hit.is_none() && self.summary.must_give_up();
        let trouble = self.trouble.as_ref().filter(|_| self.hit.is_none());
        let stop = if too_large { Some(Stop::Size) } else { self.stop.or(trouble.map(|_| Stop::Cancelled)) };
        let wrong = self.hit.map(|(_, wrong, _)| wrong);
        let mut answer = space.answer(path, wrong, &self.summary, stop, stats, &job.limits);
        if let Some(text) = trouble.filter(|_| answer.verdict == Verdict::Unknown) {
            let text = format!("{text}; the last checkpoint is kept, --resume goes on when that is mended");
            answer.reason = Some(Cause::Trouble(text));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(time: u64, written: u64) -> Findings {
        let moment = (written > 0).then_some(Moment { round: 1, time: written });
        let stop = Some(Stop::Timeout);
        let summary = Summary { transitions: 3, outcomes: [vec![-1, 2]].into(), ..Summary::default() };
        Findings { times: [time; 2], written: [moment; 2], states: 2, stop, summary, ..Findings::default() }
    }

    #[test]
    fn what_all_found_out() {
        let one = Findings { trouble: Some("no".into()), hit: Some((4, Wrong::InStep, RecordId(7))), ..findings(4, 2) };
        assert_eq!(Findings::decode(&one.encode()), Some(one.clone()));
        let all = Findings::join(&[one.encode(), findings(3, 0).encode()]);
        assert_eq!((all.states, all.summary.transitions, all.hit), (4, 6, one.hit));
        assert_eq!((all.times, all.written), ([3, 4], [None, Some(Moment { round: 1, time: 2 })]));
    }

    #[test]
    fn a_late_checkpoint_is_of_a_level_that_all_know() {
        let check = |parts: &[(u64, u64)]| {
            let words: Vec<Vec<u8>> = parts.iter().map(|(time, written)| findings(*time, *written).encode()).collect();
            Findings::join(&words).late_checkpoint(1)
        };
        assert_eq!(check(&[(5, 2), (5, 2)]), Some(5));
        assert_eq!(check(&[(5, 2), (6, 2)]), Some(5));
        assert_eq!(check(&[(5, 2), (7, 2)]), None);
        // Somebody has written a later one, or that one, already.
        assert_eq!(check(&[(5, 2), (6, 6)]), None);
        assert_eq!(check(&[(5, 5), (5, 5)]), None);
    }
}
