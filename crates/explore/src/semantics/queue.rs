//! The rules of the queue: when a deferred access may be performed, what it reads, and what becomes known when it has been.
//!
//! **Invariant (axioms 1 to 5 of `cyrano_memory`).** An access is performed only when every program-earlier access that the model,
//! a fence or a dependency puts before it has been performed:
//! - kept pairs: checked against each earlier entry by kind and address; and a header with its object (axiom 10);
//! - fences: an entry in the queue that keeps the kinds for which an earlier access still waits;
//! - data dependencies: its operands must be known, and a pending register becomes known when its load is performed;
//! - control dependencies: nothing is issued beyond a branch whose condition is pending;
//! - address dependencies: programs that have them are refused where loads wait.
//!
//! A load whose own thread has a waiting store to its address takes the value of the latest such store, if that is known.

use cyrano_ir::{AccessKind, Change, EvalError, FenceSet, LocalExpr, Op};

use crate::faults::Fault;
use crate::semantics::local::{Captured, eval};
use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, Entry, State, Value, What};

/// What a load finds in its own thread's queue.
pub(crate) enum Own {
    /// No waiting store to its address.
    Nothing,
    /// The latest one, with this value.
    Known(i128),
    /// The latest one, whose value is not known yet.
    Unknown,
}

impl Machine<'_> {
    /// Whether an access of `kind` to `loc`, issued when the queue had `position` entries, has to wait for one of them.
    /// Entries from `section` on belong to its own atomic section and do not count.
    pub fn must_wait(&self, queue: &[Entry], section: usize, kind: AccessKind, loc: u32) -> bool {
        let mut before = FenceSet::NONE;
        queue[..section].iter().any(|earlier| match earlier.what {
            What::Access(first) => {
                before |= FenceSet::from_first(first);
                self.keeps(first, kind, earlier.loc == loc) || self.headers.are_tied(earlier.loc, loc)
            }
            What::Fence(set) => !(set & before & FenceSet::from_second(kind)).is_empty(),
            _ => false,
        })
    }

    pub(crate) fn keeps(&self, first: AccessKind, second: AccessKind, same: bool) -> bool {
        let both_stores = first == AccessKind::Store && second == AccessKind::Store;
        if self.config.has_fault(Fault::ReorderStores) && both_stores && !same {
            return false;
        }
        self.model.reordering().keeps(first, second, same)
    }

    /// What a load of `loc` finds in the queue before `position`.
    pub fn own_store(&self, queue: &[Entry], position: usize, loc: u32) -> Own {
        if self.config.has_fault(Fault::NoForwarding) {
            return Own::Nothing;
        }
        let store = |e: &&Entry| e.loc == loc && e.access().is_some_and(AccessKind::writes);
        let found = if self.config.has_fault(Fault::ForwardOldest) {
            queue[..position].iter().find(store)
        } else {
            queue[..position].iter().rfind(store)
        };
        match found.map(|entry| &entry.data) {
            None => Own::Nothing,
            Some(Data::Known(value, _)) => Own::Known(*value),
            Some(Data::Waiting(_)) => Own::Unknown,
        }
    }

    /// Whether the access at `position`, with its whole atomic section, may be performed now.
    pub fn ready(&self, queue: &[Entry], position: usize) -> bool {
        let Some(last) = section_end(queue, position) else {
            return false;
        };
        (position..=last).all(|member| match queue[member].access() {
            None => true,
            Some(kind) => {
                let loc = queue[member].loc;
                !self.must_wait(queue, position, kind, loc)
                    && self.operands_will_be_known(queue, position, member)
                    && !(kind == AccessKind::Load && matches!(self.own_store(queue, position, loc), Own::Unknown))
            }
        })
    }

    /// Whether the operands of `member` are known, or will be once the entries from `section` on have been performed.
    fn operands_will_be_known(&self, queue: &[Entry], section: usize, member: usize) -> bool {
        if self.config.has_fault(Fault::IgnoreDataDependency) && queue[member].access() == Some(AccessKind::Store) {
            return true;
        }
        match &queue[member].data {
            Data::Known(..) => true,
            Data::Waiting(captured) => captured.iter().all(|(_, value)| match value {
                Value::Known(_) => true,
                Value::Pending(at) => {
                    let at = *at as usize;
                    at >= section && self.operands_will_be_known(queue, section, at)
                }
            }),
        }
    }

    /// Removes the entry at `position`. If it delivers a value, every register and entry that waits for it gets it.
    pub fn remove_entry(&self, state: &mut State, thread: usize, position: usize, delivers: Option<i128>) -> Entry {
        let removed = state.threads[thread].queue.remove(position);
        let here = position as u16;
        if self.loads_wait {
            let info = &self.threads[thread];
            for reg in info.base..info.base + self.program.threads[thread].registers.len() {
                let pending = state.pending[reg];
                if pending == here + 1 {
                    state.pending[reg] = 0;
                    state.regs[reg] = delivers.unwrap_or(0);
                } else if pending > here + 1 {
                    state.pending[reg] = pending - 1;
                }
            }
        }
        for entry in &mut state.threads[thread].queue[position..] {
            if let Data::Waiting(captured) = &mut entry.data {
                for (_, value) in captured {
                    match *value {
                        Value::Pending(at) if at == here => *value = Value::Known(delivers.unwrap_or(0)),
                        Value::Pending(at) if at > here => *value = Value::Pending(at - 1),
                        _ => {}
                    }
                }
            }
        }
        removed
    }

    /// Drops what the fences of a queue no longer order, and fences that order nothing.
    pub fn prune_fences(&self, state: &mut State, thread: usize) {
        let mut before = FenceSet::NONE;
        let mut position = 0;
        while position < state.threads[thread].queue.len() {
            let entry = &mut state.threads[thread].queue[position];
            match &mut entry.what {
                What::Access(kind) => before |= FenceSet::from_first(*kind),
                What::Fence(set) => {
                    *set = *set & before;
                    if set.is_empty() {
                        self.remove_entry(state, thread, position, None);
                        continue;
                    }
                }
                _ => {}
            }
            position += 1;
        }
    }

    /// The operands of an instruction: their values, or what they wait for. An operand that cannot be computed is 0, and the
    /// error stands beside it.
    pub fn operands(&self, state: &State, thread: usize, op: &Op) -> (Data, Option<EvalError>) {
        let base = self.threads[thread].base;
        if self.loads_wait
            && let Some(captured) = self.capture(state, thread, &op.operands())
        {
            return (Data::Waiting(captured), None);
        }
        let (first, second, error) = evaluate(op, |e| eval(e, &state.regs[base..]));
        (Data::Known(first, second), error)
    }

    /// The registers that the expressions read, with their values, if at least one of them is pending.
    pub fn capture(&self, state: &State, thread: usize, exprs: &[&LocalExpr]) -> Option<Vec<(u32, Value)>> {
        let base = self.threads[thread].base;
        let mut captured = Vec::new();
        for expr in exprs {
            crate::semantics::local::registers(expr, &state.regs[base..], &mut |reg| {
                if captured.iter().all(|(r, _)| *r != reg) {
                    let at = base + reg as usize;
                    let value = match state.pending[at] {
                        0 => Value::Known(state.regs[at]),
                        position => Value::Pending(position - 1),
                    };
                    captured.push((reg, value));
                }
            });
        }
        captured.iter().any(|(_, value)| matches!(value, Value::Pending(_))).then_some(captured)
    }
}

