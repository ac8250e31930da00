//! The set of views is closed: every view with every member that is seen beside it, all their steps, and the views of what follows.

use cyrano_engine::Limits;
use cyrano_engine::configuration::View;
use cyrano_engine::counts::{Counting, witness};
use cyrano_ir::{EvalError, Property, StateExpr, StateVar};
use rustc_hash::{FxHashMap, FxHashSet};

use super::parts::{Global, Parts};
use crate::check::Refused;
use crate::judge::Seen;

/// A set of views under check.
pub(super) struct Closure<'a, 'c> {
    pub parts: &'a mut Parts<'c>,
    pub k: usize,
    pub limits: &'a Limits,
    views: FxHashSet<(usize, Vec<usize>)>,
    /// The members that are seen with each global part.
    beside: FxHashMap<usize, FxHashSet<usize>>,
}

impl<'a, 'c> Closure<'a, 'c> {
    pub fn new(parts: &'a mut Parts<'c>, k: usize, limits: &'a Limits) -> Self {
        Self { parts, k, limits, views: FxHashSet::default(), beside: FxHashMap::default() }
    }

    pub fn add(&mut self, view: View) {
        let global = Global { memory: view.memory, fixed: view.fixed, serial: view.serial };
        let global = self.parts.globals.number(global);
        let mut members: Vec<usize> =
            view.members.into_iter().map(|member| self.parts.members.number(member)).collect();
        members.sort_unstable();
        self.beside.entry(global).or_default().extend(&members);
        self.views.insert((global, members));
    }

    pub fn run(&mut self) -> Result<(), Box<Refused>> {
        self.beginning()?;
        let mut seen: FxHashSet<(usize, Vec<usize>)> = FxHashSet::default();
        let views: Vec<(usize, Vec<usize>)> = self.views.iter().cloned().collect();
        for (global, members) in views {
            self.look()?;
            for other in self.candidates(global) {
                let together = (global, with(&members, other));
                if self.stands_for(global, &together.1) && seen.insert(together.clone()) {
                    self.configuration(global, &together.1)?;
                }
            }
        }
        Ok(())
    }

    /// A limit of time.
    pub fn look(&self) -> Result<(), Box<Refused>> {
        let Some(stop) = self.limits.exceeded(0) else { return Ok(()) };
        let reason = format!("it was not checked to its end: {}", stop.reason());
        Err(Box::new(Refused { stopped: Some(stop), ..*self.parts.refused(reason, None) }))
    }

