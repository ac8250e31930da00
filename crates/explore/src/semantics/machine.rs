//! A program and a model, prepared for exploration.
//!
//! What a step needs to know about an instruction is computed here once: which registers are live before it, which kinds of
//! accesses are deferred, how many accesses a thread may defer, which values are timestamps.

use cyrano_criteria::monitor::Monitor;
use cyrano_criteria::spec::named::named;
use cyrano_criteria::spec::walk::Walk;
use cyrano_engine::history::size;
use cyrano_ir::automorphisms::{self, Exchanges, Renaming};
use cyrano_ir::dataflow::{Liveness, Names, exit_registers};
use cyrano_ir::{
    AccessKind, COMMIT_ORDER, Expr, FinalVar, LocalExpr, Op, OwnOrder, Program, Property, ThreadId, TxCriterion, reply,
};
use cyrano_memory::Model;

use crate::Explore;
use crate::criteria::exercise::Pursuit;
use crate::criteria::invariant::Named;
use crate::criteria::shadow::Shadows;
use crate::criteria::values::Values;
use crate::faults::Fault;
use crate::reductions::ample::Futures;
use crate::reductions::repeats::constant_variables;
use crate::reductions::symmetry::Symmetry;
use crate::reductions::timestamps::Timestamps;
use crate::reductions::variables::MOST_VARIABLES;
use crate::semantics::declared::Regions;
use crate::semantics::guards::Headers;
use crate::semantics::state::State;

/// A program under a model.
pub(crate) struct Machine<'a> {
    pub program: &'a Program,
    pub model: &'a Model,
    pub config: &'a Explore,
    pub threads: Vec<ThreadInfo>,
    /// Whether accesses of each kind (load, store, read-modify-write) wait in the queue.
    defers: [bool; 3],
    /// Whether a register can be pending.
    pub loads_wait: bool,
    pub timestamps: Option<Timestamps>,
    /// The criterion for transactions, if one is asked for.
    pub monitor: Option<Monitor>,
    /// The specification of transactions, if one is asked for.
    pub spec: Option<Walk>,
    /// Whether an event of a transaction is a step of its own; see `events`.
    pub events_wait: bool,
    /// Whether steps say what happens in them; see `lts` and `races`.
    pub tells: bool,
    /// What the invariant sees, if one is asked for.
    pub named: Option<Named>,
    /// Whether races are asked for.
    pub races: bool,
    /// The criterion for histories with values, if one is asked for.
    pub values: Option<Values>,
    /// What the shadow of atomic blocks needs to know, if commit-atomicity is asked for.
    pub shadows: Option<Shadows>,
    /// The same, where the ends of units are noted without a shadow; see `movers`.
    pub ends: Option<Shadows>,
    /// For each thread and instruction whether it stands in a block that runs in one piece; empty if none does. See `whole`.
    pub whole: Vec<Vec<bool>>,
    /// The headers of objects that can be freed.
    pub headers: Headers,
    /// The program's own order, under a model that follows it; see `declared`.
    pub own_order: Option<&'a OwnOrder>,
    /// The regions of threads; see `declared`.
    pub regions: Regions,
    /// What threads can touch, if stubborn sets are used.
    pub stubborn: Option<Futures>,
    /// For each location its number among the transactional variables.
    pub variables: Vec<Option<u8>>,
    /// The renamings of threads that change nothing, if they are used.
    pub symmetry: Option<Symmetry>,
    /// The threads that may exchange their places, if that is used; see `symmetric_threads`.
    pub symmetric_threads: Vec<Vec<usize>>,
    /// The renamings of threads with objects of their own, if they are used; see `exchanges`.
    pub exchanges: Vec<Exchanges>,
    /// The renamings of transactional variables that change nothing, if they are used.
    pub variable_symmetry: Vec<Renaming>,
    /// Whether a choice waits for the access that follows it.
    pub lazy_choices: bool,
    /// Whether stores that a client can repeat for ever are limited; see `repeats`.
    pub limits_repeats: bool,
    /// For each location, whether it is a transactional variable that only ever holds one value.
    pub constant: Vec<bool>,
    /// Whether neighbouring deferred stores are sorted; see `canonicalise`.
    pub sorts: bool,
    /// Whether assertions are what is asked about.
    pub asks_for_assertions: bool,
    /// Whether a failed assertion ends the search; when outcomes are asked for, it does not matter.
    pub judge_assertions: bool,
    /// What a search for transactions that do something is after; see `exercise`.
    pub pursuit: Option<Pursuit>,
    /// The names that threads choose, if progress is asked for; see `progress`.
    pub names: Option<&'a Names>,
    /// What is asked about threads that go on for ever; see `termination`.
    pub liveness: Option<cyrano_ir::Liveness>,
    /// Whether threads may be stopped anywhere, so that what they do and what memory does for them are different steps; see `operations`.
    pub stops: bool,
    /// Whether the set of all histories is asked about: what happens is noted, and events of transactions are steps of their own.
    pub notes_deeds: bool,
    /// Whether commits return in steps of their own; see [`Machine::waits_to_respond`].
    pub returns_wait: bool,
}

