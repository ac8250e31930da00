//! The clients of an stm with values: all programs of a size, generated on the fly (O'Leary, Saha and Tuttle, section 4).
//!
//! Each thread runs `txns` transactions of `min_ops` to `ops` operations and a commit. An operation is chosen when it is first reached and
//! kept in a register, so that a transaction that aborts runs again with the same operations, as often as it takes.
//! A command is lowered once for each variable and value, with its parameters as constants; calls and responses are events.
//! An `end` with a parameter is told the variable of the transaction's first operation.
//!
//! Operations are numbered from 1: the reads of the variables, then the writes, by variable and value; the last number is the
//! end of the transaction, where it may end early. 0 is an operation that has not been chosen.
//! **Invariant:** a transaction forgets its operations when it has committed, and the keys of its orders stay in registers.

use cyrano_ir::{BinOp, Expr as IrExpr, Method, Op, Place, RegId, SerialOrder, Span, TxEvent, Ty, reply};

use crate::lower::build::{Label, int, is, var};
use crate::lower::thread::Lower;
use crate::report::{Fallible, Reported};
use crate::resolve::names::Symbol;
use crate::syntax::ast::Command;

/// Where a client keeps its program.
pub(crate) struct Client {
    /// The operations of the running transaction.
    ops: RegId,
    most: u32,
    /// The number of the next operation.
    at: RegId,
    /// The number of the running transaction, if there are several.
    txn: Option<RegId>,
    /// What a read returns.
    value: RegId,
    /// Where the running transaction begins.
    restart: Label,
    /// Where its next operation is chosen.
    next: Label,
    /// For each order and each of its keys the registers, one for each transaction.
    keys: Vec<Vec<RegId>>,
}

/// The constants of a client.
struct Size {
    vars: i128,
    values: i128,
    txns: i128,
    ops: i128,
    fewest: i128,
}

/// An operation: the procedure and its arguments.
struct Operation {
    command: Command,
    args: Vec<i128>,
}

