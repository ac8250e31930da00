//! Memory orders of C as machines have them: which tags an access keeps, and which fences stand around it.
//!
//! | | published as |
//! |---|---|
//! | [`Target::Arm`], [`Target::Power`] | Sewell and others, *C/C++11 mappings to processors*; Batty and others, POPL 2012 (Power); Pulte and others, POPL 2018 (Armv8) |
//! | [`Target::Riscv`] | *The RISC-V Instruction Set Manual*, volume I, table A.6 |
//! | [`Target::Pairs`] | the convention with trailing fences (Lahav and others, PLDI 2017, section 6) in kinds of fences: store-buffer machines have it as `mov; mfence` |
//!
//! Read-modify-writes are single instructions where the machine has such (Armv8.1, RISC-V's AMOs), and else a pair of a load and a store that is exclusive, as
//! the model sees a section. What succeeds and what fails may have different orders; what stands behind an access that fails is what its own order asks for.
//!
//! **Invariant:** an access without tags, which C calls not atomic, is left alone; so is what the model knows by itself. `cyrano_conformance` compares the outcomes of
//! generated tests with those of rc11: a mapping never shows more.

use std::collections::BTreeSet;

use cyrano_ir::{
    BinOp, Change, Expr, Fence, FenceSet, Instr, InstrId, LocalExpr, Op, Place, Program, RegId, Register, Tags, Thread,
    Ty, UNDEFINED,
};

/// What programs are mapped to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Models that reorder pairs of accesses, where fences are known by what they order.
    Pairs,
    /// Armv8, with the instructions of Armv8.1.
    Arm,
    /// Power.
    Power,
    /// RISC-V.
    Riscv,
}

/// A place in the tables: what reads or writes, and what is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Load,
    Store,
    /// A read-modify-write in one instruction.
    Update,
    /// One of two instructions.
    Pair,
}

/// What stands around an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Around {
    before: Option<Barrier>,
    after: Option<Barrier>,
    /// Whether a branch on what was read stands before what is behind.
    control: bool,
}

/// A fence of the machine, or of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Barrier {
    Named(&'static str),
    Kinds(u8),
}

use Barrier::{Kinds, Named};

const BEFORE_RELEASE: Barrier = Kinds(FenceSet::LS.bits() | FenceSet::SS.bits());
const AFTER_ACQUIRE: Barrier = Kinds(FenceSet::LL.bits() | FenceSet::LS.bits());
const FULL: Barrier = Kinds(FenceSet::FULL.bits());

/// What an order asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Asked {
    acquire: bool,
    release: bool,
    seq_cst: bool,
    full: bool,
}

impl Asked {
    fn of(tags: Tags) -> Self {
        let seq_cst = tags.contains(Tags::SEQ_CST);
        Self {
            // Compilers make an acquire of a consume.
            acquire: seq_cst || tags.meets(Tags::ACQUIRE | Tags::CONSUME | Tags::ACQUIRE_PC),
            release: seq_cst || tags.contains(Tags::RELEASE),
            seq_cst,
            full: tags.contains(Tags::FULL),
        }
    }
}

impl Target {
    /// The table.
    fn around(self, kind: Kind, asked: Asked) -> Around {
        let Asked { acquire, release, seq_cst, full } = asked;
        let (reads, writes) = (kind != Kind::Store, kind != Kind::Load);
        let (acquire, release) = (acquire && reads, release && writes);
        let when = |holds: bool, barrier: Barrier| holds.then_some(barrier);
        match self {
            Self::Pairs if full => Around { before: Some(FULL), after: Some(FULL), control: false },
            Self::Pairs => Around {
                before: when(release, BEFORE_RELEASE),
                after: when(seq_cst && writes, FULL).or(when(acquire, AFTER_ACQUIRE)),
                control: false,
            },
            Self::Power => Around {
                before: when(seq_cst, Named("sync")).or(when(release, Named("lwsync"))),
                after: when(acquire, Named("isync")),
                control: acquire,
            },
            Self::Riscv => match kind {
                Kind::Load => Around {
                    before: when(seq_cst, Named("fence.rw.rw")),
                    after: when(acquire, Named("fence.r.rw")),
                    control: false,
                },
                Kind::Store => Around { before: when(release, Named("fence.rw.w")), ..Around::default() },
                Kind::Update => Around::default(),
                // `lr.aqrl`: a fence before an `lr.aq` orders as much.
                Kind::Pair => Around { before: when(seq_cst, Named("fence.rw.rw")), ..Around::default() },
            },
            Self::Arm => Around::default(),
        }
    }

