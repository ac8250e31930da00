//! Progress out of order by definition, on tiny algorithms: every thread performs scripts.
//!
//! A *script* is one way through a region of a thread, from one full fence or end of a transaction to the next: its accesses in the order of the text, each with its
//! location and what it reads and writes, and which of them has to come before which others (axiom 9 of `cyrano_memory`, with everything known). All scripts of a region are made
//! beforehand, for all values that a location ever has. A thread takes a script and performs its accesses in any order that the axiom allows; what one reads has to be there
//! then. So nothing is ever guessed about what is executed, only which script it is; a state from which the scripts under way cannot be completed, as far as they are
//! ahead of the text, is no beginning of an execution and is left out.
//!
//! Nothing is shared with the explorer but the program, its orders, and which of its registers are dead.

use std::collections::{BTreeSet, HashMap};

use cyrano_ir::dataflow::Liveness;
use cyrano_ir::{AccessKind, Change, FenceSet, InstrId, LocalExpr, Op, OwnOrder, Place, Program, RegId, TxEvent};
use cyrano_memory::Model;

use super::naive::{Edge, Graph, eval, set, slot};

/// Larger graphs are not looked at.
const MOST_NODES: usize = 6_000;

/// Accesses, by their numbers in a script.
type Set = u32;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Deed {
    location: usize,
    read: Option<i128>,
    written: Option<i128>,
}

/// One access, or an atomic section.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Unit {
    deeds: Vec<Deed>,
    /// The units that it has to come after.
    after: Set,
    /// Whether it waits until memory is as it should.
    waits: bool,
}

/// One way through a region.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Script {
    units: Vec<Unit>,
    /// Where it leads to, and what ends there.
    to: (usize, Vec<i128>),
    ended: Option<TxEvent>,
}

/// A thread on its way through a script.
#[derive(Clone)]
struct Way {
    pc: usize,
    registers: Vec<i128>,
    /// For each register and instruction the units that it comes from.
    from: Vec<Set>,
    handed: HashMap<usize, Set>,
    units: Vec<Unit>,
    kinds: Vec<Vec<AccessKind>>,
    /// In a section: what it has written, and what its beginning follows.
    section: Option<(HashMap<usize, i128>, Set)>,
}

struct Scripts<'p> {
    program: &'p Program,
    model: &'p Model,
    order: &'p OwnOrder,
    live: Vec<Liveness>,
    /// The values that each location ever has.
    values: Vec<BTreeSet<i128>>,
    known: HashMap<(usize, usize, Vec<i128>), Vec<Script>>,
}

