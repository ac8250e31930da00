//! The reductions of the engines, each defined once: its name, what it does, and its switch.

use cyrano_explore::Explore;
use cyrano_graphs::Graphs;
use cyrano_symbolic::Symbolic;

/// A reduction that can be switched off; verdicts stay the same.
#[derive(Debug)]
pub struct Reduction {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Switches it off.
    pub(crate) off: fn(&mut Explore, &mut Symbolic, &mut Graphs),
}

/// One word for all of them.
pub static ALL: Reduction = row("all", "All of these", |explore, symbolic, graphs| {
    REDUCTIONS.iter().for_each(|reduction| (reduction.off)(explore, symbolic, graphs));
});

/// All of them.
pub static REDUCTIONS: [Reduction; 26] = [
    row("dead-registers", "Registers that are not read again are forgotten", |e, _, _| e.dead_registers = false),
    row("macro-steps", "Threads run on to their next shared access in one step", |e, _, _| e.macro_steps = false),
    row("timestamps", "Timestamps are renumbered", |e, _, _| e.timestamps = false),
    row("thread-symmetry", "States that differ by a renaming of equal threads are one", |explore, symbolic, graphs| {
        explore.thread_symmetry = false;
        symbolic.thread_symmetry = false;
        graphs.thread_symmetry = false;
    }),
    row(
        "variable-symmetry",
        "States that differ by a renaming of transactional variables that are treated alike are one",
        |e, _, _| e.variable_symmetry = false,
    ),
    row("lazy-choices", "A choice is made only when the thread's next access is performed", |e, _, _| {
        e.lazy_choices = false
    }),
    row(
        "repeated-stores",
        "A client of a transactional memory defers at most two equal stores that it could leave out",
        |e, _, _| e.repeated_stores = false,
    ),
    row("collapsed-data", "Transactional data that decides nothing holds one value", |e, _, _| {
        e.collapsed_data = false
    }),
    row("dead-loads", "Deferred loads whose value nobody will look at are performed at once", |e, _, _| {
        e.dead_loads = false
    }),
    row(
        "sorted-stores",
        "Neighbouring deferred stores are sorted where the model does not keep their order",
        |e, _, _| e.sorted_stores = false,
    ),
    row("merged-histories", "Histories with values that no continuation can tell apart are one", |e, _, _| {
        e.merged_histories = false
    }),
    row(
        "client-symmetry",
        "Of clients that differ by a renaming of threads, locations or values one is looked at",
        |e, _, _| e.client_symmetry = false,
    ),
    row("movers", "Atomic blocks whose steps move past those of others need no serial run beside them", |e, _, _| {
        e.movers = false
    }),
    row("ample-sets", "Where the next steps of a thread concern nobody else, only these are taken", |e, _, _| {
        e.ample_sets = false
    }),
    row("in-order-first", "Out of order, what goes wrong in the order of the text is looked for first", |e, _, _| {
        e.in_order_first = false
    }),
    row(
        "settled-prefixes",
        "Out of order, a thread leaves behind what is decided up to the first access that is open",
        |e, _, _| e.settled_prefixes = false,
    ),
    row("stubborn-sets", "Out of order, accesses that can be exchanged are not tried in every order", |e, _, _| {
        e.stubborn_sets = false
    }),
    row(
        "remembered-steps",
        "Steps are remembered by what they depend on: not fewer states, but less work for each",
        |e, _, _| e.remembered_steps = false,
    ),
    row(
        "idle-iterations",
        "Iterations of a loop that change nothing are left out (symbolic engine, execution graphs)",
        |_, s, g| {
            s.idle_iterations = false;
            g.idle_iterations = false;
        },
    ),
    row(
        "stale-waits",
        "Executions in which a thread waits behind an old write are left (execution graphs)",
        |_, _, g| g.stale_waits = false,
    ),
    row("unseen-values", "A choice among values that are only copied is made once (execution graphs)", |_, _, g| {
        g.unseen_values = false
    }),
    row(
        "fresh-objects",
        "What a thread does to objects that nobody else knows of is no change and no race (execution graphs)",
        |_, _, g| g.fresh_objects = false,
    ),
    row(
        "weak-failures",
        "A weak compare-and-swap that would have failed anyway does not fail without a reason (execution graphs)",
        |_, _, g| g.weak_failures = false,
    ),
    row("covered-histories", "One history of calls is judged for all that it covers (symbolic engine)", |_, s, _| {
        s.covered_histories = false
    }),
    row("ranges", "What values and addresses can be is worked out beforehand (symbolic engine)", |_, s, _| {
        s.ranges = false
    }),
    row(
        "sessions",
        "Candidates of fence synthesis are put to one solver, which keeps what it learns (symbolic engine)",
        |_, s, _| s.sessions = false,
    ),
];

/// The reduction of this name, or all of them as one.
pub fn reduction(name: &str) -> Option<&'static Reduction> {
    REDUCTIONS.iter().chain([&ALL]).find(|reduction| reduction.name == name)
}

const fn row(name: &'static str, what: &'static str, off: fn(&mut Explore, &mut Symbolic, &mut Graphs)) -> Reduction {
    Reduction { name, what, off }
}
