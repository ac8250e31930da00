//! Linearizability: whether some serial execution shows what an execution shows, with its calls in an order that the execution leaves open.
//!
//! Whoever uses a data type may pass messages behind its back: once one call has returned, another thread may be told, and begin another call then. Let `R` be
//! a set of pairs of calls, each of which has returned before the other one begins, as a store with release behind the one and a load with acquire before the
//! other one make it. An execution is linearizable if for every `R` that it is still an execution with, what it shows is shown by a serial
//! execution whose order of calls contains `R`. A data type is, if all executions of its clients are.
//!
//! Under `sc` this is linearizability as Herlihy and Wing have it: calls that do not overlap in some interleaving of a graph are in some `R` that the graph allows, and
//! an `R` that it allows is in the order of some interleaving. Under models about relations it is what a client sees that orders calls by happens-before, as in
//! Golovin, Kokologiannakis, Vafeiadis: "RELINCHE: automatically checking linearizability under relaxed memory consistency" (POPL 2025).
//!
//! **All clients at once.** An execution of a client whose threads make several calls each is one of the client in which every call has a thread of its own, with an `R` that
//! contains program order: to be in one thread orders more than a message does, in every relation of the models here. So if every client of so many calls with one call each
//! is linearizable, all clients of these calls are, with and without calls before the threads start.
//!
//! **The search.** What an execution shows is shown by serial executions with some orders of calls. A wrong `R` contains, for each of them, a pair that this order has the other way round.
//! So `R` grows by such pairs, one after the other, and a pair that was tried is not tried again below ([`Hunt::hunt`]). If no order is left `R` is wrong.
//! What an execution allows with `R` it allows with less, so nothing is lost where `R` is not allowed.
//!
//! **Names.** An execution with names for values that nobody looks at ([`crate::names`]) stands for all that come of giving these values, and so does a serial execution. If for each
//! `R` there is a serial execution that shows the same names, it shows the same values however these are given: then nothing more is asked. Else values are tried, as a serial
//! execution with other names may show the same values (that of a stack that returns what somebody else has pushed, too).
//!
//! **With more pairs.** The relations of a model that pairs add to are closed again ([`Consistency::order`]): the events of the first call and all before them come before those
//! of the second call and all behind them. Under `sc` and `tso` that has no cycle or the graph is none; under `ra` and `rc11` nobody may see a location go backwards in happens-before, and `po | rf` has no cycle.
//! The store and the load are not events here: nobody else knows of their locations. That is exact where no order of sequentially consistent accesses is asked for, whose paths
//! lead by way of other locations; programs with such accesses are refused, and `pso`, under which a store behind a call says nothing of the stores in it.

mod serial;

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, LocId, Op, Program};

use crate::consistency::Consistency;
use crate::graph::Graph;
use crate::names::{each_way, is_name, values};
use crate::rows::{INITIAL, Row};
use crate::run::Run;

/// The most calls of a client.
const MOST_CALLS: usize = 16;

/// A set of calls.
type Set = u16;

/// For what is shown the orders of calls, and in each of these for each call the others that come before it.
type Orders = BTreeMap<Vec<i128>, Vec<Vec<Set>>>;

/// The serial executions of a client: what they show, and in which orders of calls.
#[derive(Clone, Debug, Default)]
pub struct SerialOrders {
    calls: usize,
    orders: Orders,
    /// The same with names for values that nobody looks at, if there are some.
    named: Orders,
    /// The values that these names may have; those of a reference are choices of another program.
    values: BTreeMap<i128, Box<[i128]>>,
}

impl PartialEq for SerialOrders {
    fn eq(&self, other: &Self) -> bool {
        (self.calls, &self.orders) == (other.calls, &other.orders)
    }
}

impl SerialOrders {
    /// The orders of a client of so many calls, from what is observed of it where each call takes a number when it begins: the numbers stand at the end.
    pub fn new(numbered: &BTreeSet<Vec<i128>>, calls: usize) -> Option<Self> {
        let orders = ordered(numbered, calls)?;
        (calls <= MOST_CALLS).then_some(Self { calls, orders, named: Orders::new(), values: BTreeMap::new() })
    }