/// What is known about one thread.
pub(crate) struct ThreadInfo {
    /// Its first register in [`State::regs`].
    pub base: usize,
    /// The number of its first instruction among those of all threads.
    pub first: usize,
    /// For every instruction the registers that are live before it.
    pub live: Vec<Vec<u32>>,
    /// How many accesses may wait; without a bound if the thread has no loop.
    pub bound: usize,
    /// Whether it declares operations; if not, it is one under a serial model.
    pub has_operations: bool,
    /// For every instruction, whether it is inside an operation.
    pub in_operation: Vec<bool>,
}

impl<'a> Machine<'a> {
    pub fn new(
        program: &'a Program,
        model: &'a Model,
        config: &'a Explore,
        property: Option<&Property>,
        deferred: usize,
        gap: Option<i128>,
    ) -> Self {
        let mut defers = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw]
            .map(|kind| !model.reordering().keeps_all_after(kind));
        if config.has_fault(Fault::KeepStores) {
            defers[AccessKind::Store as usize] = false;
        }
        let own_order = model.own_order(program);
        if own_order.is_some() {
            defers = [false; 3];
        }
        let transactions = matches!(property, Some(Property::Transactions(_)));
        let values = property.and_then(|p| Values::of(program, p, config));
        let blocks = matches!(property, Some(Property::CommitAtomicity));
        let spec = property.filter(|_| values.is_none()).and_then(|property| specification(program, property));
        let by_conflicts = transactions && values.is_none() && spec.is_none();
        // Assertions and deadlocks, like races and the agreement of blocks, do not ask which thread it is.
        let races = matches!(property, Some(Property::Races));
        let anonymous = races || matches!(property, Some(Property::Assertions));
        let alike = blocks || anonymous && own_order.is_none() && gap.is_none();
        let mut machine = Self {
            program,
            model,
            config,
            threads: Vec::new(),
            defers,
            loads_wait: defers[AccessKind::Load as usize] || defers[AccessKind::Rmw as usize],
            timestamps: gap.map(|gap| Timestamps::new(program, gap)),
            asks_for_assertions: matches!(property, Some(Property::Assertions)),
            judge_assertions: !matches!(
                property,
                None | Some(Property::Final { .. } | Property::Invariant(_) | Property::Races)
            ),
            monitor: property.filter(|_| values.is_none()).and_then(|property| monitor(program, property)),
            events_wait: spec.is_some() || config.certifies || matches!(property, Some(Property::Structure(_))),
            tells: races,
            named: property.and_then(|property| Named::of(program, property)),
            races,
            spec,
            values,
            shadows: blocks.then(|| Shadows::of(program)),
            ends: None,
            whole: Vec::new(),
            headers: Headers::of(program),
            own_order,
            regions: own_order.map(|_| Regions::new(program)).unwrap_or_default(),
            stubborn: None,
            variables: variables(program),
            symmetry: (config.thread_symmetry && by_conflicts).then(|| Symmetry::of(program)).flatten(),
            symmetric_threads: if config.thread_symmetry && alike && !model.reordering().serial {
                automorphisms::alike(program)
            } else {
                Vec::new()
            },
            exchanges: Vec::new(),
            variable_symmetry: if config.variable_symmetry
                && config.macro_steps
                && config.dead_registers
                && by_conflicts
            {
                automorphisms::variables(program, MOST_VARIABLES)
            } else {
                Vec::new()
            },
            lazy_choices: config.lazy_choices && config.macro_steps && transactions,
            limits_repeats: config.repeated_stores && by_conflicts && defers.contains(&true),
            constant: constant_variables(program),
            pursuit: None,
            names: None,
            liveness: match property {
                Some(Property::Live(liveness)) => Some(*liveness),
                _ => None,
            },
            stops: match property {
                Some(Property::Live(liveness)) => liveness.stops_threads(),
                Some(Property::Progress(_)) => true,
                _ => false,
            },
            notes_deeds: matches!(property, Some(Property::Structure(_))),
            returns_wait: matches!(property, Some(Property::Transactions(TxCriterion::InOrder(order)))
                if order.name() == COMMIT_ORDER),
            sorts: config.sorted_stores
                && !blocks
                && !program.has_headers()
                && defers[AccessKind::Store as usize]
                && !model.reordering().keeps(AccessKind::Store, AccessKind::Store, false),
        };
        let (mut base, mut first) = (0, 0);
        for thread in program.thread_ids() {
            let mut info = ThreadInfo::new(program, thread, base, property, config, deferred);
            info.keep(machine.named_registers(thread.index()));
            machine.threads.push(ThreadInfo { first, ..info });
            base += program.thread(thread).registers.len();
            first += program.thread(thread).code.len();
        }
        let criterion = match property {
            Some(Property::Transactions(criterion)) => Some(*criterion),
            _ => None,
        };
        machine.stubborn = machine.futures_for_stubborn(criterion);
        machine
    }

    /// Whether a response is a step of its own: where the order in which commits return is judged, others may come between a commit's last access and
    /// its return. For every other criterion the earliest moment is the strictest, and a later one adds nothing.
    #[inline]
    pub fn waits_to_respond(&self, code: &LocalExpr) -> bool {
        self.returns_wait && !matches!(code, Expr::Const(code) if *code != reply::COMMITTED)
    }

    /// Whether accesses of this kind wait in the queue.
    #[inline]
    pub fn defers(&self, kind: AccessKind) -> bool {
        self.defers[kind as usize]
    }

    /// Whether anything ever waits in a queue.
    #[inline]
    pub fn defers_any(&self) -> bool {
        self.defers.contains(&true)
    }

    /// The operation at a thread's program counter.
    #[inline]
    pub fn op(&self, thread: usize, pc: u32) -> &'a Op {
        &self.program.threads[thread].code[pc as usize].op
    }

    /// The initial state, before any thread has run to its first rest.
    pub fn initial(&self) -> State {
        let registers = self.program.threads.iter().flat_map(|t| &t.registers);
        let regs: Vec<i128> = registers.map(|r| r.init).collect();
        State {
            memory: self.program.initial_memory(),
            pending: if self.loads_wait { vec![0; regs.len()] } else { Vec::new() },
            regs,
            threads: (0..self.program.threads.len()).map(|_| Default::default()).collect(),
            running: 0,
            monitor: self.monitor.as_ref().map(Monitor::initial),
            spec: 0,
            shadow: self.shadows.as_ref().map(|shadows| shadows.initial(self.program)),
            heard: self.values.as_ref().map(|values| values.initial(self.program.threads.len())),
        }
    }

    /// Whether a thread has run to its end with nothing left to perform.
    #[inline]
    pub fn done(&self, state: &State, thread: usize) -> bool {
        let t = &state.threads[thread];
        let drained = t.queue.is_empty() || self.config.has_fault(Fault::NoDrain);
        drained && matches!(self.op(thread, t.pc), Op::Halt)
    }

    /// The value of a variable in a final state.
    pub fn final_value(&self, state: &State, var: FinalVar) -> i128 {
        match var {
            FinalVar::Loc(loc) => state.memory[loc.index()],
            FinalVar::Reg(thread, reg) => state.regs[self.threads[thread.index()].base + reg.index()],
        }
    }
}

