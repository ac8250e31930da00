//! Calls of base objects.
//!
//! Everything but a basic register is linearizable, so a call of it is one atomic step. A write of a basic register that can be accessed
//! concurrently is two steps, its beginning and its end, each an atomic section; between them it overlaps what other threads do.
//! A read is one step that looks whether a write is under way, and then returns any value of the register's domain. A read that takes
//! its time adds nothing: if it overlaps a write, there is a moment in both; if it overlaps none, every moment of it is as good as
//! another; and nobody else can tell when it began.
//! What differs where objects are words of a machine's memory is in `words`.

use cyrano_ir::told::{Answer, Part};
use cyrano_ir::{Addr, BinOp, Change, Expr as IrExpr, LocalExpr, Op, Place, RegId, Span, UnOp};

use crate::expand::fold::fold;
use crate::expand::method::Lower;
use crate::lower::build::{Lock, Touch, binary, int, is, var};
use crate::lower::memory::{Helpers, Object};
use crate::lower::words::Done;
use crate::report::{Fallible, Reported};
use crate::syntax::ast::Access;
use crate::syntax::objects::ObjectKind;

/// An element of a base object.
pub(super) struct Target {
    pub(super) object: Object,
    index: LocalExpr,
    touch: Touch,
}

impl Target {
    pub(super) fn addr(&self) -> Addr {
        Addr::Indexed { array: self.object.array, index: self.index.clone() }
    }

    pub(super) fn helper(&self, array: cyrano_ir::ArrayId) -> Addr {
        Addr::Indexed { array, index: self.index.clone() }
    }
}

impl<'a> Lower<'a, '_, '_> {
    /// A call of an object, a set or a map; what it returns, or 0.
    pub(crate) fn access(&mut self, access: &'a Access, into: Option<RegId>, span: Span) -> Fallible<LocalExpr> {
        let name = access.object.text.as_str();
        if access.field.is_none() && self.own.algorithm.locals.iter().any(|local| local.name.text == name) {
            return self.set_access(access, span);
        }
        let target = self.find(access)?;
        let args = self.exprs(&access.args)?;
        self.build.touch = Some(target.touch);
        let lock = match access.method.text.as_str() {
            "lock" | "tryLock" => Some(Lock::Acquire),
            "unlock" => Some(Lock::Release),
            _ => None,
        };
        self.build.lock = lock;
        let answer = match (access.method.text.as_str(), target.object.kind) {
            ("read", ObjectKind::Lock | ObjectKind::TryLock) => Answer::Truth,
            ("read", _) => Answer::Value,
            ("cas" | "tryLock", _) => Answer::Success,
            _ => Answer::Nothing,
        };
        self.build.begin_object(&access.method.text, args.clone(), answer);
        let result = self.perform(&access.method.text, &target, args, into, span);
        self.build.end_object();
        self.build.touch = None;
        self.build.lock = None;
        let result = result?;
        // What is computed from an access is not an access itself.
        match result {
            IrExpr::Var(_) | IrExpr::Const(_) => Ok(result),
            computed => {
                let dst = into.unwrap_or_else(|| self.build.register("%result", 0));
                self.assign(Place::Reg(dst), computed, span)?;
                Ok(var(dst))
            }
        }
    }

    fn find(&mut self, access: &'a Access) -> Fallible<Target> {
        let (object, index) = match (&access.field, &access.index) {
            (Some(field), _) => {
                let object = *self.own.memory.fields.get(&field.text).ok_or(Reported)?;
                (object, self.name(&access.object)?)
            }
            (None, Some(index)) => (self.shared(&access.object.text)?, fold(index, self)?),
            (None, None) => (self.shared(&access.object.text)?, int(0)),
        };
        let element = match &index {
            IrExpr::Const(value) => Some(*value),
            _ => None,
        };
        let found = self.own.memory.objects[object].clone();
        Ok(Target { object: found, index, touch: Touch { object, element } })
    }

    fn shared(&self, name: &str) -> Fallible<usize> {
        self.own.memory.shared.get(name).copied().ok_or(Reported)
    }

