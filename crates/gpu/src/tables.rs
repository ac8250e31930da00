//! What the device has to know about steps, for states of one layout: the host's copy, and its way there.
//!
//! **Invariant:** what is there is what a [`Teacher`] told.

use cyrano_explore::{Lesson, Pupil, Speaks, Steps, Teacher};

use crate::device::{Buffer, Device, Result, Trouble};
use crate::facts::{Facts, pairs};
use crate::job::{Job, MOST_THREADS, OPTION_LOOK_DONE, OPTION_MOMENTS};

const PLACE_KNOWN: u64 = 1;
const PLACE_DONE: u64 = 2;
const ENTRY_KNOWN: u64 = 1;
const ENTRY_WRONG: u64 = 2;
const ENTRY_SPEAKS: u64 = 4;
/// Whose keys those of moments are.
const MOMENTS: u64 = 2 * MOST_THREADS as u64;

/// The tables of one layout.
pub(crate) struct Tables {
    words: usize,
    /// For each thread records of `words + 1` words.
    places: Vec<Vec<u64>>,
    /// Entries of `words + 1` words, in a table that is at most half full.
    memo: Vec<u64>,
    mask: u64,
    entries: u64,
    /// How many things were learnt.
    learnt: u64,
    changes: Vec<u64>,
    /// How many words there are for each change.
    stride: usize,
    /// If states have forms of their own, or a criterion listens.
    pub facts: Option<Facts>,
    /// Whether the device does not know all of it yet.
    news: bool,
    /// What does not fit.
    trouble: Option<Trouble>,
    buffers: Buffers,
}

/// Where they are on the device.
#[derive(Default)]
struct Buffers {
    places: Buffer,
    memo: Buffer,
    changes: Buffer,
    /// How many changes are there.
    told: usize,
}

impl Pupil for Tables {
    fn knows(&self, lesson: &Lesson<'_>) -> bool {
        match lesson {
            Lesson::Place { thread, number, .. } => {
                let known = self.places[*thread].get(*number as usize * (self.words + 1));
                known.is_some_and(|record| *record != 0)
            }
            Lesson::Steps(steps) => self.find(whose(steps), steps.key).is_err(),
            Lesson::Moment(key) => self.find(MOMENTS, key).is_err(),
            Lesson::Gaps { times, increments } => {
                self.facts.as_ref().is_some_and(|facts| facts.knows_gaps(*times, *increments))
            }
            Lesson::Heard { .. } | Lesson::Form(_) => false,
        }
    }

    fn learn(&mut self, lesson: Lesson<'_>) {
        match lesson {
            Lesson::Place { thread, number, done, depends } => self.place(thread, number as usize, done, depends),
            Lesson::Steps(steps) => self.steps(&steps),
            Lesson::Moment(key) => self.add(MOMENTS, key, ENTRY_KNOWN),
            Lesson::Heard { said, kept, outcome } => self.learn_fact(|facts| facts.heard(said, kept, outcome)),
            Lesson::Form(lesson) => self.learn_fact(|facts| facts.form(lesson)),
            Lesson::Gaps { times, increments } => self.learn_fact(|facts| facts.gaps(times, increments)),
        }
    }
}

/// Whose key that of some steps is.
fn whose(steps: &Steps<'_>) -> u64 {
    steps.thread as u64 + if steps.speaks == Speaks::WithHistory { MOST_THREADS as u64 } else { 0 }
}

impl Tables {
    pub fn new() -> Self {
        Self {
            words: 0,
            places: Vec::new(),
            memo: Vec::new(),
            mask: 0,
            entries: 0,
            learnt: 0,
            changes: Vec::new(),
            stride: 1,
            facts: None,
            news: true,
            trouble: None,
            buffers: Buffers::default(),
        }
    }

    /// Forgets places and steps: states have the layout of this teacher now.
    pub fn begin(&mut self, teacher: &dyn Teacher, job: &mut Job) -> Result<()> {
        let words = teacher.words();
        let (fields, threads) = (teacher.fields(), teacher.threads());
        if threads.len() > MOST_THREADS {
            return Err(Trouble::Failed(format!("{} threads are too many", threads.len())));
        }
        self.words = words;
        self.places = vec![Vec::new(); threads.len()];
        self.mask = 255;
        self.memo = vec![0; 256 * (words + 1)];
        self.entries = 0;
        self.changes.clear();
        self.buffers.told = 0;
        self.news = true;
        self.stride = words;
        if let Some(renamings) = teacher.forms() {
            self.stride = words + 1;
            let flat: Vec<u32> = fields.iter().flat_map(|field| [field.word, field.shift, field.low]).collect();
            self.facts.get_or_insert_default().begin(renamings, &pairs(&flat), fields.len(), job)?;
        }
        job.words = words as u32;
        job.threads = threads.len() as u32;
        for (to, field) in job.field.iter_mut().zip(&fields[threads.clone()]) {
            *to = (*field).into();
        }
        job.groups = teacher.alike().len() as u32;
        let mut member = 0;
        for (group, end) in teacher.alike().iter().zip(&mut job.group_end) {
            for thread in group {
                job.member[member] = fields[threads.start + thread].into();
                member += 1;
            }
            *end = member as u32;
        }
        let put = |to: &mut [u64], from: &[u64]| to[..from.len()].copy_from_slice(from);
        put(&mut job.history, &teacher.history());
        let judged = teacher.judged();
        put(&mut job.seen, judged.as_deref().unwrap_or(&[]));
        job.options &= !(OPTION_MOMENTS | OPTION_LOOK_DONE);
        job.options |= if judged.is_some() { OPTION_MOMENTS } else { 0 };
        job.options |= if teacher.looks_at_ends() { OPTION_LOOK_DONE } else { 0 };
        Ok(())
    }

