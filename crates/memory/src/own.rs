//! The models in which the program says itself which accesses stay in order: Lesani and Palsberg's out-of-order executions of an
//! algorithm over base objects.
//!
//! Under `inorder` nothing is reordered: it is `sc` under the name that goes with the other two. Under `declared` and `literal` the
//! front end says what follows what if it is executed (`Program::orders`, one for each name), and axiom 9 what that makes of an
//! execution. `declared` keeps accesses of one address in order besides. `docs/algorithms.md` says what goes into it.

use cyrano_ir::FenceSet;

use crate::model::{Dependencies, Model};
use crate::sc;

/// Every statement in the order of the text.
pub(crate) fn inorder() -> Model {
    Model {
        name: "inorder".into(),
        summary: "algorithms: every statement in the order of the text".into(),
        ..sc::model()
    }
}

/// What control, data, locks, objects and the declared orders put in order.
pub(crate) fn declared() -> Model {
    let summary =
        "algorithms: control (early returns too), data, locks, accesses of one object and declared orders are kept";
    Model { same: FenceSet::FULL, ..own("declared", summary) }
}

/// Only what the paper lists.
pub(crate) fn literal() -> Model {
    own("literal", "algorithms: enclosing conditions, data, locks and declared orders are kept, as in Samand's paper")
}

fn own(name: &str, summary: &str) -> Model {
    Model {
        name: name.into(),
        summary: summary.into(),
        different: FenceSet::NONE,
        same: FenceSet::NONE,
        forwarding: false,
        dependencies: Dependencies::NONE,
        serial: false,
        own_order: true,
    }
}
