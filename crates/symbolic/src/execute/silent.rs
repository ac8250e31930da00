//! Stores that change nothing where they find what they write, so that an iteration with nothing else in it may be [idle](crate::execute::idle).
//!
//! **Exchanges**: a lock that is tried with `exchange(lock, 1)` until it returns 0. Let such an exchange `e` see
//! the store `s` (or the initial value). All stores before `e` in the memory order are visible to it, and no other is (stores of its own thread to its word are kept before it), so
//! `s` is the last store to the word before `e`. Whoever saw `e` comes after it in the memory order (a load of another thread because else `e` is not visible; a
//! later one of the same thread because every model without own orders keeps a read-modify-write before later accesses to its address), and so after `s`; without
//! `e` the last store that it can see is `s`, with the same value, and is not a forwarded one. Others see what they saw. The rest of the argument is that of idle iterations
//! but for axiom 7, below.
//!
//! **Exchanges in two steps** (CheckFence, Fig. 7): `atomic { val = *lock; *lock = held; }`, a *swap*. It is a section of straight code, of accesses and assignments to registers, in which a
//! store `e` has the address expression of a load `l` before it, with no access between the two that may touch the word, and no assignment to the registers of the address.
//! Stores of its own thread to the word that come before `e` in program order are kept before it; the section is consecutive, so they are before `l` as well, and `l` sees
//! the last store `s` before the section. If `e` writes what `l` read, the argument is as above, but for later loads of the same thread: `e` may be forwarded to one that is before `e` in the memory order.
//! Such a load comes after the point at which the idle iteration ends. So a swap counts only if, on every way from the point, each access that may read the word
//! is a read-modify-write or the load of another swap, up to a swap with the same address expression, which has the same value, because no register is live at the point that the loop
//! writes. A read-modify-write of the word is after `e`. The load of another swap, if it reads the word, has a store to the word after it in its section, which is after `e`; the section is consecutive, so the
//! load is, too. After the swap with the same address its store, later than `e`, hides `e` from everybody.
//!
//! **Axiom 7**: whoever saw `e` now sees `s`, which may have been computed from loads that `e` was not. Where the axiom has to be checked, this is used only
//! if all stores that may touch the word have fixed addresses and write constants, so that nothing leads from `s` to anywhere; or if no load that may read the word
//! flows into the value or the address of a store (a lock is only compared), so that nothing leads to whoever saw `e`.
//!
//! Under **models about relations** none of this is an argument: see [`crate::execute::unread`].

use std::cell::LazyCell;
use std::collections::BTreeSet;

use cyrano_ir::dataflow::{expr_reads, successors, writes};
use cyrano_ir::{Access, AccessKind, Addr, Change, Expr, InstrId, LocId, Op, Place, Program, RegId, Thread, ThreadId};
use cyrano_memory::Model;

use crate::execute::aliases::Aliases;
use crate::execute::idle::Turn;
use crate::execute::unread::Unread;

/// A store that may find what it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Silent {
    /// What it finds is what it reads itself.
    Exchange,
    /// What it finds is what this load of its section reads.
    Swap { load: InstrId },
}

/// A program, and what its accesses may touch, which is found out when it is needed.
pub(crate) struct Words<'p> {
    program: &'p Program,
    model: &'p Model,
    aliases: LazyCell<Aliases, Box<dyn FnOnce() -> Aliases + 'p>>,
}

impl<'p> Words<'p> {
    /// Of a program under a model.
    pub(crate) fn new(program: &'p Program, model: &'p Model) -> Self {
        Self { program, model, aliases: LazyCell::new(Box::new(|| Aliases::new(program))) }
    }

    /// The stores of a thread that may be silent; `points` are where its iterations may end.
    pub(crate) fn silent(&self, thread: ThreadId, turns: &[Turn], unread: &Unread<'_, '_>) -> Vec<Option<Silent>> {
        let code = self.program.thread(thread);
        let mut found = vec![None; code.code.len()];
        if turns.is_empty() || !self.is_about_relations() && self.model.reordering().own_order {
            return found;
        }
        let swaps = self.swaps(thread);
        for (at, slot) in found.iter_mut().enumerate() {
            let pc = InstrId::new(at);
            let Some(access) = code.code[at].op.access() else { continue };
            let swap = swaps.iter().find(|swap| swap.store == pc);
            let candidate = match swap {
                Some(swap) => Some(Silent::Swap { load: swap.load }),
                None => (access.kind == AccessKind::Rmw && access.set().is_some()).then_some(Silent::Exchange),
            };
            if self.is_about_relations() {
                *slot = candidate.filter(|_| unread.is_unread(thread, pc));
                continue;
            }
            let hidden = |swap: &Swap| {
                let mut around = turns.iter().filter(|turn| turn.body.contains(&pc));
                around.all(|turn| self.is_hidden(thread, turn.at, swap, &swaps))
            };
            let silent = candidate.filter(|_| swap.is_none_or(hidden));
            *slot = silent.filter(|_| !self.model.reordering().may_invent_values() || self.leads_nowhere(thread, pc));
        }
        found
    }

