//! Several workers who teach together: each looks at some of the states with remembered steps of its own, over the same numbers of parts.
//!
//! What is said and what is added to timestamps has numbers that all of them share; so a lesson means the same whoever gives it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cyrano_ir::Property;

use super::taught::{Field, Notebook, Pupil, Renamings, Teacher, Told, Untold};
use super::{Halt, Hearing, InMemory, Increments, Learnt, Remembering, nothing};
use crate::criteria::judge::Judge;
use crate::encoding::dictionary::Dictionary;
use crate::search::space::{Summary, Wrong, summary};
use crate::semantics::machine::Machine;
use crate::semantics::step::Notes;

/// With more workers than this, too much is computed more than once.
const MOST_WORKERS: usize = 16;
/// How many states a worker should have to be worth waking.
const WORTH: usize = 64;
/// How many states a worker takes at a time.
const SPAN: usize = 16;

/// Who teaches states of `W` words.
pub(crate) struct Class<'d, 'm, 'a, const W: usize> {
    /// The first one goes on from layout to layout.
    workers: Vec<Remembering<'d, 'm, 'a, InMemory, W>>,
    property: Option<&'a Property>,
    most: usize,
    /// What others found out before.
    before: Summary,
}

/// What goes on from layout to layout.
pub(crate) struct Left<'m, 'a> {
    /// What the first worker has found out, and learnt unless that is too much.
    findings: (Judge<'m, 'a>, Notes),
    learnt: Option<Learnt>,
    /// The numbers of what is told.
    hearing: Hearing,
    increments: Increments,
    /// What the others have found out.
    before: Summary,
}

impl<'m, 'a> Left<'m, 'a> {
    /// Nothing yet.
    pub fn new(m: &'m Machine<'m>, property: Option<&'a Property>) -> Self {
        let (hearing, increments) = Default::default();
        Self { findings: nothing(m, property), learnt: None, hearing, increments, before: Summary::default() }
    }
}

/// How far a worker came: what it has to tell, and how it ended.
type Part<const W: usize> = (Vec<Told<W>>, Result<Option<(usize, Wrong)>, Halt>);

impl<'d, 'm, 'a, const W: usize> Class<'d, 'm, 'a, W> {
    /// One worker, until there is enough to do for others.
    pub fn new(
        m: &'m Machine<'m>,
        dictionary: &'d Dictionary,
        property: Option<&'a Property>,
        left: Left<'m, 'a>,
    ) -> Self {
        let Left { findings, learnt, hearing, increments, before } = left;
        let mut first = Remembering::new(m, dictionary, findings);
        (first.hearing, first.increments, first.journal) = (hearing, increments, Some(Vec::new()));
        learnt.into_iter().for_each(|learnt| first.take_up(learnt));
        let most = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS);
        Self { workers: vec![first], property, most, before }
    }

    /// What is left when states get another layout.
    pub fn leave(mut self) -> Left<'m, 'a> {
        let mut before = self.before;
        self.workers[1..].iter().for_each(|other| before.absorb(found(other)));
        let mut first = self.workers.swap_remove(0);
        let (hearing, increments) = (first.hearing.alike(), first.increments.alike());
        let learnt = first.leave();
        Left { findings: first.into_findings(), learnt, hearing, increments, before }
    }

    /// Another worker, who knows nothing.
    fn join(&mut self) {
        let first = &self.workers[0];
        let mut new = Remembering::new(first.m, first.dictionary, nothing(first.m, self.property));
        (new.hearing, new.increments, new.journal) =
            (first.hearing.alike(), first.increments.alike(), Some(Vec::new()));
        self.workers.push(new);
    }
}

fn found<const W: usize>(worker: &Remembering<'_, '_, '_, InMemory, W>) -> Summary {
    summary(&worker.judge, worker.stepper.notes)
}

