//! Stores that write what they find and that nobody reads who goes on, under models about relations: locks that are taken by exchanging until they were free.
//!
//! Let `e` be an exchange (or a [swap](crate::execute::silent)) of a loop that writes a constant `v`, and let an iteration of this loop be idle but for `e`, which found `v`. If somebody
//! read what `e` wrote and went on, the iteration could not be left out without telling him another write to read from, and a model may order more by that one (`docs/symbolic.md` has
//! a test). So here `e` counts as no change only if **nobody does**: every access of the program that may read a word that `e` may write stands in a loop in which whoever has read `v`
//! there is in an idle iteration, or never comes to its end. On the ways from the [point](crate::execute::idle) of the loop to the access, and from there back to the point, there are only
//! loads, fences, computations and branches, and the access itself writes nothing, or `v`; on the way back nothing can go wrong. The way back is found by following the code with the one
//! value that is known. There is no choice, no condition that may drop the execution and no assertion.
//!
//! **Argument.** Take an execution and leave out all idle iterations of all threads at once, and of each thread also what it does of an iteration that the execution ends in the middle of,
//! if it has read `v` there. Whoever is left and reads such a word has not read `v`, for the accesses above are all there are; so he reads from a write that is left. Hence who reads from
//! whom is what it was between those that are left. So are the order of writes, program order and dependencies. Final memory is the same, because `e` wrote what was there. What a model
//! makes of that is found out from its text (`crate::related`): every built-in model allows what is left. `riscv` does only if each access above writes the word as well: it keeps two
//! reads of a word in order unless a write to it is in between in program order, and that of the first read is.
//!
//! A thread that ends before an iteration rather than after an idle one is a thread that the engine must know, too: at the points of such loops it may stop ([`crate::execute::walk`]).
//! (An idle iteration at the end cannot be kept as other reads are: it might have read from one that is left out.)
//!
//! **Marked accesses** are those that race with no other marked access: under models with races a loop is idle only if each word that it accesses is accessed by marked accesses
//! alone (`crate::related::fewer`).

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::dataflow::{expr_reads, successors, writes};
use cyrano_ir::{
    Access, AccessKind, Addr, BinOp, Expr, InstrId, LocId, LocalExpr, Op, Place, RegId, Tags, Thread, ThreadId, UnOp,
};

use crate::execute::idle::{Point, Round, Turn};
use crate::execute::silent::{Swap, Words};
use crate::formula::relational::Fault;
use crate::related::{Idling, Readers};

/// The loops of a program, and who reads what is written in them.
pub(crate) struct Unread<'a, 'p> {
    words: &'a Words<'p>,
    /// Who may read; nobody if such stores are changes.
    readers: Option<Readers>,
    turns: &'a [Vec<Turn>],
    swaps: Vec<Vec<Swap>>,
}

impl<'a, 'p> Unread<'a, 'p> {
    /// With the loops of each thread.
    pub(crate) fn new(words: &'a Words<'p>, idling: Idling, turns: &'a [Vec<Turn>]) -> Self {
        let readers = idling.updates.filter(|_| turns.iter().any(|turns| !turns.is_empty()));
        let threads = words.program().thread_ids();
        let swaps = threads.map(|thread| if readers.is_some() { words.swaps(thread) } else { Vec::new() });
        Self { words, readers, turns, swaps: swaps.collect() }
    }

    /// Whether nobody goes on who reads what this store writes, if it finds that.
    pub(crate) fn is_unread(&self, thread: ThreadId, store: InstrId) -> bool {
        let Some(readers) = self.readers else { return false };
        let Some(value) = self.access(thread, store).and_then(constant) else { return false };
        if Fault::IdleThoughSeen.is_on() {
            return true;
        }
        let touched = self.words.touched(thread, store);
        self.readers_of(&touched).all(|(thread, read)| {
            let writes =
                self.swap(thread, read).is_some() || self.access(thread, read).is_some_and(|it| it.kind.writes());
            (readers == Readers::All || writes) && self.goes_round(thread, read, value)
        })
    }

