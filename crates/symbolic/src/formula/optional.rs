//! Fences that may be there or not: one formula for a program with every set of them.
//!
//! Each kind of a fence at each position has a *selector*. A set of fences is asked about by assuming its selectors; whatever the solver learns holds for
//! all sets, because it never rests on an assumption.
//!
//! **Selectors come when they are needed.** A C file has a hundred fences that could be asked about and a search asks about a dozen. So a selector's nodes, edges and
//! clauses are added when it is first assumed ([`Optional::select`]); until then the formula is that of the program without the fence. What has been learnt stays true, for
//! what is added only takes assignments away where the selector holds. Copies of a fence that come from one position are there together, so that within one selector the first copy that is surely
//! executed stands for those before it, as for any other fence ([`crate::formula::fence`]); a fence that may be missing cannot stand for fences of other selectors.
//!
//! **What was tried before:** an edge for each pair of accesses with a literal for "some selected fence between them", for all selectors at once. It needs no nodes, but
//! these literals are implied by assumptions and so they fill what is learnt: proofs took up to three times as many conflicts.
//!
//! **One direction.** Clauses say that an edge is there if its selector holds and both ends are executed. The other direction is left out. So selectors and edges occur with one sign only: every
//! assignment can be changed to one where no selector holds that is not assumed, and no edge is there that clauses do not demand. The solver therefore decides nothing about these
//! variables, which are *passive*; what it does not assign is false.
//!
//! **Every set at once.** Everything else in the formula is right for all sets:
//!
//! - Symbolic execution, values, ranges, dependencies and own orders do not look at fences.
//! - [Idle](crate::execute::idle) iterations: the argument leaves out the fences of an iteration, whichever there are, and what is left is asked for less.
//! - [Equal threads](crate::formula::symmetry): a set of fences breaks the symmetry of two threads unless it has the same fences in both. A selector belongs to a position of the source, and two
//!   threads are put in order only if they pass the same positions.
//! - Bounds of loops are those that some set needed; larger ones do no harm.
//!
//! **Invariant:** with all selectors of a set true and the others not, the satisfying assignments are those of the program that has exactly these fences. A set that has more fences has
//! fewer of them (axiom 2), so what is unsatisfiable with some selectors stays so with more.

use cyrano_ir::{FenceSet, Instr, InstrId, Program, ThreadId};
use cyrano_memory::Model;

use crate::execute::event::{Item, Run};
use crate::formula::fence::{Fences, is_kept};
use crate::formula::gates::Gates;
use crate::formula::graph::{Graph, Node};
use crate::formula::lit::Lit;

/// Which fences of a program are optional: the position of each, which all copies of it share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions(Vec<Vec<Option<u32>>>);

impl Positions {
    /// Those fences that have a position.
    pub(crate) fn new(program: &Program, position: impl Fn(&Instr) -> Option<u32>) -> Self {
        Self(program.threads.iter().map(|thread| thread.code.iter().map(&position).collect()).collect())
    }

    /// The position of the fence at this instruction, if it is optional.
    pub(crate) fn get(&self, thread: ThreadId, pc: InstrId) -> Option<u32> {
        self.0.get(thread.index())?.get(pc.index()).copied().flatten()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The literal that says that the fence at a position has a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selector {
    pub(crate) position: u32,
    pub(crate) kind: FenceSet,
    pub(crate) lit: Lit,
}

/// What is needed to add selectors to a formula.
#[derive(Debug)]
pub(crate) struct Optional {
    /// The gates of the formula; clauses that have been added since it was loaded.
    pub(crate) gates: Gates,
    pub(crate) selectors: Vec<Selector>,
    /// Passive variables, in ascending order.
    pub(crate) passive: Vec<u32>,
}

impl Optional {
    /// No selectors yet.
    pub(crate) fn new(gates: Gates) -> Self {
        Self { gates, selectors: Vec::new(), passive: Vec::new() }
    }

    /// Adds what is missing so that these fences can be assumed; whether anything was.
    pub(crate) fn select(
        &mut self,
        fences: &[(u32, FenceSet)],
        run: &Run,
        model: &Model,
        nodes: &[Node],
        graph: &mut Graph,
    ) -> bool {
        let before = self.selectors.len();
        for (position, kinds) in fences {
            let single = FenceSet::KINDS.iter().map(|(kind, _)| *kind);
            for kind in single.filter(|kind| kinds.contains(*kind) && !is_kept(model, *kind)) {
                let known = |selector: &Selector| selector.position == *position && selector.kind == kind;
                if !self.selectors.iter().any(known) {
                    self.add(*position, kind, run, nodes, graph);
                }
            }
        }
        self.selectors.len() > before
    }

    fn add(&mut self, position: u32, kind: FenceSet, run: &Run, nodes: &[Node], graph: &mut Graph) {
        let lit = self.gates.fresh();
        self.passive.push(lit.var());
        self.selectors.push(Selector { position, kind, lit });
        let here = |item: &Item| match item {
            Item::Optional(guard, at, unit) if *at == position => Some((*guard, *unit)),
            _ => None,
        };
        let selector = Some((lit, &mut self.passive));
        let mut fences = Fences { run, nodes, graph, gates: &mut self.gates, selector };
        run.threads.iter().for_each(|thread| fences.lay(&thread.items, kind, &here));
    }
}

/// The instruction of a program that is the section at this instruction of another one with other fences.
pub(crate) fn same_section(from: &Program, to: &Program, thread: ThreadId, instr: InstrId) -> Option<InstrId> {
    let begins = |program: &Program| -> Vec<usize> {
        let code = program.thread(thread).code.iter().enumerate();
        code.filter(|(_, instr)| matches!(instr.op, cyrano_ir::Op::AtomicBegin)).map(|(at, _)| at).collect()
    };
    let number = begins(from).iter().position(|at| *at == instr.index())?;
    begins(to).get(number).map(|at| InstrId::new(*at))
}