    fn perform(
        &mut self,
        method: &str,
        target: &Target,
        args: Vec<LocalExpr>,
        into: Option<RegId>,
        span: Span,
    ) -> Fallible<LocalExpr> {
        let old = match self.own.endless {
            true => self.build.register(&format!("%old{}", target.touch), 0),
            false => self.build.register("%old", 0),
        };
        let args = match self.own.words {
            true => match self.perform_on_words(method, target, args, old, span)? {
                Done::As(result) => return Ok(result),
                Done::Not(args) => args,
            },
            false => args,
        };
        let mut args = args.into_iter();
        let is_lock = matches!(target.object.kind, ObjectKind::Lock | ObjectKind::TryLock);
        match (method, target.object.helpers) {
            ("read", Some(helpers)) => return self.basic_read(target, helpers, span),
            ("write", Some(helpers)) => {
                self.basic_write(target, helpers, args.next().ok_or(Reported)?, span)?;
            }
            ("read", None) if is_lock => {
                self.alone(span, |lower| lower.load(old, target.addr(), span))?;
                return Ok(IrExpr::binary(BinOp::Ne, var(old), int(0)));
            }
            ("read", None) => {
                let dst = into.unwrap_or_else(|| self.build.register("%value", 0));
                self.alone(span, |lower| lower.load(dst, target.addr(), span))?;
                return Ok(var(dst));
            }
            ("write", None) => {
                let value = args.next().ok_or(Reported)?;
                self.alone(span, |lower| lower.store(target.addr(), value, span))?;
            }
            ("cas", _) => {
                let (expected, new) = (args.next().ok_or(Reported)?, args.next().ok_or(Reported)?);
                return self.cas(target, old, (expected, new), span);
            }
            ("tryLock", _) => return self.cas(target, old, (int(0), int(self.own.tx)), span),
            ("lock", _) => {
                let tx = int(self.own.tx);
                self.section(span, (true, true), |lower| {
                    lower.load(old, target.addr(), span)?;
                    lower.emit(Op::Assume(is(var(old), 0)), span)?;
                    lower.store(target.addr(), tx, span)
                })?;
            }
            ("unlock", _) => {
                let message = Some("only a lock that is held is released".to_owned());
                self.section(span, (true, true), |lower| {
                    lower.load(old, target.addr(), span)?;
                    let cond = IrExpr::binary(BinOp::Ne, var(old), int(0));
                    lower.emit(Op::Assert { cond, message }, span)?;
                    lower.store(target.addr(), int(0), span)
                })?;
            }
            _ => return Err(Reported),
        }
        Ok(int(0))
    }

    pub(super) fn cas(
        &mut self,
        target: &Target,
        old: RegId,
        (expected, new): (LocalExpr, LocalExpr),
        span: Span,
    ) -> Fallible<LocalExpr> {
        let op = Change::Cas { expected: expected.clone(), new };
        self.alone(span, |lower| lower.emit(Op::rmw(Some(Place::Reg(old)), target.addr(), op), span))?;
        Ok(IrExpr::binary(BinOp::Eq, var(old), expected))
    }

    pub(super) fn load(&mut self, dst: RegId, addr: Addr, span: Span) -> Fallible<()> {
        self.emit(Op::load(Place::Reg(dst), addr), span)
    }

    pub(crate) fn store(&mut self, addr: Addr, value: LocalExpr, span: Span) -> Fallible<()> {
        self.emit(Op::store(addr, value), span)
    }

    /// Counts writes that are under way; `old` receives how many there were.
    fn count_writers(&mut self, old: RegId, writers: Addr, by: LocalExpr, span: Span) -> Fallible<()> {
        self.emit(Op::rmw(Some(Place::Reg(old)), writers, Change::Add(by)), span)
    }

    fn basic_read(&mut self, target: &Target, helpers: Helpers, span: Span) -> Fallible<LocalExpr> {
        let (met, value) = (self.build.register("%met", 0), self.build.register("%value", 0));
        self.section(span, (true, true), |lower| {
            lower.load(met, target.helper(helpers.writers), span)?;
            lower.load(value, target.addr(), span)
        })?;
        self.build.touch = None;
        self.build.part(Part::Choice);
        let from = target.object.domain.clone();
        self.guarded(IrExpr::binary(BinOp::Ne, var(met), int(0)), span, |lower| {
            lower.emit(Op::Choose { dst: Place::Reg(value), from }, span)
        })?;
        Ok(var(value))
    }

