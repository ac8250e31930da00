//! Random programs with orders of their own (axiom 9): the explorer's out-of-order execution against the axioms.
//!
//! Threads are short and have no jump back: loads, stores, read-modify-writes, branches, choices, atomic sections and full fences. Their
//! order is random, but an access stays behind the loads that its operands come from, which the explorer insists on.

use cyrano_conformance::limits;
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{
    Addr, BinOp, Expr, FenceSet, FinalVar, Instr, InstrId, LocId, LocalExpr, Location, Observable, Op, OwnOrder, Place,
    Program, Property, Quantifier, RegId, Register, RmwOp, Span, Thread, ThreadId, Ty, text, verify,
};
use cyrano_symbolic::Symbolic;

const LOCATIONS: u32 = 2;
const REGISTERS: u32 = 3;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn register(&mut self) -> Place {
        Place::Reg(RegId(self.below(REGISTERS.into()) as u32))
    }

    fn expr(&mut self) -> LocalExpr {
        match self.below(3) {
            0 => Expr::Const(self.below(3) as i128),
            1 => Expr::Var(self.register()),
            _ => Expr::binary(BinOp::Add, Expr::Var(self.register()), Expr::Const(1)),
        }
    }

    fn condition(&mut self) -> LocalExpr {
        Expr::binary(BinOp::Eq, Expr::Var(self.register()), Expr::Const(self.below(2) as i128))
    }

    fn access(&mut self) -> Op {
        let addr = Addr::Fixed(LocId(self.below(LOCATIONS.into()) as u32));
        match self.below(6) {
            0..3 => Op::Load { dst: self.register(), addr },
            3..5 => Op::Store { addr, value: self.expr(), rollback: false },
            _ => Op::Rmw { dst: Some(self.register()), addr, op: self.rmw() },
        }
    }

    fn rmw(&mut self) -> RmwOp {
        match self.below(3) {
            0 => RmwOp::Cas { expected: self.expr(), new: self.expr() },
            1 => RmwOp::Exchange(self.expr()),
            _ => RmwOp::FetchAdd(Expr::Const(1)),
        }
    }

    /// Code that is at most so long, without jumps back.
    fn code(&mut self, accesses: u64) -> Vec<Op> {
        let mut code = Vec::new();
        let mut made = 0;
        while made < accesses {
            match self.below(12) {
                0 | 1 => self.branch(&mut code, &mut made),
                2 => code.push(Op::Assign { dst: self.register(), value: self.expr() }),
                3 => code.push(Op::Choose { dst: self.register(), from: vec![0, 1] }),
                4 if made + 2 <= accesses => {
                    code.push(Op::AtomicBegin);
                    code.extend([self.access(), self.access()]);
                    code.push(Op::AtomicEnd);
                    made += 2;
                }
                5 => code.push(Op::Fence(FenceSet::FULL)),
                _ => {
                    code.push(self.access());
                    made += 1;
                }
            }
        }
        code.push(Op::Halt);
        code
    }

    /// `if (…) { access } [else { access }]`, or a jump to the end, which is a halt that is put there: an early return.
    fn branch(&mut self, code: &mut Vec<Op>, made: &mut u64) {
        let at = code.len() as u32;
        let cond = self.condition();
        *made += 1;
        let access = self.access();
        if self.below(2) == 0 {
            code.push(Op::Branch { cond, then_to: InstrId(at + 1), else_to: InstrId(at + 2) });
            code.push(access);
        } else {
            *made += 1;
            let other = self.access();
            code.push(Op::Branch { cond, then_to: InstrId(at + 1), else_to: InstrId(at + 3) });
            code.extend([access, Op::Jump(InstrId(at + 4)), other]);
        }
    }

    fn program(&mut self) -> Program {
        let location = |n: u32| Location { name: format!("x{n}"), init: 0, ty: Ty::Int, span: Span::default() };
        let register = |n: u32| Register { name: format!("r{n}"), init: 0, ty: Ty::Int };
        let threads = if self.below(4) == 0 { 3 } else { 2 };
        let accesses = if threads == 3 { 2 } else { 4 };
        let mut thread = |n: usize| Thread {
            name: format!("p{n}"),
            registers: (0..REGISTERS).map(register).collect(),
            code: self.code(accesses).into_iter().map(|op| Instr { op, span: Span::default() }).collect(),
        };
        let threads: Vec<Thread> = (0..threads).map(&mut thread).collect();
        let registers = |t: usize| (0..REGISTERS).map(move |r| FinalVar::Reg(ThreadId::new(t), RegId(r)));
        let locations = (0..LOCATIONS).map(|l| FinalVar::Loc(LocId(l)));
        let vars = (0..threads.len()).flat_map(registers).chain(locations);
        let observed = vars.enumerate().map(|(n, var)| Observable { name: format!("o{n}"), var }).collect();
        let mut program = Program {
            name: "random".into(),
            locations: (0..LOCATIONS).map(location).collect(),
            threads,
            observed,
            ..Program::default()
        };
        let before = program.threads.iter().map(|thread| self.order(&thread.code)).collect();
        program.orders.push(OwnOrder { model: "declared".into(), before });
        program
    }

    /// An order: what dependencies ask for, and some more, closed.
    fn order(&mut self, code: &[Instr]) -> Vec<Vec<InstrId>> {
        let mut before = vec![vec![false; code.len()]; code.len()];
        let density = self.below(6);
        for (second, row) in before.iter_mut().enumerate() {
            for (first, precedes) in row.iter_mut().enumerate().take(second) {
                let random = self.below(10) < density;
                *precedes = random || depends(code, first, second);
            }
        }
        for middle in 0..code.len() {
            for second in middle..code.len() {
                for first in 0..middle {
                    before[second][first] |= before[second][middle] && before[middle][first];
                }
            }
        }
        let list = |row: &Vec<bool>| (0..row.len()).filter(|at| row[*at]).map(InstrId::new).collect();
        before.iter().map(list).collect()
    }
}

