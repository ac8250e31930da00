//! Orders that could be declared: what order synthesis chooses from.

use std::collections::BTreeSet;
use std::ops::Range;

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Instr, InstrId, Program};

use super::order::{Layout, Mode, OrderPair, calls, paired};

/// See [`Test::candidates`](super::Test::candidates).
pub(super) fn candidates(program: &Program, layout: &Layout, mode: Mode, declared: &[OrderPair]) -> Vec<OrderPair> {
    let order = layout.order(program, mode, &layout.resolve(declared));
    let mut found: BTreeSet<(u32, u32, bool)> = BTreeSet::new();
    for (thread, marks) in layout.marks.iter().enumerate() {
        let code = &program.threads[thread].code;
        for call in calls(marks) {
            for first in call.clone().filter(|at| code[*at].op.access_kind().is_some()) {
                for second in reachable(code, &call, first) {
                    let kept = &order.before[thread][second];
                    if code[second].op.access_kind().is_none() || kept.binary_search(&InstrId::new(first)).is_ok() {
                        continue;
                    }
                    let contexts = (&marks[first].context, &marks[second].context);
                    for (a, b) in contexts.0.labels.iter().flat_map(|a| contexts.1.labels.iter().map(move |b| (*a, *b)))
                    {
                        found.extend((a != b || !contexts.0.loops.is_empty()).then_some((a, b, false)));
                        found.extend((a != b && paired(true, contexts.0, contexts.1)).then_some((a, b, true)));
                    }
                }
            }
        }
    }
    let name = |label: u32| layout.labels[label as usize].clone();
    found.into_iter().map(|(a, b, each)| OrderPair { first: name(a), second: name(b), each }).collect()
}

/// The later instructions of a call that an execution may have as well.
fn reachable(code: &[Instr], call: &Range<usize>, from: usize) -> Vec<usize> {
    let mut seen = vec![false; call.len()];
    seen[from - call.start] = true;
    for at in from..call.end {
        if seen[at - call.start] {
            let next = successors(&code[at].op, InstrId::new(at)).map(InstrId::index);
            next.filter(|next| call.contains(next)).for_each(|next| seen[next - call.start] = true);
        }
    }
    (from + 1..call.end).filter(|at| seen[at - call.start]).collect()
}
