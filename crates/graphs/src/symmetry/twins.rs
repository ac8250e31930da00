//! Which threads are equal: exchanging two of them, with the objects that each has for itself, is an automorphism of the program, and nobody who asks can tell.

use std::collections::BTreeSet;

use cyrano_engine::{Query, Question};
use cyrano_ir::automorphisms::{Exchange, Named, twins};
use cyrano_ir::{AccessKind, Addr, Change, FinalVar, LocId, Op, Program, Property, Thread, ThreadId, Ty, WORD};

use crate::fits::has_units;
use crate::symmetry::moves::Moves;

/// The equal threads of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twins {
    /// For each thread the equal one before it.
    before: Vec<Option<usize>>,
    /// Exchanges of which all others are made.
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) moves: Moves,
    /// Whether writes that two equal threads read from must be in an order of `po | rf` ([`crate::symmetry`]).
    pub(crate) compares: bool,
}

/// Which threads are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sorts {
    /// All that are equal.
    Equal,
    /// Those whose order is known before the search: each begins with a read-modify-write of one location that nobody stores to.
    Begun,
    None,
}

impl Sorts {
    /// What is sorted in a search that begins anew.
    pub(crate) fn fewer(self) -> Self {
        if self == Self::Equal { Self::Begun } else { Self::None }
    }
}

impl Twins {
    /// The equal threads that are sorted, under a model with one order of all accesses or under another one.
    pub(crate) fn new(program: &Program, query: &Query<'_>, sorts: Sorts, ordered: bool) -> Self {
        let mut all = Self { before: vec![None; program.threads.len()], compares: !ordered, ..Self::default() };
        if sorts == Sorts::None || has_units(program) && ordered {
            return Self::default();
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for thread in (0..program.threads.len()).filter(|thread| program.setup != Some(ThreadId::new(*thread))) {
            let exchange = |group: &Vec<usize>| exchange(program, query, sorts, [group[0], thread]);
            let known = groups.iter().enumerate().find_map(|(at, group)| Some((at, exchange(group)?)));
            match known {
                Some((group, exchange)) => {
                    all.before[thread] = groups[group].last().copied();
                    groups[group].push(thread);
                    all.exchanges.push(exchange);
                }
                None => groups.push(vec![thread]),
            }
        }
        if all.exchanges.is_empty() {
            return Self::default();
        }
        all.moves = Moves::new(program, &all.exchanges);
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The equal thread before one.
    #[inline]
    pub(crate) fn before(&self, thread: usize) -> Option<usize> {
        self.before.get(thread).copied().flatten()
    }

    /// All that is observed if this is, with threads exchanged.
    pub(crate) fn close(&self, program: &Program, outcomes: &mut BTreeSet<Vec<i128>>) {
        let mut todo: Vec<Vec<i128>> = outcomes.iter().cloned().collect();
        while let Some(outcome) = todo.pop() {
            let images = self.exchanges.iter().filter_map(|exchange| exchange.image(program, &outcome));
            todo.extend(images.filter(|image| outcomes.insert(image.clone())));
        }
    }
}

/// The exchange of two threads, if nobody who asks can tell.
fn exchange(program: &Program, query: &Query<'_>, sorts: Sorts, [a, b]: [usize; 2]) -> Option<Exchange> {
    let begins = |thread| first_update(program.thread(thread)).is_some_and(|loc| is_only_updated(program, loc));
    let (a, b) = (ThreadId::new(a), ThreadId::new(b));
    let exchange = Exchange::new(program, a, b)?;
    let stays = exchange.moved.is_empty();
    let told = match query.question() {
        Question::Outcomes => program.observed.iter().all(|observable| exchange.is_observed(program, &observable.var)),
        Question::Holds(Property::Observations(allowed)) => exchange.keeps_outcomes(program, allowed),
        Question::Holds(Property::Final { cond, .. }) => {
            let mut names = false;
            cond.for_each_var(&mut |var| names |= matches!(var, FinalVar::Reg(..)));
            stays && !names
        }
        Question::Holds(_) => true,
    };
    let sorted = sorts == Sorts::Equal && (stays || !program.has_headers() && is_private(program, &exchange))
        || stays && begins(a) && begins(b);
    (told && sorted).then_some(exchange)
}

/// Whether each word that moves is named by one thread, and is no pointer to what moves at first.
fn is_private(program: &Program, exchange: &Exchange) -> bool {
    let moves = |word: u32| exchange.moved.binary_search(&word).is_ok();
    let pointed = |value: i128| {
        let word = u32::try_from(value.div_euclid(WORD)).ok().filter(|_| exchange.pointers);
        word.filter(|word| moves(*word))
    };
    // The first word of the object that a word belongs to.
    let object = |word: u32| {
        let gap = |word: &u32| program.locations[*word as usize].ty == Ty::Gap;
        if exchange.pointers { (0..word).rev().find(gap).map_or(0, |gap| gap + 1) } else { word }
    };
    let named = |thread: ThreadId| -> BTreeSet<u32> {
        let thread = program.thread(thread);
        let leaves = thread.code.iter().filter_map(|instr| twins(&instr.op, &instr.op)).flatten();
        let leaves = leaves.filter_map(|(leaf, _)| match leaf {
            Named::Constant(value) => pointed(value),
            Named::Location(loc) => Some(loc.0).filter(|word| moves(*word)),
            Named::Register(_) | Named::Target(_) => None,
        });
        leaves.chain(thread.registers.iter().filter_map(|register| pointed(register.init))).map(object).collect()
    };
    let [a, b] = exchange.threads.map(named);
    a.is_disjoint(&b) && program.locations.iter().all(|location| pointed(location.init).is_none())
}

/// The location of a read-modify-write that a thread does first, whatever it finds.
fn first_update(thread: &Thread) -> Option<LocId> {
    let local = |op: &&Op| !matches!(op, Op::Assign { .. } | Op::OperationBegin(_) | Op::OperationEnd);
    let access = thread.code.iter().map(|instr| &instr.op).find(local)?.access()?;
    let writes = matches!(access.change, Some(Change::Set(_) | Change::Add(_)));
    match access.addr {
        Addr::Fixed(loc) if access.kind == AccessKind::Rmw && writes => Some(loc),
        _ => None,
    }
}

/// Whether nothing but read-modify-writes writes to a location.
fn is_only_updated(program: &Program, loc: LocId) -> bool {
    let mut stores = program.accesses().filter(|access| access.kind == AccessKind::Store);
    !stores.any(|access| program.cells(&access.addr).contains(&loc.index()))
}