    /// The tags that stay.
    fn tags(self, kind: Kind, tags: Tags) -> Tags {
        let asked = Asked::of(tags);
        let own = |holds: bool, tag: Tags| if holds { tag } else { Tags::default() };
        let half = own(asked.acquire, Tags::ACQUIRE) | own(asked.release, Tags::RELEASE);
        // What a machine does not know is left for the model to refuse.
        let unknown = own(asked.full, Tags::FULL) | own(tags.contains(Tags::SRCU), Tags::SRCU);
        match (self, kind) {
            (Self::Pairs, _) => tags
                .without(Tags::SEQ_CST | Tags::ACQUIRE | Tags::ACQUIRE_PC | Tags::CONSUME | Tags::RELEASE | Tags::FULL),
            (Self::Arm, _) | (Self::Riscv, Kind::Update | Kind::Pair) => half | unknown,
            _ => unknown,
        }
    }

    /// The fence of a memory order, or of the kernel, as it is here.
    fn fence(self, fence: Fence) -> Option<Fence> {
        let Fence::Named { name, at: None } = fence else { return Some(fence) };
        let table: &[(&str, [&str; 3])] = &[
            ("thread_fence.consume", ["dmb.ishld", "lwsync", "fence.r.rw"]),
            ("thread_fence.acquire", ["dmb.ishld", "lwsync", "fence.r.rw"]),
            ("thread_fence.release", ["dmb.ish", "lwsync", "fence.rw.w"]),
            ("thread_fence.acq_rel", ["dmb.ish", "lwsync", "fence.tso"]),
            ("thread_fence.seq_cst", ["dmb.ish", "sync", "fence.rw.rw"]),
            // The kernel's, from its `asm/barrier.h`.
            ("smp_mb", ["dmb.ish", "sync", "fence.rw.rw"]),
            ("smp_rmb", ["dmb.ishld", "lwsync", "fence.r.r"]),
            ("smp_wmb", ["dmb.ishst", "lwsync", "fence.w.w"]),
        ];
        let column = match self {
            Self::Pairs => return Some(fence),
            Self::Arm => 0,
            Self::Power => 1,
            Self::Riscv => 2,
        };
        if matches!(name.name(), "thread_fence.relaxed" | "barrier") {
            return None;
        }
        let found = table.iter().find(|(known, _)| *known == name.name());
        Some(found.and_then(|(_, row)| Fence::named(row[column])).unwrap_or(fence))
    }
}

impl Barrier {
    fn op(self) -> Op {
        match self {
            Named(name) => Op::Fence(Fence::named(name).expect("it is a fence of the IR's")),
            Kinds(bits) => Op::fence(FenceSet::from_bits(bits)),
        }
    }
}

/// Whether there is anything to map: an access or a fence that says how it is ordered.
pub fn speaks_of_orders(program: &Program) -> bool {
    let orders = Tags::SEQ_CST | Tags::ACQUIRE | Tags::CONSUME | Tags::RELEASE | Tags::FULL | Tags::ATOMIC;
    let speaks = |op: &Op| match op {
        Op::Fence(Fence::Named { name, .. }) => name.name().starts_with("thread_fence") || name.name().contains("smp_"),
        op => op.access().is_some_and(|access| access.tags.meets(orders)),
    };
    program.threads.iter().flat_map(|thread| &thread.code).any(|instr| speaks(&instr.op))
}

/// The program as a compiler makes it.
pub fn compiled(program: &Program, target: Target) -> Program {
    let threads = program.threads.iter().map(|thread| Mapping::of(thread, target).thread()).collect();
    // On a machine everything behind a branch depends on it, also where its two ways have met.
    let scoped = program.scoped && target == Target::Pairs;
    Program { threads, scoped, ..program.clone() }
}

