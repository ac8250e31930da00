//! The arena and the table on a device: how they begin, grow, and get another layout.
//!
//! The arena is one range of memory. It grows by being copied into another one that is several times as large; the table is made anew from the arena, so it
//! need not be there meanwhile. The last growth takes what memory is left. What the search needs beside them is allocated before.

use cyrano_explore::Field;

use crate::Settings;
use crate::device::{Buffer, Device, Result, Trouble};
use crate::facts::pairs;
use crate::job::{BUCKET, Counters, Job, MOST_STATES};

/// How many states one launch expands at most.
const MOST_CHUNK: u64 = 1 << 24;

/// The states of a search, and what launches need beside them.
pub(crate) struct Store {
    pub device: Box<dyn Device + Send>,
    pub job: Job,
    settings: Settings,
    arena: Buffer,
    slots: Buffer,
    counters: Buffer,
    filter: Buffer,
    /// The states to expand again, and where the next ones are listed.
    again: [Buffer; 2],
    asks: Buffer,
    looks: Buffer,
    gathered: Buffer,
    /// How many words of memory the arena and the table may take.
    budget: u64,
    /// How many states a launch expands at most.
    pub chunk: u64,
    /// How many words are in use at most.
    pub peak: u64,
    /// Whether something was asked for in the last launch.
    asked: bool,
}

impl Store {
    /// Memory for a first few states of so many words.
    pub fn new(mut device: Box<dyn Device + Send>, settings: &Settings, words: u64) -> Result<Self> {
        let free = device.free_bytes()?;
        let all = settings.memory.map_or(free, |memory| memory.min(free)) / 8;
        // Drivers need some themselves.
        let all = all - all / 32;
        let chunk = settings.chunk.clamp(1, MOST_CHUNK).min((all / 64).max(1));
        let filter_bits = settings.filter_bits;
        let room = chunk.max(1 << 10);
        let d = device.as_mut();
        let new = |d: &mut dyn Device, words: u64| Buffer::new(d, words);
        let counters = new(d, Counters::LEN as u64)?;
        let filter = new(d, (1 << filter_bits) / 2)?;
        let again = [new(d, chunk)?, new(d, chunk)?];
        let (asks, looks) = (new(d, room)?, new(d, chunk)?);
        let gathered = new(d, GATHERED * crate::job::MOST_WORDS as u64)?;
        let taken = [&counters, &filter, &again[0], &again[1], &asks, &looks, &gathered];
        let taken: u64 = taken.iter().map(|buffer| buffer.words).sum();
        // What is remembered needs some, too.
        let budget = all.saturating_sub(taken + (all / 16).min(1 << 27));
        let mut job = Job { options: settings.faults, patience: settings.patience, ..Job::default() };
        job.counters = counters.at;
        job.filter = filter.at;
        job.filter_mask = (1 << filter_bits) - 1;
        (job.asks, job.asks_room, job.looks) = (asks.at, room as u32, looks.at);
        let (arena, slots) = Default::default();
        let settings = settings.clone();
        let mut store = Self {
            device,
            job,
            settings,
            arena,
            slots,
            counters,
            filter,
            again,
            asks,
            looks,
            gathered,
            budget,
            chunk,
            peak: 0,
            asked: true,
        };
        store.begin(words)?;
        Ok(store)
    }

    fn begin(&mut self, words: u64) -> Result<()> {
        self.write_counters(Counters::default())?;
        let capacity = self.settings.states.min(self.most(words, 0)).max(1);
        self.arena = Buffer::new(self.device.as_mut(), capacity * words)?;
        (self.job.arena, self.job.capacity, self.job.words) = (self.arena.at, capacity, words as u32);
        self.table()
    }

    /// How many slots there are for so many states.
    fn slots_for(&self, states: u64) -> u64 {
        let slots = (states as f64 * self.settings.slots) as u64 + 1;
        slots.next_multiple_of(BUCKET)
    }

    /// How many states of so many words there is room for beside so many words.
    fn most(&self, words: u64, beside: u64) -> u64 {
        let each = words as f64 + self.settings.slots;
        let room = self.budget.saturating_sub(beside + 2 * BUCKET);
        ((room as f64 / each) as u64).min(MOST_STATES)
    }

    /// A table for as many states as the arena has room for, with those that are there.
    fn table(&mut self) -> Result<()> {
        self.slots.release(self.device.as_mut());
        let slots = self.slots_for(self.job.capacity);
        self.slots = Buffer::new(self.device.as_mut(), slots)?;
        self.peak = self.peak.max(self.arena.words + self.slots.words);
        (self.job.slots, self.job.buckets) = (self.slots.at, self.slots.words / BUCKET);
        self.fill_table()
    }

