//! The images of all histories of a language at once: P1 to P3, completion and conflict-commutativity as transducers, decided by antichains.
//!
//! A transducer reads a history of the language and writes one that has to be in the language as well: at most three events for each one read.
//! Its guesses are nondeterministic, and a guess that turns out wrong ends the run. Every prefix of a run is a run, for the history so far; so
//! all states accept, and the images are the language of the product of both automata with what is written as letters.
//! [`images`](super::images) says the same for one history, and is compared with this.

use rustc_hash::FxHashSet;

use super::language::{GivenUp, Language, Longer};
use crate::criterion::Structure;
use crate::history::{Action, Event, History, Size};
use crate::spec::Specification;
use crate::spec::automaton::Numbered;
use crate::spec::compare::{CompareError, inclusion};

/// More threads than this a transducer does not know.
pub const MOST_THREADS: usize = 4;

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

/// What is done to a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Transactions are left out, and perhaps commit early.
    Project {
        /// Whether they may commit.
        completes: bool,
    },
    /// Thread `from` becomes `to`.
    Rename {
        /// This one.
        from: u8,
        /// This one.
        to: u8,
        /// Whether transactions follow one another, up to the last step.
        sequential: bool,
    },
    /// A variable is left out.
    Forget(u8),
    /// A read of this thread finishes right behind its load.
    Prompt(u8),
    /// Two neighbouring events are exchanged.
    Exchange,
}

/// The transducers that a property consists of.
pub fn rules(property: Structure, Size { threads, vars }: Size) -> Vec<Rule> {
    let renames = |sequential: bool| {
        let pairs = (0..threads).flat_map(move |from| (0..threads).map(move |to| (from, to)));
        pairs.filter(|(from, to)| from != to).map(move |(from, to)| Rule::Rename { from, to, sequential }).collect()
    };
    match property {
        Structure::TransactionProjection => vec![Rule::Project { completes: false }],
        Structure::Completion => {
            [Rule::Project { completes: true }].into_iter().chain((0..threads).map(Rule::Prompt)).collect()
        }
        Structure::ThreadSymmetry => renames(false),
        Structure::SequentialRenaming => renames(true),
        Structure::VariableProjection => (0..vars).map(Rule::Forget).collect(),
        Structure::ConflictCommutativity => vec![Rule::Exchange],
        _ => Vec::new(),
    }
}

