//! A second machine, for all models that keep dependencies: every access is deferred, and performed when the axioms let it.
//!
//! A step of the program executes one instruction and appends its access to the thread's queue; a branch waits until the reads that decide it are
//! performed, which is what a control dependency comes to where it orders all later accesses. A step of the memory performs one entry that no earlier entry keeps back: by its kind and
//! address, by a fence, or because it needs a value that is not known. Under `sc`, `tso` and `pso` it says the same as the [machine](super::machine) with
//! store buffers, with more states.
//!
//! An atomic section whose course does not depend on what it reads is one entry. Otherwise everything behind it has to follow it, and it is performed
//! where it stands. Addresses are fixed, and there are no local arrays.

use std::collections::{BTreeMap, HashMap};

use cyrano_ir::{Access, AccessKind, Addr, Expr, FinalVar, Observable, Op, Place, Program, RegId, TxEvent, Ty};
use cyrano_memory::Model;

use super::fair::{Moves, Steps};
use super::pending::{Entry, Not, Part, Pending, Symbol, known, numbers};

/// A section that goes on for longer never ends.
const LONGEST: usize = 60;

/// A state in full.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    memory: Vec<i128>,
    pcs: Vec<usize>,
    threads: Vec<Pending>,
}

/// A program on such a machine.
pub struct Machine<'p> {
    program: &'p Program,
    model: &'p Model,
    /// How many entries a queue holds.
    capacity: usize,
}

/// What comes of an instruction about registers.
enum Local {
    To(usize),
    Waits,
    Dropped,
    Wrong,
    TooLarge,
}

impl<'p> Machine<'p> {
    /// The machine, if it knows the model and all that is in the program.
    pub fn new(program: &'p Program, model: &'p Model, capacity: usize) -> Option<Self> {
        let parameters = model.reordering();
        let dependent = parameters.dependencies == cyrano_memory::Dependencies::ALL
            || [AccessKind::Load, AccessKind::Rmw].into_iter().all(|kind| parameters.keeps_all_after(kind));
        let known = |op: &Op| {
            let address = op.addr().is_none_or(|addr| matches!(addr, Addr::Fixed(_)));
            let place = op.dst().is_none_or(|dst| matches!(dst, Place::Reg(_)));
            address && place && !matches!(op, Op::Invoke { .. } | Op::Respond(_))
        };
        let plain = program.locations.iter().all(|loc| matches!(loc.ty, Ty::Int | Ty::Timestamp | Ty::Pointer));
        let fits = dependent && !parameters.serial && !parameters.own_order && plain && program.orders.is_empty();
        let all = program.threads.iter().flat_map(|thread| &thread.code).all(|instr| known(&instr.op));
        (fits && all).then_some(Self { program, model, capacity })
    }

    fn op(&self, thread: usize, pc: usize) -> &'p Op {
        &self.program.threads[thread].code[pc].op
    }

    fn at_halt(&self, state: &State, thread: usize) -> bool {
        matches!(self.op(thread, state.pcs[thread]), Op::Halt)
    }

    fn started(&self, state: &State, thread: usize) -> bool {
        self.program.setup.is_none_or(|setup| {
            let setup = setup.index();
            setup == thread || self.at_halt(state, setup) && !self.defers(state, setup)
        })
    }

    /// Whether an event of a transaction has to wait for something deferred.
    fn holds_back(&self, pending: &Pending, event: TxEvent) -> bool {
        let data = |loc: usize| self.program.transactional.iter().any(|own| own.index() == loc);
        pending.queue.iter().any(|entry| match entry {
            Entry::Unit(parts) => parts.iter().any(|part| event.follows(part.kind, data(part.loc))),
            _ => false,
        })
    }

    /// An access as it is deferred; nothing if a value in it has got too large.
    fn part(&self, pending: &Pending, access: &Access, parts: &[Part]) -> Result<Option<Part>, Not> {
        let Addr::Fixed(loc) = &access.addr else { unreachable!("addresses are fixed") };
        let write = match &access.change {
            None => None,
            Some(change) => match pending.write(change)? {
                None => return Ok(None),
                write => write,
            },
        };
        let number = access.kind.reads().then(|| pending.fresh(parts));
        Ok(Some(Part { kind: access.kind, loc: loc.index(), number, write }))
    }
}

