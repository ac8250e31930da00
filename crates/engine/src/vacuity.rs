//! When a check that found nothing wrong has shown nothing: the rules that all engines share.
//!
//! - Assertions are exercised if one was evaluated, or an atomic section can wait (then deadlocks were looked for); or if the source has one and
//!   some execution ends: it ended without a failed assertion, whether by a branch around it or because lowering had settled it. Where no execution ends and none evaluates an assertion, all of them
//!   may be stuck before it.
//! - Observations are exercised if something is observed and some execution ends.
//! - A condition on final states is exercised if some execution ends.

use cyrano_ir::{Op, Program};

/// The program has nothing that could fail.
pub const NO_ASSERTION: &str = "nothing to check: there is no assertion, and no atomic section can wait";
/// It has, but nobody gets there.
pub const NO_ASSERTION_REACHED: &str = "no execution ends, and none reaches an assertion";
/// The operations of a test have no results and no arguments that are observed.
pub const NOTHING_OBSERVED: &str = "nothing to check: the test observes nothing";
/// There is no final state.
pub const NO_END: &str = "no execution ends";

/// Whether the source has an assertion, also one that lowering has settled.
pub fn has_assertion(program: &Program) -> bool {
    let mut code = program.threads.iter().flat_map(|thread| &thread.code);
    !program.settled.is_empty() || code.any(|instr| matches!(instr.op, Op::Assert { .. }))
}
