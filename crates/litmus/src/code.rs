//! The code of one thread while it is made.

use std::collections::BTreeMap;

use cyrano_ir::{
    Addr, BinOp, Expr, Fence, Instr, InstrId, IntType, LocalExpr, Op, Place, RegId, Register, Span, Tags, Thread, Ty,
    UnOp,
};

/// A place to jump to that may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(usize);

/// The code so far.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) registers: Vec<Register>,
    names: BTreeMap<String, RegId>,
    code: Vec<Instr>,
    labels: Vec<Option<InstrId>>,
    /// What the next instruction stands for.
    pub(crate) span: Span,
}

impl Code {
    /// The register of this name, which is made if need be.
    pub(crate) fn register(&mut self, name: &str) -> RegId {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = RegId::new(self.registers.len());
        self.names.insert(name.to_owned(), id);
        self.registers.push(Register { name: name.to_owned(), init: 0, ty: Ty::Int });
        id
    }

    /// A register for an intermediate value. Equal numbers share one, so that a long thread does not have many.
    pub(crate) fn temporary(&mut self, number: usize) -> RegId {
        self.register(&format!("%t{number}"))
    }

    /// A label that is not anywhere yet.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(InstrId::new(self.code.len()));
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.code.push(Instr { op, span: self.span });
    }

    pub(crate) fn assign(&mut self, dst: RegId, value: LocalExpr) {
        if value != var(dst) {
            self.push(Op::Assign { dst: Place::Reg(dst), value });
        }
    }

    /// The fence of this name, which the IR knows.
    pub(crate) fn named_fence(&mut self, name: &str) {
        let fence = Fence::named(name).expect("it is a fence of the IR's");
        self.push(Op::Fence(fence));
    }

    /// Reads and writes at one point of the memory order: `old` receives the old value, `new` may use it. Of the tags each half has
    /// those that fit it.
    pub(crate) fn update(&mut self, old: RegId, addr: Addr, new: LocalExpr, tags: Tags) {
        self.push(Op::AtomicBegin);
        self.push(Op::load(Place::Reg(old), addr.clone()).tagged(tags.without(Tags::RELEASE)));
        let reads = Tags::ACQUIRE | Tags::ACQUIRE_PC | Tags::CONSUME;
        self.push(Op::store(addr, new).tagged(tags.without(reads)));
        self.push(Op::AtomicEnd);
    }

    /// Jumps; the target is a label's number until the code is finished.
    pub(crate) fn jump(&mut self, to: Label) {
        self.push(Op::Jump(InstrId::new(to.0)));
    }

    /// Goes to `then_to` if the condition holds, else to `else_to`.
    pub(crate) fn branch(&mut self, cond: LocalExpr, then_to: Label, else_to: Label) {
        self.push(Op::Branch { cond, then_to: InstrId::new(then_to.0), else_to: InstrId::new(else_to.0) });
    }

    /// The thread, its jumps resolved. Every label has been placed.
    pub(crate) fn finish(mut self, name: String) -> Thread {
        self.push(Op::Halt);
        let end = InstrId::new(self.code.len() - 1);
        let labels = self.labels;
        let resolve = |label: &mut InstrId| *label = labels.get(label.index()).copied().flatten().unwrap_or(end);
        for instr in &mut self.code {
            match &mut instr.op {
                Op::Jump(to) => resolve(to),
                Op::Branch { then_to, else_to, .. } => {
                    resolve(then_to);
                    resolve(else_to);
                }
                _ => {}
            }
        }
        Thread { name, registers: self.registers, code: self.code }
    }
}

/// A register as an expression.
pub(crate) fn var(reg: RegId) -> LocalExpr {
    Expr::Var(Place::Reg(reg))
}

/// A signed type of this width.
pub(crate) fn signed(bits: u8) -> IntType {
    IntType { bits, signed: true }
}

/// The value in the range of a type.
pub(crate) fn wrap<V>(ty: IntType, value: Expr<V>) -> Expr<V> {
    match value {
        Expr::Const(constant) => Expr::Const(ty.wrap(constant)),
        value => Expr::unary(UnOp::Wrap(ty), value),
    }
}

/// A binary operation; constants are folded where that cannot fail.
pub(crate) fn binary<V>(op: BinOp, left: Expr<V>, right: Expr<V>) -> Expr<V> {
    if let (Expr::Const(a), Expr::Const(b)) = (&left, &right)
        && let Ok(value) = op.apply(*a, *b)
    {
        return Expr::Const(value);
    }
    Expr::binary(op, left, right)
}
