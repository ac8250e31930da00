//! Tests of `cyrano_ir::dataflow::regset`.

use cyrano_ir::dataflow::*;
use cyrano_ir::ids::RegId;

#[track_caller]
fn check(insert: &[u32], remove: &[u32], expect: &[u32]) {
    let mut set = RegSet::new(130);
    insert.iter().for_each(|reg| set.insert(RegId(*reg)));
    remove.iter().for_each(|reg| set.remove(RegId(*reg)));
    let found: Vec<_> = set.iter().map(|reg| reg.0).collect();
    assert_eq!(found, expect);
    for reg in 0..130 {
        assert_eq!(set.contains(RegId(reg)), expect.contains(&reg));
    }
}

#[test]
fn members_across_words() {
    check(&[], &[], &[]);
    check(&[129, 0, 64, 63], &[], &[0, 63, 64, 129]);
    check(&[0, 1, 2, 128], &[1, 100], &[0, 2, 128]);
}

#[test]
fn union_reports_change() {
    let (mut left, mut right) = (RegSet::new(70), RegSet::new(70));
    right.insert(RegId(69));
    assert!(left.union_with(&right));
    assert!(!left.union_with(&right));
    assert_eq!(left, right);
}
