//! P3 for every size, as the theorem needs it: what is left of a settled history without a variable is a history as well.
//!
//! **Claim** (`settled-projection`). Under a model that keeps all accesses in order: take an execution in which nothing aborts, every transaction but perhaps that
//! of the last event has committed, and that event is not about variable v. Then there is an execution with the same events but for those of v
//! and of transactions that have nothing else; transactions may begin later in it.
//!
//! **Argument.** Nobody ever enters a path that can only end with an abort: whoever did would neither commit nor make the last event. So what leads
//! to aborts only is left out of everything below, and a condition that leads there was false. (There are no accesses of data on such a path but rollbacks, and
//! who rolls back counts as aborted.)
//! The other execution leaves out all commands about v, and transactions that had no others; it does every other step at the same time. Call what belongs to
//! one variable, the elements of shared and local arrays for it, its *slice*. Then, step by step, both executions agree on all slices but v's:
//!
//! 1. A command about x, and an iteration about x of a loop over all variables, writes x's slice only, and what it writes and
//!    which way it goes follows from x's slice, from constants and from the thread's number. Other locals that it uses it has assigned itself.
//! 2. A loop over all variables inside a command about one of them writes nothing and accesses no data, so that leaving out the command leaves out nothing.
//! 3. If a variable was not asked for, an iteration about it does nothing, not even abort ([`is_quiet`]); so it is all the same whether the transaction had a
//!    command about v, and what a transaction that is left out did to x.
//! 4. What a transaction was asked for it accesses, and what the next transaction looks at is as it was at the start ([`at_commit`]). So a transaction with events of v
//!    only had commands about v only, and the next one finds the same without it.
//! 5. `if exists u (B(u)) { … }` may be true only because of v. For variables of which B is false, what is inside does nothing but perhaps abort; besides,
//!    it advances clocks. So leaving it out changes no slice.
//!
//! Two kinds of things belong to no variable:
//!
//! - **What is done once** by the first command of a transaction, in a block behind `if f == c` with which every command starts, `f` starting with `c` and being something
//!   else behind the block. It is done by the first command that is left, which is later, or not at all. It may
//!   load a **clock**, or take a **lock**; and it sets `f` and its like to constants, on which only `end` depends: there both executions agree.
//! - A clock starts with at least what the timestamps of variables start with, and is only advanced, by a number a > 0 at a time; a new timestamp is what it was
//!   before plus at most a. The one condition on timestamps is whether what was loaded at first is below the timestamp of a variable, and leads to an abort. Let
//!   the clock be loaded at time L, and advanced at time F for the timestamp, by a. If L is after F, then it is not below. If L is before F, it is below if it was
//!   advanced enough in between. In the other execution F is the same, L the same or later, and not more advances lie between; so if it is below there, it
//!   was here, and somebody aborted.
//! - A lock is taken by waiting for it, before anything else of the transaction, and given back by one store in `end`, if it is held. Holders exclude
//!   one another here; in the other execution the lock is held for a part of the same time, so it is free when it is taken.

mod kinds;
mod once;

use cyrano_ir::Span;

use once::{Once, differs, equals};

use super::Obstacle;
use super::focus::{at_commit, is_quiet};
use super::form::{
    Binder, Cell, Change, Domain, Form, Index, Len, Step, StepKind, Term, TermKind, VarNo, aborts, for_each_live_step,
    for_each_step,
};
use super::values::{Value, Values, branch};

/// Shows P3, or says what stands in the way. What comes back is how it was shown.
pub(super) fn prove(form: &Form) -> Result<&'static str, Vec<Obstacle>> {
    let mut check = Check { form, once: Once::default(), released: 0, outside: Vec::new(), obstacles: Vec::new() };
    check.find_once();
    for (number, (parameter, body)) in form.commands.iter().enumerate() {
        let mut kinds = vec![Kind::Before; form.vars.len()];
        if parameter.is_none() {
            check.once.locals.iter().for_each(|(var, kind)| kinds[*var] = *kind);
        }
        let at = Place { region: *parameter, nested: false, may_load: number == 0, begun: false };
        check.block(body, at, &mut kinds);
    }
    let found = at_commit(form, &|_| false);
    check.obstacles.extend(found.obstacles(form));
    for span in &found.unseen {
        check.refuse(*span, "a transaction may commit here and never have accessed a variable that it was asked for");
    }
    if !check.once.locks.is_empty() && check.released != 1 {
        let what =
            format!("`{}` is given back in {} places, not in one", form.name(check.once.locks[0]), check.released);
        check.refuse(Span::default(), what);
    }
    let clocks = check.once.locals.values().any(|kind| matches!(kind, Kind::Loaded(_)));
    if !check.outside.is_empty() {
        return Err(check.outside);
    }
    match (check.obstacles.is_empty(), clocks, check.once.locks.is_empty()) {
        (false, ..) => Err(check.obstacles),
        (true, true, _) => Ok(
            "what is done about a variable depends on that variable alone, and on whether it is younger than the transaction",
        ),
        (true, false, false) => {
            Ok("what is done about a variable depends on that variable alone, under one lock for all")
        }
        (true, false, true) => Ok("what is done about a variable depends on that variable alone"),
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// From before, or from something about another variable.
    Before,
    /// From constants and the number of the thread.
    Constant,
    /// From the slice of the variable that is looked at.
    Slice,
    /// The timestamp of the variable that is looked at.
    Stamp,
    /// What this clock was when the transaction began.
    Loaded(VarNo),
    /// What this clock was when it was advanced by `by`, plus `plus`.
    Fresh { clock: VarNo, by: i128, plus: i128 },
    /// Set at the beginning of the transaction.
    Flag,
}