    /// The members that may be there with a global part.
    pub fn candidates(&self, global: usize) -> Vec<usize> {
        let mut all: Vec<usize> = self.beside.get(&global).into_iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether all views of these members are in the set, and there can be such members; of fewer than k nothing is known.
    pub fn stands_for(&self, global: usize, members: &[usize]) -> bool {
        self.parts.is_possible(global, members) && self.has_all(global, members, &mut Vec::new())
    }

    fn has_all(&self, global: usize, left: &[usize], chosen: &mut Vec<usize>) -> bool {
        if chosen.len() == self.k {
            return self.views.contains(&(global, chosen.clone()));
        }
        (0..left.len()).all(|at| {
            chosen.push(left[at]);
            let has = self.has_all(global, &left[at + 1..], chosen);
            chosen.pop();
            has
        })
    }

    /// Every combination of initial members is in the set.
    fn beginning(&mut self) -> Result<(), Box<Refused>> {
        let (globals, members) = self.parts.initial(&mut Seen::default())?;
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..self.k {
            let longer = |some: &Vec<usize>| members.iter().map(|member| with(some, *member)).collect::<Vec<_>>();
            chosen = chosen.iter().flat_map(longer).collect();
            chosen.sort_unstable();
            chosen.dedup();
        }
        for global in globals {
            for view in &chosen {
                if self.parts.is_possible(global, view) && !self.views.contains(&(global, view.clone())) {
                    let leads_to = Some(self.parts.show().view(&self.parts.view(global, view)));
                    let reason = "a view of an initial state is not in the certificate";
                    return Err(Box::new(Refused { leads_to, ..*self.parts.refused(reason, None) }));
                }
            }
        }
        Ok(())
    }

    /// Nothing is wrong in a configuration of k + 1 members, and the views of what follows are there.
    fn configuration(&mut self, global: usize, members: &[usize]) -> Result<(), Box<Refused>> {
        self.moment(global, members)?;
        for at in 0..members.len() {
            let rest = [&members[..at], &members[at + 1..]].concat();
            for (next, moved) in self.parts.after(global, Some(members[at]))?.iter() {
                let together = moved.map_or_else(|| rest.clone(), |moved| with(&rest, moved));
                self.follows((global, members), *next, &together)?;
            }
        }
        for (next, _) in self.parts.after(global, None)?.iter() {
            self.follows((global, members), *next, members)?;
        }
        Ok(())
    }

    fn follows(&self, from: (usize, &[usize]), next: usize, members: &[usize]) -> Result<(), Box<Refused>> {
        if !self.parts.is_possible(next, members) {
            return Ok(());
        }
        for at in 0..members.len() {
            let view = [&members[..at], &members[at + 1..]].concat();
            if self.parts.is_possible(next, &view) && !self.views.contains(&(next, view.clone())) {
                let reason = "a step leads out of the set: a view of what comes of it is not in the certificate";
                let leads_to = Some(self.parts.show().view(&self.parts.view(next, &view)));
                let refused = self.parts.refused(reason, Some((from.0, from.1.to_vec())));
                return Err(Box::new(Refused { leads_to, ..*refused }));
            }
        }
        Ok(())
    }

    /// The invariant holds with these members, and so many are enough to see where it does not.
    fn moment(&self, global: usize, members: &[usize]) -> Result<(), Box<Refused>> {
        let Some(Property::Invariant(invariant)) = self.parts.certificate.property() else { return Ok(()) };
        let mut part = Part { parts: self.parts, global, members };
        let here = || Some((global, members.to_vec()));
        let holds = part.value(&invariant.cond).is_ok_and(|value| value != 0);
        if !holds {
            let why = format!("the invariant {} does not hold in a configuration that the views allow", invariant.text);
            return Err(self.parts.refused(why, here()));
        }
        match witness(&invariant.cond, false, &mut part) {
            Some(needs) if needs <= self.k + 1 => Ok(()),
            _ => Err(self.parts.refused("these views are too small for the invariant", here())),
        }
    }
}

/// Part of a configuration, as an invariant sees it.
struct Part<'a, 'c> {
    parts: &'a Parts<'c>,
    global: usize,
    members: &'a [usize],
}

impl Part<'_, '_> {
    fn variable(&self, var: &StateVar) -> Result<i128, EvalError> {
        let (program, global) = (self.parts.program(), &self.parts.globals.all[self.global]);
        let fixed = super::parts::fixed_threads(program);
        let lane = |thread| fixed.iter().position(|other| *other == thread).map(|at| &global.fixed[at].lane);
        match var {
            StateVar::Loc(loc) => Ok(global.memory[loc.index()]),
            StateVar::Reg(thread, register) => match lane(*thread).map(|lane| lane.registers[register.index()]) {
                Some(cyrano_engine::configuration::Value::Known(value)) => Ok(value),
                _ => Err(EvalError::Undefined),
            },
            StateVar::At(point) => {
                let point = program.point(*point);
                if let Some(lane) = lane(point.thread) {
                    return Ok(point.has(lane.pc).into());
                }
                let stands = |member: &&usize| {
                    self.parts.thread_of(**member) == point.thread
                        && point.has(self.parts.members.all[**member].1.lane.pc)
                };
                Ok(self.members.iter().filter(stands).count() as i128)
            }
        }
    }
}

impl Counting for Part<'_, '_> {
    fn is_count(&self, var: &StateVar) -> bool {
        let program = self.parts.program();
        let of_family = |thread| program.families.iter().any(|family| family.thread == thread);
        matches!(var, StateVar::At(point) if of_family(program.point(*point).thread))
    }

    fn value(&mut self, expr: &StateExpr) -> Result<i128, EvalError> {
        expr.eval(&mut |var| self.variable(var))
    }

    fn is_form(&self) -> bool {
        false
    }
}

/// These and one more, ascending.
pub(super) fn with(members: &[usize], more: usize) -> Vec<usize> {
    let mut all = [members, &[more]].concat();
    all.sort_unstable();
    all
}
