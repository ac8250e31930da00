//! Threads of a whole program: creation, joining, and how they end.
//!
//! The IR has a fixed set of threads, so that every call of `pthread_create` that inlining makes is a thread of its own. It has an object of hidden words:
//!
//! | word | who writes it |
//! |---|---|
//! | `start` | the creator: 1 where it creates the thread, 2 at its own end if it has not |
//! | `done` | the thread, 1 at its end |
//! | `result` | the thread, before `done`; read by whoever joins it and wants to know |
//! | `arg` | the creator, before `start`, if the argument is not a constant |
//!
//! A `pthread_t` is the address of this object. The thread waits for `start` in an atomic section, and `pthread_join` waits for `done` in one: the stores
//! release and the loads acquire, so that creating a thread and joining it order what they order in POSIX and C11.
//!
//! **Argument** that nothing is lost or added. What a thread does cannot begin before `start` is 1, which is written once, by the creation. A thread that
//! is never created gets 2 when its creator is done, and ends without a trace; if its creator never ends, the thread waits, which is no deadlock of its own:
//! it takes part in one only if its creator does. The words are known to nobody else. Each is written at most once, and a section that waits
//! goes on with one value alone, so that there is exactly one way to create a thread and one to join it.
//!
//! `exit` ends all threads. Whoever calls it looks at a word of its own for ever and tells nobody: what the others do afterwards they could have done before it,
//! too, and none of them is in a deadlock. The same holds for the end of `main` where another thread might be left waiting; see [`crate::program`].

use cyrano_ir::{BinOp, Expr as Ir, LocalExpr, Op, Place, RegId, Span, Tags, UNDEFINED, WORD};

use super::{Lowerer, Spot};
use crate::tree::{Expr, FuncId, ThreadCall};
use crate::types::arith;
use crate::types::{Signature, Type};

/// The words of a thread's object.
pub(crate) const START: u32 = 0;
pub(crate) const DONE: u32 = 1;
pub(crate) const RESULT: u32 = 2;
pub(crate) const ARGUMENT: u32 = 3;

/// What a thread that is never created finds in its word `start`.
pub(crate) const NEVER: i128 = 2;

/// How many threads a program may have.
pub(crate) const MAX_THREADS: usize = 48;

/// A thread that is created somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Spawn {
    /// What it runs; several if a pointer says so.
    pub(crate) function: LocalExpr,
    /// Its argument, or none if it is in memory.
    pub(crate) argument: Option<LocalExpr>,
    /// Its object.
    pub(crate) object: i128,
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// A place where a thread is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Whether it has been.
    created: RegId,
    object: i128,
}

impl Lowerer<'_, '_> {
    pub(super) fn thread_call(&mut self, what: &ThreadCall, args: &[Expr], position: u32) -> Vec<LocalExpr> {
        match what {
            ThreadCall::Create => return self.create(args, position),
            ThreadCall::Join => return self.join(args),
            ThreadCall::Own => return vec![Ir::Const(self.own)],
            ThreadCall::Begin => {
                if self.atomic == 0 {
                    self.emit(Op::AtomicBegin);
                }
                self.atomic += 1;
            }
            ThreadCall::End if self.atomic == 0 => self.refuse("no atomic section begins before this one ends"),
            ThreadCall::End => {
                self.atomic -= 1;
                if self.atomic == 0 {
                    self.emit(Op::AtomicEnd);
                }
            }
            ThreadCall::Number => return vec![Ir::Const(self.shared.thread as i128)],
            ThreadCall::AnyThread => {
                self.shared.counts = true;
                let dst = self.temp();
                let from = (0..self.shared.threads as i128).collect();
                self.emit(Op::Choose { dst: Place::Reg(dst), from });
                return vec![Self::var(dst)];
            }
            ThreadCall::Mentions(name) => {
                let found = self.shared.checked.mentioned.contains(name);
                return vec![Ir::Const(i128::from(found))];
            }
            ThreadCall::Load(tags) => {
                let words = self.operands(args);
                let dst = self.temp();
                let addr = self.addr(&words[0], 0);
                self.emit(Op::load(Place::Reg(dst), addr).tagged(*tags));
                return vec![Self::var(dst)];
            }
            ThreadCall::Any(values) => return vec![self.any(values)],
            ThreadCall::Ignore => {
                args.iter().for_each(|arg| self.discard(arg));
                return vec![Ir::Const(UNDEFINED)];
            }
            ThreadCall::Exit => self.exit_thread(&args[0]),
            ThreadCall::Quit if self.atomic > 0 => self.refuse("`exit` within an atomic section"),
            ThreadCall::Quit => {
                self.discard(&args[0]);
                self.check_leaks();
                self.stay();
            }
            ThreadCall::Abort(_) if self.is_assumption() => self.emit(Op::Assume(Ir::Const(0))),
            ThreadCall::Abort(message) => {
                self.emit(Op::Assert { cond: Ir::Const(0), message: Some(message.clone()) });
            }
            ThreadCall::Store(tags) => {
                let words = self.operands(args);
                let addr = self.addr(&words[0], 0);
                self.emit(Op::store(addr, words[1].clone()).tagged(*tags));
            }
            ThreadCall::Must(message) => {
                let cond = self.truth(&args[0]);
                self.emit(Op::Assert { cond, message: Some(message.clone()) });
            }
        }
        Vec::new()
    }

