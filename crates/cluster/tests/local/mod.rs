//! Clusters whose processes are threads of a test, on the loopback interface.

use std::time::Duration;

use cyrano_cluster::{ClusterSearch, Configuration, Error, Key, Options};
use cyrano_explore::Explore;

/// A cluster.
pub struct Cluster {
    pub processes: usize,
    pub workers: usize,
    pub wait: Duration,
    pub explore: Explore,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { processes: 3, workers: 1, wait: Duration::from_secs(30), explore: Explore::default() }
    }
}

/// A file of the library.
#[allow(dead_code, reason = "not every test needs it")]
pub fn library(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Addresses that are free.
pub fn free(count: usize) -> Vec<String> {
    cyrano_cluster::hosts::free(count).expect("there are ports")
}

impl Cluster {
    /// The options of one process.
    pub fn options(&self, hosts: &[String], process: usize) -> Options {
        let configuration: Configuration = vec![("version".into(), "test".into())];
        let key = Key::new(b"0123456789abcdef0123456789abcdef").expect("it is long enough");
        let (workers, wait) = (self.workers, self.wait);
        Options { hosts: hosts.to_vec(), process, key, configuration, workers, wait, silence: Duration::from_secs(20) }
    }

    /// Does the same in all processes.
    pub fn run<R: Send>(&self, work: impl Fn(&ClusterSearch) -> R + Sync) -> Vec<Result<R, Error>> {
        self.run_with(|_, _| {}, work)
    }

    /// Does the same in all processes, some of them with other options.
    pub fn run_with<R: Send>(
        &self,
        change: impl Fn(usize, &mut Options) + Sync,
        work: impl Fn(&ClusterSearch) -> R + Sync,
    ) -> Vec<Result<R, Error>> {
        let hosts = free(self.processes);
        let one = |process: usize| {
            let mut options = self.options(&hosts, process);
            change(process, &mut options);
            let search = ClusterSearch::join(&self.explore, options, &|_| {})?;
            Ok(work(&search))
        };
        let one = &one;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.processes).map(|process| scope.spawn(move || one(process))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }
}