    fn learn_fact(&mut self, learn: impl FnOnce(&mut Facts)) {
        if let Some(facts) = &mut self.facts {
            learn(facts);
        }
    }

    /// How many things were learnt.
    pub fn learnt(&self) -> u64 {
        self.learnt + self.facts.as_ref().map_or(0, Facts::learnt)
    }

    fn place(&mut self, thread: usize, number: usize, done: bool, depends: &[u64]) {
        let (records, stride) = (&mut self.places[thread], self.words + 1);
        if records.len() < (number + 1) * stride {
            records.resize((number + 1) * stride, 0);
        }
        let record = &mut records[number * stride..][..stride];
        if record[0] == 0 {
            record[0] = PLACE_KNOWN | if done { PLACE_DONE } else { 0 };
            record[1..].copy_from_slice(depends);
            self.news = true;
            self.learnt += 1;
        }
    }

    fn steps(&mut self, steps: &Steps<'_>) {
        let thread = whose(steps);
        if self.find(thread, steps.key).is_err() {
            return;
        }
        let (count, at) = (steps.changes.len() / self.words, self.changes.len() / self.stride);
        if count > 0xffff || at > u32::MAX as usize {
            self.trouble = Some(Trouble::Failed("there are too many remembered steps".to_owned()));
            return;
        }
        let mut about = ENTRY_KNOWN | (count as u64) << 16 | (at as u64) << 32;
        if self.facts.is_some() {
            for (change, said) in steps.changes.chunks_exact(self.words).zip(steps.said) {
                self.changes.extend_from_slice(change);
                self.changes.push(u64::from(*said));
            }
        } else {
            self.changes.extend_from_slice(steps.changes);
        }
        if steps.wrong > 0 || self.facts.is_some() {
            self.changes.push(steps.wrong as u64 | u64::from(steps.increments) << 32);
            self.changes.resize(self.changes.len().next_multiple_of(self.stride), 0);
        }
        if steps.wrong > 0 {
            about |= ENTRY_WRONG;
        }
        if steps.speaks == Speaks::AskHistory {
            about |= ENTRY_SPEAKS;
        }
        self.add(thread, steps.key, about);
    }

    /// Where a key would be; an error if it is known.
    fn find(&self, thread: u64, key: &[u64]) -> std::result::Result<usize, ()> {
        let mut hash = thread.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in key {
            hash = (hash ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25);
            hash ^= hash >> 32;
        }
        let mut at = hash & self.mask;
        loop {
            let entry = &self.memo[at as usize * (self.words + 1)..][..=self.words];
            if entry[0] == 0 {
                return Ok(at as usize);
            }
            if entry[0] >> 8 & 0xff == thread && entry[1..] == *key {
                return Err(());
            }
            at = (at + 1) & self.mask;
        }
    }

    fn add(&mut self, thread: u64, key: &[u64], about: u64) {
        let Ok(at) = self.find(thread, key) else { return };
        let entry = &mut self.memo[at * (self.words + 1)..][..=self.words];
        entry[0] = about | thread << 8;
        entry[1..].copy_from_slice(key);
        self.entries += 1;
        self.news = true;
        self.learnt += 1;
        if 2 * self.entries > self.mask {
            self.widen();
        }
    }

    fn widen(&mut self) {
        let stride = self.words + 1;
        self.mask = 4 * self.mask + 3;
        let old = std::mem::replace(&mut self.memo, vec![0; (self.mask as usize + 1) * stride]);
        for entry in old.chunks_exact(stride).filter(|entry| entry[0] != 0) {
            let at = self.find(entry[0] >> 8 & 0xff, &entry[1..]).expect("keys are different");
            self.memo[at * stride..][..stride].copy_from_slice(entry);
        }
    }

    /// Tells the device what it does not know yet.
    pub fn tell(&mut self, device: &mut dyn Device, job: &mut Job) -> Result<()> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        if let Some(facts) = &mut self.facts {
            facts.tell(device, job)?;
        }
        if !std::mem::take(&mut self.news) {
            return Ok(());
        }
        let Buffers { places, memo, changes, told } = &mut self.buffers;
        let mut flat = Vec::new();
        for (thread, records) in self.places.iter().enumerate() {
            job.place_base[thread] = (flat.len() / (self.words + 1)) as u32;
            job.place_count[thread] = (records.len() / (self.words + 1)) as u32;
            flat.extend_from_slice(records);
        }
        places.fill(device, &flat)?;
        memo.fill(device, &self.memo)?;
        if changes.words < self.changes.len() as u64 {
            changes.fill(device, &self.changes)?;
        } else if *told < self.changes.len() {
            device.write(changes.at + 8 * *told as u64, &self.changes[*told..])?;
        }
        *told = self.changes.len();
        (job.places, job.memo, job.changes, job.memo_mask) = (places.at, memo.at, changes.at, self.mask);
        Ok(())
    }

    /// Bytes that it takes on the host.
    pub fn bytes(&self) -> u64 {
        let places: usize = self.places.iter().map(Vec::capacity).sum();
        let facts = self.facts.as_ref().map_or(0, Facts::bytes);
        facts + 8 * (places + self.memo.capacity() + self.changes.capacity()) as u64
    }
}
