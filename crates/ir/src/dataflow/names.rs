//! Names that are used again: a `choose` into a register called [`FRESH`] takes a name that nobody holds.
//!
//! Each such register has a *pool* of names. A name is *held* if a live register has it, or a location that can be reached: one that belongs
//! to no name, or to one that is held. What belongs to a name are the elements with its number in the arrays that are indexed by names
//! of its pool. Nobody can ever get at a name again that is not held, so it may stand for a new one; and nobody can read what
//! belongs to it before that. Whoever takes a name writes all that belongs to it in the same atomic section.
//!
//! **Invariant:** where names are copied is over-approximated, so a name that could be used is held. Names are only copied and
//! compared and used as indices, and what may hold one holds nothing else that its pool has; who writes such programs sees to it.

use crate::access::{Access, Addr, Change};
use crate::expr::Expr;
use crate::ids::{ArrayId, InstrId, LocId, ThreadId};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program};

/// How the name of a register starts into which a name is chosen that nobody holds; the rest is the pool's. No register of a source
/// program starts like this.
pub const FRESH: &str = "%fresh";

/// The pools of a program.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pools: Vec<Pool>,
    /// Which names a location and a register may hold.
    locations: Vec<Option<usize>>,
    registers: Vec<Vec<Option<usize>>>,
    /// The locations that may hold names.
    holders: Vec<usize>,
    /// For each location that belongs to names: where its array starts, and the pool.
    belongs: Vec<Option<(LocId, usize)>>,
    /// For each name of each pool what belongs to it, in the order of the arrays.
    owned: Vec<Vec<Vec<usize>>>,
}

#[derive(Clone, Debug)]
struct Pool {
    label: String,
    /// The names, ascending.
    names: Vec<i128>,
    /// Where one is chosen: the `choose`, and the atomic section that begins with it.
    sites: Vec<(ThreadId, InstrId)>,
}

/// A register that may be looked at again, with its value.
pub type Live = (ThreadId, usize, i128);

/// The names that are held, for each pool in the order in which they are found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held(Vec<Vec<i128>>);

