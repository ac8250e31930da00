//! Executions as files, searches that go on later, and several who search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicUsize as Plain;

use cyrano_loom::model::{Builder, MemoryModel};
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cyrano_loom::sync::atomic::{AtomicUsize, Ordering};
use cyrano_loom::thread;

use crate::says;

/// Store buffering: what two threads read, both nothing is a panic.
fn buffering(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + Clone {
    move || {
        let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = words.clone();
        let thread = thread::spawn(move || {
            other[0].store(1, store);
            other[1].load(load)
        });
        words[1].store(1, store);
        let own = words[0].load(load);
        assert!(own + thread.join().unwrap() > 0, "both read nothing");
    }
}

fn under(model: MemoryModel, test: impl Fn() + Send + Sync + 'static) -> bool {
    let mut builder = Builder::new();
    builder.memory_model = model;
    catch_unwind(AssertUnwindSafe(|| builder.explore(test))).is_ok()
}

#[test]
fn models_differ() {
    let published = |relaxed: bool| {
        move || {
            let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let other = words.clone();
            let order = if relaxed { Relaxed } else { Release };
            let thread = thread::spawn(move || {
                other[0].store(1, Relaxed);
                other[1].store(1, order);
            });
            if words[1].load(if relaxed { Relaxed } else { Acquire }) == 1 {
                assert_eq!(words[0].load(Relaxed), 1);
            }
            thread.join().unwrap();
        }
    };
    let all = [MemoryModel::Rc11, MemoryModel::Tso, MemoryModel::Sc];
    assert_eq!(all.map(|model| under(model, buffering(Relaxed, Relaxed))), [false, false, true]);
    assert_eq!(all.map(|model| under(model, buffering(SeqCst, SeqCst))), [true, true, true]);
    assert_eq!(all.map(|model| under(model, published(true))), [false, true, true]);
    assert_eq!(all.map(|model| under(model, published(false))), [true, true, true]);
}

#[test]
fn an_execution_is_run_again() {
    let folder = tempfile("traces");
    for model in [MemoryModel::Rc11, MemoryModel::Tso] {
        // The one call that both runs have in common.
        let run = |trace: Option<&Path>, replay: Option<&Path>, runs: &'static Plain| {
            let mut builder = Builder::new();
            builder.memory_model = model;
            (builder.trace, builder.replay) = (trace.map(Path::to_owned), replay.map(Path::to_owned));
            let test = buffering(Relaxed, Relaxed);
            let counted = move || {
                runs.fetch_add(1, Relaxed);
                test();
            };
            let found = catch_unwind(AssertUnwindSafe(|| builder.explore(counted)));
            *found.expect_err("something is wrong").downcast::<String>().unwrap()
        };
        static SEARCH: Plain = Plain::new(0);
        static REPLAY: Plain = Plain::new(0);
        let found = run(Some(&folder), None, &SEARCH);
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        assert!(found.contains("both read nothing") && found.contains("CYRANO_REPLAY="), "{found}");
        let before = REPLAY.load(Relaxed);
        let again = run(None, Some(&file), &REPLAY);
        assert_eq!(REPLAY.load(Relaxed) - before, 1, "one execution is one run");
        let lanes = |text: &str| text.lines().filter(|line| line.contains(": ")).map(str::to_owned).collect::<Vec<_>>();
        let (found, again) = (lanes(&found), lanes(&again));
        assert!(again[0].contains("both read nothing"), "{again:?}");
        assert_eq!(found.iter().filter(|line| line.contains("<- what")).count(), 2);
        assert_eq!(again.iter().filter(|line| line.contains("<- what")).count(), 2);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("cyrano-loom-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_trace_of_something_else_is_refused() {
    let folder = tempfile("else");
    let file = folder.join("no.json");
    std::fs::write(&file, "{}").unwrap();
    let mut builder = Builder::new();
    builder.replay = Some(file);
    let found = catch_unwind(AssertUnwindSafe(|| builder.explore(|| ())));
    assert!(found.unwrap_err().downcast::<String>().unwrap().contains("is no trace: it has no schema"));
    std::fs::remove_dir_all(folder).unwrap();
}

fn adds() {
    let number = Arc::new(AtomicUsize::new(0));
    let begin = |_| {
        let number = number.clone();
        thread::spawn(move || {
            // A thread begins another one, so that threads have numbers by who came first.
            let own = number.clone();
            let thread = thread::spawn(move || own.fetch_add(1, Relaxed));
            number.fetch_add(1, Relaxed);
            thread.join().unwrap();
        })
    };
    let threads: Vec<_> = (0..2).map(begin).collect();
    number.fetch_add(1, Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn several_find_what_one_finds() {
    let mut builder = Builder::new();
    builder.workers = 1;
    let alone = builder.explore(adds);
    (builder.workers, builder.at_once) = (3, true);
    let together = builder.explore(adds);
    assert_eq!((alone.executions, alone.blocked, alone.complete), (120, 0, true));
    assert_eq!((together.executions, together.blocked, together.complete), (120, 0, true));
    let wrong = catch_unwind(AssertUnwindSafe(|| builder.explore(buffering(Relaxed, Relaxed))));
    assert!(wrong.unwrap_err().downcast::<String>().unwrap().contains("both read nothing"));
}

#[test]
fn a_search_goes_on_where_it_was() {
    let folder = tempfile("checkpoint");
    let file = folder.join("adds");
    let (mut executions, mut runs) = (0, 0);
    while executions < 120 {
        let mut builder = Builder::new();
        builder.workers = 1;
        builder.checkpoint_file = Some(file.clone());
        builder.checkpoint_interval = 7;
        builder.max_permutations = Some(30);
        let explored = builder.explore(adds);
        assert!(explored.executions > executions, "it gets on: {explored:?}");
        (executions, runs) = (explored.executions, runs + 1);
        if explored.complete {
            break;
        }
    }
    assert_eq!(executions, 120);
    assert!(runs > 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_is_told_by_whoever_finds_it() {
    says(buffering(Relaxed, Relaxed), &["both read nothing", "<- what it was made with"]);
}
