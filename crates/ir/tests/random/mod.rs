//! Random programs, valid or not: all constructs, odd names, names taken twice, ids of things that do not exist.

use cyrano_ir::{
    Addr, ArrayId, BinOp, Change, Check, Expr, Family, Fence, FenceName, FenceSet, FinalExpr, FinalVar, Instr, InstrId,
    IntType, Invariant, Liveness, LocId, LocalExpr, Location, Method, Observable, Op, OwnOrder, Place, Point, PointId,
    Program, Progress, Property, Quantifier, RegId, Register, Routine, SharedArray, Span, StateVar, Tags, Thread,
    ThreadId, TxCriterion, TxEvent, Ty, UnOp,
};

/// Names that are easy to get wrong in the text form.
const NAMES: [&str; 25] = [
    "x",
    "y",
    "r1",
    "p0",
    "%t1",
    "%1",
    "a.b",
    "_",
    "%",
    "flag[0]",
    "",
    "load",
    "halt",
    "limit",
    "defined",
    "wrap_u8",
    "then",
    "on",
    "of",
    "1x",
    "#3",
    "a \"b\" \\ c",
    "line\nbreak\r\t",
    "// é\u{0}\u{2028}",
    "p0:r1",
];

const EXTREMES: [i128; 4] = [i128::MIN, i128::MAX, -1, 0];

/// A xorshift generator (Marsaglia), so that every run sees the same programs.
pub struct Random(u64);

