//! What the native language has no words for, put on top of a compiled program: a setup thread, limits, pointers into a memory
//! with gaps and undefined words.

use cyrano_ir::{
    Addr, ArrayId, BinOp, Expr, LocId, LocalExpr, Location, Op, Program, SharedArray, Span, ThreadId, Ty, UNDEFINED,
    UnOp, WORD,
};
use proptest::prelude::*;

/// What is put on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dress {
    /// The first thread is the setup thread.
    pub setup: bool,
    /// Every `assume` is a `limit`.
    pub limits: bool,
    /// Indices are pointers into all of memory, behind which a gap stands; `z` starts undefined.
    pub pointers: bool,
}

/// Half of the programs stay as they are.
pub fn dress() -> impl Strategy<Value = Dress> {
    let some = (any::<bool>(), any::<bool>(), any::<bool>());
    let some = some.prop_map(|(setup, limits, pointers)| Dress { setup, limits, pointers });
    prop_oneof![Just(Dress::default()), some]
}

impl Dress {
    /// The program with what it says.
    pub fn put_on(self, mut program: Program) -> Program {
        if self.setup {
            program.setup = Some(ThreadId(0));
        }
        let memory = self.pointers.then(|| add_memory(&mut program));
        for (at, thread) in program.threads.iter_mut().enumerate() {
            // The pointers of every other thread may be null.
            let offset = if at % 2 == 0 { WORD } else { 0 };
            for instr in &mut thread.code {
                if let (true, Op::Assume(cond)) = (self.limits, &instr.op) {
                    instr.op = Op::Limit { cond: cond.clone(), what: "an assumption".into() };
                }
                if let (Some(memory), Some(addr)) = (memory, addr_mut(&mut instr.op)) {
                    point(addr, memory, offset);
                }
            }
        }
        program
    }
}

/// Makes an array of all locations and a gap.
fn add_memory(program: &mut Program) -> ArrayId {
    let gap = Location { name: "%gap".into(), init: 0, ty: Ty::Gap, span: Span::default() };
    program.locations.push(gap);
    program.locations.iter_mut().filter(|location| location.name == "z").for_each(|z| z.init = UNDEFINED);
    let len = u32::try_from(program.locations.len()).expect("random programs are small");
    program.arrays.push(SharedArray { name: "%memory".into(), base: LocId(0), len, headers: false });
    ArrayId::new(program.arrays.len() - 1)
}

fn addr_mut(op: &mut Op) -> Option<&mut Addr> {
    op.access_mut().map(|access| &mut access.addr)
}

/// `a[r % 2]` becomes the word that `r * 8 + offset` points to.
fn point(addr: &mut Addr, memory: ArrayId, offset: i128) {
    let Addr::Indexed { index: Expr::Binary(BinOp::Rem, number, _), .. } = addr else { return };
    let number = LocalExpr::unary(UnOp::Defined, (**number).clone());
    let address = Expr::binary(BinOp::Mul, number, Expr::Const(WORD));
    let address = Expr::binary(BinOp::Add, address, Expr::Const(offset));
    *addr = Addr::Indexed { array: memory, index: Expr::unary(UnOp::Target, address) };
}
