//! The language of `threads` and `stm`: names are variables and procedures are inlined.
//!
//! A thread is lowered with `self` and `tid` fixed. A thread has one set of registers for each procedure, whatever
//! the number of its calls: calls of one procedure never overlap, and each gives its parameters and locals their values anew.
//! Registers are allocated when they are first mentioned, so a local that a thread never uses costs it nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cyrano_ir::{
    Addr, ArrayId, Diagnostic, Expr as IrExpr, LocId, LocalExpr, Location, Op, Place, RegId, Register, SharedArray,
    Span, Tags, Thread,
};

use crate::clients::given::Tx;
use crate::clients::values::Client;
use crate::expand::compact::compact;
use crate::expand::fold::{fold, fold_const};
use crate::expand::share::share;
use crate::lower::build::Label;
use crate::lower::expr::Slot;
use crate::lower::points::{Places, pins, places};
use crate::lower::{Frame, Language};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::names::{BodyId, Names, Shape, VarId};
use crate::rules::block::is_block;
use crate::rules::checker::Checked;
use crate::syntax::ast::{Block, Call, Command, Count, Expr, Init, Name, Place as Target, Stmt, StmtKind, VarDecl};

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
    /// The labels that invariants name.
    pub(crate) named: &'r BTreeSet<&'a str>,
    /// Whether the transactions of a given client are atomic blocks, without the stm.
    pub(crate) atomic: bool,
}

/// The body being lowered.
pub(crate) struct Body {
    pub(crate) body: BodyId,
    /// Parameters that are constants in this call.
    pub(crate) fixed: HashMap<VarId, i128>,
}

impl Body {
    /// A body without constants.
    pub(crate) fn new(body: BodyId) -> Self {
        Self { body, fixed: HashMap::new() }
    }
}

/// What a thread of `threads` or `stm` knows.
pub(crate) struct Threads<'a, 'r> {
    pub(crate) shared: &'r Shared<'a, 'r>,
    pub(crate) self_index: i128,
    pub(crate) tid: i128,
    /// The thread's own body.
    pub(crate) thread: BodyId,
    /// Where the most general client chooses the next command, in an stm.
    pub(crate) client: Option<Label>,
    /// The client of an stm with values.
    pub(crate) values: Option<Client>,
    /// The transaction of a given client around the current statement.
    pub(crate) tx: Option<Tx>,
    homes: HashMap<VarId, RegId>,
}

/// The lowering of one thread.
pub(crate) type Lower<'a, 'r, 'm> = crate::lower::Lower<'a, 'm, Threads<'a, 'r>>;

