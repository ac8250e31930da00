//! The check: a set of states is closed under single steps, and nothing in it contradicts the claim.
//!
//! The states are looked at in the order in which steps from the initial ones come to them, so that what is exercised is known of reachable states only; those that
//! are left over are looked at afterwards, for a set with a wrong state in it is not accepted even if nobody comes there.

use cyrano_engine::configuration::{Product, Serial};
use cyrano_engine::{Limits, Query, Question, Stop};
use cyrano_interp::steps::{Beyond, Step, Steps};
use cyrano_ir::Property;

use crate::judge::{self, Judge, Seen, Wrong};
use crate::show::{self, Shown};
use crate::{Certificate, every, races, serial, state};

/// What was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The states of the set.
    pub states: usize,
    /// Those that steps lead to.
    pub reached: usize,
    /// The steps that were taken.
    pub steps: u64,
    /// How many of the reached states are final.
    pub ended: u64,
}

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refused {
    /// The reason, a sentence.
    pub reason: String,
    /// The state where it shows.
    pub state: Option<Shown>,
    /// The step from it.
    pub step: Option<String>,
    /// Where the step leads.
    pub leads_to: Option<Shown>,
    /// The limit that stopped the check, if one did: then nothing is known.
    pub stopped: Option<Stop>,
}

impl Refused {
    fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }
}

/// Checks a certificate within limits of time.
pub fn check(certificate: &Certificate, limits: &Limits) -> Result<Checked, Box<Refused>> {
    let refused = |why: String| Box::new(Refused::because(why));
    let property = certificate.property().ok_or_else(|| refused("it claims nothing".into()))?;
    let program = &certificate.program;
    match &certificate.every_number {
        Some(every) => return every::check(certificate, every, property, limits),
        None if !program.families.is_empty() => return Err(refused("it has no views of a family of threads".into())),
        None => {}
    }
    let mut closure = Closure::new(certificate, property, limits)?;
    closure.run()?;
    match closure.judge.unexercised(&closure.seen) {
        Some(nothing) => Err(refused(format!("nothing is wrong, but nothing was exercised either: {nothing}"))),
        None => Ok(Checked {
            states: certificate.states.len(),
            reached: closure.reached.iter().filter(|reached| **reached).count(),
            steps: closure.taken,
            ended: closure.seen.ended,
        }),
    }
}

struct Closure<'c> {
    certificate: &'c Certificate,
    judge: Judge<'c>,
    steps: Steps<'c>,
    limits: &'c Limits,
    seen: Seen,
    reached: Vec<bool>,
    todo: Vec<usize>,
    taken: u64,
    /// States that steps lead to, where they are collected and not looked up.
    more: Option<Vec<String>>,
}

/// The states that single steps lead to, at most so many, whoever asks; as an error what is wrong in one of them. A search, for tests of the check: a set that is found like
/// this proves nothing that the steps do not say themselves.
pub fn saturate(certificate: &Certificate, most: usize, limits: &Limits) -> Result<Vec<Box<str>>, Box<Refused>> {
    let refused = |why: &str| Box::new(Refused::because(why));
    let property = certificate.property().ok_or_else(|| refused("it claims nothing"))?;
    let mut closure = Closure { more: Some(Vec::new()), ..Closure::new(certificate, property, limits)? };
    let (monitor, serial) = closure.judge.initial();
    let initial = closure.steps.initial().map_err(|why| closure.beyond(None, why))?;
    closure.go(None, (&monitor, serial.as_ref()), initial)?;
    let mut known = std::collections::BTreeSet::new();
    while let Some(line) = closure.more.as_mut().and_then(Vec::pop) {
        if known.insert(line.clone().into_boxed_str()) {
            closure.look_at(&line)?;
        }
        if known.len() > most {
            return Err(Box::new(Refused { stopped: Some(Stop::Size), ..*refused("there are too many states") }));
        }
    }
    match closure.judge.unexercised(&closure.seen) {
        Some(nothing) => Err(refused(nothing)),
        None => Ok(known.into_iter().collect()),
    }
}

impl<'c> Closure<'c> {
    fn new(certificate: &'c Certificate, property: &'c Property, limits: &'c Limits) -> Result<Self, Box<Refused>> {
        let refused = |why: String| Box::new(Refused::because(why));
        let (program, model) = (&certificate.program, &certificate.model);
        Query::new(program, model, Question::Holds(property)).map_err(|why| refused(why.to_string()))?;
        let judge = Judge::new(program, property).map_err(refused)?;
        let steps = match property {
            Property::Invariant(invariant) => Steps::for_invariant(program, model, invariant),
            Property::CommitAtomicity => Steps::for_blocks(program, model),
            _ => Steps::new(program, model),
        };
        let steps = steps.map_err(|why| refused(format!("the checker is not exact here: {why}")))?;
        if let Property::Observations(allowed) = property {
            let reference = certificate.reference.as_ref().map_or(program, |reference| &reference.program);
            let serial = serial::outcomes(reference, limits).map_err(refused)?;
            if let Some(other) = allowed.iter().find(|outcome| !serial.contains(*outcome)) {
                let what = format!("the outcome {} is allowed, but no serial execution has it", judge::shown(other));
                return Err(refused(what));
            }
        }
        let (seen, reached) = (Seen::default(), vec![false; certificate.states.len()]);
        Ok(Self { certificate, judge, steps, limits, seen, reached, todo: Vec::new(), taken: 0, more: None })
    }

