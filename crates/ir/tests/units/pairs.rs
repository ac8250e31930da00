//! Tests of `cyrano_ir::automorphisms::pairs`.

use cyrano_ir::automorphisms::*;

#[test]
fn one_to_one() {
    let mut pairs = Pairs::new(4);
    assert_eq!(pairs.add(0, 1), Some(()));
    assert_eq!(pairs.add(0, 1), Some(()), "the same pair again");
    assert_eq!(pairs.add(0, 2), None, "0 has another partner");
    assert_eq!(pairs.add(2, 1), None, "so has 1");
    assert_eq!(pairs.clone().complete(), None, "1 cannot stay where it is");
    assert_eq!(pairs.add(1, 0), Some(()));
    assert_eq!(pairs.complete(), Some(vec![1, 0, 2, 3]));
}
