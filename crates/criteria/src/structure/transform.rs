//! The images of all histories of a language at once: P1 to P3, completion and conflict-commutativity as transducers, decided by antichains.
//!
//! A transducer reads a history of the language and writes one that has to be in the language as well: at most three events for each one read.
//! Its guesses are nondeterministic, and a guess that turns out wrong ends the run. Every prefix of a run is a run, for the history so far; so
//! all states accept, and the images are the language of the product of both automata with what is written as letters.
//! [`images`](super::images) says the same for one history, and is compared with this.
//!
//! Where only settled histories count, the runs that can still become one are kept: the language is prefix-closed, so an image of a settled
//! history is missing exactly if a prefix of it is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::language::{GivenUp, Language, Longer};
use crate::criterion::Structure;
use crate::history::{Action, Event, History, Size};
use crate::spec::Specification;
use crate::spec::automaton::Numbered;
use crate::spec::compare::{CompareError, inclusion};
use crate::structure::rules::{Memory, Read, Rule, rules};

/// A history of a language and what it asks for in vain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// The history.
    pub history: History,
    /// What would have to be a history as well.
    pub image: History,
}

/// Searches for a history of the first language one of whose images is not in the second, which is the same without marks. `go_on` is told
/// how many pairs were visited.
pub fn flaw(
    property: Structure,
    language: &Language,
    unmarked: &Language,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Flaw>, GivenUp> {
    for rule in rules(property, language.letters().size()) {
        let events = language.letters().events().to_vec();
        let mut left = Numbered::over(Image::new(language, rule), events.clone());
        let mut right = Numbered::over(Longer(unmarked), events);
        let found = match inclusion(&mut left, &mut right, &mut *go_on) {
            Ok(found) => found.outside,
            Err(CompareError::Stopped { .. }) => return Err(GivenUp),
            Err(CompareError::Alphabets) => unreachable!("both are over the letters of the language"),
        };
        if let Some(image) = found {
            return Ok(Some(Image::new(language, rule).source(image)));
        }
    }
    Ok(None)
}

/// A state and how much of an image is written there, how it was reached, and what was read and written on the way.
type Trail = ((State, usize), usize, Option<Event>, Option<Event>);

/// The states of a language in which the thread's read can still finish.
fn finishing(language: &Language, thread: u8) -> Vec<bool> {
    let mut finishes = vec![false; language.len()];
    loop {
        let may = |state: u32| {
            language.steps(state).any(|(letter, to)| match language.letters().event(letter).0 {
                event if event.thread == thread => event.action == Action::ReadFinish,
                _ => finishes[to as usize],
            })
        };
        let more: Vec<u32> = (0..language.len() as u32).filter(|at| !finishes[*at as usize] && may(*at)).collect();
        if more.is_empty() {
            return finishes;
        }
        more.into_iter().for_each(|state| finishes[state as usize] = true);
    }
}

/// The images of a language under a rule.
struct Image<'a> {
    language: &'a Language,
    rule: Rule,
    /// The states in which the read of [`Rule::Prompt`] may still finish.
    finishes: Vec<bool>,
    /// If only settled histories count, the states that can still become one.
    hopeful: Option<FxHashSet<State>>,
}

/// Where the language is, what the transducer knows, and what it has yet to write.
type State = (u32, Memory, [Option<Event>; 2]);

/// The first state.
fn start() -> State {
    (0, Memory::default(), [None; 2])
}

impl<'a> Image<'a> {
    fn new(language: &'a Language, rule: Rule) -> Self {
        let mut image = Self { language, rule, finishes: vec![false; language.len()], hopeful: None };
        match rule {
            Rule::Prompt(thread) => image.finishes = finishing(language, thread),
            Rule::Forget { settled: true, .. } => image.hopeful = Some(image.hopeful()),
            _ => {}
        }
        image
    }

    /// The states from which a settled history can be reached: all are visited, then the steps are followed backwards.
    fn hopeful(&self) -> FxHashSet<State> {
        let mut known = FxHashSet::from_iter([start()]);
        let mut from: FxHashMap<State, Vec<State>> = FxHashMap::default();
        let mut work = vec![start()];
        let mut hopeful = FxHashSet::default();
        while let Some(state) = work.pop() {
            for (_, _, to) in self.moves(&state) {
                from.entry(to).or_default().push(state);
                if known.insert(to) {
                    work.push(to);
                }
            }
        }
        let mut work: Vec<State> = known.into_iter().filter(|(_, memory, _)| memory.settled).collect();
        while let Some(state) = work.pop() {
            if hopeful.insert(state) {
                work.extend(from.get(&state).into_iter().flatten());
            }
        }
        hopeful
    }

    /// Everything that can be done next: what is read, what is written first, and where that leads.
    fn moves(&self, (at, memory, owed): &State) -> Vec<(Option<Event>, Option<Event>, State)> {
        if let [Some(first), then] = *owed {
            return vec![(None, Some(first), (*at, *memory, [then, None]))];
        }
        let mut moves = Vec::new();
        let mut written = Vec::new();
        for (letter, to) in self.language.steps(*at) {
            let (event, first) = self.language.letters().event(letter);
            self.rule.read(*memory, (event, first), &mut written);
            written.retain(|(_, memory)| memory.read != Read::HasFinishedEarly || self.finishes[to as usize]);
            moves.extend(written.drain(..).map(|([now, owed @ ..], memory)| (Some(event), now, (to, memory, owed))));
        }
        moves.retain(|(_, _, to)| self.hopeful.as_ref().is_none_or(|hopeful| hopeful.contains(to)));
        moves
    }

    /// A history of the language with this image. The image may lack its end.
    fn source(&self, mut image: History) -> Flaw {
        // Breadth-first over the state and how much of the image is written; behind the image, up to a settled history if one is wanted.
        let start = (start(), 0);
        let mut known = FxHashSet::from_iter([start]);
        let mut found: Vec<Trail> = vec![(start, 0, None, None)];
        let mut next = 0;
        while found[next].0.1 < image.len() || self.hopeful.is_some() && !found[next].0.0.1.settled {
            let (state, written) = found[next].0;
            for (read, writes, to) in self.moves(&state) {
                let after = match writes {
                    Some(event) if image.get(written).is_none_or(|wanted| *wanted == event) => (to, written + 1),
                    Some(_) => continue,
                    None => (to, written),
                };
                if known.insert(after) {
                    found.push((after, next, read, writes));
                }
            }
            next += 1;
            assert!(next < found.len(), "an image is the image of something");
        }
        let owed = found[next].0.0.2;
        let (mut history, mut whole) = (History::new(), History::new());
        while next > 0 {
            history.extend(found[next].2);
            whole.extend(found[next].3);
            next = found[next].1;
        }
        history.reverse();
        whole.reverse();
        image = whole;
        image.extend(owed.into_iter().flatten());
        Flaw { history, image }
    }
}

impl Specification for Image<'_> {
    type State = State;

    fn name(&self) -> &'static str {
        "images"
    }

    fn size(&self) -> Size {
        self.language.letters().size()
    }

    fn initial(&self) -> Vec<State> {
        vec![start()]
    }

    fn step(&self, state: &State, event: Event) -> Vec<State> {
        let mut silent = vec![*state];
        let mut known = FxHashSet::from_iter([*state]);
        let mut after = Vec::new();
        while let Some(state) = silent.pop() {
            for (_, writes, to) in self.moves(&state) {
                match writes {
                    Some(written) if written == event => after.push(to),
                    Some(_) => {}
                    None => {
                        if known.insert(to) {
                            silent.push(to);
                        }
                    }
                }
            }
        }
        after
    }
}
