//! `reduction`: all that carries opacity from two threads and two variables to any number of them (FOIL, section 8), and what follows in words.
//!
//! The theorem and its premises are in [`cyrano_criteria::structure`] and `docs/reduction.md`. Each premise is a check of its own, at the instance that can
//! show a flaw and is small enough: projections of variables need two of them, renamings three threads. Two premises, P2 and P3, may be proven on the text of
//! the program for every size ([`cyrano_rml::parametric`]), if the model keeps all accesses in order; they are checked at their instance all the same. The
//! others are checked only, so the verdict is `bounded` at best, and its reason says what was proven, what was checked where and what is assumed.

use cyrano_engine::{Stats, Verdict, Watch};
use cyrano_ir::automorphisms::{Identities, variables};
use cyrano_ir::{AccessKind, Property, Span, Structure, TxCriterion};
use cyrano_memory::{Definition, Model};
use cyrano_report::CheckReport;
use cyrano_rml::parametric::{self, Obstacle, Proofs};

use crate::case::Case;
use crate::failure::Failure;
use crate::run::Runner;

/// A premise, with the instances at which it is checked: threads and variables. The first one that is too large is left out.
struct Premise {
    structure: Structure,
    instances: &'static [(i128, i128)],
    words: &'static str,
}

/// What the theorem needs.
const PREMISES: [Premise; 4] = [
    Premise {
        structure: Structure::Completion,
        instances: &[(2, 1)],
        words: "projection and completion of transactions (P1)",
    },
    Premise {
        structure: Structure::SequentialRenaming,
        instances: &[(3, 1)],
        words: "renaming of threads in rows (P2)",
    },
    Premise {
        structure: Structure::SettledProjection,
        instances: &[(2, 2)],
        words: "projection of variables where transactions have committed (P3)",
    },
    Premise { structure: Structure::Monotonicity, instances: &[(2, 1)], words: "monotonicity (P4)" },
];

/// What the paper would show the premises by, and P2 as it has it: told, but no premise.
const TOLD: [Premise; 4] = [
    Premise { structure: Structure::AbortIsolation, instances: &[(2, 1)], words: "" },
    Premise { structure: Structure::PendingIsolation, instances: &[(2, 1)], words: "" },
    Premise { structure: Structure::ConflictCommutativity, instances: &[(2, 1)], words: "" },
    Premise { structure: Structure::ThreadSymmetry, instances: &[(3, 1)], words: "" },
];

/// What an access can be.
const KINDS: [AccessKind; 3] = [AccessKind::Load, AccessKind::Store, AccessKind::Rmw];

/// Opacity is checked for this many threads and variables.
const BASE: (i128, i128) = (2, 2);

/// Checks the premises one after the other and says what follows.
pub fn check(runner: &Runner, case: &Case, model: &Model, watch: &dyn Watch) -> Result<CheckReport, Failure> {
    let opacity = Property::Transactions(TxCriterion::Opacity);
    let base = runner.check(&case.sized(BASE)?, &opacity, model, watch)?;
    if base.verdict != Verdict::Verified {
        let so = format!("the reduction theorem says nothing: for {} opacity is {}", at(BASE), base.verdict.name());
        return Ok(named(base, so));
    }
    let mut shown = vec![format!("opacity for {}", at(BASE))];
    let (instance, mut stats) = (base.instance.clone(), base.stats);
    let mut report = base;
    for premise in &PREMISES {
        for instance in premise.instances {
            let found = runner.check(&case.sized(*instance)?, &Property::Structure(premise.structure), model, watch)?;
            let name = premise.structure.name();
            match found.verdict {
                Verdict::Verified => shown.push(format!("{} for {}", premise.words, at(*instance))),
                Verdict::Bounded => {
                    let bound = found.reason.clone().unwrap_or_default();
                    shown.push(format!("{} for {} ({bound})", premise.words, at(*instance)));
                }
                Verdict::Violated => {
                    let so = format!(
                        "the reduction theorem says nothing: `{name}`, {}, does not hold for {}; checked before: {}",
                        premise.words,
                        at(*instance),
                        shown.join(", ")
                    );
                    return Ok(named(found, so));
                }
                Verdict::Unknown | Verdict::Vacuous => {
                    let why = found.reason.clone().unwrap_or_else(|| found.verdict.name().to_owned());
                    let so = format!(
                        "the reduction theorem says nothing: `{name}` for {} is not known: {why}",
                        at(*instance)
                    );
                    return Ok(named(CheckReport { verdict: Verdict::Unknown, ..found }, so));
                }
            }
            stats = sum(stats, found.stats);
            report = found;
        }
    }
    let text = Text::of(case, model);
    let so = format!(
        "opaque for every number of threads and variables by the reduction theorem, given {}; proven for all sizes, on the text: {}; checked: {}; \
         assumed: {} for larger sizes and longer histories; for larger sizes, too, that who aborts has undone its \
         stores before others used or overwrote them, which opacity for {} shows there only and no premise carries over; and the theorem itself, which is \
         not proven but searched for counterexamples with four loads, stores and ends of three threads, and five on three variables",
        text.given(),
        text.proven(case)?,
        shown.join(", "),
        text.assumed(),
        at(BASE),
    );
    let caveats = [text.missing, told(runner, case, model, watch)?].concat();
    Ok(named(CheckReport { verdict: Verdict::Bounded, caveats, instance, stats, ..report }, so))
}

