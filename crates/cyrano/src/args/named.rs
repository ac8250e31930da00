//! Values that others know by name: reductions, papers, and criteria with `serializability-by-NAME` for the orders that a file declares and
//! `spec:NAME` for specifications.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use cyrano_criteria::table::{self, CRITERIA, Claim};
use cyrano_ir::TxCriterion;
use cyrano_session::{ALL, EngineName, REDUCTIONS, Reduction};
use cyrano_tables::{PAPERS, Paper};

/// Reads one of these names.
fn one_of<T: Clone + Send + Sync + 'static>(
    known: impl Iterator<Item = (&'static str, &'static str)>,
    find: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let known = known.map(|(name, what)| PossibleValue::new(name).help(what));
    PossibleValuesParser::new(known).map(move |name| find(&name).expect("only known names are possible"))
}

/// Reads a reduction.
pub fn reduction() -> impl TypedValueParser<Value = &'static Reduction> {
    let known = REDUCTIONS.iter().chain([&ALL]).map(|reduction| (reduction.name, reduction.what));
    one_of(known, cyrano_session::reduction)
}

/// Reads the name of a paper.
pub fn paper() -> impl TypedValueParser<Value = &'static Paper> {
    let known = PAPERS.iter().map(|paper| (paper.name, paper.what));
    one_of(known, |name| PAPERS.iter().find(|paper| paper.name == name))
}

/// Reads the name of an engine; `auto` is none.
pub fn engine() -> impl TypedValueParser<Value = Option<EngineName>> {
    let auto = ("auto", "explore where it is exact, else symbolic, else interp");
    let known = EngineName::ALL.into_iter().map(EngineName::told);
    let find = |name: &str| Some(EngineName::ALL.into_iter().find(|engine| engine.told().0 == name));
    one_of([auto].into_iter().chain(known), find)
}

/// Reads a criterion that a history can be judged by.
fn of_histories() -> impl TypedValueParser<Value = TxCriterion> {
    let known = table::Criterion::of_histories().map(|(criterion, _)| (criterion.name, criterion.holds));
    one_of(known, TxCriterion::from_name)
}

/// Reads a criterion that a history can be judged by, or a specification.
#[derive(Clone, Copy, Debug)]
pub struct HistoryCriterionParser;

impl TypedValueParser for HistoryCriterionParser {
    type Value = TxCriterion;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<TxCriterion, Error> {
        let known = value.to_str().and_then(TxCriterion::from_name);
        let spec = known.filter(|criterion| matches!(criterion, TxCriterion::Spec(_)));
        spec.map_or_else(|| of_histories().parse_ref(cmd, arg, value), Ok)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = table::Criterion::of_histories();
        Some(Box::new(known.map(|(known, _)| PossibleValue::new(known.name).help(known.holds))))
    }
}

/// Reads a criterion that has a name of its own.
pub fn criterion() -> impl TypedValueParser<Value = Claim> {
    one_of(CRITERIA.iter().map(|criterion| (criterion.name, criterion.holds)), Claim::from_name)
}

/// Reads any criterion.
#[derive(Clone, Copy, Debug)]
pub struct CriterionParser;

impl TypedValueParser for CriterionParser {
    type Value = Claim;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Claim, Error> {
        let known = value.to_str().and_then(Claim::from_name);
        known.map_or_else(|| criterion().parse_ref(cmd, arg, value), Ok)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(CRITERIA.iter().map(|known| PossibleValue::new(known.name).help(known.holds))))
    }
}