impl Scripts<'_> {
    /// All scripts of a thread from here.
    fn of(&mut self, thread: usize, start: &(usize, Vec<i128>)) -> Vec<Script> {
        let key = (thread, start.0, start.1.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let registers = start.1.clone();
        let from = vec![0; registers.len()];
        let first = Way {
            pc: start.0,
            registers,
            from,
            handed: HashMap::new(),
            units: Vec::new(),
            kinds: Vec::new(),
            section: None,
        };
        let (mut work, mut scripts) = (vec![first], Vec::new());
        while let Some(way) = work.pop() {
            self.run(thread, way, &mut work, &mut scripts);
        }
        self.known.insert(key, scripts.clone());
        scripts
    }

    fn taint(way: &Way, expr: &LocalExpr) -> Set {
        let mut all = 0;
        expr.for_each_var(&mut |place| all |= Self::taint_of(way, place));
        all
    }

    fn taint_of(way: &Way, place: &Place) -> Set {
        let index = match place {
            Place::Reg(_) => 0,
            Place::Elem { index, .. } => Self::taint(way, index),
        };
        way.from[slot(&way.registers, place)] | index
    }

    fn listed(&self, thread: usize, way: &Way) -> Set {
        let thread = self.program.thread_ids().nth(thread).expect("a thread");
        let before = self.order.of(thread, InstrId::new(way.pc)).iter();
        before.filter_map(|from| way.handed.get(&from.index())).fold(0, |all, set| all | set)
    }

    /// Follows one way until it ends or forks.
    fn run(&mut self, thread: usize, mut way: Way, work: &mut Vec<Way>, scripts: &mut Vec<Script>) {
        loop {
            let op = &self.program.threads[thread].code[way.pc].op;
            let mut follows = self.listed(thread, &way);
            op.operands().into_iter().for_each(|operand| follows |= Self::taint(&way, operand));
            match op {
                Op::Fence(fence) if fence.pairs().contains(FenceSet::FULL) => {
                    return self.end(thread, way, None, scripts);
                }
                Op::Transaction(event) => return self.end(thread, way, Some(*event), scripts),
                Op::AtomicBegin => {
                    way.section = Some((HashMap::new(), follows));
                    way.units.push(Unit { deeds: Vec::new(), after: 0, waits: false });
                    way.kinds.push(Vec::new());
                }
                Op::AtomicEnd => way.section = None,
                Op::Jump(to) => {
                    way.pc = to.index();
                    continue;
                }
                Op::Branch { cond, then_to, else_to } => {
                    way.handed.insert(way.pc, follows);
                    way.pc = if eval(&way.registers, cond) != 0 { then_to.index() } else { else_to.index() };
                    continue;
                }
                Op::Assume(cond) => {
                    if eval(&way.registers, cond) == 0 {
                        return;
                    }
                    way.handed.insert(way.pc, follows);
                    if let Some((_, inside)) = &mut way.section {
                        *inside |= follows;
                        way.units.last_mut().expect("a section").waits = true;
                    }
                }
                Op::Assign { dst, value } => {
                    let value = eval(&way.registers, value);
                    way.handed.insert(way.pc, follows);
                    way.section.iter_mut().for_each(|(_, inside)| *inside |= follows);
                    way.from[slot(&way.registers, dst)] = follows;
                    set(&mut way.registers, dst, value);
                }
                Op::Choose { dst, from } => {
                    way.handed.insert(way.pc, follows);
                    for value in from {
                        let mut next = way.clone();
                        next.from[slot(&way.registers, dst)] = follows;
                        set(&mut next.registers, dst, *value);
                        next.pc += 1;
                        work.push(next);
                    }
                    return;
                }
                Op::Access(_) => return self.access(thread, way, follows, work),
                _ => {}
            }
            way.pc += 1;
        }
    }

    fn end(&self, thread: usize, way: Way, ended: Option<TxEvent>, scripts: &mut Vec<Script>) {
        let code = &self.program.threads[thread].code;
        let mut pc = way.pc + 1;
        while let Op::Jump(to) = &code[pc].op {
            pc = to.index();
        }
        let mut registers = way.registers;
        for (number, value) in registers.iter_mut().enumerate() {
            if !self.live[thread].is_live(InstrId::new(pc), RegId::new(number)) {
                *value = 0;
            }
        }
        let units = way.units.into_iter().collect();
        let script = Script { units, to: (pc, registers), ended };
        if !scripts.contains(&script) {
            scripts.push(script);
        }
    }

    /// An access, with each value that it may find.
    fn access(&mut self, thread: usize, mut way: Way, mut follows: Set, work: &mut Vec<Way>) {
        let op = &self.program.threads[thread].code[way.pc].op;
        let (Op::Access(access), Some(kind)) = (op, op.access_kind()) else { return };
        let location = match &access.addr {
            cyrano_ir::Addr::Fixed(loc) => loc.index(),
            cyrano_ir::Addr::Indexed { array, index } => {
                follows |= Self::taint(&way, index);
                self.program.element(*array, eval(&way.registers, index)).expect("an index in range").index()
            }
        };
        if way.section.is_none() {
            way.units.push(Unit { deeds: Vec::new(), after: 0, waits: false });
            way.kinds.push(Vec::new());
        }
        let me = way.units.len() - 1;
        follows |= way.section.as_ref().map_or(0, |(_, inside)| *inside);
        for earlier in 0..me {
            let mut pairs = way.units[earlier].deeds.iter().zip(&way.kinds[earlier]);
            let kept = |same: bool, first: AccessKind| self.model.reordering().keeps(first, kind, same);
            if pairs.any(|(deed, first)| kept(deed.location == location, *first)) {
                follows |= 1 << earlier;
            }
        }
        way.units[me].after |= follows & !(1 << me);
        way.kinds[me].push(kind);
        way.handed.insert(way.pc, 1 << me);
        let old: Vec<i128> = match way.section.as_ref().and_then(|(written, _)| written.get(&location)) {
            Some(value) => vec![*value],
            None if kind.reads() => self.values[location].iter().copied().collect(),
            None => vec![0],
        };
        for old in old {
            let mut next = way.clone();
            let written = match &access.change {
                Some(Change::Cas { expected, new }) => {
                    (eval(&way.registers, expected) == old).then(|| eval(&way.registers, new))
                }
                Some(Change::Set(new)) => Some(eval(&way.registers, new)),
                Some(Change::Add(by)) => Some(old + eval(&way.registers, by)),
                None => None,
            };
            if let (Some((overlay, _)), Some(value)) = (&mut next.section, written) {
                overlay.insert(location, value);
            }
            if let Some(dst) = &access.dst {
                next.from[slot(&way.registers, dst)] = 1 << me;
                set(&mut next.registers, dst, old);
            }
            let read = kind.reads().then_some(old);
            next.units[me].deeds.push(Deed { location, read, written });
            next.pc += 1;
            work.push(next);
        }
    }
}

