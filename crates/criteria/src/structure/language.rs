//! The language of a memory: first as the explorer finds it, with silent steps, then as a small deterministic automaton.
//!
//! A letter is an event, or an event with a mark that it is the first of its command; see [`Letters`].
//! **Invariant:** every state of either automaton accepts, so that languages are prefix-closed; a state of the deterministic one has at most one
//! successor for each letter.

use rustc_hash::FxHashMap;

use crate::history::{Action, Event, Size};
use crate::spec::Specification;

/// The number of a letter.
pub type Letter = u16;

/// No successor.
const NONE: u32 = u32::MAX;

/// The events of a size, numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Letters {
    size: Size,
    events: Vec<Event>,
    numbers: FxHashMap<Event, Letter>,
}

impl Letters {
    /// All events of threads and variables, beginnings of transactions among them.
    pub fn new(size: Size) -> Self {
        let events = size.alphabet_with_begin();
        let numbers = events.iter().enumerate().map(|(at, event)| (*event, at as Letter)).collect();
        Self { size, events, numbers }
    }

    /// The threads and variables.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The number of an event.
    pub fn number(&self, event: Event) -> Letter {
        self.numbers[&event]
    }

    /// The letter of an event that may be the first of its command.
    pub fn marked(&self, event: Event, first: bool) -> Letter {
        self.number(event) + if first { self.events.len() as Letter } else { 0 }
    }

    /// The event of a letter, and whether it is marked.
    pub fn event(&self, letter: Letter) -> (Event, bool) {
        let at = usize::from(letter);
        (self.events[at % self.events.len()], at >= self.events.len())
    }
}

/// An automaton with silent steps, as an explorer finds it.
#[derive(Clone, Debug, Default)]
pub struct Nfa {
    /// Where it starts.
    pub initial: Vec<u32>,
    /// For each state its steps, silent ones without a letter.
    pub edges: Vec<Vec<(Option<Letter>, u32)>>,
}

/// The work that was granted did not suffice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenUp;

impl Nfa {
    /// A smaller automaton with the same language: states that can do the same, silent steps included, are one.
    #[must_use]
    pub fn quotient(&self) -> Self {
        let mut class = vec![0u32; self.edges.len()];
        let mut classes = 1;
        loop {
            let mut numbers = FxHashMap::default();
            let next: Vec<u32> = (0..self.edges.len())
                .map(|state| {
                    let mut signature: Vec<_> =
                        self.edges[state].iter().map(|(l, to)| (*l, class[*to as usize])).collect();
                    // A silent step that stays in its class can be left out.
                    signature.retain(|(letter, to)| letter.is_some() || *to != class[state]);
                    signature.sort_unstable();
                    signature.dedup();
                    let fresh = numbers.len() as u32;
                    *numbers.entry((class[state], signature)).or_insert(fresh)
                })
                .collect();
            class = next;
            if numbers.len() == classes {
                break;
            }
            classes = numbers.len();
        }
        let mut edges = vec![Vec::new(); classes];
        for (state, own) in self.edges.iter().enumerate() {
            let at = class[state];
            let steps = own.iter().map(|(letter, to)| (*letter, class[*to as usize]));
            edges[at as usize].extend(steps.filter(|(letter, to)| letter.is_some() || *to != at));
        }
        edges.iter_mut().for_each(|own| {
            own.sort_unstable();
            own.dedup();
        });
        let mut initial: Vec<u32> = self.initial.iter().map(|state| class[*state as usize]).collect();
        initial.sort_unstable();
        initial.dedup();
        Self { initial, edges }
    }

    /// All states that silent steps lead to from these.
    fn closed(&self, mut states: Vec<u32>) -> Vec<u32> {
        let mut known: rustc_hash::FxHashSet<u32> = states.iter().copied().collect();
        let mut at = 0;
        while at < states.len() {
            for (letter, to) in &self.edges[states[at] as usize] {
                if letter.is_none() && known.insert(*to) {
                    states.push(*to);
                }
            }
            at += 1;
        }
        states.sort_unstable();
        states.dedup();
        states
    }
}

/// A language: a deterministic automaton, minimal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Language {
    letters: Letters,
    /// How many letters there are: marked ones are as many again.
    width: usize,
    /// For each state and letter the next state, or [`NONE`]. The first state is the initial one.
    next: Vec<u32>,
}

