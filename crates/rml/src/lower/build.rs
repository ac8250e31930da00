//! The code of one thread while it is made, and for each instruction what the orders need to know about it.
//!
//! Jumps and branches go to labels, which are placed later and become positions when the code is done.

use std::collections::HashMap;
use std::sync::Arc;

use cyrano_ir::told::{Answer, MARK, Note, ObjectCall, Part, What};
use cyrano_ir::{BinOp, Expr, Instr, InstrId, LocalExpr, Op, Place, RegId, Register, Span, Thread, Ty};

use crate::lower::points::Named;

/// A label: the target of jumps, placed later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(crate) struct Label(usize);

impl Label {
    /// The first one: the end of the thread.
    pub(crate) const END: Self = Self(0);

    /// The label as a target, until it is replaced by a position.
    pub(crate) fn target(self) -> InstrId {
        InstrId::new(self.0)
    }
}

/// Where an instruction stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Context {
    /// The call of the client that it belongs to; none between calls.
    pub(crate) call: Option<u32>,
    /// The branches of the conditions and loops around it.
    pub(crate) guards: Vec<u32>,
    /// The branches that decide whether an earlier `return` of its methods was taken.
    pub(crate) early: Vec<u32>,
    /// The labels that stand for it.
    pub(crate) labels: Vec<u32>,
    /// The loops around it and which iteration of each, outermost first.
    pub(crate) loops: Vec<(u32, u32)>,
}

/// Which base object an instruction touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    pub(crate) object: usize,
    /// Which element, if that is a constant.
    pub(crate) element: Option<i128>,
}

impl std::fmt::Display for Touch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.object)?;
        self.element.map_or(Ok(()), |element| write!(f, "@{element}"))
    }
}

/// What an instruction does to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lock {
    Acquire,
    Release,
}

/// What the orders need to know about an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) context: Arc<Context>,
    /// The first instruction of the atomic section that it belongs to, or itself.
    pub(crate) group: u32,
    pub(crate) touch: Option<Touch>,
    pub(crate) lock: Option<Lock>,
    /// The call of a base object that it is a part of.
    object: Option<(u32, Part)>,
    /// Earlier instructions that it follows in any case.
    pub(crate) after: Vec<u32>,
}

/// The registers of a thread, and the names that they are asked for by.
pub(crate) type NamedRegisters = (Vec<Register>, HashMap<String, RegId>);

/// The code so far.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) thread: Thread,
    pub(crate) marks: Vec<Mark>,
    names: HashMap<String, RegId>,
    /// Where each label was placed.
    pub(crate) labels: Vec<usize>,
    pub(crate) context: Context,
    shared: Option<Arc<Context>>,
    /// The atomic section that is being made.
    pub(crate) group: Option<u32>,
    pub(crate) touch: Option<Touch>,
    pub(crate) lock: Option<Lock>,
    pub(crate) after: Vec<u32>,
    pub(crate) calls: u32,
    pub(crate) loops: u32,
    /// The statements that invariants name.
    pub(crate) named: Vec<Named>,
    /// What a reader is told: calls of base objects, the one that is being made, what instructions stand for, and marks.
    pub(crate) objects: Vec<ObjectCall>,
    object: Option<(u32, Part)>,
    notes: HashMap<u32, What>,
    pub(crate) marks_told: Vec<What>,
}

impl Builder {
    /// Adds an instruction.
    pub(crate) fn push(&mut self, op: Op, span: Span) {
        let context = match &self.shared {
            Some(shared) if **shared == self.context => Arc::clone(shared),
            _ => Arc::new(self.context.clone()),
        };
        self.shared = Some(Arc::clone(&context));
        let after = std::mem::take(&mut self.after);
        let group = self.group.unwrap_or(self.here());
        self.marks.push(Mark { context, group, touch: self.touch, lock: self.lock, object: self.object, after });
        self.thread.code.push(Instr { op, span });
    }

    /// Puts an instruction in front of those from a position on, which no label was placed behind.
    pub(crate) fn insert(&mut self, at: u32, op: Op, span: Span) {
        self.push(op, span);
        self.thread.code[at as usize..].rotate_right(1);
        self.marks[at as usize..].rotate_right(1);
    }

    /// What follows is the call of a base object.
    pub(crate) fn begin_object(&mut self, method: &str, args: Vec<LocalExpr>, answer: Answer) {
        self.object = u32::try_from(self.objects.len()).ok().map(|number| (number, Part::Whole));
        self.objects.push(ObjectCall { method: method.to_owned(), args, answer });
    }

    /// What follows is this part of it.
    pub(crate) fn part(&mut self, part: Part) {
        self.object = self.object.map(|(number, _)| (number, part));
    }

    /// What follows is no part of it any more.
    pub(crate) fn end_object(&mut self) {
        self.object = None;
    }

    /// What follows is no part of it for now.
    pub(crate) fn pause_object(&mut self) -> Option<(u32, Part)> {
        self.object.take()
    }

    /// What follows is a part of it again.
    pub(crate) fn resume_object(&mut self, object: Option<(u32, Part)>) {
        self.object = object;
    }

    /// What the call that is being made returns.
    pub(crate) fn answer(&mut self, answer: Answer) {
        if let Some(called) = self.objects.last_mut() {
            called.answer = answer;
        }
    }