    fn run(&mut self) -> Result<(), Box<Refused>> {
        let initial = self.steps.initial().map_err(|why| self.beyond(None, why))?;
        let (monitor, serial) = self.judge.initial();
        self.go(None, (&monitor, serial.as_ref()), initial)?;
        while let Some(next) = self.todo.pop() {
            self.look(next)?;
        }
        // What only happens in states that nobody comes to does not count.
        let (seen, reached) = (self.seen, self.reached.clone());
        for unreached in (0..reached.len()).filter(|number| !reached[*number]) {
            self.look(unreached)?;
        }
        (self.seen, self.reached) = (seen, reached);
        Ok(())
    }

    /// Takes every step from a state of the set.
    fn look(&mut self, number: usize) -> Result<(), Box<Refused>> {
        if let Some(stop) = self.limits.exceeded(0) {
            let reason = format!("it was not checked to its end: {}", stop.reason());
            return Err(Box::new(Refused { stopped: Some(stop), ..Refused::because(reason) }));
        }
        self.look_at(&self.certificate.states[number])
    }

    fn look_at(&mut self, line: &str) -> Result<(), Box<Refused>> {
        let state = state::parse(line).map_err(|why| Box::new(Refused::because(why)))?;
        self.judge.remembers(&state).map_err(|why| self.refused(why, Some(&state)))?;
        if self.steps.has_begun(&state.at) {
            self.judge.moment(&state.at, &mut self.seen).map_err(|wrong| self.wrong(Some(&state), None, wrong))?;
        }
        let steps = self.steps.from(&state.at).map_err(|why| self.beyond(Some(&state), why))?;
        if self.judge.is_about_races() {
            let race = races::race(&self.steps, &steps).map_err(|why| self.beyond(Some(&state), why))?;
            race.map_or(Ok(()), |race| Err(self.wrong(Some(&state), None, Wrong::Violation(Box::new(race)))))?;
        }
        if steps.is_empty() {
            let end = self.steps.end(&state.at).map_err(|why| self.beyond(Some(&state), why))?;
            self.judge.end(&state.at, end, &mut self.seen).map_err(|wrong| self.wrong(Some(&state), None, wrong))?;
        }
        self.go(Some(&state), (&state.monitor, state.serial.as_ref()), steps)
    }

    /// Every one of these steps is right and leads into the set.
    fn go(
        &mut self,
        from: Option<&Product>,
        before: (&[u8], Option<&Serial>),
        steps: Vec<Step>,
    ) -> Result<(), Box<Refused>> {
        for step in steps {
            self.taken += u64::from(from.is_some());
            let next = self.judge.take(before, &step, &mut self.seen);
            let Some(mut to) = next.map_err(|wrong| self.wrong(from, Some(&step), wrong))? else { continue };
            self.judge.compare(&self.steps, &mut to).map_err(|wrong| self.wrong(from, Some(&step), wrong))?;
            self.certificate.forget(&mut to);
            let line = state::print(&to);
            if let Some(more) = &mut self.more {
                more.push(line);
                continue;
            }
            match self.certificate.states.binary_search_by(|other| (**other).cmp(&line)) {
                Ok(at) => {
                    if !std::mem::replace(&mut self.reached[at], true) {
                        self.todo.push(at);
                    }
                }
                Err(_) => return Err(self.leaves(from, &step, &to)),
            }
        }
        Ok(())
    }

    fn show(&self) -> show::Show<'_> {
        show::Show { certificate: self.certificate }
    }

    fn refused(&self, reason: impl Into<String>, state: Option<&Product>) -> Box<Refused> {
        let state = state.map(|state| self.show().state(state));
        Box::new(Refused { state, ..Refused::because(reason) })
    }

    fn leaves(&self, from: Option<&Product>, step: &Step, to: &Product) -> Box<Refused> {
        let reason = match from {
            Some(_) => "a step leads out of the set: the state after it is not in the certificate",
            None => "the initial state is not in the certificate",
        };
        let (step, leads_to) = (from.map(|_| self.show().step(step)), Some(self.show().state(to)));
        Box::new(Refused { step, leads_to, ..*self.refused(reason, from) })
    }

    fn wrong(&self, from: Option<&Product>, step: Option<&Step>, wrong: Wrong) -> Box<Refused> {
        let reason = self.show().wrong(&wrong);
        let step = step.filter(|_| from.is_some()).map(|step| self.show().step(step));
        Box::new(Refused { step, ..*self.refused(reason, from) })
    }

    fn beyond(&self, from: Option<&Product>, beyond: Beyond) -> Box<Refused> {
        self.refused(self.show().beyond(beyond), from)
    }
}