/// A thread in the making.
struct Mapping<'t> {
    from: &'t Thread,
    target: Target,
    registers: Vec<Register>,
    code: Vec<Instr>,
    /// Where each instruction of the thread is now.
    places: Vec<InstrId>,
    /// Jumps whose targets are where they should be.
    settled: BTreeSet<usize>,
    /// What is asked for by the sections that an instruction begins or ends.
    sections: Vec<Option<Asked>>,
    within: Vec<bool>,
    /// What the section that ends there has read last.
    read: Vec<Option<Place>>,
}

impl<'t> Mapping<'t> {
    fn of(from: &'t Thread, target: Target) -> Self {
        let (registers, len) = (from.registers.clone(), from.code.len());
        let (code, places, settled) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut mapping = Self {
            from,
            target,
            registers,
            code,
            places,
            settled,
            sections: vec![None; len],
            within: vec![false; len],
            read: vec![None; len],
        };
        mapping.find_sections();
        mapping
    }

    /// Sections may have several ends, and share them.
    fn find_sections(&mut self) {
        let code = &self.from.code;
        for begin in (0..code.len()).filter(|at| matches!(code[*at].op, Op::AtomicBegin)) {
            let (mut seen, mut todo, mut ends) = (BTreeSet::new(), vec![begin], vec![begin]);
            let (mut tags, mut read) = (Tags::default(), None);
            while let Some(at) = todo.pop() {
                if at >= code.len() || !seen.insert(at) {
                    continue;
                }
                self.within[at] = true;
                if matches!(code[at].op, Op::AtomicEnd) {
                    ends.push(at);
                    continue;
                }
                if let Some(access) = code[at].op.access() {
                    tags |= access.tags;
                    read = access.dst.clone().or(read);
                }
                let next = cyrano_ir::dataflow::successors(&code[at].op, InstrId::new(at));
                todo.extend(next.map(InstrId::index));
            }
            for at in ends {
                self.read[at] = read.clone();
                let before = self.sections[at].unwrap_or(Asked::of(Tags::default()));
                let asked = Asked::of(tags);
                self.sections[at] = Some(Asked {
                    acquire: before.acquire || asked.acquire,
                    release: before.release || asked.release,
                    seq_cst: before.seq_cst || asked.seq_cst,
                    full: before.full || asked.full,
                });
            }
        }
    }

    fn thread(mut self) -> Thread {
        for at in 0..self.from.code.len() {
            self.instruction(at);
        }
        for at in (0..self.code.len()).filter(|at| !self.settled.contains(at)) {
            match &mut self.code[at].op {
                Op::Jump(to) => *to = self.places[to.index()],
                Op::Branch { then_to, else_to, .. } => {
                    *then_to = self.places[then_to.index()];
                    *else_to = self.places[else_to.index()];
                }
                _ => {}
            }
        }
        Thread { name: self.from.name.clone(), registers: self.registers, code: self.code }
    }

    fn instruction(&mut self, at: usize) {
        let instr = &self.from.code[at];
        self.places.push(InstrId::new(self.code.len()));
        match &instr.op {
            Op::AtomicBegin => {
                let around = self.sections[at].map(|asked| self.target.around(Kind::Pair, asked)).unwrap_or_default();
                self.barrier(around.before, at);
                self.push(instr.op.clone(), at);
            }
            Op::AtomicEnd => {
                self.push(instr.op.clone(), at);
                let around = self.sections[at].map(|asked| self.target.around(Kind::Pair, asked)).unwrap_or_default();
                // A pair branches on whether it has written.
                match self.read[at].clone().filter(|_| around.control) {
                    Some(read) => self.after_branch(read, around.after, at),
                    None => self.barrier(around.after, at),
                }
            }
            Op::Fence(fence) => match self.target.fence(*fence) {
                Some(fence) => self.push(Op::Fence(fence), at),
                None => self.push(Op::Jump(InstrId::new(at + 1)), at),
            },
            Op::Access(access) if self.within[at] => {
                let mut access = access.clone();
                access.tags = self.target.tags(Kind::Pair, access.tags);
                let unfit = if access.kind.writes() { Tags::ACQUIRE } else { Tags::RELEASE };
                if access.kind != cyrano_ir::AccessKind::Rmw {
                    access.tags = access.tags.without(unfit);
                }
                access.failed = access.failed.map(|tags| self.target.tags(Kind::Pair, tags));
                self.push(Op::Access(access), at);
            }
            Op::Access(access) => self.access(access, at),
            op => self.push(op.clone(), at),
        }
    }

