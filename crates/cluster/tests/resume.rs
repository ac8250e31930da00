//! Searches that stop and go on: the same answer, wherever they stopped. What must not be resumed is refused, by everybody.

mod local;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cyrano_cluster::{ClusterSearch, Error, Info, Settings, info};
use cyrano_engine::{Answer, Cause, Counters, Engine, Limits, Query, Question, Stop, Verdict, Watch};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};
use local::{Cluster, library};

/// A question about a file of the library.
struct Case {
    program: Program,
    model: cyrano_memory::Model,
    property: Property,
}

fn case(file: &str, model: &str, set: &[(&str, i128)]) -> Case {
    let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let program = cyrano_rml::compile(&library(file), file, &set).expect("the library compiles");
    let property = program.checks.first().map(|check| check.property.clone());
    let property = property.unwrap_or(Property::Transactions(TxCriterion::Opacity));
    Case { program, model: cyrano_memory::named(model).expect("a model"), property }
}

/// Some ten thousand states in fifty levels.
fn tl2() -> Case {
    case("stm/tl2.rml", "sc", &[("threads", 2), ("vars", 1)])
}

impl Case {
    fn query(&self) -> Query<'_> {
        Query::new(&self.program, &self.model, Question::Holds(&self.property)).expect("a question")
    }

    fn alone(&self) -> Answer {
        Explore { ample_sets: false, ..Explore::default() }.ask(self.query(), &Limits::default(), &())
    }
}

/// What must be the same. After a violation, how much had been looked at may differ.
fn facts(answer: &Answer) -> (Verdict, Option<String>, u64, Option<(u64, u64)>) {
    let all = answer.execution.is_none();
    let counts = all.then_some((answer.stats.states, answer.stats.transitions));
    (answer.verdict, answer.reason.as_ref().map(ToString::to_string), answer.stats.depth, counts)
}

fn settings(dir: &Path, resume: bool) -> Settings {
    Settings { dir: dir.to_owned(), resume, every: Duration::ZERO, about: vec![("file".into(), "a.rml".into())] }
}

/// Asks in all processes; each may have its own directory and limits.
fn ask(
    cluster: &Cluster,
    case: &Case,
    settings: impl Fn(usize) -> Settings + Sync,
    limits: impl Fn(usize) -> Limits + Sync,
) -> Vec<Result<Answer, Error>> {
    let one = |search: &ClusterSearch| {
        let process = search.process();
        search.run(case.query(), &limits(process), &(), Some(&settings(process)))
    };
    cluster.run(one).into_iter().map(|joined| joined.expect("the cluster comes together")).collect()
}

fn usual(_: usize) -> Limits {
    Limits::default()
}

/// Asks, with a time limit: everybody stops in the middle of things.
fn ask_briefly(cluster: &Cluster, case: &Case, dir: &Path, resume: bool, time: Duration) -> Vec<Answer> {
    let limits = |_| Limits::default().with_timeout(Some(time));
    let all = ask(cluster, case, |_| settings(dir, resume), limits);
    all.into_iter().map(|answer| answer.expect("nothing is refused")).collect()
}

fn levels(info: &Info) -> Vec<u64> {
    info.more.levels.iter().map(|level| level.level).collect()
}

#[test]
fn searches_that_stop_often_end_like_those_that_do_not() {
    let cases = [
        case("stm/tl2.rml", "sc", &[("threads", 2), ("vars", 2)]),
        // Here timestamps are ranked too closely at first.
        case("litmus/timestamp_gap.rml", "rmo", &[]),
        case("stm/dstm_bug_steal_active.rml", "sc", &[]),
        case("stm/mcrt.rml", "rmo", &[("threads", 2), ("vars", 2)]),
    ];
    for (processes, workers) in [(3, 1), (2, 2), (1, 1)] {
        let cluster = Cluster { processes, workers, ..Cluster::default() };
        for case in cases.iter().take(processes + 1) {
            let dir = tempfile::tempdir().expect("a temporary directory can be made");
            let expected = facts(&case.alone());
            let mut time = Duration::from_millis(20);
            let (mut stops, mut reached) = (0, (0, 0));
            let last = loop {
                let resume = info(dir.path()).is_ok_and(|parts| parts.len() == processes);
                if !resume {
                    std::fs::remove_dir_all(dir.path()).expect("it can be removed");
                }
                let answers = ask_briefly(&cluster, case, dir.path(), resume, time);
                let stopped = |answer: &Answer| answer.reason.as_ref().and_then(Cause::stop) == Some(Stop::Timeout);
                // The time was enough for the search, and not for the question whether it exercised anything, which each process asks for itself.
                let unsure = |answer: &Answer| matches!(answer.reason, Some(Cause::Unexercised { .. }));
                if answers.iter().all(stopped) || answers.iter().any(unsure) {
                    let parts = info(dir.path()).expect("it can be read");
                    let now =
                        parts.first().map_or((0, 0), |part| (part.more.levels[0].round, part.more.levels[0].level));
                    assert!(now >= reached, "{now:?} after {reached:?}");
                    (stops, reached, time) = (stops + 1, now, time * 2);
                    continue;
                }
                break answers;
            };
            println!("{processes} processes: {stops} stops");
            for answer in &last {
                assert_eq!(facts(answer), expected);
            }
            if expected.3.is_some() {
                // It is complete: told again without a search.
                let again = ask_briefly(&cluster, case, dir.path(), true, Duration::from_secs(60));
                again.iter().for_each(|answer| assert_eq!(facts(answer), expected));
                assert!(info(dir.path()).expect("it can be read").iter().all(|part| part.more.levels[0].complete));
            }
        }
    }
}

