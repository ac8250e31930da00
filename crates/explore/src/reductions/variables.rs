//! Variable symmetry (reduction `variable-symmetry`), for criteria that treat all transactional variables alike.
//!
//! Where a memory treats its variables alike, renaming them turns executions into executions, and of the states that differ
//! only by such a renaming one is stored. A memory that visits its variables in a fixed order, to lock them say, does not
//! treat them alike; most do that, so this is found out for each program, and for most it is not used.
//!
//! **Argument.** A permutation of the variables is extended to an automorphism of the program: a permutation of locations, and for
//! each thread one of registers and one of instructions. The client's commands are paired by their numbers (the reads of the
//! variables, then their writes, then `end`: `lower_client` in the front end); from there the codes are walked in pairs, and each
//! pair of instructions must be the same up to the renaming, which grows on the way and has to stay one-to-one. Initial values
//! must agree. Then a step of a state, renamed, is a step of the renamed state: every instruction does the same to the renamed
//! places. The dispatch of a command is not walked; threads do not rest in it, because `macro-steps` is on, and the number of the
//! command is dead afterwards.
//!
//! Witnesses are rebuilt without renaming.

use cyrano_ir::dataflow::Pairs;
use cyrano_ir::{Access, Addr, BinOp, Expr, InstrId, LocalExpr, Op, Place, Program, Thread};

use crate::reductions::symmetry::renamings;
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, State};

/// The most variables whose renamings are all tried.
const MOST_VARIABLES: usize = 3;

/// One renaming of the variables, extended to everything.
pub(crate) struct Renaming {
    variables: Vec<u8>,
    locations: Vec<usize>,
    threads: Vec<Lane>,
}

impl Renaming {
    /// For each instruction of a thread its partner, if it has one.
    pub fn code(&self, thread: usize) -> &[Option<u32>] {
        &self.threads[thread].code
    }
}

/// A thread's part of it.
struct Lane {
    registers: Vec<usize>,
    /// For each instruction its partner, if it was walked.
    code: Vec<Option<u32>>,
}

/// All renamings of the variables that change nothing, but the one that renames nothing.
pub(crate) fn symmetries(program: &Program) -> Vec<Renaming> {
    let variables = program.transactional.len();
    if !(2..=MOST_VARIABLES).contains(&variables) {
        return Vec::new();
    }
    let all: Option<Vec<_>> = renamings(variables).into_iter().map(|names| automorphism(program, names)).collect();
    // Only a whole group picks one state of each class.
    all.unwrap_or_default()
}

fn automorphism(program: &Program, variables: Vec<u8>) -> Option<Renaming> {
    let mut locations = Pairs::new(program.locations.len());
    for (from, to) in variables.iter().enumerate() {
        locations.add(program.transactional[from].index(), program.transactional[usize::from(*to)].index())?;
    }
    let mut threads = Vec::new();
    for thread in &program.threads {
        let mut walk = Walk { thread, locations: &mut locations, registers: Pairs::new(thread.registers.len()) };
        let code = walk.code(&variables)?;
        let registers = walk.registers.complete()?;
        let alike = |(a, b): (usize, &usize)| {
            let (a, b) = (&thread.registers[a], &thread.registers[*b]);
            a.ty == b.ty && a.init == b.init
        };
        registers.iter().enumerate().all(alike).then_some(())?;
        threads.push(Lane { registers, code });
    }
    let locations = locations.complete()?;
    let alike = |(a, b): (usize, &usize)| {
        let (a, b) = (&program.locations[a], &program.locations[*b]);
        a.ty == b.ty && a.init == b.init
    };
    locations.iter().enumerate().all(alike).then_some(Renaming { variables, locations, threads })
}

/// A walk through a thread's code in pairs.
struct Walk<'a> {
    thread: &'a Thread,
    locations: &'a mut Pairs,
    registers: Pairs,
}

