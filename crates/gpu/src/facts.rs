//! What the device has to know about criteria that listen and about the forms of states: the host's copy, and its way there.
//!
//! Of a set of timestamps there is a number, which the device finds by the set; what becomes of parts is found by this number. Numbers are given here and never
//! change, so it does not matter when a teacher forgets its own; and all that is known stays true when states get another layout.

use cyrano_explore::{FormLesson, Outcome, Renamings};
use rustc_hash::FxHashMap;

use crate::device::{Buffer, Device, Result, Trouble};
use crate::job::{Job, MOST_TIMED};

const HEARD: u64 = 1;
const RANKED: u64 = 2;
const GAPS: u64 = 3;
const HEARD_KEEPS: u64 = 1;
const HEARD_WRONG: u64 = 2;
const HEARD_DROPPED: u64 = 3;
/// Of a set of timestamps: whether tuples with it are ranked, and whether that is known.
const IS_RANKED: u64 = 1;
const RANKING_KNOWN: u64 = 2;

/// The facts of one layout.
#[derive(Default)]
pub(crate) struct Facts {
    renamings: Renamings,
    /// Entries of a key of two words and what is known, in a table that is at most half full.
    entries: Vec<u64>,
    mask: u64,
    count: u64,
    /// For each part that may have timestamps, and each number, two words.
    times: Vec<Vec<u64>>,
    /// For each renaming, part and number one more than the number after.
    images: Vec<Vec<Vec<u32>>>,
    numbers: FxHashMap<u128, u64>,
    /// All parts, as the device has fields.
    all: Vec<u64>,
    /// How many things were learnt.
    learnt: u64,
    news: [bool; 3],
    buffers: [Buffer; 6],
}

impl Facts {
    /// States have a layout with these fields now.
    pub fn begin(&mut self, renamings: Renamings, fields: &[u64], parts: usize, job: &mut Job) -> Result<()> {
        if renamings.timed.len() > MOST_TIMED {
            return Err(Trouble::Failed(format!("{} parts with timestamps are too many", renamings.timed.len())));
        }
        if self.entries.is_empty() {
            self.mask = 255;
            self.entries = vec![0; 256 * 3];
            self.times = vec![Vec::new(); renamings.timed.len()];
            self.images = vec![vec![Vec::new(); parts]; renamings.from.len()];
        }
        self.news = [true; 3];
        job.timed = renamings.timed.len() as u32;
        job.renamed = renamings.from.len() as u32;
        job.parts = parts as u32;
        job.criterion = renamings.criterion.unwrap_or(0) as u32;
        for (to, part) in job.timed_part.iter_mut().zip(&renamings.timed) {
            *to = *part as u32;
        }
        self.renamings = renamings;
        self.all = fields.to_vec();
        Ok(())
    }

    /// How many things were learnt.
    pub fn learnt(&self) -> u64 {
        self.learnt
    }

    /// Whether it is known that nothing gets lost.
    pub fn knows_gaps(&self, times: u128, increments: u32) -> bool {
        let number = self.numbers.get(&times);
        number.is_some_and(|number| self.entries[3 * self.find(number << 8 | GAPS, u64::from(increments)) + 2] != 0)
    }