impl Language {
    /// The language of an automaton. Marks are kept or not; `go_on` is told how much work was done and says whether to go on.
    pub fn new(
        nfa: &Nfa,
        letters: &Letters,
        marks: bool,
        mut go_on: impl FnMut(usize) -> bool,
    ) -> Result<Self, GivenUp> {
        let events = letters.events.len();
        let width = if marks { events * 2 } else { events };
        let nfa = if marks { nfa.clone() } else { unmarked(nfa, events) }.quotient();
        let mut numbers: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut sets: Vec<Box<[u32]>> = Vec::new();
        let mut next: Vec<u32> = Vec::new();
        let mut number = |set: Vec<u32>, sets: &mut Vec<Box<[u32]>>| {
            let set: Box<[u32]> = set.into();
            *numbers.entry(set.clone()).or_insert_with(|| {
                sets.push(set);
                sets.len() as u32 - 1
            })
        };
        number(nfa.closed(nfa.initial.clone()), &mut sets);
        let (mut at, mut work) = (0, 0);
        while at < sets.len() {
            let mut by_letter: Vec<Vec<u32>> = vec![Vec::new(); width];
            for state in &sets[at] {
                for (letter, to) in &nfa.edges[*state as usize] {
                    letter.iter().for_each(|letter| by_letter[usize::from(*letter)].push(*to));
                }
            }
            work += sets[at].len();
            if !go_on(work) {
                return Err(GivenUp);
            }
            for mut to in by_letter {
                to.sort_unstable();
                to.dedup();
                next.push(if to.is_empty() { NONE } else { number(nfa.closed(to), &mut sets) });
            }
            at += 1;
        }
        Ok(Self { letters: letters.clone(), width, next }.minimal())
    }

    /// The same language with as few states as possible.
    fn minimal(self) -> Self {
        let states = self.len();
        let mut class = vec![0u32; states];
        let mut classes = 1;
        loop {
            let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
            let of = |to: u32, class: &[u32]| if to == NONE { NONE } else { class[to as usize] };
            let refined: Vec<u32> = (0..states)
                .map(|state| {
                    let row = &self.next[state * self.width..][..self.width];
                    let signature: Vec<u32> = row.iter().map(|to| of(*to, &class)).chain([class[state]]).collect();
                    let fresh = numbers.len() as u32;
                    *numbers.entry(signature).or_insert(fresh)
                })
                .collect();
            class = refined;
            if numbers.len() == classes {
                break;
            }
            classes = numbers.len();
        }
        // States are met in their order, so that the initial one is the first of its class.
        let mut next = vec![NONE; classes * self.width];
        for state in 0..states {
            for letter in 0..self.width {
                let to = self.next[state * self.width + letter];
                if to != NONE {
                    next[class[state] as usize * self.width + letter] = class[to as usize];
                }
            }
        }
        Self { next, ..self }
    }

    /// How many states it has.
    #[allow(clippy::len_without_is_empty, reason = "the initial state is always there")]
    pub fn len(&self) -> usize {
        self.next.len() / self.width
    }

    /// Its letters.
    pub fn letters(&self) -> &Letters {
        &self.letters
    }

    /// The state after a letter.
    #[inline]
    pub fn step(&self, state: u32, letter: Letter) -> Option<u32> {
        let to = self.next[state as usize * self.width + usize::from(letter)];
        (to != NONE).then_some(to)
    }

    /// The letters that can come next, each with the state it leads to.
    pub fn steps(&self, state: u32) -> impl Iterator<Item = (Letter, u32)> + '_ {
        let row = &self.next[state as usize * self.width..][..self.width];
        row.iter().enumerate().filter(|(_, to)| **to != NONE).map(|(letter, to)| (letter as Letter, *to))
    }

    /// Whether it has a history.
    pub fn has(&self, history: &[Event]) -> bool {
        let step = |state: u32, event: &Event| self.step(state, self.letters.number(*event));
        history.iter().try_fold(0, step).is_some()
    }

    /// Whether it has a history in which transactions perhaps begin later, and finish reads and commit earlier.
    pub fn has_shorter(&self, history: &[Event]) -> bool {
        let longer = Longer(self);
        let step = |states: Vec<Stretched>, event: &Event| {
            let mut next: Vec<_> =
                states.iter().flat_map(|state| Specification::step(&longer, state, *event)).collect();
            next.sort_unstable();
            next.dedup();
            next
        };
        !history.iter().fold(Specification::initial(&longer), step).is_empty()
    }

    /// All its histories of at most so many events, for comparisons, each with the marks of its events.
    pub fn marked_histories(&self, most: usize) -> Vec<(Vec<Event>, Vec<bool>)> {
        let mut all: Vec<(Vec<Letter>, u32)> = vec![(Vec::new(), 0)];
        let mut at = 0;
        while at < all.len() {
            let (history, state) = all[at].clone();
            if history.len() < most {
                all.extend(self.steps(state).map(|(letter, to)| ([&history[..], &[letter]].concat(), to)));
            }
            at += 1;
        }
        let events = |history: Vec<Letter>| history.into_iter().map(|letter| self.letters.event(letter)).unzip();
        all.into_iter().map(|(history, _)| events(history)).collect()
    }
}

