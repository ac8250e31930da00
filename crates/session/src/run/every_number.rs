//! Every number of threads: views of growing size ([`cyrano_views`]) until they prove the property, and instances of growing size until one
//! violates it.
//!
//! Each round looks at all instances with one member more, by the usual search, and then at views with one member more. Small views may allow so much that never
//! happens that larger ones are fewer; so each size gets some work only at first, and the rest if no other proves it. So a violation is one with the
//! fewest threads, with an execution that is confirmed like any other; and a proof comes with a search of the smallest instances, which must agree.
//! The instances also tell whether anything is exercised, and exclude deadlocks with few threads; with many views do, if they can ([`Found::deadlock_free`]).
//!
//! **Invariant:** `verified` is said only if views were closed, a check that shares nothing with the saturation agrees ([`Crowd::check`]), nothing was left out, no instance disagreed, and, where threads can wait and assertions are asked
//! about, deadlocks are excluded for every number of threads.

use std::time::Instant;

use cyrano_engine::{Cause, EveryNumber, Limits, Query, Question, Refusal, Stats, Stop, Verdict, Watch, limit_reason};
use cyrano_explore::members::{self, Noted};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use cyrano_report::{CheckReport, EveryNumberReport};
use cyrano_trace::{PropertyInfo, ViolationInfo};
use cyrano_views::{Crowd, End, Found, Refuted, one_of_each, threads};

use super::options::EngineName;
use super::{Runner, deferred};
use crate::case::Case;
use crate::failure::{Failure, bug};

/// The largest views, and instances have up to so many members of a family.
const LARGEST: usize = 5;

/// What one instance may take, and what views may take.
const INSTANCE_MEMORY: u64 = 256 << 20;
const VIEWS_MEMORY: u64 = 1 << 30;

/// How often views of a size look at their limits before larger ones get their turn: about 260,000 configurations.
const TURN: u64 = 64;

/// How many configurations a repetition with a larger bound may look at, at least.
const MORE_CONFIGURATIONS: u64 = 200_000;

/// Whether a property can be decided for every number of threads.
pub fn supports(case: &Case, model: &Model, property: Option<&Property>) -> Result<(), Refusal> {
    let property = property.ok_or(Refusal::EveryNumber(EveryNumber::Criterion))?;
    let program = one_of_each(&case.program);
    members::supports(&Query::new(&program, model, Question::Holds(property))?, &threads(&case.program.families))
}

impl Runner {
    /// Checks a property for every number of members of the program's families.
    pub fn check_every_number(
        &self,
        case: &Case,
        property: &Property,
        model: &Model,
        watch: &dyn Watch,
    ) -> Result<CheckReport, Failure> {
        supports(case, model, Some(property)).map_err(|why| case.refused(why))?;
        if matches!(self.engine, Some(EngineName::Graphs | EngineName::Symbolic | EngineName::Interp)) {
            return Err(case.refused("only explore looks at every number of threads; `--threads 2` takes two"));
        }
        if self.large.is_some() || self.gpu.is_some() || self.cluster.is_some() {
            let help = "`--threads 2` takes two";
            return Err(case.refused(format!("views are kept in the memory of one machine; {help}")));
        }
        let started = Instant::now();
        let mut rounds =
            Rounds { runner: self, case, property, model, watch, tried: Tried { complete: true, ..Tried::default() } };
        let mut report = rounds.run()?;
        if let Some(stats) = &mut report.stats {
            stats.seconds = started.elapsed().as_secs_f64();
        }
        Ok(report)
    }
}

/// What was tried so far.
#[derive(Default)]
struct Tried {
    /// The last views.
    views: Option<Found>,
    /// The sizes of views whose turn was over before they were closed.
    postponed: Vec<usize>,
    /// All instances with up to so many members of a family more than one of each were searched.
    instances: usize,
    /// The report about the last instance that was exercised, or else about the last.
    instance: Option<CheckReport>,
    /// Whether these searches left nothing out.
    complete: bool,
    /// Whether there are no larger instances.
    stopped: bool,
}

