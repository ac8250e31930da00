//! The form in which a tuple of numbers stands for all states that are the same to a search, remembered part by part.
//!
//! Two things are done to a state before it is stored: timestamps are ranked ([`crate::reductions::timestamps`]), and of the states that differ by a renaming of
//! threads and transactional variables one is taken ([`crate::reductions::symmetry`], [`crate::reductions::variables`]).
//!
//! **Argument.** Both are done to each part of a state by itself, once it is known what to do. A ranking is a map of timestamps that the *set* of the state's
//! timestamps determines: so the number of a ranked part depends on that set and on the number of the part. A renaming is one of a few maps: the number of a
//! renamed part depends on which one it is and on the number of the part. So these numbers are looked up, and what is not known yet is computed for the whole
//! state by those who do it for states. Of all renamings of a tuple the one with the smallest numbers stands for all, part after part, threads
//! first: numbers never change their meaning, so neither does this choice, and any choice will do.
//!
//! It is a cache like [`super::memo`]: when there is too much in it, all is forgotten.

use cyrano_ir::dataflow::Class;
use rustc_hash::FxHashMap;

use super::layout::Bits;
use crate::faults::Fault;
use crate::reductions::timestamps::Increment;
use crate::semantics::machine::Machine;

/// Beyond this many ranked parts all are forgotten.
const MOST_RANKED: usize = 1 << 21;

/// The timestamps in a part, or in a state: for each class some bits, one for each value.
type Times = u128;

/// A map of timestamps; 0 is the one that changes nothing.
type Ranking = u32;

/// Something that has to be learnt before a form is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unknown {
    /// The timestamps of a part.
    Times(usize),
    /// How a state with these timestamps is ranked, or what becomes of its parts.
    Ranking(Times),
    /// What becomes of a state's parts under a renaming.
    Renaming(usize),
}

/// What is remembered.
pub(super) struct Forms {
    classes: Vec<Class>,
    /// The parts that may have timestamps.
    timed: Vec<usize>,
    /// For each part and number its timestamps and [`KNOWN`], if they are known.
    times: Vec<Vec<Times>>,
    rankings: FxHashMap<Times, Ranking>,
    last: (Times, Ranking),
    ranked: FxHashMap<(Ranking, u32, u32), u32>,
    pub renamings: Vec<Renaming>,
    /// The parts in the order in which they are compared.
    order: Vec<usize>,
    /// A deliberate bug.
    alike: bool,
}

/// A renaming of variables and of threads: what it does first and then, none of which changes nothing, by its number.
pub(super) struct Renaming {
    pub variables: Option<usize>,
    pub threads: Option<usize>,
    /// For each part the one that it comes from.
    from: Vec<usize>,
    /// For each part before and each number one more than the number after, if it is known.
    images: Vec<Vec<u32>>,
}

/// The value of the first bit of a class.
const LEAST: i128 = -8;

/// A bit that says that timestamps are known.
const KNOWN: Times = 1 << 127;

/// Something to know about the forms of tuples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormLesson {
    /// The timestamps of a part with a number, with a bit that says that they are known.
    Times {
        /// The part.
        part: usize,
        /// Its number.
        number: u32,
        /// The timestamps.
        times: u128,
    },
    /// Whether a tuple with these timestamps is ranked.
    Ranking {
        /// The timestamps.
        times: u128,
        /// Whether it is.
        ranked: bool,
    },
    /// What becomes of a part of a tuple with these timestamps.
    Ranked {
        /// The timestamps of the tuple.
        times: u128,
        /// The part.
        part: usize,
        /// Its number.
        number: u32,
        /// Its number in the ranked tuple.
        to: u32,
    },
    /// What becomes of a part under a renaming.
    Image {
        /// The renaming.
        renaming: usize,
        /// The part.
        part: usize,
        /// Its number.
        number: u32,
        /// The number where it gets to.
        to: u32,
    },
}

/// What there is to forms, beside what is learnt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Renamings {
    /// The parts that may have timestamps.
    pub timed: Vec<usize>,
    /// For each renaming and each part the one that it comes from.
    pub from: Vec<Vec<usize>>,
    /// The parts in the order in which they are compared.
    pub order: Vec<usize>,
    /// The part of what a criterion keeps.
    pub criterion: Option<usize>,
}

impl Forms {
    /// What there is beside what is learnt.
    pub fn renamings(&self, criterion: Option<usize>) -> Renamings {
        let from = self.renamings.iter().map(|renaming| renaming.from.clone()).collect();
        Renamings { timed: self.timed.clone(), from, order: self.order.clone(), criterion }
    }