/// Where the result of an access goes.
fn result(access: &Access) -> Option<RegId> {
    access.dst.as_ref().map(|dst| match dst {
        Place::Reg(reg) => *reg,
        Place::Elem { .. } => unreachable!("there are no local arrays here"),
    })
}

/// An instruction that is no access, fence, choice or bracket. What decides has to be known.
fn local(op: &Op, pc: usize, pending: &mut Pending) -> Local {
    let decided = |pending: &Pending, cond| match pending.symbol(cond) {
        Err(_) => Err(Local::Wrong),
        Ok(symbol) => symbol.as_ref().and_then(known).ok_or(Local::Waits),
    };
    let went = match op {
        Op::Assign { dst: Place::Reg(reg), value } => match pending.symbol(value) {
            Err(_) => return Local::Wrong,
            Ok(None) => return Local::TooLarge,
            Ok(Some(value)) => {
                pending.set(*reg, value);
                Ok(pc + 1)
            }
        },
        Op::Assume(cond) | Op::Limit { cond, .. } => match decided(pending, cond) {
            Ok(0) => return Local::Dropped,
            other => other.map(|_| pc + 1),
        },
        Op::Branch { cond, then_to, else_to } => {
            decided(pending, cond).map(|value| if value != 0 { then_to } else { else_to }.index())
        }
        // An assertion decides nothing, and waits for nothing.
        Op::Assert { cond, .. } => match decided(pending, cond) {
            Err(Local::Wrong) => return Local::Wrong,
            _ => Ok(pc + 1),
        },
        Op::Jump(to) => Ok(to.index()),
        _ => Ok(pc + 1),
    };
    went.map_or_else(|other| other, Local::To)
}

impl Steps for Machine<'_> {
    type State = State;

    fn start(&self) -> State {
        let pending = |thread: &cyrano_ir::Thread| Pending {
            registers: thread.registers.iter().map(|register| Expr::Const(register.init)).collect(),
            queue: Vec::new(),
        };
        let threads: Vec<Pending> = self.program.threads.iter().map(pending).collect();
        State { memory: self.program.initial_memory(), pcs: vec![0; threads.len()], threads }
    }

    fn ended(&self, state: &State, thread: usize) -> bool {
        self.started(state, thread) && self.at_halt(state, thread)
    }

    fn stands(&self, state: &State, thread: usize) -> Option<usize> {
        let stands = self.started(state, thread) && !self.at_halt(state, thread);
        stands.then_some(state.pcs[thread])
    }

    fn defers(&self, state: &State, thread: usize) -> bool {
        !state.threads[thread].queue.is_empty()
    }

    fn observed(&self, state: &State) -> Vec<i128> {
        let value = |observable: &Observable| match observable.var {
            FinalVar::Reg(thread, reg) => {
                known(&state.threads[thread.index()].registers[reg.index()]).expect("nothing is deferred")
            }
            FinalVar::Loc(loc) => state.memory[loc.index()],
        };
        self.program.observed.iter().map(value).collect()
    }

    fn performs(&self, state: &State, thread: usize) -> Vec<(State, bool)> {
        let places = 0..state.threads[thread].queue.len();
        let after = |place: usize| {
            let mut next = state.clone();
            next.threads[thread].perform(self.model.reordering(), place, &mut next.memory).ok()?;
            Some((next, place == 0))
        };
        places.filter_map(after).collect()
    }

    fn moves(&self, state: &State, thread: usize) -> Moves<State> {
        if self.ended(state, thread) || !self.started(state, thread) {
            return Moves::default();
        }
        let full = || Moves { able: true, full: true, ..Moves::default() };
        let wrong = || Moves { able: true, wrong: true, ..Moves::default() };
        let pc = state.pcs[thread];
        let mut next = state.clone();
        next.pcs[thread] += 1;
        let pending = &mut next.threads[thread];
        let op = self.op(thread, pc);
        match op {
            Op::AtomicBegin => return Section { machine: self, state, thread }.moves(),
            Op::Choose { dst: Place::Reg(reg), from } => {
                let chosen = |value: &i128| {
                    let mut next = next.clone();
                    next.threads[thread].set(*reg, Expr::Const(*value));
                    (next, false)
                };
                return Moves { next: from.iter().map(chosen).collect(), able: true, ..Moves::default() };
            }
            Op::Fence(fence) => pending.fence(fence.pairs()),
            Op::Transaction(event) if self.holds_back(pending, *event) => return Moves::default(),
            Op::Access(_) if pending.len() >= self.capacity => return full(),
            Op::Access(access) => match self.part(pending, access, &[]) {
                Err(_) => return wrong(),
                Ok(None) => return full(),
                Ok(Some(part)) => {
                    if let (Some(reg), Some(number)) = (result(access), part.number) {
                        pending.set(reg, Expr::Var(number));
                    }
                    pending.queue.push(Entry::Unit(vec![part]));
                }
            },
            _ => match local(op, pc, pending) {
                Local::To(to) => next.pcs[thread] = to,
                Local::Waits => return Moves::default(),
                Local::Dropped => return Moves { able: true, ..Moves::default() },
                Local::Wrong => return wrong(),
                Local::TooLarge => return full(),
            },
        }
        Moves { next: vec![(next, super::machine::is_mark(op))], able: true, ..Moves::default() }
    }
}

