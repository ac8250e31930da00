//! Numbers for the values that parts of states have had, and where these numbers lie in the words of a packed state.
//!
//! **Invariant:** a number never changes its meaning, and a bit of a packed state never changes its place: when the values of a part outgrow their
//! bits, the part gets more bits behind all others, in which all states so far have zeros. So packed states stay what they are, in memory and in
//! files, and with them their order and their hashes; words of zeros at the end do not count.
//!
//! What a dictionary has learnt is a sequence of [`Event`]s, from which another one can be made.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// The most words of a packed state.
pub(crate) const MOST_WORDS: usize = 64;
/// The most words of a packed state before anything has grown.
const FIRST_WORDS: usize = 16;
/// How many bits more a part gets when it needs one.
const GROWTH: u32 = 2;

/// Bits of one part: some of its number's, from `from` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub word: usize,
    pub shift: u32,
    pub width: u32,
    pub from: u32,
}

impl Segment {
    #[inline]
    pub fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.shift
    }

    #[inline]
    pub fn get(self, words: &[u64]) -> u32 {
        (((words[self.word] & self.mask()) >> self.shift) as u32) << self.from
    }

    #[inline]
    pub fn put(self, words: &mut [u64], number: u32) {
        let bits = u64::from(number >> self.from) << self.shift & self.mask();
        words[self.word] = words[self.word] & !self.mask() | bits;
    }
}

/// What was learnt, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The next value of a part.
    Value(u32, Box<[u8]>),
    /// So many bits more for a part.
    Bits(u32, u32),
}

/// There is no room for more bits.
#[derive(Debug)]
pub(crate) struct NoRoom;

/// The values of all parts. Shared by all walkers of a search.
pub(crate) struct Dictionary {
    known: RwLock<Known>,
    /// How many times bits were added.
    version: AtomicUsize,
}

/// A value of a part, with a hash of it and its owner that is the same on all machines.
#[derive(Clone)]
pub(crate) struct Value {
    pub bytes: Arc<[u8]>,
    pub hash: u64,
}

struct Known {
    /// Whose numbers a part has: its own, or those of a part that it may exchange its place with.
    owners: Vec<usize>,
    numbers: Vec<FxHashMap<Box<[u8]>, u32>>,
    values: Vec<Vec<Value>>,
    segments: Vec<Vec<Segment>>,
    /// Where the next bits go.
    word: usize,
    shift: u32,
    events: Vec<Event>,
    bytes: u64,
}

impl Dictionary {
    /// A dictionary of parts with the numbers of these.
    pub fn new(owners: Vec<usize>) -> Self {
        let parts = owners.len();
        let known = Known {
            owners,
            numbers: vec![FxHashMap::default(); parts],
            values: vec![Vec::new(); parts],
            segments: vec![Vec::new(); parts],
            word: 0,
            shift: 0,
            events: Vec::new(),
            bytes: 0,
        };
        Self { known: RwLock::new(known), version: AtomicUsize::new(0) }
    }

    /// Gives every part bits for so many values; false if that takes too many.
    pub fn reserve(&mut self, values: &[usize]) -> bool {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        let owners = known.owners.clone();
        for part in (0..values.len()).filter(|part| owners[*part] == *part) {
            let most = (0..values.len()).filter(|other| owners[*other] == part).map(|other| values[other]).max();
            let largest = most.unwrap_or(0).saturating_sub(1).max(1) as u32;
            if known.widen(part, u32::BITS - largest.leading_zeros()).is_err() {
                return false;
            }
        }
        known.word < FIRST_WORDS
    }

    pub fn version(&self) -> usize {
        self.version.load(Ordering::Acquire)
    }

    /// The numbers of the values of all parts, which end there in a state.
    pub fn numbers_of(&self, state: &[u8], ends: &[usize], numbers: &mut Vec<u32>) -> Result<(), NoRoom> {
        numbers.clear();
        let value = |part: usize| &state[if part == 0 { 0 } else { ends[part - 1] }..ends[part]];
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let all = (0..ends.len()).map_while(|part| known.numbers[known.owners[part]].get(value(part)).copied());
        numbers.extend(all);
        drop(known);
        for part in numbers.len()..ends.len() {
            numbers.push(self.number(part, value(part))?);
        }
        Ok(())
    }