    /// Tells the timestamps of a part.
    pub fn tell_times(&self, part: usize, number: u32, tell: &mut dyn FnMut(FormLesson)) {
        tell(FormLesson::Times { part, number, times: self.times[part][number as usize] });
    }

    /// Tells how a tuple with these timestamps is ranked.
    pub fn tell_ranking(&self, times: Times, before: &[u32], tell: &mut dyn FnMut(FormLesson)) {
        let ranking = self.rankings[&times];
        tell(FormLesson::Ranking { times, ranked: ranking != 0 });
        for part in self.timed.iter().filter(|_| ranking != 0) {
            let number = before[*part];
            let to = self.ranked[&(ranking, *part as u32, number)];
            tell(FormLesson::Ranked { times, part: *part, number, to });
        }
    }

    /// Tells what becomes of a tuple under a renaming.
    pub fn tell_renaming(&self, at: usize, before: &[u32], tell: &mut dyn FnMut(FormLesson)) {
        let Renaming { from, images, .. } = &self.renamings[at];
        for part in from {
            let number = before[*part];
            tell(FormLesson::Image { renaming: at, part: *part, number, to: images[*part][number as usize] - 1 });
        }
    }

    /// For states of a machine that are cut into these: locations, others that are shared, threads, the criterion.
    pub fn new(m: &Machine<'_>, shared: usize, parts: usize) -> Self {
        let threads = m.threads.len();
        let timestamps = m.timestamps.as_ref();
        let timed = timestamps.map_or(Vec::new(), |timestamps| {
            let locations = (0..m.program.locations.len()).filter(|loc| timestamps.class_of(*loc).is_some());
            (shared..shared + threads).chain(locations).collect()
        });
        let classes = timestamps.map_or(Vec::new(), |timestamps| timestamps.classes());
        let all: Vec<Option<usize>> = std::iter::once(None).chain((0..m.variable_symmetry.len()).map(Some)).collect();
        let of_threads = m.symmetry.as_ref().map_or(m.exchanges.len(), |symmetry| symmetry.renamings.len());
        let all_threads: Vec<Option<usize>> = std::iter::once(None).chain((0..of_threads).map(Some)).collect();
        let pairs = all.iter().flat_map(|variables| all_threads.iter().map(move |threads| (*variables, *threads)));
        let renaming = |(variables, renamed): (Option<usize>, Option<usize>)| {
            let mut from: Vec<usize> = (0..parts).collect();
            if let Some(at) = variables {
                m.variable_symmetry[at].locations.iter().enumerate().for_each(|(loc, to)| from[*to] = loc);
            }
            if let (Some(at), Some(symmetry)) = (renamed, &m.symmetry) {
                let lanes = symmetry.renamings[at].iter().enumerate();
                lanes.for_each(|(thread, to)| from[shared + usize::from(*to)] = shared + thread);
            }
            if let Some(one) = renamed.and_then(|at| m.exchanges.get(at)) {
                (0u32..).take(shared).for_each(|loc| from[one.word(loc) as usize] = loc as usize);
                (0..threads).for_each(|thread| from[shared + one.thread(thread)] = shared + thread);
            }
            Renaming { variables, threads: renamed, from, images: vec![Vec::new(); parts] }
        };
        let renamings = pairs.filter(|pair| *pair != (None, None)).map(renaming).collect();
        let order = (shared..parts).chain(0..shared).collect();
        Self {
            classes,
            times: vec![Vec::new(); parts],
            timed,
            rankings: FxHashMap::default(),
            last: (0, 0),
            ranked: FxHashMap::default(),
            renamings,
            order,
            alike: m.config.has_fault(Fault::RankAlike),
        }
    }

    /// The timestamps of a tuple.
    #[inline]
    pub fn times<B: Bits>(&self, words: &[u64], parts: &[B]) -> Result<Times, Unknown> {
        let mut times = 0;
        for part in &self.timed {
            let known = self.times[*part].get(parts[*part].get(words) as usize).copied().unwrap_or(0);
            if known == 0 {
                return Err(Unknown::Times(*part));
            }
            times |= known;
        }
        Ok(times)
    }

    /// Ranks the timestamps of a tuple. What is not known leaves it as it is.
    #[inline]
    pub fn rank<B: Bits, const W: usize>(&mut self, words: &mut [u64; W], parts: &[B]) -> Result<(), Unknown> {
        if self.timed.is_empty() {
            return Ok(());
        }
        let times = if self.alike { KNOWN } else { self.times(words, parts)? };
        if self.last.0 != times {
            let ranking = self.rankings.get(&times).copied().ok_or(Unknown::Ranking(times))?;
            self.last = (times, ranking);
        }
        let ranking = self.last.1;
        if ranking == 0 {
            return Ok(());
        }
        let mut new = *words;
        for part in &self.timed {
            let number = parts[*part].get(words);
            if self.times[*part][number as usize] != KNOWN {
                let known = self.ranked.get(&(ranking, *part as u32, number));
                parts[*part].put(&mut new, *known.ok_or(Unknown::Ranking(times))?);
            }
        }
        *words = new;
        Ok(())
    }