struct Rounds<'a> {
    runner: &'a Runner,
    case: &'a Case,
    property: &'a Property,
    model: &'a Model,
    watch: &'a dyn Watch,
    tried: Tried,
}

impl Rounds<'_> {
    fn run(&mut self) -> Result<CheckReport, Failure> {
        let program = one_of_each(&self.case.program);
        let mut proven = None;
        for size in 1..=LARGEST {
            if let Some(violated) = self.instances(size)? {
                let dead = violated.trace.as_ref().and_then(|trace| trace.violation.as_ref());
                let dead = matches!(dead, Some(ViolationInfo::Deadlock { .. }));
                if proven.is_some() && (!dead || self.deadlock_free()) {
                    let why = "views prove what an instance violates";
                    return Err(Failure::Internal(bug(&format!("{}: {why}", self.case.source.name))));
                }
                return Ok(violated);
            }
            if self.can_grow(size) {
                let limits = self.turn(size);
                self.grow(&program, size, &limits, &mut proven)?;
            }
            let exercised = self.tried.instance.as_ref().is_some_and(|report| report.verdict != Verdict::Vacuous);
            let settled = proven.is_some() && self.deadlock_free() && exercised;
            if settled || proven.is_some() && self.tried.stopped || self.runner.stopped().is_some() {
                break;
            }
        }
        for size in std::mem::take(&mut self.tried.postponed) {
            if proven.is_none() && self.runner.stopped().is_none() {
                self.grow(&program, size, &self.runner.limits.clone(), &mut proven)?;
            }
        }
        Ok(self.report(proven.as_ref()))
    }

    /// What views of a size may use before larger ones get their turn.
    fn turn(&self, size: usize) -> Limits {
        let limits = self.runner.limits.clone();
        if size < LARGEST && limits.looks.is_none() { limits.with_looks(TURN) } else { limits }
    }

    /// Looks at views of a size; `proven` under which limits is for the last ones, or those that prove it.
    fn grow(
        &mut self,
        program: &Program,
        size: usize,
        limits: &Limits,
        proven: &mut Option<Limits>,
    ) -> Result<(), Failure> {
        let (found, limits) = self.saturate(program, size, limits)?;
        let is_proven = found.end == End::Proven;
        if matches!(found.end, End::Stopped(Stop::Cancelled)) && self.runner.stopped().is_none() {
            self.tried.postponed.push(size);
        }
        if is_proven || proven.is_none() {
            self.tried.views = Some(found);
            *proven = is_proven.then_some(limits);
        }
        Ok(())
    }

    /// Whether views of this size may prove what those so far did not.
    fn can_grow(&self, size: usize) -> bool {
        match &self.tried.views {
            None => true,
            // One member more sometimes tells who cannot be there; a second does not.
            Some(found) if found.end == End::Proven => !self.deadlock_free() && size <= found.k + 1 && size <= 3,
            Some(found) => !matches!(found.end, End::Stopped(_)) || self.tried.postponed.contains(&found.k),
        }
    }

    /// Whether nobody waits for ever, whatever the number of threads, or that is not asked: with up to k members instances tell, with more views.
    fn deadlock_free(&self) -> bool {
        if *self.property != Property::Assertions || !members::can_wait(&self.case.program) {
            return true;
        }
        let few = |k: usize| self.tried.instances >= k && self.tried.complete;
        self.tried.views.as_ref().is_some_and(|found| found.deadlock_free && few(found.k))
    }

    /// Searches the instances with so many members, one of each family at least; a report if one is violated.
    fn instances(&mut self, size: usize) -> Result<Option<CheckReport>, Failure> {
        if self.tried.stopped {
            return Ok(None);
        }
        let families = self.case.program.families.len();
        let mut runner = self.runner.part(std::time::Duration::MAX, None);
        runner.limits.memory = runner.limits.memory.min(INSTANCE_MEMORY);
        for members in sums(families, families - 1 + size) {
            let instance = self.case.with_members(&members)?;
            let report = runner.check(&instance, &self.own(&instance), self.model, self.watch)?;
            if report.verdict == Verdict::Violated {
                let names = self.case.program.families.iter().map(|family| family.name.clone());
                let every_number = Some(EveryNumberReport {
                    threads: Some(instance.program.threads.len()),
                    members: names.zip(members).collect(),
                    ..self.views_report()
                });
                return Ok(Some(CheckReport { every_number, ..report }));
            }
            self.tried.stopped |= report.verdict == Verdict::Unknown;
            self.tried.complete &= matches!(report.verdict, Verdict::Verified | Verdict::Vacuous);
            let better = |old: &CheckReport| old.verdict == Verdict::Vacuous && report.verdict != Verdict::Unknown;
            if self.tried.instance.as_ref().is_none_or(better) {
                self.tried.instance = Some(report);
            }
        }
        if !self.tried.stopped {
            self.tried.instances = size;
        }
        Ok(None)
    }

    /// The property as it is of an instance: an invariant counts its members.
    fn own(&self, instance: &Case) -> Property {
        let Property::Invariant(invariant) = self.property else { return self.property.clone() };
        let claimed = instance.program.checks.iter().map(|check| &check.property);
        let same = |property: &&Property| matches!(property, Property::Invariant(own) if own.text == invariant.text);
        claimed.into_iter().find(same).expect("an instance claims what its family does").clone()
    }

    /// Views of a size, with a larger bound of deferred accesses where it stands in the way and nobody has named one. A queue that grows for ever must not use up
    /// what the run may use: each repetition may do a multiple of the work before it, and if it comes to nothing, what was found before stands.
    fn saturate(&self, program: &Program, k: usize, limits: &Limits) -> Result<(Found, Limits), Failure> {
        let mut limits = limits.clone();
        limits.memory = limits.memory.min(VIEWS_MEMORY);
        let mut found = self.views(program, k, &limits)?;
        let stopped = matches!(found.end, End::Stopped(_));
        while !stopped && found.noted.bounded && self.runner.raises && limits.deferred < deferred::MOST {
            let mut wider = limits.clone();
            wider.deferred = (limits.deferred * 2).min(deferred::MOST);
            let most = MORE_CONFIGURATIONS.max(found.configurations.saturating_mul(deferred::FACTOR));
            let granted = self.runner.limits.looks.is_some();
            let part =
                if granted { wider.clone() } else { wider.clone().with_looks(2 * most / cyrano_views::CHECK_EVERY) };
            let next = self.views(program, k, &part)?;
            if matches!(next.end, End::Stopped(_)) {
                break;
            }
            (found, limits) = (next, wider);
        }
        Ok((found, limits))
    }

    fn views(&self, program: &Program, k: usize, limits: &Limits) -> Result<Found, Failure> {
        let query = Query::new(program, self.model, Question::Holds(self.property));
        let query = query.map_err(|why| self.case.refused(why))?;
        let crowd = Crowd::new(query, &self.case.program.families, limits).map_err(|why| self.case.refused(why))?;
        let (found, views) = crowd.views(k, limits, self.watch);
        if found.end != End::Proven || found.noted != Noted::default() {
            return Ok(found);
        }
        match crowd.check(k, &views, limits) {
            Ok(_) => Ok(found),
            Err(Refuted::Stopped(stop)) => Ok(Found { end: End::Stopped(stop), ..found }),
            Err(why) => {
                let why = format!("{}: views of k = {k} are not what they should be: {why:?}", self.case.source.name);
                Err(Failure::Internal(bug(&why)))
            }
        }
    }

    fn views_report(&self) -> EveryNumberReport {
        let (k, views) = self.tried.views.as_ref().map_or((0, 0), |found| (found.k, found.views));
        EveryNumberReport { k, views, ..EveryNumberReport::default() }
    }

    /// The report where no instance is violated; `proven` under these limits.
    fn report(&self, proven: Option<&Limits>) -> CheckReport {
        let asked = PropertyInfo::from(self.property);
        let found = self.tried.views.as_ref();
        let (verdict, reason) = self.verdict(proven);
        let unreached = match (found, verdict) {
            (Some(found), Verdict::Verified) => crate::coverage::places(self.case, &found.unreached),
            _ => Vec::new(),
        };
        let stats = found.map(|found| Stats {
            states: found.views,
            transitions: found.configurations,
            peak_bytes: found.bytes,
            ..Stats::default()
        });
        CheckReport {
            model: Some(self.model.name.clone()),
            property: asked.condition,
            engine: found.map(|_| "views".to_owned()),
            stats,
            verdict,
            reason,
            unreached,
            reductions: vec!["dead-registers".to_owned(), "macro-steps".to_owned()],
            every_number: Some(self.views_report()),
            ..self.case.report(&asked.criterion)
        }
    }

    fn verdict(&self, proven: Option<&Limits>) -> (Verdict, Option<String>) {
        let unknown = |why: String| (Verdict::Unknown, Some(format!("{why}; {}", self.instances_sentence())));
        let Some(found) = &self.tried.views else {
            let stop = self.runner.stopped().map_or("no views were looked at", |stop| stop.reason());
            return unknown(stop.to_owned());
        };
        let k = found.k;
        match (&found.end, proven) {
            (End::Proven, Some(limits)) => self.proven(found, limits),
            (End::Stopped(stop), _) => {
                let hint = "do shared variables grow with the number of threads?";
                let what = format!("views of k = {k}: {} after {} views", stop.reason(), found.views);
                unknown(if *stop == Stop::Memory { format!("{what} ({hint})") } else { what })
            }
            _ => unknown(match self.runner.stopped() {
                Some(stop) => format!("views of up to k = {k} do not prove it; {}", stop.reason()),
                None => format!("views of up to k = {k} do not prove it"),
            }),
        }
    }

    /// The verdict where views are closed and nothing is wrong in them.
    fn proven(&self, found: &Found, limits: &Limits) -> (Verdict, Option<String>) {
        if found.noted.too_large {
            return (Verdict::Unknown, Some(Cause::Stopped(Stop::Size).to_string()));
        }
        if found.noted.bounded {
            return (Verdict::Bounded, Some(Cause::Deferred(limits.deferred).to_string()));
        }
        if let Some((thread, instr)) = found.noted.limited {
            return (Verdict::Bounded, Some(limit_reason(&self.case.program, thread, instr).to_string()));
        }
        match &self.tried.instance {
            Some(CheckReport { verdict: Verdict::Vacuous, reason, .. }) => {
                let reason = reason.clone().unwrap_or_default();
                (Verdict::Vacuous, Some(format!("{reason} (with up to {} threads)", self.most_threads())))
            }
            _ if !self.deadlock_free() => (Verdict::Bounded, Some(self.waits_sentence())),
            _ => (Verdict::Verified, None),
        }
    }

    /// How many threads the largest instances have that were searched.
    fn most_threads(&self) -> usize {
        match self.tried.instances {
            0 => 0,
            size => self.case.program.threads.len() - 1 + size,
        }
    }

    fn instances_sentence(&self) -> String {
        match self.most_threads() {
            0 => "no instance was searched to its end".to_owned(),
            threads => format!("instances of up to {threads} threads are not violated"),
        }
    }

    /// Why more is not said where no assertion fails.
    fn waits_sentence(&self) -> String {
        let looked = match self.most_threads() {
            0 => "deadlocks were not looked for".to_owned(),
            threads => format!("deadlocks are excluded with up to {threads} threads only"),
        };
        format!("no assertion fails with any number of threads, but threads wait, and {looked}")
    }
}

/// The ways to write `total` as a sum of so many numbers, each at least 1.
fn sums(parts: usize, total: usize) -> Vec<Vec<usize>> {
    if parts <= 1 {
        return vec![vec![total; parts]];
    }
    let first = 1..=total + 1 - parts;
    let with = |first: usize| sums(parts - 1, total - first).into_iter().map(move |rest| [vec![first], rest].concat());
    first.flat_map(with).collect()
}