    /// The same, where what is observed has names in it.
    fn with_names(program: &Program, numbered: &BTreeSet<Vec<i128>>, calls: usize) -> Option<Self> {
        let named = ordered(numbered, calls)?;
        let mut given = BTreeSet::new();
        for outcome in numbered {
            let give = |outcome: &[i128], _: &dyn Fn(i128) -> i128| {
                given.insert(outcome.to_vec());
                false
            };
            each_way(program, outcome, give).ok()?;
        }
        let names = numbered.iter().flatten().copied().filter(|value| is_name(*value));
        let values = names.map(|name| (name, values(program, name).into())).collect();
        Some(Self { named, values, ..Self::new(&given, calls)? })
    }

    /// The orders of a client, from its serial executions; none if these are not known.
    pub fn of(program: &Program) -> Option<Self> {
        serial::orders(program)
    }

    /// Whether these are its calls.
    pub(crate) fn fits(&self, calls: &Calls) -> bool {
        self.calls == calls.0.len()
    }

    /// What serial executions show.
    pub fn observations(&self) -> BTreeSet<Vec<i128>> {
        self.orders.keys().cloned().collect()
    }

    /// How many pairs of an observation and an order of calls there are.
    pub fn len(&self) -> usize {
        self.orders.values().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }
}

/// The orders of calls in which something is observed, with the places of the calls behind it.
fn ordered(numbered: &BTreeSet<Vec<i128>>, calls: usize) -> Option<Orders> {
    let mut orders = Orders::new();
    for outcome in numbered {
        let (shown, numbers) = outcome.split_at(outcome.len().checked_sub(calls)?);
        let earlier = |call: usize| (0..calls).filter(move |other| numbers[*other] < numbers[call]);
        let before = (0..calls).map(|call| earlier(call).fold(0, |set, other| set | 1 << other)).collect();
        orders.entry(shown.to_vec()).or_default().push(before);
    }
    Some(orders)
}

/// A call of a client.
#[derive(Clone, Copy, Debug)]
struct Call {
    thread: usize,
    /// Where it begins, and where the next one of its thread does.
    begin: InstrId,
    next: InstrId,
}

/// The calls of a client, thread by thread.
#[derive(Clone, Debug)]
pub(crate) struct Calls(Vec<Call>);

impl Calls {
    /// The calls of a program, if each is a piece of code of its own.
    pub(crate) fn new(program: &Program) -> Option<Self> {
        let mut calls = Vec::new();
        for thread in program.thread_ids().filter(|thread| program.setup != Some(*thread)) {
            let code = &program.thread(thread).code;
            let is_begin = |at: &usize| matches!(code[*at].op, Op::OperationBegin(_));
            let begins: Vec<usize> = (0..code.len()).filter(is_begin).collect();
            let of = |at: usize| begins.partition_point(|begin| *begin <= at);
            for (at, instr) in code.iter().enumerate() {
                let stays = |to: InstrId| {
                    of(to.index()) == of(at) || of(to.index()) == of(at) + 1 && begins.contains(&to.index())
                };
                if !successors(&instr.op, InstrId::new(at)).all(stays) {
                    return None;
                }
            }
            let ends = begins.iter().skip(1).copied().chain([code.len()]);
            calls.extend(begins.iter().zip(ends).map(|(begin, next)| Call {
                thread: thread.index(),
                begin: InstrId::new(*begin),
                next: InstrId::new(next),
            }));
        }
        Some(Self(calls))
    }
}

impl Calls {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The next call of a thread, where some calls have a place already, and where the one after it begins.
    pub(crate) fn next(&self, thread: usize, places: &[i128]) -> Option<(usize, InstrId)> {
        let next = (0..self.0.len()).find(|call| self.0[*call].thread == thread && places[*call] < 0)?;
        Some((next, self.0[next].next))
    }
}

