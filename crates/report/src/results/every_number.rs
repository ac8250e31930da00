//! Verdicts about every number of threads, and the sizes of instances, which may be any.

use std::collections::BTreeMap;
use std::fmt;

use cyrano_engine::{Stats, Verdict};
use cyrano_trace::number::{Values, Written};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::style::count;

/// A size of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A number.
    Number(i128),
    /// Every number; written `*`.
    Every,
}

const EVERY: &str = "*";

impl From<i128> for Size {
    fn from(number: i128) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Every => f.write_str(EVERY),
        }
    }
}

impl From<Size> for Written {
    fn from(size: Size) -> Self {
        match size {
            Size::Number(number) => number.into(),
            Size::Every => Self::Text(EVERY.to_owned()),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Text(every) if every == EVERY => Ok(Self::Every),
            number => i128::from_document(number).map(Self::Number).ok_or_else(|| D::Error::custom("it is no number")),
        }
    }
}

/// How a check was decided for every number of threads, or what was tried.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EveryNumberReport {
    /// The size of the views that were looked at last; 0 if none were.
    pub k: usize,
    /// How many there are.
    pub views: u64,
    /// How many threads the smallest instance has that is violated.
    pub threads: Option<usize>,
    /// How many of these are members of each family.
    pub members: BTreeMap<String, usize>,
}

impl EveryNumberReport {
    /// In words, if they say more than the verdict.
    pub(crate) fn sentence(&self, verdict: Verdict, stats: Option<&Stats>) -> Option<String> {
        if verdict == Verdict::Verified {
            let seconds = stats.map_or(0.0, |stats| stats.seconds);
            let how = format!("views of k = {}: {} views, {seconds:.1} s", self.k, count(self.views));
            return Some(format!("verified for every number of threads ({how})"));
        }
        let threads = self.threads?;
        let members: Vec<String> = self.members.iter().map(|(name, number)| format!("{number} `{name}`")).collect();
        let members = if members.len() > 1 { format!(" ({})", members.join(", ")) } else { String::new() };
        Some(format!("violated with {threads} thread{}{members}", if threads == 1 { "" } else { "s" }))
    }
}
