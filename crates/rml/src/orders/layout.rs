//! The orders `declared` and `literal`: which accesses of a call stay in the order of the text (Samand, section 4).
//!
//! For each instruction of one inlined call the earlier ones that it follows if they are executed. Only what holds whatever the values
//! are is listed; what registers are computed from, which key of a map that is, and which accesses are of one object, is for the
//! execution to say (axiom 9 of `cyrano_memory`). So it makes no difference whether an index or a key is a constant: a client means
//! the same whether it stands in the source, in whatever spelling, or is one of all clients of a size.
//!
//! The paper's program order is the transitive closure over labels, and is then applied to what is executed. So an order passes through
//! statements that are not executed, as far as it comes from the text: the accesses that come before an instruction in this sense are
//! listed, too. It does not pass through iterations of loops that are not executed, for how far loops are unrolled depends on what is
//! known about the client. The accesses of one atomic section stand for each of its instructions.
//!
//! | edge | `declared` | `literal` |
//! |---|---|---|
//! | a condition or loop, and what stands inside | yes | yes |
//! | a condition that can lead to an earlier `return`, and what follows in that method | yes | no |
//! | a register's value, and its use (by axiom 9) | yes | yes |
//! | a local set or map: one use after another | yes | only a use after what it depends on, key by key |
//! | a lock, and what follows; what precedes, and an unlock | yes | yes |
//! | two accesses of one base object (by axiom 1) | yes | no |
//! | declared orders | yes | yes |
//!
//! Order synthesis needs something that can be told before a program runs: [`Layout::kept`] has the pairs of accesses that are in order
//! if everything on the way between them is executed; objects are one if their indices are the same constant.

use std::collections::HashMap;
use std::ops::Range;

use cyrano_ir::dataflow::{Write, reads, successors, writes};
use cyrano_ir::{InstrId, Op, OwnOrder, Program, RegId, Thread};

use crate::lower::build::{Context, Lock, Mark, Touch};

/// An order between labels.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OrderPair {
    /// What this label stands for
    pub first: String,
    /// stays before what this one stands for,
    pub second: String,
    /// in every iteration of the loops around both, if true; else wherever the second follows the first within a call.
    pub each: bool,
}

/// The two modes that the program itself has an order for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Control, early returns included, data, locks, accesses of one object, declared orders.
    Declared,
    /// Enclosing conditions, data, locks, declared orders.
    Literal,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Declared, Self::Literal];

    /// The model's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Literal => "literal",
        }
    }
}

/// What the orders need to know about a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Per thread and instruction.
    pub(crate) marks: Vec<Vec<Mark>>,
    /// Per thread and register: the set or map that it belongs to.
    pub(crate) owners: Vec<Vec<Option<u32>>>,
    pub(crate) labels: Vec<String>,
}

/// A declared order by the numbers of its labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) each: bool,
}

impl Layout {
    /// The orders by the numbers of their labels; those between unknown labels are left out.
    pub(crate) fn resolve(&self, pairs: &[OrderPair]) -> Vec<Declared> {
        let number = |label: &str| u32::try_from(self.labels.iter().position(|known| known == label)?).ok();
        let known = |pair: &OrderPair| {
            Some(Declared { first: number(&pair.first)?, second: number(&pair.second)?, each: pair.each })
        };
        pairs.iter().filter_map(known).collect()
    }

    /// The program's orders with these declared ones.
    pub(crate) fn orders(&self, program: &Program, pairs: &[OrderPair]) -> Vec<OwnOrder> {
        let declared = self.resolve(pairs);
        Mode::ALL.into_iter().map(|mode| self.order(program, mode, &declared)).collect()
    }

    /// The program's order in a mode.
    pub(crate) fn order(&self, program: &Program, mode: Mode, declared: &[Declared]) -> OwnOrder {
        self.each_call(program, mode, declared, |call, before| call.list(before))
    }

