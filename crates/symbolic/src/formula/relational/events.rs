//! The events of an unrolled program as a cat model sees them, and its base relations.
//!
//! **Reads-from**: a literal for each write and each read that may touch its word. It says that the write is executed, touches the word and writes what is read;
//! an executed read has exactly one. **Coherence**: two writes that may touch one word have a literal of a graph, which is acyclic; any order of all writes that agrees with the
//! order at each word is one of its models, so nothing is asked that coherence does not ask. Initial writes come first.
//!
//! Under a model that is coherent ([`cyrano_memory::cat::Plan::is_coherent`]) a read does not see later writes of its own thread, and the writes of a thread to a word hit it in program
//! order; such executions would be rejected anyway.

use cyrano_ir::{Fence, InstrId, LocId, Tags, ThreadId};
use cyrano_memory::cat::Plan;
use rustc_hash::FxHashMap;

use super::Setting;
use super::faults::Fault;
use crate::execute::event::{Address, Event, Placed};
use crate::execute::value::Value;
use crate::formula::gates::Gates;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::order::same_address;

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    Read,
    Write,
    Fence(Fence),
}

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Whose; nobody's is an initial write.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) instr: InstrId,
    pub(crate) act: Act,
    /// Whether it is executed.
    pub(crate) guard: Lit,
    pub(crate) address: Address,
    /// The access that it belongs to.
    pub(crate) event: Option<usize>,
    pub(super) tags: Tags,
    /// The tags of a compare-and-swap that fails.
    pub(super) failed: Option<(Tags, Lit)>,
    /// Whether it belongs to a read-modify-write of one instruction.
    pub(super) rmw: Lit,
}

/// The events of a program, with base relations.
pub(super) struct Events<'a> {
    pub(super) set: &'a Setting<'a>,
    pub(super) parts: Vec<Part>,
    /// The events of each access that read and that write.
    pub(super) halves: FxHashMap<usize, (Option<usize>, Option<usize>)>,
    pub(super) graph: Graph,
    pub(super) rf: Vec<(usize, usize, Lit)>,
    pub(super) co: Vec<(usize, usize, Lit)>,
    coherent: bool,
    /// Whether the model knows races.
    races: bool,
}

impl<'a> Events<'a> {
    /// The events, with who reads from whom and coherence.
    pub(super) fn new(set: &'a Setting<'a>, plan: &Plan, gates: &mut Gates) -> Self {
        let mut this = Self {
            set,
            parts: Vec::new(),
            halves: FxHashMap::default(),
            graph: Graph::default(),
            rf: Vec::new(),
            co: Vec::new(),
            coherent: plan.is_coherent(),
            races: plan.data_race().is_some(),
        };
        this.initial_writes(gates);
        for (thread, run) in set.program.thread_ids().zip(&set.run.threads) {
            for placed in &run.placed {
                match placed {
                    Placed::Fence(number) => this.fence(thread, *number),
                    Placed::Access(number) => this.access(*number, gates),
                }
            }
        }
        this.coherence(gates);
        this.reads_from(gates);
        this
    }

    fn initial_writes(&mut self, gates: &mut Gates) {
        let mut touched: FxHashMap<u32, Vec<Lit>> = FxHashMap::default();
        for event in &self.set.run.events {
            for (word, lit) in &event.address.words {
                let done = if event.read.is_some() { event.guard } else { writes(event) };
                let lit = gates.and(*lit, done);
                touched.entry(*word).or_default().push(lit);
            }
        }
        let mut touched: Vec<(u32, Vec<Lit>)> = touched.into_iter().collect();
        touched.sort_unstable();
        for (word, lits) in touched {
            let guard = gates.any(lits);
            self.parts.push(Part {
                thread: None,
                instr: InstrId(0),
                act: Act::Write,
                guard,
                address: Address::fixed(word),
                event: None,
                tags: Tags::default(),
                failed: None,
                rmw: FALSE,
            });
        }
    }

    fn fence(&mut self, thread: ThreadId, number: usize) {
        let fence = &self.set.run.fences[number];
        let at = if let Fence::Named { at, .. } = fence.fence { at } else { None };
        self.parts.push(Part {
            thread: Some(thread),
            instr: InstrId(u32::try_from(number).unwrap_or(u32::MAX)),
            act: Act::Fence(fence.fence),
            guard: fence.guard,
            address: at.map(|at| Address::fixed(at.0)).unwrap_or_default(),
            event: None,
            tags: fence.fence.tags(),
            failed: None,
            rmw: FALSE,
        });
    }