    fn fill_table(&mut self) -> Result<()> {
        self.device.zero(self.slots.at, self.slots.words)?;
        (self.job.first, self.job.count) = (0, self.settle()?);
        self.run("rebuild")?;
        if self.read_counters()?.full != 0 {
            return Err(Trouble::Failed("the table does not take the states that it had".to_owned()));
        }
        Ok(())
    }

    /// Room for more states; false if there is none.
    pub fn grow(&mut self) -> Result<bool> {
        let words = u64::from(self.job.words);
        let old = self.job.capacity;
        let wanted = old.saturating_mul(self.settings.growth);
        let capacity = wanted.min(self.most(words, self.arena.words));
        if capacity < old + old / 8 + 1 {
            return Ok(false);
        }
        self.slots.release(self.device.as_mut());
        let states = self.settle()?;
        self.rehouse(capacity, words, |store, arena| store.device.copy(arena.at, store.arena.at, states * words))?;
        Ok(true)
    }

    /// How many states there are. Numbers beyond the arena were taken in vain, and are forgotten: in a larger arena nothing would be there.
    fn settle(&mut self) -> Result<u64> {
        let states = self.read_counters()?.states.min(self.job.capacity);
        self.write_counters(Counters { states, ..Counters::default() })?;
        Ok(states)
    }

    /// Another arena, which `fill` fills, and a table for it.
    fn rehouse(&mut self, capacity: u64, words: u64, fill: impl FnOnce(&mut Self, Buffer) -> Result<()>) -> Result<()> {
        let mut arena = Buffer::new(self.device.as_mut(), capacity * words)?;
        self.peak = self.peak.max(self.arena.words + arena.words);
        fill(self, arena)?;
        std::mem::swap(&mut arena, &mut self.arena);
        arena.release(self.device.as_mut());
        (self.job.arena, self.job.capacity, self.job.words) = (self.arena.at, capacity, words as u32);
        self.table()
    }

    /// Gives all states another layout, of so many words.
    pub fn relay(&mut self, from: &[Field], to: &[Field], words: u64) -> Result<()> {
        let states = self.settle()?;
        let packed = |fields: &[Field]| -> Vec<u64> {
            let flat: Vec<u32> = fields.iter().flat_map(|field| [field.word, field.shift, field.low]).collect();
            pairs(&flat)
        };
        let (mut old, mut new) = (Buffer::default(), Buffer::default());
        old.fill(self.device.as_mut(), &packed(from))?;
        new.fill(self.device.as_mut(), &packed(to))?;
        (self.job.from, self.job.to, self.job.parts) = (old.at, new.at, from.len() as u32);
        (self.job.words_to, self.job.count, self.job.first) = (words as u32, states, 0);
        let relay = |store: &mut Self, arena: Buffer| {
            store.job.moved = arena.at;
            store.launch("relayout")
        };
        if words == u64::from(self.job.words) {
            relay(self, self.arena)?;
            self.fill_table()?;
        } else {
            self.slots.release(self.device.as_mut());
            let most = self.most(words, self.arena.words);
            if most < states {
                return Err(Trouble::NoMemory);
            }
            self.rehouse(self.job.capacity.min(most), words, relay)?;
        }
        old.release(self.device.as_mut());
        new.release(self.device.as_mut());
        Ok(())
    }

    /// Stores the first states, which are different ones; false if there is no room.
    pub fn seed(&mut self, states: &[u64]) -> Result<bool> {
        let count = states.len() as u64 / u64::from(self.job.words);
        while self.job.capacity < count {
            if !self.grow()? {
                return Ok(false);
            }
        }
        self.device.write(self.arena.at, states)?;
        self.write_counters(Counters { states: count, ..Counters::default() })?;
        self.fill_table()?;
        Ok(true)
    }

