//! Which locals of a method belong to one round of a loop.
//!
//! Where threads go on for ever, the versions of two locations are kept apart only if they never pass through one register
//! (`cyrano_ir::dataflow::Clocks`). So each round of an unrolled loop has registers of its own for the locals that no other round looks
//! at: those that are read only in loops, and there only after they were assigned in the same round.

use crate::rules::algorithm::for_each_name;
use crate::syntax::tree::*;

/// Whether every read of a local is in an outermost loop of the method and follows an assignment in the same round.
pub(crate) fn is_of_a_round(method: &Method, local: &str) -> bool {
    outside(&method.body, local)
}

/// Looks at statements outside of loops: none of them reads the local.
fn outside(stmts: &[Stmt], local: &str) -> bool {
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Skip => true,
        StmtKind::Assign(_, rhs) | StmtKind::Do(rhs) | StmtKind::Return(rhs) => !reads(rhs, local),
        StmtKind::If { arms, otherwise } => {
            let arms = arms.iter().all(|(cond, body)| !mentions(cond, local) && outside(body, local));
            arms && otherwise.as_ref().is_none_or(|body| outside(body, local))
        }
        StmtKind::Foreach(foreach) => inside(&foreach.body, local, false).is_some(),
    })
}

/// Goes through a round, in which the local is `assigned` or not: whether it is afterwards, or none if it is read before.
fn inside(stmts: &[Stmt], local: &str, mut assigned: bool) -> Option<bool> {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(name, rhs) => {
                if !assigned && reads(rhs, local) {
                    return None;
                }
                assigned |= name.text == local;
            }
            StmtKind::Do(rhs) | StmtKind::Return(rhs) => {
                if !assigned && reads(rhs, local) {
                    return None;
                }
            }
            StmtKind::If { arms, otherwise } => {
                let mut after = otherwise.is_some() || assigned;
                for (cond, body) in arms {
                    if !assigned && mentions(cond, local) {
                        return None;
                    }
                    after &= inside(body, local, assigned)?;
                }
                if let Some(body) = otherwise {
                    after &= inside(body, local, assigned)?;
                }
                assigned = after;
            }
            StmtKind::Foreach(foreach) => {
                inside(&foreach.body, local, assigned)?;
            }
        }
    }
    Some(assigned)
}

fn reads(rhs: &Rhs, local: &str) -> bool {
    match rhs {
        Rhs::Expr(expr) => mentions(expr, local),
        Rhs::Call(_, args) | Rhs::New(_, args) => args.iter().any(|arg| mentions(arg, local)),
        Rhs::Access(access) => {
            let parts = access.index.iter().chain(&access.args);
            access.object.text == local || { parts }.any(|part| mentions(part, local))
        }
    }
}

fn mentions(expr: &Expr, local: &str) -> bool {
    let mut found = false;
    for_each_name(expr, &mut |name| found |= name.text == local);
    found
}
