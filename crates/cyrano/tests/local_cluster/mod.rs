//! Processes that search together, on the loopback interface.

#![allow(dead_code, reason = "each test file uses its part")]

use std::process::{Child, Stdio};

use super::cli::{Done, Folder, done};

const KEY: &str = "6b1f0c6b9d3f4a55a5d6b0f3f1a2c4e8";

/// A place with a key and a list of hosts.
pub fn place(files: &[(&str, &str)], processes: usize) -> Folder {
    let place = Folder::new(files);
    let hosts = cyrano_cluster::hosts::free(processes).expect("there are ports");
    place.write("hosts", hosts.join("\n").as_bytes());
    place.write("key", KEY.as_bytes());
    place
}

/// Starts one of the processes.
pub fn start(place: &Folder, line: &str, process: usize) -> Child {
    let workers = if line.contains("--workers") { "" } else { " --workers 1" };
    let line = format!("{line} --cluster hosts --cluster-key key --process {process}{workers}");
    let mut command = place.command(&line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be run")
}

/// Waits for its end.
pub fn wait(child: Child) -> Done {
    done(&child.wait_with_output().expect("it ends"))
}

/// Runs a command line in this many processes.
pub fn run(place: &Folder, line: &str, processes: usize) -> Vec<Done> {
    let children: Vec<Child> = (0..processes).map(|process| start(place, line, process)).collect();
    children.into_iter().map(wait).collect()
}
