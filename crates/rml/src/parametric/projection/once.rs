//! What the first command of a transaction does once for all of them, and clocks.

use std::collections::BTreeMap;

use cyrano_ir::BinOp;

use super::{Check, Kind};
use crate::parametric::focus::is_positive;
use crate::parametric::form::{Change, Index, Len, Step, StepKind, Term, TermKind, VarNo};

/// What is done once in a transaction: the locals that it sets, each with its kind, and the locks that it takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Once {
    pub(super) locals: BTreeMap<VarNo, Kind>,
    pub(super) locks: Vec<VarNo>,
    /// What it sets them to, if that is known.
    constants: BTreeMap<VarNo, i128>,
}

impl Check<'_> {
    /// What is done once, if all commands about variables start with the same.
    pub(super) fn find_once(&mut self) {
        let form = self.form;
        let commands = form.commands.iter().filter(|(parameter, _)| parameter.is_some());
        let found: Vec<Option<Once>> =
            commands.map(|(_, body)| body.first().and_then(|step| self.as_once(step))).collect();
        match &found[..] {
            [Some(read), Some(write)] if read == write => self.once = read.clone(),
            _ => {}
        }
    }

    /// What a statement does once, if it is a block for that.
    pub(super) fn as_once(&self, step: &Step) -> Option<Once> {
        let StepKind::If(cond, block, otherwise) = &step.kind else { return None };
        let (flag, unset) = equals(cond)?;
        let is_flag = otherwise.is_empty() && self.form.vars[flag].init == Some(unset);
        let mut once = Once::default();
        let done = is_flag && block.iter().all(|step| self.is_done_once(step, &mut once));
        let set = match once.locals.get(&flag)? {
            Kind::Loaded(clock) => is_positive(self.form, *clock) && unset == 0,
            _ => once.constants.get(&flag).is_some_and(|value| *value != unset),
        };
        (done && set).then_some(once)
    }

    fn is_done_once(&self, step: &Step, once: &mut Once) -> bool {
        match &step.kind {
            StepKind::Assign(to, term) if to.index == Index::None => match term.number() {
                Some(value) => {
                    once.constants.insert(to.var, value);
                    once.locals.insert(to.var, Kind::Flag);
                    true
                }
                None => false,
            },
            StepKind::Load(to, from) if to.index == Index::None && from.index == Index::None => {
                once.locals.insert(to.var, Kind::Loaded(from.var));
                self.is_clock(from.var)
            }
            // `l := 1; while l != 0 { l := cas(lock, 0, 1); }`
            StepKind::While(cond, body) => {
                let [Step { kind: StepKind::Rmw { to: Some(to), at, change: Change::Cas(free, held) }, .. }] =
                    &body[..]
                else {
                    return false;
                };
                let (free, held) = (free.number(), held.number());
                let waits = differs(cond).is_some_and(|(var, value)| var == to.var && Some(value) == free);
                let enters = once.constants.get(&to.var).is_some_and(|value| Some(*value) != free);
                let is_lock = at.index == Index::None && self.form.vars[at.var].init == free && free.is_some();
                // What is left in the local says nothing: it is what was expected.
                once.locals.remove(&to.var);
                once.locks.push(at.var);
                waits && enters && is_lock && held.is_some() && held != free && once.locks.len() == 1
            }
            _ => false,
        }
    }

    /// Whether a shared scalar is only loaded and advanced, and starts with no less than timestamps of variables do.
    pub(super) fn is_clock(&self, var: VarNo) -> bool {
        let mut is_clock = self.form.vars[var].len == Len::Scalar && !self.form.vars[var].data;
        self.form.for_each_step(&mut |step| match &step.kind {
            StepKind::Store(to, _) | StepKind::Rollback(to, _) => is_clock &= to.var != var,
            StepKind::Rmw { at, change, .. } if at.var == var => {
                is_clock &= matches!(change, Change::Add(by) if by.number().is_some_and(|by| by > 0));
            }
            _ => {}
        });
        let stamps = self.form.vars.iter().filter(|other| other.shared && other.timestamp && other.len != Len::Scalar);
        is_clock && stamps.into_iter().all(|stamp| stamp.init <= self.form.vars[var].init && stamp.init.is_some())
    }

    /// The clock that is loaded when a transaction begins.
    pub(super) fn clock(&self) -> Option<VarNo> {
        let clock = |kind: &Kind| if let Kind::Loaded(clock) = kind { Some(*clock) } else { None };
        self.once.locals.values().find_map(clock)
    }

    pub(super) fn is_stamp(&self, var: VarNo) -> bool {
        self.form.vars[var].timestamp
    }
}

/// `x == 3`.
pub(super) fn equals(cond: &Term) -> Option<(VarNo, i128)> {
    compared(cond, BinOp::Eq)
}

/// `x != 3`.
pub(super) fn differs(cond: &Term) -> Option<(VarNo, i128)> {
    compared(cond, BinOp::Ne)
}

fn compared(cond: &Term, wanted: BinOp) -> Option<(VarNo, i128)> {
    match &cond.kind {
        TermKind::Binary(op, left, right) if *op == wanted => Some((left.scalar()?, right.number()?)),
        _ => None,
    }
}