impl Lower<'_, '_, '_> {
    /// Lowers the client and the commands that it calls.
    pub(crate) fn lower_values_client(&mut self, stm: Span) -> Fallible<()> {
        let size = self.client_size()?;
        self.start_client(&size, stm)?;
        let client = self.own.values.as_ref().ok_or(Reported)?;
        let (at, restart, next) = (client.at, client.restart, client.next);
        self.place(restart);
        self.assign(Place::Reg(at), int(0), stm)?;
        self.place(next);
        let (calls, ends) = (calls(&size), self.ends(&size));
        let starts: Vec<Label> = calls.iter().chain(&ends).map(|_| self.label()).collect();
        let (chosen, commit) = (self.label(), self.label());
        self.when(is(var(at), size.ops), commit, stm)?;
        self.choose_operation(&size, calls.len(), chosen, stm)?;
        self.place(chosen);
        let operation = IrExpr::Var(self.operation()?);
        for (number, start) in (1..).zip(&starts[..calls.len()]) {
            self.when(is(operation.clone(), number), *start, stm)?;
        }
        self.place(commit);
        self.choose_end(&calls, &starts[calls.len()..], stm)?;
        for (operation, start) in calls.iter().chain(&ends).zip(starts) {
            self.place(start);
            self.lower_operation(operation, next)?;
        }
        Ok(())
    }

    /// The end of a transaction, once for each variable that it may have begun with if that makes a difference.
    fn ends(&self, size: &Size) -> Vec<Operation> {
        let file = self.own.shared.names.file;
        let has_param = file.command(Command::End).is_some_and(|end| !file.procs[end].params.is_empty());
        let end = |args| Operation { command: Command::End, args };
        if has_param { (0..size.vars).map(|v| end(vec![v])).collect() } else { vec![end(Vec::new())] }
    }

    /// Goes to the end that belongs to the first operation; a transaction without one ends as if it had begun with variable 0.
    fn choose_end(&mut self, calls: &[Operation], ends: &[Label], stm: Span) -> Fallible<()> {
        let first = self.own.values.as_ref().ok_or(Reported)?.ops;
        let (default, others) = ends.split_first().ok_or(Reported)?;
        if !others.is_empty() {
            for (number, call) in (1..).zip(calls) {
                let target = usize::try_from(call.args[0]).ok().and_then(|v| ends.get(v)).ok_or(Reported)?;
                self.when(is(var(first), number), *target, stm)?;
            }
        }
        self.jump(*default, stm)
    }

    fn client_size(&self) -> Fallible<Size> {
        let constant = |name: &str| self.own.shared.names.value(name).map(|(value, _)| value).ok_or(Reported);
        let size = Size {
            vars: constant("vars")?,
            values: constant("values")?,
            txns: constant("txns")?,
            ops: constant("ops")?,
            fewest: constant("min_ops")?,
        };
        // Whatever else they are was reported.
        let fits = [size.vars, size.values, size.txns, size.ops].iter().all(|n| (1..=32).contains(n));
        if fits && (0..=size.ops).contains(&size.fewest) { Ok(size) } else { Err(Reported) }
    }

    fn start_client(&mut self, size: &Size, stm: Span) -> Fallible<()> {
        let (restart, next) = (self.label(), self.label());
        let count = |n: i128| u32::try_from(n).map_err(|_| Reported);
        let (most, txns) = (count(size.ops)?, count(size.txns)?);
        let ops = self.row("%op", Some(most), Ty::Int, stm)?;
        let at = self.row("%at", Some(1), Ty::Int, stm)?;
        let txn = if size.txns > 1 { Some(self.row("%txn", Some(1), Ty::Int, stm)?) } else { None };
        let value = self.row("%value", Some(1), Ty::Int, stm)?;
        let names = self.own.shared.names;
        let mut keys = Vec::new();
        for order in &names.file.orders {
            let mut of_order = Vec::new();
            for key in &order.keys {
                let Some(Symbol::Var(var)) = names.lookup(None, &key.text) else { return Err(Reported) };
                let name = format!("%by.{}.{}", order.name.text, key.text);
                of_order.push(self.row(&name, Some(txns), names.var(var).ty, stm)?);
            }
            keys.push(of_order);
        }
        self.own.client = Some(next);
        self.own.values = Some(Client { ops, most, at, txn, value, restart, next, keys });
        Ok(())
    }

    /// The place of the operation that is next.
    fn operation(&self) -> Fallible<Place> {
        let client = self.own.values.as_ref().ok_or(Reported)?;
        Ok(Place::Elem { base: client.ops, len: client.most, index: Box::new(var(client.at)) })
    }

    /// Chooses the next operation, unless it was chosen in an earlier attempt.
    fn choose_operation(&mut self, size: &Size, count: usize, chosen: Label, stm: Span) -> Fallible<()> {
        let dst = self.operation()?;
        let all: Vec<i128> = (1..).take(count + 1).collect();
        let calls = all[..count].to_vec();
        self.unless(is(IrExpr::Var(dst.clone()), 0), chosen, stm)?;
        if size.fewest == size.ops {
            return self.emit(Op::Choose { dst, from: calls }, stm);
        }
        let at = self.own.values.as_ref().ok_or(Reported)?.at;
        let late = self.label();
        self.unless(IrExpr::binary(BinOp::Lt, var(at), IrExpr::Const(size.fewest)), late, stm)?;
        self.emit(Op::Choose { dst: dst.clone(), from: calls }, stm)?;
        self.jump(chosen, stm)?;
        self.place(late);
        self.emit(Op::Choose { dst, from: all }, stm)
    }

    fn lower_operation(&mut self, operation: &Operation, next: Label) -> Fallible<()> {
        let names = self.own.shared.names;
        let procedure = names.file.command(operation.command).ok_or(Reported)?;
        let span = names.file.procs[procedure].name.span;
        let (method, args) = match operation.command {
            Command::Read => (Method::Read, &operation.args[..1]),
            Command::Write => (Method::Write, &operation.args[..]),
            Command::End => (Method::Commit, &[][..]),
        };
        let args = args.iter().map(|arg| IrExpr::Const(*arg)).collect();
        self.emit(Op::Invoke { method, args }, span)?;
        let result = match operation.command {
            Command::Read => self.own.values.as_ref().map(|client| Place::Reg(client.value)),
            _ => None,
        };
        self.run_command(procedure, &operation.args, (next, result))
    }

    /// A read returns a value, or a write ends: the next operation is due.
    pub(crate) fn respond_and_go_on(&mut self, command: Command, span: Span) -> Fallible<()> {
        let client = self.own.values.as_ref().ok_or(Reported)?;
        let (at, next) = (client.at, client.next);
        let answer = if command == Command::Read { var(client.value) } else { IrExpr::Const(reply::OK) };
        self.end_operation(span)?;
        self.emit(Op::Respond(answer), span)?;
        let one_more = IrExpr::binary(BinOp::Add, var(at), IrExpr::Const(1));
        self.assign(Place::Reg(at), one_more, span)?;
        self.jump(next, span)
    }

    /// The transaction ends: it begins again, or the next one does, or the thread is done.
    pub(crate) fn lower_transaction_end(&mut self, event: TxEvent, span: Span) -> Fallible<()> {
        let client = self.own.values.as_ref().ok_or(Reported)?;
        let (restart, ops, most, txn) = (client.restart, client.ops, client.most, client.txn);
        self.end_operation(span)?;
        if event != TxEvent::Commit {
            self.emit(Op::Respond(IrExpr::Const(reply::ABORTED)), span)?;
            return self.jump(restart, span);
        }
        self.keep_keys(span)?;
        self.emit(Op::Respond(IrExpr::Const(reply::COMMITTED)), span)?;
        for n in 0..most as usize {
            self.assign(Place::Reg(RegId::new(ops.index() + n)), int(0), span)?;
        }
        let Some(txn) = txn else { return self.jump(Label::END, span) };
        let txns = self.client_size()?.txns;
        let one_more = IrExpr::binary(BinOp::Add, var(txn), IrExpr::Const(1));
        self.assign(Place::Reg(txn), one_more, span)?;
        self.branch(is(var(txn), txns), Label::END, restart, span)
    }

    fn keep_keys(&mut self, span: Span) -> Fallible<()> {
        let names = self.own.shared.names;
        let client = self.own.values.as_ref().ok_or(Reported)?;
        let (txn, keys) = (client.txn, client.keys.clone());
        let len = u32::try_from(self.client_size()?.txns).map_err(|_| Reported)?;
        for (order, homes) in names.file.orders.iter().zip(keys) {
            for (key, base) in order.keys.iter().zip(homes) {
                let Some(Symbol::Var(from)) = names.lookup(None, &key.text) else { return Err(Reported) };
                let value = var(self.home(from)?);
                let dst = match txn {
                    None => Place::Reg(base),
                    Some(txn) => Place::Elem { base, len, index: Box::new(var(txn)) },
                };
                self.assign(dst, value, span)?;
            }
        }
        Ok(())
    }

    fn end_operation(&mut self, span: Span) -> Fallible<()> {
        if self.in_operation { self.emit(Op::OperationEnd, span) } else { Ok(()) }
    }

    /// For each order of the stm the registers with the keys of this thread's transactions.
    pub(crate) fn key_registers(&self) -> Vec<Vec<Vec<RegId>>> {
        let Some(client) = &self.own.values else { return Vec::new() };
        let txns = self.client_size().map_or(0, |size| usize::try_from(size.txns).unwrap_or(0));
        let of_txn = |homes: &[RegId], n: usize| homes.iter().map(|base| RegId::new(base.index() + n)).collect();
        client.keys.iter().map(|homes| (0..txns).map(|n| of_txn(homes, n)).collect()).collect()
    }
}

/// The orders of a program, from the registers of its threads.
pub(crate) fn serial_orders<'o>(
    names: impl Iterator<Item = &'o str>,
    threads: &[Vec<Vec<Vec<RegId>>>],
) -> Vec<SerialOrder> {
    let of_order = |n: usize| threads.iter().map(|keys| keys.get(n).cloned().unwrap_or_default()).collect();
    names.enumerate().map(|(n, name)| SerialOrder { name: name.to_owned(), keys: of_order(n) }).collect()
}

/// The reads and writes of a client.
fn calls(size: &Size) -> Vec<Operation> {
    let reads = (0..size.vars).map(|v| Operation { command: Command::Read, args: vec![v] });
    let write = |v: i128, value: i128| Operation { command: Command::Write, args: vec![v, value] };
    let writes = (0..size.vars).flat_map(|v| (1..=size.values).map(move |value| write(v, value)));
    reads.chain(writes).collect()
}