    fn basic_write(&mut self, target: &Target, helpers: Helpers, value: LocalExpr, span: Span) -> Fallible<()> {
        let (met, new) = (self.build.register("%met", 0), self.build.register("%new", 0));
        let writers = target.helper(helpers.writers);
        let flag = helpers.clash.map(|array| (target.helper(array), self.build.register("%clash", 0)));
        self.build.part(Part::Begin);
        let begin = self.section(span, (true, false), |lower| {
            lower.assign(Place::Reg(new), value, span)?;
            lower.count_writers(met, writers.clone(), int(1), span)?;
            if let Some((flag, clash)) = &flag {
                lower.load(*clash, flag.clone(), span)?;
                let clashes = IrExpr::binary(BinOp::Ne, binary(BinOp::Add, var(met), var(*clash)), int(0));
                lower.store(flag.clone(), clashes, span)?;
            }
            Ok(())
        })?;
        self.build.after.push(begin);
        self.build.part(Part::End);
        let Some((flag, clash)) = flag else {
            self.section(span, (false, true), |lower| {
                lower.store(target.addr(), var(new), span)?;
                lower.count_writers(met, writers, int(-1), span)
            })?;
            return Ok(());
        };
        self.arbitrary_end(target, (writers, flag), (new, met, clash), span)
    }

    /// The end of a write that may have met other writes: the last one of them to end leaves any value. Until it has, it counts
    /// as being under way.
    fn arbitrary_end(
        &mut self,
        target: &Target,
        (writers, flag): (Addr, Addr),
        (new, met, clash): (RegId, RegId, RegId),
        span: Span,
    ) -> Fallible<()> {
        let last = |clash: RegId| {
            let alone = is(var(met), 1);
            IrExpr::binary(BinOp::And, var(clash), alone)
        };
        let end = self.section(span, (false, true), |lower| {
            lower.load(met, writers.clone(), span)?;
            lower.load(clash, flag.clone(), span)?;
            lower.store(target.addr(), var(new), span)?;
            let stays = IrExpr::unary(UnOp::Not, last(clash));
            lower.store(writers.clone(), IrExpr::binary(BinOp::Sub, var(met), stays), span)
        })?;
        let (touch, lock) = (self.build.touch, self.build.lock);
        self.build.touch = None;
        self.guarded(last(clash), span, |lower| {
            lower.build.part(Part::Choice);
            lower.emit(Op::Choose { dst: Place::Reg(new), from: target.object.domain.clone() }, span)?;
            lower.build.part(Part::End);
            (lower.build.touch, lower.build.lock) = (touch, lock);
            lower.build.after.push(end);
            let left = lower.section(span, (false, false), |lower| {
                lower.store(target.addr(), var(new), span)?;
                lower.load(met, writers.clone(), span)?;
                lower.store(flag, IrExpr::binary(BinOp::Gt, var(met), int(1)), span)?;
                lower.store(writers, IrExpr::binary(BinOp::Sub, var(met), int(1)), span)
            });
            left.map(drop)
        })
    }

    /// `new Record(…)`: nobody knows the record yet, so its fields are written at once; who uses the reference comes after that.
    pub(crate) fn new_record(
        &mut self,
        record: &str,
        args: Vec<LocalExpr>,
        into: Option<RegId>,
        span: Span,
    ) -> Fallible<LocalExpr> {
        let fields = self.own.memory.records.get(record).map(|records| records.fields.clone()).unwrap_or_default();
        let arrays: Vec<_> = fields.iter().map(|field| self.own.memory.objects[*field].array).collect();
        let mut number = int(0);
        self.build.begin_object(&format!("new {record}"), args.clone(), Answer::Nothing);
        if self.own.words {
            return self.new_record_in_words(record, arrays.into_iter().zip(args), into, span);
        }
        let first = self.section(span, (true, true), |lower| {
            number = match lower.own.endless {
                true => var(lower.fresh_record(record, span)?),
                false => int(lower.own.memory.new_record(record)),
            };
            for (array, value) in arrays.into_iter().zip(args) {
                lower.store(Addr::Indexed { array, index: number.clone() }, value, span)?;
            }
            Ok(())
        })?;
        if let Some(made) = self.build.objects.last_mut() {
            made.answer = Answer::Is(number.clone());
        }
        self.build.end_object();
        let dst = into.unwrap_or_else(|| self.build.register("%value", 0));
        self.build.after.push(first);
        self.assign(Place::Reg(dst), number, span)?;
        Ok(var(dst))
    }
}