    fn access(&self, thread: ThreadId, pc: InstrId) -> Option<&'p Access> {
        self.words.program().thread(thread).code.get(pc.index())?.op.access()
    }

    /// The swap that reads with this load.
    fn swap(&self, thread: ThreadId, load: InstrId) -> Option<&Swap> {
        self.swaps[thread.index()].iter().find(|swap| swap.load == load)
    }

    /// Who may read one of these words, but for the setup thread, which is no part of an execution.
    fn readers_of(&self, words: &BTreeSet<LocId>) -> impl Iterator<Item = (ThreadId, InstrId)> {
        let program = self.words.program();
        let threads = program.thread_ids().filter(|thread| program.setup != Some(*thread));
        let all = threads.flat_map(|thread| {
            let code = 0..program.thread(thread).code.len();
            code.map(move |at| (thread, InstrId::new(at)))
        });
        all.filter(|(thread, pc)| {
            let reads = self.access(*thread, *pc).is_some_and(|access| access.kind.reads());
            reads && self.words.touches(*thread, *pc, words)
        })
    }

    /// Whether the thread, once it has read this value there, comes to the end of an iteration in which nothing has changed.
    fn goes_round(&self, thread: ThreadId, read: InstrId, value: i128) -> bool {
        let code = self.words.program().thread(thread);
        let around = self.turns[thread.index()].iter().filter(|turn| turn.body.contains(&read));
        let Some(turn) = around.min_by_key(|turn| turn.body.len()).filter(|turn| turn.point == Point::Always) else {
            return false;
        };
        let Some(access) = self.access(thread, read) else { return false };
        let store = self.swap(thread, read).map(|swap| swap.store);
        let written = store.map_or(Some(access), |store| self.access(thread, store));
        let rewrites = written.and_then(constant) == Some(value);
        let silent = match access.kind {
            AccessKind::Load => store.is_none() || rewrites,
            _ => rewrites,
        };
        let way = Way { code, turn, read, store };
        silent && way.is_once() && way.comes_from_nothing() && way.comes_back(access, value)
    }
}

/// An access in a loop.
struct Way<'a> {
    code: &'a Thread,
    turn: &'a Turn,
    read: InstrId,
    /// The store of the swap that it belongs to.
    store: Option<InstrId>,
}

impl Way<'_> {
    fn op(&self, pc: InstrId) -> &Op {
        &self.code.code[pc.index()].op
    }

    /// What can be executed from here on within an iteration, without passing the access.
    fn reached(&self, from: InstrId) -> Vec<InstrId> {
        Round::without(self.code, &self.turn.body, from, &[self.turn.at, self.read]).reached
    }

    /// Whether the access is executed only once in each iteration, and not before the first.
    fn is_once(&self) -> bool {
        let starts = std::iter::once(self.turn.head).chain(successors(self.op(self.read), self.read));
        let reached = |start| Round::without(self.code, &self.turn.body, start, &[self.turn.at]).reached;
        starts.into_iter().all(|start| !reached(start).contains(&self.read))
    }

    /// Whether an iteration has changed nothing before the access.
    fn comes_from_nothing(&self) -> bool {
        let at = self.turn.at;
        let mut before = if at == self.read { Vec::new() } else { vec![at] };
        let later = successors(self.op(at), at).filter(|_| at != self.read);
        before.extend(later.flat_map(|pc| self.reached(pc)));
        before.into_iter().all(|pc| match self.op(pc) {
            Op::Access(access) => access.kind == AccessKind::Load,
            op => is_quiet(op),
        })
    }

    /// Whether a thread that has read this value comes back to the point, if it comes to an end of the iteration.
    fn comes_back(&self, access: &Access, value: i128) -> bool {
        let mut known = Known::default();
        if !known.set(access.dst.as_ref(), Some(value)) {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut todo = vec![(InstrId::new(self.read.index() + 1), known)];
        while let Some((pc, known)) = todo.pop() {
            if pc == self.turn.at || !seen.insert((pc, known.clone())) {
                continue;
            }
            if !self.turn.body.contains(&pc) || seen.len() > 64 {
                return false;
            }
            let Some(next) = self.follow(pc, known, &access.addr) else { return false };
            todo.extend(next);
        }
        true
    }

    /// One instruction on the way back, if it changes nothing and cannot go wrong.
    fn follow(&self, pc: InstrId, mut known: Known, addr: &Addr) -> Option<Vec<(InstrId, Known)>> {
        let op = self.op(pc);
        let fine = match op {
            Op::Assign { dst, value } => {
                let value = known.eval(value)?;
                known.set(Some(dst), value)
            }
            Op::Access(access) if access.kind == AccessKind::Load => {
                (access.addr == *addr && self.is_steady(addr) || matches!(access.addr, Addr::Fixed(_)))
                    && known.set(access.dst.as_ref(), None)
            }
            Op::Access(_) => Some(pc) == self.store,
            Op::Branch { cond, then_to, else_to } => {
                if let Some(cond) = known.eval(cond)? {
                    return Some(vec![(if cond == 0 { *else_to } else { *then_to }, known)]);
                }
                true
            }
            op => is_quiet(op),
        };
        fine.then(|| successors(op, pc).map(|next| (next, known.clone())).collect())
    }

    /// Whether an address means the same everywhere in the loop.
    fn is_steady(&self, addr: &Addr) -> bool {
        let Addr::Indexed { index, .. } = addr else { return true };
        let mut named = Vec::new();
        expr_reads(index, &mut |register| named.push(register));
        let written = self.turn.body.iter().filter_map(|pc| writes(self.op(*pc)));
        !written.flat_map(|write| write.registers()).any(|register| named.contains(&register))
    }
}

