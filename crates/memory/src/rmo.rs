//! FOIL's relaxed memory order (section 4): nothing is kept but dependencies and same-address order before a store.
//!
//! The paper's rules order a control-dependent load too (its section 4.1 says that this departs from the SPARC manual;
//! that one is `sparc-rmo`). Two loads of one address may be reordered. The printed rules also keep false dependencies
//! (a register used again for another purpose), an artefact of writing them without renaming; this model does not.

use cyrano_ir::FenceSet;

use crate::{Dependencies, Model};

pub(crate) fn model() -> Model {
    Model {
        name: "rmo".into(),
        summary: "Relaxed memory order as in FOIL: any two accesses may be performed in either order unless the second one depends on the first (by data, address or control) or writes the address that the first one uses. Loads of one address may be reordered.".into(),
        different: FenceSet::NONE,
        same: FenceSet::LS | FenceSet::SS,
        forwarding: true,
        dependencies: Dependencies::ALL,
        serial: false,
        own_order: false,
    }
}
