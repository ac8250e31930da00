//! Client threads: named ones as they are written, and one thread that behaves like every thread of a size.
//!
//! Each call is an operation; its invocation and its response stand around the inlined method. What an aborted transaction would still
//! have done is skipped; where it may be run again, that is a new transaction with a number of its own.
//! For all clients an operation is one choice: a number that says which method, which location and which value.

use cyrano_ir::told::What;
use cyrano_ir::{BinOp, Expr as IrExpr, FenceSet, LocalExpr, Method as TmMethod, Op, Place, RegId, Span, reply};

use crate::clients::space::{ClientSpace, Values};
use crate::expand::fold::fold;
use crate::expand::method::Lower;
use crate::lower::build::{Label, binary, int, is, var};
use crate::report::{Fallible, Reported};
use crate::rules::algorithm::REPLIES;
use crate::syntax::objects::{Client, ClientCall, ClientStmt, ClientThread, Tx};

/// How many instructions one call may have: the orders compare them pair by pair.
const MAX_CALL: u32 = 4_000;

/// What one client thread is.
#[derive(Clone, Copy)]
pub(crate) enum ThreadPlan<'a> {
    Named(&'a ClientThread),
    Any(&'a ClientSpace, Span),
    EachMethod(Span),
    Endless(&'a ClientSpace, Span),
}

impl<'a> Lower<'a, '_, '_> {
    /// Makes the whole thread; `first` is the number of its first transaction.
    pub(crate) fn client_thread(&mut self, plan: ThreadPlan<'a>, retries: &[u32], first: i128) -> Fallible<()> {
        let span = match plan {
            ThreadPlan::Named(thread) => {
                self.named_thread(thread, retries, first)?;
                thread.span
            }
            ThreadPlan::Any(space, span) => {
                self.any_thread(space, first, span)?;
                span
            }
            ThreadPlan::EachMethod(span) => {
                self.each_method(span)?;
                span
            }
            ThreadPlan::Endless(space, span) => return self.endless_thread(space, span),
        };
        self.emit(Op::Halt, span)
    }

    fn named_thread(&mut self, thread: &'a ClientThread, retries: &[u32], first: i128) -> Fallible<()> {
        self.own.tx = first - 1;
        if !self.own.algorithm.is_memory() {
            // Locks remember who holds them.
            self.own.tx = i128::try_from(self.own.thread).unwrap_or(i128::MAX - 1) + 1;
        }
        for result in ClientStmt::calls(&thread.body).into_iter().filter_map(|call| call.result.as_ref()) {
            self.build.register(&result.text, reply::NOTHING);
        }
        let mut retries = retries.iter().copied().enumerate();
        self.client_stmts(&thread.body, None, &mut retries)
    }

    /// Statements of a thread, or of a transaction, which goes to a label after an abort. Each transaction of the thread takes the next
    /// place and number of retries.
    fn client_stmts(
        &mut self,
        list: &'a [ClientStmt],
        aborted: Option<Label>,
        retries: &mut dyn Iterator<Item = (usize, u32)>,
    ) -> Fallible<()> {
        for stmt in list {
            match stmt {
                ClientStmt::Tx(tx) => {
                    let (place, retry) = retries.next().ok_or(Reported)?;
                    self.attempts(place == 0, retry, tx.span, |lower, attempt, aborted| {
                        lower.attempt(tx, attempt > 0, aborted)
                    })?;
                }
                ClientStmt::Call(call) => self.named_call(call, aborted)?,
                ClientStmt::If { arms, otherwise } => {
                    let mut fork = self.fork();
                    for (cond, body) in arms {
                        let (test, other) = (fold(cond, self)?, self.label());
                        self.unless(test, other, cond.span)?;
                        self.way(&mut fork, |lower| lower.client_stmts(body, aborted, retries))?;
                        self.jump(fork.end, cond.span)?;
                        self.place(other);
                    }
                    self.way(&mut fork, |lower| lower.client_stmts(otherwise, aborted, retries))?;
                    self.join(fork);
                }
            }
        }
        Ok(())
    }

    /// A transaction, and again what may be run again; `make` makes one run, which goes to a label after an abort.
    fn attempts(
        &mut self,
        first: bool,
        retry: u32,
        span: Span,
        mut make: impl FnMut(&mut Self, u32, Label) -> Fallible<()>,
    ) -> Fallible<()> {
        let done = self.label();
        for attempt in 0..=retry {
            self.own.tx += 1;
            self.reset(first && attempt == 0, span)?;
            let aborted = self.label();
            self.own.again = attempt > 0;
            make(self, attempt, aborted)?;
            if attempt < retry {
                self.jump(done, span)?;
            }
            self.place(aborted);
        }
        self.place(done);
        Ok(())
    }

    /// One run of a transaction.
    fn attempt(&mut self, tx: &'a Tx, again: bool, aborted: Label) -> Fallible<()> {
        let results = ClientStmt::calls(&tx.body).into_iter().filter_map(|call| call.result.as_ref());
        for result in results.filter(|_| again) {
            let register = self.build.register(&result.text, reply::NOTHING);
            self.assign(Place::Reg(register), int(reply::NOTHING), result.span)?;
        }
        self.client_stmts(&tx.body, Some(aborted), &mut std::iter::empty())
    }

    /// A call with the name that its result has.
    fn named_call(&mut self, call: &'a ClientCall, aborted: Option<Label>) -> Fallible<()> {
        self.own.call_label = call.label.as_ref().map(|label| label.text.as_str());
        let args = self.exprs(&call.args)?;
        let method = TmMethod::ALL.into_iter().find(|m| m.name() == call.method.text);
        let result = match method.filter(|_| self.own.algorithm.is_memory()) {
            Some(method) => {
                self.in_range(call, &args)?;
                self.invoke(method, args, call.span)?
            }
            None => self.operate(&call.method.text, args, call.span)?,
        };
        if let Some(name) = &call.result {
            let register = self.build.register(&name.text, reply::NOTHING);
            self.assign(Place::Reg(register), var(result), call.span)?;
        }
        match aborted {
            Some(aborted) => self.leave_if_aborted(result, aborted, call.span),
            None => Ok(()),
        }
    }

    /// Goes to a label after an abort, and on otherwise.
    pub(crate) fn leave_if_aborted(&mut self, result: RegId, aborted: Label, span: Span) -> Fallible<()> {
        self.when(is(var(result), reply::ABORTED), aborted, span)
    }

    /// Reports constants that are no location or no value.
    fn in_range(&mut self, call: &ClientCall, args: &[LocalExpr]) -> Fallible<()> {
        let locs = i128::from(self.own.constants.locs(self.own.algorithm.name.span, self.reports)?);
        for (position, (arg, expr)) in args.iter().zip(&call.args).enumerate() {
            let IrExpr::Const(value) = arg else { continue };
            let (wrong, help) = match position {
                0 => (!(0..locs).contains(value), format!("the locations are 0 to {}", locs - 1)),
                _ => (*value < reply::LEAST_VALUE, format!("values are integers of at least {}", reply::LEAST_VALUE)),
            };
            if wrong {
                let what = if position == 0 { "location" } else { "value to write" };
                let message = format!("there is no {what} {value}");
                let diagnostic = cyrano_ir::Diagnostic::new(expr.span, message, "out of range");
                self.reports.add(diagnostic.with_help(help));
            }
        }
        Ok(())
    }

    /// A call with its invocation and its response; the register of its result.
    fn invoke(&mut self, method: TmMethod, args: Vec<LocalExpr>, span: Span) -> Fallible<RegId> {
        self.emit(Op::OperationBegin(shown(method.name(), &args)), span)?;
        self.build.note(What::Call { name: method.name().to_owned(), args: args.clone(), again: self.own.again });
        self.emit(Op::Invoke { method, args: args.clone() }, span)?;
        let result = self.inside_call(method.name(), args, span)?;
        self.build.note(What::Return(Some(var(result))));
        self.emit(Op::Respond(var(result)), span)?;
        self.emit(Op::OperationEnd, span)?;
        Ok(result)
    }

    /// A call that is no part of any history, like those of an object that is no transactional memory: full fences keep it where it is, but on a machine,
    /// which knows no calls.
    pub(crate) fn operate(&mut self, method: &str, args: Vec<LocalExpr>, span: Span) -> Fallible<RegId> {
        self.emit(Op::OperationBegin(shown(method, &args)), span)?;
        if !self.own.words {
            self.emit(Op::fence(FenceSet::FULL), span)?;
        }
        let result = self.inside_call(method, args, span)?;
        if !self.own.words {
            self.emit(Op::fence(FenceSet::FULL), span)?;
        }
        self.emit(Op::OperationEnd, span)?;
        Ok(result)
    }

    /// The inlined method of a call; the register of its result.
    fn inside_call(&mut self, method: &str, args: Vec<LocalExpr>, span: Span) -> Fallible<RegId> {
        self.build.context.call = Some(self.build.calls);
        self.build.calls += 1;
        let first = self.build.here();
        let result = self.call(method, args, span);
        self.build.context.call = None;
        let result = result?;
        if self.build.here() - first > MAX_CALL {
            let message = format!("a call of `{method}` is too large: more than {MAX_CALL} instructions");
            let diagnostic =
                cyrano_ir::Diagnostic::new(span, message, "too large once methods are inlined and loops unrolled");
            return Err(self.reports.add(diagnostic.with_help("use fewer locations or operations")));
        }
        Ok(result)
    }

    /// Every method once, whatever it is called with, so that what no client calls is looked at as well.
    fn each_method(&mut self, span: Span) -> Fallible<()> {
        self.own.tx = 1;
        for method in &self.own.algorithm.methods {
            let mut args = Vec::new();
            for param in &method.params {
                let register = self.build.register(&format!("%arg.{}", param.text), 0);
                self.emit(Op::Choose { dst: Place::Reg(register), from: vec![0, 1] }, span)?;
                args.push(var(register));
            }
            self.operate(&method.name.text, args, span)?;
        }
        Ok(())
    }

    fn any_thread(&mut self, space: &ClientSpace, first: i128, span: Span) -> Fallible<()> {
        let stop = self.label();
        self.own.tx = first - 1;
        for txn in 0..*space.txns.end() {
            self.attempts(txn == 0, space.retry.into(), span, |lower, attempt, aborted| {
                lower.any_attempt(space, (txn, attempt), (stop, aborted), span)
            })?;
        }
        self.place(stop);
        Ok(())
    }

    /// One run of any transaction, or the end of the thread.
    fn any_attempt(
        &mut self,
        space: &ClientSpace,
        (txn, attempt): (u8, u32),
        (stop, aborted): (Label, Label),
        span: Span,
    ) -> Fallible<()> {
        let commit = self.label();
        let places = u16::from(*space.txns.end()) * u16::from(*space.ops.end());
        let own = self.own.thread * usize::from(places) + usize::from(txn) * usize::from(*space.ops.end());
        for place in 0..*space.ops.end() {
            let value = i128::try_from(own + usize::from(place) + 1).unwrap_or(i128::MAX);
            let codes = Codes::new(space, value);
            let may_stop = place == 0 && attempt == 0 && txn >= *space.txns.start();
            let may_commit = place >= *space.ops.start();
            let code = self.choose_code(space, &codes, (may_commit, may_stop), (place, attempt), span)?;
            if may_stop {
                self.when(is(var(code), codes.stop()), stop, span)?;
            }
            if may_commit {
                self.when(is(var(code), codes.commit()), commit, span)?;
            }
            let result = self.any_call(&codes, code, span)?;
            self.leave_if_aborted(result, aborted, span)?;
        }
        self.place(commit);
        let result = self.invoke(TmMethod::Commit, Vec::new(), span)?;
        self.leave_if_aborted(result, aborted, span)
    }

    /// Chooses an operation, or takes the one that the first run of the transaction chose.
    fn choose_code(
        &mut self,
        space: &ClientSpace,
        codes: &Codes,
        (may_commit, may_stop): (bool, bool),
        (place, attempt): (u8, u32),
        span: Span,
    ) -> Fallible<RegId> {
        let mut from: Vec<i128> = (0..codes.commit()).collect();
        from.extend(may_commit.then_some(codes.commit()));
        from.extend(may_stop.then_some(codes.stop()));
        if space.retry == 0 {
            let code = self.build.register("%op", 0);
            self.emit(Op::Choose { dst: Place::Reg(code), from }, span)?;
            return Ok(code);
        }
        let code = self.build.register(&format!("%op{place}"), -1);
        if attempt == 0 {
            self.emit(Op::Choose { dst: Place::Reg(code), from }, span)?;
            if place == 0 {
                for later in 1..*space.ops.end() {
                    let later = self.build.register(&format!("%op{later}"), -1);
                    self.assign(Place::Reg(later), int(-1), span)?;
                }
            }
            return Ok(code);
        }
        let known = self.label();
        self.unless(IrExpr::binary(BinOp::Lt, var(code), int(0)), known, span)?;
        self.emit(Op::Choose { dst: Place::Reg(code), from }, span)?;
        self.place(known);
        Ok(code)
    }

    /// Calls the method that was chosen; the register of its result.
    fn any_call(&mut self, codes: &Codes, code: RegId, span: Span) -> Fallible<RegId> {
        let (mut fork, write) = (self.fork(), self.label());
        let result = self.build.register("%reply", 0);
        self.unless(IrExpr::binary(BinOp::Lt, var(code), int(codes.locs)), write, span)?;
        let read = self.way(&mut fork, |lower| lower.invoke(TmMethod::Read, vec![var(code)], span))?;
        self.assign(Place::Reg(result), var(read), span)?;
        self.jump(fork.end, span)?;
        self.place(write);
        let write = self.way(&mut fork, |lower| lower.invoke(TmMethod::Write, codes.write_args(code), span))?;
        self.assign(Place::Reg(result), var(write), span)?;
        self.join(fork);
        Ok(result)
    }
}

/// The numbers that stand for operations: reads, then writes, then `commit now`, then `no further transaction`.
pub(crate) struct Codes {
    locs: i128,
    values: Vec<i128>,
}

impl Codes {
    /// `value` is what this place writes if values are distinct.
    pub(crate) fn new(space: &ClientSpace, value: i128) -> Self {
        let values = match &space.values {
            Values::Distinct => vec![value],
            Values::Among(values) => values.clone(),
        };
        Self { locs: space.locs.into(), values }
    }

    fn count(&self) -> i128 {
        i128::try_from(self.values.len()).unwrap_or(i128::MAX)
    }

    pub(crate) fn commit(&self) -> i128 {
        self.locs + self.locs * self.count()
    }

    fn stop(&self) -> i128 {
        self.commit() + 1
    }

    /// What a number below `commit` stands for.
    pub(crate) fn call(&self, code: i128) -> (TmMethod, Vec<i128>) {
        if code < self.locs {
            return (TmMethod::Read, vec![code]);
        }
        let write = code - self.locs;
        let value = usize::try_from(write % self.count()).ok().and_then(|which| self.values.get(which));
        (TmMethod::Write, vec![write / self.count(), value.copied().unwrap_or(0)])
    }

    /// Location and value of a write.
    fn write_args(&self, code: RegId) -> Vec<LocalExpr> {
        let write = binary(BinOp::Sub, var(code), int(self.locs));
        let count = int(self.count());
        let location = binary(BinOp::Div, write.clone(), count.clone());
        let which = IrExpr::binary(BinOp::Rem, write, count);
        let value = match self.values.as_slice() {
            [only] => int(*only),
            values if values.iter().zip(values[0]..).all(|(value, expected)| *value == expected) => {
                binary(BinOp::Add, which, int(values[0]))
            }
            values => {
                let parts = values.iter().zip(0..).map(|(value, position)| {
                    let chosen = is(which.clone(), position);
                    IrExpr::binary(BinOp::Mul, chosen, int(*value))
                });
                parts.reduce(|all, part| IrExpr::binary(BinOp::Add, all, part)).unwrap_or(int(0))
            }
        };
        vec![location, value]
    }
}

/// What a named client writes, if that is known before it runs.
pub(crate) fn written(
    client: &Client,
    memory: bool,
    constants: &crate::resolve::constants::Constants,
    reports: &mut crate::report::Reports,
) -> crate::lower::memory::Written {
    let mut values = Vec::new();
    for call in client.calls() {
        let written = match (memory, call.method.text == TmMethod::Write.name()) {
            (true, true) => call.args.get(1..).unwrap_or_default(),
            (true, false) => &[],
            // Of another object it may be anything that it is called with.
            (false, _) => &call.args[..],
        };
        for value in written {
            let mut known = true;
            value.for_each_name(&mut |name| {
                known &= constants.get(&name.text).is_some() || REPLIES.iter().any(|(word, _)| *word == name.text);
            });
            if !known {
                return None;
            }
            values.extend(constants.eval(value, reports).ok());
        }
    }
    Some(values)
}

/// `read(1)`, or just the name if an argument is known only when the program runs.
fn shown(method: &str, args: &[LocalExpr]) -> String {
    let constant = |arg: &LocalExpr| match arg {
        IrExpr::Const(value) => Some(value.to_string()),
        _ => None,
    };
    match args.iter().map(constant).collect::<Option<Vec<String>>>() {
        Some(args) => format!("{method}({})", args.join(", ")),
        None => method.to_owned(),
    }
}

/// What all clients of a size write.
pub(crate) fn space_values(space: &ClientSpace) -> Vec<i128> {
    match &space.values {
        Values::Among(values) => values.clone(),
        Values::Distinct => {
            let places = i128::from(space.threads) * i128::from(*space.txns.end()) * i128::from(*space.ops.end());
            (1..=places).collect()
        }
    }
}
