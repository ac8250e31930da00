//! Random programs against the axioms as they are written: every permutation of the events is judged as a whole.
//!
//! The judge shares the traces with the code under test but not the placement: it has a complete memory order before it
//! and looks at positions, one axiom after the other.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cyrano_engine::Limits;
use cyrano_ir::{FinalVar, Program, ThreadId};
use cyrano_memory::{Control, Dependencies, Model, Reordering};

use super::{notation, outcomes};
use crate::combine;
use crate::goals::Outcomes;
use crate::local::{self, Paths};
use crate::machine::{Code, Machine};
use crate::meter::Meter;
use crate::order::{Events, Written};
use crate::replay;
use crate::search::Enumeration;
use crate::trace::Trace;
use crate::values::{self, Candidates};

/// A pseudo-random sequence; tests must be repeatable.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len() as u64) as usize]
    }
}

/// A random thread with this many accesses, and fences, branches and sections among them.
fn thread(dice: &mut Dice, accesses: usize) -> String {
    let mut code = String::new();
    let mut open = false;
    for access in 0..accesses {
        let loc = dice.pick(&["x", "y", "a[0]", "a[r0]"]);
        let value = dice.pick(&["1", "2", "r0", "r1", "r0+1"]);
        let statement = match dice.roll(10) {
            0..=3 => format!("{loc}={value}; "),
            4..=7 => format!("r{}={loc}; ", access % 2),
            8 => format!("r1=cas {loc} {} {value}; ", dice.pick(&["0", "1", "r0"])),
            _ => format!("r{}={} {loc} {value}; ", access % 2, dice.pick(&["add", "xchg"])),
        };
        let around = dice.roll(12);
        match around {
            0 => code += &format!("fence {}; ", dice.pick(&["load-load", "load-store", "store-load", "store-store"])),
            1 => code += "unless r0 skip 1; ",
            2 => code += "unless r1==1 skip 1; ",
            3 if !open => {
                code += "atomic{; ";
                open = true;
            }
            _ => {}
        }
        code += &statement;
        if open && dice.roll(2) == 0 {
            code += "}; ";
            open = false;
        }
    }
    code + if open { "}" } else { "" }
}

/// Random programs with at most six accesses, so that all permutations can be tried.
pub(super) fn programs(seed: u64, count: usize) -> impl Iterator<Item = Program> {
    let mut dice = Dice(seed);
    (0..count).map(move |_| {
        let sizes: &[usize] = [&[3, 3][..], &[2, 2, 2], &[4, 2], &[1, 3, 1]][dice.roll(4) as usize];
        let threads: Vec<_> = sizes.iter().map(|size| thread(&mut dice, *size)).collect();
        let threads: Vec<_> = threads.iter().map(String::as_str).collect();
        let observed: Vec<_> = (0..sizes.len()).map(|thread| format!("{thread}r0 {thread}r1")).collect();
        let setup = (dice.roll(4) == 0).then(|| ThreadId::new(dice.roll(sizes.len() as u64) as usize));
        Program { setup, ..notation::program(&threads, &(observed.join(" ") + " x y")) }
    })
}

/// The named models and some odd ones between them.
pub(super) fn models() -> Vec<Model> {
    use cyrano_ir::FenceSet;
    let mut models = cyrano_memory::all();
    let mut odd = |name: &str, parameters| models.push(Model::new(name, "", parameters));
    let keep = |data, address, control| {
        let dependencies = Dependencies { data, address, control };
        Reordering { dependencies, ..Reordering::RELAXED }
    };
    odd("loads before stores only", Reordering { different: FenceSet::LS, ..Reordering::RELAXED });
    odd("no forwarding", Reordering { forwarding: false, ..Reordering::RELAXED });
    odd("no address dependencies", keep(true, false, Control::Stores));
    odd("no control dependencies", keep(true, true, Control::None));
    odd("serial but relaxed", Reordering { serial: true, ..Reordering::RELAXED });
    models
}

/// The axioms on a complete memory order; `at` is each event's position. Initial values are all 0.
struct Judge<'a> {
    model: &'a Model,
    machines: &'a [&'a Machine<'a>],
    events: &'a Events,
    setup: Option<ThreadId>,
    at: Vec<usize>,
}