    fn find(&self, first: u64, second: u64) -> usize {
        let mut hash = first.wrapping_mul(0x9fb2_1c65_1e98_df25) ^ second;
        hash = spread(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut at = hash & self.mask;
        loop {
            let entry = &self.entries[3 * at as usize..][..3];
            if entry[2] == 0 || entry[0] == first && entry[1] == second {
                return at as usize;
            }
            at = (at + 1) & self.mask;
        }
    }

    fn add(&mut self, first: u64, second: u64, known: u64) {
        let at = self.find(first, second);
        let entry = &mut self.entries[3 * at..][..3];
        if entry[2] == known {
            return;
        }
        let new = entry[2] == 0;
        entry.copy_from_slice(&[first, second, known]);
        self.news[0] = true;
        self.learnt += 1;
        self.count += u64::from(new);
        if 2 * self.count > self.mask {
            self.mask = 4 * self.mask + 3;
            let old = std::mem::replace(&mut self.entries, vec![0; 3 * (self.mask as usize + 1)]);
            for entry in old.chunks_exact(3).filter(|entry| entry[2] != 0) {
                let at = self.find(entry[0], entry[1]);
                self.entries[3 * at..][..3].copy_from_slice(entry);
            }
        }
    }

    /// Learns what a criterion makes of what it hears.
    pub fn heard(&mut self, said: u32, kept: u32, outcome: Outcome) {
        let known = match outcome {
            Outcome::Keeps(number) => HEARD_KEEPS << 32 | u64::from(number),
            Outcome::Wrong => HEARD_WRONG << 32,
            Outcome::Dropped => HEARD_DROPPED << 32,
        };
        self.add(u64::from(said) << 32 | u64::from(kept), HEARD, known);
    }

    /// The number of a set of timestamps.
    fn number(&mut self, times: u128, about: u64) -> u64 {
        let next = self.numbers.len() as u64 + 1;
        let number = *self.numbers.entry(times).or_insert(next);
        let (low, high) = (times as u64, (times >> 64) as u64);
        let before = self.entries[3 * self.find(low, high) + 2] & 3;
        self.add(low, high, number << 2 | before | about);
        number
    }

    /// Learns that nothing gets lost.
    pub fn gaps(&mut self, times: u128, increments: u32) {
        let number = self.number(times, 0);
        self.add(number << 8 | GAPS, u64::from(increments), 1);
    }

    /// Learns something about forms.
    pub fn form(&mut self, lesson: FormLesson) {
        match lesson {
            FormLesson::Times { part, number, times } => {
                let Some(at) = self.renamings.timed.iter().position(|timed| *timed == part) else { return };
                let (known, number) = (&mut self.times[at], 2 * number as usize);
                known.resize(known.len().max(number + 2), 0);
                let words = [times as u64, (times >> 64) as u64];
                if known[number..number + 2] != words {
                    known[number..number + 2].copy_from_slice(&words);
                    self.news[1] = true;
                    self.learnt += 1;
                }
            }
            FormLesson::Ranking { times, ranked } => {
                self.number(times, RANKING_KNOWN | if ranked { IS_RANKED } else { 0 });
            }
            FormLesson::Ranked { times, part, number, to } => {
                let times = self.number(times, 0);
                self.add(times << 8 | RANKED, (part as u64) << 32 | u64::from(number), u64::from(to) + 1);
            }
            FormLesson::Image { renaming, part, number, to } => {
                let (known, number) = (&mut self.images[renaming][part], number as usize);
                if known.len() <= number {
                    known.resize(number + 1, 0);
                }
                if known[number] != to + 1 {
                    known[number] = to + 1;
                    self.news[2] = true;
                    self.learnt += 1;
                }
            }
        }
    }

    /// Tells the device what it does not know yet.
    pub fn tell(&mut self, device: &mut dyn Device, job: &mut Job) -> Result<()> {
        let [entries, times, images] = std::mem::take(&mut self.news);
        let [on_facts, on_times, on_images, on_renamings, on_order, on_all] = &mut self.buffers;
        if entries {
            on_facts.fill(device, &self.entries)?;
            (job.facts, job.facts_mask) = (on_facts.at, self.mask);
        }
        if times {
            let mut flat = Vec::new();
            for (at, known) in self.times.iter().enumerate() {
                job.timed_base[at] = (flat.len() / 2) as u32;
                job.timed_count[at] = (known.len() / 2) as u32;
                flat.extend_from_slice(known);
            }
            on_times.fill(device, &flat)?;
            job.times = on_times.at;
        }
        if images {
            let (mut flat, mut renamings) = (Vec::new(), Vec::new());
            for (from, images) in self.renamings.from.iter().zip(&self.images) {
                let base = images.iter().scan(flat.len(), |at, known| {
                    let begin = *at;
                    *at += known.len();
                    Some(begin as u32)
                });
                let base: Vec<u32> = base.collect();
                images.iter().for_each(|known| flat.extend_from_slice(known));
                from.iter().for_each(|part| renamings.extend([*part as u32, base[*part], images[*part].len() as u32]));
            }
            on_images.fill(device, &pairs(&flat))?;
            on_renamings.fill(device, &pairs(&renamings))?;
            let order: Vec<u32> = self.renamings.order.iter().map(|part| *part as u32).collect();
            on_order.fill(device, &pairs(&order))?;
            on_all.fill(device, &self.all)?;
            (job.images, job.renamings, job.order, job.all) = (on_images.at, on_renamings.at, on_order.at, on_all.at);
        }
        Ok(())
    }

    /// Bytes that it takes on the host.
    pub fn bytes(&self) -> u64 {
        let images: usize = self.images.iter().flatten().map(Vec::capacity).sum();
        let times: usize = self.times.iter().map(Vec::capacity).sum();
        (8 * (self.entries.capacity() + times) + 4 * images) as u64
    }
}

/// Numbers of 32 bits, two to a word.
pub(crate) fn pairs(numbers: &[u32]) -> Vec<u64> {
    numbers.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32).collect()
}

fn spread(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}