    /// The pairs of accesses that stay in order in a mode, if what stands between them is executed.
    pub(crate) fn kept(&self, program: &Program, mode: Mode, declared: &[Declared]) -> OwnOrder {
        self.each_call(program, mode, declared, |call, before| call.close(before))
    }

    fn each_call(
        &self,
        program: &Program,
        mode: Mode,
        declared: &[Declared],
        make: impl Fn(&Call<'_>, &mut [Vec<InstrId>]),
    ) -> OwnOrder {
        let before = program.threads.iter().zip(&self.marks).zip(&self.owners).map(|((thread, marks), owners)| {
            let mut before = vec![Vec::new(); thread.code.len()];
            for call in calls(marks) {
                make(&Call { thread, marks, owners, call, mode, declared }, &mut before);
            }
            before
        });
        OwnOrder { model: mode.name().to_owned(), before: before.collect() }
    }

    /// Whether an order ever applies: to a pair in the order of the text, and to one against it.
    pub(crate) fn applies(&self, order: Declared) -> (bool, bool) {
        let (mut forward, mut backward) = (false, false);
        for marks in &self.marks {
            for call in calls(marks) {
                let of = |label: u32| call.clone().filter(move |at| marks[*at].context.labels.contains(&label));
                for first in of(order.first) {
                    for second in of(order.second) {
                        if paired(order.each, &marks[first].context, &marks[second].context) {
                            forward |= first < second;
                            backward |= second < first;
                        }
                    }
                }
            }
        }
        (forward, backward)
    }
}

/// The instructions of each call.
pub(crate) fn calls(marks: &[Mark]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, mark) in marks.iter().enumerate() {
        let call = mark.context.call;
        match ranges.last_mut() {
            Some(range) if call.is_some() && call == last => range.end = at + 1,
            _ if call.is_some() => ranges.push(at..at + 1),
            _ => {}
        }
        last = call;
    }
    ranges
}

/// Whether `order each` pairs two places: they share a loop, and every loop that they share is in one iteration.
pub(crate) fn paired(each: bool, first: &Context, second: &Context) -> bool {
    if !each {
        return true;
    }
    let common = first.loops.iter().zip(&second.loops).take_while(|(a, b)| a == b).count();
    let next = (first.loops.get(common), second.loops.get(common));
    let apart = matches!(next, (Some((a, _)), Some((b, _))) if a == b);
    common > 0 && !apart
}

/// One call of one thread.
struct Call<'p> {
    thread: &'p Thread,
    marks: &'p [Mark],
    owners: &'p [Option<u32>],
    call: Range<usize>,
    mode: Mode,
    declared: &'p [Declared],
}

