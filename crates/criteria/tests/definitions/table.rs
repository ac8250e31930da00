//! The table of criteria and their names.

use cyrano_criteria::criterion::{LabelName, Liveness, OrderName, Progress, TxCriterion};
use cyrano_criteria::table::{CRITERIA, Criterion};

/// Every criterion has a row, and no two rows have one name.
#[test]
fn every_criterion_has_a_row() {
    for criterion in TxCriterion::ALL {
        assert_eq!(TxCriterion::from_name(criterion.name()), Some(criterion));
    }
    for progress in Progress::ALL {
        assert_eq!(Progress::from_name(progress.name()), Some(progress));
    }
    for liveness in Liveness::ALL {
        assert_eq!(Liveness::from_name(liveness.name()), Some(liveness));
    }
    for row in CRITERIA {
        assert_eq!(Criterion::named(row.name), Some(&row));
    }
    assert_eq!(Criterion::of_histories().map(|(_, of)| of).collect::<Vec<_>>(), TxCriterion::ALL);
}

#[test]
fn names_survive() {
    let order = OrderName::new("block_timestamp").expect("a name");
    assert_eq!(order.name(), "block_timestamp");
    assert_eq!(OrderName::from_criterion(order.criterion()), Some(order));
    assert_eq!(OrderName::new("two words"), None);
    assert_eq!(OrderName::from_criterion("serializability"), None);
    let label = Liveness::Passes(LabelName::new("L1"));
    assert_eq!((label.name(), label.label().map(LabelName::name)), ("progress:L1", Some("L1")));
    assert_eq!(Liveness::from_name("progress:L1"), Some(label));
    assert_eq!(Liveness::from_name("progress"), None);
}