    /// Whether the call around is an assumption by the conventions of SV-COMP, where `abort` is no error.
    fn is_assumption(&mut self) -> bool {
        let Some(func) = self.frame().map(|frame| frame.func) else { return false };
        self.shared.checked.functions[func.0].name == "assume_abort_if_not"
    }

    fn any(&mut self, values: &[i128]) -> LocalExpr {
        let dst = self.temp();
        let beyond = values.iter().max().map_or(0, |most| most + 1);
        // One more than all of them stands for every other value.
        let others = values.len() > 2;
        let from = values.iter().copied().chain(others.then_some(beyond)).collect();
        self.emit(Op::Choose { dst: Place::Reg(dst), from });
        if others {
            let cond = arith::binary(BinOp::Ne, Self::var(dst), Ir::Const(beyond));
            self.emit(Op::Limit { cond, what: format!("values from 0 to {} that may be anything", beyond - 1) });
        }
        Self::var(dst)
    }

    /// Where a pointer that is passed points to.
    pub(super) fn target_of(&mut self, pointer: &Expr) -> Spot {
        match self.pointed(pointer) {
            Some(spot) => self.frozen(spot),
            None => {
                let base = self.value(pointer);
                Spot::Memory { base: self.saved(base), offset: 0 }
            }
        }
    }

    fn create(&mut self, args: &[Expr], position: u32) -> Vec<LocalExpr> {
        let [name, _, function, argument] = args else { return Vec::new() };
        if self.end.is_none() {
            self.refuse("threads are created in whole programs: files with `main` and without tests");
        } else if self.is_repeated(position) {
            self.refuse("a thread is created behind a label that is jumped back to, or in a loop within an atomic section: write `for (int i = 0; i < N; i++)`");
        } else if self.shared.spawned.len() >= MAX_THREADS {
            self.refuse("too many threads");
        } else {
            let place = self.target_of(name);
            let function = self.value(function);
            let function = self.saved(function);
            let argument = self.value(argument);
            let object = self.new_thread(&function, &argument);
            self.write_word(&place, 0, Ir::Const(object));
            let created = self.register(&format!("%created.{}", object / WORD), 0);
            self.emit(Op::Assign { dst: Place::Reg(created), value: Ir::Const(1) });
            self.sites.push(Site { created, object });
            self.mark_word(object, START, 1);
        }
        vec![Ir::Const(0)]
    }