    /// Whose numbers the parts have.
    pub fn owners(&self) -> Vec<usize> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).owners.clone()
    }

    /// Appends the values of an owner that are not among the copies yet.
    pub fn copy(&self, owner: usize, copies: &mut Vec<Value>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        copies.extend_from_slice(&known.values[owner][copies.len()..]);
    }

    /// The number of a value.
    pub fn number(&self, part: usize, value: &[u8]) -> Result<u32, NoRoom> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let owner = known.owners[part];
        if let Some(number) = known.numbers[owner].get(value) {
            return Ok(*number);
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers[owner].get(value) {
            return Ok(*number);
        }
        if known.width(owner) < 32 && known.values[owner].len() >> known.width(owner) > 0 {
            known.widen(owner, GROWTH)?;
            self.version.fetch_add(1, Ordering::Release);
        }
        known.add(owner, value)
    }

    /// Where the parts lie, and how many words that takes.
    pub fn layout(&self) -> (usize, Vec<Vec<Segment>>, usize) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (self.version(), known.segments.clone(), known.words())
    }

    /// Appends the values of a packed state, one after the other.
    pub fn unpack(&self, words: &[u64], out: &mut Vec<u8>) -> Option<()> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        for (part, segments) in known.segments.iter().enumerate() {
            let bits = segments.iter().filter(|segment| segment.word < words.len());
            let number = bits.fold(0, |number, segment| number | segment.get(words));
            out.extend_from_slice(&known.values[known.owners[part]].get(number as usize)?.bytes);
        }
        Some(())
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.known.read().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// How many events there were.
    pub fn events(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).events.len()
    }

    /// Appends the events from `from` on as bytes, not many more than `most` of them; says how many events there are then.
    pub fn export(&self, from: usize, most: usize, out: &mut Vec<u8>) -> usize {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
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
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
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

    fn words(&self) -> usize {
        self.word + usize::from(self.shift > 0)
    }

    fn width(&self, part: usize) -> u32 {
        self.segments[part].iter().map(|segment| segment.width).sum()
    }

    /// More bits for a part and for those that share its numbers.
    fn widen(&mut self, part: usize, bits: u32) -> Result<(), NoRoom> {
        let from = self.width(part);
        let width = bits.min(32 - from.min(32));
        let members: Vec<usize> = (0..self.owners.len()).filter(|other| self.owners[*other] == part).collect();
        let (mut word, mut shift) = (self.word, self.shift);
        let mut added = Vec::with_capacity(members.len());
        for _ in &members {
            if shift + width > 64 {
                (word, shift) = (word + 1, 0);
            }
            added.push(Segment { word, shift, width, from });
            shift += width;
        }
        if width == 0 || word >= MOST_WORDS {
            return Err(NoRoom);
        }
        (self.word, self.shift) = (word, shift);
        members.iter().zip(added).for_each(|(member, segment)| self.segments[*member].push(segment));
        self.bytes += 64 * members.len() as u64;
        self.events.push(Event::Bits(part as u32, bits));
        Ok(())
    }

    fn add(&mut self, part: usize, value: &[u8]) -> Result<u32, NoRoom> {
        let number = self.values[part].len();
        if number as u64 >> self.width(part) > 0 {
            return Err(NoRoom);
        }
        self.values[part].push(Value { bytes: value.into(), hash: hash(part, value) });
        self.numbers[part].insert(value.into(), number as u32);
        self.events.push(Event::Value(part as u32, value.into()));
        self.bytes += 3 * value.len() as u64 + 160;
        Ok(number as u32)
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

impl Event {
    /// The part, and the length of the value that follows; or the part and how many bits it gets, marked.
    fn write(&self, out: &mut Vec<u8>) {
        let (part, number) = match self {
            Self::Value(part, value) => (*part, value.len() as u32),
            Self::Bits(part, bits) => (*part, bits | MARK),
        };
        out.extend_from_slice(&part.to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        if let Self::Value(_, value) = self {
            out.extend_from_slice(value);
        }
    }

    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u32::from_le_bytes(*word))
        };
        let (part, number) = (word()?, word()?);
        if number & MARK != 0 {
            return Some(Self::Bits(part, number & !MARK));
        }
        let (value, rest) = bytes.split_at_checked(number as usize)?;
        *bytes = rest;
        Some(Self::Value(part, value.into()))
    }
}

const MARK: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(dictionary: &Dictionary, values: &[&[u8]]) -> Vec<u64> {
        let numbers: Vec<u32> =
            values.iter().enumerate().map(|(part, value)| dictionary.number(part, value).expect("room")).collect();
        let (_, segments, count) = dictionary.layout();
        let mut words = vec![0; count];
        for (segments, number) in segments.iter().zip(numbers) {
            segments.iter().for_each(|segment| segment.put(&mut words, number));
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
}
