//! From checked C to the instructions of one thread.
//!
//! Every call is inlined. Locals are registers, except those that need an address ([`crate::flow::escape`]). Every read of memory in the source is one
//! load, every assignment one store per word; expressions without memory accesses stay trees. `optimise` cleans up behind this module,
//! which therefore copies freely.
//!
//! **Invariant:** a value that was computed from variables is saved before something else in the same expression can change them.

mod atomic;
pub(crate) mod call;
mod cond;
mod expr;
mod heap;
mod intrinsic;
pub(crate) mod lifetimes;
pub(crate) mod memory;
pub(crate) mod rounds;
mod spot;
mod stmt;
pub(crate) mod threads;

use std::collections::BTreeMap;

use cyrano_ir::{Expr as Ir, Instr, InstrId, LocalExpr, Op, Place, RegId, Register, Span, Ty, UNDEFINED};

use crate::check::Checked;
use crate::flow::escape::Escapes;
use crate::flow::kept::Kept;
use crate::lower::memory::{Memory, Object};
use crate::source::{Loc, Sources};
use crate::tree::{FuncId, GlobalId, LabelId};

pub(crate) use spot::Spot;
use threads::{Site, Spawn};

/// How many instructions a thread may have before they are cleaned up.
pub(crate) const MAX_CODE: usize = 1 << 16;

/// How many registers a thread may have before they are cleaned up.
pub(crate) const MAX_REGISTERS: usize = 1 << 15;

/// What all threads share.
pub(crate) struct Shared<'u> {
    pub(crate) checked: &'u Checked,
    pub(crate) sources: &'u Sources,
    pub(crate) escapes: &'u Escapes,
    pub(crate) kept: &'u Kept,
    /// Whether `main` may end by `pthread_exit`.
    pub(crate) main_exits: bool,
    /// The addresses of the globals that are there from the start.
    pub(crate) addresses: &'u [Option<i128>],
    /// Those of the others so far, and of which thread they are.
    pub(crate) mentioned: BTreeMap<(GlobalId, Option<usize>), i128>,
    pub(crate) memory: Memory,
    /// How many objects a `malloc` within a loop can make.
    pub(crate) objects: u32,
    /// The objects that `malloc` may return again once they are freed.
    pub(crate) reused: Vec<Object>,
    /// All objects, as far as `realloc` asks for them.
    pub(crate) known: Vec<Object>,
    /// The thread that is being made.
    pub(crate) thread: usize,
    /// Whether thread 0 runs before the others start.
    pub(crate) setup: bool,
    /// The threads that were created so far.
    pub(crate) spawned: Vec<Spawn>,
    /// What cannot be lowered, and why.
    pub(crate) refused: Vec<(Span, String)>,
    /// Whether a section waits, other than for threads to start and to end.
    pub(crate) waits: bool,
    /// How many threads there are, or at most, and whether that was asked.
    pub(crate) threads: usize,
    pub(crate) counts: bool,
    /// The globals that are constants, in a whole program.
    pub(crate) fixed: BTreeMap<GlobalId, i128>,
    /// For each function whether it creates or joins threads.
    pub(crate) threaded: Vec<bool>,
    /// Likewise whether it creates any.
    pub(crate) creating: Vec<bool>,
}

/// A thread in the making.
pub(crate) struct Lowerer<'s, 'u> {
    pub(crate) shared: &'s mut Shared<'u>,
    pub(crate) registers: Vec<Register>,
    pub(crate) code: Vec<Instr>,
    /// Where labels are; targets of jumps are positions in this table.
    pub(crate) labels: Vec<usize>,
    /// The last position that a label was put at.
    barrier: usize,
    pub(crate) span: Span,
    frames: Vec<Frame>,
    /// Atomic blocks around; only the outermost one has instructions.
    atomic: u32,
    /// Loops around, over all calls.
    repeats: u32,
    /// Whether retry loops run once.
    pub(crate) primed: bool,
    /// Whether the code grew beyond [`MAX_CODE`] or the registers beyond [`MAX_REGISTERS`].
    pub(crate) too_long: bool,
    /// Fences within atomic blocks, which inlining brought there.
    pub(crate) fenced: Vec<Span>,
    /// Likewise the marks of blocks with commit points.
    pub(crate) marked: Vec<Span>,
    /// What `pthread_self` gives.
    pub(crate) own: i128,
    /// In a whole program: where the thread ends, and where its result is.
    pub(crate) end: Option<usize>,
    pub(crate) result: Option<RegId>,
    /// How many threads it has joined, if that is asked.
    pub(crate) joined: Option<RegId>,
    /// Where it creates threads.
    pub(crate) sites: Vec<Site>,
    /// Unrolled loops around: what is declared in them starts anew in each round.
    fresh: u32,
    /// Memory orders that are none, and why.
    pub(crate) disordered: Vec<(Span, String)>,
}

