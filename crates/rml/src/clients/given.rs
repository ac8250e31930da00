//! The threads of a given client: transactions that run the stm's commands, and the same program with atomic transactions.
//!
//! A transaction is its body, with `read` and `write` inlined, and `end`. Where the stm aborts, the thread's own locals get back the values
//! that they had when the transaction began, and it begins again; what the stm keeps in locals is its own affair.
//! The second lowering ([`Shared::atomic`](crate::lower::thread::Shared)) has no stm: a transaction is an atomic block, a read loads and a write
//! stores. Its serial executions are those in which transactions are atomic (O'Leary, Saha and Tuttle, section 1).
//!
//! Of an stm without values there is one lowering, the first. Its commands are lowered as the most general client has them, once for each call and with
//! the variable as a constant, and say what becomes of the transaction; so its histories are those of the most general client that come from
//! the given program (FOIL, section 2.3: a program says for each command what follows it, and what follows its abort).
//!
//! **Invariant:** both lowerings have the same threads and observe the same variables by the same names.

use cyrano_ir::{Addr, BinOp, Expr as IrExpr, LocalExpr, Op, Place, RegId, Span, Ty};

use crate::expand::fold::fold;
use crate::lower::Frame;
use crate::lower::build::{Label, var};
use crate::lower::thread::{Body, Lower};
use crate::report::{Fallible, Reported};
use crate::resolve::calls::{inner_blocks, walk};
use crate::resolve::names::{Shape, Symbol, VarId};
use crate::syntax::ast::{Block, Call, Command, Stmt, StmtKind};

/// The transaction that is being lowered.
pub(crate) struct Tx {
    /// Where it goes on after an abort.
    pub(crate) retry: Label,
    /// Where the thread goes on after the commit.
    pub(crate) after: Label,
    /// Where it goes on after the read under way.
    pub(crate) finished: Label,
    first: First,
}

/// The address of a transaction's first operation, which `end` may ask for.
enum First {
    Constant(i128),
    /// In a register, which is negative as long as there was none.
    Register(RegId),
}

impl<'a> Lower<'a, '_, '_> {
    /// Lowers a transaction, which is run again if it aborts, unless something else is to be done then.
    pub(crate) fn lower_tx(&mut self, body: &'a Block, otherwise: Option<&'a Block>, span: Span) -> Fallible<()> {
        if self.own.shared.atomic {
            return self.lower_atomic_block(self.line(span), &[], body, span);
        }
        let kept = self.keep_locals(body, span)?;
        let (start, retry, after) = (self.label(), self.label(), self.label());
        self.place(start);
        let first = self.first_address(body, span)?;
        self.own.client = Some(retry);
        self.own.tx = Some(Tx { retry, after, finished: after, first });
        let ended = self.lower_block(body).and_then(|()| self.lower_end(body.close));
        self.own.tx = None;
        ended?;
        self.place(retry);
        for (local, copy) in kept {
            self.assign(Place::Reg(local), var(copy), span)?;
        }
        match otherwise {
            Some(otherwise) => self.lower_block(otherwise)?,
            None => self.jump(start, span)?,
        }
        self.place(after);
        Ok(())
    }

    /// Copies the locals that the transaction may assign; each register with its copy.
    fn keep_locals(&mut self, body: &'a Block, span: Span) -> Fallible<Vec<(RegId, RegId)>> {
        let mut assigned: Vec<VarId> = Vec::new();
        walk(body, &mut |stmt: &Stmt| {
            if let StmtKind::Assign(place, _) | StmtKind::ChooseValue(place, _) = &stmt.kind {
                assigned.extend(self.own.shared.names.local(self.frame.own.body, &place.name.text));
            }
        });
        assigned.sort();
        assigned.dedup();
        let mut kept = Vec::new();
        for local in assigned {
            let declared = self.own.shared.names.var(local);
            let (ty, name) = (declared.ty, &declared.name.text);
            let len = if let Shape::Array(len) = declared.shape { len } else { 1 };
            let home = self.home(local)?;
            let copy = self.row(&format!("%kept.{name}"), Some(len), ty, span)?;
            for n in 0..len as usize {
                let (from, to) = (RegId::new(home.index() + n), RegId::new(copy.index() + n));
                self.assign(Place::Reg(to), var(from), span)?;
                kept.push((from, to));
            }
        }
        Ok(kept)
    }

    /// The address that `end` is told: known, where the first operation stands in front of all branches, or found out as it runs.
    fn first_address(&mut self, body: &'a Block, span: Span) -> Fallible<First> {
        let (_, params) = self.command(Command::End)?;
        if params == 0 {
            return Ok(First::Constant(0));
        }
        let address = first_call(body).and_then(|call| call.args.first());
        if let Some(IrExpr::Const(address)) = address.map(|address| fold(address, self)).transpose()? {
            return Ok(First::Constant(address));
        }
        let register = self.register("%first", Ty::Int, span)?;
        self.assign(Place::Reg(register), IrExpr::Const(-1), span)?;
        Ok(First::Register(register))
    }

    /// The procedure that a command is, and the number of its parameters.
    fn command(&self, command: Command) -> Fallible<(usize, usize)> {
        let file = self.own.shared.names.file;
        let found = file.command(command).ok_or(Reported)?;
        Ok((found, file.procs[found].params.len()))
    }

