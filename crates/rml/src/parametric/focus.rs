//! One thread and one variable of many: all that the thread can know about that variable between its steps, whatever the size and whatever
//! the others do.
//!
//! The values of the locals are followed along every path (exact, all but one, or unknown), for a variable that stands for any. A
//! command about another variable, and an iteration of a loop about another one, touch none of its cells; a loop over all variables is about this
//! one exactly once, and about others before and after. What is loaded is unknown.
//! So every execution of every instance is among the paths, and what holds at the end of all of them holds for every thread, every
//! variable and every size. Paths that abort are left out: what is asked is about histories without aborts. But an abort before the first access of its transaction
//! is in no history, and what it leaves in locals stays; where there may be one, that is said ([`AtCommit::silent`]).

use std::collections::HashSet;

use cyrano_ir::{Span, TxEvent};

use super::Obstacle;
use super::form::{Binder, Cell, Change, Domain, Form, Index, Len, Step, StepKind, Term, TermKind, VarNo, aborts};
use super::values::{Scope, Value, Values, branch, value};

/// More states than this are not followed.
const MOST_STATES: usize = 20_000;

/// What a thread knows of the variable, and what it has done with it in this transaction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    values: Values,
    /// The shared variables whose element for the variable holds the thread's name, unless somebody has overwritten it.
    named: Vec<bool>,
    /// Whether a command was about the variable, and whether an access of it was an event.
    asked: bool,
    shown: bool,
    /// Whether the transaction has accessed anything shared.
    begun: bool,
    /// The scalars that have been left by an earlier transaction as they were not at the start.
    stale: Vec<bool>,
}

type States = HashSet<State>;

/// What may be so when a transaction commits, and where it does.
#[derive(Clone, Debug, Default)]
pub(super) struct AtCommit {
    /// Locals that are not what they were at the start: arrays at a commit, scalars where they are used later.
    pub changed: Vec<(VarNo, Span)>,
    /// Shared variables that still hold the thread's name.
    pub named: Vec<(VarNo, Span)>,
    /// Commits of transactions that were asked for a variable and never accessed it.
    pub unseen: Vec<Span>,
    /// Aborts that no history shows.
    pub silent: Vec<Span>,
    /// Whether there were too many states to look at.
    pub gave_up: bool,
}

impl AtCommit {
    /// What stands in the way of every proof.
    pub fn obstacles(&self, form: &Form) -> Vec<Obstacle> {
        let changed = |(var, span): &(VarNo, Span)| {
            let what = format!("`{}` may have been changed by an earlier transaction of the thread", form.name(*var));
            Obstacle { span: *span, what }
        };
        let silent = |span: &Span| {
            let what = "a transaction may abort here that has accessed nothing, which no history shows".to_owned();
            Obstacle { span: *span, what }
        };
        let too_many = || {
            let what = "what a thread may know of a variable is too much to look at".to_owned();
            Obstacle { span: Span::default(), what }
        };
        let found = self.changed.iter().map(changed).chain(self.silent.iter().map(silent));
        found.chain(self.gave_up.then(too_many)).collect()
    }
}

/// What may be so at the commits of an stm; `is_name` says which expressions are the name of the thread.
pub(super) fn at_commit(form: &Form, is_name: &dyn Fn(&Term) -> bool) -> AtCommit {
    let mut paths = Paths { form, is_name, found: AtCommit::default(), next: Vec::new(), effects: None };
    paths.follow();
    paths.found
}

/// Whether nothing comes of a block that is about a variable with these values: nothing shared changes, nothing that is kept of the variable, no event,
/// and it does not wait. Whether an abort counts is said; if not, what leads to one only is not looked at.
pub(super) fn is_quiet(form: &Form, block: &[Step], about: (Binder, &[Values]), aborts_count: bool) -> bool {
    let nobody = |_: &Term| false;
    let effects = Some(Effects { aborts_count, any: false });
    let mut paths = Paths { form, is_name: &nobody, found: AtCommit::default(), next: Vec::new(), effects };
    let start = |values: &Values| State { values: values.clone(), ..paths.initial() };
    let starts = about.1.iter().map(start).collect();
    paths.block(block, starts, &vec![(about.0, true)], &mut States::new());
    !paths.effects.is_some_and(|effects| effects.any)
}

