//! The search: levels of the arena, chunk by chunk, and what the host has to do in between.
//!
//! **Invariant:** when a level is done, all successors of its states are in the arena, and its transitions were counted once. A launch lists the states that
//! it did not expand to the end, because a step is not known or there is no room; they are expanded again after the host has taught what was asked for or has
//! made room, and only then is the next chunk begun.

use std::time::Instant;

use cyrano_engine::{Counters as Progress, Limits, Stats, Stop, Watch};
use cyrano_explore::{Field, Summary, Taught, Teacher, Untold, Wrong};
use rustc_hash::FxHashSet;

use crate::Settings;
use crate::device::{Device, Trouble};
use crate::job::MOST_WORDS;
use crate::store::{GATHERED, Store, Work};
use crate::tables::Tables;

/// How a search ended.
pub(crate) enum End {
    /// All states are known.
    Complete(Summary),
    /// Something goes wrong at the end of a path, which has plain states.
    Found(Wrong, Vec<Vec<u8>>, Summary),
    /// Something goes wrong before the first state.
    AtOnce,
    /// A limit was reached.
    Stopped(Stop, Summary),
    /// Something has no form here.
    Formless,
    /// There is no answer.
    Trouble(Trouble),
}

/// Why a search does not go on.
enum Halt {
    Reshape,
    End(End),
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::End(End::Trouble(trouble))
    }
}

impl From<Untold> for Halt {
    fn from(untold: Untold) -> Self {
        match untold {
            Untold::Reshape => Self::Reshape,
            Untold::Never => Self::End(End::Formless),
        }
    }
}

/// A search under way.
pub(crate) struct Search<'s> {
    limits: &'s Limits,
    watch: &'s dyn Watch,
    settings: &'s Settings,
    /// Where the states are, once there are some; before that, the device.
    store: Option<Store>,
    device: Option<Box<dyn Device + Send>>,
    tables: Tables,
    /// Where levels begin, and where the last one ends.
    levels: Vec<u64>,
    /// The first state of the last level that no launch has expanded.
    position: u64,
    /// How many states are to be expanded again before that.
    again: u64,
    /// States that the host has to look at, in order.
    looks: Vec<u64>,
    states: u64,
    transitions: u64,
    ended: bool,
    started: Instant,
    failed: Option<Trouble>,
    pub told: Told,
}

/// What a search came to beside states.
#[derive(Clone, Copy, Default, Debug)]
pub struct Told {
    /// How many times a kernel expanded states.
    pub launches: u64,
    /// How many states the host was asked about.
    pub asked: u64,
    /// How many times the states got another layout, and how many times there was more room made.
    pub relaid: u64,
    /// How many times there was more room made.
    pub grown: u64,
    /// How many states were expanded again.
    pub again: u64,
    /// Words of a state in the end.
    pub words: u64,
    /// Seconds in which the device expanded states.
    pub busy: f64,
}

impl<'s> Search<'s> {
    pub fn new(
        device: Box<dyn Device + Send>,
        settings: &'s Settings,
        limits: &'s Limits,
        watch: &'s dyn Watch,
    ) -> Self {
        Self {
            limits,
            watch,
            settings,
            store: None,
            device: Some(device),
            tables: Tables::new(),
            levels: Vec::new(),
            position: 0,
            again: 0,
            looks: Vec::new(),
            states: 0,
            transitions: 0,
            ended: false,
            started: Instant::now(),
            failed: None,
            told: Told::default(),
        }
    }

    fn store(&mut self) -> &mut Store {
        self.store.as_mut().expect("states are stored before anything is done with them")
    }

    /// The device, for another search; nothing of this one is there any more.
    pub fn into_device(self) -> Option<Box<dyn Device + Send>> {
        let mut device = self.store.map(|store| store.device).or(self.device)?;
        device.clear();
        Some(device)
    }

    /// What is to be said about the search.
    pub fn stats(&self) -> Stats {
        let device = self.store.as_ref().map_or(0, Store::peak_bytes);
        Stats {
            states: self.states,
            transitions: self.transitions,
            depth: self.depth(),
            seconds: self.started.elapsed().as_secs_f64(),
            peak_bytes: device + self.tables.bytes(),
            ..Stats::default()
        }
    }

    /// The level of the initial states is level 0.
    fn depth(&self) -> u64 {
        (self.levels.len() as u64).saturating_sub(2)
    }