/// One inlined call.
struct Frame {
    func: FuncId,
    locals: Vec<Option<Spot>>,
    /// Parameters that are other names for what their arguments point to.
    aliases: Vec<Option<Spot>>,
    /// The locals that end with the call.
    ending: Vec<LocalExpr>,
    /// Where the result goes.
    result: Option<Spot>,
    exit: Target,
    labels: Vec<Option<usize>>,
    breaks: Vec<Target>,
    continues: Vec<Target>,
    /// The atomic blocks around the call.
    atomic: u32,
}

/// A label and the number of atomic blocks around it.
#[derive(Clone, Copy)]
struct Target {
    label: usize,
    atomic: u32,
}

impl<'s, 'u> Lowerer<'s, 'u> {
    pub(crate) fn new(shared: &'s mut Shared<'u>) -> Self {
        Self {
            shared,
            registers: Vec::new(),
            code: Vec::new(),
            labels: Vec::new(),
            barrier: 0,
            span: Span::default(),
            frames: Vec::new(),
            atomic: 0,
            repeats: 0,
            primed: false,
            too_long: false,
            fenced: Vec::new(),
            marked: Vec::new(),
            own: 0,
            end: None,
            result: None,
            joined: None,
            sites: Vec::new(),
            fresh: 0,
            disordered: Vec::new(),
        }
    }

    pub(crate) fn emit(&mut self, op: Op) {
        if self.code.len() >= MAX_CODE {
            self.too_long = true;
            return;
        }
        self.code.push(Instr { op, span: self.span });
    }

    /// A new register for an integer; temporaries have an empty name.
    pub(crate) fn register(&mut self, name: &str, init: i128) -> RegId {
        self.typed_register(name, Ty::Int, init)
    }

    pub(crate) fn typed_register(&mut self, name: &str, ty: Ty, init: i128) -> RegId {
        let id = RegId::new(self.registers.len());
        let name = if name.is_empty() { format!("%{}", id.0) } else { name.to_string() };
        self.registers.push(Register { name, init, ty });
        id
    }

    fn temp(&mut self) -> RegId {
        self.register("", UNDEFINED)
    }

    fn var(reg: RegId) -> LocalExpr {
        Ir::Var(Place::Reg(reg))
    }

    /// Copies a value that mentions registers, so that it does not change with them.
    fn saved(&mut self, value: LocalExpr) -> LocalExpr {
        let mut mentions = false;
        value.for_each_var(&mut |_| mentions = true);
        if !mentions {
            return value;
        }
        let temp = self.temp();
        self.emit(Op::Assign { dst: Place::Reg(temp), value });
        Self::var(temp)
    }

    pub(crate) fn new_label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    pub(crate) fn bind(&mut self, label: usize) {
        self.labels[label] = self.code.len();
        self.barrier = self.code.len();
    }

    fn jump(&mut self, label: usize) {
        self.emit(Op::Jump(InstrId::new(label)));
    }

    pub(crate) fn branch(&mut self, cond: LocalExpr, then: usize, other: usize) {
        match cond {
            Ir::Const(0) => self.jump(other),
            Ir::Const(_) => self.jump(then),
            cond => self.emit(Op::Branch { cond, then_to: InstrId::new(then), else_to: InstrId::new(other) }),
        }
    }

    /// An atomic section, or a part of the one around.
    fn atomically<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        if self.atomic == 0 {
            self.emit(Op::AtomicBegin);
        }
        self.atomic += 1;
        let made = body(self);
        self.atomic -= 1;
        if self.atomic == 0 {
            self.emit(Op::AtomicEnd);
        }
        made
    }

    /// A jump that ends the atomic section if it leaves it.
    fn leave(&mut self, target: Target) {
        if self.atomic > 0 && target.atomic == 0 {
            self.emit(Op::AtomicEnd);
        }
        self.jump(target.label);
    }

    fn target(&self, label: usize) -> Target {
        Target { label, atomic: self.atomic }
    }

    /// From here on instructions belong to this place, if it is in the user's file.
    fn at(&mut self, loc: Loc) {
        if loc.is_main() {
            self.span = loc.span;
        }
    }

    fn frame(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// The label of a function's label in this call.
    fn label_of(&mut self, id: LabelId) -> usize {
        if let Some(label) = self.frame().and_then(|frame| frame.labels.get(id.0).copied().flatten()) {
            return label;
        }
        let label = self.new_label();
        if let Some(slot) = self.frame().and_then(|frame| frame.labels.get_mut(id.0)) {
            *slot = Some(label);
        }
        label
    }

    /// Whether a position of the current function may be reached again, by a loop or a jump back.
    fn is_repeated(&self, position: u32) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let ranges = &self.shared.checked.functions[frame.func.0].back_ranges;
        let jumped = !self.primed && ranges.iter().any(|(from, to)| (*from..=*to).contains(&position));
        self.repeats > 0 || jumped
    }
}
