//! A specification of one's own: an automaton over memory events in a few lines of text (FOIL's π, section 2.5).
//!
//! ```text
//! specification exclusive-stores
//! for thread t, variable v          # one automaton for each thread and variable
//! start idle
//! idle:  t store v -> wrote
//! idle:  other store v, t commit, t abort -> idle
//! wrote: t store v, t rollback v -> wrote
//! wrote: t commit, t abort -> idle
//! ```
//!
//! There is one automaton for each choice of different threads and variables for the names behind `for`, and a history satisfies the
//! specification if all of them accept it. An event that no pattern of an automaton fits does not concern it. One that does concern it, and for which
//! no state that it may be in has a move, is rejected. A state may have several moves for an event.
//!
//! **Invariant:** the language is prefix-closed. A state of the whole is the set of states that each automaton may be in, so that it is deterministic.

use std::sync::Mutex;

use super::{Specification, named};
use crate::history::{Action, Event, Names, Size};

pub use super::own_parse::parse;

/// The most states of an automaton.
pub const MOST_STATES: usize = 64;

/// A specification from a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Own {
    /// Its name.
    pub name: String,
    /// The text that it was read from.
    pub text: String,
    /// The names behind `for`, in their order.
    pub(super) quantified: Vec<(Sort, String)>,
    pub(super) states: Vec<String>,
    pub(super) start: usize,
    pub(super) moves: Vec<Move>,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Thread,
    Variable,
}

/// From one state to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub from: usize,
    pub pattern: Pattern,
    pub to: usize,
}

/// The events that a move is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    pub thread: Who,
    /// The action, of any variable; all of them if there is none.
    pub action: Option<Action>,
    pub variable: Who,
}

/// A thread or a variable in a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Any,
    /// None of those behind `for`.
    Other,
    /// The one that this name behind `for` stands for.
    Named(usize),
    /// This one.
    Exactly(u8),
}

/// A specification of the user's that no instance of this size has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooSmall {
    /// Its name.
    pub name: String,
    /// What it needs.
    pub needs: Size,
}

static KNOWN: Mutex<Vec<&'static Own>> = Mutex::new(Vec::new());

/// Makes a specification known by its name, for as long as the program runs. `Err` if another one has that name.
pub fn register(own: Own) -> Result<&'static Own, String> {
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match known.iter().find(|other| other.name == own.name) {
        Some(same) if **same == own => Ok(same),
        Some(_) => Err(format!("there are two different specifications called `{}`", own.name)),
        None => {
            let own: &'static Own = Box::leak(Box::new(own));
            known.push(own);
            Ok(own)
        }
    }
}

/// The one of this name, if it is known.
pub fn known(name: &str) -> Option<&'static Own> {
    let known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    known.iter().copied().find(|own| own.name == name)
}

impl Own {
    /// The automata for this many threads and variables.
    pub fn automata(&'static self, size: Size) -> Result<Automata, TooSmall> {
        let needed = |sort| self.quantified.iter().filter(|(of, _)| *of == sort).count() as u8;
        let needs = Size { threads: needed(Sort::Thread), vars: needed(Sort::Variable) };
        if needs.threads > size.threads || needs.vars > size.vars {
            return Err(TooSmall { name: self.name.clone(), needs });
        }
        let mut instances: Vec<Vec<u8>> = vec![Vec::new()];
        for (place, (sort, _)) in self.quantified.iter().enumerate() {
            let all = if *sort == Sort::Thread { size.threads } else { size.vars };
            let taken = |instance: &[u8], value: u8| {
                (0..place).any(|other| self.quantified[other].0 == *sort && instance[other] == value)
            };
            let extended = instances.into_iter().flat_map(|instance| {
                let free: Vec<u8> = (0..all).filter(|value| !taken(&instance, *value)).collect();
                free.into_iter().map(move |value| instance.iter().copied().chain([value]).collect())
            });
            instances = extended.collect();
        }
        Ok(Automata { own: self, size, instances })
    }

    /// Whether an event fits a pattern of an automaton.
    pub(super) fn fits(&self, pattern: &Pattern, event: Event, instance: &[u8]) -> bool {
        let is = |who: Who, sort: Sort, value: u8| match who {
            Who::Any => true,
            Who::Exactly(wanted) => wanted == value,
            Who::Named(place) => instance[place] == value,
            Who::Other => !self.quantified.iter().zip(instance).any(|((of, _), taken)| *of == sort && *taken == value),
        };
        let action = pattern.action.is_none_or(|action| {
            let same = std::mem::discriminant(&action) == std::mem::discriminant(&event.action);
            same && event.action.variable().is_none_or(|variable| is(pattern.variable, Sort::Variable, variable))
        });
        action && is(pattern.thread, Sort::Thread, event.thread)
    }
}

/// The automata of a specification.
#[derive(Clone, Debug)]
pub struct Automata {
    own: &'static Own,
    size: Size,
    /// For each automaton what the names behind `for` stand for.
    instances: Vec<Vec<u8>>,
}

impl Specification for Automata {
    /// For each automaton the states that it may be in.
    type State = Vec<u64>;

    fn name(&self) -> &'static str {
        &self.own.name
    }

    fn size(&self) -> Size {
        self.size
    }

    fn initial(&self) -> Vec<Vec<u64>> {
        vec![vec![1 << self.own.start; self.instances.len()]]
    }

    fn step(&self, state: &Vec<u64>, event: Event) -> Vec<Vec<u64>> {
        let next = |(instance, states): (&Vec<u8>, &u64)| {
            let fitting = self.own.moves.iter().filter(|step| self.own.fits(&step.pattern, event, instance));
            let (mut concerned, mut after) = (false, 0);
            for step in fitting {
                concerned = true;
                if states & 1 << step.from != 0 {
                    after |= 1 << step.to;
                }
            }
            if concerned { (after != 0).then_some(after) } else { Some(*states) }
        };
        let after: Option<Vec<u64>> = self.instances.iter().zip(state).map(next).collect();
        after.into_iter().collect()
    }

    /// The automata that have no move, and where they are.
    fn stuck(&self, state: &Vec<u64>, event: Event) -> Option<String> {
        let alone = |at: usize| Automata { instances: vec![self.instances[at].clone()], ..self.clone() };
        let at = (0..state.len()).find(|at| alone(*at).step(&vec![state[*at]], event).is_empty())?;
        let states = self.own.states.iter().enumerate().filter(|(place, _)| state[at] & 1 << place != 0);
        let states: Vec<String> = states.map(|(_, name)| format!("`{name}`")).collect();
        let names = Names::default();
        let chosen = self.own.quantified.iter().zip(&self.instances[at]).map(|((sort, name), value)| match sort {
            Sort::Thread => format!("{name} = {}", names.thread(*value)),
            Sort::Variable => format!("{name} = {}", names.variable(*value)),
        });
        let chosen: Vec<String> = chosen.collect();
        let with = if chosen.is_empty() { String::new() } else { format!(" with {}", chosen.join(", ")) };
        Some(format!("in {}{with}", states.join(" or ")))
    }
}

/// Whether a name is taken by a specification that is built in.
pub(super) fn is_built_in(name: &str) -> bool {
    named::NAMES.iter().any(|(known, _)| *known == name)
}
