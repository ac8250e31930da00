//! The lowering of one thread: registers, instructions, labels.
//!
//! A thread is lowered with `self` and `tid` fixed. Procedures are inlined; a thread has one set of registers for each procedure, whatever
//! the number of its calls: calls of one procedure never overlap, and each gives its parameters and locals their values anew.
//! Registers are allocated when they are first mentioned, so a local that a thread never uses costs it nothing.
//! **Invariant:** control flow is matched by construction: a jump out of an operation ends it first, and the checker has refused
//! jumps out of atomic sections.

use std::collections::HashMap;

use cyrano_ir::{
    Addr, ArrayId, Diagnostic, Expr as IrExpr, Instr, InstrId, LocId, LocalExpr, Location, Op, Place, RegId, Register,
    SharedArray, Span, Thread, Ty,
};

use crate::clients::given::Tx;
use crate::clients::values::Client;
use crate::expand::compact::compact;
use crate::expand::fold::{charge, fold_const};
use crate::expand::share::share;
use crate::lower::block::OpenBlock;
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::names::{BodyId, Names, Shape, VarId};
use crate::rules::checker::Checked;
use crate::syntax::ast::{Block, Init};

/// How deep statements may nest when procedures are inlined.
const MAX_INLINED: u32 = 300;

/// Where shared variables live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedHome {
    pub(crate) base: LocId,
    /// The array, if it is one.
    pub(crate) array: Option<ArrayId>,
}

/// What all threads share.
pub(crate) struct Shared<'a, 'r> {
    pub(crate) names: &'r Names<'a>,
    pub(crate) checked: &'r Checked,
    pub(crate) homes: &'r HashMap<VarId, SharedHome>,
    pub(crate) locations: &'r [Location],
    pub(crate) arrays: &'r [SharedArray],
    /// Whether the transactions of a given client are atomic blocks, without the stm.
    pub(crate) atomic: bool,
}

/// A label: the target of jumps, placed later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(pub(crate) usize);

impl Label {
    /// The label as a target, until [`compact`] replaces it by a position.
    pub(crate) fn target(self) -> InstrId {
        InstrId::new(self.0)
    }
}

/// A loop around the current statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopTargets {
    pub(crate) on_break: Label,
    pub(crate) on_continue: Label,
    pub(crate) in_operation: bool,
}

/// The body being lowered: the thread's own, or that of an inlined procedure.
pub(crate) struct Frame<'a> {
    pub(crate) body: BodyId,
    pub(crate) binders: Vec<(&'a str, i128)>,
    /// Parameters that are constants in this call.
    pub(crate) fixed: HashMap<VarId, i128>,
    pub(crate) loops: Vec<LoopTargets>,
    pub(crate) on_return: Label,
    /// Where a returned value goes, if anywhere.
    pub(crate) result: Option<Place>,
    pub(crate) in_operation: bool,
}

impl Frame<'_> {
    /// A body that goes to a label when it returns.
    pub(crate) fn new(body: BodyId, on_return: Label) -> Self {
        Self {
            body,
            binders: Vec::new(),
            fixed: HashMap::new(),
            loops: Vec::new(),
            on_return,
            result: None,
            in_operation: false,
        }
    }
}

/// The lowering of one thread.
pub(crate) struct Lower<'a, 'r> {
    pub(crate) shared: &'r Shared<'a, 'r>,
    pub(crate) reports: &'r mut Reports,
    pub(crate) self_index: i128,
    pub(crate) tid: i128,
    pub(crate) frame: Frame<'a>,
    pub(crate) in_operation: bool,
    /// The statement being lowered, which the loads of its right side belong to.
    pub(crate) stmt_span: Span,
    /// Where the most general client chooses the next command, in an stm.
    pub(crate) client: Option<Label>,
    /// The client of an stm with values.
    pub(crate) values: Option<Client>,
    /// The transaction of a given client around the current statement.
    pub(crate) tx: Option<Tx>,
    /// Where transactions keep a given client's locals.
    pub(crate) copies: HashMap<VarId, RegId>,
    /// The register with the address of a transaction's first operation.
    pub(crate) first: Option<RegId>,
    registers: Vec<Register>,
    homes: HashMap<VarId, RegId>,
    /// For each type the temporaries, and how many of them the current statement uses.
    temporaries: [(Vec<RegId>, usize); 2],
    /// The atomic block around the current statement.
    pub(crate) block: Option<OpenBlock>,
    /// The register with the way out of it.
    pub(crate) exit: Option<RegId>,
    choice: Option<RegId>,
    results: HashMap<Ty, RegId>,
    code: Vec<Instr>,
    labels: Vec<usize>,
    depth: u32,
}

