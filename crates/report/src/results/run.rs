//! Everything that one run says, in every form: its results, and which part of a campaign they are.

use crate::exchange::case::{self, Case};
use crate::exchange::shard::ShardReport;
use crate::exchange::{junit, sarif};
use crate::results::checks::{CheckReport, checks_text};
use crate::results::json::checks_document;
use crate::results::litmus::{LitmusReport, litmus_document, litmus_text};
use crate::style::Style;

/// What a run found out.
#[derive(Clone, Copy, Debug)]
pub enum Results<'a> {
    /// Of checks.
    Checks(&'a [CheckReport]),
    /// Of litmus tests.
    Litmus(&'a [LitmusReport]),
}

/// One run, or several that were joined.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The results.
    pub results: Results<'a>,
    /// The version of the tool.
    pub version: &'a str,
    /// Which part of a campaign this is; none if it is all there is.
    pub shard: Option<&'a ShardReport>,
}

impl Results<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Checks(checks) => checks.len(),
            Self::Litmus(tests) => tests.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl RunReport<'_> {
    /// As text; `details` asks for more than the table.
    pub fn to_text(&self, details: bool, style: Style) -> String {
        let mut out = match self.results {
            _ if self.results.is_empty() && self.shard.is_some() => String::new(),
            Results::Checks(checks) => checks_text(checks, details, style),
            Results::Litmus(tests) => litmus_text(tests, details, style),
        };
        if let Some(shard) = self.shard {
            out.push_str(&format!("{}\n", shard.sentence()));
        }
        out
    }

    /// As one JSON object.
    pub fn to_json(&self) -> String {
        match self.results {
            Results::Checks(checks) => checks_document(checks, self.version, self.shard),
            Results::Litmus(tests) => litmus_document(tests, self.version, self.shard),
        }
    }

    /// As a SARIF log; `exit` is the exit code of the run. `joined` runs say what is missing.
    pub fn to_sarif(&self, exit: u8, joined: bool) -> String {
        sarif::document(&self.cases(), exit, self.version, self.shard, self.missing(joined).as_deref())
    }

    /// As JUnit's XML. `joined` runs say what is missing.
    pub fn to_junit(&self, joined: bool) -> String {
        let missing = self.missing(joined);
        let mut cases = self.cases();
        cases.extend(missing.as_deref().map(case::of_missing));
        junit::document(&cases, self.shard)
    }

    fn cases(&self) -> Vec<Case<'_>> {
        match self.results {
            Results::Checks(checks) => checks.iter().map(case::of_check).collect(),
            Results::Litmus(tests) => tests.iter().map(case::of_litmus).collect(),
        }
    }

    fn missing(&self, joined: bool) -> Option<String> {
        self.shard.filter(|_| joined).and_then(ShardReport::missing_sentence)
    }
}
