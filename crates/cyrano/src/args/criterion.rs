//! Criteria on the command line: the known ones, and `serializability-by-NAME` for the orders that a file declares.

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use cyrano_ir::OrderName;

use super::Criterion;

/// Reads a criterion.
#[derive(Clone, Copy, Debug)]
pub struct CriterionParser;

impl TypedValueParser for CriterionParser {
    type Value = Criterion;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Criterion, Error> {
        let order = value.to_str().and_then(OrderName::from_criterion);
        match order {
            Some(order) => Ok(Criterion::InOrder(order)),
            None => EnumValueParser::<Criterion>::new().parse_ref(cmd, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        // The known ones; the list is made anew, for the parser that makes it does not live long enough.
        let known = <Criterion as clap::ValueEnum>::value_variants();
        Some(Box::new(known.iter().filter_map(clap::ValueEnum::to_possible_value)))
    }
}