/// A lowered thread, with the registers of its user's variables.
pub(crate) struct LoweredThread {
    /// The declaration that it comes from.
    pub(crate) declared: usize,
    pub(crate) self_index: i128,
    pub(crate) thread: Thread,
    pub(crate) homes: HashMap<VarId, RegId>,
    /// For each order of an stm and each transaction the registers with its keys.
    pub(crate) keys: Vec<Vec<Vec<RegId>>>,
}

impl<'a, 'r> Lower<'a, 'r> {
    /// A thread with nothing in it yet.
    pub(crate) fn new(
        shared: &'r Shared<'a, 'r>,
        reports: &'r mut Reports,
        body: BodyId,
        (self_index, tid): (i128, i128),
    ) -> Self {
        Self {
            shared,
            reports,
            self_index,
            tid,
            frame: Frame::new(body, Label(0)),
            in_operation: false,
            stmt_span: Span::default(),
            client: None,
            values: None,
            tx: None,
            copies: HashMap::new(),
            first: None,
            registers: Vec::new(),
            homes: HashMap::new(),
            temporaries: Default::default(),
            block: None,
            exit: None,
            choice: None,
            results: HashMap::new(),
            code: Vec::new(),
            // Label 0 is the end of the thread.
            labels: vec![0],
            depth: 0,
        }
    }

    /// The register of a variable in a thread that is already lowered: `observe` may name what the thread never mentions.
    pub(crate) fn late_home(mut self, lowered: &mut LoweredThread, var: VarId) -> Fallible<RegId> {
        std::mem::swap(&mut self.registers, &mut lowered.thread.registers);
        std::mem::swap(&mut self.homes, &mut lowered.homes);
        let home = self.home(var);
        std::mem::swap(&mut self.registers, &mut lowered.thread.registers);
        std::mem::swap(&mut self.homes, &mut lowered.homes);
        home
    }

    /// Lowers the thread's body.
    pub(crate) fn finish(mut self, declared: usize) -> LoweredThread {
        let declaration = &self.shared.names.file.threads[declared];
        let block = &declaration.body;
        let name = match declaration.count {
            Some(_) => format!("{}[{}]", declaration.name.text, self.self_index),
            None => declaration.name.text.clone(),
        };
        let given = self.shared.names.file.client.is_some();
        match self.shared.names.file.stm().filter(|_| !given) {
            // A client that cannot be lowered was reported.
            Some(stm) if self.lower_client(stm).is_err() => self.reports.skip(stm),
            Some(_) => {}
            None => self.lower_block(block),
        }
        self.place(Label(0));
        // If the budget is gone the program is refused, and labels may point past its end.
        let code = match self.emit(Op::Halt, block.close) {
            Ok(()) => compact(std::mem::take(&mut self.code), &self.labels),
            Err(Reported) => Vec::new(),
        };
        self.report_open_ends(&code);
        let keys = self.key_registers();
        let code = if self.values.is_some() || given && !self.shared.atomic { share(code) } else { code };
        let thread = Thread { name, registers: self.registers, code };
        LoweredThread { declared, self_index: self.self_index, thread, homes: self.homes, keys }
    }

    /// Lowers the statements of a block, going on after those that are wrong.
    pub(crate) fn lower_block(&mut self, block: &'a Block) {
        if self.depth >= MAX_INLINED {
            let message = format!("calls and blocks nest more than {MAX_INLINED} levels deep after inlining");
            self.reports.complain(block.close, message, "too deep here", "flatten the calls");
            return;
        }
        self.depth += 1;
        for stmt in &block.stmts {
            if self.shared.names.budget.is_exhausted() {
                break;
            }
            self.temporaries.iter_mut().for_each(|(_, used)| *used = 0);
            self.stmt_span = stmt.span;
            if charge(self, 1, stmt.span).and_then(|()| self.lower_stmt(stmt)).is_err() {
                // The other statements may have errors of their own.
                self.reports.skip(stmt.span);
            }
        }
        self.depth -= 1;
    }

