//! Programs as trees of statements, which can be made smaller; and what they are in the IR.

use cyrano_ir::{
    Addr, ArrayId, BinOp, Change, Expr, FenceSet, FinalVar, Instr, InstrId, LocId, LocalExpr, Location, Observable, Op,
    Place, Program, RegId, Register, SharedArray, Span, Thread, ThreadId, Ty,
};

/// Registers of each thread.
pub const REGISTERS: usize = 3;

/// A value of 0 to 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// This one.
    Const(i128),
    /// What a register holds.
    Reg(usize),
    /// One more than a register, modulo the second.
    Next(usize, i128),
}

/// Whether a register has a value, or has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cond {
    /// The register.
    pub reg: usize,
    /// The value.
    pub value: i128,
    /// Whether it has it.
    pub is: bool,
}

/// A location: by its number, or the one that a register says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// This one.
    Fixed(usize),
    /// The register's value modulo the number of locations.
    Indexed(usize),
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Stmt {
    Load(usize, At),
    Store(At, Value),
    Cas(usize, At, i128, i128),
    Exchange(usize, At, Value),
    /// Adds 0: a read that is a read-modify-write.
    Touch(usize, At),
    Fence(FenceSet),
    Set(usize, Value),
    Choose(usize, Vec<i128>),
    Assume(Cond),
    Limit(Cond),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    While(Cond, Vec<Stmt>),
    /// The body at least once, and again while the condition holds.
    Repeat(Vec<Stmt>, Cond),
    Loop(Vec<Stmt>),
    Break(Cond),
    Continue(Cond),
    Return(Cond),
    /// An atomic section; an `assume` in it waits.
    Atomic(Vec<Stmt>),
    Operation(Vec<Stmt>),
    Mark,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// What its locations hold at the start.
    pub memory: Vec<i128>,
    /// Its threads.
    pub threads: Vec<Vec<Stmt>>,
    /// Whether the first thread is a setup.
    pub setup: bool,
    /// Whether registers are observed in the end.
    pub observed: bool,
}

impl Tree {
    /// The program.
    pub fn program(&self) -> Program {
        let location = |(number, init): (usize, &i128)| Location {
            name: format!("x[{number}]"),
            init: *init,
            ty: Ty::Int,
            span: Span::default(),
        };
        let len = u32::try_from(self.memory.len()).expect("few locations");
        let array = SharedArray { name: "x".into(), base: LocId(0), len, headers: false };
        let observed = |thread: usize| {
            (0..REGISTERS).map(move |reg| Observable {
                name: format!("t{thread}.r{reg}"),
                var: FinalVar::Reg(ThreadId::new(thread), RegId::new(reg)),
            })
        };
        let cells = (0..self.memory.len())
            .filter(|_| self.observed)
            .map(|loc| Observable { name: format!("x{loc}"), var: FinalVar::Loc(LocId::new(loc)) });
        let program = Program {
            name: "random".into(),
            locations: self.memory.iter().enumerate().map(location).collect(),
            arrays: vec![array],
            threads: self.threads.iter().enumerate().map(|(number, body)| self.thread(number, body)).collect(),
            setup: self.setup.then_some(ThreadId(0)),
            observed: (0..self.threads.len()).filter(|_| self.observed).flat_map(observed).chain(cells).collect(),
            ..Program::default()
        };
        if let Err(errors) = cyrano_ir::verify(&program) {
            panic!("{errors:?}\n{}", cyrano_ir::text::print(&program));
        }
        program
    }

    /// The program's text.
    pub fn text(&self) -> String {
        cyrano_ir::text::print(&self.program())
    }

    fn thread(&self, number: usize, body: &[Stmt]) -> Thread {
        let register = |reg: usize| Register { name: format!("r{reg}"), init: 0, ty: Ty::Int };
        let mut writer = Writer { code: Vec::new(), loops: Vec::new(), returns: Vec::new(), cells: self.memory.len() };
        writer.block(body);
        for place in std::mem::take(&mut writer.returns) {
            writer.patch(place);
        }
        writer.push(Op::Halt);
        Thread {
            name: format!("t{number}"),
            registers: (0..REGISTERS).map(register).collect(),
            code: writer.code.into_iter().map(|op| Instr { op, span: Span::default() }).collect(),
        }
    }