    fn access(&mut self, number: usize, gates: &mut Gates) {
        let event = &self.set.run.events[number];
        let Some(access) = self.set.program.instr(event.thread, event.instr).op.access() else { return };
        let races = self.races;
        let said = |tags: Tags| told(tags, event, races);
        let part = |act: Act, guard: Lit, rmw: Lit| Part {
            thread: Some(event.thread),
            instr: event.instr,
            act,
            guard,
            address: event.address.clone(),
            event: Some(number),
            tags: said(access.tags),
            failed: None,
            rmw,
        };
        let one_instruction = event.read.is_some() && event.write.is_some();
        let mut halves = (None, None);
        if event.read.is_some() {
            let rmw = Lit::from(one_instruction || event.unit.is_some() && self.updates(event));
            let failed = access.failed.map(|tags| (said(tags), !writes(event)));
            halves.0 = Some(self.parts.len());
            self.parts.push(Part { failed, ..part(Act::Read, event.guard, rmw) });
        }
        if let Some((_, writes)) = &event.write {
            let loads = event.unit.into_iter().flat_map(|unit| self.reads_before(unit, number));
            let loads: Vec<Lit> = loads.map(|load| self.set.run.events[load].guard).collect();
            let rmw = if one_instruction { TRUE } else { gates.any(loads) };
            halves.1 = Some(self.parts.len());
            self.parts.push(part(Act::Write, *writes, rmw));
        }
        self.halves.insert(number, halves);
    }

    /// Whether the section of an access may write.
    fn updates(&self, event: &Event) -> bool {
        let code = self.set.program.thread(event.thread);
        let begin = (0..event.instr.index()).rev().find(|at| matches!(code.code[*at].op, cyrano_ir::Op::AtomicBegin));
        let writes = |_, op: &cyrano_ir::Op| op.access_kind().is_some_and(cyrano_ir::AccessKind::writes);
        begin.is_some_and(|begin| code.section_has(InstrId::new(begin), writes))
    }