    /// Lowers a command's body in a frame of its own, up to its end.
    pub(crate) fn run_command(&mut self, procedure: usize, frame: Frame<'a>) -> Fallible<()> {
        let body = &self.shared.names.file.procs[procedure].body;
        let outer = std::mem::replace(&mut self.frame, frame);
        self.lower_block(body);
        let ended = self.end_body(body.close);
        self.frame = outer;
        ended
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, op: Op, span: Span) -> Fallible<()> {
        let charged = self.shared.names.budget.charge_instruction(span);
        self.reports.settle(charged)?;
        self.code.push(Instr { op, span });
        Ok(())
    }

    /// A new label.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    /// Puts a label in front of the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    /// Goes to a label.
    pub(crate) fn jump(&mut self, label: Label, span: Span) -> Fallible<()> {
        self.emit(Op::Jump(label.target()), span)
    }

    /// The register of a variable, or of element 0, allocated when first mentioned.
    pub(crate) fn home(&mut self, var: VarId) -> Fallible<RegId> {
        if let Some(home) = self.homes.get(&var) {
            return Ok(*home);
        }
        let names = self.shared.names;
        let declared = names.var(var);
        let span = declared.name.span;
        let inits = self.initial_values(var)?;
        let charged = names.budget.charge_registers(u32::try_from(inits.len()).unwrap_or(u32::MAX), span);
        self.reports.settle(charged)?;
        let home = RegId::new(self.registers.len());
        // Locals of procedures are the front end's own as far as a reader of outcomes is concerned.
        let procedure = declared.body.and_then(|body| names.file.procs.get(body.0));
        let of_stm = declared.body.is_none() && names.file.client.is_some();
        let outside = if of_stm { "%stm.".to_owned() } else { String::new() };
        let prefix = procedure.map_or(outside, |p| format!("%{}.", p.name.text));
        for (index, init) in inits.into_iter().enumerate() {
            let name = match declared.shape {
                Shape::Scalar => format!("{prefix}{}", declared.name.text),
                _ => format!("{prefix}{}[{index}]", declared.name.text),
            };
            self.registers.push(Register { name, init, ty: declared.ty });
        }
        self.homes.insert(var, home);
        Ok(home)
    }

    /// The initial values of a local variable, one per element.
    pub(crate) fn initial_values(&mut self, var: VarId) -> Fallible<Vec<i128>> {
        let declared = self.shared.names.var(var);
        let (shape, init, name) = (declared.shape, declared.init, declared.name);
        initial_values(shape, init, name.span, |expr| fold_const(expr, self))
            .and_then(|values| values.map_err(|diagnostic| self.reports.add(diagnostic)))
    }

    /// A register for an intermediate value, free until the next statement.
    pub(crate) fn temporary(&mut self, ty: Ty, span: Span) -> Fallible<RegId> {
        let (pool, used) = &self.temporaries[ty as usize];
        let found = pool.get(*used).copied();
        let register = match found {
            Some(register) => register,
            None => {
                let made: usize = self.temporaries.iter().map(|(pool, _)| pool.len()).sum();
                let register = self.register(format!("%{made}"), ty, span)?;
                self.temporaries[ty as usize].0.push(register);
                register
            }
        };
        self.temporaries[ty as usize].1 += 1;
        Ok(register)
    }

    /// The register that holds a choice until it is branched on.
    pub(crate) fn choice(&mut self, span: Span) -> Fallible<RegId> {
        if self.choice.is_none() {
            self.choice = Some(self.register("%choice".to_owned(), Ty::Int, span)?);
        }
        self.choice.ok_or(Reported)
    }

