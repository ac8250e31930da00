//! Which locals of a method belong to one round of a loop.
//!
//! Where threads go on for ever, the versions of two locations are kept apart only if they never pass through one register
//! (`cyrano_ir::dataflow::Clocks`). So each round of an unrolled loop has registers of its own for the locals that no other round looks
//! at: those that are read only in loops, and there only after they were assigned in the same round.

use crate::syntax::ast::{Block, Rhs, StmtKind};
use crate::syntax::objects::Method;

/// Whether every read of a local is in an outermost loop of the method and follows an assignment in the same round.
pub(crate) fn is_of_a_round(method: &Method, local: &str) -> bool {
    outside(&method.body, local)
}

/// Looks at statements outside of loops: none of them reads the local.
fn outside(block: &Block, local: &str) -> bool {
    block.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::If { arms, otherwise } => {
            let arms = arms.iter().all(|(cond, body)| !cond.mentions(local) && outside(body, local));
            arms && otherwise.as_ref().is_none_or(|body| outside(body, local))
        }
        StmtKind::Each(each) => inside(&each.body, local, false).is_some(),
        _ => stmt.rhs().is_none_or(|rhs| !reads(rhs, local)),
    })
}

/// Goes through a round, in which the local is `assigned` or not: whether it is afterwards, or none if it is read before.
fn inside(block: &Block, local: &str, mut assigned: bool) -> Option<bool> {
    for stmt in &block.stmts {
        if !assigned && stmt.rhs().is_some_and(|rhs| reads(rhs, local)) {
            return None;
        }
        match &stmt.kind {
            StmtKind::Assign(place, _) => assigned |= place.name.text == local,
            StmtKind::If { arms, otherwise } => {
                let mut after = otherwise.is_some() || assigned;
                for (cond, body) in arms {
                    if !assigned && cond.mentions(local) {
                        return None;
                    }
                    after &= inside(body, local, assigned)?;
                }
                if let Some(body) = otherwise {
                    after &= inside(body, local, assigned)?;
                }
                assigned = after;
            }
            StmtKind::Each(each) => {
                inside(&each.body, local, assigned)?;
            }
            _ => {}
        }
    }
    Some(assigned)
}

fn reads(rhs: &Rhs, local: &str) -> bool {
    let called = matches!(rhs, Rhs::Access(access) if access.object.text == local);
    called || rhs.exprs().any(|expr| expr.mentions(local))
}