/// Which of P2 and P3 are proven for every number of threads and variables.
pub fn proven(case: &Case, model: &Model) -> Vec<&'static str> {
    let text = Text::of(case, model);
    [("P2", text.renaming), ("P3", text.projection)]
        .into_iter()
        .filter(|(_, how)| how.is_some())
        .map(|(name, _)| name)
        .collect()
}

/// What the paper shows the premises by.
fn told(runner: &Runner, case: &Case, model: &Model, watch: &dyn Watch) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    for Premise { structure, instances, .. } in &TOLD {
        for instance in *instances {
            let found = runner.check(&case.sized(*instance)?, &Property::Structure(*structure), model, watch)?;
            words.push(format!("{} for {}: {}", structure.name(), at(*instance), found.verdict.name()));
        }
    }
    Ok(words)
}

/// What the text of the program shows, whatever the size.
struct Text {
    /// How P2 and P3 were proven.
    renaming: Option<&'static str>,
    projection: Option<&'static str>,
    /// What stands in the way of the proofs that do not go through.
    missing: Vec<String>,
}

impl Text {
    fn of(case: &Case, model: &Model) -> Self {
        let nothing = |why: String| Self { renaming: None, projection: None, missing: vec![why] };
        if !keeps_all(model) {
            let name = &model.name;
            return nothing(format!(
                "P2 and P3 for every size: the proofs on the text are for models that keep all accesses in order, and `{name}` does not"
            ));
        }
        let Some(Proofs { renaming, projection }) = parametric::prove(&case.source.text, &case.set) else {
            return nothing("P2 and P3 for every size: this is no text that the proofs are about".to_owned());
        };
        let mut missing = Vec::new();
        for (premise, proof) in [("P2", &renaming), ("P3", &projection)] {
            missing.extend(proof.as_ref().err().into_iter().flat_map(|found| obstacles(case, premise, found)));
        }
        Self { renaming: renaming.ok(), projection: projection.ok(), missing }
    }

    fn given(&self) -> &'static str {
        match (self.renaming, self.projection) {
            (Some(_), Some(_)) => "that P1 and P4, which were checked, hold for all sizes",
            (Some(_), None) => "that P1, P3 and P4, which were checked, hold for all sizes",
            (None, Some(_)) => "that P1, P2 and P4, which were checked, hold for all sizes",
            (None, None) => "that P1 to P4, which were checked, hold for all sizes",
        }
    }

    fn assumed(&self) -> &'static str {
        match (self.renaming, self.projection) {
            (Some(_), Some(_)) => "P1 and P4",
            (Some(_), None) => "P1, P3 and P4",
            (None, Some(_)) => "P1, P2 and P4",
            (None, None) => "P1 to P4",
        }
    }

    /// What was proven, and that names do not matter.
    fn proven(&self, case: &Case) -> Result<String, Failure> {
        let sized = case.sized((3, 2))?;
        let mut known = Vec::new();
        known.extend(self.renaming.map(|how| format!("renaming of threads (P2): {how}")));
        known.extend(self.projection.map(|how| format!("projection of variables (P3): {how}")));
        if Identities::of(&sized.program).is_some() {
            known.push("threads run the same code and can exchange their names".to_owned());
        }
        if !variables(&sized.program, 4).is_empty() {
            known.push("variables are treated alike and can exchange their names".to_owned());
        }
        Ok(if known.is_empty() { "nothing".to_owned() } else { known.join(", ") })
    }
}

/// Whether no access overtakes another one, so that a thread's accesses happen one after the other.
fn keeps_all(model: &Model) -> bool {
    let Definition::Reordering(pairs) = &model.definition else { return false };
    !pairs.own_order && KINDS.into_iter().all(|kind| pairs.keeps_all_after(kind))
}

/// What stands in the way of a proof, each with its places.
fn obstacles(case: &Case, premise: &str, found: &[Obstacle]) -> Vec<String> {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for Obstacle { span, what } in found {
        let place = (*span != Span::default()).then(|| {
            let (file, line) = case.source.place(*span);
            format!("{file}:{line}")
        });
        match told.iter_mut().find(|(known, _)| known == what) {
            Some((_, places)) => places.extend(place.filter(|place| !places.contains(place))),
            None => told.push((what, place.into_iter().collect())),
        }
    }
    let one = |(what, places): (&str, Vec<String>)| {
        let places = if places.is_empty() { String::new() } else { format!("{}: ", places.join(", ")) };
        format!("{premise} is not proven for every size: {places}{what}")
    };
    told.into_iter().map(one).collect()
}

/// What several checks cost.
fn sum(one: Option<Stats>, other: Option<Stats>) -> Option<Stats> {
    let (one, other) = (one?, other?);
    Some(Stats {
        states: one.states + other.states,
        transitions: one.transitions + other.transitions,
        depth: one.depth.max(other.depth),
        seconds: one.seconds + other.seconds,
        peak_bytes: one.peak_bytes.max(other.peak_bytes),
        ..Stats::default()
    })
}

fn at((threads, vars): (i128, i128)) -> String {
    format!("{threads} × {vars}")
}

fn named(report: CheckReport, so: String) -> CheckReport {
    let reason = report.reason.filter(|_| report.verdict == Verdict::Unknown).map(|why| format!(" ({why})"));
    CheckReport {
        criterion: Structure::Reduction.name().to_owned(),
        reason: Some(format!("{so}{}", reason.unwrap_or_default())),
        ..report
    }
}
