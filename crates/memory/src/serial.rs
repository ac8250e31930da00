//! CheckFence's Seriality (section 2.3.2): sequential consistency in which whole operations do not interleave.

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "serial".into(),
        summary: "Seriality: operations run one after the other without interleaving; a thread that declares no operation is one. Not a machine but a yardstick: what a concurrent execution should look like.".into(),
        different: FenceSet::FULL,
        same: FenceSet::FULL,
        forwarding: false,
        dependencies: Dependencies::NONE,
        serial: true,
        own_order: false,
    }
}
