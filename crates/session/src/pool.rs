//! Independent jobs on several threads, results in the order of the jobs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many processors there are.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does every job, `workers` at a time.
pub fn map<T: Sync, R: Send>(workers: usize, jobs: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { break };
            let result = work(at, job);
            results.lock().expect("no worker panics while it holds the lock")[at] = Some(result);
        }
    };
    // The thread that waits for the others is one of them: a single job needs no thread at all.
    std::thread::scope(|scope| {
        for _ in 1..workers.clamp(1, jobs.len().max(1)) {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().expect("no worker panics while it holds the lock");
    results.into_iter().map(|result| result.expect("every job was done")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let check = |workers: usize, jobs: usize| {
            let jobs: Vec<usize> = (0..jobs).collect();
            let results = super::map(workers, &jobs, |at, job| (at, job * 2));
            assert!(results.iter().enumerate().all(|(at, result)| *result == (at, at * 2)));
            assert_eq!(results.len(), jobs.len());
        };
        check(1, 3);
        check(4, 100);
        check(9, 2);
        check(2, 0);
    }
}
