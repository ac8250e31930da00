//! The relations between the steps of a trace: [`cyrano_engine::Relations`], by the steps' numbers.
//!
//! They follow from the steps, so a trace that is read from a file gets them anew; but under a model about relations they are what the trace says.

use cyrano_engine::{Event, Relations as Computed};
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
    /// Compare-and-swaps that succeed and keep their register, rather than to write there what they read, where a model tells the difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<usize>,
}

impl From<Computed> for Relations {
    fn from(Computed { rf, co, fr, kept }: Computed) -> Self {
        Self { rf, co, fr, kept }
    }
}

impl From<Relations> for Computed {
    fn from(Relations { rf, co, fr, kept }: Relations) -> Self {
        Self { rf, co, fr, kept }
    }
}

impl Relations {
    /// Those of these steps.
    pub fn of(steps: &[Step]) -> Self {
        let events = steps.iter().map(|step| Event {
            location: step.location.as_deref(),
            writes: step.written.is_some(),
            from: source(step, steps),
        });
        Computed::of(&events.collect::<Vec<_>>()).into()
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
