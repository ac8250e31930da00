//! Packed states that are kept, with remembered steps: what a [`crate::Walker`] of a [`crate::Packing`] does.
//!
//! The bytes of a packed state are those of its words, little endian, without zeros at the end.

use crate::criteria::judge::Judge;
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;
use crate::store::{Address, to_words};

use super::copies::{Copies, route};
use super::dictionary::Dictionary;
use super::foreign::Foreign;
use super::layout::{Bits, WithWords, with_words};
use super::remembering::{Halt, Kept, Remembering};

/// The packed successors of a state.
#[derive(Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// How many bytes each takes here.
    stride: usize,
    /// How many of these count, and where it belongs, if that is wanted.
    states: Vec<(u16, u64)>,
}

impl Packed {
    /// Visits the bytes of each, and where it belongs.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u64)) {
        for (state, (length, route)) in self.bytes.chunks_exact(self.stride.max(1)).zip(&self.states) {
            visit(&state[..usize::from(*length)], *route);
        }
    }

    fn clear(&mut self, words: usize) {
        self.bytes.clear();
        self.states.clear();
        self.stride = 8 * words;
    }

    #[inline]
    fn push<const W: usize>(&mut self, words: &[u64; W], route: u64) {
        let (mut length, mut last) = (0, 0);
        for (at, word) in words.iter().enumerate() {
            self.bytes.extend_from_slice(&word.to_le_bytes());
            if *word != 0 {
                (length, last) = (8 * at + 8, word.leading_zeros() as usize / 8);
            }
        }
        self.states.push(((length - last) as u16, route));
    }
}

/// Packed states with remembered steps, whatever the number of words.
pub(crate) trait Walks<'m, 'a>: Send {
    /// Finds the successors of a state.
    fn successors_of(&mut self, state: &[u8], out: &mut Packed) -> Result<(), Halt>;
    /// Packs the bytes of a state.
    fn pack_bytes(&mut self, bytes: &[u8], out: &mut Packed) -> Result<(), Halt>;
    /// What says where a packed state belongs, the same on all machines.
    fn route(&mut self, state: &[u8]) -> Result<u64, Halt>;
    /// Appends the values of a packed state, one after the other.
    fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<(), Halt>;
    /// Packs a packed state of another process.
    fn translate(&mut self, foreign: &mut Foreign, state: &[u8], out: &mut Packed) -> Result<(), Halt>;
    /// What was found out.
    fn findings(&self) -> (&Judge<'m, 'a>, Notes);
    /// Bytes that it takes.
    fn all_bytes(&self) -> u64;
    /// What outlives a change of the number of words.
    fn into_findings(self: Box<Self>) -> (Judge<'m, 'a>, Notes);
}

/// Steps of states with as many words as the dictionary needs now, and with what was found out so far.
pub(crate) fn walk<'m, 'a: 'm>(
    m: &'m Machine<'m>,
    dictionary: &'m Dictionary,
    routed: bool,
    findings: (Judge<'m, 'a>, Notes),
) -> Box<dyn Walks<'m, 'a> + 'm> {
    with_words(dictionary.layout().2, Making { m, dictionary, routed, findings })
}

struct Making<'m, 'a> {
    m: &'m Machine<'m>,
    dictionary: &'m Dictionary,
    routed: bool,
    findings: (Judge<'m, 'a>, Notes),
}

impl<'m, 'a: 'm> WithWords for Making<'m, 'a> {
    type Out = Box<dyn Walks<'m, 'a> + 'm>;

    fn call<const W: usize>(self) -> Self::Out {
        let mut steps = Remembering::<Kept, W>::new(self.m, self.dictionary, self.findings);
        steps.copies = self.routed.then(|| Copies::new(self.dictionary));
        Box::new(steps)
    }
}

/// The words of a packed state, with the layout that it needs.
fn read<const W: usize>(steps: &mut Remembering<'_, '_, '_, Kept, W>, state: &[u8]) -> Result<[u64; W], Halt> {
    if state.len() > 8 * W {
        return Err(if steps.dictionary.layout().2 > W { Halt::Reshape } else { Halt::NoRoom });
    }
    steps.refresh()?;
    Ok(to_words(state))
}

impl<'m, 'a, const W: usize> Walks<'m, 'a> for Remembering<'_, 'm, 'a, Kept, W> {
    fn successors_of(&mut self, state: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        let words = read(self, state)?;
        let sum = self.hashes(&words);
        let routed = self.copies.is_some();
        self.successors(Address::NONE, &words, &mut |new, added| {
            out.push(&new, if routed { route(sum.wrapping_add(added)) } else { 0 });
        })
    }

    fn pack_bytes(&mut self, bytes: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        out.push(&self.pack(bytes)?, 0);
        Ok(())
    }

    fn route(&mut self, state: &[u8]) -> Result<u64, Halt> {
        let words = read(self, state)?;
        Ok(route(self.hashes(&words)))
    }

    fn unpack(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<(), Halt> {
        let words = read(self, state)?;
        let Some(copies) = &mut self.copies else {
            return self.dictionary.unpack(&words, out).ok_or(Halt::NoRoom);
        };
        for (at, part) in self.parts.iter().enumerate() {
            let value = copies.value(self.dictionary, at, part.get(&words)).ok_or(Halt::NoRoom)?;
            out.extend_from_slice(&value.bytes);
        }
        Ok(())
    }

    fn translate(&mut self, foreign: &mut Foreign, state: &[u8], out: &mut Packed) -> Result<(), Halt> {
        out.clear(W);
        self.refresh()?;
        foreign.read(state).ok_or(Halt::NoRoom)?;
        let mut words = [0; W];
        for (at, part) in self.parts.iter().enumerate() {
            part.put(&mut words, foreign.number(at).ok_or(Halt::NoRoom)?);
        }
        out.push(&self.sorted(words), 0);
        Ok(())
    }

    fn findings(&self) -> (&Judge<'m, 'a>, Notes) {
        (&self.judge, self.stepper.notes)
    }

    fn all_bytes(&self) -> u64 {
        self.bytes() + self.place_bytes() + self.copies.as_ref().map_or(0, Copies::bytes)
    }

    fn into_findings(self: Box<Self>) -> (Judge<'m, 'a>, Notes) {
        (self.judge, self.stepper.notes)
    }
}