/// Stops a search when it has come so far.
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

/// A search that one of the processes interrupted, in this directory.
fn interrupted(case: &Case, dir: &Path) {
    let cluster = Cluster::default();
    let all = cluster.run(|search| {
        let limits = Limits { cancel: Arc::default(), ..Limits::default() };
        let left = if search.process() == 1 { 2 } else { u64::MAX };
        let watch = Impatient { left: left.into(), cancel: Arc::clone(&limits.cancel) };
        search.run(case.query(), &limits, &watch, Some(&settings(dir, false)))
    });
    for answer in all {
        let answer = answer.expect("it comes together").expect("nothing is refused");
        assert_eq!((answer.verdict, answer.reason), (Verdict::Unknown, Some(Stop::Cancelled.into())));
    }
}

/// A longer search, for interruptions.
fn long() -> Case {
    case("stm/norec.rml", "sc", &[("threads", 2), ("vars", 2)])
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("it can be made");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let target = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("it can be copied");
        }
    }
}

/// All processes refuse, and say this.
fn refused(cluster: &Cluster, case: &Case, settings: impl Fn(usize) -> Settings + Sync, parts: &[&str]) {
    for answer in ask(cluster, case, settings, usual) {
        let text = answer.map(|answer| format!("{answer:?}")).expect_err("it is refused").to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}: not {parts:?}");
    }
}

#[test]
fn the_newest_level_that_all_have_is_resumed() {
    let case = long();
    let expected = facts(&case.alone());
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    interrupted(&case, dir.path());
    let found = info(dir.path()).expect("it can be read");
    assert_eq!(found.iter().map(|part| part.more.process).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(found.iter().all(|part| part.more.processes == 3 && part.about[0].1 == "a.rml"));
    let known = levels(&found[0]);
    assert!(known.len() == 2 && found.iter().all(|part| levels(part) == known), "{found:?}");
    // A crash while the last one was written: one process has not got that far.
    let newest = dir.path().join(format!("process-1/level-0-{}", known[0]));
    std::fs::remove_file(&newest).expect("it is there");
    // Half of the next one, which nobody else has, and which was never named.
    let log = dir.path().join("process-2/states-0-0");
    let mut bytes = std::fs::read(&log).expect("it is there");
    bytes.extend_from_slice(&[7; 1000]);
    std::fs::write(&log, &bytes).expect("it can be written");
    std::fs::write(dir.path().join("process-2/level-0-99.new"), "cyrano").expect("it can be written");
    for answer in ask(&Cluster::default(), &case, |_| settings(dir.path(), true), usual) {
        assert_eq!(facts(&answer.expect("nothing is refused")), expected);
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let case = tl2();
    let (one, other) = (tempfile::tempdir(), tempfile::tempdir());
    let (one, other) = (one.expect("it can be made"), other.expect("it can be made"));
    let cluster = Cluster::default();
    let none = |_| settings(one.path(), true);
    refused(&cluster, &case, none, &["no checkpoint that all processes", "process 2", "no level"]);
    for dir in [one.path(), other.path()] {
        let answers = ask(&cluster, &case, |_| settings(dir, false), usual);
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.verdict == Verdict::Verified)));
    }
    // The same levels of the same search, but of two runs.
    let mixed = |process| settings(if process == 1 { other.path() } else { one.path() }, true);
    refused(&cluster, &case, mixed, &["different runs"]);
    refused(&cluster, &case, |_| settings(one.path(), false), &["process 0", "process 2", "--resume"]);
    let empty = tempfile::tempdir().expect("a temporary directory can be made");
    let some = |process| settings(if process == 0 { empty.path() } else { one.path() }, process > 0);
    refused(&cluster, &case, some, &["some begin a new one"]);
    // Another search, other processes, other workers.
    let resume = |_| settings(one.path(), true);
    refused(&cluster, &long(), resume, &["process 1", "program: the checkpoint has"]);
    let model = self::case("stm/tl2.rml", "tso", &[("threads", 2), ("vars", 1)]);
    refused(&cluster, &model, resume, &["model: the checkpoint has sc"]);
    let two = Cluster { processes: 2, ..Cluster::default() };
    refused(&two, &case, resume, &["processes: the checkpoint has 3, this run has 2"]);
    let four = Cluster { processes: 4, ..Cluster::default() };
    refused(&four, &case, resume, &["processes: the checkpoint has 3, this run has 4"]);
    let workers = Cluster { workers: 2, ..Cluster::default() };
    refused(&workers, &case, resume, &["workers: the checkpoint has 1, this run has 2"]);
    // The parts of two processes exchanged.
    let swapped = tempfile::tempdir().expect("a temporary directory can be made");
    for (from, to) in [(0, 0), (1, 2), (2, 1)] {
        copy(&one.path().join(format!("process-{from}")), &swapped.path().join(format!("process-{to}")));
    }
    refused(&cluster, &case, |_| settings(swapped.path(), true), &["process: the checkpoint has 2, this run has 1"]);
    // One is lost.
    std::fs::remove_dir_all(other.path().join("process-2")).expect("it is there");
    refused(&cluster, &case, |_| settings(other.path(), true), &["process 2 (127.0.0.1:", "has no level"]);
    // Everything is still as it was.
    for answer in ask(&cluster, &case, resume, usual) {
        assert_eq!(facts(&answer.expect("nothing is refused")), facts(&case.alone()));
    }
}

