//! Clients that go on for ever, for questions about progress.
//!
//! Each thread runs transactions one after another, whatever becomes of them: it chooses an operation, carries it out, chooses again, and
//! commits; after a commit or an abort it begins a new transaction, and chooses again what that one does. So a thread's code is a loop.
//! **What makes it finite.** Values are a few. Versions and clocks only grow; what is only compared and increased becomes a timestamp
//! ([`Clocks`]), which engines renumber. Names of transactions and of records that nobody holds any more are used again: a `choose` into
//! a register of [`FRESH`] stands for a name that nobody holds, which is as good as a new one if the algorithm does nothing with
//! names that a renaming would change (`kinds`); that is a condition here, and an error where it does not hold.
//!
//! **Invariant:** methods have no loops, so the only jumps back go to the beginning of a transaction, right behind a `commit` or `abort`.

use cyrano_ir::dataflow::{Clocks, FRESH};
use cyrano_ir::{LocId, Method as TmMethod, Op, Place, Program, RegId, Span, ThreadId, TxEvent, Ty, reply};

use crate::clients::named::Codes;
use crate::clients::space::{ClientSpace, Values};
use crate::expand::method::Lower;
use crate::lower::build::{Label, int, is, var};
use crate::lower::memory::Memory;
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::classes::Kind;
use crate::resolve::constants::Constants;
use crate::resolve::infer::Inference;
use crate::resolve::kinds::interchangeable;
use crate::syntax::ast::{Rhs, StmtKind};
use crate::syntax::objects::{Algorithm, SpaceDecl};

/// What clients write unless a check says something else: enough to make a value change.
const VALUES: [i128; 2] = [0, 1];

/// How many names of transactions there are. Each thread runs one, and each location and each reference that a thread follows may
/// remember another one; a state that needs more is found out when it comes.
pub(crate) fn names(threads: usize, locs: usize) -> usize {
    4 * threads + locs
}

/// What is written in a check and makes no sense for threads that go on for ever.
pub(crate) fn check_decl(decl: &SpaceDecl, reports: &mut Reports) -> Fallible<()> {
    let mut failed = Ok(());
    for (bound, name) in [(&decl.txns, "txns"), (&decl.retry, "retry")] {
        if let Some(bound) = bound {
            let message =
                format!("a claim about progress is about threads that go on for ever, so `{name}` says nothing");
            let help = "leave it out: after a commit or an abort comes another transaction";
            failed = Err(reports.complain(bound.span, message, "not here", help));
        }
    }
    failed
}

/// The clients of a check about progress.
pub(crate) fn endless_space(space: ClientSpace) -> ClientSpace {
    let values = match space.values {
        Values::Distinct => Values::Among(VALUES.to_vec()),
        given => given,
    };
    ClientSpace { txns: 1..=1, retry: 0, values, ..space }
}

/// A name: `endless-2x3` for 2 threads with transactions of 3 operations, with what differs from the defaults behind it.
pub(crate) fn name(space: &ClientSpace, locs: u32) -> String {
    let values = match &space.values {
        Values::Among(values) if *values == VALUES => Values::Distinct,
        other => other.clone(),
    };
    let named = ClientSpace { values, ..space.clone() }.name(locs);
    named.replacen("clients-", "endless-", 1).replacen("x1x", "x", 1)
}

/// Whether names of transactions or records have to be used again.
pub(crate) fn needs_names(algorithm: &Algorithm) -> bool {
    let mut found = names_transactions(algorithm);
    algorithm.walk(&mut |stmt| found |= matches!(stmt.rhs(), Some(Rhs::New(_))));
    found
}

/// Whether some method says `tx`.
fn names_transactions(algorithm: &Algorithm) -> bool {
    let mut found = false;
    algorithm.walk(&mut |stmt| {
        found |= stmt.rhs().is_some_and(|rhs| rhs.exprs().any(|expr| expr.mentions("tx")));
        if let StmtKind::If { arms, .. } = &stmt.kind {
            found |= arms.iter().any(|(cond, _)| cond.mentions("tx"));
        }
    });
    found
}

/// Insists that names can be used again, if they have to be.
pub(crate) fn check_names(
    algorithm: &Algorithm,
    constants: &Constants,
    memory: &Memory,
    (space, span): (&ClientSpace, Span),
    reports: &mut Reports,
) -> Fallible<()> {
    let txns = constants.get("txns").and_then(|txns| u8::try_from(txns).ok()).unwrap_or(u8::MAX);
    let judged = ClientSpace { threads: 1, txns: txns..=txns, retry: 0, ..space.clone() };
    if !needs_names(algorithm) || interchangeable(algorithm, constants, memory, (&judged, &[])).threads {
        return Ok(());
    }
    let message = "threads that go on for ever run out of names for transactions and records";
    let label = "the algorithm computes with names, so that they cannot be used again";
    let help =
        "only copy and compare `tx` and references, and use them as indices of arrays that have room for `txns + 1`";
    Err(reports.complain(span, message, label, help))
}

