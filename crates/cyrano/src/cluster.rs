//! `--cluster`: this process as one of several that search together.

use std::path::Path;

use cyrano_cluster::{ClusterSearch, Configuration, Key, Options, hosts};
use cyrano_engine::Verdict;
use cyrano_explore::Explore;
use cyrano_session::{EngineName, Failure, Inputs, VERSION};

use crate::args::{ClusterArgs, OutputArgs, RunArgs};
use crate::command_line;
use crate::console;

/// Joins the cluster that the arguments name, if they name one. `inputs` is what the checks depend on.
pub fn join(
    args: &ClusterArgs,
    run: &RunArgs,
    output: &OutputArgs,
    explore: &Explore,
    workers: usize,
    inputs: impl FnOnce() -> Result<Inputs, Failure>,
) -> Result<Option<ClusterSearch>, Failure> {
    let (Some(list), Some(process), Some(key)) = (&args.cluster, args.process, &args.cluster_key) else {
        return Ok(None);
    };
    if !matches!(run.engine, None | Some(EngineName::Explore)) {
        return Err(Failure::input("--cluster is for --engine explore"));
    }
    let text = String::from_utf8_lossy(&read(list)?).into_owned();
    let hosts = hosts::parse(&text).map_err(|error| Failure::input(format!("{}: {error}", list.display())))?;
    if hosts.len() <= process {
        let (path, last) = (list.display(), hosts.len() - 1);
        return Err(Failure::input(format!("{path} has processes 0 to {last}: there is no process {process}")));
    }
    let key = read_key(key, output)?;
    let configuration = configuration(&hosts, inputs()?);
    let (wait, silence) = (args.cluster_wait, args.cluster_silence);
    let options = Options { hosts, process, key, configuration, workers, wait, silence };
    let note = |text: &str| console::note(output, &format!("cluster: {text}"));
    let joined = ClusterSearch::join(explore, options, &note);
    joined.map(Some).map_err(|error| Failure::input(format!("no cluster: {error}")))
}

/// Tells what came of it: the report is printed by process 0 alone.
pub fn conclude(cluster: &ClusterSearch, verdicts: impl Iterator<Item = Verdict>, output: &OutputArgs) {
    if let Some(fault) = cluster.fault() {
        console::error(&format!("error: {fault}"));
    }
    cluster.remarks().iter().for_each(|text| console::note(output, &format!("checkpoint: {text}")));
    if cluster.process() > 0 {
        let gravest = verdicts.max_by_key(|verdict| verdict.gravity()).unwrap_or(Verdict::Vacuous);
        let (process, processes) = (cluster.process(), cluster.processes());
        let text = format!("process {process} of {processes}: {} (process 0 has the report)", gravest.name());
        console::note(output, &text);
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))
}

fn read_key(path: &Path, output: &OutputArgs) -> Result<Key, Failure> {
    let content = read(path)?;
    if is_public(path) {
        console::note(output, &format!("cluster: everybody on this machine can read the key {}", path.display()));
    }
    Key::new(&content).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

#[cfg(unix)]
fn is_public(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_public(_: &Path) -> bool {
    false
}

/// What all processes must have in common, in the order in which differences are told.
fn configuration(hosts: &[String], inputs: Inputs) -> Configuration {
    let (command, options) = command_line::now();
    let mut all = vec![("version".to_owned(), VERSION.to_owned()), ("command".to_owned(), command)];
    // An option that one side has and the other one has not is a difference of this list, whatever the option is.
    // Directories for checkpoints may have other names on other machines.
    let given = options.iter().map(|(name, values)| match name.as_str() {
        "--checkpoint" => name.clone(),
        _ => format!("{name} {}", values.join(" ")),
    });
    all.push(("arguments".to_owned(), given.collect::<Vec<_>>().join(" ")));
    all.push(("list of hosts".to_owned(), hosts.join(" ")));
    all.extend(inputs.hashes().into_iter().map(|(file, hash)| (format!("content of {file}"), hash)));
    all
}