    /// The object of a thread that is created here, with its argument in it if it is not a constant.
    fn new_thread(&mut self, function: &LocalExpr, argument: &LocalExpr) -> i128 {
        let called = self.function_at(function).map(|func| self.shared.checked.functions[func.0].name.clone());
        let number = self.shared.spawned.len() + 1;
        let name = format!("{}#{number}", called.unwrap_or_else(|| "thread".into()));
        let fixed = matches!(argument, Ir::Const(_)) && matches!(function, Ir::Const(_));
        let object = self.shared.memory.thread(&name, !fixed, self.span);
        let whole = Spot::fixed(object);
        if !fixed {
            self.write_word(&whole, ARGUMENT, argument.clone());
        }
        if !matches!(function, Ir::Const(_)) {
            self.write_word(&whole, ARGUMENT + 1, function.clone());
        }
        let argument = fixed.then(|| argument.clone());
        let function = function.clone();
        self.shared.spawned.push(Spawn { function, argument, object, name, span: self.span });
        object
    }

    /// A store that tells another thread.
    pub(crate) fn mark_word(&mut self, object: i128, word: u32, value: i128) {
        let addr = self.addr(&Ir::Const(object), word);
        self.emit(Op::store(addr, Ir::Const(value)).tagged(Tags::ATOMIC | Tags::RELEASE));
    }

    /// Waits until a word of a thread's object is not 0; gives the word.
    pub(crate) fn wait_for(&mut self, object: &LocalExpr, word: u32) -> LocalExpr {
        let found = self.temp();
        let waits = self.shared.waits;
        self.atomically(|lowerer| {
            let addr = lowerer.addr(object, word);
            lowerer.emit(Op::load(Place::Reg(found), addr).tagged(Tags::ATOMIC | Tags::ACQUIRE));
            lowerer.emit(Op::Assume(arith::binary(BinOp::Ne, Self::var(found), Ir::Const(0))));
        });
        self.shared.waits = waits;
        Self::var(found)
    }

    fn join(&mut self, args: &[Expr]) -> Vec<LocalExpr> {
        let thread = self.value(&args[0]);
        let thread = self.saved(arith::used(thread));
        self.wait_for(&thread, DONE);
        let whole = Spot::Memory { base: thread, offset: 0 };
        match self.target_of(&args[1]) {
            Spot::Memory { base: Ir::Const(0), .. } => {}
            place @ Spot::Memory { .. } => {
                let (wanted, next) = (self.new_label(), self.new_label());
                let address = self.address_of(&place);
                self.branch(arith::binary(BinOp::Ne, arith::used(address), Ir::Const(0)), wanted, next);
                self.bind(wanted);
                let value = self.read_word(&whole, RESULT);
                self.write_word(&place, 0, value);
                self.bind(next);
            }
            place => {
                let value = self.read_word(&whole, RESULT);
                self.write_word(&place, 0, value);
            }
        }
        if let Some(joined) = self.joined {
            let more = arith::binary(BinOp::Add, Self::var(joined), Ir::Const(1));
            self.emit(Op::Assign { dst: Place::Reg(joined), value: more });
        }
        vec![Ir::Const(0)]
    }

    /// `pthread_exit`: to the end of the thread, out of all calls.
    fn exit_thread(&mut self, value: &Expr) {
        // `main` that returns destroys no values of keys; here it would.
        if self.shared.thread == 0 && self.destroyer().is_some() {
            self.refuse("`main` ends by `pthread_exit` in a program with thread-specific data: let it return");
        }
        let value = self.value(value);
        if let Some(result) = self.result {
            self.emit(Op::Assign { dst: Place::Reg(result), value });
        }
        self.end_all(0);
        match self.end {
            Some(end) => self.leave(super::Target { label: end, atomic: 0 }),
            None => self.refuse("`pthread_exit` outside of a whole program"),
        }
    }

    /// What the thread tells the others at its end.
    pub(crate) fn finish(&mut self) {
        for site in std::mem::take(&mut self.sites) {
            let (never, next) = (self.new_label(), self.new_label());
            self.branch(Self::var(site.created), next, never);
            self.bind(never);
            self.mark_word(site.object, START, NEVER);
            self.bind(next);
        }
        if let Some(result) = self.result {
            let whole = Spot::fixed(self.own);
            self.write_word(&whole, RESULT, Self::var(result));
        }
        self.mark_word(self.own, DONE, 1);
    }