/// Makes timestamps of what is only compared and increased.
pub(crate) fn find_clocks(program: &mut Program) {
    let clocks = Clocks::new(program);
    for (at, location) in program.locations.iter_mut().enumerate() {
        if clocks.is_clock(clocks.location(LocId::new(at))) {
            location.ty = Ty::Timestamp;
        }
    }
    for (thread, declared) in program.threads.iter_mut().enumerate() {
        for (at, register) in declared.registers.iter_mut().enumerate() {
            if clocks.is_clock(clocks.register(ThreadId::new(thread), RegId::new(at))) {
                register.ty = Ty::Timestamp;
            }
        }
    }
}

impl<'a> Lower<'a, '_, '_> {
    /// A thread that goes on for ever.
    pub(crate) fn endless_thread(&mut self, space: &ClientSpace, span: Span) -> Fallible<()> {
        self.own.endless = true;
        // Locks remember only that they are held.
        self.own.tx = i128::try_from(self.own.thread).unwrap_or(i128::MAX - 1) + 1;
        let (start, abort, commit) = (self.label(), self.label(), self.label());
        self.place(start);
        self.reset(false, span)?;
        self.fresh_transaction(span)?;
        let codes = Codes::new(space, 1);
        for place in 0..*space.ops.end() {
            let command = self.build.register("%cmd", 0);
            let may_commit = place >= *space.ops.start();
            let from = (0..codes.commit() + i128::from(may_commit)).collect();
            self.emit(Op::Choose { dst: Place::Reg(command), from }, span)?;
            if may_commit {
                self.when(is(var(command), codes.commit()), commit, span)?;
            }
            self.commands(&codes, command, abort, span)?;
        }
        self.place(commit);
        let result = self.operation(TmMethod::Commit, &[], span)?;
        self.leave_if_aborted(result, abort, span)?;
        let cond = is(var(result), reply::COMMITTED);
        self.emit(Op::Assert { cond, message: Some("`commit` returns `committed` or `aborted`".to_owned()) }, span)?;
        self.emit(Op::Transaction(TxEvent::Commit), span)?;
        self.jump(start, span)?;
        self.place(abort);
        self.emit(Op::Transaction(TxEvent::Abort), span)?;
        self.jump(start, span)
    }

    /// One copy of a method for each command, so that all of its arguments are constants.
    fn commands(&mut self, codes: &Codes, command: RegId, abort: Label, span: Span) -> Fallible<()> {
        let mut fork = self.fork();
        let last = codes.commit() - 1;
        for code in 0..=last {
            let other = self.label();
            if code < last {
                self.unless(is(var(command), code), other, span)?;
            }
            let (method, args) = codes.call(code);
            let result = self.way(&mut fork, |lower| lower.operation(method, &args, span))?;
            self.leave_if_aborted(result, abort, span)?;
            if code < last {
                self.jump(fork.end, span)?;
            }
            self.place(other);
        }
        self.join(fork);
        Ok(())
    }

    /// A call; the register of its result.
    fn operation(&mut self, method: TmMethod, args: &[i128], span: Span) -> Fallible<RegId> {
        self.operate(method.name(), args.iter().map(|arg| int(*arg)).collect(), span)
    }

    /// Gives the transaction a name that nobody holds, and what belongs to the name its initial value.
    fn fresh_transaction(&mut self, span: Span) -> Fallible<()> {
        if !names_transactions(self.own.algorithm) {
            return Ok(());
        }
        let tx = self.build.register(&format!("{FRESH}.tx"), 0);
        self.own.own_tx = Some(tx);
        let names = (1..=self.own.constants.get("txns").unwrap_or(1)).collect();
        let choice = Op::Choose { dst: Place::Reg(tx), from: names };
        let mut inference = Inference::new(self.own.algorithm, self.own.constants);
        let mut own = Vec::new();
        for shared in &self.own.algorithm.shared {
            let (Some(holder), Some(object)) = (
                inference.shared.get(shared.name.text.as_str()).copied(),
                self.own.memory.shared.get(&shared.name.text),
            ) else {
                continue;
            };
            if inference.classes.kinds(holder.key).has(Kind::Transaction) {
                own.push((self.own.memory.objects[*object].array, self.own.memory.first_value(*object, 1)));
            }
        }
        if own.is_empty() {
            return self.emit(choice, span);
        }
        // Nobody ever sees a name together with what belonged to it before.
        self.section(span, (true, true), |lower| {
            lower.emit(choice, span)?;
            for (array, value) in own {
                lower.store(cyrano_ir::Addr::Indexed { array, index: var(tx) }, int(value), span)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The name of a record that nobody holds.
    pub(crate) fn fresh_record(&mut self, record: &str, span: Span) -> Fallible<RegId> {
        let count = self.own.memory.records.get(record).ok_or(Reported)?.count;
        let fresh = self.build.register(&format!("{FRESH}.{record}"), 0);
        self.emit(Op::Choose { dst: Place::Reg(fresh), from: (0..count).collect() }, span)?;
        Ok(fresh)
    }
}
