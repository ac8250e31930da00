//! The graph as an automaton over events.
//!
//! A state is a node together with the threads whose transaction has begun and those that have chosen a command since their last event; so
//! that a transaction begins with its first access, to whatever location, and the first event of each command is marked; and the threads whose last
//! event was a load, because a read-finish without one (a transaction that reads what it wrote) is silent. So is the end of a transaction that has
//! accessed nothing, so that every transaction of the language begins with its beginning. A step with several events, an atomic
//! section, has states between them.

use cyrano_criteria::history::{Action, Event, History};
use cyrano_criteria::structure::language::{Letter, Letters, Nfa};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::criteria::runs::graph::{Edge, Graph, Threads};

/// A node, the threads whose transaction has begun, those that have chosen a command, and those whose last event was a load.
type Place = (u32, Threads, Threads, Threads, Row);

/// Which histories are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// All of them.
    All,
    /// Those in which nothing aborts; then neither does anything in what they ask for.
    Unaborted,
    /// Of those the ones in which transactions follow one another, up to the last step. Beginnings and commits may stand anywhere, for what they ask
    /// for may have them elsewhere.
    Rows,
}

/// One more than the thread whose transaction came last, and what is left after a step out of the row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Row {
    last: u8,
    /// Whether only a read-finish of that thread may follow, and whether nothing may.
    reads: bool,
    over: bool,
    /// The threads whose transaction has accessed something.
    acted: Threads,
}

impl Row {
    /// Behind an event; none if the row does not go on like that.
    fn take(self, event: Event) -> Option<Self> {
        let (own, me) = (self.last == event.thread + 1, 1 << event.thread);
        if event.action == Action::Commit {
            return Some(Self { acted: self.acted & !me, ..self });
        }
        if self.over || self.reads {
            let finishes = self.reads && own && event.action == Action::ReadFinish;
            return finishes.then_some(Self { over: true, reads: false, ..self });
        }
        let out = self.acted & me != 0 && !own;
        let reads = out && matches!(event.action, Action::Load(_));
        Some(Self { last: event.thread + 1, reads, over: out && !reads, acted: self.acted | me })
    }
}

/// A state, how much of a history was read, and how it was found: from which one, and by which step of the graph.
type Found = (u32, usize, usize, Option<(u32, Edge)>);

/// The automaton, and which steps of the graph its own ones are.
pub(super) struct Automaton {
    pub nfa: Nfa,
    /// For each step of the automaton that ends one of the graph, that one and where it starts.
    ends: Vec<Vec<Option<(u32, Edge)>>>,
}

impl Automaton {
    pub fn new(graph: &Graph, letters: &Letters, part: Part) -> Self {
        let mut made = Self { nfa: Nfa::default(), ends: Vec::new() };
        let mut numbers: FxHashMap<Place, u32> = FxHashMap::default();
        let mut work: Vec<(Place, u32)> = Vec::new();
        for start in graph.starts() {
            let state = made.place((*start, 0, 0, 0, Row::default()), &mut numbers, &mut work);
            made.nfa.initial.push(state);
        }
        while let Some((place, state)) = work.pop() {
            for edge in graph.edges(place.0) {
                let Some((to, written)) = read(graph, edge, place, letters, part) else { continue };
                let to = made.place(to, &mut numbers, &mut work);
                made.join(state, &written, to, (place.0, *edge));
            }
        }
        made
    }

    fn place(&mut self, place: Place, numbers: &mut FxHashMap<Place, u32>, work: &mut Vec<(Place, u32)>) -> u32 {
        if let Some(known) = numbers.get(&place) {
            return *known;
        }
        let state = self.state();
        numbers.insert(place, state);
        work.push((place, state));
        state
    }

    fn state(&mut self) -> u32 {
        self.nfa.edges.push(Vec::new());
        self.ends.push(Vec::new());
        self.nfa.edges.len() as u32 - 1
    }

    /// Adds a step with these letters.
    fn join(&mut self, from: u32, written: &[Letter], to: u32, step: (u32, Edge)) {
        let mut at = from;
        let (last, before) = match written.split_last() {
            Some((last, before)) => (Some(*last), before),
            None => (None, written),
        };
        for letter in before {
            let next = self.state();
            self.nfa.edges[at as usize].push((Some(*letter), next));
            self.ends[at as usize].push(None);
            at = next;
        }
        self.nfa.edges[at as usize].push((last, to));
        self.ends[at as usize].push(Some(step));
    }

    /// A shortest path of steps of the graph with this history, which the automaton has.
    pub fn path(&self, history: &History, letters: &Letters) -> Vec<(u32, Edge)> {
        let wanted: Vec<Letter> = history.iter().map(|event| letters.number(*event)).collect();
        let events = letters.events().len() as Letter;
        let mut found: Vec<Found> = self.nfa.initial.iter().map(|state| (*state, 0, usize::MAX, None)).collect();
        let mut known: FxHashSet<(u32, usize)> = found.iter().map(|(state, read, ..)| (*state, *read)).collect();
        let mut next = 0;
        // All of the last step has to be taken, so the end has to be a node.
        while !(found[next].1 == wanted.len() && (found[next].3.is_some() || wanted.is_empty())) {
            let (state, read, ..) = found[next];
            for (at, (letter, to)) in self.nfa.edges[state as usize].iter().enumerate() {
                let read = match letter {
                    None => read,
                    Some(letter) if wanted.get(read) == Some(&(letter % events)) => read + 1,
                    Some(_) => continue,
                };
                if known.insert((*to, read)) {
                    found.push((*to, read, next, self.ends[state as usize][at]));
                }
            }
            next += 1;
            assert!(next < found.len(), "the language has the history");
        }
        let mut path = Vec::new();
        while found[next].2 != usize::MAX {
            path.extend(found[next].3);
            next = found[next].2;
        }
        path.reverse();
        path
    }
}

/// Where a step leads, and what it means.
fn read(graph: &Graph, edge: &Edge, place: Place, letters: &Letters, part: Part) -> Option<(Place, Vec<Letter>)> {
    let (_, mut begun, mut fresh, mut loading, mut row) = place;
    let (thread, me) = (edge.thread, 1 << edge.thread);
    if edge.choice {
        fresh |= me;
    }
    let mut written = Vec::new();
    let mut write = |action: Action, fresh: &mut Threads| {
        written.push(letters.marked(Event { thread, action }, *fresh & me != 0));
        *fresh &= !me;
    };
    for deed in graph.deeds(edge) {
        if deed.location.is_some() && !deed.stale && begun & me == 0 {
            begun |= me;
            write(Action::Begin, &mut fresh);
        }
        let idle = match deed.event {
            Some(Action::ReadFinish) => loading & me == 0,
            Some(Action::Commit | Action::Abort) => begun & me == 0,
            _ => false,
        };
        if let Some(action) = deed.event.filter(|_| !idle) {
            if part != Part::All && matches!(action, Action::Abort | Action::Rollback(_)) {
                return None;
            }
            if part == Part::Rows {
                row = row.take(Event { thread, action })?;
            }
            write(action, &mut fresh);
            loading = if matches!(action, Action::Load(_)) { loading | me } else { loading & !me };
            if matches!(action, Action::Commit | Action::Abort) {
                begun &= !me;
            }
        }
    }
    // Only exchanges ask for commands.
    fresh = if part == Part::All { fresh } else { 0 };
    Some(((edge.to, begun, fresh, loading, row), written))
}