/// A section that a thread stands at.
struct Section<'m, 'p> {
    machine: &'m Machine<'p>,
    state: &'m State,
    thread: usize,
}

/// A place on a path: the program counter, the registers, and what is deferred with the section.
struct Path {
    pc: usize,
    pending: Pending,
    parts: Vec<Part>,
    length: usize,
}

/// A place on a path that is performed where it stands.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Now {
    pc: usize,
    pending: Pending,
    written: BTreeMap<usize, i128>,
    /// What was accessed, for what stands before the section.
    length: usize,
}

impl Section<'_, '_> {
    fn moves(&self) -> Moves<State> {
        let mut all = Moves::default();
        if self.deferred(&mut all) {
            self.now(&mut all);
        }
        all
    }

    /// All paths that can be deferred; whether there are others, which decide by what they read themselves.
    fn deferred(&self, all: &mut Moves<State>) -> bool {
        let before = &self.state.threads[self.thread];
        let first = Path { pc: self.state.pcs[self.thread] + 1, pending: before.clone(), parts: Vec::new(), length: 0 };
        let (mut todo, mut decides) = (vec![first], false);
        while let Some(mut path) = todo.pop() {
            path.length += 1;
            if path.length > LONGEST {
                (all.able, all.diverges) = (true, true);
                return decides;
            }
            let op = self.machine.op(self.thread, path.pc);
            match op {
                Op::AtomicEnd => self.leave(path, all),
                Op::Choose { dst: Place::Reg(reg), from } => todo.extend(from.iter().map(|value| {
                    let mut pending = path.pending.clone();
                    pending.set(*reg, Expr::Const(*value));
                    Path { pc: path.pc + 1, pending, parts: path.parts.clone(), ..path }
                })),
                Op::Access(access) => match self.machine.part(&path.pending, access, &path.parts) {
                    Err(_) => (all.able, all.wrong) = (true, true),
                    Ok(None) => (all.able, all.full) = (true, true),
                    Ok(Some(part)) => {
                        if let (Some(reg), Some(number)) = (result(access), part.number) {
                            path.pending.set(reg, Expr::Var(number));
                        }
                        path.parts.push(part);
                        path.pc += 1;
                        todo.push(path);
                    }
                },
                _ => match local(op, path.pc, &mut path.pending) {
                    Local::To(pc) => todo.push(Path { pc, ..path }),
                    Local::Waits => decides |= self.own(op, &path),
                    Local::Dropped if matches!(op, Op::Assume(_)) => {}
                    Local::Dropped => all.able = true,
                    Local::Wrong => (all.able, all.wrong) = (true, true),
                    Local::TooLarge => (all.able, all.full) = (true, true),
                },
            }
        }
        decides
    }

