//! `exec(L)` and `L1 < L2` as registers that a condition can look at (Samand, section 4).
//!
//! `exec(L)` is a register of each thread that a statement with that label sets. For `L1 < L2` each execution of L1 raises a flag in memory
//! and each of L2 looks at it, both in one atomic section with the access itself, so that the flag is up exactly if an execution of L1 was
//! before that of L2 in the memory order. A write of a basic register that can be accessed concurrently has two sections: it looks in the
//! first and raises in the second, so it is before something if it has ended, and after something if it had not begun.
//! With several executions of a label, in loops, runs or threads, some pair of them counts.
//!
//! **Why this changes nothing else.** The flag is a witness (`cyrano_ir::Ty::Witness`): no order between accesses of a thread comes from
//! its address. What is stored is a constant, and what is loaded goes to registers that nothing but the condition reads. An access and a
//! section with that access in it are at one place of the memory order either way.

use cyrano_ir::{
    Addr, ArrayId, BinOp, Expr as IrExpr, FinalExpr, FinalVar, Op, Place, Program, RegId, Span, ThreadId, Ty,
};

use crate::expand::method::Lower;
use crate::lower::build::{binary, int, var};
use crate::report::Fallible;
use crate::rules::executed::each;
use crate::syntax::ast::{CheckDecl, Claim, Executed, LabelRef};

/// How the registers begin that say what was executed before what.
pub(crate) const BEFORE: &str = "%before";

/// What the conditions of a client's checks say about execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    /// Single labels.
    executed: Vec<Label>,
    /// Pairs of labels; each has a flag.
    pairs: Vec<(Label, Label)>,
    flags: Option<ArrayId>,
}

/// A label, perhaps of one call of the client.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Label {
    call: Option<String>,
    label: String,
}

impl From<&LabelRef> for Label {
    fn from(found: &LabelRef) -> Self {
        Self { call: found.call.as_ref().map(|call| call.text.clone()), label: found.label.text.clone() }
    }
}

impl Events {
    /// What these checks ask about.
    pub(crate) fn of(checks: &[&CheckDecl]) -> Self {
        let mut events = Self::default();
        for check in checks {
            let Claim::Final(_, (cond, _)) = &check.claim else { continue };
            each(cond, &mut |executed| match &executed.second {
                None => add(&mut events.executed, (&executed.first).into()),
                Some(second) => add(&mut events.pairs, ((&executed.first).into(), second.into())),
            });
        }
        events
    }

    /// The same without the pairs: a section that tells when an access was performed would keep it in order.
    pub(crate) fn without_pairs(self) -> Self {
        Self { pairs: Vec::new(), ..self }
    }

    /// How many flags they need; `array` holds them.
    pub(crate) fn flags(&mut self, array: impl FnOnce(usize) -> ArrayId) {
        self.flags = (!self.pairs.is_empty()).then(|| array(self.pairs.len()));
    }

    /// Names the flags in a finished program, for traces.
    pub(crate) fn name_flags(&self, program: &mut Program) {
        let flags = program.locations.iter_mut().filter(|location| location.ty == Ty::Witness);
        for (flag, (first, _)) in flags.zip(&self.pairs) {
            flag.name = match &first.call {
                Some(call) => format!("{call}.{} executed", first.label),
                None => format!("{} executed", first.label),
            };
        }
    }

