//! How many executions small programs have, worked out by hand, and what is observed in them.

use std::collections::BTreeSet;
use std::sync::{Arc as Shared, Mutex as Kept};

use cyrano_loom::model::{Builder, Explored};
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cyrano_loom::sync::atomic::{AtomicUsize, fence};
use cyrano_loom::thread;

type Outcomes = BTreeSet<Vec<usize>>;
type Memory = [AtomicUsize; 2];
type Body = fn(&Memory) -> Vec<usize>;

/// Runs threads that return what they have read: what is read in some execution, and what was counted.
fn outcomes(threads: &'static [Body]) -> (Outcomes, Explored) {
    let seen = Shared::new(Kept::new(BTreeSet::new()));
    let put = Shared::clone(&seen);
    let explored = Builder::new().explore(move || {
        let memory = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let begin = |body: &'static Body| {
            let memory = memory.clone();
            thread::spawn(move || body(&memory))
        };
        let threads: Vec<_> = threads.iter().map(begin).collect();
        let read = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        put.lock().unwrap().insert(read);
    });
    let seen = seen.lock().unwrap().clone();
    (seen, explored)
}

#[track_caller]
fn check(threads: &'static [Body], executions: u64, observed: usize) -> Outcomes {
    let (seen, explored) = outcomes(threads);
    assert!(explored.complete);
    assert_eq!((explored.executions, seen.len()), (executions, observed), "{explored:?} {seen:?}");
    seen
}

fn add(memory: &Memory) -> Vec<usize> {
    vec![memory[0].fetch_add(1, Relaxed)]
}

#[test]
fn four_increments_have_24_executions() {
    check(&[add, add, add, add], 24, 24);
}

#[test]
fn three_readers_have_8_executions() {
    fn read(memory: &Memory) -> Vec<usize> {
        vec![memory[0].load(Relaxed)]
    }
    fn write(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, Relaxed);
        vec![]
    }
    check(&[write, read, read, read], 8, 8);
}

#[test]
fn independent_reads_of_independent_writes_have_16_executions() {
    fn x(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, Release);
        vec![]
    }
    fn y(memory: &Memory) -> Vec<usize> {
        memory[1].store(1, Release);
        vec![]
    }
    fn xy(memory: &Memory) -> Vec<usize> {
        vec![memory[0].load(Acquire), memory[1].load(Acquire)]
    }
    fn yx(memory: &Memory) -> Vec<usize> {
        vec![memory[1].load(Acquire), memory[0].load(Acquire)]
    }
    check(&[x, y, xy, yx], 16, 16);
}

#[test]
fn sequentially_consistent_store_buffering_is_not_weak() {
    fn one(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, SeqCst);
        vec![memory[1].load(SeqCst)]
    }
    fn other(memory: &Memory) -> Vec<usize> {
        memory[1].store(1, SeqCst);
        vec![memory[0].load(SeqCst)]
    }
    let seen = check(&[one, other], 3, 3);
    assert!(!seen.contains(&vec![0, 0]));
}

#[test]
fn store_buffering_is_weak_without_and_strong_with_fences() {
    fn one(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, Release);
        vec![memory[1].load(Acquire)]
    }
    fn other(memory: &Memory) -> Vec<usize> {
        memory[1].store(1, Release);
        vec![memory[0].load(Acquire)]
    }
    check(&[one, other], 4, 4);
    fn fenced(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, Relaxed);
        fence(SeqCst);
        vec![memory[1].load(Relaxed)]
    }
    fn other_fenced(memory: &Memory) -> Vec<usize> {
        memory[1].store(1, Relaxed);
        fence(SeqCst);
        vec![memory[0].load(Relaxed)]
    }
    check(&[fenced, other_fenced], 3, 3);
}

#[test]
fn a_message_is_passed_by_release_and_acquire_only() {
    fn write(memory: &Memory) -> Vec<usize> {
        memory[0].store(1, Relaxed);
        memory[1].store(1, Release);
        vec![]
    }
    fn read(memory: &Memory) -> Vec<usize> {
        vec![memory[1].load(Acquire), memory[0].load(Relaxed)]
    }
    fn weak(memory: &Memory) -> Vec<usize> {
        vec![memory[1].load(Relaxed), memory[0].load(Relaxed)]
    }
    check(&[write, read], 3, 3);
    check(&[write, weak], 4, 4);
}

#[test]
fn load_buffering_is_outside_of_the_model() {
    fn one(memory: &Memory) -> Vec<usize> {
        let read = memory[0].load(Relaxed);
        memory[1].store(1, Relaxed);
        vec![read]
    }
    fn other(memory: &Memory) -> Vec<usize> {
        let read = memory[1].load(Relaxed);
        memory[0].store(1, Relaxed);
        vec![read]
    }
    let seen = check(&[one, other], 3, 3);
    assert!(!seen.contains(&vec![1, 1]));
}

#[test]
fn a_part_of_the_condition_for_revisits_is_missed() {
    let builder = || {
        let mut builder = Builder::new();
        builder.fault = Some(cyrano_graphs::Fault::NoRevisits);
        builder
    };
    let explored = builder().explore(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let other = number.clone();
        let thread = thread::spawn(move || other.fetch_add(1, Relaxed));
        number.fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(explored.executions, 1);
}