/// The files of a part, but for the lock.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("the directory is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "lock"));
    files.sort();
    files
}

#[test]
fn damaged_parts_are_refused() {
    let case = tl2();
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let cluster = Cluster { processes: 2, ..Cluster::default() };
    assert!(ask(&cluster, &case, |_| settings(dir.path(), false), usual).iter().all(Result::is_ok));
    let found = files(&dir.path().join("process-1"));
    assert_eq!(found.len(), 3, "{found:?}");
    for path in found {
        let good = std::fs::read(&path).expect("it is there");
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let check = |bad: &[u8]| {
            std::fs::write(&path, bad).expect("it can be written");
            refused(&cluster, &case, |_| settings(dir.path(), true), &["process 1", "damaged", &name]);
        };
        for at in [0, 5, 17, 23, 24, 40, good.len() / 3, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            check(&bad);
        }
        for keep in [0, 10, good.len() / 2, good.len() - 1] {
            check(&good[..keep]);
        }
        std::fs::write(&path, &good).expect("it can be written");
    }
    for answer in ask(&cluster, &case, |_| settings(dir.path(), true), usual) {
        assert_eq!(facts(&answer.expect("nothing is refused")), facts(&case.alone()));
    }
}

#[test]
fn little_memory_keeps_what_was_found() {
    let case = long();
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let cluster = Cluster { processes: 2, ..Cluster::default() };
    let little = |process| Limits { memory: if process == 1 { 6 << 20 } else { 1 << 30 }, ..Limits::default() };
    for answer in ask(&cluster, &case, |_| settings(dir.path(), false), little) {
        let answer = answer.expect("nothing is refused");
        assert_eq!((answer.verdict, answer.reason), (Verdict::Unknown, Some(Stop::Memory.into())));
    }
    let kept: u64 = info(dir.path()).expect("it can be read").iter().map(|part| part.states).sum();
    assert!(kept > 10_000, "{kept}");
    // With even less it cannot be read, and nothing is lost.
    let less = |_| Limits { memory: 1 << 17, ..Limits::default() };
    for answer in ask(&cluster, &case, |_| settings(dir.path(), true), less) {
        let answer = answer.expect("nothing is refused");
        let reason = answer.reason.expect("a cause").to_string();
        assert!(answer.verdict == Verdict::Unknown && reason.contains("need more memory"), "{reason}");
        assert!(reason.contains("process 0") && reason.contains("--resume"), "{reason}");
    }
    for answer in ask(&cluster, &case, |_| settings(dir.path(), true), usual) {
        assert_eq!(facts(&answer.expect("nothing is refused")), facts(&case.alone()));
    }
}
