//! Threads with objects of their own that are exchanged in the explorer, against the search that tells them apart.

use std::collections::BTreeSet;

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::corpus::judge;

/// What comparisons came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exchanged {
    /// How many questions were answered by both.
    pub asked: usize,
    /// Those of them where threads were exchanged.
    pub used: usize,
    /// Those of these where something is wrong.
    pub violated: usize,
}

/// Compares a search with one that tells threads apart, on assertions, on the serial observations, and on those without one class of equal ones, so that there
/// is something to find: the same verdicts, unreached instructions and steps to what is wrong, which replays.
pub fn compare(
    program: &Program,
    models: &[Model],
    exchanging: &dyn Engine,
    limits: &Limits,
    tally: &mut Exchanged,
) -> Result<(), String> {
    let apart = Explore { thread_symmetry: false, ..Explore::default() };
    let serial = cyrano_memory::named("serial").ok_or("there is serial")?;
    let query = Query::new(program, &serial, Question::Outcomes).map_err(|error| format!("{error:?}"))?;
    let serial = apart.ask(query, &limits.clone(), &()).outcomes;
    let sorted = |outcome: &Vec<i128>| {
        let mut outcome = outcome.clone();
        outcome.sort_unstable();
        outcome
    };
    let left_out = serial.first().map(sorted);
    let fewer: BTreeSet<Vec<i128>> =
        serial.iter().filter(|outcome| Some(sorted(outcome)) != left_out).cloned().collect();
    let properties = [Property::Assertions, Property::Observations(serial), Property::Observations(fewer)];
    for (model, property) in models.iter().flat_map(|model| properties.iter().map(move |property| (model, property))) {
        if !apart.runs(program, model) {
            continue;
        }
        let [on, off] = [exchanging, &apart].map(|engine| judge(engine, program, model, property, &limits.clone()));
        if [&on, &off].iter().any(|answer| answer.verdict == Verdict::Unknown) {
            continue;
        }
        let place = format!("{}, {}", model.name, property.criterion());
        // With ample sets there may be a shorter way.
        let plain = ![&on, &off].iter().any(|answer| answer.reductions.contains(&"ample-sets"));
        let [said, expected] = [&on, &off].map(|answer| {
            let shown = answer.execution.is_some();
            (answer.verdict, shown, (shown && plain).then_some(answer.stats.depth), answer.unreached.clone())
        });
        if said != expected {
            return Err(format!("{place}: {said:?} with exchanges, {expected:?} without"));
        }
        let used = on.reductions.contains(&"thread-symmetry");
        tally.asked += 1;
        tally.used += usize::from(used);
        tally.violated += usize::from(used && on.verdict == Verdict::Violated);
    }
    Ok(())
}

/// Functions of equal threads that tell these apart by the addresses of their objects, and such that do not.
pub const BY_ADDRESS: [(&str, bool); 8] = [
    ("return arg;", true),
    ("return p == n;", true),
    ("if (n->next) { *out = n->next->value; } return 0;", true),
    ("uintptr_t k = (uintptr_t)p; p = (node_t *)(k | 1); return 0;", true),
    ("assert((uintptr_t)p <= (uintptr_t)n); return 0;", false),
    ("return (int)(((uintptr_t)p >> 4) & 1);", false),
    ("x = (int)((uintptr_t)p % 7); return 0;", false),
    ("return (uintptr_t)p < (uintptr_t)n;", false),
];

/// Three threads that compute a number which may look like a pointer into the object of another one.
pub fn by_number(number: i128) -> Result<Program, String> {
    let allocate = "node_t *n = malloc(sizeof(node_t)); n->value = arg; p = n; *out = 0;";
    let rest = format!("x = {number} + 8 * arg; int r = x; assert(r >= {number} && r - {number} <= 8); return 0;");
    let function = format!("{}\nint f0(int arg, int *out) {{ {allocate} {rest} }}\n", crate::random_c::PRELUDE);
    crate::random_c::compile(&function, "f0 = f0(in {0, 1}, out)\ntest T = ( f0 | f0 | f0 )\n")
}

/// The program of such a function, which allocates and publishes a node before.
pub fn by_address(rest: &str) -> Result<Program, String> {
    let allocate = "node_t *n = malloc(sizeof(node_t)); n->value = arg; n->next = p; p = n; *out = 0;";
    let function = format!("{}\nint f0(int arg, int *out) {{ {allocate} {rest} }}\n", crate::random_c::PRELUDE);
    crate::random_c::compile(&function, "f0 = f0(in {0, 1}, out)\ntest T = ( f0 | f0 )\n")
}