impl Judge<'_> {
    fn allows(&self) -> bool {
        let pairs = || (0..self.at.len()).flat_map(|x| (0..x).map(move |y| (y, x)));
        let program_order = || pairs().filter(|(x, y)| self.events.list[*x].thread == self.events.list[*y].thread);
        program_order().all(|(x, y)| !self.ordered(x, y) || self.at[x] < self.at[y])
            && (0..self.at.len()).all(|event| self.reads_right(event))
            && program_order().all(|(x, y)| self.stays_together(x, y))
            && !self.circles()
            && pairs().all(|(x, y)| self.setup_is_first(x, y) && self.setup_is_first(y, x))
    }

    fn local(&self, event: usize) -> (&Machine<'_>, usize) {
        let thread = self.events.list[event].thread.index();
        (self.machines[thread], event - self.events.start[thread])
    }

    /// Axioms 1 to 3.
    fn ordered(&self, x: usize, y: usize) -> bool {
        let (first, second) = (&self.events.list[x], &self.events.list[y]);
        let (machine, number) = self.local(x);
        let (_, later) = self.local(y);
        let kept = self.model.reordering().keeps(first.kind, second.kind, first.loc == second.loc);
        let between = |at: usize| number < at && at <= later;
        let fence = machine.fences.iter().any(|(at, set)| between(*at) && set.orders(first.kind, second.kind));
        kept || fence || self.depends(y, x)
    }

    fn depends(&self, later: usize, earlier: usize) -> bool {
        let (machine, number) = self.local(later);
        let (_, earlier) = self.local(earlier);
        let issued = &machine.events[number];
        let kept = self.model.reordering().dependencies;
        let control = match kept.control {
            Control::None => false,
            Control::Stores => issued.kind.writes(),
            Control::All => true,
        };
        kept.data && issued.data.contains(earlier)
            || kept.address && issued.address.contains(earlier)
            || control && issued.control.contains(earlier)
    }

    fn is_own_earlier(&self, store: usize, load: usize) -> bool {
        self.events.list[store].thread == self.events.list[load].thread && store < load
    }

    /// The latest visible store (axiom 4).
    fn source(&self, load: usize) -> Option<usize> {
        let stores = (0..self.at.len()).filter(|store| {
            let facts = &self.events.list[*store];
            *store != load && facts.loc == self.events.list[load].loc && facts.written != Written::Nothing
        });
        let visible = stores.filter(|store| {
            self.at[*store] < self.at[load] || self.model.reordering().forwarding && self.is_own_earlier(*store, load)
        });
        visible.max_by_key(|store| self.at[*store])
    }

    /// Axioms 4 and 5.
    fn reads_right(&self, load: usize) -> bool {
        if !self.events.list[load].kind.reads() {
            return true;
        }
        let source = self.source(load);
        let value = source.map_or(Some(0), |store| self.events.list[store].written.value());
        let known = source.filter(|store| self.at[*store] > self.at[load]).is_none_or(|store| {
            let first = self.events.start[self.events.list[store].thread.index()];
            (first..store).all(|x| !self.depends(store, x) || self.at[x] < self.at[load])
        });
        value == self.events.list[load].read && known
    }

    /// Axiom 6: all between two events of one unit in program order lie between them in memory order, and nothing else.
    fn stays_together(&self, x: usize, y: usize) -> bool {
        let (first, second) = (&self.events.list[x], &self.events.list[y]);
        first.unit.is_none() || first.unit != second.unit || self.at[y] == self.at[x] + (y - x)
    }

    /// Axiom 8.
    fn setup_is_first(&self, x: usize, y: usize) -> bool {
        let is_setup = |event: usize| Some(self.events.list[event].thread) == self.setup;
        !is_setup(x) || is_setup(y) || self.at[x] < self.at[y]
    }

    /// Axiom 7, by removing stores whose sources are all removed until nothing changes.
    fn circles(&self) -> bool {
        let mut left: BTreeSet<usize> =
            (0..self.at.len()).filter(|event| self.events.list[*event].written != Written::Nothing).collect();
        loop {
            let grounded: Vec<_> = left.iter().copied().filter(|store| self.is_grounded(*store, &left)).collect();
            if grounded.is_empty() {
                return !left.is_empty();
            }
            grounded.iter().for_each(|store| {
                left.remove(store);
            });
        }
    }

    fn is_grounded(&self, store: usize, left: &BTreeSet<usize>) -> bool {
        let facts = &self.events.list[store];
        let itself = facts.computes.then_some(store);
        facts.flow.iter().chain(itself).all(|load| self.source(load).is_none_or(|source| !left.contains(&source)))
    }
}

fn permutations(count: usize, visit: &mut impl FnMut(&[usize])) {
    fn extend(order: &mut Vec<usize>, count: usize, visit: &mut impl FnMut(&[usize])) {
        if order.len() == count {
            return visit(order);
        }
        for next in 0..count {
            if !order.contains(&next) {
                order.push(next);
                extend(order, count, visit);
                order.pop();
            }
        }
    }
    extend(&mut Vec::new(), count, visit);
}

