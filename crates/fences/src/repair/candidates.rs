//! Which orders could be added, what each would forbid, and how an order is written.
//!
//! Candidates are all pairs of labels that would make a difference to some client, labels of tests and calls included: one order with such a
//! label may do the work of several. Two candidates that add the same to every client are one: the one whose labels stand for accesses
//! and are close together, within one iteration of a loop rather than across all.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{InstrId, Op, OwnOrder, ThreadId};
use cyrano_rml::algorithm::{self, OrderPair, Orders, Test};

use super::Ask;
use super::clients::{Clients, Pair, Shown};
use crate::orders::Orderable;
use crate::source::before_brace;
use crate::suite::Judgement;

/// What an order adds: for each client the pairs of accesses that it keeps in order beside what is kept anyway.
type Effect = Vec<BTreeSet<Pair>>;

/// Orders to choose from, beside some that are there in any case.
pub struct Choice<'a, A: Ask> {
    clients: &'a Clients<'a, A>,
    fixed: Vec<OrderPair>,
    /// The orders.
    pub candidates: Vec<OrderPair>,
    /// For each candidate how many forbid less.
    rank: Vec<u32>,
}

impl<'a, A: Ask> Choice<'a, A> {
    /// A choice among these.
    pub fn among(clients: &'a Clients<'a, A>, fixed: Vec<OrderPair>, candidates: Vec<OrderPair>) -> Self {
        let effects = effects(clients, &fixed, &candidates);
        Self::new(clients, fixed, candidates.into_iter().zip(effects).collect())
    }

    fn new(clients: &'a Clients<'a, A>, fixed: Vec<OrderPair>, candidates: Vec<(OrderPair, Effect)>) -> Self {
        let (candidates, effects): (Vec<OrderPair>, Vec<Effect>) = candidates.into_iter().unzip();
        let mut sorted: Vec<usize> = (0..candidates.len()).collect();
        sorted.sort_by_key(|number| effects[*number].iter().map(BTreeSet::len).sum::<usize>());
        let mut rank = vec![0; candidates.len()];
        for (place, number) in (0..).zip(sorted) {
            rank[number] = place;
        }
        Self { clients, fixed, candidates, rank }
    }

    /// A choice among all orders that the source could have and that would make a difference.
    pub fn all(
        clients: &'a Clients<'a, A>,
        (name, text): (&str, &str),
        set: &[(String, i128)],
        orders: &Orders,
    ) -> Self {
        let fixed: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
        let place: BTreeMap<&str, usize> =
            orders.labels.iter().enumerate().map(|(at, (label, _))| (label.as_str(), at)).collect();
        let at = |label: &str| place.get(label).copied().unwrap_or(usize::MAX);
        let mut found: Vec<OrderPair> = if clients.mode.is_some() { meetings(clients, orders) } else { Vec::new() };
        let local = |label: &String| !accesses(clients, label);
        found.sort_by_cached_key(|pair| {
            let locals = [&pair.first, &pair.second].into_iter().filter(|label| local(label)).count();
            (locals, at(&pair.first).abs_diff(at(&pair.second)), !pair.each, at(&pair.first))
        });
        let effects = effects(clients, &fixed, &found);
        let mut useful: Vec<(OrderPair, Effect)> = found.into_iter().zip(effects).collect();
        useful.retain(|(_, effect)| effect.iter().any(|pairs| !pairs.is_empty()));
        let pairs: Vec<OrderPair> = useful.iter().map(|(pair, _)| pair.clone()).collect();
        let writable: BTreeSet<OrderPair> = writable((name, text), set, orders, &pairs).into_iter().collect();
        let mut seen: BTreeSet<Effect> = BTreeSet::new();
        useful.retain(|(pair, effect)| writable.contains(pair) && seen.insert(effect.clone()));
        useful.sort_by_key(|(pair, _)| (at(&pair.first), at(&pair.second), pair.each));
        Self::new(clients, fixed, useful)
    }

    /// The fixed orders with these candidates.
    pub fn with(&self, set: &[usize]) -> Vec<OrderPair> {
        let chosen = set.iter().map(|number| &self.candidates[*number]);
        self.fixed.iter().chain(chosen).cloned().collect()
    }
}

impl<A: Ask> Orderable for Choice<'_, A> {
    type Wrong = Shown<A::Trace>;

    fn candidates(&self) -> usize {
        self.candidates.len()
    }

    fn strength(&self, candidate: usize) -> u32 {
        self.rank[candidate]
    }

    fn judge(&self, set: &[usize]) -> Judgement<Shown<A::Trace>> {
        self.clients.judge(&self.with(set))
    }

    fn allows(&self, wrong: &Shown<A::Trace>, set: &[usize]) -> bool {
        self.clients.allows(wrong, &self.with(set))
    }
}

