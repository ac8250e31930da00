//! Searches that are interrupted and go on: same answers, and never from files that are not what was written.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{Case, case, explorer, facts, files, growing, limits, philosophers, search};
use cyrano_disk::{DiskSearch, Error, Settings, info};
use cyrano_engine::{Answer, Cause, Counters, Limits, Stop, Verdict, Watch};
use cyrano_explore::Explore;
use cyrano_ir::{Property, TxCriterion};

/// Asks the search to stop when it has been looked at so many times.
struct Impatient {
    left: AtomicU64,
    cancel: Arc<AtomicBool>,
}

impl Watch for Impatient {
    fn progress(&self, _: Counters) {
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err() {
            self.cancel.store(true, Ordering::SeqCst);
        }
    }
}

fn run_for(case: &Case, search: &DiskSearch, memory: u64, workers: usize, looks: u64) -> Result<Answer, Error> {
    let limits = Limits { cancel: Arc::default(), ..limits(memory, workers) };
    let watch = Impatient { left: AtomicU64::new(looks), cancel: Arc::clone(&limits.cancel) };
    search.run(case.query(), &limits, &watch)
}

/// Two hundred thousand states or so.
fn tl2() -> Case {
    case("stm/tl2.rml", "sc", &[("threads", 2), ("vars", 2)])
}

/// An interrupted search with sorted runs, in this directory.
fn interrupted(case: &Case, dir: &Path) {
    let answer = run_for(case, &search(dir, true, false, 60.0), 1 << 18, 2, 40).expect("nothing is in the way");
    assert_eq!((answer.verdict, answer.reason), (Verdict::Unknown, Some(Stop::Cancelled.into())));
}

#[test]
fn a_search_that_is_interrupted_often_ends_like_one_that_is_not() {
    interrupt_often(&case("stm/mcrt.rml", "sc", &[]), 1 << 17, 3, 0.0);
}

#[test]
fn packed_states_outlive_interruptions() {
    interrupt_often(&philosophers(7), 3 << 19, 8, 60.0);
    interrupt_often(&growing(44), 3 << 19, 5, 60.0);
}

/// Interrupts a search whenever it was looked at so many times, in memory and with this little of it.
fn interrupt_often(case: &Case, little: u64, looks: u64, every: f64) {
    let expected = facts(&case.in_memory(1));
    for (spill, memory) in [(false, 1 << 30), (true, little)] {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut answer =
            run_for(case, &search(dir.path(), spill, false, every), memory, 1, looks).expect("it can start");
        let mut interruptions = 0;
        let mut states = 0;
        while answer.verdict == Verdict::Unknown {
            interruptions += 1;
            let told = info(dir.path()).expect("there is a checkpoint");
            assert!(told.states >= states && told.more.end == "not complete", "{told:?}");
            states = told.states;
            let next = search(dir.path(), spill, true, every);
            answer = run_for(case, &next, memory, 1 + interruptions % 2, looks).expect("it can go on");
        }
        assert!(interruptions >= 2, "{interruptions} interruptions");
        assert_eq!(facts(&answer), expected, "spill {spill}");
        // What is known is told again, without a search.
        let again = search(dir.path(), spill, true, every).run(case.query(), &limits(memory, 1), &());
        assert_eq!(facts(&again.expect("it is complete")), expected);
        assert_eq!(info(dir.path()).map(|told| told.more.end).ok(), Some("complete"));
    }
}

#[test]
fn a_violation_is_found_after_an_interruption_and_shown_again() {
    let case = case("stm/dstm_bug_steal_active.rml", "sc", &[]);
    let expected = case.in_memory(1);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let mut answer = run_for(&case, &search(dir.path(), true, false, 0.0), 1 << 17, 1, 4).expect("it can start");
    assert_eq!(answer.verdict, Verdict::Unknown);
    while answer.verdict == Verdict::Unknown {
        answer = run_for(&case, &search(dir.path(), true, true, 0.0), 1 << 17, 2, 4).expect("it can go on");
    }
    assert_eq!(facts(&answer), facts(&expected));
    let again = search(dir.path(), true, true, 0.0).run(case.query(), &limits(1 << 30, 1), &());
    let again = again.expect("it is complete");
    assert_eq!((facts(&again), again.execution), (facts(&answer), answer.execution));
}

