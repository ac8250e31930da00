//! Single decisions: orders, cores, renaming, encoding.

use cyrano_criteria::criterion::TxCriterion;
use cyrano_criteria::values::{Call, Digest, Point, Recorder, Reply, Why, accepts, parse};

fn digest(lines: &str) -> (Digest, Vec<i128>) {
    let parsed = parse(&format!("history values\n{lines}")).expect("the history is well-formed");
    let mut recorder = Recorder::new(&parsed.history);
    parsed.history.events().iter().for_each(|event| {
        recorder.observe(event);
    });
    (recorder.digest().clone(), parsed.history.init().to_vec())
}

fn check(lines: &str, criterion: TxCriterion, wanted: Result<Vec<Point>, Why>) {
    let (digest, init) = digest(lines);
    assert_eq!(accepts(criterion, &digest, &init), wanted, "{lines}");
}

fn core(reads: &[(u8, u8, i128)], before: &[(u8, u8)], clashes: &[(u8, u8)]) -> Result<Vec<Point>, Why> {
    Err(Why::Core { reads: reads.to_vec(), before: before.to_vec(), clashes: clashes.to_vec() })
}

#[test]
fn an_order_and_who_takes_effect_in_it() {
    let lines = "T1 write x 1\nT2 read x 0\nT1 inv commit\nT3 read x 1\nT2 commit A";
    let order = vec![Point::Aborted(1), Point::Committed(0), Point::Aborted(2)];
    check(lines, TxCriterion::Opacity, Ok(order));
    check(lines, TxCriterion::StrictSerializability, Ok(Vec::new()));
}

#[test]
fn cores_hold_only_what_matters() {
    let stale = "T1 read y 0\nT1 write x 1\nT1 commit C\nT2 read y 0\nT2 read x 0\nT2 commit C";
    check(stale, TxCriterion::StrictSerializability, core(&[(1, 1, 0)], &[(0, 1)], &[]));
    check(stale, TxCriterion::Serializability, Ok(vec![Point::Committed(1), Point::Committed(0)]));
    let lost = "T1 read x 0\nT2 read x 0\nT1 write x 1\nT2 write x 2\nT1 commit C\nT2 commit C";
    check(lost, TxCriterion::Serializability, core(&[(0, 0, 0), (1, 0, 0)], &[], &[]));
    check(lost, TxCriterion::SnapshotIsolation, core(&[(0, 0, 0), (1, 0, 0)], &[], &[(0, 1)]));
    let torn = "T1 write x 1\nT1 read x 0";
    check(torn, TxCriterion::Opacity, Err(Why::Torn(0)));
    check(torn, TxCriterion::StrictSerializability, Ok(Vec::new()));
    check("T1 read x 7", TxCriterion::Opacity, core(&[(0, 0, 7)], &[], &[]));
}

#[test]
fn what_is_packed_comes_back() {
    let (digest, _) = digest("T1 write x 1\nT2 read y -9223372036854775808\nT1 commit C\nT3 read x 1");
    let mut numbers = Vec::new();
    digest.pack(&mut |number| numbers.push(number));
    let mut numbers = numbers.into_iter();
    let mut again = Digest::new(3, 2).expect("small");
    again.unpack(&mut || numbers.next().expect("as many as were written"));
    assert_eq!((again, numbers.next()), (digest, None));
    assert!(Digest::new(33, 1).is_err() && Digest::new(1, 33).is_err() && Digest::new(32, 32).is_ok());
}

#[test]
fn the_last_bit_of_each_set_is_a_member() {
    let mut digest = Digest::new(32, 32).expect("the largest");
    for tx in 0..32 {
        digest.begin(tx);
        digest.invoke(tx, Call::Commit);
        digest.respond(tx, Call::Write(31, 5), Reply::Ok);
        digest.respond(tx, Call::Commit, Reply::Committed);
    }
    assert_eq!((digest.before(31), digest.writes(31), digest.reads(31)), (u32::MAX >> 1, 1 << 31, 0));
    assert_eq!(accepts(TxCriterion::Opacity, &digest, &[0; 32]).map(|order| order.len()), Ok(32));
}

#[test]
fn digests_that_no_future_tells_apart_are_equal() {
    let forgotten = |lines: &str, criterion| {
        let mut digest = digest(lines).0;
        digest.forget(criterion);
        digest
    };
    let (a, b) = ("T1 write x 1\nT1 write x 2 A\nT2 inv read x", "T1 read x 0\nT2 inv read x\nT1 commit A");
    assert_eq!(forgotten(a, TxCriterion::StrictSerializability), forgotten(b, TxCriterion::StrictSerializability));
    assert_ne!(forgotten(a, TxCriterion::Opacity), forgotten(b, TxCriterion::Opacity));
    let (a, b) = ("T1 read x 0\nT1 commit C", "T1 read x 0\nT1 write x 1\nT1 commit A");
    assert_eq!(forgotten(a, TxCriterion::Opacity), forgotten(b, TxCriterion::Opacity));
}
