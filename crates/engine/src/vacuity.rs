//! When a check that found nothing wrong has shown nothing: the rules that all engines share.
//!
//! - Assertions are exercised if one was evaluated, or an atomic section can wait (then deadlocks were looked for); or if something in the source can go
//!   wrong and some execution ends: it ended without that, whether by a branch around it or because lowering had settled it. An assertion can go
//!   wrong, and so can an access through a pointer and an access to an object that is freed. Where no execution ends and none evaluates an
//!   assertion, all of them may be stuck before it.
//! - Observations are exercised if something is observed and some execution ends.
//! - A condition on final states is exercised if some execution ends.
//! - An invariant that names points is exercised if some thread is seen at one of them.
//! - Races are looked for if two threads have accesses to one location, and one of them can write, and the model allows some execution, be it one that never ends.
//! - Transactions are exercised if some transaction commits after a finished read, and some after a store or a write that is done, not necessarily the same
//!   ([`idle_transactions`]). Nothing is asked for that no command or client does.

use std::collections::BTreeSet;

use cyrano_ir::{Access, Addr, LocId, Method, Op, Program, Tags, TxEvent, UnOp};

/// The program has nothing that could fail.
pub const NO_ASSERTION: &str = "nothing to check: there is no assertion and no pointer, and no atomic section can wait";
/// It has, but no execution gets there.
pub const NO_ASSERTION_REACHED: &str = "no execution ends, and none reaches an assertion";
/// The operations of a test have no results and no arguments that are observed.
pub const NOTHING_OBSERVED: &str = "nothing to check: the test observes nothing";
/// All executions are left out by an `assume`.
pub const NO_EXECUTION: &str = "an `assume` fails in every execution";
/// The model forbids everything that the program could do.
pub const NONE_ALLOWED: &str = "the model allows no execution";
/// The invariant is about statements that nobody comes to.
pub const NO_POINT_REACHED: &str = "no execution comes to a statement that the invariant names";
/// No two threads touch the same.
pub const NO_CONFLICT: &str = "nothing to check: no two threads access a location that one of them writes";
/// Nobody says where an atomic block takes effect.
pub const NO_COMMIT_POINT: &str = "an atomic block has no commit point";
/// Blocks are not exercised.
pub const NO_BLOCK_COMMITS: &str = "no atomic block ever commits";
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

/// Whether two threads have accesses to one location of which one can write; the setup thread apart.
pub fn can_conflict(program: &Program) -> bool {
    let mut touched = vec![(BTreeSet::new(), BTreeSet::new()); program.locations.len()];
    for thread in program.thread_ids().filter(|thread| Some(*thread) != program.setup) {
        for access in program.thread(thread).code.iter().filter_map(|instr| instr.op.access()) {
            for cell in program.cells(&access.addr) {
                touched[cell].0.insert(thread);
                touched[cell].1.extend(access.kind.writes().then_some(thread));
            }
        }
    }
    touched.iter().any(|(all, writing)| all.len() > 1 && !writing.is_empty())
}

fn follows_pointer(op: &Op) -> bool {
    let follows = |expr: &cyrano_ir::LocalExpr| expr.applies(UnOp::Target);
    match op {
        Op::Assign { value, .. } if follows(value) => true,
        op => matches!(op.addr(), Some(Addr::Indexed { index, .. }) if follows(index)),
    }
}

/// What transactions have been seen doing.
#[derive(Clone, Copy, Default, Debug)]
pub struct Did {
    /// One committed.
    pub committed: bool,
    /// A read finished.
    pub read: bool,
    /// One stored, or a write was done.
    pub stored: bool,
    /// One committed after a finished read.
    pub committed_read: bool,
    /// One committed after a store or a write that was done.
    pub committed_store: bool,
}

/// What is said of stores, or of writes.
struct Words {
    never: &'static str,
    uncommitted: &'static str,
    neither: &'static str,
}

const STORES: Words = Words {
    never: "no transaction ever stores",
    uncommitted: "no transaction commits after a store",
    neither: "no transaction commits after a finished read or a store",
};
const WRITES: Words = Words {
    never: "no write of a transaction ever succeeds",
    uncommitted: "no transaction commits after a write",
    neither: "no transaction commits after a finished read or a write",
};

/// What no transaction does before it commits, though the program could: then nothing was exercised.
pub fn idle_transactions(program: &Program, did: Did) -> Option<&'static str> {
    let calls = program.has_calls();
    let (read, store) = wanted(program);
    let words = if calls { WRITES } else { STORES };
    if !did.committed {
        return Some("no transaction ever commits");
    }
    if !calls && !store {
        return Some("no command stores to a transactional variable, so nothing can go wrong");
    }
    if calls && !read && !store {
        return Some("no client reads or writes");
    }
    if read && !did.read {
        return Some("no read of a transaction ever finishes");
    }
    if store && !did.stored {
        return Some(words.never);
    }
    match (!read || did.committed_read, !store || did.committed_store) {
        (true, true) => None,
        (false, true) => Some("no transaction commits after a finished read"),
        (true, false) => Some(words.uncommitted),
        (false, false) => Some(words.neither),
    }
}

/// Whether transactions of a program can read, and whether they can store or write.
pub fn wanted(program: &Program) -> (bool, bool) {
    let calls = |wanted: Method| has(program, |op| matches!(op, Op::Invoke { method, .. } if *method == wanted));
    match program.has_calls() {
        true => (calls(Method::Read), calls(Method::Write)),
        false => (has(program, |op| matches!(op, Op::Transaction(TxEvent::ReadFinish))), stores(program)),
    }
}

/// Whether a program can store to a transactional variable.
fn stores(program: &Program) -> bool {
    let data = |addr: &Addr| match addr {
        Addr::Fixed(loc) => program.transactional.contains(loc),
        Addr::Indexed { array, .. } => {
            let array = &program.arrays[array.index()];
            let inside = |loc: &LocId| (array.base.0..array.base.0 + array.len).contains(&loc.0);
            program.transactional.iter().any(inside)
        }
    };
    has(program, |op| {
        let writes = |access: &&Access| access.kind.writes() && !access.tags.contains(Tags::ROLLBACK);
        op.access().filter(writes).is_some_and(|access| data(&access.addr))
    })
}

fn has(program: &Program, wanted: impl Fn(&Op) -> bool) -> bool {
    program.threads.iter().flat_map(|thread| &thread.code).any(|instr| wanted(&instr.op))
}