/// What a transducer knows of each thread, and of the history as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Memory {
    threads: [Lane; 4],
    /// One more than the thread whose transaction came last; for rows only.
    last: u8,
    /// What is left of a row: after a step out of the row nothing may follow, after a load only its read-finish.
    tail: Tail,
    /// What has become of the read that finishes early; for that only.
    read: Read,
    /// What may be exchanged; for exchanges only.
    commands: Commands,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Read {
    #[default]
    IsToCome,
    HasFinishedEarly,
    IsOver,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Tail {
    #[default]
    Row,
    Load,
    Over,
}

/// What a transducer knows of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Lane {
    /// Whether a transaction is under way.
    open: bool,
    /// What becomes of it.
    fate: Fate,
    /// Whether it began and did something that is kept; whether its last event was a load that is left out.
    begun: bool,
    kept: bool,
    lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Fate {
    #[default]
    Stays,
    IsLeftOut,
    HasCommitted,
    /// It only reads, what it stores is left out.
    Reads,
    HasReadAndCommitted,
}

/// What is written: at most three events.
type Written = ([Option<Event>; 3], Memory);

impl Rule {
    /// Reads an event.
    fn read(self, memory: Memory, (event, first): (Event, bool), out: &mut Vec<Written>) {
        match self {
            Self::Project { completes } => project(completes, memory, event, out),
            Self::Rename { from, to, sequential } => out.extend(rename((from, to), sequential, memory, event)),
            Self::Forget(variable) => forget(variable, memory, event, out),
            Self::Prompt(thread) => prompt(thread, memory, event, out),
            Self::Exchange => exchange(memory, event, first, out),
        }
    }
}

fn is_end(action: Action) -> bool {
    matches!(action, Action::Commit | Action::Abort)
}

/// Whether its transaction aborts: rolling back is the beginning of that.
fn aborts(action: Action) -> bool {
    matches!(action, Action::Abort | Action::Rollback(_))
}

fn project(completes: bool, memory: Memory, event: Event, out: &mut Vec<Written>) {
    let thread = usize::from(event.thread);
    let lane = memory.threads[thread];
    let fates = if lane.open { &[lane.fate][..] } else { &[Fate::Stays, Fate::Reads, Fate::IsLeftOut][..] };
    for fate in fates.iter().filter(|fate| completes || **fate != Fate::Reads) {
        let mut write = |written: [Option<Action>; 3], fate: Fate| {
            let mut after = memory;
            let ended = is_end(event.action);
            after.threads[thread] = if ended { Lane::default() } else { Lane { open: true, fate, ..lane } };
            out.push((written.map(|action| action.map(|action| Event { action, ..event })), after));
        };
        let (own, commit) = (Some(event.action), Some(Action::Commit));
        match (fate, event.action) {
            (Fate::Stays | Fate::Reads, Action::Abort) => {}
            (Fate::Stays, Action::Rollback(_)) | (Fate::Reads | Fate::IsLeftOut, Action::Commit) => {}
            (Fate::IsLeftOut, _) => write([None; 3], *fate),
            (Fate::Stays, action) => {
                write([own, None, None], *fate);
                if completes && matches!(action, Action::ReadFinish | Action::Store(_) | Action::Cas(_)) {
                    write([own, commit, None], Fate::HasCommitted);
                }
            }
            (Fate::Reads, Action::Store(_) | Action::Rollback(_)) => write([None; 3], *fate),
            (Fate::Reads, Action::Cas(v)) => {
                let (load, finish) = (Some(Action::Load(v)), Some(Action::ReadFinish));
                write([load, finish, None], *fate);
                write([load, finish, commit], Fate::HasReadAndCommitted);
            }
            (Fate::Reads, action) => {
                write([own, None, None], *fate);
                if action == Action::ReadFinish {
                    write([own, commit, None], Fate::HasReadAndCommitted);
                }
            }
            // Only what does not count may follow: a load that is never used and, for who only reads, stores and an abort.
            (Fate::HasCommitted | Fate::HasReadAndCommitted, Action::Load(_)) => write([None; 3], *fate),
            (Fate::HasReadAndCommitted, Action::Store(_) | Action::Rollback(_) | Action::Abort) => {
                write([None; 3], *fate);
            }
            (Fate::HasCommitted | Fate::HasReadAndCommitted, _) => {}
        }
    }
}

fn rename((from, to): (u8, u8), sequential: bool, mut memory: Memory, event: Event) -> Option<Written> {
    let involved = [from, to].contains(&event.thread);
    let starts = !memory.threads[usize::from(event.thread)].open;
    let other = if event.thread == from { to } else { from };
    if aborts(event.action) || involved && starts && memory.threads[usize::from(other)].open {
        return None;
    }
    if sequential {
        let in_row = starts || memory.last == event.thread + 1;
        memory.tail = match memory.tail {
            Tail::Over => return None,
            Tail::Load if memory.last == event.thread + 1 && event.action == Action::ReadFinish => Tail::Over,
            Tail::Load => return None,
            Tail::Row if in_row => Tail::Row,
            Tail::Row if involved => return None,
            Tail::Row if matches!(event.action, Action::Load(_)) => Tail::Load,
            Tail::Row => Tail::Over,
        };
        memory.last = event.thread + 1;
    }
    memory.threads[usize::from(event.thread)].open = !is_end(event.action);
    let thread = if event.thread == from { to } else { event.thread };
    Some(([Some(Event { thread, ..event }), None, None], memory))
}

/// Only loads that can still be finished may be chosen; [`Image::moves`] sees to that.
fn prompt(thread: u8, memory: Memory, event: Event, out: &mut Vec<Written>) {
    let own = event.thread == thread;
    match (memory.read, event.action) {
        (Read::HasFinishedEarly, Action::ReadFinish) if own => {
            out.push(([None; 3], Memory { read: Read::IsOver, ..memory }))
        }
        (Read::HasFinishedEarly, _) if own => {}
        (Read::IsToCome, Action::Load(_)) if own => {
            out.push(([Some(event), None, None], memory));
            let finish = Event { action: Action::ReadFinish, ..event };
            out.push(([Some(event), Some(finish), None], Memory { read: Read::HasFinishedEarly, ..memory }));
        }
        _ => out.push(([Some(event), None, None], memory)),
    }
}

fn forget(variable: u8, memory: Memory, event: Event, out: &mut Vec<Written>) {
    let thread = usize::from(event.thread);
    let lane = memory.threads[thread];
    let mut write = |written: Option<Event>, next: Lane| {
        let mut after = memory;
        after.threads[thread] = if is_end(event.action) { Lane::default() } else { next };
        out.push(([written, None, None], after));
    };
    let next = Lane { lost: event.action == Action::Load(variable), ..lane };
    let gone = event.action.variable() == Some(variable) || event.action == Action::ReadFinish && lane.lost;
    match event.action {
        action if aborts(action) => {}
        // Whether something will be left of it is a guess.
        Action::Begin => {
            let begun = Lane { begun: true, ..next };
            if lane.fate == Fate::Stays {
                write(Some(event), begun);
            }
            if !lane.begun && !lane.kept || lane.fate == Fate::IsLeftOut {
                write(None, Lane { fate: Fate::IsLeftOut, ..begun });
            }
        }
        Action::Commit if lane.kept => write(Some(event), next),
        Action::Commit if lane.begun && lane.fate == Fate::Stays => {}
        Action::Commit => write(None, next),
        _ if gone => write(None, next),
        _ if lane.fate == Fate::IsLeftOut => {}
        _ => write(Some(event), Lane { kept: true, ..next }),
    }
}

/// What the commands that are under way have done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Commands {
    /// For each thread the variables that its command has loaded and stored, as bits.
    loaded: [u8; 4],
    stored: [u8; 4],
    /// For each thread those whose command has done something later that conflicts with something in its own.
    before: [u8; 4],
    /// The event that waits to be exchanged with the next one.
    held: Option<Event>,
    /// Whether the exchange has been made.
    made: bool,
}

