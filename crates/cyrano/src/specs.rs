//! Specifications of transactions: by name, or in files of the user's (`docs/specifications.md`).

use std::path::Path;

use cyrano_criteria::criterion::SpecName;
use cyrano_criteria::spec::named::NAMES;
use cyrano_criteria::spec::own;
use cyrano_criteria::table::Claim;
use cyrano_ir::{TxCriterion, suggest};
use cyrano_session::{Failure, models};

use crate::source;

/// Criteria of a command line, with the specifications that they name read and known by their own names.
pub fn resolve_all(criteria: &[Claim]) -> Result<Vec<Claim>, Failure> {
    let one = |claim: &Claim| match claim {
        Claim::Transactions(criterion) => resolve_criterion(*criterion).map(Claim::Transactions),
        other => Ok(*other),
    };
    criteria.iter().map(one).collect()
}

/// The same for one criterion of histories.
pub fn resolve_criterion(criterion: TxCriterion) -> Result<TxCriterion, Failure> {
    match criterion {
        TxCriterion::Spec(spec) => Ok(TxCriterion::Spec(SpecName::new(resolve(spec.name())?))),
        other => Ok(other),
    }
}

/// The name of a specification, which may be in this file.
pub fn resolve(name: &str) -> Result<&'static str, Failure> {
    if let Some((known, _)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Ok(known);
    }
    let path = Path::new(name);
    if models::looks_like_path(name) || path.exists() {
        let source = source::file(path)?;
        let own = own::parse(&source.text).map_err(|errors| Failure::source(&source, errors))?;
        return own::register(own).map(|own| own.name.as_str()).map_err(Failure::input);
    }
    let near = suggest::closest(name, NAMES.iter().map(|(name, _)| *name));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    Err(Failure::input(format!(
        "no specification is called `{name}`; {near}There are {}; a path to a file with one will do too",
        names.join(", ")
    )))
}
