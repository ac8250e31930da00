//! One file per command. A command gathers what it needs, has it computed, prints the result and returns the exit code.

pub mod aut;
pub mod certify;
pub mod check;
pub mod checkpoint;
pub mod cluster;
mod cluster_checkpoint;
pub mod compare;
pub mod explore;
pub mod export;
pub mod fence;
pub mod generate;
pub mod history;
pub mod library;
pub mod litmus;
pub mod litmus_generate;
mod litmus_graphs;
pub mod merge;
pub mod models;
pub mod outcomes;
pub mod replay;
pub mod spec;
pub mod tables;
pub mod view;

use cyrano_engine::Verdict;
use cyrano_report::{Results, RunReport};

use crate::args::{Format, OutputArgs};
use crate::console;

/// The exit code of several verdicts: that of the gravest.
fn exit_code(verdicts: impl IntoIterator<Item = Verdict>) -> u8 {
    let gravest = verdicts.into_iter().max_by_key(|verdict| verdict.gravity());
    gravest.map_or(Verdict::Vacuous.exit_code(), Verdict::exit_code)
}

/// The exit code of a run. A shard may have nothing to do; what nobody has done counts as undecided.
fn exit_code_of(report: &RunReport<'_>, missing: bool) -> u8 {
    match report.results {
        results if results.is_empty() && report.shard.is_some() && !missing => Verdict::Verified.exit_code(),
        Results::Checks(checks) => {
            let missing = missing.then_some(Verdict::Unknown);
            exit_code(checks.iter().map(|check| check.verdict).chain(missing))
        }
        Results::Litmus(tests) => litmus::exit_code(tests, missing),
    }
}

/// A run in the form that the user wants; `joined` if it is several of them.
fn render(report: &RunReport<'_>, exit: u8, output: &OutputArgs, joined: bool) -> String {
    match output.format {
        Format::Json => report.to_json(),
        Format::Sarif => report.to_sarif(exit, joined),
        Format::Junit => report.to_junit(joined),
        Format::Text => report.to_text(!output.quiet, console::style(output)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_verdict_counts() {
        use Verdict::{Bounded, Unknown, Vacuous, Verified, Violated};
        let check = |verdicts: &[Verdict], code: u8| assert_eq!(exit_code(verdicts.iter().copied()), code);
        check(&[Verified, Violated, Unknown], 1);
        check(&[Verified, Unknown, Bounded], 3);
        check(&[Bounded, Vacuous], 4);
        check(&[Vacuous, Verified], 5);
        check(&[Verified], 0);
        check(&[], 5);
    }
}
