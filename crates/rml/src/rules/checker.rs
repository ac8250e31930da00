//! The checker: every name, kind and placement rule, over the whole file, before anything is lowered.
//!
//! Each body is checked once, whether or not it is ever run, and in an order in which callees come first, so that at a call the
//! procedure's result and what it may do are known. The checker goes on after errors; what it rejects, the lowering
//! skips without another word.

use std::collections::HashSet;

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::report::Reports;
use crate::resolve::calls::{Calls, order_calls, walk};
use crate::resolve::names::{BodyId, Names, VarId};
use crate::resolve::typing::Kind;
use crate::rules::labels::labels;
use crate::rules::stm::stores_data;
use crate::rules::table::Units;
use crate::syntax::ast::{AtomicBlock, Block, Count, Expr, Init, Name, Stmt, StmtKind, VarDecl, VarKind};

/// What the lowering needs to know.
pub(crate) struct Checked {
    /// Variables that some statement assigns.
    pub(crate) assigned: HashSet<VarId>,
    /// Procedures that cannot be inlined.
    pub(crate) endless: Vec<bool>,
    /// Whether the command `end` may commit.
    pub(crate) commits: bool,
    /// Procedures with a commit point of the atomic block around a call.
    pub(crate) committing: Vec<bool>,
}

/// What a call of a procedure amounts to.
#[derive(Clone, Default, Debug)]
pub(crate) struct ProcFacts {
    /// The kind of its result, if it has one.
    pub(crate) returns: Option<Kind>,
    /// The fences, sections, operations and blocks that it may execute, here or in what it calls.
    pub(crate) units: Units,
    /// A commit point of an atomic block that has to stand around a call, likewise.
    pub(crate) commit: Option<Span>,
    /// A transaction's event of each kind, likewise.
    pub(crate) events: [Option<Span>; TxEvent::ALL.len()],
    /// Whether control never comes back from a call, because an event ends the command first.
    pub(crate) ends: bool,
}

/// Which names an expression may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Constants only; inside a thread also `self` and `tid`.
    Constant { in_thread: bool },
    /// No shared variables, for the expression is this.
    Local(&'static str),
    /// Shared variables too: they are loaded.
    Value,
}

/// Where the statement being checked stands.
#[derive(Clone, Default, Debug)]
pub(crate) struct Context {
    /// The section, operation, block and transaction around it.
    pub(crate) around: Units,
    /// The number of loops around it.
    pub(crate) loops: usize,
    /// The number of loops around it inside the atomic section.
    pub(crate) loops_in_atomic: usize,
}

/// The checker's state.
pub(crate) struct Checker<'a, 'r> {
    pub(crate) names: &'r Names<'a>,
    pub(crate) reports: &'r mut Reports,
    pub(crate) procs: Vec<ProcFacts>,
    pub(crate) assigned: HashSet<VarId>,
    pub(crate) endless: Vec<bool>,
    /// Whether some statement stores to a transactional variable.
    pub(crate) stores_data: bool,
    /// The body being checked, if any.
    pub(crate) body: Option<BodyId>,
    /// Facts about that body so far.
    pub(crate) facts: ProcFacts,
    pub(crate) binders: Vec<&'a Name>,
    pub(crate) mode: Mode,
    pub(crate) place: Context,
}

/// Checks a file.
pub(crate) fn check(names: &Names<'_>, reports: &mut Reports) -> Checked {
    let procs = &names.file.procs;
    let Calls { order, endless } = order_calls("procedure", procs.iter().map(|p| (&p.name, &p.body)), reports);
    let mut checker = Checker {
        names,
        reports,
        procs: vec![ProcFacts::default(); names.file.procs.len()],
        assigned: HashSet::new(),
        endless,
        stores_data: stores_data(names),
        body: None,
        facts: ProcFacts::default(),
        binders: Vec::new(),
        mode: Mode::Constant { in_thread: false },
        place: Context::default(),
    };
    checker.check_globals();
    for procedure in order {
        checker.check_proc(procedure);
    }
    for (index, thread) in names.file.threads.iter().enumerate() {
        checker.check_body(names.thread_body(index), &thread.body);
    }
    let bodies = procs.iter().map(|procedure| &procedure.body);
    let labels = labels(bodies.chain(names.file.threads.iter().map(|thread| &thread.body)), checker.reports);
    checker.check_claims(&labels);
    checker.check_values();
    checker.check_client();
    let commits = checker.check_stm();
    let committing = checker.procs.iter().map(|facts| facts.commit.is_some()).collect();
    Checked { assigned: checker.assigned, endless: checker.endless, commits, committing }
}