#[test]
fn too_little_memory_is_no_end_if_there_is_more_later() {
    let case = tl2();
    let expected = facts(&case.in_memory(1));
    for (spill, memory) in [(false, 1 << 30), (true, 1 << 20)] {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let stopped = search(dir.path(), false, false, 60.0).run(case.query(), &limits(1 << 20, 2), &());
        let stopped = stopped.expect("it can start");
        assert_eq!(stopped.verdict, Verdict::Unknown);
        assert_eq!(stopped.reason.as_ref().and_then(Cause::stop), Some(Stop::Memory));
        assert!(stopped.stats.states > 1000, "{:?}", stopped.stats);
        let done = search(dir.path(), spill, true, 60.0).run(case.query(), &limits(memory, 2), &());
        assert_eq!(facts(&done.expect("it can go on")), expected);
    }
}

/// What was found with more memory does not fit into less: that is said before memory is used.
#[test]
fn less_memory_than_the_checkpoint_needs_is_no_memory_at_all() {
    let case = tl2();
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let stopped = search(dir.path(), false, false, 60.0).run(case.query(), &limits(1 << 22, 1), &());
    let kept = stopped.expect("it can start").stats.states;
    let again =
        search(dir.path(), false, true, 60.0).run(case.query(), &limits(1 << 21, 1), &()).expect("it can start");
    assert_eq!((again.verdict, again.stats.states), (Verdict::Unknown, kept));
    assert!(again.stats.peak_bytes < (1 << 21) * 11 / 10, "{:?}", again.stats);
    let done = search(dir.path(), false, true, 60.0).run(case.query(), &limits(1 << 30, 1), &());
    assert_eq!(facts(&done.expect("it can go on")), facts(&case.in_memory(1)));
}

/// Changes a file in some way, and back.
fn with_damage(path: &Path, damage: impl FnOnce(&mut Vec<u8>), check: impl FnOnce()) {
    let good = std::fs::read(path).expect("the file is there");
    let mut bad = good.clone();
    damage(&mut bad);
    assert_ne!(good, bad);
    std::fs::write(path, &bad).expect("it can be written");
    check();
    std::fs::write(path, &good).expect("it can be written");
}

#[test]
fn damaged_files_are_refused() {
    refuses_damage(&tl2());
}

#[test]
fn damaged_files_of_packed_states_are_refused() {
    refuses_damage(&philosophers(9));
}