impl<'a, 'r> Language<'a> for Threads<'a, 'r> {
    type Frame = Body;

    const GOES_ON: bool = true;
    const COMPACTS: bool = true;

    fn atom(lower: &mut Lower<'a, 'r, '_>, atom: &'a Expr) -> Fallible<LocalExpr> {
        lower.atom(atom)
    }

    fn slot(lower: &mut Lower<'a, 'r, '_>, target: &'a Target) -> Fallible<Slot> {
        lower.slot(target)
    }

    fn slot_read(lower: &mut Lower<'a, 'r, '_>, expr: &'a Expr) -> Fallible<Option<Slot>> {
        lower.slot_read(expr)
    }

    fn call(lower: &mut Lower<'a, 'r, '_>, call: &'a Call, into: Option<Place>) -> Fallible<Option<LocalExpr>> {
        lower.lower_call(call, into).map(|()| None)
    }

    fn own_stmt(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt) -> Fallible<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Declare(decls) => lower.lower_declaration(decls, span),
            StmtKind::Atomic(body) if !lower.commits(body) => {
                lower.emit(Op::AtomicBegin, span)?;
                lower.in_section = true;
                let lowered = lower.lower_block(body);
                lower.in_section = false;
                lowered?;
                lower.emit(Op::AtomicEnd, body.close)
            }
            StmtKind::Atomic(body) => lower.lower_atomic_block(lower.line(span), &[], body, span),
            StmtKind::AtomicBlock(block) => {
                let name = block.name.as_ref().map_or_else(|| lower.line(span), |name| name.text.clone());
                lower.lower_atomic_block(name, &block.results, &block.body, span)
            }
            StmtKind::Tx(body, otherwise) => lower.lower_tx(body, otherwise.as_ref(), span),
            StmtKind::Transaction(event) => lower.lower_event(*event, span),
            StmtKind::Rollback(place, value) => {
                let Slot::Shared(addr, _) = lower.slot(place)? else { return Err(Reported) };
                let value = fold(value, lower)?;
                // A given client with values has no history, so nothing in it is undone.
                let judged = lower.own.tx.is_none() || !lower.own.shared.names.file.has_values();
                let tags = if judged { Tags::ROLLBACK } else { Tags::default() };
                lower.emit(Op::store(addr, value).tagged(tags), span)
            }
            // The rules have refused it.
            _ => Err(Reported),
        }
    }

    fn labelled(lower: &mut Lower<'a, 'r, '_>, stmt: &'a Stmt) -> Fallible<()> {
        let asked = |label: &&Name| lower.own.shared.names.file.asks_for(&label.text);
        match stmt.label.as_ref().filter(asked) {
            Some(label) => lower.emit(Op::Progress(Some(label.text.clone())), stmt.span),
            None => Ok(()),
        }
    }

    fn leave_body(lower: &mut Lower<'a, 'r, '_>, value: bool, span: Span) -> Fallible<()> {
        let command = lower.own.shared.names.command(lower.frame.own.body);
        if value && command == Some(Command::Read) {
            if lower.own.values.is_some() {
                return lower.respond_and_go_on(Command::Read, span);
            }
            if lower.own.tx.is_some() {
                return lower.leave(lower.frame.on_return, lower.frame.in_operation, span);
            }
        }
        lower.end_body(span)
    }
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
    /// What its marks stand for.
    pub(crate) marks: Vec<cyrano_ir::told::What>,
    /// Where the labels are that invariants name.
    pub(crate) points: BTreeMap<String, Places>,
}

impl<'a, 'r, 'm> Lower<'a, 'r, 'm> {
    /// A thread with nothing in it yet.
    pub(crate) fn thread(
        shared: &'r Shared<'a, 'r>,
        reports: &'m mut Reports,
        body: BodyId,
        (self_index, tid): (i128, i128),
    ) -> Self
    where
        'r: 'm,
    {
        let homes = HashMap::new();
        let own = Threads { shared, self_index, tid, thread: body, client: None, values: None, tx: None, homes };
        let lower = Self::new(own, Body::new(body), (&shared.names.budget, reports));
        Self { named: shared.named.clone(), ..lower }
    }

    /// The register of a variable in a thread that is already lowered: `observe` may name what the thread never mentions.
    pub(crate) fn late_home(mut self, lowered: &mut LoweredThread, var: VarId) -> Fallible<RegId> {
        std::mem::swap(&mut self.build.thread, &mut lowered.thread);
        std::mem::swap(&mut self.own.homes, &mut lowered.homes);
        let home = self.home(var);
        std::mem::swap(&mut self.build.thread, &mut lowered.thread);
        std::mem::swap(&mut self.own.homes, &mut lowered.homes);
        home
    }