    fn summary(&self, teacher: &dyn Teacher) -> Summary {
        let summary = teacher.summary();
        Summary { transitions: self.transitions, ended: summary.ended || self.ended, ..summary }
    }

    /// Takes on a teacher's layout, and stores the initial states if there are none yet.
    fn begin(&mut self, teacher: &mut dyn Teacher) -> Result<(), Halt> {
        let words = teacher.words();
        if words > MOST_WORDS {
            return Err(Halt::End(End::Formless));
        }
        if let Some(device) = self.device.take() {
            self.store = Some(Store::new(device, self.settings, words as u64)?);
        }
        let store = self.store.as_mut().expect("it was made");
        self.tables.begin(teacher, &mut store.job)?;
        self.told.words = words as u64;
        if !self.levels.is_empty() {
            return Ok(());
        }
        let (mut seen, mut states) = (FxHashSet::default(), Vec::new());
        let wrong = teacher.initial(&mut |state| {
            if seen.insert(state.to_vec()) {
                states.extend_from_slice(state);
            }
        })?;
        if wrong.is_some() {
            return Err(Halt::End(End::AtOnce));
        }
        if !store.seed(&states)? {
            return Err(self.stop(Stop::Memory, teacher));
        }
        self.states = (states.len() / words) as u64;
        self.transitions = teacher.summary().transitions;
        self.levels = vec![0, self.states];
        Ok(())
    }

    fn stop(&self, stop: Stop, teacher: &dyn Teacher) -> Halt {
        Halt::End(End::Stopped(stop, self.summary(teacher)))
    }

    fn go_on(&mut self, teacher: &mut dyn Teacher) -> Result<(), Halt> {
        self.begin(teacher)?;
        self.look(teacher)?;
        loop {
            let end = self.levels.last().copied().unwrap_or(0);
            while self.again > 0 || self.position < end {
                self.round(teacher, end)?;
            }
            if self.states == end {
                return self.complete(teacher);
            }
            self.levels.push(self.states);
        }
    }

    /// The end, if the table is what it should be.
    fn complete(&mut self, teacher: &dyn Teacher) -> Result<(), Halt> {
        self.give_up_if_it_must(teacher)?;
        let bad = self.store().audit()?;
        if bad > 0 {
            let what = format!("its table does not have {bad} of the states in their place");
            return Err(Trouble::Failed(what).into());
        }
        Err(Halt::End(End::Complete(self.summary(teacher))))
    }

    /// One launch, and what comes of it.
    fn round(&mut self, teacher: &mut dyn Teacher, end: u64) -> Result<(), Halt> {
        self.watch_limits(teacher)?;
        let chunk = self.store().chunk;
        let work = match self.again {
            0 => Work::Range(self.position, (end - self.position).min(chunk)),
            again => Work::Again(again),
        };
        let store = self.store.as_mut().expect("there are states");
        self.tables.tell(store.device.as_mut(), &mut store.job)?;
        let started = Instant::now();
        let counters = store.expand(work)?;
        self.told.busy += started.elapsed().as_secs_f64();
        self.told.launches += 1;
        self.told.again += counters.again;
        if let Work::Range(first, count) = work {
            self.position = first + count;
        }
        self.again = counters.again;
        self.states = counters.states;
        self.transitions += counters.transitions;
        self.ended |= counters.ended != 0;
        let asks = self.store().asks(&counters)?;
        self.looks = self.store().looks(&counters)?;
        let known = self.tables.learnt();
        self.look(teacher)?;
        if counters.full != 0 {
            self.told.grown += 1;
            if !self.store().grow()? {
                return Err(self.stop(Stop::Memory, teacher));
            }
        }
        self.told.asked += asks.len() as u64;
        self.teach(teacher, &asks)?;
        if self.again > 0 && counters.full == 0 && self.tables.learnt() == known {
            return Err(Trouble::Failed("it asks for what it was told".to_owned()).into());
        }
        Ok(())
    }

    fn watch_limits(&mut self, teacher: &dyn Teacher) -> Result<(), Halt> {
        let bytes = self.store().peak_bytes();
        let frontier = self.states - self.position;
        self.watch.progress(Progress { states: self.states, frontier, depth: self.depth(), bytes, share: None });
        if let Some(stop) = self.limits.exceeded(0) {
            return Err(self.stop(stop, teacher));
        }
        self.give_up_if_it_must(teacher)
    }