    /// The register that takes a returned value to a shared variable.
    pub(crate) fn result(&mut self, ty: Ty, span: Span) -> Fallible<RegId> {
        if let Some(register) = self.results.get(&ty) {
            return Ok(*register);
        }
        let name = if ty == Ty::Int { "%result" } else { "%result.timestamp" };
        let register = self.register(name.to_owned(), ty, span)?;
        self.results.insert(ty, register);
        Ok(register)
    }

    /// So many new registers in a row, at least one; the first of them.
    pub(crate) fn registers(&mut self, name: &str, ty: Ty, count: i128, span: Span) -> Fallible<RegId> {
        let made: Fallible<Vec<RegId>> = (0..count).map(|n| self.register(format!("{name}[{n}]"), ty, span)).collect();
        made?.first().copied().ok_or(Reported)
    }

    /// A new register.
    pub(crate) fn register(&mut self, name: String, ty: Ty, span: Span) -> Fallible<RegId> {
        let charged = self.shared.names.budget.charge_registers(1, span);
        self.reports.settle(charged)?;
        self.registers.push(Register { name, init: 0, ty });
        Ok(RegId::new(self.registers.len() - 1))
    }

    /// What the register holds.
    pub(crate) fn register_ty(&self, register: RegId) -> Ty {
        self.registers[register.index()].ty
    }

    /// The register, or element, that an index chooses.
    pub(crate) fn element(&mut self, base: RegId, len: u32, index: LocalExpr, span: Span) -> Fallible<Place> {
        match index {
            IrExpr::Const(index) => {
                let index = self.in_bounds(index, len, span)?;
                Ok(Place::Reg(RegId::new(base.index() + index)))
            }
            index => Ok(Place::Elem { base, len, index: Box::new(index) }),
        }
    }

    /// The shared location, or element, that an index chooses.
    pub(crate) fn shared_element(
        &mut self,
        home: SharedHome,
        len: u32,
        index: LocalExpr,
        span: Span,
    ) -> Fallible<Addr> {
        match (index, home.array) {
            (IrExpr::Const(index), _) => {
                let index = self.in_bounds(index, len, span)?;
                Ok(Addr::Fixed(LocId::new(home.base.index() + index)))
            }
            (index, Some(array)) => Ok(Addr::Indexed { array, index }),
            (_, None) => Err(Reported),
        }
    }

    fn in_bounds(&mut self, index: i128, len: u32, span: Span) -> Fallible<usize> {
        in_bounds(index, len, span, self.reports)
    }
}

/// A constant index as a position, if the array has it.
pub(crate) fn in_bounds(index: i128, len: u32, span: Span, reports: &mut Reports) -> Fallible<usize> {
    let position = usize::try_from(index).ok().filter(|position| *position < len as usize);
    position.ok_or_else(|| {
        let message = format!("index {index} is outside an array of {len} elements");
        reports.complain(span, message, format!("is {index} here"), format!("indices lie between 0 and {}", len - 1))
    })
}

/// The initial values of a variable, one per element; the inner error is a list of the wrong length.
pub(crate) fn initial_values<'a>(
    shape: Shape,
    init: Option<&'a Init>,
    span: Span,
    mut constant: impl FnMut(&'a crate::syntax::ast::Expr) -> Fallible<i128>,
) -> Fallible<Result<Vec<i128>, Diagnostic>> {
    let len = match shape {
        Shape::Scalar if matches!(init, Some(Init::List(..))) => return Err(Reported),
        Shape::Scalar => 1,
        Shape::Array(len) => len as usize,
        Shape::Unknown => return Err(Reported),
    };
    match init {
        None => Ok(Ok(vec![0; len])),
        Some(Init::Value(value)) => Ok(Ok(vec![constant(value)?; len])),
        Some(Init::List(values, list)) if values.len() != len => {
            let message = format!("{} initial values for {len} elements", values.len());
            let diagnostic = Diagnostic::new(*list, message, "the values").with_related(span, "the array");
            Ok(Err(diagnostic.with_help("give one value per element, or a single one for all")))
        }
        Some(Init::List(values, _)) => {
            let values: Fallible<Vec<i128>> = values.iter().map(constant).collect();
            values.map(Ok)
        }
    }
}
