//! Sequential consistency (Lamport; FOIL section 4, CheckFence section 2.3.2).

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "sc".into(),
        summary: "Sequential consistency: the accesses of all threads happen one after the other, each thread's in program order. The model most algorithms are designed for and no common processor provides.".into(),
        different: FenceSet::FULL,
        same: FenceSet::FULL,
        forwarding: false,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: false,
    }
}