impl<'a> Checker<'a, '_> {
    fn check_globals(&mut self) {
        let file = self.names.file;
        for constant in &file.consts {
            self.constant(&constant.value);
        }
        for decl in &file.decls {
            self.check_decl(decl);
        }
        // The number of an stm's threads is a constant that is checked where it is declared.
        let threads = if file.stm().is_some() && file.client.is_none() { &[] } else { file.threads.as_slice() };
        for thread in threads {
            if let Count::Number(count) = &thread.count {
                self.constant(count);
            }
        }
    }

    /// Checks length and initialiser.
    pub(crate) fn check_decl(&mut self, decl: &'a VarDecl) {
        if let Some(len) = &decl.len {
            self.with_mode(Mode::Constant { in_thread: false }, |c| c.constant(len));
        }
        let in_thread = decl.kind == VarKind::Local;
        let values: &[Expr] = match &decl.init {
            None => return,
            Some(Init::Value(value)) => std::slice::from_ref(value),
            Some(Init::List(values, span)) => {
                if decl.len.is_none() {
                    let message = format!("`{}` is not an array", decl.name.text);
                    let help = "give it a length, or a single initial value";
                    self.reports.complain(*span, message, "several values", help);
                }
                values
            }
        };
        for value in values {
            self.with_mode(Mode::Constant { in_thread }, |c| c.constant(value));
        }
    }

    fn check_proc(&mut self, procedure: usize) {
        let declared = &self.names.file.procs[procedure];
        self.check_body(self.names.proc_body(procedure), &declared.body);
        let returns = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Return(_));
        if self.facts.returns.is_some() && goes_through(&declared.body, &returns) {
            let message = format!("procedure `{}` may end without returning a value", declared.name.text);
            let diagnostic = Diagnostic::new(declared.body.close, message, "ends here");
            let help = "end every path with `return` and a value";
            self.reports.add(diagnostic.with_related(declared.name.span, "the procedure").with_help(help));
        }
        // A command is never called, whatever the source says.
        self.facts.ends = declared.command.is_none() && self.ends(&declared.body);
        self.procs[procedure] = std::mem::take(&mut self.facts);
    }

    fn check_body(&mut self, body: BodyId, block: &'a Block) {
        self.body = Some(body);
        self.facts = ProcFacts::default();
        self.place = Context::default();
        let mut plain_return = None;
        walk(block, &mut |stmt| {
            if matches!(stmt.kind, StmtKind::Return(None)) {
                plain_return.get_or_insert(stmt.span);
            }
        });
        self.with_mode(Mode::Value, |checker| {
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Declare(decls) => decls.iter().for_each(|decl| checker.check_decl(decl)),
                    _ => checker.check_stmt(stmt),
                }
            }
            checker.check_reached(block);
        });
        if let (Some(span), Some(_)) = (plain_return, self.facts.returns) {
            let help = "other returns of this procedure have one";
            self.reports.complain(span, "this `return` lacks a value", "no value", help);
        }
        self.body = None;
    }

    /// Runs `inner` under another mode.
    pub(crate) fn with_mode<T>(&mut self, mode: Mode, inner: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.mode, mode);
        let result = inner(self);
        self.mode = outer;
        result
    }
}

/// Whether control may reach the end of a block; `stops` tells which statements it never goes on behind.
pub(crate) fn goes_through(block: &Block, stops: &impl Fn(&Stmt) -> bool) -> bool {
    block.stmts.iter().all(|stmt| goes_on(stmt, stops))
}

/// Whether control may go on behind a statement; a condition may or may not hold.
pub(crate) fn goes_on(stmt: &Stmt, stops: &impl Fn(&Stmt) -> bool) -> bool {
    let through = |block: &Block| goes_through(block, stops);
    match &stmt.kind {
        _ if stops(stmt) => false,
        StmtKind::If { arms, otherwise } => {
            otherwise.as_ref().is_none_or(through) || arms.iter().any(|(_, body)| through(body))
        }
        StmtKind::ChooseBlock(blocks) => blocks.iter().any(through),
        StmtKind::Operation(_, body) | StmtKind::Forsome(_, _, body) => through(body),
        StmtKind::Atomic(body) | StmtKind::AtomicBlock(AtomicBlock { body, .. }) => through(body),
        StmtKind::Loop(body) => body.stmts.iter().any(breaks),
        _ => true,
    }
}

/// Whether the statement may leave the loop around it.
pub(crate) fn breaks(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::While(..) | StmtKind::Loop(_) | StmtKind::Foreach(..) => false,
        _ => crate::resolve::calls::inner_blocks(stmt).into_iter().any(|block| block.stmts.iter().any(breaks)),
    }
}
