//! Are two moments of an execution the same, so that what can follow one can follow the other?
//!
//! They are if program counters, memory, the registers that are still used and the pending accesses agree, the latter up to a shift of their numbers: kinds,
//! locations and operands, which of them have to be performed before which others, what belongs to one section, and which fences, dependencies and
//! decisions order what comes later behind them. Values that are missing agree if they will be computed in the same way. Timestamps have to agree in the order of those
//! that can meet, and in the remainders that the program looks at: they may grow from round to round.

use cyrano_ir::dataflow::{Class, Clocks, Liveness};
use cyrano_ir::{AccessKind, Change, Expr, FenceSet, InstrId, LocId, Program, RegId, ThreadId, Ty};

use super::Snapshot;
use super::rest::{Form, Leaf, Rest, clock};
use crate::issue;
use crate::set::EventSet;

/// An access that is issued and not performed. Numbers of accesses count back from the last issued one.
#[derive(PartialEq, Eq)]
struct Pending {
    back: usize,
    kind: AccessKind,
    loc: LocId,
    change: Option<std::mem::Discriminant<Change>>,
    /// What axioms 1 to 3 put before it, and the part that axiom 3 is responsible for.
    before: Vec<usize>,
    depends: Vec<usize>,
    /// Whether the next access belongs to its section.
    joined: bool,
    /// The fences between it and what comes later.
    fences: FenceSet,
}

/// Compares two moments.
pub(super) struct Comparison<'a> {
    program: &'a Program,
    classes: &'a Clocks,
    /// The timestamps that correspond to each other.
    clocks: Vec<(Class, i128, i128)>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(program: &'a Program, classes: &'a Clocks) -> Self {
        Self { program, classes, clocks: Vec::new() }
    }

    pub(super) fn alike(mut self, first: &Snapshot<'_>, later: &Snapshot<'_>) -> bool {
        let locations = self.program.locations.iter().enumerate();
        for (at, location) in locations {
            let class = (location.ty == Ty::Timestamp).then(|| self.classes.location(LocId::new(at)));
            if !self.same(class, first.memory[at], later.memory[at]) {
                return false;
            }
        }
        let mut threads = self.program.thread_ids().zip(first.threads.iter().zip(&later.threads));
        threads.all(|(thread, (a, b))| self.threads(thread, a, b)) && self.clocks_agree()
    }

    fn same(&mut self, class: Option<Class>, a: i128, b: i128) -> bool {
        let Some(class) = class else { return a == b };
        self.clocks.push((class, a, b));
        (b - a) % self.classes.modulus(class) == 0
    }

    fn threads(&mut self, thread: ThreadId, a: &Rest<'_>, b: &Rest<'_>) -> bool {
        if a.machine.pc != b.machine.pc || a.endless.is_some() != b.endless.is_some() {
            return false;
        }
        if pending(a) != pending(b) || decided(a) != decided(b) {
            return false;
        }
        let operands = a.pending.iter().zip(&b.pending);
        let mut operands = operands.flat_map(|(x, y)| a.operands[*x].iter().zip(&b.operands[*y]));
        operands.all(|(x, y)| self.forms(x, y, (a, b))) && self.registers(thread, a, b) && self.ahead(thread, a, b)
    }

    /// What is done ahead of the text, in the order in which it was done.
    fn ahead(&mut self, thread: ThreadId, a: &Rest<'_>, b: &Rest<'_>) -> bool {
        let mut pairs = a.ahead.iter().zip(&b.ahead);
        a.ahead.len() == b.ahead.len()
            && pairs.all(|(x, y)| {
                let values = match (x.value, y.value) {
                    (Some((register, x)), Some((_, y))) => {
                        self.same(clock(self.program, self.classes, thread, register), x, y)
                    }
                    (None, None) => true,
                    _ => false,
                };
                x.instr == y.instr && values
            })
    }

    fn registers(&mut self, thread: ThreadId, a: &Rest<'_>, b: &Rest<'_>) -> bool {
        let declared = self.program.thread(thread);
        let live = Liveness::new(declared, []);
        let mut used = (0..declared.registers.len()).filter(|at| live.is_live(a.machine.pc, RegId::new(*at)));
        used.all(|at| {
            let taints = |rest: &Rest<'_>| backwards(rest, &rest.machine.taints[at]);
            let class = clock(self.program, self.classes, thread, RegId::new(at));
            let values = match (a.machine.registers[at], b.machine.registers[at]) {
                (Some(x), Some(y)) => self.same(class, x, y),
                (None, None) => match (&a.forms[at], &b.forms[at]) {
                    (Some(x), Some(y)) => self.forms(x, y, (a, b)),
                    _ => false,
                },
                _ => false,
            };
            values && taints(a) == taints(b)
        })
    }

    fn forms(&mut self, x: &Form, y: &Form, rests: (&Rest<'_>, &Rest<'_>)) -> bool {
        match (x, y) {
            (Expr::Const(a), Expr::Const(b)) => a == b,
            (Expr::Unary(op, a), Expr::Unary(other, b)) => op == other && self.forms(a, b, rests),
            (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => {
                op == other && self.forms(a, c, rests) && self.forms(b, d, rests)
            }
            (Expr::Var(Leaf::Event(a)), Expr::Var(Leaf::Event(b))) => back(rests.0, *a) == back(rests.1, *b),
            (Expr::Var(Leaf::Clock(class, a)), Expr::Var(Leaf::Clock(other, b))) => {
                class == other && self.same(Some(*class), *a, *b)
            }
            _ => false,
        }
    }

    /// Timestamps of one class have the same order in both, together with those that are never renumbered, for they are what programs compare with.
    fn clocks_agree(&self) -> bool {
        let mut met: Vec<Class> = self.clocks.iter().map(|(class, ..)| *class).collect();
        met.sort_unstable();
        met.dedup();
        met.into_iter().all(|class| {
            let own = self.clocks.iter().filter(|(of, ..)| *of == class).map(|(_, a, b)| (*a, *b));
            same_order((0..=self.largest_start()).map(|value| (value, value)).chain(own).collect())
        })
    }

    fn largest_start(&self) -> i128 {
        let locations = self.program.locations.iter().filter(|l| l.ty == Ty::Timestamp).map(|l| l.init);
        let registers = self.program.threads.iter().flat_map(|thread| &thread.registers);
        let registers = registers.filter(|r| r.ty == Ty::Timestamp).map(|r| r.init);
        locations.chain(registers).max().unwrap_or(0).clamp(0, 64)
    }
}