    fn access(&mut self, access: &cyrano_ir::Access, at: usize) {
        let kind = match access.kind {
            cyrano_ir::AccessKind::Load => Kind::Load,
            cyrano_ir::AccessKind::Store => Kind::Store,
            _ => Kind::Update,
        };
        let around = self.target.around(kind, Asked::of(access.tags));
        self.barrier(around.before, at);
        let mut made = access.clone();
        let keep = |tags: Tags, kind: Kind| {
            let unfit = match kind {
                Kind::Load => Tags::RELEASE,
                Kind::Store => Tags::ACQUIRE,
                _ => Tags::default(),
            };
            self.target.tags(kind, tags).without(unfit)
        };
        made.tags = keep(access.tags, kind);
        made.failed = access.failed.map(|tags| keep(tags, Kind::Update));
        if made.failed == Some(made.tags) {
            made.failed = None;
        }
        if around.control && made.dst.is_none() {
            let name = format!("%read{}", self.registers.len());
            made.dst = Some(Place::Reg(RegId::new(self.registers.len())));
            self.registers.push(Register { name, init: UNDEFINED, ty: Ty::Int });
        }
        self.push(Op::Access(made.clone()), at);
        let read = made.dst.clone().map(Expr::Var);
        let failed = access.failed.map(|tags| self.target.around(Kind::Load, Asked::of(tags)));
        match (failed, read, &access.change) {
            // Only a swap that succeeds is ordered with what is behind it.
            (Some(failed), Some(read), Some(Change::Cas { expected, .. })) if failed.after != around.after => {
                let equal = LocalExpr::binary(BinOp::Eq, read, expected.clone());
                let branch = self.code.len();
                self.push(Op::Branch { cond: equal, then_to: InstrId::new(0), else_to: InstrId::new(0) }, at);
                self.settled.insert(branch);
                self.barrier(around.after, at);
                let jump = self.code.len();
                self.push(Op::Jump(InstrId::new(0)), at);
                self.settled.insert(jump);
                self.barrier(failed.after, at);
                let end = InstrId::new(self.code.len());
                self.code[branch].op = match self.code[branch].op.clone() {
                    Op::Branch { cond, .. } => {
                        Op::Branch { cond, then_to: InstrId::new(branch + 1), else_to: InstrId::new(jump + 1) }
                    }
                    op => op,
                };
                self.code[jump].op = Op::Jump(end);
            }
            (..) if around.control && made.dst.is_some() => {
                made.dst.into_iter().for_each(|read| self.after_branch(read, around.after, at));
            }
            _ => self.barrier(around.after, at),
        }
    }

    /// A fence behind a branch that leads on whatever was read.
    fn after_branch(&mut self, read: Place, barrier: Option<Barrier>, at: usize) {
        let here = self.code.len();
        self.settled.extend([here, here + 1]);
        let (then_to, else_to) = (InstrId::new(here + 1), InstrId::new(here + 2));
        let cond = LocalExpr::binary(BinOp::Eq, Expr::Var(read), Expr::Const(0));
        self.push(Op::Branch { cond, then_to, else_to }, at);
        self.push(Op::Jump(else_to), at);
        self.barrier(barrier, at);
    }

    fn barrier(&mut self, barrier: Option<Barrier>, at: usize) {
        if let Some(barrier) = barrier {
            self.push(barrier.op(), at);
        }
    }

    fn push(&mut self, op: Op, at: usize) {
        self.code.push(Instr { op, span: self.from.code[at].span });
    }
}