impl Random {
    /// A generator; the seed must not be 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % bound as u64) as usize
    }

    fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn many<T>(&mut self, below: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(below)).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> String {
        self.pick(&NAMES).to_owned()
    }

    fn value(&mut self) -> i128 {
        if self.one_in(5) { self.pick(&EXTREMES) } else { self.below(10) as i128 - 5 }
    }

    /// Mostly a small number, now and then the largest one.
    fn id(&mut self) -> u32 {
        if self.one_in(20) { u32::MAX } else { self.below(6) as u32 }
    }

    fn ty(&mut self) -> Ty {
        self.pick(&[Ty::Int, Ty::Int, Ty::Pointer, Ty::Timestamp, Ty::Gap, Ty::Header, Ty::Witness])
    }

    fn span(&mut self) -> Span {
        if self.one_in(3) { Span::default() } else { Span { start: self.id(), end: self.id() } }
    }

    /// A program.
    pub fn program(&mut self) -> Program {
        let mut program = self.plain_program();
        if self.one_in(3) {
            let before = |r: &mut Self, t: &Thread| t.code.iter().map(|_| r.many(4, |r| InstrId(r.id()))).collect();
            let before = program.threads.iter().map(|t| before(self, t)).collect();
            program.orders.push(OwnOrder { model: self.name(), before });
        }
        program
    }

    fn plain_program(&mut self) -> Program {
        Program {
            name: self.name(),
            locations: self.many(5, |r| Location { name: r.name(), init: r.value(), ty: r.ty(), span: r.span() }),
            arrays: self.many(3, |r| SharedArray {
                name: r.name(),
                base: LocId(r.id()),
                len: r.id(),
                headers: r.id() % 2 == 1,
            }),
            threads: self.many(4, |r| Thread {
                name: r.name(),
                registers: r.many(6, |r| Register { name: r.name(), init: r.value(), ty: r.ty() }),
                code: r.many(12, |r| Instr { op: r.op(), span: r.span() }),
            }),
            in_order: self.one_in(3),
            scoped: self.one_in(3),
            setup: if self.one_in(3) { Some(self.thread_id()) } else { None },
            families: self.many(2, |r| Family { name: r.name(), thread: r.thread_id(), size: r.name() }),
            observed: self.many(4, |r| Observable { name: r.name(), var: r.final_var() }),
            points: self.many(3, |r| Point {
                label: r.name(),
                thread: r.thread_id(),
                places: r.many(3, |r| InstrId(r.id())),
            }),
            checks: self.many(4, Self::check),
            constants: self.many(3, |r| (r.name(), r.value())),
            transactional: self.many(2, |r| LocId(r.id())),
            orders: Vec::new(),
            serial_orders: Vec::new(),
            interchangeable: Default::default(),
            initial: (0..self.below(3)).map(|_| 7).collect(),
            settled: self.many(2, Self::span),
            routines: self.many(2, |r| Routine { name: r.name(), span: r.span() }),
            told: Default::default(),
        }
    }

    fn check(&mut self) -> Check {
        let quantifier = self.pick(&[Quantifier::Exists, Quantifier::Never, Quantifier::Always]);
        let property = match self.below(11) {
            10 => Property::Live(self.pick(&Liveness::ALL)),
            9 => Property::Invariant(Invariant {
                cond: self.expr(4, &mut |r, _| match r.one_in(3) {
                    true => StateVar::At(PointId(r.id())),
                    false => r.final_var().into(),
                }),
                text: self.name(),
            }),
            8 => Property::Races,
            7 => Property::CommitAtomicity,
            6 => Property::Progress(self.pick(&Progress::ALL)),
            0 => Property::Assertions,
            5 => Property::Observations(self.many(3, |r| r.many(3, Self::value)).into_iter().collect()),
            1 => Property::Transactions(self.pick(&TxCriterion::ALL)),
            _ => Property::Final { quantifier, cond: self.final_expr(), text: self.name() },
        };
        Check { property, models: self.many(3, Self::name), span: self.span() }
    }

    fn final_expr(&mut self) -> FinalExpr {
        self.expr(4, &mut |r, _| r.final_var())
    }

    fn final_var(&mut self) -> FinalVar {
        if self.one_in(2) {
            return FinalVar::Loc(LocId(self.id()));
        }
        FinalVar::Reg(self.thread_id(), RegId(self.id()))
    }

    fn thread_id(&mut self) -> ThreadId {
        ThreadId(if self.one_in(20) { u16::MAX } else { self.below(4) as u16 })
    }

    fn unary(&mut self) -> UnOp {
        let ty = IntType { bits: self.pick(&[0, 1, 8, 32, 63, 64, 65, 255]), signed: self.one_in(2) };
        self.pick(&[UnOp::Neg, UnOp::Not, UnOp::Defined, UnOp::Target, UnOp::Wrap(ty), UnOp::Fit(ty)])
    }

    fn expr<V>(&mut self, depth: usize, var: &mut dyn FnMut(&mut Self, usize) -> V) -> Expr<V> {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => Expr::Const(self.value()),
            1 => Expr::Var(var(self, depth)),
            2 => Expr::unary(self.unary(), self.expr(depth - 1, var)),
            _ => {
                let (op, _) = self.pick(&BinOp::ALL);
                Expr::binary(op, self.expr(depth - 1, var), self.expr(depth - 1, var))
            }
        }
    }

    fn local(&mut self, depth: usize) -> LocalExpr {
        self.expr(depth, &mut Self::place)
    }

    fn place(&mut self, depth: usize) -> Place {
        match depth {
            1.. if self.one_in(3) => {
                Place::Elem { base: RegId(self.id()), len: self.id(), index: Box::new(self.local(depth - 1)) }
            }
            _ => Place::Reg(RegId(self.id())),
        }
    }

    fn addr(&mut self) -> Addr {
        match self.one_in(2) {
            true => Addr::Fixed(LocId(self.id())),
            false => Addr::Indexed { array: ArrayId(self.id()), index: self.local(2) },
        }
    }

    fn op(&mut self) -> Op {
        match self.below(27) {
            0 => Op::Assign { dst: self.place(2), value: self.local(4) },
            1 => Op::load(self.place(2), self.addr()).tagged(self.tags()),
            2 => Op::store(self.addr(), self.local(3)).tagged(self.tags()),
            3 => {
                let dst = if self.one_in(2) { None } else { Some(self.place(2)) };
                Op::rmw(dst, self.addr(), self.change()).tagged(self.tags())
            }
            4 => Op::fence(FenceSet::from_bits(self.below(16) as u8)),
            5 => Op::AtomicBegin,
            6 => Op::AtomicEnd,
            7 => Op::OperationBegin(self.name()),
            8 => Op::OperationEnd,
            9 => Op::Choose { dst: self.place(2), from: self.many(4, Self::value) },
            10 => Op::Assume(self.local(3)),
            11 => {
                let message = if self.one_in(2) { None } else { Some(self.name()) };
                Op::Assert { cond: self.local(3), message }
            }
            12 => Op::Branch { cond: self.local(3), then_to: InstrId(self.id()), else_to: InstrId(self.id()) },
            13 => Op::Jump(InstrId(self.id())),
            14 => Op::Transaction(TxEvent::ALL[self.below(3)].0),
            15 => Op::Limit { cond: self.local(3), what: self.name() },
            16 => {
                let method = self.pick(&Method::ALL);
                Op::Invoke { method, args: (0..method.arity()).map(|_| self.local(3)).collect() }
            }
            17 => Op::Respond(self.local(3)),
            18 => Op::BlockBegin(self.name()),
            19 => Op::BlockCommit,
            20 => Op::BlockEnd(self.many(3, |random| random.local(2))),
            21 => Op::store_exclusive(Some(self.place(2)), self.addr(), self.local(3)).tagged(self.tags()),
            22 => {
                let cas = Change::Cas { expected: self.local(2), new: self.local(2) };
                Op::rmw(None, self.addr(), cas).tagged(self.tags()).failing(self.tags())
            }
            23 => {
                let names: Vec<FenceName> = FenceName::all().collect();
                Op::Fence(Fence::Named { name: self.pick(&names), at: self.one_in(2).then(|| LocId(self.id())) })
            }
            24 => Op::Progress(None),
            25 => Op::Progress(Some(self.name())),
            _ => Op::Halt,
        }
    }

    fn change(&mut self) -> Change {
        match self.below(3) {
            0 => Change::Cas { expected: self.local(2), new: self.local(2) },
            1 => Change::Set(self.local(2)),
            _ => Change::Add(self.local(2)),
        }
    }

    fn tags(&mut self) -> Tags {
        let some = self.many(3, |random| random.pick(&Tags::ALL).0);
        some.into_iter().fold(Tags::default(), |all, tag| all | tag)
    }
}