/// The monitor for a property of transactions.
pub(crate) fn monitor(program: &Program, property: &Property) -> Option<Monitor> {
    let Property::Transactions(criterion) = property else {
        return None;
    };
    criterion.is_by_conflicts().then(|| Monitor::new(*criterion, size(program)).ok()).flatten()
}

/// The specification that a property names.
fn specification(program: &Program, property: &Property) -> Option<Walk> {
    let Property::Transactions(TxCriterion::Spec(spec)) = property else { return None };
    named(spec.name(), size(program)).ok().map(Walk::new)
}

fn variables(program: &Program) -> Vec<Option<u8>> {
    let number = |loc: usize| program.transactional.iter().position(|t| t.index() == loc);
    (0..program.locations.len()).map(|loc| number(loc).and_then(|v| u8::try_from(v).ok())).collect()
}

impl ThreadInfo {
    fn new(
        program: &Program,
        thread: ThreadId,
        base: usize,
        property: Option<&Property>,
        config: &Explore,
        deferred: usize,
    ) -> Self {
        let code = &program.thread(thread).code;
        let registers = program.thread(thread).registers.len();
        let liveness = Liveness::new(program.thread(thread), exit_live(program, thread, property));
        let live = (0..code.len()).map(|pc| live_before(&liveness, pc, registers, config)).collect();
        let in_operation = in_operation(code);
        Self {
            base,
            first: 0,
            live,
            bound: if program.thread(thread).has_loop() { deferred } else { usize::MAX },
            has_operations: in_operation.iter().any(|inside| *inside),
            in_operation,
        }
    }