/// A thread between scripts, or in one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Standing {
    start: (usize, Vec<i128>),
    script: Option<(usize, Set)>,
    busy: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    memory: Vec<i128>,
    threads: Vec<Standing>,
}

/// Performs a unit, if memory is what the script says.
fn perform(memory: &[i128], unit: &Unit) -> Option<Vec<i128>> {
    let mut memory = memory.to_vec();
    for deed in &unit.deeds {
        if deed.read.is_some_and(|read| memory[deed.location] != read) {
            return None;
        }
        if let Some(value) = deed.written {
            memory[deed.location] = value;
        }
    }
    Some(memory)
}

/// The values that locations have if everybody reads whatever was ever there.
fn values(scripts: &mut Scripts<'_>) {
    loop {
        scripts.known.clear();
        let before = scripts.values.clone();
        for thread in 0..scripts.program.threads.len() {
            let registers = scripts.program.threads[thread].registers.iter().map(|r| r.init).collect();
            let (mut work, mut seen) = (vec![(0, registers)], Vec::new());
            while let Some(start) = work.pop() {
                if seen.contains(&start) {
                    continue;
                }
                for script in scripts.of(thread, &start) {
                    for deed in script.units.iter().flat_map(|unit| &unit.deeds) {
                        deed.written.map(|value| scripts.values[deed.location].insert(value));
                    }
                    work.push(script.to);
                }
                seen.push(start);
            }
        }
        if scripts.values == before {
            return;
        }
    }
}