impl Commands {
    fn take(&mut self, event: Event, first: bool) {
        let me = usize::from(event.thread);
        if first {
            (self.loaded[me], self.stored[me], self.before[me]) = (0, 0, 0);
            self.before.iter_mut().for_each(|later| *later &= !(1 << me));
        }
        let (loads, stores) = match event.action {
            Action::Load(v) => (1u8 << v, 0u8),
            Action::Store(v) | Action::Cas(v) => (1 << v, 1 << v),
            _ => return,
        };
        for other in (0..self.before.len()).filter(|other| *other != me) {
            let conflict = self.stored[other] & loads | (self.loaded[other] | self.stored[other]) & stores;
            self.before[other] |= u8::from(conflict != 0) << me;
        }
        self.loaded[me] |= loads;
        self.stored[me] |= stores;
    }
}

fn exchange(mut memory: Memory, event: Event, first: bool, out: &mut Vec<Written>) {
    let commands = &mut memory.commands;
    if commands.made {
        return out.push(([Some(event), None, None], memory));
    }
    if let Some(held) = commands.held {
        let overlap = !first && commands.before[usize::from(event.thread)] >> held.thread & 1 == 1;
        if overlap && held.thread != event.thread {
            memory.commands = Commands { made: true, ..Commands::default() };
            out.push(([Some(event), Some(held), None], memory));
        }
        return;
    }
    commands.take(event, first);
    out.push(([Some(event), None, None], memory));
    memory.commands.held = Some(event);
    out.push(([None; 3], memory));
}

/// The images of a language under a rule.
struct Image<'a> {
    language: &'a Language,
    rule: Rule,
    /// The states in which the read of [`Rule::Prompt`] may still finish.
    finishes: Vec<bool>,
}

/// Where the language is, what the transducer knows, and what it has yet to write.
type State = (u32, Memory, [Option<Event>; 2]);

impl<'a> Image<'a> {
    fn new(language: &'a Language, rule: Rule) -> Self {
        let mut finishes = vec![false; language.len()];
        let Rule::Prompt(thread) = rule else { return Self { language, rule, finishes } };
        loop {
            let may = |state: u32| {
                language.steps(state).any(|(letter, to)| match language.letters().event(letter).0 {
                    event if event.thread == thread => event.action == Action::ReadFinish,
                    _ => finishes[to as usize],
                })
            };
            let more: Vec<u32> = (0..language.len() as u32).filter(|at| !finishes[*at as usize] && may(*at)).collect();
            if more.is_empty() {
                return Self { language, rule, finishes };
            }
            more.into_iter().for_each(|state| finishes[state as usize] = true);
        }
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
        moves
    }

    /// A history of the language with this image. The image may lack its last event.
    fn source(&self, mut image: History) -> Flaw {
        // Breadth-first over the state and how much of the image is written.
        let start = ((0, Memory::default(), [None; 2]), 0);
        let mut known = FxHashSet::from_iter([start]);
        let mut found: Vec<((State, usize), usize, Option<Event>)> = vec![(start, 0, None)];
        let mut next = 0;
        while found[next].0.1 < image.len() {
            let (state, written) = found[next].0;
            for (read, writes, to) in self.moves(&state) {
                let after = match writes {
                    Some(event) if event == image[written] => (to, written + 1),
                    Some(_) => continue,
                    None => (to, written),
                };
                if known.insert(after) {
                    found.push((after, next, read));
                }
            }
            next += 1;
            assert!(next < found.len(), "an image is the image of something");
        }
        image.extend(found[next].0.0.2.into_iter().flatten());
        let mut history = History::new();
        while next > 0 {
            history.extend(found[next].2);
            next = found[next].1;
        }
        history.reverse();
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
        vec![(0, Memory::default(), [None; 2])]
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