impl Call<'_> {
    /// Lists what each instruction follows.
    fn list(&self, before: &mut [Vec<InstrId>]) {
        let start = self.call.start;
        let direct = self.edges(vec![Vec::new(); self.call.len()]);
        let reach = self.closure(&self.edges(self.data(true)), true);
        for (offset, from) in direct.into_iter().enumerate() {
            let mut listed: Vec<usize> = from.into_iter().flat_map(|from| self.standing_for(from)).collect();
            let passed = self.call.clone().filter(|from| self.is_access(*from));
            listed.extend(passed.filter(|from| has(&reach[offset], from - start)));
            listed.retain(|from| *from < start + offset);
            listed.sort_unstable();
            listed.dedup();
            before[start + offset] = listed.into_iter().map(InstrId::new).collect();
        }
    }

    /// The accesses of the section that an instruction belongs to, or itself.
    fn standing_for(&self, at: usize) -> Vec<usize> {
        let group = self.marks[at].group as usize;
        let section = matches!(self.thread.code[group].op, Op::AtomicBegin);
        if !section || self.is_access(at) {
            return vec![at];
        }
        let members = (group..self.call.end).take_while(|at| self.marks[*at].group as usize == group);
        members.filter(|at| self.is_access(*at)).collect()
    }

    /// Adds the closure to what precedes each access.
    fn close(&self, before: &mut [Vec<InstrId>]) {
        let start = self.call.start;
        let mut edges = self.edges(self.data(false));
        self.add_touches(&mut edges);
        let reach = self.closure(&edges, false);
        for at in self.call.clone().filter(|at| self.is_access(*at)) {
            let group = self.marks[at].group;
            let precedes =
                |earlier: &usize| self.marks[*earlier].group == group || has(&reach[at - start], earlier - start);
            let earlier = (start..at).filter(|earlier| self.is_access(*earlier));
            before[at] = earlier.filter(precedes).map(InstrId::new).collect();
        }
    }

    /// For each instruction those that precede it by these edges and those of instructions between; if `executed`, not through
    /// iterations of loops that neither the first nor the last one is in.
    fn closure(&self, edges: &[Vec<usize>], executed: bool) -> Vec<Vec<u64>> {
        let start = self.call.start;
        let words = self.call.len().div_ceil(64);
        let mut reach: Vec<Vec<u64>> = vec![vec![0; words]; self.call.len()];
        let mut first = start;
        while first < self.call.end {
            let group = self.marks[first].group;
            let mut last = first;
            while last + 1 < self.call.end && self.marks[last + 1].group == group {
                last += 1;
            }
            let mut all = vec![0u64; words];
            let mut from: Vec<usize> = (first..=last).flat_map(|at| &edges[at - start]).copied().collect();
            from.retain(|from| *from < first);
            from.sort_unstable();
            from.dedup();
            for from in from {
                // Whoever precedes one of a section precedes all of it.
                let whole = self.marks[from].group as usize;
                for member in (whole.max(start)..first).take_while(|at| self.marks[*at].group as usize == whole) {
                    all[(member - start) / 64] |= 1 << ((member - start) % 64);
                }
                let passing = if executed { self.passing(from, first) } else { None };
                for (at, word) in reach[from - start].iter().enumerate() {
                    all[at] |= word & passing.as_ref().map_or(u64::MAX, |mask| mask[at]);
                }
            }
            for at in first..=last {
                reach[at - start].clone_from(&all);
            }
            first = last + 1;
        }
        reach
    }

    /// The instructions from which an order may pass through one to another: those in all iterations of loops that the one is in and
    /// the other is not. None if that is all of them.
    fn passing(&self, through: usize, to: usize) -> Option<Vec<u64>> {
        let (through, to) = (&self.marks[through].context.loops, &self.marks[to].context.loops);
        let alone: Vec<_> = through.iter().filter(|round| !to.contains(round)).collect();
        if alone.is_empty() {
            return None;
        }
        let mut mask = vec![0u64; self.call.len().div_ceil(64)];
        for (offset, mark) in self.marks[self.call.clone()].iter().enumerate() {
            if alone.iter().all(|round| mark.context.loops.contains(round)) {
                mask[offset / 64] |= 1 << (offset % 64);
            }
        }
        Some(mask)
    }

    fn is_access(&self, at: usize) -> bool {
        self.thread.code[at].op.access_kind().is_some()
    }

    /// For each instruction earlier ones that it follows if they are executed, besides those given.
    fn edges(&self, mut edges: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut uses: HashMap<u32, Vec<usize>> = HashMap::new();
        let (mut accesses, mut acquired): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for at in self.call.clone() {
            let mark = &self.marks[at];
            let to = &mut edges[at - self.call.start];
            // The innermost condition follows those around it.
            let explicit = mark.context.guards.last().into_iter().chain(&mark.after);
            to.extend(explicit.map(|from| *from as usize));
            to.extend(&acquired);
            if mark.lock == Some(Lock::Release) {
                // Whatever else precedes it follows some of these, if anything.
                to.extend(&accesses);
            }
            if self.mode == Mode::Declared {
                to.extend(mark.context.early.iter().map(|from| *from as usize));
                for set in self.sets_used(at) {
                    let earlier = uses.entry(set).or_default();
                    to.extend(earlier.iter());
                    earlier.push(at);
                }
            }
            if self.is_access(at) {
                accesses.push(at);
                acquired.extend((mark.lock == Some(Lock::Acquire)).then_some(at));
            }
            self.add_declared(at, to);
        }
        for (offset, to) in edges.iter_mut().enumerate() {
            to.retain(|from| (self.call.start..self.call.start + offset).contains(from));
        }
        edges
    }

    /// Adds the pairs of accesses that are of one object in any case.
    fn add_touches(&self, edges: &mut [Vec<usize>]) {
        if self.mode == Mode::Literal {
            return;
        }
        let mut touched: Vec<(usize, Touch)> = Vec::new();
        for at in self.call.clone().filter(|at| self.is_access(*at)) {
            if let Some(touch) = self.marks[at].touch {
                let same = touched.iter().filter(|(_, other)| are_same(other, &touch)).map(|(from, _)| *from);
                edges[at - self.call.start].extend(same);
                touched.push((at, touch));
            }
        }
    }

    fn add_declared(&self, at: usize, to: &mut Vec<usize>) {
        let context = &self.marks[at].context;
        for order in self.declared.iter().filter(|order| context.labels.contains(&order.second)) {
            let earlier = (self.call.start..at).filter(|from| {
                let from = &self.marks[*from].context;
                from.labels.contains(&order.first) && paired(order.each, from, context)
            });
            to.extend(earlier);
        }
    }

    fn sets_used(&self, at: usize) -> Vec<u32> {
        let mut used = Vec::new();
        let mut note = |register: RegId| used.extend(self.owners.get(register.index()).copied().flatten());
        reads(&self.thread.code[at].op, &mut note);
        writes(&self.thread.code[at].op).into_iter().flat_map(Write::registers).for_each(note);
        used.sort_unstable();
        used.dedup();
        used
    }

    /// For each instruction the ones that may have written a register that it reads; of sets and maps only if not `named`.
    fn data(&self, named: bool) -> Vec<Vec<usize>> {
        type Defs = HashMap<RegId, Vec<usize>>;
        let start = self.call.start;
        let mut states: Vec<Option<Defs>> = vec![None; self.call.len() + 1];
        states[0] = Some(Defs::new());
        let mut edges = Vec::with_capacity(self.call.len());
        for at in self.call.clone() {
            let Some(mut defs) = states[at - start].take() else {
                edges.push(Vec::new());
                continue;
            };
            let op = &self.thread.code[at].op;
            let mut from = Vec::new();
            reads(op, &mut |register| {
                let owned = self.owners.get(register.index()).copied().flatten().is_some();
                from.extend(defs.get(&register).into_iter().flatten().copied().filter(|_| !named || !owned));
            });
            from.sort_unstable();
            from.dedup();
            edges.push(from);
            if let Some(write) = writes(op) {
                for register in write.registers() {
                    let known = defs.entry(register).or_default();
                    if write.is_definite() {
                        known.clear();
                    }
                    known.push(at);
                }
            }
            for next in successors(op, InstrId::new(at)).map(InstrId::index).filter(|next| self.call.contains(next)) {
                merge(&mut states[next - start], &defs);
            }
        }
        edges
    }
}

/// Whether a set of bits has one.
fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

/// Whether two touches are of one base object in any case.
fn are_same(first: &Touch, second: &Touch) -> bool {
    first == second && first.element.is_some()
}

fn merge(into: &mut Option<HashMap<RegId, Vec<usize>>>, defs: &HashMap<RegId, Vec<usize>>) {
    let Some(known) = into else {
        *into = Some(defs.clone());
        return;
    };
    for (register, from) in defs {
        let all = known.entry(*register).or_default();
        all.extend(from);
        all.sort_unstable();
        all.dedup();
    }
}