    fn lower_end(&mut self, span: Span) -> Fallible<()> {
        let (procedure, params) = self.command(Command::End)?;
        if !self.own.shared.names.file.has_values() {
            return self.run_in_tx(procedure, &[]);
        }
        let address = match &self.own.tx.as_ref().ok_or(Reported)?.first {
            First::Constant(address) => IrExpr::Const(*address),
            First::Register(register) => {
                // A transaction without an operation ends as if it had begun with address 0.
                let register = *register;
                self.note_first(register, IrExpr::Const(0), span)?;
                var(register)
            }
        };
        let args = [address].into_iter().take(params).collect();
        self.inline_command(procedure, args, None, span)
    }

    fn note_first(&mut self, register: RegId, address: LocalExpr, span: Span) -> Fallible<()> {
        let none = IrExpr::binary(BinOp::Lt, var(register), IrExpr::Const(0));
        self.guarded(none, span, |lower| lower.assign(Place::Reg(register), address, span))
    }

    /// Lowers `read(address)` or `write(address, value)`.
    pub(crate) fn lower_client_call(&mut self, call: &'a Call, result: Option<Place>) -> Fallible<()> {
        let names = self.own.shared.names;
        let Some(Symbol::Proc(procedure)) = names.lookup(Some(self.frame.own.body), &call.name.text) else {
            return Err(Reported);
        };
        let args: Fallible<Vec<LocalExpr>> = call.args.iter().map(|arg| fold(arg, self)).collect();
        let args = args?;
        if !names.file.has_values() {
            let variable = self.variable(args.first(), call)?;
            return self.run_in_tx(procedure, &[variable]);
        }
        let home = names.vars.iter().position(|var| var.data).map(VarId).ok_or(Reported)?;
        let (Shape::Array(len), Some(address)) = (names.var(home).shape, args.first()) else { return Err(Reported) };
        let home = *self.own.shared.homes.get(&home).ok_or(Reported)?;
        let addr = self.shared_element(home, len, address.clone(), call.args[0].span)?;
        if self.own.shared.atomic {
            return self.access(addr, &args, result, call.span);
        }
        if let First::Register(register) = self.own.tx.as_ref().ok_or(Reported)?.first {
            self.note_first(register, address.clone(), call.span)?;
        }
        self.inline_command(procedure, args, result, call.span)
    }

    /// The variable that a command of an stm without values is about.
    fn variable(&mut self, address: Option<&LocalExpr>, call: &Call) -> Fallible<i128> {
        let span = call.args.first().map_or(call.span, |address| address.span);
        let Some(IrExpr::Const(variable)) = address else {
            let help =
                "commands are compiled for each variable: name it by a constant, in a `foreach` or in a `forsome`";
            return Err(self.reports.complain(
                span,
                "which variable this is has to be known beforehand",
                "not a constant",
                help,
            ));
        };
        let (vars, _) = self.own.shared.names.value("vars").ok_or(Reported)?;
        if !(0..vars).contains(variable) {
            let help = format!("the variables are 0 to {}", vars - 1);
            return Err(self.reports.complain(span, format!("there is no variable {variable}"), "out of range", help));
        }
        Ok(*variable)
    }

    /// Runs a command of an stm without values.
    fn run_in_tx(&mut self, procedure: usize, args: &[i128]) -> Fallible<()> {
        let done = self.label();
        self.own.tx.as_mut().ok_or(Reported)?.finished = done;
        let own_index = std::mem::replace(&mut self.own.self_index, self.own.tid);
        let ended = self.run_command(procedure, args, (done, None));
        self.own.self_index = own_index;
        self.place(done);
        ended
    }

    fn access(&mut self, addr: Addr, args: &[LocalExpr], result: Option<Place>, span: Span) -> Fallible<()> {
        if let [_, value] = args {
            return self.emit(Op::store(addr, value.clone()), span);
        }
        let dst = match result {
            Some(dst) => dst,
            None => Place::Reg(self.temporary(Ty::Int, span)?),
        };
        self.emit(Op::load(dst, addr), span)
    }

    /// Inlines a command. The stm knows its threads by their numbers, whatever family they are in.
    fn inline_command(
        &mut self,
        procedure: usize,
        args: Vec<LocalExpr>,
        result: Option<Place>,
        span: Span,
    ) -> Fallible<()> {
        let names = self.own.shared.names;
        let declared = &names.file.procs[procedure];
        let on_return = self.label();
        let frame = Frame { result, ..Frame::new(Body::new(names.proc_body(procedure)), on_return) };
        let own_index = std::mem::replace(&mut self.own.self_index, self.own.tid);
        let ended = self.within(frame, |lower| {
            lower.pass_args(span, procedure, args)?;
            lower.lower_block(&declared.body)?;
            lower.end_body(declared.body.close)
        });
        self.own.self_index = own_index;
        self.place(on_return);
        ended
    }
}

/// The operation that every execution of the block begins with, if there is one.
fn first_call(block: &Block) -> Option<&Call> {
    for stmt in &block.stmts {
        if let Some(call) = stmt.call() {
            return Some(call);
        }
        if matches!(stmt.kind, StmtKind::Break | StmtKind::Continue) || !inner_blocks(stmt).is_empty() {
            return None;
        }
    }
    None
}
