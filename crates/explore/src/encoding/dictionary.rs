//! Numbers for the values that parts of states have had, and where these numbers lie in the words of a packed state.
//!
//! Every value that a part takes on gets a number, and a state is the tuple of its numbers, packed into a few words. This is lossless compression, and
//! bits follow what is needed. There are two ways to get more of them ([`super::layout`]):
//!
//! - *In memory*, a number that does not fit its bits is refused ([`NoRoom`]); whoever has all states gives them another layout
//!   ([`Dictionary::widen_all`]).
//! - *Where states are kept*, a bit of a packed state never changes its place: when the values of a part outgrow their bits, the part gets more bits
//!   behind all others, in which all states so far have zeros. So packed states stay what they are, in memory and in files, and with them their order
//!   and their hashes; words of zeros at the end do not count.
//!
//! **Invariant:** a number never changes its meaning.
//!
//! What a dictionary of states that are kept has learnt is a sequence of [`Event`]s, from which another one can be made.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;

use crate::semantics::machine::Machine;

use super::codec::take;
use super::event::Event;
use super::layout::{Bits, Cursor, MOST_KEPT_WORDS, MOST_WORDS, Segment, rounded};

/// The most words of a state that is kept before anything has grown.
const FIRST_WORDS: usize = 16;
/// How many bits more a part of such states gets when it needs one.
const GROWTH: u32 = 2;

/// Which parts the bytes of a state are cut into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// Each location, who runs under a serial model, each thread, what the criterion keeps: for states of nothing else.
    Fine,
    /// Memory and who runs, each thread, the rest: for long states whose steps cannot be remembered ([`super::remembering`]). The same memories, threads
    /// and histories come back in many of them, so that tuples take less than half of the bytes.
    Coarse,
}

impl Cut {
    /// Whose numbers each part has: its own, or those of a part that has the same values.
    pub fn owners(self, m: &Machine<'_>) -> Vec<usize> {
        let threads = m.threads.len();
        match self {
            Self::Fine => {
                let first = m.shared_parts();
                let mut owners: Vec<usize> = (0..first + threads + usize::from(m.has_criterion())).collect();
                for group in &m.symmetric_threads {
                    group.iter().for_each(|thread| owners[first + thread] = first + group[0]);
                }
                if m.symmetry.is_some() {
                    owners[first..first + threads].fill(first);
                }
                owners
            }
            Self::Coarse => {
                let code = |t: usize| &m.program.threads[t].code;
                let first = |t: usize| (0..t).find(|other| code(*other) == code(t)).unwrap_or(t);
                std::iter::once(0).chain((0..threads).map(|t| 1 + first(t))).chain([threads + 1]).collect()
            }
        }
    }

    /// Finds where the parts of a state end.
    fn ends(self, m: &Machine<'_>, bytes: &[u8], ends: &mut Vec<usize>) {
        ends.clear();
        let mut rest = bytes;
        for _ in 0..m.shared_parts() {
            take(&mut rest);
            if self == Self::Fine {
                ends.push(bytes.len() - rest.len());
            }
        }
        if self == Self::Coarse {
            ends.push(bytes.len() - rest.len());
        }
        for thread in 0..m.threads.len() {
            m.skip_thread(&mut rest, thread);
            ends.push(bytes.len() - rest.len());
        }
        if self == Self::Coarse || m.has_criterion() {
            ends.push(bytes.len());
        }
    }
}

impl Machine<'_> {
    /// Whether a criterion keeps something of what it hears.
    pub(crate) fn has_criterion(&self) -> bool {
        self.monitor.is_some() || self.spec.is_some() || self.values.is_some()
    }

    /// How many parts of a finely cut state come before those of threads: each location, and who runs under a serial model.
    pub(crate) fn shared_parts(&self) -> usize {
        self.program.locations.len() + usize::from(self.model.reordering().serial)
    }
}

fn value<'b>(bytes: &'b [u8], ends: &[usize], part: usize) -> &'b [u8] {
    &bytes[if part == 0 { 0 } else { ends[part - 1] }..ends[part]]
}

/// A number does not fit its bits, and there is no room for more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoRoom;

/// The values of all parts. Shared by all walkers of a search.
pub(crate) struct Dictionary {
    known: RwLock<Known>,
    /// How many times bits were added.
    version: AtomicUsize,
    /// Whether states cannot be tuples after all.
    closed: AtomicBool,
}

/// A value of a part, with a hash of it and its owner that is the same on all machines.
#[derive(Clone)]
pub(crate) struct Value {
    pub bytes: Arc<[u8]>,
    pub hash: u64,
}

