//! P2 and P3 of the reduction theorem (FOIL, section 8) for every number of threads and variables at once, by proofs on the text of an stm.
//!
//! A size is checked by the explorer, one at a time ([`cyrano_criteria::structure`] has the definitions). Here the text is looked at, in which threads and
//! variables are parameters: [`form`] is what is looked at, [`renaming`] has the proof of P2 and [`projection`] that of P3, each with its
//! argument; both rest on what [`focus`] finds out about one thread and one variable of many. A proof that does not go through says what
//! stands in its way and where; that is no counterexample.
//!
//! **Scope.** An stm without values and with the most general client, under a model that keeps all accesses in order: where stores are deferred, they
//! may be performed when their transaction has committed, and then none of the arguments holds.

mod build;
mod focus;
mod form;
mod projection;
mod renaming;
mod values;

use cyrano_ir::Span;

use crate::report::Reports;
use crate::syntax::parser::parse;

/// What stands in the way of a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// Where.
    pub span: Span,
    /// What it is.
    pub what: String,
}

/// What can be shown, or what stands in the way, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proofs {
    /// P2, `thread-symmetry`, and how it was shown.
    pub renaming: Result<&'static str, Vec<Obstacle>>,
    /// P3 as the theorem needs it, `settled-projection`, and how it was shown.
    pub projection: Result<&'static str, Vec<Obstacle>>,
}

/// The proofs for the stm of a text that compiles; none if it is no stm without values and with the most general client.
pub fn prove(source: &str, set: &[(String, i128)]) -> Option<Proofs> {
    let mut reports = Reports::default();
    let file = parse(source, &mut reports);
    if !reports.is_empty() || file.stm().is_none() || file.has_values() || file.client.is_some() {
        return None;
    }
    let (form, unclear) = build::build(&file, set);
    let with = |shown: Result<&'static str, Vec<Obstacle>>| {
        let mut obstacles = [unclear.clone(), shown.clone().err().unwrap_or_default()].concat();
        obstacles.sort_by_key(|obstacle| (obstacle.span.start, obstacle.what.clone()));
        obstacles.dedup();
        if obstacles.is_empty() { shown } else { Err(obstacles) }
    };
    Some(Proofs { renaming: with(renaming::prove(&form)), projection: with(projection::prove(&form)) })
}