impl Kind {
    fn is_plain(self) -> bool {
        matches!(self, Self::Constant | Self::Slice)
    }

    /// What is known of a value that is one of two.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (one, other) if one.is_plain() && other.is_plain() => Self::Slice,
            _ => Self::Before,
        }
    }
}

/// Where a statement stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The variable that it is about.
    region: Option<Binder>,
    /// Whether it is in a loop over all variables inside a command about one.
    nested: bool,
    /// Whether data may be loaded: only where a read-finish follows.
    may_load: bool,
    /// Whether it stands in `end`, is executed once at most, and only if the transaction has begun.
    begun: bool,
}

type Kinds = Vec<Kind>;

/// What a condition depends on.
enum Depends {
    /// The variable that is looked at, and constants.
    Slice,
    /// Also on whether the variable is younger than the transaction: if it holds without v, it holds with v.
    Age,
    /// Whether the transaction has begun.
    Begun,
    /// Whether there is a variable of which the body holds.
    Some(Binder),
}

struct Check<'f> {
    form: &'f Form,
    once: Once,
    /// How often a lock is given back.
    released: usize,
    /// What belongs to no variable, and what else stands in the way, which may come of that.
    outside: Vec<Obstacle>,
    obstacles: Vec<Obstacle>,
}

impl Check<'_> {
    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        self.obstacles.push(Obstacle { span, what: what.into() });
    }

    /// Walks a block; whether it may be left at its end.
    fn block(&mut self, block: &[Step], at: Place, kinds: &mut Kinds) -> bool {
        for step in block {
            let goes_on = match &step.kind {
                StepKind::If(cond, then, otherwise) => self.branches(step, (cond, then, otherwise), at, kinds),
                StepKind::While(cond, body) => {
                    self.repeated(cond, body, at, kinds);
                    true
                }
                StepKind::Each(binder, body) => {
                    self.each(step.span, *binder, body, at, kinds);
                    true
                }
                StepKind::Event(_) => false,
                _ => {
                    self.plain(step, at, kinds);
                    true
                }
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn branches(
        &mut self,
        step: &Step,
        (cond, then, otherwise): (&Term, &[Step], &[Step]),
        at: Place,
        kinds: &mut Kinds,
    ) -> bool {
        let is_command = at.region.is_some() && !at.nested;
        if is_command && !self.once.locals.is_empty() && self.as_once(step).as_ref() == Some(&self.once) {
            self.once.locals.iter().for_each(|(var, kind)| kinds[*var] = *kind);
            return true;
        }
        match self.depends(cond, at, kinds) {
            Some(Depends::Slice | Depends::Begun) => {}
            Some(Depends::Age) if self.is_doomed(then) => return self.block(otherwise, at, kinds),
            Some(Depends::Age) => self
                .refuse(cond.span, "which variables are younger than the transaction decides about more than an abort"),
            Some(Depends::Some(binder)) => {
                self.if_some(cond, binder, (then, otherwise), at, kinds);
                return true;
            }
            None => {}
        }
        let (mut one, mut other) = (kinds.clone(), kinds.clone());
        let mut leaves = [false; 2];
        for (number, block, kinds) in [(0, then, &mut one), (1, otherwise, &mut other)] {
            let begun = at.begun || at.region.is_none() && self.has_begun(cond, number == 0, kinds);
            leaves[number] = !self.is_doomed(block) && self.block(block, Place { begun, ..at }, kinds);
        }
        *kinds = match leaves {
            [true, true] => one.into_iter().zip(other).map(|(one, other)| one.or(other)).collect(),
            [true, false] => one,
            [false, true] => other,
            [false, false] => return false,
        };
        true
    }

    /// Whether a block only leads to an abort; then it may access no data.
    fn is_doomed(&mut self, block: &[Step]) -> bool {
        let doomed = aborts(block);
        if doomed {
            for_each_step(block, &mut |step| {
                let rollback = matches!(step.kind, StepKind::Rollback(..));
                if !rollback && step.accessed().is_some_and(|cell| self.form.vars[cell.var].data) {
                    self.refuse(step.span, "data is accessed on the way to an abort");
                }
            });
        }
        doomed
    }

    /// Whether a condition that is true, or false, says that the transaction has begun.
    fn has_begun(&self, cond: &Term, holds: bool, kinds: &Kinds) -> bool {
        let set_once = |var: VarNo| self.once.locals.get(&var) == Some(&kinds[var]);
        let unset = |(var, value): (VarNo, i128)| self.form.vars[var].init == Some(value);
        match (equals(cond), differs(cond)) {
            (Some(what), _) => set_once(what.0) && holds != unset(what),
            (_, Some(what)) => set_once(what.0) && holds && unset(what),
            _ => false,
        }
    }

    /// `if exists u (B(u)) { … }`, perhaps only because of the variable that is left out.
    fn if_some(
        &mut self,
        cond: &Term,
        binder: Binder,
        (then, otherwise): (&[Step], &[Step]),
        at: Place,
        kinds: &mut Kinds,
    ) {
        let TermKind::Quantified { body, .. } = &cond.kind else { return };
        let form = self.form;
        if !otherwise.is_empty() {
            self.refuse(cond.span, "what is done if there is no such variable may depend on one that is left out");
        }
        if !branch(form, body, true, &self.untouched(), &vec![(binder, true)]).is_empty() {
            self.refuse(body.span, "this may hold of a variable that was not asked for");
        }
        let unknown: Values = vec![Value::Any; form.vars.len()];
        let without = branch(form, body, false, &unknown, &vec![(binder, true)]);
        for step in then {
            let harmless = match &step.kind {
                StepKind::Each(u, body) if form.binders[*u] == Domain::Variables => {
                    is_quiet(form, body, (*u, &without), false)
                }
                StepKind::Assign(to, _) => to.index == Index::None,
                StepKind::Rmw { at, change: Change::Add(_), .. } => self.is_clock(at.var),
                _ => false,
            };
            if !harmless {
                self.refuse(step.span, "whether this is done may depend on a variable that is left out");
            }
        }
        self.block(then, at, kinds);
        forget_assigned(then, kinds);
    }

    /// A loop in which nothing is left that is not known from the variable.
    fn repeated(&mut self, cond: &Term, body: &[Step], at: Place, kinds: &mut Kinds) {
        let known = (self.outside.len(), self.obstacles.len());
        loop {
            self.outside.truncate(known.0);
            self.obstacles.truncate(known.1);
            if let Some(Depends::Age | Depends::Some(_)) = self.depends(cond, at, kinds) {
                self.refuse(cond.span, "how often this is repeated depends on other variables");
            }
            let mut after = kinds.clone();
            self.block(body, Place { begun: false, ..at }, &mut after);
            let joined: Kinds = kinds.iter().zip(&after).map(|(one, other)| one.or(*other)).collect();
            if joined == *kinds {
                return;
            }
            *kinds = joined;
        }
    }

    fn each(&mut self, span: Span, binder: Binder, body: &[Step], at: Place, kinds: &mut Kinds) {
        let form = self.form;
        if form.binders[binder] == Domain::Threads {
            // The same iterations in both executions.
            return self.repeated(&Term { kind: TermKind::Sized, span }, body, at, kinds);
        }
        if !is_quiet(form, body, (binder, &[self.untouched()]), true) {
            self.refuse(span, "this does something about variables that were not asked for");
        }
        let nested = at.region.is_some();
        if nested {
            for_each_live_step(body, &mut |step| {
                let writes = matches!(step.kind, StepKind::Store(..) | StepKind::Rmw { .. });
                let kept = step.assigned().is_some_and(|to| to.index != Index::None);
                let seen = step.accessed().is_some_and(|at| form.vars[at.var].data);
                if writes || kept || seen {
                    self.refuse(step.span, "a command about one variable does this about others");
                }
            });
        }
        let mut inner = kinds.clone();
        inner.iter_mut().filter(|kind| matches!(kind, Kind::Slice | Kind::Stamp)).for_each(|kind| *kind = Kind::Before);
        forget_assigned(body, &mut inner);
        self.block(body, Place { region: Some(binder), nested, may_load: false, begun: false }, &mut inner);
        forget_assigned(body, kinds);
    }

    /// The locals for a variable that was not asked for.
    fn untouched(&self) -> Values {
        let start = |var: &super::form::Var| match (var.len, var.init) {
            (Len::Each(Domain::Variables), Some(init)) if !var.shared => Value::Is(init),
            _ => Value::Any,
        };
        self.form.vars.iter().map(start).collect()
    }

    fn plain(&mut self, step: &Step, at: Place, kinds: &mut Kinds) {
        match &step.kind {
            StepKind::Assign(to, term) => {
                let kind = self.kind(term, at, kinds);
                self.assign(step.span, to, kind, at, kinds);
            }
            StepKind::Load(to, from) => {
                let kind = match self.is_stamp(from.var) {
                    true => Kind::Stamp,
                    false => Kind::Slice,
                };
                if self.is_own(from, at) {
                    if self.form.vars[from.var].data && at.region.is_some() && !at.may_load {
                        self.refuse(step.span, "data is loaded where no `rfin` follows");
                    }
                    self.assign(step.span, to, kind, at, kinds);
                }
            }
            StepKind::Store(to, term) if to.index == Index::None && self.once.locks.contains(&to.var) => {
                self.released += 1;
                if !at.begun || term.number() != self.form.vars[to.var].init {
                    self.refuse(
                        step.span,
                        "a lock is given back here that may not be held, or something else is stored to it",
                    );
                }
            }
            StepKind::Store(to, term) => {
                let kind = self.kind(term, at, kinds);
                if self.is_own(to, at) {
                    self.store(step.span, to, kind);
                }
            }
            StepKind::Rmw { to, at: cell, change: Change::Add(by) }
                if cell.index == Index::None && self.is_clock(cell.var) =>
            {
                let kind = Kind::Fresh { clock: cell.var, by: by.number().unwrap_or(0), plus: 0 };
                to.iter().for_each(|to| self.assign(step.span, to, kind, at, kinds));
            }
            StepKind::Rmw { to, at: cell, change } => {
                let plain = change.terms().into_iter().all(|term| self.kind(term, at, kinds).is_plain());
                if self.is_own(cell, at) {
                    if !plain || self.is_stamp(cell.var) || self.form.vars[cell.var].data {
                        self.refuse(step.span, "what is done here depends on more than the variable");
                    }
                    to.iter().for_each(|to| self.assign(step.span, to, Kind::Slice, at, kinds));
                }
            }
            StepKind::Assume(cond) => match self.depends(cond, at, kinds) {
                Some(Depends::Slice) | None => {}
                Some(_) => self.refuse(cond.span, "whether this is waited for depends on other variables"),
            },
            _ => {}
        }
    }

    fn assign(&mut self, span: Span, to: &Cell, kind: Kind, at: Place, kinds: &mut Kinds) {
        match to.index {
            Index::None => {
                let set_once = self.once.locals.contains_key(&to.var);
                if set_once && !(at.region.is_none() && kind == Kind::Constant) {
                    let what = format!(
                        "`{}` belongs to the beginning of a transaction and is changed here",
                        self.form.name(to.var)
                    );
                    self.refuse(span, what);
                }
                kinds[to.var] = kind;
            }
            _ if !self.is_own(to, at) => {}
            _ if !kind.is_plain() => {
                self.refuse(span, "what is kept here about the variable depends on more than that variable")
            }
            _ => {}
        }
    }

    fn store(&mut self, span: Span, to: &Cell, kind: Kind) {
        let what = match kind {
            Kind::Fresh { clock, .. } if self.clock().is_some_and(|other| other != clock) => {
                "there is more than one clock"
            }
            Kind::Fresh { by, plus, .. } if self.is_stamp(to.var) && plus <= by => return,
            Kind::Fresh { .. } if self.is_stamp(to.var) => "this timestamp lies in the future",
            Kind::Fresh { .. } => "a value of the clock is stored that is no timestamp",
            kind if kind.is_plain() && !self.is_stamp(to.var) => return,
            _ if self.is_stamp(to.var) => "this is no new value of a clock that was only advanced",
            _ => "what is stored here depends on more than the variable",
        };
        self.refuse(span, what);
    }
}

/// What a block assigns is not known behind it, or in its next round.
fn forget_assigned(block: &[Step], kinds: &mut Kinds) {
    for_each_live_step(block, &mut |step| {
        let to = step.assigned().filter(|to| to.index == Index::None);
        to.into_iter().for_each(|to| kinds[to.var] = Kind::Before);
    });
}
