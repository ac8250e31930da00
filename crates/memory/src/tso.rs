//! Total store order (SPARC V8/V9; FOIL section 4). The x86 model has the same behaviours for ordinary loads and stores.

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "tso".into(),
        summary: "Total store order: each thread has a first-in first-out store buffer. A load may be performed before an earlier store to another address, and sees the thread's own buffered stores. What x86 and SPARC TSO do.".into(),
        different: FenceSet::FULL.without(FenceSet::SL),
        same: FenceSet::FULL.without(FenceSet::SL),
        forwarding: true,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: false,
    }
}