    /// Registers that have the numbers that they have in other code.
    pub(crate) fn registers_as_in(&mut self, (registers, names): &NamedRegisters) {
        (self.thread.registers, self.names) = (registers.clone(), names.clone());
    }

    /// The registers with the names that they were asked for by.
    pub(crate) fn named_registers(&self) -> NamedRegisters {
        (self.thread.registers.clone(), self.names.clone())
    }

    /// Notes what the next instruction stands for.
    pub(crate) fn note(&mut self, what: What) {
        self.notes.insert(self.here(), what);
    }

    /// An assignment that stands for something wherever it ends up.
    pub(crate) fn mark(&mut self, what: What) -> Op {
        let known = self.marks_told.iter().position(|known| *known == what);
        let number = known.unwrap_or_else(|| {
            self.marks_told.push(what);
            self.marks_told.len() - 1
        });
        let dst = Place::Reg(self.register(MARK, 0));
        Op::Assign { dst, value: int(i128::try_from(number).unwrap_or(0)) }
    }

    /// What is told about each instruction, with the names of labels.
    pub(crate) fn told(&self, labels: &[String]) -> Vec<(InstrId, Note)> {
        let mut known: HashMap<&[u32], Arc<str>> = HashMap::new();
        let mut told = Vec::new();
        for (at, mark) in (0..).zip(&self.marks) {
            let path = mark.context.labels.as_slice();
            let name = |label: &u32| labels.get(*label as usize).map_or("", String::as_str);
            let joined = || path.iter().map(name).collect::<Vec<_>>().join(".").into();
            let label = (!path.is_empty()).then(|| Arc::clone(known.entry(path).or_insert_with(joined)));
            let what = self.notes.get(&at).cloned();
            let what = what.or(mark.object.map(|(number, part)| What::Object(number, part)));
            if label.is_some() || what.is_some() {
                told.push((InstrId(at), Note { label, what }));
            }
        }
        told
    }

    /// The number of the next instruction.
    pub(crate) fn here(&self) -> u32 {
        u32::try_from(self.thread.code.len()).unwrap_or(u32::MAX)
    }

    /// A new label.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    /// Puts a label in front of the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = self.thread.code.len();
    }

    /// The register of this name, or the first of a row.
    pub(crate) fn find(&self, name: &str) -> Option<RegId> {
        self.names.get(name).copied()
    }

    /// The register of this name.
    pub(crate) fn register(&mut self, name: &str, init: i128) -> RegId {
        self.row(name, None, init, Ty::Int)
    }

    /// So many registers in a row; a single one has no number.
    pub(crate) fn registers(&mut self, name: &str, len: u32, init: i128) -> RegId {
        self.row(name, (len != 1).then_some(len), init, Ty::Int)
    }

    /// A register, or a row of them.
    pub(crate) fn row(&mut self, name: &str, len: Option<u32>, init: i128, ty: Ty) -> RegId {
        if let Some(found) = self.find(name) {
            return found;
        }
        let base = RegId::new(self.thread.registers.len());
        let names = match len {
            Some(len) => (0..len).map(|index| format!("{name}[{index}]")).collect(),
            None => vec![name.to_owned()],
        };
        self.thread.registers.extend(names.into_iter().map(|name| Register { name, init, ty }));
        self.names.insert(name.to_owned(), base);
        base
    }
}

/// The expression for a register.
pub(crate) fn var(reg: RegId) -> LocalExpr {
    Expr::Var(Place::Reg(reg))
}

/// A constant.
pub(crate) fn int(value: i128) -> LocalExpr {
    Expr::Const(value)
}

/// Whether a value is this number.
pub(crate) fn is(value: LocalExpr, number: i128) -> LocalExpr {
    Expr::binary(BinOp::Eq, value, int(number))
}

/// One of the registers in a row.
pub(crate) fn element(base: RegId, len: u32, index: LocalExpr) -> Place {
    match index {
        Expr::Const(at) if (0..i128::from(len)).contains(&at) => Place::Reg(RegId(base.0 + at as u32)),
        index if len == 1 && index == int(0) => Place::Reg(base),
        index => Place::Elem { base, len, index: Box::new(index) },
    }
}

/// A binary operation, computed if both sides are constants and it can be.
pub(crate) fn binary(op: BinOp, left: LocalExpr, right: LocalExpr) -> LocalExpr {
    match (op, &left, &right) {
        (BinOp::Add, Expr::Const(0), _) => return right,
        (BinOp::Add | BinOp::Sub, _, Expr::Const(0)) | (BinOp::Mul | BinOp::Div, _, Expr::Const(1)) => return left,
        (BinOp::And, Expr::Const(0), _) => return int(0),
        (BinOp::Or, Expr::Const(0), _) => return right,
        (_, Expr::Const(a), Expr::Const(b)) => {
            if let Ok(value) = op.apply(*a, *b) {
                return int(value);
            }
        }
        _ => {}
    }
    Expr::binary(op, left, right)
}

/// The disjunction of truth values.
pub(crate) fn any(parts: impl IntoIterator<Item = LocalExpr>) -> LocalExpr {
    parts.into_iter().reduce(|all, part| binary(BinOp::Or, all, part)).unwrap_or(int(0))
}