    /// All trees that are a little smaller.
    pub fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for number in (0..self.threads.len()).filter(|_| self.threads.len() > 1) {
            let mut other = self.clone();
            other.threads.remove(number);
            other.setup &= number != 0;
            all.push(other);
        }
        if self.setup || self.observed {
            all.push(Self { setup: false, observed: false, ..self.clone() });
        }
        for (number, body) in self.threads.iter().enumerate() {
            for less in fewer(body) {
                let mut other = self.clone();
                other.threads[number] = less;
                all.push(other);
            }
        }
        all.extend((0..self.memory.len()).filter(|loc| self.memory[*loc] != 0).map(|loc| {
            let mut other = self.clone();
            other.memory[loc] = 0;
            other
        }));
        all
    }
}

/// The lists that are a statement shorter, or have a smaller statement. What is left is well formed if the list was, apart from `break` and
/// `continue`: the body of a loop is not taken out of it if it has one.
fn fewer(list: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    for (place, stmt) in list.iter().enumerate() {
        let mut with = |stmts: Vec<Stmt>| all.push([&list[..place], &stmts[..], &list[place + 1..]].concat());
        with(Vec::new());
        match stmt {
            Stmt::If(cond, yes, no) => {
                with(yes.clone());
                with(no.clone());
                fewer(yes).into_iter().for_each(|less| with(vec![Stmt::If(*cond, less, no.clone())]));
                fewer(no).into_iter().for_each(|less| with(vec![Stmt::If(*cond, yes.clone(), less)]));
            }
            Stmt::While(_, body) | Stmt::Repeat(body, _) | Stmt::Loop(body) => {
                if !jumps(body) {
                    with(body.clone());
                }
                fewer(body).into_iter().for_each(|less| with(vec![same(stmt, less)]));
            }
            Stmt::Atomic(body) | Stmt::Operation(body) => {
                // Waits would become assumptions.
                with(body.clone());
                fewer(body).into_iter().for_each(|less| with(vec![same(stmt, less)]));
            }
            Stmt::Choose(reg, from) if from.len() > 1 => with(vec![Stmt::Choose(*reg, from[..1].to_vec())]),
            _ => {}
        }
    }
    all
}

/// The same compound statement with another body.
fn same(stmt: &Stmt, body: Vec<Stmt>) -> Stmt {
    match stmt {
        Stmt::While(cond, _) => Stmt::While(*cond, body),
        Stmt::Repeat(_, cond) => Stmt::Repeat(body, *cond),
        Stmt::Loop(_) => Stmt::Loop(body),
        Stmt::Atomic(_) => Stmt::Atomic(body),
        Stmt::Operation(_) => Stmt::Operation(body),
        other => other.clone(),
    }
}

/// Whether a loop with this body is left or begun again from within.
fn jumps(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::If(_, yes, no) => jumps(yes) || jumps(no),
        Stmt::Atomic(body) | Stmt::Operation(body) => jumps(body),
        _ => false,
    })
}

/// The code of one thread. A target that is not known yet is patched later.
struct Writer {
    code: Vec<Op>,
    /// For each loop around, the jumps out of it and those to its next round.
    loops: Vec<(Vec<usize>, Vec<usize>)>,
    /// Jumps to the end.
    returns: Vec<usize>,
    /// How many locations there are.
    cells: usize,
}

const NOWHERE: InstrId = InstrId(u32::MAX);

fn reg(number: usize) -> Place {
    Place::Reg(RegId::new(number))
}

fn binary(op: BinOp, left: LocalExpr, right: i128) -> LocalExpr {
    Expr::binary(op, left, Expr::Const(right))
}

fn value(value: Value) -> LocalExpr {
    match value {
        Value::Const(value) => Expr::Const(value),
        Value::Reg(number) => Expr::Var(reg(number)),
        Value::Next(number, modulus) => binary(BinOp::Rem, binary(BinOp::Add, Expr::Var(reg(number)), 1), modulus),
    }
}

fn test(cond: Cond) -> LocalExpr {
    binary(if cond.is { BinOp::Eq } else { BinOp::Ne }, Expr::Var(reg(cond.reg)), cond.value)
}