/// The values of an instruction's operands. One that cannot be computed is 0; the first error is kept.
fn evaluate(op: &Op, value: impl Fn(&LocalExpr) -> Result<i128, EvalError>) -> (i128, i128, Option<EvalError>) {
    let (first, second) = operand_pair(op);
    let mut error = None;
    let mut value = |expr: Option<&LocalExpr>| {
        expr.map_or(0, |expr| {
            value(expr).unwrap_or_else(|wrong| {
                error.get_or_insert(wrong);
                0
            })
        })
    };
    let (first, second) = (value(first), value(second));
    (first, second, error)
}

/// The position of the last access in the atomic section that starts at `position`; `None` while the section is being issued.
pub(crate) fn section_end(queue: &[Entry], position: usize) -> Option<usize> {
    let mut at = position;
    while queue[at].chained {
        at = (at + 1..queue.len()).find(|next| queue[*next].access().is_some())?;
    }
    Some(at)
}

/// The up to two operand expressions of an instruction.
pub(crate) fn operand_pair(op: &Op) -> (Option<&LocalExpr>, Option<&LocalExpr>) {
    match op {
        Op::Assign { value, .. } => (Some(value), None),
        Op::Access(access) => match &access.change {
            Some(Change::Cas { expected, new }) => (Some(expected), Some(new)),
            Some(Change::Set(value) | Change::Add(value)) => (Some(value), None),
            None => (None, None),
        },
        Op::Assume(cond) | Op::Assert { cond, .. } | Op::Limit { cond, .. } | Op::Branch { cond, .. } => {
            (Some(cond), None)
        }
        _ => (None, None),
    }
}

/// The operands of an entry whose captured registers are all known by now.
pub(crate) fn evaluate_captured(op: &Op, captured: &[(u32, Value)]) -> (i128, i128, Option<EvalError>) {
    evaluate(op, |expr| expr.value(&Captured(captured)))
}

/// What a read-modify-write writes, if anything.
#[inline]
pub(crate) fn modify(op: &Op, old: i128, first: i128, second: i128) -> Result<Option<i128>, EvalError> {
    match op.change() {
        Some(Change::Cas { .. }) => Ok((old == first).then_some(second)),
        Some(Change::Set(_)) => Ok(Some(first)),
        Some(Change::Add(_)) => old.checked_add(first).map(Some).ok_or(EvalError::Overflow),
        None => unreachable!("only what writes modifies"),
    }
}
