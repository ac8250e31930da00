//! The relations of an execution, as axiomatic models speak of it: who reads from whom (`rf`), in which order writes hit a location (`co`), and which
//! writes come after what a read saw (`fr`).
//!
//! They follow from the steps, so a trace that is read from a file gets them anew. A pair has the numbers of two steps, 0 stands for what
//! memory holds at first. `co` and `fr` have the next write only; their closures follow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::schema::{ReadFrom, Step};

/// The relations between the steps of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Relations {
    /// From a write to a read that sees it. A store that forwards its value and is not performed is left out.
    pub rf: Vec<(usize, usize)>,
    /// From a write to the next one to its location.
    pub co: Vec<(usize, usize)>,
    /// From a read to the first write after the one that it sees.
    pub fr: Vec<(usize, usize)>,
}

impl Relations {
    /// Those of these steps.
    pub fn of(steps: &[Step]) -> Self {
        let mut writes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for step in steps.iter().filter(|step| step.written.is_some()) {
            writes.entry(step.location.as_deref().unwrap_or_default()).or_insert_with(|| vec![0]).push(step.n);
        }
        let co = writes.values().flat_map(|of| of.windows(2).map(|pair| (pair[0], pair[1]))).collect();
        let reads = steps.iter().filter_map(|step| Some((step, source(step, steps)?)));
        let rf: Vec<_> = reads.clone().map(|(step, from)| (from, step.n)).collect();
        let fr = reads.filter_map(|(step, from)| {
            let after =
                writes.get(step.location.as_deref()?)?.iter().find(|write| **write > from && **write != step.n)?;
            Some((step.n, *after))
        });
        Self { rf, co, fr: fr.collect() }
    }
}

/// The write that a step reads from.
fn source(step: &Step, steps: &[Step]) -> Option<usize> {
    match step.source.as_ref()? {
        ReadFrom::Initial => Some(0),
        ReadFrom::Step { n } => Some(*n),
        ReadFrom::Forwarded { po, .. } => {
            Some(steps.iter().find(|other| other.thread == step.thread && other.po == *po)?.n)
        }
    }
}
