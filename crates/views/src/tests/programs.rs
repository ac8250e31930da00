//! Programs with verdicts worked out by hand, and the deliberate bugs that some of them show.

use super::{Asked, checked, compare, instance, model, views};
use crate::{End, Fault};

/// A lock that is taken in one step.
const LOCK: &str = "threads { shared lock, busy; thread w[*] { local r; loop {
    atomic { r := lock; assume r == 0; lock := 1; }
    r := busy; assert r == 0; busy := 1; busy := 0; lock := 0; } } }";

/// The same with a look before the step.
const BROKEN: &str = "threads { shared lock, busy; thread w[*] { local r; loop {
    atomic { r := lock; assume r == 0; } lock := 1;
    r := busy; assert r == 0; busy := 1; busy := 0; lock := 0; } } }";

/// The third one to come fails.
const THIRD: &str = "threads { shared n; thread w[*] { local r;
    atomic { r := n; assume r < 3; n := r + 1; } assert r < 2; } }";

/// A phase that only one can leave, so that somebody has to be there.
const RELAY: &str = "threads { shared turn; thread w[*] { local r;
    loop { atomic { r := turn; assume r == 0; turn := 1; } r := turn; assert r == 1; atomic { turn := 0; } } } }";

fn proves(source: &str, on: &str, k: usize, fault: Option<Fault>) -> bool {
    views(source, Asked::Assertions, &model(on), k, fault).0.end == End::Proven
}

#[test]
fn locks_are_proven_and_broken_ones_are_not() {
    for on in ["sc", "tso"] {
        assert!(!proves(LOCK, on, 1, None), "one member does not know that it is alone");
        assert!(proves(LOCK, on, 2, None));
        assert!(proves(RELAY, on, 2, None));
        for k in 1..=3 {
            assert!(!proves(BROKEN, on, k, None), "{k}");
            assert!(!proves(THIRD, on, k, None), "{k}");
        }
    }
    // From pso on the lock may be free before the section is left.
    assert!((1..=3).all(|k| !proves(LOCK, "pso", k, None)));
}

#[test]
fn a_queue_that_is_full_is_told() {
    let source = "threads { shared x; thread w[*] { local r; loop { x := 1; r := x; assert r == 1; } } }";
    let (found, _) = views(source, Asked::Assertions, &model("tso"), 1, None);
    assert!(found.end == End::Proven && found.noted.bounded);
    let (found, _) = views(source, Asked::Assertions, &model("sc"), 1, None);
    assert!(found.end == End::Proven && !found.noted.bounded);
}

/// Eight members and more are not told apart, and one step takes seven away, so that one is left.
#[test]
fn a_step_may_take_away_more_than_is_written() {
    let away = |section: &str| {
        format!(
            "threads {{ shared n; thread w[*] {{ fetch_add(n, 1); }}
            thread v {{ local i, r; atomic {{ {section} r := n; }} assert r != 1; }} }}"
        )
    };
    let looped = away("i := 0; while i < 7 { fetch_add(n, -1); i := i + 1; }");
    let written = away(&"fetch_add(n, -1);".repeat(7));
    for source in [looped, written] {
        // Where it is no counter it grows for ever, which is a limit and no proof.
        assert!((1..=2).all(|k| !proves(&source, "sc", k, None)), "{source}");
    }
}

/// What is read from a counter says which element is looked at, though only the element is compared.
#[test]
fn a_copy_of_a_counter_is_no_index() {
    let source = "threads { shared n; thread w[*] { local r, a[16];
        a[9] := 1; r := fetch_add(n, 1); assert a[r] == 0; } }";
    assert!((1..=2).all(|k| !proves(source, "sc", k, None)));
}