/// What is watched in a block that should be quiet.
struct Effects {
    aborts_count: bool,
    any: bool,
}

struct Paths<'f> {
    form: &'f Form,
    is_name: &'f dyn Fn(&Term) -> bool,
    /// Where a transaction starts that is not the first.
    next: Vec<State>,
    found: AtCommit,
    effects: Option<Effects>,
}

impl Paths<'_> {
    fn initial(&self) -> State {
        let values = self.form.vars.iter().map(|var| var.init.map_or(Value::Any, Value::Is)).collect();
        State {
            values,
            named: vec![false; self.form.vars.len()],
            asked: false,
            shown: false,
            begun: false,
            stale: vec![false; self.form.vars.len()],
        }
    }

    /// All commands from all states that there can be between them.
    fn follow(&mut self) {
        let mut known = States::new();
        let mut work = vec![self.initial()];
        while let Some(state) = work.pop() {
            if !known.insert(state.clone()) {
                continue;
            }
            if known.len() > MOST_STATES {
                self.found.gave_up = true;
                return;
            }
            for (parameter, body) in &self.form.commands {
                for about in if parameter.is_some() { &[true, false][..] } else { &[false] } {
                    let scope: Scope = parameter.iter().map(|binder| (*binder, *about)).collect();
                    let start = State { asked: state.asked || *about, ..state.clone() };
                    let mut ends = States::new();
                    let after = self.block(body, States::from([start]), &scope, &mut ends);
                    work.extend(after.into_iter().chain(ends));
                    work.append(&mut self.next);
                }
            }
        }
    }

    /// The states behind a block; those behind an event, which ends the command, are among the `ends`.
    fn block(&mut self, block: &[Step], mut states: States, scope: &Scope, ends: &mut States) -> States {
        for step in block {
            states = self.step(step, states, scope, ends);
        }
        states
    }

    fn step(&mut self, step: &Step, states: States, scope: &Scope, ends: &mut States) -> States {
        if states.is_empty() {
            return states;
        }
        self.watch(step, &states, scope);
        self.notice_stale(step, &states);
        let form = self.form;
        let split = |states: &States, cond: &Term, wanted: bool| -> States {
            let one = |state: &State| {
                let values = branch(form, cond, wanted, &state.values, scope);
                values.into_iter().map(|values| State { values, ..state.clone() }).collect::<Vec<_>>()
            };
            states.iter().flat_map(one).collect()
        };
        match &step.kind {
            StepKind::Assign(to, term) => states
                .into_iter()
                .map(|state| self.assigned(state.clone(), to, value(form, term, &state.values, scope), scope))
                .collect(),
            StepKind::Load(to, from) => {
                let loaded = if is_positive(form, from.var) { Value::Not(0) } else { Value::Any };
                let seen = |state: State| self.accessed(state, from, None, scope);
                states.into_iter().map(|state| self.assigned(seen(state), to, loaded, scope)).collect()
            }
            StepKind::Store(to, term) => {
                states.into_iter().map(|state| self.accessed(state, to, Some(term), scope)).collect()
            }
            StepKind::Rmw { to, at, change } => {
                states.into_iter().flat_map(|state| self.changed(state, to.as_ref(), at, change, scope)).collect()
            }
            StepKind::Assume(cond) => split(&states, cond, true),
            StepKind::If(cond, then, otherwise) => {
                let mut after = States::new();
                for (wanted, block) in [(true, then), (false, otherwise)] {
                    let taken = split(&states, cond, wanted);
                    after.extend(self.branch(block, taken, scope, ends));
                }
                after
            }
            StepKind::While(cond, body) => {
                let all = self.star(states, &mut |paths, states| {
                    let taken = split(&states, cond, true);
                    paths.block(body, taken, scope, ends)
                });
                split(&all, cond, false)
            }
            StepKind::Each(binder, body) => {
                let mut about = |paths: &mut Self, states: States, this: bool| {
                    let scope: Scope = scope.iter().copied().chain([(*binder, this)]).collect();
                    paths.block(body, states, &scope, ends)
                };
                let before = self.star(states, &mut |paths, states| about(paths, states, false));
                match form.binders[*binder] {
                    Domain::Threads => before,
                    Domain::Variables => {
                        let at = about(self, before, true);
                        self.star(at, &mut |paths, states| about(paths, states, false))
                    }
                }
            }
            StepKind::Rollback(..) => States::new(),
            StepKind::Event(event) => {
                self.ended(*event, states, step.span, ends);
                States::new()
            }
        }
    }

    /// The block of a branch. If aborts are left out, so is what leads to them.
    fn branch(&mut self, block: &[Step], states: States, scope: &Scope, ends: &mut States) -> States {
        let ignored = self.effects.as_ref().is_none_or(|effects| !effects.aborts_count) && aborts(block);
        if ignored {
            block.first().into_iter().for_each(|first| self.aborted(&states, first.span));
            return States::new();
        }
        self.block(block, states, scope, ends)
    }

    /// All states that come of doing something again and again.
    fn star(&mut self, states: States, again: &mut dyn FnMut(&mut Self, States) -> States) -> States {
        let mut all = states.clone();
        let mut new = states;
        while !new.is_empty() && !self.found.gave_up {
            new = again(self, new).into_iter().filter(|state| all.insert(state.clone())).collect();
            self.found.gave_up |= all.len() > MOST_STATES;
        }
        all
    }

    fn ended(&mut self, event: TxEvent, states: States, span: Span, ends: &mut States) {
        match event {
            TxEvent::Abort => self.aborted(&states, span),
            TxEvent::ReadFinish => ends.extend(states),
            TxEvent::Commit => states.iter().for_each(|state| self.committed(state, span)),
        }
    }

    /// Looks at an abort, or at what leads to one.
    fn aborted(&mut self, states: &States, span: Span) {
        if states.iter().any(|state| !state.begun) {
            put(&mut self.found.silent, span);
        }
    }

    /// Looks at a commit.
    fn committed(&mut self, state: &State, span: Span) {
        let mut next = self.initial();
        for (var, declared) in self.form.vars.iter().enumerate() {
            let changed = !declared.shared && state.values[var] != next.values[var];
            if changed && declared.len == Len::Scalar {
                (next.values[var], next.stale[var]) = (Value::Any, true);
            } else if changed {
                put(&mut self.found.changed, (var, span));
            }
            if state.named[var] {
                put(&mut self.found.named, (var, span));
            }
        }
        if state.asked && !state.shown {
            put(&mut self.found.unseen, span);
        }
        self.next.push(next);
    }

    fn notice_stale(&mut self, step: &Step, states: &States) {
        for term in step.terms() {
            term.for_each(&mut |part| match &part.kind {
                TermKind::Local(cell) if states.iter().any(|state| state.stale[cell.var]) => {
                    put(&mut self.found.changed, (cell.var, part.span));
                }
                _ => {}
            });
        }
    }

    fn watch(&mut self, step: &Step, states: &States, scope: &Scope) {
        let form = self.form;
        let Some(effects) = &mut self.effects else { return };
        let is_loop = matches!(step.kind, StepKind::While(..) | StepKind::Assume(_));
        let writes = matches!(
            step.kind,
            StepKind::Store(..) | StepKind::Rollback(..) | StepKind::Rmw { .. } | StepKind::Event(_)
        );
        let seen = step.accessed().is_some_and(|at| form.vars[at.var].data);
        let same = match &step.kind {
            // What is assigned is there already.
            StepKind::Assign(to, term) => states.iter().all(|state| {
                let known = value(form, term, &state.values, scope);
                matches!(known, Value::Is(_))
                    && matches!(to.index, Index::Of(u) if is_this(scope, u))
                    && state.values[to.var] == known
            }),
            _ => false,
        };
        let kept = !same && step.assigned().is_some_and(|to| to.index != Index::None);
        let nested = matches!(step.kind, StepKind::Each(..)) && !scope.is_empty();
        effects.any |= is_loop || writes || seen || kept || nested;
    }

    fn assigned(&self, mut state: State, to: &Cell, value: Value, scope: &Scope) -> State {
        match to.index {
            Index::None => (state.values[to.var], state.stale[to.var]) = (value, false),
            Index::Of(binder) if is_this(scope, binder) => state.values[to.var] = value,
            Index::Of(_) => {}
            // It may be this one or not.
            Index::Own | Index::Fixed => state.values[to.var] = Value::Any,
        }
        state
    }

    /// Behind an access, which may store something.
    fn accessed(&self, mut state: State, cell: &Cell, stored: Option<&Term>, scope: &Scope) -> State {
        let this = match cell.index {
            Index::None => true,
            Index::Of(binder) => is_this(scope, binder),
            Index::Own | Index::Fixed => false,
        };
        state.begun = true;
        state.shown |= this && self.form.vars[cell.var].data;
        if let Some(stored) = stored {
            match (self.is_name)(stored) {
                true if this || matches!(cell.index, Index::Fixed | Index::Own) => state.named[cell.var] = true,
                false if this => state.named[cell.var] = false,
                _ => {}
            }
        }
        state
    }

    /// Behind a read-modify-write, which may fail.
    fn changed(&self, state: State, to: Option<&Cell>, at: &Cell, change: &Change, scope: &Scope) -> Vec<State> {
        let form = self.form;
        let known = |term: &Term| value(form, term, &state.values, scope);
        let outcomes = match change {
            Change::Cas(expected, new) => {
                let failed = match known(expected) {
                    Value::Is(number) => Value::Not(number),
                    _ => Value::Any,
                };
                vec![(known(expected), Some(new)), (failed, None)]
            }
            Change::Exchange(new) => vec![(Value::Any, Some(new))],
            Change::Add(_) => vec![(if is_positive(form, at.var) { Value::Not(0) } else { Value::Any }, None)],
        };
        let outcome = |(old, stored): (Value, Option<&Term>)| {
            let state = self.accessed(state.clone(), at, stored, scope);
            match to {
                Some(to) => self.assigned(state, to, old, scope),
                None => state,
            }
        };
        outcomes.into_iter().map(outcome).collect()
    }
}

/// Adds what is not known yet.
fn put<T: PartialEq>(known: &mut Vec<T>, one: T) {
    if !known.contains(&one) {
        known.push(one);
    }
}

fn is_this(scope: &Scope, binder: Binder) -> bool {
    scope.iter().rev().find(|(known, _)| *known == binder).is_some_and(|(_, this)| *this)
}

/// Whether a shared variable is a scalar that starts above zero and only grows.
pub(super) fn is_positive(form: &Form, var: VarNo) -> bool {
    let mut grows = form.vars[var].shared && form.vars[var].len == Len::Scalar;
    grows &= form.vars[var].init.is_some_and(|init| init > 0);
    form.for_each_step(&mut |step| match &step.kind {
        StepKind::Store(to, _) | StepKind::Rollback(to, _) => grows &= to.var != var,
        StepKind::Rmw { at, change, .. } if at.var == var => {
            grows &= matches!(change, Change::Add(by) if by.number().is_some_and(|by| by >= 0));
        }
        _ => {}
    });
    grows
}