fn refuses_damage(case: &Case) {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    interrupted(case, dir.path());
    let found = files(dir.path());
    assert!(found.len() > 10, "{found:?}");
    for path in found {
        let length = std::fs::metadata(&path).expect("the file is there").len() as usize;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let refused = |what: String| {
            let answer = search(dir.path(), true, true, 60.0).run(case.query(), &limits(1 << 20, 1), &());
            match answer {
                Err(error @ Error::Damaged { .. }) => assert!(error.to_string().contains(&name), "{error}"),
                other => panic!("{name}, {what}: {other:?}"),
            }
        };
        // All bytes of the first header, some of each part of the file, the last one. Most runs are alike: few are enough.
        let step = length / if name.starts_with("run") { 3 } else { 40 };
        let header = if name.starts_with("run") { 0..2 } else { 0..24 };
        for at in header.chain((24..length - 1).step_by(step.max(1))).chain([length - 1]) {
            with_damage(&path, |bytes| bytes[at] ^= 1 << (at % 8), || refused(format!("bit {} of byte {at}", at % 8)));
        }
        for keep in [0, 1, 23, length / 2, length - 1] {
            with_damage(&path, |bytes| bytes.truncate(keep), || refused(format!("{keep} bytes")));
        }
    }
    // Bytes that a crash left behind the end of the log do not count.
    let log = dir.path().join("states");
    let mut bytes = std::fs::read(&log).expect("the file is there");
    bytes.extend_from_slice(&[7; 1000]);
    std::fs::write(&log, &bytes).expect("it can be written");
    let answer = search(dir.path(), true, true, 60.0).run(case.query(), &limits(1 << 24, 2), &());
    assert_eq!(facts(&answer.expect("it can go on")), facts(&case.in_memory(1)));
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let case = tl2();
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    interrupted(&case, dir.path());
    let check = |case: &Case, explore: Explore, deferred: usize, part: &str| {
        let settings = Settings {
            dir: dir.path().to_owned(),
            resume: true,
            every: std::time::Duration::from_secs(60),
            about: Vec::new(),
        };
        let limits = Limits { deferred, ..limits(1 << 20, 1) };
        let why = DiskSearch::new(explore, settings, true).run(case.query(), &limits, &()).err();
        let why = why.map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("cannot be resumed") && why.contains(part), "{part}: {why}");
    };
    let usual = Limits::default().deferred;
    check(&common::case("stm/mcrt.rml", "sc", &[]), explorer(), usual, "program: the checkpoint has");
    check(&common::case("stm/tl2.rml", "sc", &[("threads", 2), ("vars", 1)]), explorer(), usual, "program: ");
    check(
        &common::case("stm/tl2.rml", "tso", &[("threads", 2), ("vars", 2)]),
        explorer(),
        usual,
        "model: the checkpoint has sc",
    );
    let other = Case { property: Property::Transactions(TxCriterion::StrictSerializability), ..tl2() };
    check(&other, explorer(), usual, "check: the checkpoint has opacity");
    let off = Explore { thread_symmetry: false, ..explorer() };
    check(&case, off, usual, "thread-symmetry: the checkpoint has true, this run has false");
    check(&case, explorer(), usual + 1, "deferred: ");
    let error = |spill: bool, resume: bool, dir: &Path| {
        let answer = search(dir, spill, resume, 60.0).run(case.query(), &limits(1 << 20, 1), &());
        answer.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(error(true, false, dir.path()).contains("--resume"), "{}", error(true, false, dir.path()));
    assert!(error(false, true, dir.path()).contains("--disk"), "{}", error(false, true, dir.path()));
    let empty = tempfile::tempdir().expect("a temporary directory can be made");
    assert!(error(true, true, empty.path()).contains("no checkpoint"), "{}", error(true, true, empty.path()));
}

#[test]
fn progress_has_no_levels() {
    let case = Case { property: Property::Progress(cyrano_ir::Progress::Solo), ..tl2() };
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let answer = search(&dir.path().join("new"), true, false, 60.0).run(case.query(), &limits(1 << 20, 1), &());
    assert!(matches!(answer, Err(Error::Unsupported(_))), "{answer:?}");
    assert!(files(dir.path()).is_empty(), "nothing is written");
}

#[test]
fn an_interrupt_while_files_are_read_changes_nothing() {
    let case = tl2();
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    interrupted(&case, dir.path());
    let before = info(dir.path()).expect("there is a checkpoint");
    let limits = Limits { cancel: Arc::new(AtomicBool::new(true)), ..limits(1 << 18, 1) };
    let answer = search(dir.path(), true, true, 60.0).run(case.query(), &limits, &()).expect("it can be read");
    assert_eq!((answer.verdict, answer.stats.states), (Verdict::Unknown, before.states));
    let after = info(dir.path()).expect("there is a checkpoint");
    assert_eq!((after.states, after.frontier, after.bytes), (before.states, before.frontier, before.bytes));
    let answer = search(dir.path(), true, true, 60.0).run(case.query(), &common::limits(1 << 24, 2), &());
    assert_eq!(facts(&answer.expect("it can go on")), facts(&case.in_memory(1)));
}
