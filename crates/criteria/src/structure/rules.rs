//! The transducers: what each property writes for what it reads, one event at a time.

use crate::criterion::Structure;
use crate::history::{Action, Event, Size};

/// More threads than this a transducer does not know.
pub const MOST_THREADS: usize = 4;

/// What is done to a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
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
    Forget {
        /// This one.
        variable: u8,
        /// Whether only of histories in which all transactions but the last event's have committed, and that event stays.
        settled: bool,
    },
    /// A read of this thread finishes right behind its load.
    Prompt(u8),
    /// Two neighbouring events are exchanged.
    Exchange,
}

/// The transducers that a property consists of.
pub(super) fn rules(property: Structure, Size { threads, vars }: Size) -> Vec<Rule> {
    let renames = |sequential: bool| {
        let pairs = (0..threads).flat_map(move |from| (0..threads).map(move |to| (from, to)));
        pairs.filter(|(from, to)| from != to).map(move |(from, to)| Rule::Rename { from, to, sequential }).collect()
    };
    let forgets = |settled: bool| (0..vars).map(|variable| Rule::Forget { variable, settled }).collect();
    match property {
        Structure::TransactionProjection => vec![Rule::Project { completes: false }],
        Structure::Completion => {
            [Rule::Project { completes: true }].into_iter().chain((0..threads).map(Rule::Prompt)).collect()
        }
        Structure::ThreadSymmetry => renames(false),
        Structure::SequentialRenaming => renames(true),
        Structure::VariableProjection => forgets(false),
        Structure::SettledProjection => forgets(true),
        Structure::ConflictCommutativity => vec![Rule::Exchange],
        _ => Vec::new(),
    }
}

/// What a transducer knows of each thread, and of the history as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Memory {
    threads: [Lane; MOST_THREADS],
    /// One more than the thread whose transaction came last; for rows only.
    last: u8,
    /// What is left of a row: after a step out of the row nothing may follow, after a load only its read-finish.
    tail: Tail,
    /// What has become of the read that finishes early; for that only.
    pub(super) read: Read,
    /// What may be exchanged; for exchanges only.
    commands: Commands,
    /// Whether the history so far is settled; for that only.
    pub(super) settled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Read {
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
pub(super) type Written = ([Option<Event>; 3], Memory);

impl Rule {
    /// Reads an event.
    pub(super) fn read(self, memory: Memory, (event, first): (Event, bool), out: &mut Vec<Written>) {
        match self {
            Self::Project { completes } => project(completes, memory, event, out),
            Self::Rename { from, to, sequential } => out.extend(rename((from, to), sequential, memory, event)),
            Self::Forget { variable, settled } => forget(variable, settled, memory, event, out),
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

fn forget(variable: u8, settled: bool, memory: Memory, event: Event, out: &mut Vec<Written>) {
    let thread = usize::from(event.thread);
    let lane = memory.threads[thread];
    let mut write = |written: Option<Event>, next: Lane| {
        let mut after = memory;
        after.threads[thread] = if is_end(event.action) { Lane::default() } else { next };
        let others_ended = (0..after.threads.len()).all(|other| other == thread || !after.threads[other].open);
        after.settled = settled && others_ended && written.is_some() && event.action != Action::Begin;
        out.push(([written, None, None], after));
    };
    let next = Lane { lost: event.action == Action::Load(variable), open: settled, ..lane };
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