/// Takes states as long as there are some and nobody has to stop.
fn work<const W: usize>(
    worker: &mut Remembering<'_, '_, '_, InMemory, W>,
    states: &[u64],
    pupil: &dyn Pupil,
    (next, stop): (&AtomicUsize, &AtomicBool),
) -> Part<W> {
    let (mut notes, mut end) = (Notebook::new(pupil), Ok(None));
    let count = states.len() / W;
    while !stop.load(Ordering::Relaxed) {
        let first = next.fetch_add(SPAN, Ordering::Relaxed);
        if first >= count {
            break;
        }
        for at in first..(first + SPAN).min(count) {
            let words: [u64; W] = std::array::from_fn(|word| states[at * W + word]);
            end = worker.lecture(&words, &mut notes).map(|wrong| wrong.map(|wrong| (at, wrong)));
            if !matches!(end, Ok(None)) {
                stop.store(true, Ordering::Relaxed);
                return (notes.told, end);
            }
        }
    }
    (notes.told, end)
}

impl<const W: usize> Teacher for Class<'_, '_, '_, W> {
    fn words(&self) -> usize {
        W
    }

    fn fields(&self) -> Vec<Field> {
        self.workers[0].parts.iter().map(|part| Field::from(*part)).collect()
    }

    fn threads(&self) -> Range<usize> {
        let first = self.workers[0].m.shared_parts();
        first..first + self.workers[0].threads.len()
    }

    fn alike(&self) -> &[Vec<usize>] {
        &self.workers[0].m.symmetric_threads
    }

    fn history(&self) -> Vec<u64> {
        self.workers[0].history.to_vec()
    }

    fn forms(&self) -> Option<Renamings> {
        let first = &self.workers[0];
        let has = first.m.has_criterion();
        first.forms.as_ref().map(|forms| forms.renamings(has.then(|| first.parts.len() - 1)))
    }

    fn judged(&self) -> Option<Vec<u64>> {
        let first = &self.workers[0];
        first.m.named.is_some().then(|| first.seen.to_vec())
    }

    fn looks_at_ends(&self) -> bool {
        self.workers[0].judge.looks_at_ends()
    }

    fn initial(&mut self, visit: &mut dyn FnMut(&[u64])) -> Result<Option<Wrong>, Untold> {
        let first = &mut self.workers[0];
        let visited = first.initial(|state| visit(&state));
        let hit = first.judge.hit.take();
        visited?;
        Ok(hit.map(|hit| if hit.in_step { Wrong::InStep } else { Wrong::Here }))
    }

    fn teach(&mut self, states: &[u64], pupil: &mut dyn Pupil) -> Result<Option<(usize, Wrong)>, Untold> {
        let wanted = (states.len() / W / WORTH).clamp(1, self.most);
        while self.workers.len() < wanted {
            self.join();
        }
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (known, turns): (&dyn Pupil, _) = (&*pupil, (&next, &stop));
        let (first, others) = self.workers[..wanted].split_first_mut().expect("there is a first one");
        let parts: Vec<Part<W>> = std::thread::scope(|scope| {
            let others = others.iter_mut().map(|worker| scope.spawn(move || work(worker, states, known, turns)));
            let others: Vec<_> = others.collect();
            let mut parts = vec![work(first, states, known, turns)];
            let joined = others.into_iter().map(|other| other.join());
            parts.extend(joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
            parts
        });
        let (mut wrong, mut halt) = (None, None);
        for (told, end) in parts {
            Notebook::read_to(told, pupil);
            match end {
                Ok(Some(found)) if wrong.is_none_or(|(at, _)| found.0 < at) => wrong = Some(found),
                Ok(_) => {}
                Err(why) => halt = Some(why),
            }
        }
        match (wrong, halt) {
            (None, Some(halt)) => Err(halt.into()),
            (wrong, _) => Ok(wrong),
        }
    }

    fn plain(&self, state: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let whole = self.workers[0].dictionary.unpack(state, &mut bytes);
        debug_assert!(whole.is_some(), "a packed state has numbers of this dictionary");
        self.workers[0].m.canonical(bytes)
    }

    fn summary(&self) -> Summary {
        let mut all = self.before.clone();
        self.workers.iter().for_each(|worker| all.absorb(found(worker)));
        all
    }

    fn bytes(&self) -> u64 {
        let of_workers = self.workers.iter().map(|worker| worker.bytes() + worker.place_bytes());
        of_workers.sum::<u64>() + self.workers[0].dictionary.bytes()
    }
}