    /// Looks at a word of its own for ever, and does nothing else.
    pub(crate) fn stay(&mut self) {
        if self.end.is_none() {
            return self.refuse("`exit` outside of a whole program");
        }
        let again = self.new_label();
        self.bind(again);
        let seen = self.temp();
        let addr = self.addr(&Ir::Const(self.own), START);
        self.emit(Op::load(Place::Reg(seen), addr).tagged(Tags::ATOMIC));
        self.jump(again);
    }

    /// How many threads it has created so far.
    pub(crate) fn created(&self) -> LocalExpr {
        let created = self.sites.iter().map(|site| Self::var(site.created));
        created.fold(Ir::Const(0), |sum, created| arith::binary(BinOp::Add, sum, created))
    }

    /// At the end of a thread: what is to be done with its values of keys (POSIX, `pthread_key_create`).
    pub(crate) fn destroy_values(&mut self) {
        if let Some(function) = self.destroyer() {
            self.inline(function, Vec::new());
        }
    }

    /// The function of the header that destroys a thread's values, in a program that has any.
    fn destroyer(&self) -> Option<FuncId> {
        let checked = self.shared.checked;
        let keys = ["pthread_key_create", "tss_create"].iter().any(|name| checked.mentioned.contains(*name));
        let named = checked.functions.iter().position(|function| function.name == "__cyrano_thread_ends");
        named.filter(|_| keys).map(FuncId)
    }

    pub(super) fn refuse(&mut self, why: &str) {
        self.shared.refused.push((self.span, why.to_owned()));
    }

    /// The function whose address this is, if it is a constant.
    pub(crate) fn function_at(&self, pointer: &LocalExpr) -> Option<FuncId> {
        let address = match pointer {
            Ir::Const(address) => *address,
            Ir::Unary(cyrano_ir::UnOp::Defined, inner) => return self.function_at(inner),
            _ => return None,
        };
        self.pointed_functions().into_iter().find(|(_, at)| *at == address).map(|(func, _)| func)
    }

    /// The functions whose addresses are taken, and these.
    fn pointed_functions(&self) -> Vec<(FuncId, i128)> {
        let functions = self.shared.checked.functions.iter().enumerate();
        let with = functions.filter_map(|(at, function)| Some((FuncId(at), function.address?)));
        with.filter_map(|(func, global)| Some((func, self.shared.addresses[global.0]?))).collect()
    }

    /// A call of the function that a pointer points to: of one of those that fit and whose address is taken. Another one is an error.
    pub(crate) fn call_at(
        &mut self,
        pointer: &LocalExpr,
        signature: &Signature,
        args: Vec<Vec<LocalExpr>>,
    ) -> Vec<LocalExpr> {
        let functions = &self.shared.checked.functions;
        let fits = |func: &FuncId| {
            let function = &functions[func.0];
            let own = Signature { returns: function.returns.clone(), params: function.params.clone() };
            function.body.is_some() && function.params.len() <= args.len() && own.fits(signature)
        };
        let candidates: Vec<_> = self.pointed_functions().into_iter().filter(|(func, _)| fits(func)).collect();
        let words =
            if signature.returns == Type::Void { 0 } else { self.shared.checked.types.words(&signature.returns) };
        let temps: Vec<_> = (0..words).map(|_| self.temp()).collect();
        let end = self.new_label();
        let pointer = self.saved(arith::used(pointer.clone()));
        for (func, address) in candidates {
            let (here, next) = (self.new_label(), self.new_label());
            self.branch(arith::binary(BinOp::Eq, pointer.clone(), Ir::Const(address)), here, next);
            self.bind(here);
            let count = self.shared.checked.functions[func.0].params.len();
            let given = args.iter().take(count).map(|words| super::call::Argument::Words(words.clone())).collect();
            let values = self.inline(func, given);
            self.put(&temps, values);
            self.jump(end);
            self.bind(next);
        }
        let message = Some("a call through a pointer to no function of its type".to_owned());
        self.emit(Op::Assert { cond: Ir::Const(0), message });
        self.bind(end);
        temps.into_iter().map(Self::var).collect()
    }
}