/// What each of these alone adds to the fixed ones.
fn effects<A: Ask>(clients: &Clients<'_, A>, fixed: &[OrderPair], candidates: &[OrderPair]) -> Vec<Effect> {
    let plain: Effect = (0..clients.tests.len()).map(|case| pairs(&clients.order(case, fixed)).collect()).collect();
    let effect = |candidate: &OrderPair| {
        let declared: Vec<OrderPair> = fixed.iter().chain([candidate]).cloned().collect();
        let on = |(case, plain): (usize, &BTreeSet<Pair>)| {
            pairs(&clients.order(case, &declared)).filter(|pair| !plain.contains(pair)).collect()
        };
        plain.iter().enumerate().map(on).collect()
    };
    candidates.iter().map(effect).collect()
}

/// Whether a label stands for an access.
fn accesses<A: Ask>(clients: &Clients<'_, A>, label: &str) -> bool {
    clients.tests.iter().any(|test| {
        let labelled = test.labelled(label);
        let threads = test.program.threads.iter().zip(&labelled);
        threads
            .into_iter()
            .any(|(thread, instrs)| instrs.iter().any(|instr| thread.code[instr.index()].op.access_kind().is_some()))
    })
}

/// The pairs of labels that meet in a call of some client, in the order of the text, of both kinds.
fn meetings<A: Ask>(clients: &Clients<'_, A>, orders: &Orders) -> Vec<OrderPair> {
    let mut met: BTreeSet<(usize, usize)> = BTreeSet::new();
    for test in &clients.tests {
        let extents: Vec<Vec<Extent>> = orders.labels.iter().map(|(label, _)| extents(test, label)).collect();
        for (first, earlier) in extents.iter().enumerate() {
            for (second, later) in extents.iter().enumerate() {
                let meet =
                    |a: &Extent| later.iter().any(|b| (a.thread, a.call) == (b.thread, b.call) && a.start < b.end);
                if earlier.iter().any(meet) {
                    met.insert((first, second));
                }
            }
        }
    }
    let name = |label: usize| orders.labels[label].0.clone();
    let pair = |first, second, each| OrderPair { first: name(first), second: name(second), each };
    met.iter().flat_map(|(first, second)| [false, true].map(|each| pair(*first, *second, each))).collect()
}

/// The first and the last instruction of a call that a label stands for.
struct Extent {
    thread: usize,
    call: usize,
    start: InstrId,
    end: InstrId,
}

fn extents(test: &Test, label: &str) -> Vec<Extent> {
    let mut extents: Vec<Extent> = Vec::new();
    for (thread, instrs) in test.labelled(label).into_iter().enumerate() {
        let begins = |at: usize| matches!(test.program.threads[thread].code[at].op, Op::Invoke { .. });
        for instr in instrs {
            let call = (0..=instr.index()).filter(|at| begins(*at)).count();
            match extents.last_mut().filter(|last| (last.thread, last.call) == (thread, call)) {
                Some(last) => last.end = instr,
                None => extents.push(Extent { thread, call, start: instr, end: instr }),
            }
        }
    }
    extents
}

/// Everything that an order keeps.
fn pairs(order: &OwnOrder) -> impl Iterator<Item = Pair> + '_ {
    let threads = order.before.iter().enumerate();
    threads.flat_map(|(thread, before)| {
        let instrs = before.iter().enumerate();
        instrs.flat_map(move |(second, earlier)| {
            earlier.iter().map(move |first| (ThreadId::new(thread), *first, InstrId::new(second)))
        })
    })
}

/// Those of the candidates that the source may declare. Whether it may is told of each on its own, so halves can be tried apart.
fn writable(
    (name, text): (&str, &str),
    set: &[(String, i128)],
    orders: &Orders,
    candidates: &[OrderPair],
) -> Vec<OrderPair> {
    let changed = insert(text, orders, candidates);
    if candidates.is_empty() || algorithm::tests(name, &changed, set).is_ok() {
        return candidates.to_vec();
    }
    if candidates.len() == 1 {
        return Vec::new();
    }
    let (first, second) = candidates.split_at(candidates.len() / 2);
    [writable((name, text), set, orders, first), writable((name, text), set, orders, second)].concat()
}

/// An order as it is written: `each C03 < C04`.
pub fn written(pair: &OrderPair) -> String {
    let each = if pair.each { "each " } else { "" };
    format!("{each}{} < {}", pair.first, pair.second)
}

/// The source with further orders before the brace that closes the algorithm.
pub fn insert(text: &str, orders: &Orders, more: &[OrderPair]) -> String {
    let statements: Vec<String> = more.iter().map(|pair| format!("order {};", written(pair))).collect();
    before_brace(text, orders.end.start as usize, &statements)
}