    /// The program.
    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    /// Whether there is no order of all accesses.
    pub(crate) fn is_about_relations(&self) -> bool {
        self.model.cat().is_some()
    }

    /// The swaps of a thread.
    pub(crate) fn swaps(&self, thread: ThreadId) -> Vec<Swap> {
        let code = self.program.thread(thread);
        let stores =
            code.code.iter().enumerate().filter(|(_, instr)| instr.op.access_kind() == Some(AccessKind::Store));
        stores.filter_map(|(at, _)| self.swap(thread, code, InstrId::new(at))).collect()
    }

    /// The swap that ends with this store.
    fn swap(&self, thread: ThreadId, code: &Thread, store: InstrId) -> Option<Swap> {
        let begin = (0..store.index()).rev().find(|at| matches!(code.code[*at].op, Op::AtomicBegin))?;
        let inside = begin + 1..=store.index();
        let straight = |at: usize| match &code.code[at].op {
            op @ (Op::Access(_) | Op::Assign { .. }) => op.dst().is_none_or(|place| matches!(place, Place::Reg(_))),
            _ => false,
        };
        let jumps = code.code.iter().enumerate().flat_map(|(at, instr)| jump_targets(&instr.op, InstrId::new(at)));
        let entered: BTreeSet<usize> = jumps.map(InstrId::index).collect();
        if !inside.clone().all(|at| straight(at) && !entered.contains(&at)) {
            return None;
        }
        let address = |at: usize| code.code[at].op.addr();
        let touches = |at: &usize| address(*at).is_some() && !self.apart(thread, InstrId::new(*at), store);
        let load = (begin + 1..store.index()).rev().find(touches)?;
        let named = registers_of(address(store.index())?);
        let moved =
            (load..store.index()).filter_map(|at| writes(&code.code[at].op)).flat_map(|write| write.registers());
        let same = address(load) == address(store.index()) && !moved.into_iter().any(|reg| named.contains(&reg));
        let loads = code.code[load].op.access_kind() == Some(AccessKind::Load);
        (same && loads).then(|| Swap { load: InstrId::new(load), store })
    }

    /// Whether two accesses of a thread never touch the same word.
    fn apart(&self, thread: ThreadId, one: InstrId, other: InstrId) -> bool {
        let addr = |pc: InstrId| self.program.instr(thread, pc).op.addr();
        match (addr(one), addr(other)) {
            (Some(Addr::Fixed(one)), Some(Addr::Fixed(other))) => one != other,
            (one, other) if one == other => false,
            _ => self.aliases.touched(thread, one).is_disjoint(self.aliases.touched(thread, other)),
        }
    }

    /// Whether no load after the point can take a value from the store before it is performed.
    fn is_hidden(&self, thread: ThreadId, point: InstrId, swap: &Swap, swaps: &[Swap]) -> bool {
        let code = self.program.thread(thread);
        let addr = |pc: InstrId| code.code[pc.index()].op.addr();
        let mut seen = BTreeSet::new();
        let mut todo = vec![point];
        while let Some(pc) = todo.pop() {
            let Some(instr) = code.code.get(pc.index()).filter(|_| seen.insert(pc)) else { continue };
            if instr.op.access_kind() == Some(AccessKind::Load) && !self.apart(thread, pc, swap.store) {
                match swaps.iter().any(|other| other.load == pc) {
                    false => return false,
                    true if addr(pc) == addr(swap.store) => continue,
                    true => {}
                }
            }
            todo.extend(successors(&instr.op, pc));
        }
        true
    }

    /// Whether axiom 7 does not tell this store from the one before it.
    fn leads_nowhere(&self, thread: ThreadId, store: InstrId) -> bool {
        let words = self.touched(thread, store);
        self.hold_constants(&words) || self.are_only_compared(&words)
    }