/// How far an access lies behind the end of what is issued.
fn back(rest: &Rest<'_>, event: usize) -> usize {
    rest.machine.events.len() - event
}

/// Those of a set that are pending.
fn backwards(rest: &Rest<'_>, set: &EventSet) -> Vec<usize> {
    rest.pending.iter().filter(|event| set.contains(**event)).map(|event| back(rest, *event)).collect()
}

/// What decided the way so far, as far as it is pending.
fn decided(rest: &Rest<'_>) -> Vec<usize> {
    backwards(rest, &rest.machine.control)
}

fn pending(rest: &Rest<'_>) -> Vec<Pending> {
    let events = issue::events(&rest.machine);
    let op = |instr: InstrId| rest.machine.code.op(instr);
    let one = |at: &usize| {
        let event = &events[*at];
        let behind = rest.machine.fences.iter().filter(|(before, _)| before > at);
        Pending {
            back: back(rest, *at),
            kind: event.kind,
            loc: event.loc,
            change: op(event.instr).change().map(std::mem::discriminant),
            before: backwards(rest, &event.before),
            depends: backwards(rest, &event.depends),
            joined: event.unit.is_some() && events.get(at + 1).is_some_and(|next| next.unit == event.unit),
            fences: behind.fold(FenceSet::NONE, |all, (_, set)| all | *set),
        }
    };
    rest.pending.iter().map(one).collect()
}

/// Whether the first ones are ordered like the second ones.
fn same_order(mut pairs: Vec<(i128, i128)>) -> bool {
    pairs.sort_unstable();
    pairs.windows(2).all(|pair| {
        let ((a, b), (c, d)) = (pair[0], pair[1]);
        (a < c) == (b < d) && (a == c) == (b == d)
    })
}