    /// Takes the renaming of a tuple that stands for all. What is not known leaves it as it is.
    #[inline]
    pub fn rename<B: Bits, const W: usize>(&self, words: &mut [u64; W], parts: &[B]) -> Result<(), Unknown> {
        let mut best = *words;
        'renamings: for (at, renaming) in self.renamings.iter().enumerate() {
            let image = |part: usize| renaming.image(part, words, parts).ok_or(Unknown::Renaming(at));
            for (before, part) in self.order.iter().enumerate() {
                let (image_here, number) = (image(*part)?, parts[*part].get(&best));
                if image_here > number {
                    continue 'renamings;
                }
                if image_here < number {
                    // Up to here both are the same.
                    for part in &self.order[before..] {
                        parts[*part].put(&mut best, image(*part)?);
                    }
                    continue 'renamings;
                }
            }
        }
        *words = best;
        Ok(())
    }

    /// Learns the timestamps of a part; false if they have no bits.
    pub fn learn_times(&mut self, part: usize, number: u32, found: &[(Class, i128)]) -> bool {
        let bit = |(class, value): &(Class, i128)| {
            let width = self.width();
            let place = self.classes.iter().position(|other| other == class)?;
            let at = usize::try_from(value - LEAST).ok().filter(|at| *at < width)?;
            Some(1 << (place * width + at))
        };
        let Some(times) = found.iter().try_fold(0, |times, found| Some(times | bit(found)?)) else { return false };
        let known = &mut self.times[part];
        known.resize(known.len().max(number as usize + 1), 0);
        known[number as usize] = times | KNOWN;
        true
    }

    /// Learns how a tuple with these timestamps is ranked.
    pub fn learn_ranking(&mut self, times: Times, before: &[u32], after: &[u32]) {
        if self.ranked.len() > MOST_RANKED {
            (self.rankings, self.ranked) = Default::default();
            self.last = (0, 0);
        }
        let next = self.rankings.len() as Ranking + 1;
        let ranking = *self.rankings.entry(times).or_insert(if before == after { 0 } else { next });
        if ranking != 0 {
            // Of parts without timestamps it is never asked.
            for part in &self.timed {
                self.ranked.insert((ranking, *part as u32, before[*part]), after[*part]);
            }
        }
    }

    /// Learns what becomes of a tuple under a renaming.
    pub fn learn_renaming(&mut self, at: usize, before: &[u32], after: &[u32]) {
        let Renaming { from, images, .. } = &mut self.renamings[at];
        for (part, from) in from.iter().enumerate() {
            let known = &mut images[*from];
            known.resize(known.len().max(before[*from] as usize + 1), 0);
            known[before[*from] as usize] = after[part] + 1;
        }
    }

    /// Whether one of these timestamps, which something is added to, has a gap above it that may have been shortened.
    pub fn gets_lost(&self, m: &Machine<'_>, times: Times, increments: &[Increment]) -> bool {
        let width = self.width();
        let next = |class: Class, last: i128| {
            let place = self.classes.iter().position(|other| *other == class)?;
            let own = times >> (place * width) & !(Times::MAX << width);
            let above = usize::try_from(last + 1 - LEAST).unwrap_or(0).min(width);
            let rest = own >> above;
            (rest != 0).then(|| (above as u32 + rest.trailing_zeros()) as i128 + LEAST)
        };
        let timestamps = m.timestamps.as_ref();
        timestamps.is_some_and(|timestamps| increments.iter().any(|one| timestamps.gets_lost(*one, next)))
    }

    /// How many bits a class of timestamps has.
    fn width(&self) -> usize {
        KNOWN.trailing_zeros() as usize / self.classes.len().max(1)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let images: usize = self.renamings.iter().flat_map(|renaming| &renaming.images).map(Vec::capacity).sum();
        let times: usize = self.times.iter().map(Vec::capacity).sum();
        (4 * images + size_of::<Times>() * times + 24 * self.ranked.capacity()) as u64
    }
}

impl Renaming {
    #[inline]
    fn image<B: Bits>(&self, part: usize, words: &[u64], parts: &[B]) -> Option<u32> {
        let from = self.from[part];
        self.images[from].get(parts[from].get(words) as usize)?.checked_sub(1)
    }
}