/// Whether it is nothing to memory and does not drop the execution.
fn is_quiet(op: &Op) -> bool {
    matches!(op, Op::Assign { .. } | Op::Fence(_) | Op::Branch { .. } | Op::Jump(_) | Op::AtomicBegin | Op::AtomicEnd)
}

/// Registers whose values are known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Known(BTreeMap<RegId, i128>);

impl Known {
    /// Writes a register; not an element of an array.
    fn set(&mut self, dst: Option<&Place>, value: Option<i128>) -> bool {
        match (dst, value) {
            (None, _) => {}
            (Some(Place::Elem { .. }), _) => return false,
            (Some(Place::Reg(register)), Some(value)) => _ = self.0.insert(*register, value),
            (Some(Place::Reg(register)), None) => _ = self.0.remove(register),
        }
        true
    }

    /// What an expression is, if that is known; nothing if it may go wrong.
    fn eval(&self, expr: &LocalExpr) -> Option<Option<i128>> {
        use BinOp::{And, BitAnd, BitOr, BitXor, Eq, Ge, Gt, Le, Lt, Ne, Or};
        match expr {
            Expr::Const(value) => Some(Some(*value)),
            Expr::Var(Place::Reg(register)) => Some(self.0.get(register).copied()),
            Expr::Var(Place::Elem { .. }) => None,
            Expr::Unary(op, arg) => match self.eval(arg)? {
                Some(value) => op.apply(value).ok().map(Some),
                None => matches!(op, UnOp::Not | UnOp::Wrap(_)).then_some(None),
            },
            Expr::Binary(op, left, right) => match (self.eval(left)?, self.eval(right)?) {
                (Some(left), Some(right)) => op.apply(left, right).ok().map(Some),
                _ => matches!(op, And | BitAnd | BitOr | BitXor | Eq | Ge | Gt | Le | Lt | Ne | Or).then_some(None),
            },
        }
    }
}

impl Words<'_> {
    /// Whether everything that is accessed by these instructions is accessed by marked accesses everywhere.
    pub(crate) fn are_marked(&self, thread: ThreadId, body: &[InstrId]) -> bool {
        let words: BTreeSet<LocId> = body.iter().flat_map(|pc| self.touched(thread, *pc)).collect();
        let program = self.program();
        let threads = program.thread_ids().filter(|thread| program.setup != Some(*thread));
        words.is_empty()
            || Fault::IdleThoughRacing.is_on()
            || threads.into_iter().all(|thread| {
                let swaps = self.swaps(thread);
                let code =
                    program.thread(thread).code.iter().enumerate().map(|(at, instr)| (InstrId::new(at), &instr.op));
                let mut accesses = code.filter_map(|(pc, op)| Some((pc, op.access()?)));
                accesses.all(|(pc, access)| {
                    let updates =
                        access.kind == AccessKind::Rmw || swaps.iter().any(|swap| swap.load == pc || swap.store == pc);
                    !self.touches(thread, pc, &words) || is_marked(access, updates)
                })
            })
    }
}

/// Whether models with races are told that an access is atomic.
fn is_marked(access: &Access, updates: bool) -> bool {
    let tags = if updates { access.tags | Tags::SYNC } else { access.tags };
    let all = [Some(tags), access.failed];
    all.into_iter().flatten().all(|tags| tags.spoken().contains(Tags::ATOMIC))
}

/// The constant that is written, whatever was there.
fn constant(access: &Access) -> Option<i128> {
    match access.set()? {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}