    /// Expands a range of states, or the first ones of those that were to be expanded again. Says what was counted.
    pub fn expand(&mut self, work: Work) -> Result<Counters> {
        let before = self.read_counters()?;
        self.write_counters(Counters { states: before.states, ..Counters::default() })?;
        if std::mem::take(&mut self.asked) {
            self.device.zero(self.filter.at, self.filter.words)?;
        }
        (self.job.first, self.job.count, self.job.list) = match work {
            Work::Range(first, count) => (first, count, 0),
            Work::Again(count) => (0, count, self.again[0].at),
        };
        self.job.again = self.again[1].at;
        self.run_with_forms("expand")?;
        self.again.swap(0, 1);
        let mut counters = self.read_counters()?;
        let count = self.job.count;
        let sensible = counters.again <= count && counters.looks <= count && counters.states >= before.states;
        if !sensible {
            return Err(Trouble::Failed(format!("what it counted makes no sense: {counters:?}")));
        }
        if counters.stalled != 0 {
            return Err(Trouble::Failed("a state that was announced was never written".to_owned()));
        }
        self.asked = counters.asks > 0;
        counters.asks = counters.asks.min(u64::from(self.job.asks_room));
        counters.states = counters.states.min(self.job.capacity);
        Ok(counters)
    }

    /// The first state of a range with a step to a state, or how many steps have to be asked for.
    pub fn scan(&mut self, first: u64, count: u64, target: u64) -> Result<Counters> {
        let states = self.read_counters()?.states;
        self.write_counters(Counters { states, found: u64::MAX, ..Counters::default() })?;
        self.device.zero(self.filter.at, self.filter.words)?;
        (self.job.first, self.job.count) = (first, count);
        self.job.target = self.arena.at + 8 * target * u64::from(self.job.words);
        self.run_with_forms("scan")?;
        let mut counters = self.read_counters()?;
        counters.asks = counters.asks.min(u64::from(self.job.asks_room));
        Ok(counters)
    }

    /// How many states the table does not have in their place.
    pub fn audit(&mut self) -> Result<u64> {
        let states = self.settle()?;
        let mut first = 0;
        while first < states {
            (self.job.first, self.job.count) = (first, (states - first).min(1 << 28));
            self.run("audit")?;
            first += self.job.count;
        }
        Ok(self.read_counters()?.bad)
    }

    /// The numbers of states with steps that were asked for, in order.
    pub fn asks(&mut self, counters: &Counters) -> Result<Vec<u64>> {
        self.numbers(self.asks, counters.asks)
    }

    /// The numbers of states to look at, in order.
    pub fn looks(&mut self, counters: &Counters) -> Result<Vec<u64>> {
        self.numbers(self.looks, counters.looks)
    }

    fn numbers(&mut self, from: Buffer, count: u64) -> Result<Vec<u64>> {
        let mut numbers = vec![0; count as usize];
        if count > 0 {
            self.device.read(from.at, &mut numbers)?;
        }
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.last().is_some_and(|last| *last >= self.job.capacity) {
            return Err(Trouble::Failed("it names a state that there is not".to_owned()));
        }
        Ok(numbers)
    }

    /// The words of some states, one after the other; not more than [`GATHERED`].
    pub fn gather(&mut self, numbers: &[u64]) -> Result<Vec<u64>> {
        let words = u64::from(self.job.words);
        let mut list = Buffer::default();
        list.fill(self.device.as_mut(), numbers)?;
        (self.job.list, self.job.count, self.job.moved) = (list.at, numbers.len() as u64, self.gathered.at);
        self.launch("gather")?;
        let mut states = vec![0; numbers.len() * words as usize];
        self.device.read(self.gathered.at, &mut states)?;
        list.release(self.device.as_mut());
        Ok(states)
    }

    fn run(&mut self, kernel: &str) -> Result<()> {
        self.launch(&format!("{kernel}_{}", self.job.words))
    }

    fn run_with_forms(&mut self, kernel: &str) -> Result<()> {
        if self.job.order == 0 { self.run(kernel) } else { self.run(&format!("{kernel}_forms")) }
    }

    fn launch(&mut self, kernel: &str) -> Result<()> {
        if self.job.count == 0 {
            return Ok(());
        }
        self.device.launch(kernel, &self.job, self.job.count)
    }

    fn read_counters(&mut self) -> Result<Counters> {
        let mut words = [0; Counters::LEN];
        self.device.read(self.counters.at, &mut words)?;
        Ok(Counters::from_words(words))
    }

    fn write_counters(&mut self, counters: Counters) -> Result<()> {
        self.device.write(self.counters.at, &counters.to_words())
    }

    /// Bytes of the device that were in use at most.
    pub fn peak_bytes(&self) -> u64 {
        8 * self.peak
    }
}

/// How many states are gathered at a time.
pub(crate) const GATHERED: u64 = 1 << 14;

/// What a launch expands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// States from a number on, so many.
    Range(u64, u64),
    /// So many of those that were listed in the last launch.
    Again(u64),
}