    /// What an atom of a condition means at the end.
    pub(crate) fn resolve(&self, executed: &Executed, program: &Program) -> FinalExpr {
        let first = Label::from(&executed.first);
        let name = match &executed.second {
            None => self.executed.iter().position(|known| *known == first).map(executed_name),
            Some(second) => {
                let pair = (first, Label::from(second));
                self.pairs.iter().position(|known| *known == pair).map(before_name)
            }
        };
        let of_thread = |(thread, code): (usize, &cyrano_ir::Thread)| {
            let register = code.registers.iter().position(|register| Some(&register.name) == name.as_ref())?;
            Some(IrExpr::Var(FinalVar::Reg(ThreadId::new(thread), RegId::new(register))))
        };
        let found = program.threads.iter().enumerate().filter_map(of_thread);
        found.reduce(|all, one| IrExpr::binary(BinOp::Or, all, one)).unwrap_or(IrExpr::Const(0))
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn executed_name(number: usize) -> String {
    format!("%exec{number}")
}

fn before_name(number: usize) -> String {
    format!("{BEFORE}{number}")
}

impl Lower<'_, '_, '_> {
    /// The numbers of those in a list that a label, of the client's call that is being made, is.
    fn matching<'e>(&self, label: &str, list: impl Iterator<Item = &'e Label>) -> Vec<usize> {
        let call = self.own.call_label;
        let is = |wanted: &Label| wanted.label == label && wanted.call.as_deref().is_none_or(|c| Some(c) == call);
        list.enumerate().filter(|(_, wanted)| is(wanted)).map(|(number, _)| number).collect()
    }

    /// Notes that a statement with this label is executed.
    pub(crate) fn note_executed(&mut self, label: &str, span: Span) -> Fallible<()> {
        for number in self.matching(label, self.own.events.executed.iter()) {
            let register = self.build.register(&executed_name(number), 0);
            self.assign(Place::Reg(register), int(1), span)?;
        }
        Ok(())
    }

    /// The pairs whose first label, and those whose second one, is that of the statement being made.
    fn watched(&self) -> (Vec<usize>, Vec<usize>) {
        let own = |(_, number): &(&&str, &u32)| self.build.context.labels.last() == Some(*number);
        let Some((label, _)) = self.labels.iter().find(own).filter(|_| self.own.events.flags.is_some()) else {
            return Default::default();
        };
        let pairs = &self.own.events.pairs;
        (
            self.matching(label, pairs.iter().map(|(first, _)| first)),
            self.matching(label, pairs.iter().map(|(_, second)| second)),
        )
    }

    /// An access that stands alone: a section if a condition asks when it is performed.
    pub(crate) fn alone(&mut self, span: Span, make: impl FnOnce(&mut Self) -> Fallible<()>) -> Fallible<()> {
        let (raised, looked) = self.watched();
        if raised.is_empty() && looked.is_empty() {
            return make(self);
        }
        self.section(span, (true, true), make).map(drop)
    }

    /// An atomic section, in which a statement begins, or ends, or both; its first instruction.
    pub(crate) fn section<T>(
        &mut self,
        span: Span,
        (begins, ends): (bool, bool),
        make: impl FnOnce(&mut Self) -> Fallible<T>,
    ) -> Fallible<u32> {
        let (mut raised, mut looked) = self.watched();
        raised.retain(|_| ends);
        looked.retain(|_| begins);
        let first = self.build.here();
        self.build.group = Some(first);
        let mut made = self.emit(Op::AtomicBegin, span);
        for number in &looked {
            let seen = self.build.register(&format!("%seen{number}"), 0);
            let load = Op::load(Place::Reg(seen), self.flag(*number));
            made = made.and_then(|()| self.flagged(load, span));
        }
        made = made.and_then(|()| make(self).map(drop));
        for number in &raised {
            let store = Op::store(self.flag(*number), int(1));
            made = made.and_then(|()| self.flagged(store, span));
        }
        let ended = self.emit(Op::AtomicEnd, span);
        self.build.group = None;
        made.and(ended)?;
        for number in looked {
            let seen = self.build.register(&format!("%seen{number}"), 0);
            let before = self.build.register(&before_name(number), 0);
            self.assign(Place::Reg(before), binary(BinOp::Or, var(before), var(seen)), span)?;
        }
        Ok(first)
    }

    fn flag(&self, number: usize) -> Addr {
        let array = self.own.events.flags.unwrap_or(ArrayId(0));
        Addr::Indexed { array, index: int(i128::try_from(number).unwrap_or(i128::MAX)) }
    }

    /// An access to a flag, which belongs to no base object.
    fn flagged(&mut self, op: Op, span: Span) -> Fallible<()> {
        let touch = self.build.touch.take();
        let emitted = self.emit(op, span);
        self.build.touch = touch;
        emitted
    }
}