    /// With timestamps too close together nothing is right that was found: not even what goes wrong.
    fn give_up_if_it_must(&self, teacher: &dyn Teacher) -> Result<(), Halt> {
        if self.summary(teacher).must_give_up() { Err(self.stop(Stop::Size, teacher)) } else { Ok(()) }
    }

    /// Looks at the states that wait for it.
    fn look(&mut self, teacher: &mut dyn Teacher) -> Result<(), Halt> {
        while !self.looks.is_empty() {
            let some: Vec<u64> = self.looks.iter().copied().take(GATHERED as usize).collect();
            let looked = self.teach(teacher, &some)?;
            self.looks.drain(..looked);
        }
        Ok(())
    }

    /// Has steps told of states, and the states judged; says how many. Behind a state with steps that are new to the teacher and need another
    /// layout nobody is asked.
    fn teach(&mut self, teacher: &mut dyn Teacher, numbers: &[u64]) -> Result<usize, Halt> {
        for some in numbers.chunks(GATHERED as usize) {
            let states = self.store().gather(some)?;
            if let Some((at, wrong)) = teacher.teach(&states, &mut self.tables)? {
                self.give_up_if_it_must(teacher)?;
                let path = self.path(teacher, some[at])?;
                return Err(Halt::End(End::Found(wrong, path, self.summary(teacher))));
            }
        }
        Ok(numbers.len())
    }

    /// The plain states on a shortest way to a state.
    fn path(&mut self, teacher: &mut dyn Teacher, number: u64) -> Result<Vec<Vec<u8>>, Halt> {
        let mut numbers = vec![number];
        let mut level = self.levels.partition_point(|begin| *begin <= number) - 1;
        while level > 0 {
            let (first, end) = (self.levels[level - 1], self.levels[level]);
            numbers.push(self.before(teacher, *numbers.last().expect("there is one"), first, end)?);
            level -= 1;
        }
        numbers.reverse();
        let mut path = Vec::new();
        for number in numbers {
            let state = self.store().gather(&[number])?;
            path.push(teacher.plain(&state));
        }
        Ok(path)
    }

    /// A state of a range with a step to another one.
    fn before(&mut self, teacher: &mut dyn Teacher, target: u64, first: u64, end: u64) -> Result<u64, Halt> {
        let mut at = first;
        while at < end {
            let store = self.store.as_mut().expect("there are states");
            self.tables.tell(store.device.as_mut(), &mut store.job)?;
            let count = (end - at).min(store.chunk);
            let counters = store.scan(at, count, target)?;
            if (at..at + count).contains(&counters.found) {
                return Ok(counters.found);
            }
            let asks = store.asks(&counters)?;
            if asks.is_empty() {
                at += count;
            }
            for some in asks.chunks(GATHERED as usize) {
                let states = self.store().gather(some)?;
                // All of these states were expanded before.
                if teacher.teach(&states, &mut self.tables).is_err() {
                    return Err(Trouble::Failed("steps that were known are not known any more".to_owned()).into());
                }
            }
        }
        Err(Trouble::Failed("no state of the level before has a step to one that was found".to_owned()).into())
    }
}

impl Taught for Search<'_> {
    type End = End;

    fn run(&mut self, teacher: &mut dyn Teacher) -> Option<End> {
        if let Some(trouble) = self.failed.take() {
            return Some(self.troubled(trouble, teacher));
        }
        match self.go_on(teacher) {
            Ok(()) | Err(Halt::Reshape) => None,
            Err(Halt::End(End::Trouble(trouble))) => Some(self.troubled(trouble, teacher)),
            Err(Halt::End(end)) => Some(end),
        }
    }

    fn relay(&mut self, from: &[Field], to: &[Field], words: usize) {
        self.told.relaid += 1;
        let Some(store) = &mut self.store else { return };
        if words > MOST_WORDS {
            self.failed = Some(Trouble::Failed(format!("states of {words} words are too long")));
        } else if let Err(trouble) = store.relay(from, to, words as u64) {
            self.failed = Some(trouble);
        }
    }
}

impl Search<'_> {
    /// A limit, if that is what it is.
    fn troubled(&self, trouble: Trouble, teacher: &dyn Teacher) -> End {
        match trouble {
            Trouble::NoMemory => End::Stopped(Stop::Memory, self.summary(teacher)),
            trouble => End::Trouble(trouble),
        }
    }
}
