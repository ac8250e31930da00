//! Orders that could be declared: what order synthesis chooses from.

use std::collections::BTreeSet;
use std::ops::Range;

use cyrano_ir::dataflow::successors;
use cyrano_ir::{Instr, InstrId, Program};

use crate::orders::layout::{Layout, Mode, OrderPair, calls, paired};

/// See [`Test::candidates`](crate::algorithm::Test::candidates).
pub(crate) fn candidates(program: &Program, layout: &Layout, mode: Mode, declared: &[OrderPair]) -> Vec<OrderPair> {
    let order = layout.kept(program, mode, &layout.resolve(declared));
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
                    let contexts = (&*marks[first].context, &*marks[second].context);
                    let each = paired(true, contexts.0, contexts.1);
                    let looped = !contexts.0.loops.is_empty();
                    for (a, b) in pairs(&contexts.0.labels, &contexts.1.labels) {
                        found.extend((a != b || looped).then_some((a, b, false)));
                        found.extend((a != b && each).then_some((a, b, true)));
                    }
                }
            }
        }
    }
    let name = |label: u32| layout.labels[label as usize].clone();
    found.into_iter().map(|(a, b, each)| OrderPair { first: name(a), second: name(b), each }).collect()
}

/// The pairs of labels that tell two places apart: a label of a call that contains both of them says nothing about the two.
fn pairs(first: &[u32], second: &[u32]) -> Vec<(u32, u32)> {
    let common = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let own = |labels: &[u32]| labels[common.min(labels.len().saturating_sub(1))..].to_vec();
    let second = own(second);
    own(first).into_iter().flat_map(|a| second.iter().map(move |b| (a, *b))).collect()
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
