//! The relaxed memory order of the SPARC V9 manual (appendix D).

use cyrano_ir::FenceSet;

use crate::{Control, Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "sparc-rmo".into(),
        summary: "Relaxed memory order as in the SPARC V9 manual: like rmo, but a control dependency orders only stores; a load behind a branch may be performed before the load that decides the branch.".into(),
        different: FenceSet::NONE,
        same: FenceSet::LS | FenceSet::SS,
        forwarding: true,
        dependencies: Dependencies { data: true, address: true, control: Control::Stores },
        serial: false,
        own_order: false,
    }
}