#[test]
fn deliberate_bugs_are_noticed() {
    // Without one more member nobody learns that others change what they see.
    assert!(proves(BROKEN, "sc", 2, Some(Fault::NoExtraMember)) || proves(THIRD, "sc", 2, Some(Fault::NoExtraMember)));
    assert!(proves(THIRD, "sc", 1, Some(Fault::NoTwins)) || proves(BROKEN, "sc", 1, Some(Fault::NoTwins)));
    for fault in [Fault::NoExtraMember, Fault::NoTwins] {
        let wrong = [BROKEN, THIRD].iter().any(|source| {
            let (found, all) = views(source, Asked::Assertions, &model("sc"), 2, Some(fault));
            let all = all.into_iter().collect();
            (1..=3).any(|n| {
                let instance = instance(source, Asked::Assertions, &model("sc"), (n, 2), 10_000).expect("it is small");
                compare(&found, &all, &instance).is_err()
            })
        });
        assert!(wrong, "{fault:?}");
    }
}

/// Readers are counted, and a writer waits until there is none.
const READERS: &str = "threads { shared readers, writing, x, y;
    thread r[*] { local a, b, w; loop {
        atomic { w := writing; assume w == 0; fetch_add(readers, 1); }
        reading: a := x; b := y; assert a == b;
        fetch_add(readers, -1); } }
    thread w[*] { local n, d; loop {
        atomic { d := writing; n := readers; assume d == 0 && n == 0; writing := 1; }
        written: d := x; x := 1 - d; y := 1 - d;
        writing := 0; } } }
    check invariant (count(w@written) <= 1 && (count(w@written) == 0 || count(r@reading) == 0));";

#[test]
fn counters_may_grow_with_the_number_of_threads() {
    for (asked, k) in [(Asked::Assertions, 2), (Asked::Invariant, 2)] {
        for on in ["sc", "tso"] {
            let (found, _) = views(READERS, asked, &model(on), k, None);
            assert_eq!(found.end, End::Proven, "{asked:?}");
        }
    }
    let early = READERS.replace("n == 0;", "n <= 1;");
    assert!((1..=3).all(|k| views(&early, Asked::Assertions, &model("sc"), k, None).0.end != End::Proven));
    assert!((1..=3).all(|k| views(&early, Asked::Invariant, &model("sc"), k, None).0.end != End::Proven));
}

#[test]
fn counts_need_enough_members() {
    let source = "threads { shared n; thread w[*] { local r; loop {
        atomic { r := n; assume r < 3; n := r + 1; } cs: r := 0; atomic { r := n; n := r - 1; } } } }
        check invariant (count(w@cs) <= BOUND);";
    let ends = |bound: usize, k: usize| {
        let source = source.replace("BOUND", &bound.to_string());
        views(&source, Asked::Invariant, &model("sc"), k, None).0.end
    };
    assert!([1, 2].map(|k| ends(3, k)).iter().all(|end| *end == End::TooFew));
    // Three at a time look the same with and without a fourth.
    assert!(matches!(ends(3, 3), End::Suspected(_)));
    assert_eq!(ends(3, 4), End::Proven);
    assert!((1..=4).all(|k| matches!(ends(2, k), End::Suspected(_) | End::TooFew)));
}

#[test]
fn a_set_that_is_not_closed_is_refuted() {
    for (source, asked) in [(LOCK, Asked::Assertions), (READERS, Asked::Invariant)] {
        assert_eq!(checked(source, asked, 2, None, |_| ()), None);
        let (_, all) = views(source, asked, &model("sc"), 2, None);
        for at in 0..all.len() {
            let refuted = checked(source, asked, 2, None, |views| {
                views.sort();
                views.remove(at);
            });
            assert!(refuted.is_some(), "view {at} of {} is missed by nobody", all.len());
        }
    }
    // What a broken saturation calls closed.
    for fault in [Fault::NoExtraMember, Fault::NoTwins] {
        let noticed = [BROKEN, THIRD].iter().any(|source| {
            let proves = [1, 2].into_iter().find(|k| proves(source, "sc", *k, Some(fault)));
            proves.is_some_and(|k| checked(source, Asked::Assertions, k, Some(fault), |_| ()).is_some())
        });
        assert!(noticed, "{fault:?}");
    }
}