    /// Whether a condition waits for what the section itself reads, and for nothing else.
    fn own(&self, op: &Op, path: &Path) -> bool {
        let cond = op.operands().first().map(|cond| path.pending.symbol(cond));
        let Some(Ok(Some(symbol))) = cond else { return false };
        numbers(&symbol).iter().any(|number| path.parts.iter().any(|part| part.number == Some(*number)))
    }

    fn leave(&self, path: Path, all: &mut Moves<State>) {
        all.able = true;
        let mut next = self.state.clone();
        next.pcs[self.thread] = path.pc + 1;
        next.threads[self.thread] = path.pending;
        if !path.parts.is_empty() {
            if self.state.threads[self.thread].len() >= self.machine.capacity {
                all.full = true;
                return;
            }
            next.threads[self.thread].queue.push(Entry::Unit(path.parts));
        }
        all.next.push((next, false));
    }

    /// All paths, performed where they stand.
    fn now(&self, all: &mut Moves<State>) {
        let pending = self.state.threads[self.thread].clone();
        let first = Now { pc: self.state.pcs[self.thread] + 1, pending, written: BTreeMap::new(), length: 0 };
        let mut todo = vec![first];
        let mut seen: HashMap<Now, ()> = HashMap::new();
        while let Some(now) = todo.pop() {
            if now.length > LONGEST {
                (all.able, all.diverges) = (true, true);
                return;
            }
            if seen.insert(now.clone(), ()).is_some() {
                continue;
            }
            let op = self.machine.op(self.thread, now.pc);
            let mut next = Now { pc: now.pc + 1, length: now.length + 1, ..now };
            match op {
                Op::AtomicEnd => {
                    all.able = true;
                    let mut state = self.state.clone();
                    next.written.into_iter().for_each(|(loc, value)| state.memory[loc] = value);
                    state.pcs[self.thread] = next.pc;
                    state.threads[self.thread] = next.pending;
                    all.next.push((state, false));
                }
                Op::Choose { dst: Place::Reg(reg), from } => todo.extend(from.iter().map(|value| {
                    let mut next = next.clone();
                    next.pending.set(*reg, Expr::Const(*value));
                    next
                })),
                Op::Access(access) => match self.access(&mut next, access) {
                    Ok(()) => todo.push(next),
                    Err(Not::Yet) => {}
                    Err(Not::Right) => (all.able, all.wrong) = (true, true),
                },
                _ => match local(op, next.pc - 1, &mut next.pending) {
                    Local::To(pc) => todo.push(Now { pc, ..next }),
                    Local::Waits => {}
                    Local::Dropped if matches!(op, Op::Assume(_)) => {}
                    Local::Dropped => all.able = true,
                    Local::Wrong => (all.able, all.wrong) = (true, true),
                    Local::TooLarge => (all.able, all.full) = (true, true),
                },
            }
        }
    }

    fn access(&self, now: &mut Now, access: &Access) -> Result<(), Not> {
        let part = self.machine.part(&now.pending, access, &[])?.ok_or(Not::Yet)?;
        let place = now.pending.queue.len();
        if !now.pending.lets_pass(self.machine.model.reordering(), place, part.kind, part.loc) {
            return Err(Not::Yet);
        }
        let mut old = now.written.get(&part.loc).copied();
        if old.is_none() && part.kind.reads() {
            old = now.pending.forwarded(place, part.loc)?;
        }
        let old = old.unwrap_or(self.state.memory[part.loc]);
        if let Some(new) = part.write.map(|write| write.over(old)).transpose()?.flatten() {
            now.written.insert(part.loc, new);
        }
        if let Some(reg) = result(access) {
            now.pending.set(reg, Symbol::Const(old));
        }
        Ok(())
    }
}
