//! Random programs with orders of their own (axiom 9): the explorer's out-of-order execution against the axioms.
//!
//! Threads are short and have no jump back: loads, stores, read-modify-writes, branches, choices, atomic sections and full fences. Some
//! addresses are computed. What is listed as an order is random; what flows through registers, and through which instructions an
//! order passes, is for the engines to find out.

use cyrano_conformance::limits;
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{
    Addr, ArrayId, BinOp, Change, Expr, FenceSet, FinalVar, Instr, InstrId, LocId, LocalExpr, Location, Observable, Op,
    OwnOrder, Place, Program, Property, Quantifier, RegId, Register, SharedArray, Span, Thread, ThreadId, Ty, text,
    verify,
};
use cyrano_symbolic::Symbolic;

const LOCATIONS: u32 = 2;
const REGISTERS: u32 = 3;
const MODELS: [&str; 2] = ["declared", "literal"];

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
        let addr = match self.below(3) {
            0 => {
                let index = Expr::binary(BinOp::Rem, Expr::Var(self.register()), Expr::Const(LOCATIONS.into()));
                Addr::Indexed { array: ArrayId(0), index }
            }
            _ => Addr::Fixed(LocId(self.below(LOCATIONS.into()) as u32)),
        };
        match self.below(6) {
            0..3 => Op::load(self.register(), addr),
            3..5 => Op::store(addr, self.expr()),
            _ => Op::rmw(Some(self.register()), addr, self.rmw()),
        }
    }

    fn rmw(&mut self) -> Change {
        match self.below(3) {
            0 => Change::Cas { expected: self.expr(), new: self.expr() },
            1 => Change::Set(self.expr()),
            _ => Change::Add(Expr::Const(1)),
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
                5 => code.push(Op::fence(FenceSet::FULL)),
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
            arrays: vec![SharedArray { name: "x".into(), base: LocId(0), len: LOCATIONS, headers: false }],
            threads,
            observed,
            ..Program::default()
        };
        for model in MODELS {
            let before = program.threads.iter().map(|thread| self.order(&thread.code)).collect();
            program.orders.push(OwnOrder { model: model.into(), before });
        }
        program
    }

    /// Some instructions that follow others, of all kinds.
    fn order(&mut self, code: &[Instr]) -> Vec<Vec<InstrId>> {
        let density = self.below(6);
        let mut list = |second: usize| (0..second).filter(|_| self.below(10) < density).map(InstrId::new).collect();
        (0..code.len()).map(&mut list).collect()
    }
}

fn ask(engine: &dyn Engine, program: &Program, model: &str) -> Option<Answer> {
    let model = cyrano_memory::named(model).expect("a model");
    let query = Query::new(program, &model, Question::Outcomes).expect("a question");
    if let Err(refusal) = engine.supports(&query) {
        panic!("{} refuses: {refusal}\n{}", engine.name(), text::print(program));
    }
    let answer = engine.ask(query, &limits(20.0, 2), &());
    (answer.verdict == Verdict::Verified).then_some(answer)
}

/// Whoever shows an outcome shows an execution that the reference replays.
fn shows(engine: &dyn Engine, program: &Program, model: &str, outcome: &[i128]) {
    let model = cyrano_memory::named(model).expect("a model");
    let column = |(o, value): (&Observable, &i128)| Expr::binary(BinOp::Eq, Expr::Var(o.var), Expr::Const(*value));
    let columns = program.observed.iter().zip(outcome).map(column);
    let cond = columns.reduce(|a, b| Expr::binary(BinOp::And, a, b)).expect("columns");
    let property = Property::Final { quantifier: Quantifier::Never, cond, text: "outcome".into() };
    let query = Query::new(program, &model, Question::Holds(&property)).expect("a question");
    let answer = engine.ask(query, &limits(20.0, 2), &());
    let (Some(violation), Some(execution)) = (&answer.violation, &answer.execution) else {
        panic!("{} does not show {outcome:?}\n{}", engine.name(), text::print(program));
    };
    let confirmed = cyrano_interp::confirm(program, &model, &property, Some(violation), execution);
    confirmed.unwrap_or_else(|error| panic!("{}: {error}\n{}", engine.name(), text::print(program)));
}

/// The explorer without one of the reductions that are used out of order.
fn without(seed: u64) -> Explore {
    let mut explore = Explore::default();
    match seed % 5 {
        0 => explore.settled_prefixes = false,
        1 => explore.lazy_choices = false,
        2 => explore.remembered_steps = false,
        3 => explore.stubborn_sets = false,
        _ => explore.ample_sets = false,
    }
    explore
}

/// Remembered steps are those that the stepper takes.
fn remembers_rightly(program: &Program, model: &str) {
    let plain = Explore { ample_sets: false, ..Explore::default() };
    let counted = |explore: &Explore| ask(explore, program, model).map(|a| (a.stats.states, a.stats.transitions));
    let forgetful = Explore { remembered_steps: false, ..plain.clone() };
    assert_eq!(counted(&plain), counted(&forgetful), "{model}\n{}", text::print(program));
}

#[test]
fn engines_agree_on_programs_with_orders_of_their_own() {
    let mut compared = 0;
    let mut reordered = 0;
    for seed in 1..=1500u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let program = random.program();
        verify(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{}", text::print(&program)));
        let model = MODELS[seed as usize % MODELS.len()];
        let Some(right) = ask(&Interp, &program, model) else { continue };
        let shown = || format!("seed {seed} on {model}\n{}", text::print(&program));
        let explored = ask(&Explore::default(), &program, model).unwrap_or_else(|| panic!("unknown\n{}", shown()));
        assert_eq!(explored.outcomes, right.outcomes, "the explorer, {}", shown());
        let other = ask(&without(seed / 2), &program, model).unwrap_or_else(|| panic!("unknown\n{}", shown()));
        assert_eq!(other.outcomes, right.outcomes, "the explorer without a reduction, {}", shown());
        if seed % 4 == 0 {
            remembers_rightly(&program, model);
        }
        let solved = ask(&Symbolic::default(), &program, model).unwrap_or_else(|| panic!("unknown\n{}", shown()));
        assert_eq!(solved.outcomes, right.outcomes, "the symbolic engine, {}", shown());
        if let Some(outcome) = right.outcomes.iter().nth(seed as usize % right.outcomes.len().max(1)) {
            shows(&Explore::default(), &program, model, outcome);
            shows(&Symbolic::default(), &program, model, outcome);
        }
        compared += 1;
        let inorder = cyrano_memory::named("inorder").expect("a model");
        let query = Query::new(&program, &inorder, Question::Outcomes).expect("a question");
        reordered += usize::from(Explore::default().ask(query, &limits(20.0, 2), &()).outcomes != right.outcomes);
    }
    assert!(compared > 1200 && reordered > 300, "{compared} compared, {reordered} with more outcomes than in order");
}