    /// The loads of a section before an access of it.
    pub(super) fn reads_before(&self, unit: usize, number: usize) -> impl Iterator<Item = usize> + '_ {
        let events = &self.set.run.events;
        let own = self.set.run.units[unit].events.iter().copied();
        own.filter(move |other| *other < number && events[*other].read.is_some())
    }

    fn coherence(&mut self, gates: &mut Gates) {
        self.graph = Graph::with_nodes(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        let writes: Vec<usize> = (0..self.parts.len()).filter(|part| self.parts[*part].act == Act::Write).collect();
        for (at, first) in writes.iter().copied().enumerate() {
            for second in writes[at + 1..].iter().copied() {
                let (a, b) = (&self.parts[first], &self.parts[second]);
                if b.thread.is_none() || !a.address.meets(&b.address) {
                    continue;
                }
                let same = same_address(gates, &a.address, &b.address);
                if same == FALSE || exclusive(gates, a.guard, b.guard) {
                    continue;
                }
                if a.thread.is_none() {
                    self.co.push((first, second, same));
                    continue;
                }
                let own = self.coherent && a.thread == b.thread;
                if own && same == TRUE {
                    // Somebody between the two would close a cycle.
                    let both = gates.and(a.guard, b.guard);
                    self.graph.edge(both, node(first), node(second));
                    self.co.push((first, second, TRUE));
                    continue;
                }
                let before = self.graph.before(gates, node(first), node(second));
                if own {
                    gates.clause(&[!same, !a.guard, !b.guard, before]);
                    self.co.push((first, second, same));
                    continue;
                }
                let before = if Fault::OrderThreads.is_on() { TRUE } else { before };
                let (forth, back) = (gates.and(same, before), gates.and(same, !before));
                self.co.extend([(first, second, forth), (second, first, back)]);
            }
        }
    }

    fn reads_from(&mut self, gates: &mut Gates) {
        for read in (0..self.parts.len()).filter(|part| self.parts[*part].act == Act::Read) {
            let mut seen = vec![!self.parts[read].guard];
            let hidden = self.hidden(gates, read);
            for write in (0..self.parts.len()).filter(|part| self.parts[*part].act == Act::Write) {
                let own = self.parts[write].thread == self.parts[read].thread;
                let out_of_reach = self.coherent && own && write > read
                    || hidden.is_some_and(|hidden| {
                        (own || self.parts[write].thread.is_none() || Fault::HideAll.is_on()) && write < hidden
                    });
                if !out_of_reach && let Some(lit) = self.sees(gates, write, read) {
                    self.rf.push((write, read, lit));
                    seen.push(lit);
                }
            }
            if !Fault::SeeNothing.is_on() {
                gates.clause(&seen);
            }
            for (at, one) in seen.iter().enumerate().skip(1) {
                seen[at + 1..].iter().for_each(|other| gates.clause(&[!*one, !*other]));
            }
        }
    }

    /// The last write of the read's own thread that certainly comes between what is earlier and the read, under a coherent model.
    fn hidden(&self, gates: &Gates, read: usize) -> Option<usize> {
        let part = &self.parts[read];
        let word = part.address.single().filter(|_| self.coherent)?;
        (0..read).rev().find(|other| {
            let write = &self.parts[*other];
            write.act == Act::Write
                && write.thread == part.thread
                && write.address.single() == Some(word)
                && gates.implies(part.guard, write.guard)
        })
    }

    fn sees(&self, gates: &mut Gates, write: usize, read: usize) -> Option<Lit> {
        let (w, r) = (&self.parts[write], &self.parts[read]);
        if !w.address.meets(&r.address) || exclusive(gates, w.guard, r.guard) {
            return None;
        }
        let same = same_address(gates, &w.address, &r.address);
        if same == FALSE {
            return None;
        }
        let lit = gates.fresh();
        gates.clause(&[!lit, same]);
        gates.clause(&[!lit, w.guard]);
        gates.clause(&[!lit, r.guard]);
        let events = &self.set.run.events;
        let value = r.event.and_then(|event| events[event].read.as_ref())?;
        gates.link(&[!lit], value, &self.written(w)?);
        Some(lit)
    }

    fn written(&self, write: &Part) -> Option<Value> {
        match write.event {
            Some(event) => self.set.run.events[event].write.as_ref().map(|(value, _)| value.clone()),
            None => write.address.single().map(|word| self.set.run.initial[word as usize].clone()),
        }
    }

    /// What memory holds at the end, as far as it is asked about.
    pub(super) fn final_words(&self, set: &Setting<'_>, gates: &mut Gates) -> FxHashMap<LocId, Value> {
        let co: FxHashMap<(usize, usize), Lit> = self.co.iter().map(|(a, b, lit)| ((*a, *b), *lit)).collect();
        let mut finals = FxHashMap::default();
        for loc in set.asked {
            if finals.contains_key(loc) {
                continue;
            }
            let writes: Vec<(usize, Lit)> = (0..self.parts.len())
                .filter(|part| self.parts[*part].act == Act::Write && self.parts[*part].thread.is_some())
                .filter_map(|part| Some((part, self.parts[part].address.at(loc.0)?)))
                .collect();
            let value = gates.unknown(set.words[loc.index()].clone());
            let initial = gates.fresh();
            let mut last = vec![initial];
            gates.link(&[!initial], &value, &set.run.initial[loc.index()]);
            for (write, at) in &writes {
                gates.clause(&[!initial, !self.parts[*write].guard, !*at]);
                let lit = gates.fresh();
                last.push(lit);
                gates.clause(&[!lit, self.parts[*write].guard]);
                gates.clause(&[!lit, *at]);
                if let Some(written) = self.written(&self.parts[*write]) {
                    gates.link(&[!lit], &value, &written);
                }
                for (other, there) in writes.iter().filter(|(other, _)| other != write) {
                    let earlier = co.get(&(*other, *write)).copied().unwrap_or(FALSE);
                    if !Fault::AnyLast.is_on() {
                        gates.clause(&[!lit, !self.parts[*other].guard, !*there, earlier]);
                    }
                }
            }
            gates.clause(&last);
            finals.insert(*loc, value);
        }
        finals
    }
}

/// Whether an access is executed and writes.
pub(super) fn writes(event: &Event) -> Lit {
    event.write.as_ref().map_or(FALSE, |(_, writes)| *writes)
}

fn node(part: usize) -> Node {
    Node(part as u32)
}

/// Whether two guards exclude one another, as far as the gates show it.
pub(super) fn exclusive(gates: &Gates, a: Lit, b: Lit) -> bool {
    gates.implies(a, !b) || gates.implies(b, !a)
}

/// What a model is told of an access: one that knows races is told what synchronises.
fn told(tags: Tags, event: &Event, races: bool) -> Tags {
    let synchronises = event.read.is_some() && event.write.is_some() || event.unit.is_some();
    let tags = if synchronises { tags | Tags::SYNC } else { tags };
    if races { tags.spoken() } else { tags }
}
