//! One file per command. A command gathers what it needs, has it computed, prints the result and returns the exit code.

pub mod check;
pub mod compare;
pub mod explore;
pub mod export;
pub mod fence;
pub mod generate;
pub mod history;
pub mod library;
pub mod litmus;
pub mod litmus_generate;
pub mod models;
pub mod outcomes;
pub mod replay;
pub mod spec;
pub mod tables;
pub mod view;

use cyrano_engine::Verdict;

/// The exit code of several verdicts: that of the gravest.
fn exit_code(verdicts: impl IntoIterator<Item = Verdict>) -> u8 {
    let gravest = verdicts.into_iter().max_by_key(|verdict| verdict.gravity());
    gravest.map_or(Verdict::Vacuous.exit_code(), Verdict::exit_code)
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
