//! Searches that take steps themselves, as they are taught ([`Teacher`]), with states that get another layout when numbers outgrow theirs.

use cyrano_ir::Property;

use super::dictionary::Cut;
use super::layout::{WithWords, with_words};
use super::remembering::class::{Class, Left};
use super::remembering::taught::{Field, Teacher};
use super::tuples::Tuples;
use crate::semantics::machine::Machine;

/// A search by somebody who is taught.
pub trait Taught {
    /// How it ends.
    type End;
    /// Goes on; `None` if states have to get another layout first ([`super::remembering::taught::Untold::Reshape`]).
    fn run(&mut self, teacher: &mut dyn Teacher) -> Option<Self::End>;
    /// States have another layout now: these fields become those, of so many words.
    fn relay(&mut self, from: &[Field], to: &[Field], words: usize);
}

/// Why nobody can be taught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unteachable {
    /// Steps depend on more than a thread's part and the locations it touches.
    Steps,
    /// Every state has to be looked at as a whole.
    Races,
    /// States have too many parts, or parts too many values.
    Wide,
}

/// Teaches a search until it ends.
pub(crate) fn teach<T: Taught>(
    m: &Machine<'_>,
    property: Option<&Property>,
    search: &mut T,
) -> Result<T::End, Unteachable> {
    if !m.remembers_steps() {
        return Err(Unteachable::Steps);
    }
    if m.races {
        return Err(Unteachable::Races);
    }
    let mut tuples = Tuples::new(m, Cut::Fine).ok_or(Unteachable::Wide)?;
    let mut left = Left::new(m, property);
    loop {
        let words = tuples.dictionary.shape().0;
        let lessons = Lessons { tuples: &tuples, property, left, search };
        left = match with_words(words, lessons) {
            Outcome::Ended(end) => return Ok(end),
            Outcome::Reshape(left) => *left,
        };
        let from = fields(&tuples);
        if !tuples.dictionary.widen_all() {
            return Err(Unteachable::Wide);
        }
        search.relay(&from, &fields(&tuples), tuples.dictionary.shape().0);
    }
}

fn fields(tuples: &Tuples<'_>) -> Vec<Field> {
    super::tuples::fields(&tuples.dictionary).into_iter().map(Field::from).collect()
}

enum Outcome<'m, 'a, E> {
    Ended(E),
    Reshape(Box<Left<'m, 'a>>),
}

struct Lessons<'r, 'm, 'a, T> {
    tuples: &'r Tuples<'m>,
    property: Option<&'a Property>,
    left: Left<'m, 'a>,
    search: &'r mut T,
}

impl<'m, 'a, T: Taught> WithWords for Lessons<'_, 'm, 'a, T> {
    type Out = Outcome<'m, 'a, T::End>;

    fn call<const W: usize>(self) -> Self::Out {
        let Self { tuples, property, left, search } = self;
        let mut class = Class::<W>::new(tuples.m, &tuples.dictionary, property, left);
        match search.run(&mut class) {
            Some(end) => Outcome::Ended(end),
            None => Outcome::Reshape(Box::new(class.leave())),
        }
    }
}