/// Calls `visit` for each combination of finished traces.
fn combinations<'a, 'p>(
    threads: &'a [Vec<Trace<'p>>],
    chosen: &mut Vec<&'a Trace<'p>>,
    visit: &mut impl FnMut(&[&'a Trace<'p>]),
) {
    let Some(traces) = threads.get(chosen.len()) else { return visit(chosen) };
    for trace in traces.iter().filter(|trace| trace.is_final()) {
        chosen.push(trace);
        combinations(threads, chosen, visit);
        chosen.pop();
    }
}

fn memory_after(events: &Events, order: &[usize], locations: usize) -> Vec<i128> {
    let mut memory = vec![0; locations];
    for event in order.iter().map(|event| &events.list[*event]) {
        if let Some(value) = event.written.value() {
            memory[event.loc.index()] = value;
        }
    }
    memory
}

fn execution(events: &Events, order: &[usize], threads: usize) -> cyrano_engine::Execution {
    let accesses = order.iter().map(|event| &events.list[*event]).map(|event| cyrano_engine::Access {
        thread: event.thread,
        index: event.index,
        read: event.read,
        written: event.written.value(),
    });
    cyrano_engine::Execution { order: accesses.collect(), choices: vec![Vec::new(); threads], relations: None }
}

/// Judges all permutations of a combination: eager search, patient search and replay must agree with the judge.
fn judge(program: &Program, model: &Model, combination: &[&Trace<'_>], found: &mut BTreeSet<Vec<i128>>) {
    let mut events = Events::of(program);
    combination.iter().for_each(|trace| events.push_thread(&trace.events));
    let machines: Vec<_> = combination.iter().map(|trace| &trace.machine).collect();
    let (initial, count) = (program.initial_memory(), events.list.len());
    let mut memories = BTreeSet::new();
    permutations(count, &mut |order| {
        let mut at = vec![0; count];
        order.iter().enumerate().for_each(|(position, event)| at[*event] = position);
        let allowed = Judge { model, machines: &machines, events: &events, setup: program.setup, at }.allows();
        let execution = execution(&events, order, combination.len());
        let replayed = replay(program, model, &execution);
        assert_eq!(replayed.is_ok(), allowed, "{:?} {execution:?} under {}: {replayed:?}", program.threads, model.name);
        if allowed {
            memories.insert(memory_after(&events, order, initial.len()));
        }
    });
    for memory in &memories {
        found.insert(valuation(program, combination, memory));
    }
    let limits = Limits::default();
    for patient in [false, true] {
        let (mut meter, mut seen) = (Meter::new(&limits, &()), BTreeSet::new());
        let search = Enumeration::new(model, &events, &initial, &mut meter, |placing| {
            seen.insert(placing.memory(&initial));
            ControlFlow::Continue(())
        });
        let mut search = if patient { search.patient() } else { search };
        assert!(search.explore().is_ok());
        drop(search);
        assert_eq!(seen, memories, "{:?} under {}", program.threads, model.name);
    }
}

fn valuation(program: &Program, combination: &[&Trace<'_>], memory: &[i128]) -> Vec<i128> {
    let value = |var: &FinalVar| match var {
        FinalVar::Loc(loc) => memory[loc.index()],
        FinalVar::Reg(thread, register) => {
            combination[thread.index()].machine.registers[register.index()].expect("known")
        }
    };
    program.observed.iter().map(|observable| value(&observable.var)).collect()
}

/// Compares engine, searches and replay with the judge.
fn check(program: &Program, model: &Model) {
    let limits = Limits::default();
    let threads = values::traces(program, model, &mut Meter::new(&limits, &())).expect("within the limits");
    let mut found = BTreeSet::new();
    combinations(&threads, &mut Vec::new(), &mut |combination| judge(program, model, combination, &mut found));
    assert_eq!(outcomes(program, model).outcomes, found, "{:?} under {}", program.threads, model.name);
}

#[test]
fn random_programs_follow_the_axioms() {
    for program in programs(1, 25) {
        for model in models() {
            check(&program, &model);
        }
    }
}

/// The engine finds whatever can be found when every load may return every small value.
fn check_candidates(program: &Program, model: &Model) {
    let limits = Limits::default();
    let mut meter = Meter::new(&limits, &());
    let candidates = Candidates::uniform(program, &[0, 1, 2, 3, 4]);
    let threads = program.thread_ids().map(|thread| {
        let code = Code::new(program, model, thread);
        local::traces(code, &candidates, Paths::Real, &mut meter).expect("within the limits")
    });
    let threads = threads.collect();
    let mut goal = Outcomes::new(&program.observed);
    combine::pursue(program, model, threads, &mut goal, &mut meter).expect("within the limits");
    let found = outcomes(program, model).outcomes;
    assert!(found.is_superset(&goal.outcomes), "{:?} under {}", program.threads, model.name);
}

#[test]
fn candidate_values_are_sufficient() {
    for program in programs(3, 30) {
        for model in models() {
            check_candidates(&program, &model);
        }
    }
}