    /// Lowers the thread's body.
    pub(crate) fn finish(mut self, declared: usize) -> LoweredThread {
        let file = self.own.shared.names.file;
        let declaration = &file.threads[declared];
        let block = &declaration.body;
        let name = match declaration.count {
            Count::Number(_) => format!("{}[{}]", declaration.name.text, self.own.self_index),
            Count::Any { .. } => format!("{}[*]", declaration.name.text),
            Count::One => declaration.name.text.clone(),
        };
        let given = file.client.is_some();
        let (lowered, span) = match file.stm().filter(|_| !given) {
            Some(stm) => (self.lower_client(stm), stm),
            None => (self.lower_block(block), block.close),
        };
        if lowered.is_err() {
            // What cannot be lowered was reported.
            self.reports.skip(span);
        }
        self.place(Label::END);
        // If the budget is gone the program is refused, and labels may point past its end.
        let named = std::mem::take(&mut self.build.named);
        let (code, positions) = match self.emit(Op::Halt, block.close) {
            Ok(()) => compact(std::mem::take(&mut self.build.thread.code), &self.build.labels, &pins(&named)),
            Err(Reported) => (Vec::new(), Vec::new()),
        };
        let points = places(&named, &code, &positions);
        self.report_open_ends(&code);
        let keys = self.key_registers();
        let code = if self.own.values.is_some() || given && !self.own.shared.atomic { share(code) } else { code };
        let thread = Thread { name, registers: self.build.thread.registers, code };
        let marks = self.build.marks_told;
        LoweredThread { declared, self_index: self.own.self_index, thread, homes: self.own.homes, keys, marks, points }
    }

    /// Lowers a command with constants for its parameters, up to its end.
    pub(crate) fn run_command(
        &mut self,
        procedure: usize,
        args: &[i128],
        (on_return, result): (Label, Option<Place>),
    ) -> Fallible<()> {
        let names = self.own.shared.names;
        let (declared, body) = (&names.file.procs[procedure], names.proc_body(procedure));
        let params = declared.params.iter().zip(args);
        let fixed = params.filter_map(|(param, value)| Some((names.local(body, &param.name.text)?, *value))).collect();
        let frame = Frame { result, ..Frame::new(Body { body, fixed }, on_return) };
        self.within(frame, |lower| {
            lower.lower_block(&declared.body)?;
            lower.end_body(declared.body.close)
        })
    }

    /// Whether `atomic` without a name is a block.
    fn commits(&self, body: &Block) -> bool {
        let shared = self.own.shared;
        is_block(body, shared.names, &|procedure| shared.checked.committing[procedure])
    }

    /// What a block without a name is called.
    pub(crate) fn line(&self, span: Span) -> String {
        let before = self.own.shared.names.source.get(..span.start as usize);
        format!("line {}", before.map_or(1, |before| before.matches('\n').count() + 1))
    }

    /// A thread's own locals start with their values; those of a procedure get them anew in every call.
    fn lower_declaration(&mut self, decls: &'a [VarDecl], span: Span) -> Fallible<()> {
        let (names, body) = (self.own.shared.names, self.frame.own.body);
        if body.0 >= names.file.procs.len() {
            return Ok(());
        }
        for decl in decls {
            let var = names.local(body, &decl.name.text).ok_or(Reported)?;
            let home = self.home(var)?;
            for (offset, value) in self.initial_values(var)?.into_iter().enumerate() {
                self.assign(Place::Reg(RegId::new(home.index() + offset)), IrExpr::Const(value), span)?;
            }
        }
        Ok(())
    }

    /// The register of a variable, or of element 0, allocated when first mentioned.
    pub(crate) fn home(&mut self, var: VarId) -> Fallible<RegId> {
        if let Some(home) = self.own.homes.get(&var) {
            return Ok(*home);
        }
        let names = self.own.shared.names;
        let declared = names.var(var);
        let span = declared.name.span;
        let inits = self.initial_values(var)?;
        let charged = names.budget.charge_registers(u32::try_from(inits.len()).unwrap_or(u32::MAX), span);
        self.reports.settle(charged)?;
        let home = RegId::new(self.build.thread.registers.len());
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
            self.build.thread.registers.push(Register { name, init, ty: declared.ty });
        }
        self.own.homes.insert(var, home);
        Ok(home)
    }

    /// The initial values of a local variable, one per element.
    pub(crate) fn initial_values(&mut self, var: VarId) -> Fallible<Vec<i128>> {
        let declared = self.own.shared.names.var(var);
        let (shape, init, name) = (declared.shape, declared.init, declared.name);
        initial_values(shape, init, name.span, |expr| fold_const(expr, self))
            .and_then(|values| values.map_err(|diagnostic| self.reports.add(diagnostic)))
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
    mut constant: impl FnMut(&'a Expr) -> Fallible<i128>,
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
