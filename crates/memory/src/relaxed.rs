//! CheckFence's Relaxed (section 2.3.2): a common, conservative approximation of the SPARC, Alpha and IBM models.

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "relaxed".into(),
        summary: "CheckFence's Relaxed: only same-address order before a store is kept; not even dependencies are. Weaker than every SPARC model, Alpha and IBM zArchitecture; values out of thin air are excluded.".into(),
        different: FenceSet::NONE,
        same: FenceSet::LS | FenceSet::SS,
        forwarding: true,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: false,
    }
}