/// What comes before each event, in each of some relations.
pub(crate) type Order<const W: usize> = Vec<Vec<Row<W>>>;

/// An execution, and the search for an order of its calls that is wrong.
pub(crate) struct Hunt<'a, 'p, M, const W: usize> {
    graph: &'a Graph<'p, W>,
    model: &'a M,
    calls: &'a [Call],
    placed: Placed<W>,
    /// Pairs of calls that the execution does not allow, or that have been tried: for each call those that it may not come before.
    closed: Vec<Set>,
}

/// The calls before each call, and the events before each event.
#[derive(Clone)]
struct Placed<const W: usize> {
    before: Vec<Set>,
    order: Order<W>,
    /// The pairs that were added one by one.
    pairs: Vec<(usize, usize)>,
}

impl<'a, 'p, M: Consistency<W>, const W: usize> Hunt<'a, 'p, M, W> {
    /// Finds out which pairs an execution does not allow.
    pub(crate) fn new(graph: &'a Graph<'p, W>, model: &'a M, calls: &'a Calls) -> Self {
        let calls = &calls.0[..];
        let earlier = |call: usize| (0..call).filter(move |other| calls[*other].thread == calls[call].thread);
        let before = (0..calls.len()).map(|call| earlier(call).fold(0, |set, other| set | 1 << other)).collect();
        let placed = Placed { before, order: model.order(graph), pairs: Vec::new() };
        let mut hunt = Self { graph, model, calls, closed: vec![0; calls.len()], placed };
        for (one, other) in pairs(calls.len()) {
            if hunt.add(&hunt.placed, one, other).is_none() {
                hunt.closed[one] |= 1 << other;
            }
        }
        hunt
    }

    /// An order of calls that the execution allows and no serial execution that shows the same has.
    pub(crate) fn wrong(&mut self, serial: &SerialOrders, shown: &[i128]) -> Option<Vec<(usize, usize)>> {
        let orders = serial.orders.get(shown).map(Vec::as_slice).unwrap_or_default();
        let live: Vec<&[Set]> = orders.iter().map(Vec::as_slice).collect();
        let placed = self.placed.clone();
        self.hunt(&placed, &live)
    }

    /// Whether what an execution shows with names in it is shown by serial executions with these names, in every order of calls that it allows: then it is so whatever
    /// values the names have.
    pub(crate) fn is_right_by_name(&mut self, serial: &SerialOrders, shown: &[i128]) -> bool {
        let Some(orders) = serial.named.get(shown) else { return false };
        let is_same =
            |name: &i128| serial.values.get(name).is_some_and(|all| **all == *values(self.graph.program(), *name));
        if !shown.iter().filter(|value| is_name(**value)).all(is_same) {
            return false;
        }
        let live: Vec<&[Set]> = orders.iter().map(Vec::as_slice).collect();
        let (placed, closed) = (self.placed.clone(), self.closed.clone());
        let wrong = self.hunt(&placed, &live);
        self.closed = closed;
        wrong.is_none()
    }

    /// Adds pairs until none of these orders is left.
    fn hunt(&mut self, placed: &Placed<W>, orders: &[&[Set]]) -> Option<Vec<(usize, usize)>> {
        let agrees = |order: &&&[Set]| placed.before.iter().zip(order.iter()).all(|(before, all)| before & !all == 0);
        let live: Vec<&[Set]> = orders.iter().filter(agrees).copied().collect();
        // The order that has the fewest pairs the other way round that may still be added.
        let mut fewest: Option<(u32, &[Set])> = None;
        for order in live.iter().copied() {
            let against = order.iter().zip(&self.closed).map(|(order, closed)| (order & !closed).count_ones()).sum();
            if fewest.is_none_or(|(least, _)| against < least) {
                fewest = Some((against, order));
            }
            if against == 0 {
                return None;
            }
        }
        let Some((_, order)) = fewest else { return Some(placed.pairs.clone()) };
        let open = |(one, other): &(usize, usize)| (order[*one] & !self.closed[*one]) >> other & 1 != 0;
        let against: Vec<(usize, usize)> = pairs(self.calls.len()).filter(open).collect();
        let closed = self.closed.clone();
        for (one, other) in against {
            let found = self.add(placed, one, other).and_then(|placed| self.hunt(&placed, &live));
            if found.is_some() {
                return found;
            }
            self.closed[one] |= 1 << other;
        }
        self.closed = closed;
        None
    }

