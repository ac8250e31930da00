//! The models in which the program says itself which accesses stay in order: Lesani and Palsberg's out-of-order executions of an
//! algorithm over base objects.
//!
//! Under `inorder` nothing is reordered: it is `sc` under the name that goes with the other two. Under `declared` and `literal` the
//! front end says what follows what if it is executed (`Program::orders`, one for each name), and axiom 9 what that makes of an
//! execution. `declared` keeps accesses of one address in order besides. `docs/algorithms.md` says what goes into it.

use cyrano_ir::FenceSet;

use crate::model::{Model, Reordering};

/// Nothing is kept but what the program says.
const OWN: Reordering = Reordering { same: FenceSet::NONE, forwarding: false, own_order: true, ..Reordering::RELAXED };

/// The models for algorithms over base objects, strongest first: every statement in the order of the text; what control, data, locks,
/// objects and the declared orders put in order; only what the paper lists.
pub fn for_algorithms() -> Vec<Model> {
    let declared =
        "algorithms: control (early returns too), data, locks, accesses of one object and declared orders are kept";
    let literal = "algorithms: enclosing conditions, data, locks and declared orders are kept, as in Samand's paper";
    vec![
        Model::new("inorder", "algorithms: every statement in the order of the text", Reordering::IN_ORDER),
        Model::new("declared", declared, Reordering { same: FenceSet::FULL, ..OWN }),
        Model::new("literal", literal, OWN),
    ]
}