fn unmarked(nfa: &Nfa, events: usize) -> Nfa {
    let strip = |letter: Letter| letter % events as Letter;
    let edges = nfa.edges.iter().map(|own| own.iter().map(|(letter, to)| (letter.map(strip), *to)).collect());
    Nfa { initial: nfa.initial.clone(), edges: edges.collect() }
}

/// The histories of a language in which transactions may look longer than they are: they may say that they begin before they do, and that a
/// read finishes or that they commit after it happened.
///
/// A shorter transaction has more before it and more behind it in real time and uses no fewer loads, so that a history that is not opaque stays so; and
/// when to begin, and how long to wait before an end, is up to the client.
pub(super) struct Longer<'a>(pub &'a Language);

/// A state of the language, and for each thread what it has said and not done, or done and not said.
pub(super) type Stretched = (u32, [Owed; 4]);

/// What a thread has said and not done, or done and not said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Owed {
    /// It has said that it begins.
    begin: bool,
    /// A read has finished.
    finish: bool,
    /// It has committed.
    commit: bool,
}

impl Longer<'_> {
    fn done(&self, state: u32, thread: u8, action: Action) -> Option<u32> {
        self.0.step(state, self.0.letters.number(Event { thread, action }))
    }

    /// What can happen without a word.
    fn silent(&self, (at, owed): &Stretched, out: &mut Vec<Stretched>) {
        for thread in 0..self.0.letters.size.threads {
            let mine = owed[usize::from(thread)];
            let mut add = |action: Action, next: Owed| {
                let mut after = *owed;
                after[usize::from(thread)] = next;
                out.extend(self.done(*at, thread, action).map(|to| (to, after)));
            };
            match mine {
                Owed { begin: true, .. } => add(Action::Begin, Owed::default()),
                Owed { commit: true, .. } => {}
                Owed { finish, .. } => {
                    add(Action::Commit, Owed { commit: true, ..mine });
                    if !finish {
                        add(Action::ReadFinish, Owed { finish: true, ..mine });
                    }
                }
            }
        }
    }

    /// What an event of a thread means.
    fn said(&self, (at, owed): &Stretched, event: Event, out: &mut Vec<Stretched>) {
        let mine = owed[usize::from(event.thread)];
        let mut add = |to: u32, next: Owed| {
            let mut after = *owed;
            after[usize::from(event.thread)] = next;
            out.push((to, after));
        };
        match (mine, event.action) {
            (Owed { finish: true, .. }, Action::ReadFinish) => add(*at, Owed { finish: false, ..mine }),
            (Owed { finish: false, commit: true, .. }, Action::Commit) => add(*at, Owed::default()),
            (owed, action) if owed == Owed::default() => {
                self.done(*at, event.thread, action).into_iter().for_each(|to| add(to, Owed::default()));
                if action == Action::Begin {
                    add(*at, Owed { begin: true, ..Owed::default() });
                }
            }
            _ => {}
        }
    }
}

impl Specification for Longer<'_> {
    type State = Stretched;

    fn name(&self) -> &'static str {
        "memory"
    }

    fn size(&self) -> Size {
        self.0.letters.size
    }

    fn initial(&self) -> Vec<Stretched> {
        vec![Stretched::default()]
    }

    fn step(&self, state: &Stretched, event: Event) -> Vec<Stretched> {
        let mut states = vec![*state];
        let mut known = rustc_hash::FxHashSet::from_iter([*state]);
        let mut after = Vec::new();
        let mut more = Vec::new();
        while let Some(state) = states.pop() {
            self.said(&state, event, &mut after);
            self.silent(&state, &mut more);
            states.extend(more.drain(..).filter(|next| known.insert(*next)));
        }
        after
    }
}

impl Specification for &Language {
    type State = u32;

    fn name(&self) -> &'static str {
        "memory"
    }

    fn size(&self) -> Size {
        self.letters.size
    }

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn step(&self, state: &u32, event: Event) -> Vec<u32> {
        Language::step(self, *state, self.letters.number(event)).into_iter().collect()
    }
}
