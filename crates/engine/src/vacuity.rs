//! When a check that found nothing wrong has shown nothing: the rules that all engines share.
//!
//! - Assertions are exercised if one was evaluated, or an atomic section can wait (then deadlocks were looked for); or if something in the source can go
//!   wrong and some execution ends: it ended without that, whether by a branch around it or because lowering had settled it. An assertion can go
//!   wrong, and so can an access through a pointer and an access to an object that is freed. Where no execution ends and none evaluates an
//!   assertion, all of them may be stuck before it.
//! - Observations are exercised if something is observed and some execution ends.
//! - A condition on final states is exercised if some execution ends.

use cyrano_ir::{Addr, Op, Program, UnOp};

/// The program has nothing that could fail.
pub const NO_ASSERTION: &str = "nothing to check: there is no assertion and no pointer, and no atomic section can wait";
/// It has, but no execution gets there.
pub const NO_ASSERTION_REACHED: &str = "no execution ends, and none reaches an assertion";
/// The operations of a test have no results and no arguments that are observed.
pub const NOTHING_OBSERVED: &str = "nothing to check: the test observes nothing";
/// There is no final state.
pub const NO_END: &str = "no execution ends";

/// Whether something in the source can go wrong: an assertion, also one that lowering has settled, or an access to memory.
pub fn can_go_wrong(program: &Program) -> bool {
    let mut code = program.threads.iter().flat_map(|thread| &thread.code);
    let asserts = |op: &Op| matches!(op, Op::Assert { .. });
    !program.settled.is_empty()
        || program.has_headers()
        || code.any(|instr| asserts(&instr.op) || follows_pointer(&instr.op))
}

fn follows_pointer(op: &Op) -> bool {
    let follows = |expr: &cyrano_ir::LocalExpr| expr.applies(UnOp::Target);
    match op {
        Op::Assign { value, .. } if follows(value) => true,
        op => matches!(op.addr(), Some(Addr::Indexed { index, .. }) if follows(index)),
    }
}