/// Explores an algorithm out of order; none if it is too large.
pub fn graph(program: &Program, model: &Model) -> Option<Graph> {
    let order = model.own_order(program).expect("the program has an order of its own");
    let values_at_first = program.initial_memory().into_iter().map(|value| BTreeSet::from([value])).collect();
    let live = program.threads.iter().map(|thread| Liveness::new(thread, [])).collect();
    let mut scripts = Scripts { program, model, order, live, values: values_at_first, known: HashMap::new() };
    values(&mut scripts);
    let standing = |thread: &cyrano_ir::Thread| {
        let start = (0, thread.registers.iter().map(|register| register.init).collect());
        Standing { start, script: None, busy: false }
    };
    let first =
        Configuration { memory: program.initial_memory(), threads: program.threads.iter().map(standing).collect() };
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let (mut states, mut edges, mut blocked, mut plain) = (vec![first], Vec::new(), Vec::new(), Vec::new());
    let mut from = 0;
    while from < states.len() {
        let state = states[from].clone();
        let mut shut = Vec::new();
        let mut in_order = true;
        for (thread, own) in state.threads.iter().enumerate() {
            let all = scripts.of(thread, &own.start);
            in_order &= own.script.is_none_or(|(_, done)| done & (done + 1) == 0);
            shut.push(match own.script {
                Some((mine, done)) => is_shut(&all[mine], done, &state.memory),
                None => all.iter().all(|script| is_shut(script, 0, &state.memory)),
            });
            for (number, script) in all.iter().enumerate() {
                let done = match own.script {
                    Some((mine, done)) if mine == number => done,
                    Some(_) => continue,
                    None => 0,
                };
                for (next, ended) in steps(&state, thread, (number, script), done) {
                    let to = *numbers.entry(next.clone()).or_insert(states.len());
                    if to == states.len() {
                        states.push(next);
                    }
                    edges.push(Edge { from, to, thread, command: false, ended });
                }
            }
        }
        blocked.push(shut);
        plain.push(in_order);
        if states.len() > MOST_NODES {
            return None;
        }
        from += 1;
    }
    Some(possible(program, &states, edges, (blocked, plain)))
}

/// Whether what comes next in a script waits, and everything else that is left comes after that.
fn is_shut(script: &Script, done: Set, memory: &[i128]) -> bool {
    let left: Vec<usize> = (0..script.units.len()).filter(|unit| done >> unit & 1 == 0).collect();
    let shut = |unit: &usize| script.units[*unit].waits && perform(memory, &script.units[*unit]).is_none();
    left.first().is_some_and(shut) && left.iter().all(|unit| shut(unit) || script.units[*unit].after & !done != 0)
}

/// What a thread can do with a script.
fn steps(
    state: &Configuration,
    thread: usize,
    (number, script): (usize, &Script),
    done: Set,
) -> Vec<(Configuration, Option<TxEvent>)> {
    let finished: Set = (1 << script.units.len()) - 1;
    let finish = |mut next: Configuration| {
        let own = &mut next.threads[thread];
        own.busy &= script.ended.is_none();
        (own.start, own.script) = (script.to.clone(), None);
        (next, script.ended)
    };
    if script.units.is_empty() {
        return vec![finish(state.clone())];
    }
    let ready = |unit: &usize| done >> unit & 1 == 0 && script.units[*unit].after & !done == 0;
    let performed = (0..script.units.len()).filter(ready).filter_map(|unit| {
        let mut next = state.clone();
        next.memory = perform(&state.memory, &script.units[unit])?;
        next.threads[thread].busy = true;
        let done = done | 1 << unit;
        next.threads[thread].script = Some((number, done));
        Some(if done == finished { finish(next) } else { (next, None) })
    });
    performed.collect()
}

/// The states that begin executions: those from which one comes to a state where every thread has performed a beginning of its text.
fn possible(
    program: &Program,
    states: &[Configuration],
    edges: Vec<Edge>,
    (blocked, mut good): (Vec<Vec<bool>>, Vec<bool>),
) -> Graph {
    loop {
        let more: Vec<usize> = edges.iter().filter(|e| good[e.to] && !good[e.from]).map(|e| e.from).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|node| good[node] = true);
    }
    let mut number = vec![usize::MAX; states.len()];
    let kept: Vec<usize> = (0..states.len()).filter(|node| good[*node]).collect();
    kept.iter().enumerate().for_each(|(new, old)| number[*old] = new);
    let edges = edges.into_iter().filter(|edge| good[edge.from] && good[edge.to]);
    Graph {
        threads: program.threads.len(),
        busy: kept.iter().map(|node| states[*node].threads.iter().map(|own| own.busy).collect()).collect(),
        blocked: kept.iter().map(|node| blocked[*node].clone()).collect(),
        edges: edges.map(|edge| Edge { from: number[edge.from], to: number[edge.to], ..edge }).collect(),
    }
}