impl Writer {
    fn push(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    fn here(&self) -> InstrId {
        InstrId::new(self.code.len())
    }

    /// What had no target goes on here.
    fn patch(&mut self, place: usize) {
        let here = self.here();
        match &mut self.code[place] {
            Op::Jump(to) => *to = here,
            Op::Branch { then_to, else_to, .. } => {
                [then_to, else_to].into_iter().filter(|to| **to == NOWHERE).for_each(|to| *to = here);
            }
            _ => unreachable!("a jump"),
        }
    }

    /// Goes elsewhere if a condition holds.
    fn jump_if(&mut self, cond: Cond, to: InstrId) -> usize {
        let next = InstrId::new(self.code.len() + 1);
        self.push(Op::Branch { cond: test(cond), then_to: to, else_to: next })
    }

    /// Goes elsewhere unless a condition holds.
    fn jump_unless(&mut self, cond: Cond) -> usize {
        self.jump_if(Cond { is: !cond.is, ..cond }, NOWHERE)
    }

    fn at(&self, at: At) -> Addr {
        match at {
            At::Fixed(loc) => Addr::Fixed(LocId::new(loc)),
            At::Indexed(number) => {
                let index = binary(BinOp::Rem, Expr::Var(reg(number)), self.cells as i128);
                Addr::Indexed { array: ArrayId(0), index }
            }
        }
    }

    fn block(&mut self, list: &[Stmt]) {
        list.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If(cond, yes, no) => {
                let other = self.jump_unless(*cond);
                self.block(yes);
                let end = (!no.is_empty()).then(|| self.push(Op::Jump(NOWHERE)));
                self.patch(other);
                self.block(no);
                end.into_iter().for_each(|end| self.patch(end));
            }
            Stmt::While(cond, body) => {
                let again = self.here();
                let out = self.jump_unless(*cond);
                let (outs, nexts) = self.body(body);
                for next in nexts {
                    self.patch(next);
                }
                self.push(Op::Jump(again));
                outs.into_iter().chain([out]).for_each(|out| self.patch(out));
            }
            Stmt::Repeat(body, cond) => {
                let again = self.here();
                let (outs, nexts) = self.body(body);
                nexts.into_iter().for_each(|next| self.patch(next));
                self.jump_if(*cond, again);
                outs.into_iter().for_each(|out| self.patch(out));
            }
            Stmt::Loop(body) => {
                let again = self.here();
                let (outs, nexts) = self.body(body);
                nexts.into_iter().for_each(|next| self.patch(next));
                self.push(Op::Jump(again));
                outs.into_iter().for_each(|out| self.patch(out));
            }
            Stmt::Break(cond) => {
                let jump = self.jump_if(*cond, NOWHERE);
                self.loops.last_mut().expect("a loop").0.push(jump);
            }
            Stmt::Continue(cond) => {
                let jump = self.jump_if(*cond, NOWHERE);
                self.loops.last_mut().expect("a loop").1.push(jump);
            }
            Stmt::Return(cond) => {
                let jump = self.jump_if(*cond, NOWHERE);
                self.returns.push(jump);
            }
            Stmt::Atomic(body) => {
                self.push(Op::AtomicBegin);
                self.block(body);
                self.push(Op::AtomicEnd);
            }
            Stmt::Operation(body) => {
                self.push(Op::OperationBegin("op".into()));
                self.block(body);
                self.push(Op::OperationEnd);
            }
            plain => {
                let op = self.plain(plain);
                self.push(op);
            }
        }
    }

    /// The body of a loop; its jumps out and to the next round.
    fn body(&mut self, body: &[Stmt]) -> (Vec<usize>, Vec<usize>) {
        self.loops.push(Default::default());
        self.block(body);
        self.loops.pop().expect("the loop that was pushed")
    }

    fn plain(&self, stmt: &Stmt) -> Op {
        match stmt {
            Stmt::Load(dst, at) => Op::load(reg(*dst), self.at(*at)),
            Stmt::Store(at, new) => Op::store(self.at(*at), value(*new)),
            Stmt::Cas(dst, at, expected, new) => {
                let (expected, new) = (Expr::Const(*expected), Expr::Const(*new));
                Op::rmw(Some(reg(*dst)), self.at(*at), Change::Cas { expected, new })
            }
            Stmt::Exchange(dst, at, new) => Op::rmw(Some(reg(*dst)), self.at(*at), Change::Set(value(*new))),
            Stmt::Touch(dst, at) => Op::rmw(Some(reg(*dst)), self.at(*at), Change::Add(Expr::Const(0))),
            Stmt::Fence(kinds) => Op::fence(*kinds),
            Stmt::Set(dst, new) => Op::Assign { dst: reg(*dst), value: value(*new) },
            Stmt::Choose(dst, from) => Op::Choose { dst: reg(*dst), from: from.clone() },
            Stmt::Assume(cond) => Op::Assume(test(*cond)),
            Stmt::Limit(cond) => Op::Limit { cond: test(*cond), what: "rounds".into() },
            Stmt::Mark => Op::Progress(None),
            _ => unreachable!("a compound statement"),
        }
    }
}