    /// The words that an instruction may touch.
    pub(crate) fn touched(&self, thread: ThreadId, pc: InstrId) -> BTreeSet<LocId> {
        match self.program.instr(thread, pc).op.addr() {
            Some(Addr::Fixed(loc)) => BTreeSet::from([*loc]),
            Some(Addr::Indexed { .. }) => self.aliases.touched(thread, pc).clone(),
            None => BTreeSet::new(),
        }
    }

    /// Whether an instruction may touch one of these words.
    pub(crate) fn touches(&self, thread: ThreadId, pc: InstrId, words: &BTreeSet<LocId>) -> bool {
        match self.program.instr(thread, pc).op.addr() {
            Some(Addr::Fixed(loc)) => words.contains(loc),
            Some(Addr::Indexed { .. }) => !self.aliases.touched(thread, pc).is_disjoint(words),
            None => false,
        }
    }

    /// All accesses that may touch one of these words.
    fn accesses<'a>(&'a self, words: &'a BTreeSet<LocId>) -> impl Iterator<Item = (ThreadId, &'a Access)> {
        let all = self.program.thread_ids().flat_map(move |thread| {
            let code = self.program.thread(thread).code.iter().enumerate();
            code.map(move |(at, instr)| (thread, InstrId::new(at), &instr.op))
        });
        all.filter_map(move |(thread, pc, op)| {
            let access = op.access()?;
            self.touches(thread, pc, words).then_some((thread, access))
        })
    }

    /// Whether all stores to these words have fixed addresses and write constants.
    fn hold_constants(&self, words: &BTreeSet<LocId>) -> bool {
        let mut stores = self.accesses(words).filter(|(_, access)| access.kind.writes());
        stores.all(|(_, access)| matches!(access.addr, Addr::Fixed(_)) && stores_a_constant(access))
    }

    /// Whether nothing that is read from these words flows into the value or the address of a store.
    fn are_only_compared(&self, words: &BTreeSet<LocId>) -> bool {
        self.program.thread_ids().all(|thread| {
            let reads = self.accesses(words).filter(|(of, access)| *of == thread && access.kind.reads());
            let mut read = BTreeSet::new();
            for (_, access) in reads {
                match &access.dst {
                    _ if matches!(access.change, Some(Change::Add(_))) => return false,
                    Some(Place::Reg(register)) => _ = read.insert(*register),
                    Some(Place::Elem { .. }) => return false,
                    None => {}
                }
            }
            flows_into_no_store(self.program.thread(thread), read)
        })
    }
}

/// A load and a store that exchange a value in a section.
pub(crate) struct Swap {
    pub(crate) load: InstrId,
    pub(crate) store: InstrId,
}

/// Where an instruction may go but to the next one.
fn jump_targets(op: &Op, pc: InstrId) -> impl Iterator<Item = InstrId> {
    let jumps = matches!(op, Op::Jump(_) | Op::Branch { .. });
    successors(op, pc).filter(move |_| jumps)
}

fn registers_of(addr: &Addr) -> BTreeSet<RegId> {
    let mut found = BTreeSet::new();
    if let Addr::Indexed { index, .. } = addr {
        expr_reads(index, &mut |register| _ = found.insert(register));
    }
    found
}

/// Whether no value or address of a store is computed from what these registers hold at any time.
fn flows_into_no_store(thread: &Thread, mut tainted: BTreeSet<RegId>) -> bool {
    let reads_tainted = |op: &Op, tainted: &BTreeSet<RegId>| {
        let mut found = false;
        cyrano_ir::dataflow::reads(op, &mut |register| found |= tainted.contains(&register));
        found
    };
    loop {
        let before = tainted.len();
        for instr in thread.code.iter().filter(|instr| reads_tainted(&instr.op, &tainted)).collect::<Vec<_>>() {
            match &instr.op {
                Op::Access(access) if access.kind.writes() => return false,
                // What a load returns was computed by whoever stored it.
                Op::Access(_) => {}
                op => tainted.extend(writes(op).into_iter().flat_map(|write| write.registers())),
            }
        }
        if tainted.len() == before {
            return true;
        }
    }
}

fn stores_a_constant(access: &Access) -> bool {
    matches!(access.change, Some(Change::Set(Expr::Const(_)) | Change::Cas { new: Expr::Const(_), .. }))
}