/// Whether the later instruction reads a register that the earlier one may have written. All pairs count, whatever stands
/// in between: more order than needed.
fn depends(code: &[Instr], first: usize, second: usize) -> bool {
    let Some(Place::Reg(written)) = code[first].op.dst() else { return false };
    let mut reads = false;
    for operand in code[second].op.operands() {
        operand.for_each_var(&mut |place| reads |= *place == Place::Reg(*written));
    }
    reads
}

fn ask(engine: &dyn Engine, program: &Program) -> Option<Answer> {
    let model = cyrano_memory::named("declared").expect("a model");
    if let Err(refusal) = engine.supports(program, &model) {
        panic!("{} refuses: {}\n{}", engine.name(), refusal.reason, text::print(program));
    }
    let query = Query { program, model: &model, question: Question::Outcomes };
    let answer = engine.ask(query, &limits(20.0, 2), &());
    (answer.verdict == Verdict::Verified).then_some(answer)
}

/// Whoever shows an outcome shows an execution that the reference replays.
fn shows(engine: &dyn Engine, program: &Program, outcome: &[i128]) {
    let model = cyrano_memory::named("declared").expect("a model");
    let column = |(o, value): (&Observable, &i128)| Expr::binary(BinOp::Eq, Expr::Var(o.var), Expr::Const(*value));
    let columns = program.observed.iter().zip(outcome).map(column);
    let cond = columns.reduce(|a, b| Expr::binary(BinOp::And, a, b)).expect("columns");
    let property = Property::Final { quantifier: Quantifier::Never, cond, text: "outcome".into() };
    let query = Query { program, model: &model, question: Question::Holds(&property) };
    let answer = engine.ask(query, &limits(20.0, 2), &());
    let (Some(violation), Some(execution)) = (&answer.violation, &answer.execution) else {
        panic!("{} does not show {outcome:?}\n{}", engine.name(), text::print(program));
    };
    let confirmed = cyrano_interp::confirm(program, &model, &property, Some(violation), execution);
    confirmed.unwrap_or_else(|error| panic!("{}: {error}\n{}", engine.name(), text::print(program)));
}

#[test]
fn engines_agree_on_programs_with_orders_of_their_own() {
    let mut compared = 0;
    let mut reordered = 0;
    for seed in 1..=1500u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let program = random.program();
        verify(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{}", text::print(&program)));
        let Some(right) = ask(&Interp, &program) else { continue };
        let shown = || format!("seed {seed}\n{}", text::print(&program));
        let explored = ask(&Explore::default(), &program).unwrap_or_else(|| panic!("unknown\n{}", shown()));
        assert_eq!(explored.outcomes, right.outcomes, "the explorer, {}", shown());
        let solved = ask(&Symbolic::default(), &program).unwrap_or_else(|| panic!("unknown\n{}", shown()));
        assert_eq!(solved.outcomes, right.outcomes, "the symbolic engine, {}", shown());
        if let Some(outcome) = right.outcomes.iter().nth(seed as usize % right.outcomes.len().max(1)) {
            shows(&Explore::default(), &program, outcome);
            shows(&Symbolic::default(), &program, outcome);
        }
        compared += 1;
        let inorder = cyrano_memory::named("inorder").expect("a model");
        let query = Query { program: &program, model: &inorder, question: Question::Outcomes };
        reordered += usize::from(Explore::default().ask(query, &limits(20.0, 2), &()).outcomes != right.outcomes);
    }
    assert!(compared > 1200 && reordered > 300, "{compared} compared, {reordered} with more outcomes than in order");
}