    /// Lets one call return before another one begins, if the execution allows it.
    fn add(&self, placed: &Placed<W>, one: usize, other: usize) -> Option<Placed<W>> {
        let mut placed = placed.clone();
        placed.pairs.push((one, other));
        let earlier = placed.before[one] | 1 << one;
        for later in 0..self.calls.len() {
            if later != other && placed.before[later] >> other & 1 == 0 {
                continue;
            }
            let new = earlier & !placed.before[later];
            let firsts = || (0..self.calls.len()).filter(|first| new >> first & 1 != 0);
            if new >> later & 1 != 0 || firsts().any(|first| self.closed[first] >> later & 1 != 0) {
                return None;
            }
            placed.before[later] |= new;
            for first in firsts() {
                placed.order.iter_mut().for_each(|rows| self.put(rows, self.calls[first], self.calls[later]));
            }
        }
        self.model.agrees(self.graph, &placed.order).then_some(placed)
    }

    /// Puts what one call does, and all before it, before what another one does, and all behind it.
    fn put(&self, rows: &mut [Row<W>], one: Call, other: Call) {
        let events = |thread: usize, stands: &dyn Fn(InstrId) -> bool| {
            let runner = &self.graph.runners[thread];
            let at = (0..runner.events.len()).filter(|at| stands(runner.instr_at(*at)));
            at.map(|at| runner.events[at]).collect::<Vec<_>>()
        };
        let mut before = Row::EMPTY;
        for id in events(one.thread, &|at| at < one.next) {
            before |= rows[usize::from(id)] | Row::one(id);
        }
        let behind = events(other.thread, &|at| at >= other.begin);
        let behind = behind.into_iter().fold(Row::EMPTY, |row, id| row | Row::one(id));
        for id in self.graph.alive.iter() {
            if behind.contains(id) || rows[usize::from(id)].meets(&behind) {
                rows[usize::from(id)] |= before;
            }
        }
    }
}

/// All pairs of two of so many calls.
fn pairs(calls: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..calls).flat_map(move |one| (0..calls).map(move |other| (one, other))).filter(|(one, other)| one != other)
}

/// Whether nothing comes before itself.
pub(crate) fn is_acyclic<const W: usize, R: Run>(graph: &Graph<'_, W, R>, rows: &[Row<W>]) -> bool {
    graph.alive.iter().all(|id| !rows[usize::from(id)].contains(id))
}

/// Whether nobody sees a location go backwards in happens-before.
pub(crate) fn is_coherent<const W: usize, R: Run>(graph: &Graph<'_, W, R>, before: &[Row<W>]) -> bool {
    let mut done = vec![false; graph.program().locations.len()];
    for id in graph.order.iter() {
        let event = graph.event(*id);
        let Some(loc) = event.loc.filter(|_| event.is_access()) else { continue };
        if !std::mem::replace(&mut done[loc.index()], true) && !is_coherent_at(graph, before, loc) {
            return false;
        }
    }
    true
}

fn is_coherent_at<const W: usize, R: Run>(graph: &Graph<'_, W, R>, before: &[Row<W>], loc: LocId) -> bool {
    // From the last write back: what comes later than a write or its readers happens before none of them.
    let mut later = Row::<W>::EMPTY;
    let mut write = graph.last(loc);
    loop {
        let readers = *graph.readers(write, loc);
        if readers.iter().any(|read| before[usize::from(read)].meets(&later)) {
            return false;
        }
        later |= readers;
        if write == INITIAL {
            return true;
        }
        if before[usize::from(write)].meets(&later) {
            return false;
        }
        later.insert(write);
        write = graph.event(write).previous;
    }
}
