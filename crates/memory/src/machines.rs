//! The built-in models of machines, strongest first.

use cyrano_ir::FenceSet;

use crate::model::{Control, Dependencies, Model, Reordering};

/// CheckFence's Seriality (section 2.3.2): sequential consistency in which whole operations do not interleave.
fn serial() -> Model {
    let summary = "Seriality: operations run one after the other without interleaving; a thread that declares no operation is one. Not a machine but a yardstick: what a concurrent execution should look like.";
    Model::new("serial", summary, Reordering { serial: true, ..Reordering::IN_ORDER })
}

/// Sequential consistency (Lamport; FOIL section 4, CheckFence section 2.3.2).
fn sc() -> Model {
    let summary = "Sequential consistency: the accesses of all threads happen one after the other, each thread's in program order. The model most algorithms are designed for and no common processor provides.";
    Model::new("sc", summary, Reordering::IN_ORDER)
}

/// Total store order (SPARC V8/V9; FOIL section 4). The x86 model has the same behaviours for ordinary loads and stores.
fn tso() -> Model {
    let summary = "Total store order: each thread has a first-in first-out store buffer. A load may be performed before an earlier store to another address, and sees the thread's own buffered stores. What x86 and SPARC TSO do.";
    let kept = FenceSet::FULL.without(FenceSet::SL);
    Model::new("tso", summary, Reordering { different: kept, same: kept, ..Reordering::RELAXED })
}

/// Partial store order (SPARC V8/V9; FOIL section 4): total store order without order between stores to different addresses.
fn pso() -> Model {
    let summary = "Partial store order: like tso with one store buffer per address, so that stores to different addresses may be performed in either order. A read-modify-write may pass earlier stores to other addresses.";
    let different = FenceSet::LL | FenceSet::LS;
    Model::new("pso", summary, Reordering { different, same: different | FenceSet::SS, ..Reordering::RELAXED })
}

/// FOIL's relaxed memory order (section 4): nothing is kept but dependencies and same-address order before a store.
///
/// The paper's rules order a control-dependent load too (its section 4.1 says that this departs from the SPARC manual;
/// that one is `sparc-rmo`). Two loads of one address may be reordered. The printed rules also keep false dependencies
/// (a register used again for another purpose), an artefact of writing them without renaming; this model does not.
fn rmo() -> Model {
    let summary = "Relaxed memory order as in FOIL: any two accesses may be performed in either order unless the second one depends on the first (by data, address or control) or writes the address that the first one uses. Loads of one address may be reordered.";
    Model::new("rmo", summary, Reordering { dependencies: Dependencies::ALL, ..Reordering::RELAXED })
}

/// The relaxed memory order of the SPARC V9 manual (appendix D).
fn sparc_rmo() -> Model {
    let summary = "Relaxed memory order as in the SPARC V9 manual: like rmo, but a control dependency orders only stores; a load behind a branch may be performed before the load that decides the branch.";
    let dependencies = Dependencies { control: Control::Stores, ..Dependencies::ALL };
    Model::new("sparc-rmo", summary, Reordering { dependencies, ..Reordering::RELAXED })
}

/// CheckFence's Relaxed (section 2.3.2): a common, conservative approximation of the SPARC, Alpha and IBM models.
fn relaxed() -> Model {
    let summary = "CheckFence's Relaxed: only same-address order before a store is kept; not even dependencies are. Weaker than every SPARC model, Alpha and IBM zArchitecture; values out of thin air are excluded.";
    Model::new("relaxed", summary, Reordering::RELAXED)
}

/// All named models, strongest first: each allows what the one before it allows, and more.
pub fn all() -> Vec<Model> {
    vec![serial(), sc(), tso(), pso(), rmo(), sparc_rmo(), relaxed()]
}