    /// Keeps registers alive everywhere.
    fn keep(&mut self, registers: &[u32]) {
        for live in &mut self.live {
            live.extend(registers.iter().filter(|register| !live.contains(register)).copied().collect::<Vec<_>>());
            live.sort_unstable();
        }
    }
}

/// The registers of a thread that somebody looks at when it has ended.
fn exit_live(program: &Program, thread: ThreadId, property: Option<&Property>) -> Vec<cyrano_ir::RegId> {
    let mut live = Vec::new();
    let mut add = |var: &FinalVar| {
        if let FinalVar::Reg(owner, reg) = var
            && *owner == thread
        {
            live.push(*reg);
        }
    };
    match property {
        Some(Property::Final { cond, .. }) => cond.for_each_var(&mut |var| add(var)),
        Some(Property::Transactions(TxCriterion::InOrder(order))) => {
            let keys = program.serial_order(order.name()).and_then(|order| order.keys.get(thread.index()));
            live.extend(keys.into_iter().flatten().flatten());
        }
        Some(
            Property::Assertions
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            // What it reads is live everywhere.
            | Property::Invariant(_)
            | Property::Races,
        ) => {}
        // What is observed at the end is handed on by the last blocks.
        Some(Property::CommitAtomicity) => live.extend(exit_registers(program, thread)),
        None | Some(Property::Observations(_)) => program.observed.iter().for_each(|o| add(&o.var)),
    }
    live
}

fn live_before(liveness: &Liveness, pc: usize, registers: usize, config: &Explore) -> Vec<u32> {
    let at = cyrano_ir::InstrId::new(pc);
    let all = !config.dead_registers;
    let live = (0..registers).filter(|r| all || liveness.is_live(at, cyrano_ir::RegId::new(*r)));
    let skip = usize::from(config.has_fault(Fault::ZeroLiveRegister));
    live.skip(skip).map(|r| r as u32).collect()
}

/// For every instruction whether it is inside an operation: operations are properly nested in the code, so a forward
/// walk over all paths finds the same answer on each.
fn in_operation(code: &[cyrano_ir::Instr]) -> Vec<bool> {
    let mut inside: Vec<Option<bool>> = vec![None; code.len()];
    let mut work = vec![(0usize, false)];
    while let Some((pc, before)) = work.pop() {
        if pc >= code.len() || inside[pc].is_some() {
            continue;
        }
        inside[pc] = Some(before);
        match &code[pc].op {
            Op::OperationBegin(_) => work.push((pc + 1, true)),
            Op::OperationEnd => work.push((pc + 1, false)),
            Op::Jump(to) => work.push((to.index(), before)),
            Op::Branch { then_to, else_to, .. } => {
                work.push((then_to.index(), before));
                work.push((else_to.index(), before));
            }
            Op::Halt => {}
            _ => work.push((pc + 1, before)),
        }
    }
    inside.into_iter().map(|i| i.unwrap_or(false)).collect()
}