struct Known {
    /// Whose numbers a part has: its own, or those of a part that has the same values.
    owners: Vec<usize>,
    numbers: Vec<FxHashMap<Arc<[u8]>, u32>>,
    values: Vec<Vec<Value>>,
    segments: Vec<Vec<Segment>>,
    /// How many bits the numbers of a part have.
    widths: Vec<u32>,
    /// Where the next bits go.
    cursor: Cursor,
    /// In memory: for how many values each part gets bits at first.
    room: Option<Vec<usize>>,
    events: Vec<Event>,
    bytes: u64,
}

impl Dictionary {
    /// A dictionary of states that are kept, of parts with the numbers of these.
    pub fn new(owners: Vec<usize>) -> Self {
        let parts = owners.len();
        let known = Known {
            owners,
            numbers: vec![FxHashMap::default(); parts],
            values: vec![Vec::new(); parts],
            segments: vec![Vec::new(); parts],
            widths: vec![0; parts],
            cursor: Cursor::default(),
            room: None,
            events: Vec::new(),
            bytes: 0,
        };
        Self { known: RwLock::new(known), version: AtomicUsize::new(0), closed: AtomicBool::new(false) }
    }

    /// One of states in memory, with bits for so many values of each part; `None` if that takes too many.
    pub fn in_memory(owners: Vec<usize>, room: Vec<usize>) -> Option<Self> {
        let mut new = Self::new(owners);
        new.known_mut().room = Some(room);
        new.widen_all().then_some(new)
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&mut self) -> &mut Known {
        self.known.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives every part bits for so many values; false if that takes too many.
    pub fn reserve(&mut self, values: &[usize]) -> bool {
        let known = self.known_mut();
        let owners = known.owners.clone();
        for part in (0..values.len()).filter(|part| owners[*part] == *part) {
            let most = (0..values.len()).filter(|other| owners[*other] == part).map(|other| values[other]).max();
            let largest = most.unwrap_or(0).saturating_sub(1).max(1) as u32;
            if known.widen(part, u32::BITS - largest.leading_zeros()).is_err() {
                return false;
            }
        }
        known.cursor.words() <= FIRST_WORDS
    }

    /// In memory: lays all parts out anew, so that all numbers so far fit, with some room; false if that takes too many words.
    pub fn widen_all(&mut self) -> bool {
        if *self.closed.get_mut() {
            return false;
        }
        let known = self.known_mut();
        let widths: Vec<u32> = (0..known.owners.len()).map(|part| known.wanted(part)).collect();
        // Those with most values first: hashes make most of the low bits.
        let mut order: Vec<usize> = (0..widths.len()).collect();
        order.sort_by_key(|part| Reverse(known.room.as_ref().map(|room| room[*part])));
        let (mut cursor, mut segments) = (Cursor::default(), vec![Vec::new(); widths.len()]);
        order.iter().for_each(|part| segments[*part] = vec![cursor.next(widths[*part], 0)]);
        if cursor.words() > MOST_WORDS || widths.iter().any(|width| *width > 32) {
            return false;
        }
        (known.segments, known.widths, known.cursor) = (segments, widths, cursor);
        *self.version.get_mut() += 1;
        true
    }

    /// States cannot be tuples after all: no layout will do.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// How many words a state in memory has, and how many bytes of them are stored.
    pub fn shape(&self) -> (usize, usize) {
        let cursor = self.known().cursor;
        let words = rounded(cursor.words());
        (words, cursor.bytes().max(8 * words - 7))
    }

    pub fn version(&self) -> usize {
        self.version.load(Ordering::Acquire)
    }

    /// The numbers of the values of all parts of a state.
    pub fn numbers_of(
        &self,
        m: &Machine<'_>,
        cut: Cut,
        state: &[u8],
        ends: &mut Vec<usize>,
        numbers: &mut Vec<u32>,
    ) -> Result<(), NoRoom> {
        cut.ends(m, state, ends);
        numbers.clear();
        let known = self.known();
        for part in 0..ends.len() {
            match known.find(known.owners[part], value(state, ends, part)) {
                Some(number) => numbers.push(number?),
                None => break,
            }
        }
        drop(known);
        for part in numbers.len()..ends.len() {
            numbers.push(self.number(part, value(state, ends, part))?);
        }
        Ok(())
    }

    /// Whose numbers the parts have.
    pub fn owners(&self) -> Vec<usize> {
        self.known().owners.clone()
    }

    /// How many values each part has had.
    pub fn counts(&self) -> Vec<usize> {
        let known = self.known();
        known.owners.iter().map(|owner| known.values[*owner].len()).collect()
    }

    /// Appends the values of an owner that are not among the copies yet.
    pub fn copy(&self, owner: usize, copies: &mut Vec<Value>) {
        let known = self.known();
        copies.extend_from_slice(&known.values[owner][copies.len()..]);
    }

    /// The number of a value.
    pub fn number(&self, part: usize, value: &[u8]) -> Result<u32, NoRoom> {
        let known = self.known();
        let owner = known.owners[part];
        if let Some(number) = known.find(owner, value) {
            return number;
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.find(owner, value) {
            return number;
        }
        if known.room.is_none() && known.widths[owner] < 32 && known.fits(owner, known.values[owner].len()).is_err() {
            known.widen(owner, GROWTH)?;
            self.version.fetch_add(1, Ordering::Release);
        }
        known.add(owner, value)
    }

    /// Where the parts lie, and how many words that takes.
    pub fn layout(&self) -> (usize, Vec<Vec<Segment>>, usize) {
        let known = self.known();
        (self.version(), known.segments.clone(), known.cursor.words())
    }

    /// Appends the values of a packed state, one after the other.
    pub fn unpack(&self, words: &[u64], out: &mut Vec<u8>) -> Option<()> {
        let known = self.known();
        for (part, segments) in known.segments.iter().enumerate() {
            let bits = segments.iter().filter(|segment| (segment.word as usize) < words.len());
            let number = bits.fold(0, |number, segment| number | segment.get(words) << segment.from);
            out.extend_from_slice(&known.values[known.owners[part]].get(number as usize)?.bytes);
        }
        Some(())
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.known().bytes
    }

    /// How many events there were.
    pub fn events(&self) -> usize {
        self.known().events.len()
    }

    /// Appends the events from `from` on as bytes, not many more than `most` of them; says how many events there are then.
    pub fn export(&self, from: usize, most: usize, out: &mut Vec<u8>) -> usize {
        let known = self.known();
        let (mut done, start) = (from, out.len());
        for event in known.events.iter().skip(from) {
            if out.len() - start >= most {
                break;
            }
            event.write(out);
            done += 1;
        }
        done
    }

    /// Does what events say; `None` if they make no sense.
    pub fn import(&mut self, mut bytes: &[u8]) -> Option<()> {
        while !bytes.is_empty() {
            self.happen(Event::read(&mut bytes)?)?;
        }
        Some(())
    }

    /// Does what an event says; `None` if it makes no sense.
    pub fn happen(&mut self, event: Event) -> Option<()> {
        let known = self.known_mut();
        match event {
            Event::Bits(part, bits) => {
                let part = known.own(part)?;
                known.widen(part, bits).ok()?;
            }
            Event::Value(part, value) => {
                let part = known.own(part)?;
                known.add(part, &value).ok()?;
            }
        }
        *self.version.get_mut() += 1;
        Some(())
    }
}

impl Known {
    fn own(&self, part: u32) -> Option<usize> {
        Some(part as usize).filter(|part| self.owners.get(*part) == Some(part))
    }

    /// The number of a value, if it has one.
    #[inline]
    fn find(&self, owner: usize, value: &[u8]) -> Option<Result<u32, NoRoom>> {
        self.numbers[owner].get(value).map(|number| self.fits(owner, *number as usize))
    }

    /// A number, if it fits its bits.
    #[inline]
    fn fits(&self, owner: usize, number: usize) -> Result<u32, NoRoom> {
        if number as u64 >> self.widths[owner] == 0 { Ok(number as u32) } else { Err(NoRoom) }
    }

    /// How many bits a part should have in memory.
    fn wanted(&self, part: usize) -> u32 {
        let count = self.values[self.owners[part]].len();
        let room = self.room.as_ref().map_or(0, |room| room[part]);
        let bits = usize::BITS - (count + count / 2).max(room).saturating_sub(1).leading_zeros();
        bits.max(self.widths[part])
    }

    /// More bits for a part and for those that share its numbers.
    fn widen(&mut self, part: usize, bits: u32) -> Result<(), NoRoom> {
        let from = self.widths[part];
        let width = bits.min(32 - from.min(32));
        let members: Vec<usize> = (0..self.owners.len()).filter(|other| self.owners[*other] == part).collect();
        let mut cursor = self.cursor;
        let added: Vec<Segment> = members.iter().map(|_| cursor.next(width, from)).collect();
        if width == 0 || cursor.words() > MOST_KEPT_WORDS {
            return Err(NoRoom);
        }
        self.cursor = cursor;
        for (member, segment) in members.iter().zip(added) {
            self.segments[*member].push(segment);
            self.widths[*member] += width;
        }
        self.bytes += 64 * members.len() as u64;
        self.events.push(Event::Bits(part as u32, bits));
        Ok(())
    }

    /// Gives a value the next number. In memory it keeps that even if it does not fit.
    fn add(&mut self, part: usize, value: &[u8]) -> Result<u32, NoRoom> {
        let number = self.values[part].len();
        let fits = self.fits(part, number);
        let bytes: Arc<[u8]> = value.into();
        if self.room.is_none() {
            fits?;
            self.events.push(Event::Value(part as u32, Arc::clone(&bytes)));
            self.bytes += 3 * value.len() as u64 + 160;
        } else {
            self.bytes += 2 * value.len() as u64 + 64;
        }
        let hash = if self.room.is_none() { hash(part, value) } else { 0 };
        self.numbers[part].insert(Arc::clone(&bytes), number as u32);
        self.values[part].push(Value { bytes, hash });
        fits
    }
}

/// A hash of a value of a part, the same on all machines.
fn hash(part: usize, value: &[u8]) -> u64 {
    let start = mix(part as u64 ^ (value.len() as u64) << 32);
    value.chunks(8).fold(start, |hash, chunk| {
        let word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        mix(hash ^ word)
    })
}

/// Spreads what tells numbers apart over all bits.
#[inline]
pub(crate) fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::layout::Spread;

    fn packed(dictionary: &Dictionary, values: &[&[u8]]) -> Vec<u64> {
        let numbers: Vec<u32> =
            values.iter().enumerate().map(|(part, value)| dictionary.number(part, value).expect("room")).collect();
        let (_, segments, count) = dictionary.layout();
        let mut words = vec![0; count];
        for (segments, number) in segments.iter().zip(numbers) {
            Spread::new(segments).put(&mut words, number);
        }
        words
    }

    /// States packed when there were few values can be unpacked when there are many, here and in a copy.
    #[test]
    fn packed_states_survive_growth_and_a_copy() {
        let mut dictionary = Dictionary::new(vec![0, 1, 1]);
        assert!(dictionary.reserve(&[2, 1, 3]));
        let value = |n: u32| n.to_le_bytes().to_vec();
        let mut all = Vec::new();
        let (mut half, mut events) = (Vec::new(), 0);
        for n in 0..3000 {
            let values = [value(n % 7), value(n), value(n / 2)];
            let words = packed(&dictionary, &[&values[0], &values[1], &values[2]]);
            all.push((words, values.concat()));
            if n == 1000 {
                events = dictionary.export(0, usize::MAX, &mut half);
            }
        }
        assert!(dictionary.version() > 2);
        let mut copy = Dictionary::new(vec![0, 1, 1]);
        copy.import(&half).expect("a half of the events");
        let mut rest = Vec::new();
        assert_eq!(dictionary.export(events, usize::MAX, &mut rest), dictionary.events());
        copy.import(&rest).expect("the other half");
        assert_eq!(copy.layout().1, dictionary.layout().1);
        for (words, expected) in &all {
            for dictionary in [&dictionary, &copy] {
                let mut out = Vec::new();
                dictionary.unpack(words, &mut out).expect("all values are known");
                assert_eq!(out, *expected);
            }
        }
        assert!(copy.import(&[1, 2, 3]).is_none());
        assert!(copy.import(&[9, 0, 0, 0, 0, 0, 0, 0]).is_none());
        assert!(copy.import(&[2, 0, 0, 0, 0, 0, 0, 0]).is_none(), "it has no numbers of its own");
    }

    /// In memory a number that does not fit is refused until all parts are laid out anew; the numbers stay what they are.
    #[test]
    fn numbers_survive_a_change_of_layout() {
        let mut dictionary = Dictionary::in_memory(vec![0, 1, 2, 1], vec![1, 8, 1, 8]).expect("few words");
        assert_eq!(dictionary.shape(), (1, 1));
        let mut widened = 0;
        for n in 0..1000u32 {
            for part in [0, 3] {
                if dictionary.number(part, &n.to_le_bytes()).is_err() {
                    assert!(dictionary.widen_all());
                    widened += 1;
                }
                assert_eq!(dictionary.number(part, &n.to_le_bytes()).ok(), Some(n));
            }
        }
        assert!((5..25).contains(&widened), "{widened}");
        let (_, segments, _) = dictionary.layout();
        let widths: Vec<u32> = segments.iter().map(|segments| segments[0].low.count_ones()).collect();
        assert_eq!((widths[1], widths[2]), (widths[3], 0));
        assert!(widths[0] >= 10 && widths[1] >= 10);
    }
}
