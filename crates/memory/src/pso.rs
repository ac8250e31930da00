//! Partial store order (SPARC V8/V9; FOIL section 4): total store order without order between stores to different addresses.

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "pso".into(),
        summary: "Partial store order: like tso with one store buffer per address, so that stores to different addresses may be performed in either order. A read-modify-write may pass earlier stores to other addresses.".into(),
        different: FenceSet::LL | FenceSet::LS,
        same: FenceSet::LL | FenceSet::LS | FenceSet::SS,
        forwarding: true,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: false,
    }
}