impl Walk<'_> {
    /// For each instruction that a command reaches its partner.
    fn code(&mut self, variables: &[u8]) -> Option<Vec<Option<u32>>> {
        let Op::Choose { dst: Place::Reg(command), from } = &self.thread.code.first()?.op else {
            return None;
        };
        let k = variables.len();
        (from.len() == 2 * k + 1).then_some(())?;
        let mut pairs = Pairs::new(self.thread.code.len());
        let mut work = vec![(0, 0)];
        pairs.add(0, 0)?;
        self.registers.add(command.index(), command.index())?;
        for number in 0..from.len() {
            let partner = match number {
                n if n < k => usize::from(variables[n]),
                n if n < 2 * k => k + usize::from(variables[n - k]),
                n => n,
            };
            let (a, b) = (self.start(*command, number)?, self.start(*command, partner)?);
            pairs.add(a, b)?;
            work.push((a, b));
        }
        let mut done = vec![false; self.thread.code.len()];
        done[0] = true;
        while let Some((a, b)) = work.pop() {
            if std::mem::replace(&mut done[a], true) {
                continue;
            }
            for (a, b) in self.instruction(a, b)? {
                pairs.add(a, b)?;
                work.push((a, b));
            }
        }
        Some(pairs.partners().into_iter().map(|to| to.and_then(|to| u32::try_from(to).ok())).collect())
    }

    /// Where the command of this number starts.
    fn start(&self, command: cyrano_ir::RegId, number: usize) -> Option<usize> {
        let number = i128::try_from(number).ok()?;
        let mut pc = 1;
        loop {
            let code = &self.thread.code.get(pc)?.op;
            let tested = match code {
                Op::Branch { cond: Expr::Binary(BinOp::Eq, left, right), then_to, else_to }
                    if **left == Expr::Var(Place::Reg(command)) =>
                {
                    Some((right, then_to, else_to))
                }
                _ => None,
            };
            // The last command is reached without a test.
            let Some((value, then_to, else_to)) = tested else { return Some(pc) };
            if **value == Expr::Const(number) {
                return Some(then_to.index());
            }
            pc = else_to.index();
        }
    }

    /// Compares two instructions; gives the pairs that come next.
    fn instruction(&mut self, a: usize, b: usize) -> Option<Vec<(usize, usize)>> {
        let (left, right) = (&self.thread.code[a].op, &self.thread.code[b].op);
        let to = |x: &InstrId, y: &InstrId| (x.index(), y.index());
        let mut next = vec![(a + 1, b + 1)];
        match (left, right) {
            (Op::Assign { dst, value }, Op::Assign { dst: other, value: as_well }) => {
                self.place(dst, other)?;
                self.expr(value, as_well)?;
            }
            (Op::Access(access), Op::Access(other)) if (access.kind, access.tags) == (other.kind, other.tags) => {
                self.change(access, other)?;
                self.addr(&access.addr, &other.addr)?;
                match (&access.dst, &other.dst) {
                    (None, None) => {}
                    (Some(dst), Some(other)) => self.place(dst, other)?,
                    _ => return None,
                }
            }
            (Op::Assume(cond), Op::Assume(other)) | (Op::Assert { cond, .. }, Op::Assert { cond: other, .. }) => {
                self.expr(cond, other)?
            }
            (
                Op::Branch { cond, then_to, else_to },
                Op::Branch { cond: other, then_to: then_there, else_to: else_there },
            ) => {
                self.expr(cond, other)?;
                next = vec![to(then_to, then_there), to(else_to, else_there)];
            }
            (Op::Jump(x), Op::Jump(y)) => next = vec![to(x, y)],
            (Op::Fence(x), Op::Fence(y)) if x == y => {}
            (Op::AtomicBegin, Op::AtomicBegin) | (Op::AtomicEnd, Op::AtomicEnd) => {}
            (Op::Transaction(x), Op::Transaction(y)) if x == y => {}
            _ => return None,
        }
        Some(next)
    }

    fn change(&mut self, left: &Access, right: &Access) -> Option<()> {
        let kind = |access: &Access| access.change.as_ref().map(std::mem::discriminant);
        (kind(left) == kind(right)).then_some(())?;
        left.operands().into_iter().zip(right.operands()).try_for_each(|(a, b)| self.expr(a, b))
    }

    fn addr(&mut self, left: &Addr, right: &Addr) -> Option<()> {
        match (left, right) {
            (Addr::Fixed(a), Addr::Fixed(b)) => self.locations.add(a.index(), b.index()),
            _ => None,
        }
    }

    fn place(&mut self, left: &Place, right: &Place) -> Option<()> {
        match (left, right) {
            (Place::Reg(a), Place::Reg(b)) => self.registers.add(a.index(), b.index()),
            _ => None,
        }
    }

    fn expr(&mut self, left: &LocalExpr, right: &LocalExpr) -> Option<()> {
        match (left, right) {
            (Expr::Const(a), Expr::Const(b)) => (a == b).then_some(()),
            (Expr::Var(a), Expr::Var(b)) => self.place(a, b),
            (Expr::Unary(op, a), Expr::Unary(other, b)) if op == other => self.expr(a, b),
            (Expr::Binary(op, a, c), Expr::Binary(other, b, d)) if op == other => {
                self.expr(a, b)?;
                self.expr(c, d)
            }
            _ => None,
        }
    }
}

impl Machine<'_> {
    /// The state with its variables renamed; false if a thread rests where the renaming says nothing.
    pub(crate) fn rename_variables(&self, renaming: &Renaming, state: &State, out: &mut State) -> bool {
        out.clone_from(state);
        for (from, to) in renaming.locations.iter().enumerate() {
            out.memory[*to] = state.memory[from];
        }
        for (t, lane) in renaming.threads.iter().enumerate() {
            let base = self.threads[t].base;
            for (from, to) in lane.registers.iter().enumerate() {
                out.regs[base + to] = state.regs[base + from];
                if self.loads_wait {
                    out.pending[base + to] = state.pending[base + from];
                }
            }
            let thread = &mut out.threads[t];
            let Some(pc) = lane.code[thread.pc as usize] else { return false };
            thread.pc = pc;
            for entry in &mut thread.queue {
                entry.loc = renaming.locations[entry.loc as usize] as u32;
                if entry.instr != 0 {
                    let Some(instr) = lane.code[entry.instr as usize] else { return false };
                    entry.instr = instr;
                }
                if let Data::Waiting(captured) = &mut entry.data {
                    captured.iter_mut().for_each(|(reg, _)| *reg = lane.registers[*reg as usize] as u32);
                }
            }
        }
        if let (Some(monitor), Some(remembered)) = (&self.monitor, &state.monitor) {
            let threads: Vec<u8> = (0..monitor.size().threads).collect();
            out.monitor = Some(monitor.permute(remembered, &threads, &renaming.variables));
        }
        if self.sorts {
            out.threads.iter_mut().for_each(|thread| crate::reductions::canonicalise::sort_stores(&mut thread.queue));
        }
        true
    }
}