impl Names {
    /// Works out the pools of a program and where their names may be. None if something may hold names of two pools, for then nobody
    /// can tell what its value means.
    pub fn new(program: &Program) -> Option<Self> {
        let mut names = Self { pools: pools(program), ..Self::default() };
        names.locations = vec![None; program.locations.len()];
        names.registers = program.threads.iter().map(|thread| vec![None; thread.registers.len()]).collect();
        names.belongs = vec![None; program.locations.len()];
        names.owned = names.pools.iter().map(|pool| vec![Vec::new(); pool.names.len()]).collect();
        if names.pools.is_empty() {
            return Some(names);
        }
        while names.flow(program)? {}
        names.holders = (0..program.locations.len()).filter(|loc| names.locations[*loc].is_some()).collect();
        for (thread, declared) in program.threads.iter().enumerate() {
            for instr in &declared.code {
                if let Some(Addr::Indexed { array, index }) = instr.op.addr()
                    && let Some(pool) = names.of(thread, index)?
                {
                    names.index(program, *array, pool)?;
                }
            }
        }
        Some(names)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// The pool from which a name is chosen at an instruction.
    pub fn pool_at(&self, thread: ThreadId, instr: InstrId) -> Option<usize> {
        self.pools.iter().position(|pool| pool.sites.contains(&(thread, instr)))
    }

    /// Which names are held in a state. Locations are looked at first, then registers, then what belongs to the names found.
    pub fn held(&self, memory: &[i128], live: &[Live]) -> Held {
        let mut held = Held(vec![Vec::new(); self.pools.len()]);
        let mut work = std::collections::VecDeque::new();
        for loc in self.holders.iter().filter(|loc| self.belongs[**loc].is_none()) {
            work.extend(self.find(&mut held, self.locations[*loc], memory[*loc]));
        }
        for (thread, register, value) in live {
            work.extend(self.find(&mut held, self.registers[thread.index()][*register], *value));
        }
        while let Some(found) = work.pop_front() {
            for loc in self.elements(found) {
                work.extend(self.find(&mut held, self.locations[loc], memory[loc]));
            }
        }
        held
    }

    /// Notes a value if it is a name that was not found before.
    fn find(&self, held: &mut Held, pool: Option<usize>, value: i128) -> Option<(usize, i128)> {
        let pool = pool.filter(|pool| self.pools[*pool].names.binary_search(&value).is_ok())?;
        let known = &mut held.0[pool];
        (!known.contains(&value)).then(|| {
            known.push(value);
            (pool, value)
        })
    }

    /// What belongs to a name.
    fn elements(&self, (pool, name): (usize, i128)) -> impl Iterator<Item = usize> {
        let position = self.pools[pool].names.binary_search(&name).ok();
        position.into_iter().flat_map(move |at| self.owned[pool][at].iter().copied())
    }

    /// The smallest name of a pool that nobody holds.
    pub fn free(&self, held: &Held, pool: usize) -> Option<i128> {
        self.pools[pool].names.iter().copied().find(|name| !held.0[pool].contains(name))
    }

    /// Whether a name is one of a pool that nobody holds.
    pub fn is_free(&self, held: &Held, pool: usize, name: i128) -> bool {
        self.pools[pool].names.binary_search(&name).is_ok() && !held.0[pool].contains(&name)
    }

    /// Gives a state's names the smallest numbers, in the order in which they are found, together with what belongs to them; what belongs
    /// to names that nobody holds becomes 0. `rename` is called with the place in `live` of each value that may be a name, and its new value.
    /// Two states that differ in the choice of names only become one.
    pub fn rename(&self, memory: &mut [i128], live: &[Live], mut rename: impl FnMut(usize, i128)) {
        let held = self.held(memory, live);
        let new = |pool: Option<usize>, value: i128| {
            let found = pool.and_then(|pool| Some((pool, held.0[pool].iter().position(|name| *name == value)?)));
            found.map_or(value, |(pool, at)| self.pools[pool].names[at])
        };
        let before = memory.to_vec();
        for (pool, names) in self.pools.iter().enumerate() {
            for (at, owned) in self.owned[pool].iter().enumerate().take(names.names.len()) {
                let from = held.0[pool].get(at).and_then(|old| names.names.binary_search(old).ok());
                for (which, loc) in owned.iter().enumerate() {
                    let old = from.and_then(|from| self.owned[pool][from].get(which));
                    memory[*loc] = old.map_or(0, |old| new(self.locations[*old], before[*old]));
                }
            }
        }
        for loc in self.holders.iter().filter(|loc| self.belongs[**loc].is_none()) {
            memory[*loc] = new(self.locations[*loc], before[*loc]);
        }
        for (at, (thread, register, value)) in live.iter().enumerate() {
            let pool = self.registers[thread.index()][*register];
            if pool.is_some() {
                rename(at, new(pool, *value));
            }
        }
    }

    /// Where locations of names are the same but for the name: the first of them; of others the location itself.
    pub fn without_name(&self, loc: LocId) -> LocId {
        self.belongs[loc.index()].map_or(loc, |(first, _)| first)
    }

    /// One pass over the program; whether a name got somewhere new.
    fn flow(&mut self, program: &Program) -> Option<bool> {
        let before = (self.locations.clone(), self.registers.clone());
        for (thread, declared) in program.threads.iter().enumerate() {
            for instr in &declared.code {
                self.op(program, thread, &instr.op)?;
            }
        }
        Some(before != (self.locations.clone(), self.registers.clone()))
    }

    fn op(&mut self, program: &Program, thread: usize, op: &Op) -> Option<()> {
        let copied = match op {
            Op::Assign { value, .. } => self.of(thread, value)?,
            Op::Access(Access { change: Some(Change::Set(new) | Change::Cas { new, .. }), .. }) => {
                self.of(thread, new)?
            }
            Op::Choose { dst: Place::Reg(register), .. } => {
                let name = &program.threads[thread].registers[register.index()].name;
                self.pools.iter().position(|pool| pool.label == *name)
            }
            _ => None,
        };
        let mut got = copied;
        if let Some(access) = op.access() {
            got = None;
            for loc in program.cells(&access.addr) {
                if access.kind.writes() {
                    self.locations[loc] = join(self.locations[loc], copied)?;
                }
                got = join(got, self.locations[loc])?;
            }
        }
        for register in op.dst().into_iter().flat_map(Place::registers) {
            let known = &mut self.registers[thread][register];
            *known = join(*known, got)?;
        }
        Some(())
    }

    /// What an expression may stand for: names are copied, and nothing is computed from them.
    fn of(&self, thread: usize, expr: &LocalExpr) -> Option<Option<usize>> {
        let Expr::Var(place) = expr else { return Some(None) };
        place.registers().try_fold(None, |all, register| join(all, self.registers[thread][register]))
    }

    fn index(&mut self, program: &Program, array: ArrayId, pool: usize) -> Option<()> {
        let declared = &program.arrays[array.index()];
        for (at, name) in self.pools[pool].names.iter().enumerate() {
            if !(0..i128::from(declared.len)).contains(name) {
                continue;
            }
            let loc = declared.base.index() + *name as usize;
            match self.belongs[loc] {
                Some((_, known)) if known != pool => return None,
                Some(_) => {}
                None => {
                    self.belongs[loc] = Some((declared.base, pool));
                    self.owned[pool][at].push(loc);
                }
            }
        }
        Some(())
    }
}

/// What may be one or the other; none if that is of two pools.
fn join(one: Option<usize>, two: Option<usize>) -> Option<Option<usize>> {
    match (one, two) {
        (Some(one), Some(two)) if one != two => None,
        _ => Some(one.or(two)),
    }
}

/// The pools of a program.
fn pools(program: &Program) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::new();
    for (thread, declared) in program.threads.iter().enumerate() {
        for (at, instr) in declared.code.iter().enumerate() {
            let Op::Choose { dst: Place::Reg(register), from } = &instr.op else { continue };
            let label = &declared.registers[register.index()].name;
            if !label.starts_with(FRESH) {
                continue;
            }
            let before = at.checked_sub(1).filter(|before| matches!(declared.code[*before].op, Op::AtomicBegin));
            let sites = before.into_iter().chain([at]).map(|at| (ThreadId::new(thread), InstrId::new(at)));
            match pools.iter_mut().find(|pool| pool.label == *label) {
                Some(pool) => {
                    pool.sites.extend(sites);
                    pool.names.extend(from);
                }
                None => pools.push(Pool { label: label.clone(), names: from.clone(), sites: sites.collect() }),
            }
        }
    }
    for pool in &mut pools {
        pool.names.sort_unstable();
        pool.names.dedup();
    }
    pools
}
