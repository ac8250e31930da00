//! `cyrano cluster run` and `cyrano cluster key`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cyrano_cluster::Key;

use crate::args::ClusterRunArgs;
use crate::console;
use cyrano_session::Failure;

/// Prints a new key.
pub fn key() -> Result<u8, Failure> {
    let key = Key::generate().map_err(Failure::input)?;
    console::print(&format!("{key}\n"))?;
    Ok(0)
}

/// Starts the processes and waits for them.
pub fn run(args: &ClusterRunArgs) -> Result<u8, Failure> {
    let text = |at: usize| args.arguments.get(at).map(|argument| argument.to_string_lossy());
    if text(0).as_deref() != Some("check") {
        return Err(Failure::input("after `--` there must be a command for a cluster: `check` with its arguments"));
    }
    if args.arguments.iter().any(|argument| argument.to_string_lossy().starts_with("--cluster")) {
        return Err(Failure::input("`cluster run` makes hosts and key itself: leave --cluster options out"));
    }
    // The first interrupt is for the processes, which get it too and tell what they know.
    crate::interrupt::install()?;
    let dir = Directory::new()?;
    let hosts = cyrano_cluster::hosts::free(args.processes.into()).map_err(Failure::input)?;
    std::fs::write(dir.0.join("hosts"), hosts.join("\n")).map_err(unwritable)?;
    write_secret(&dir.0.join("key"), &Key::generate().map_err(Failure::input)?).map_err(unwritable)?;
    let mut children = Vec::new();
    for process in 0..args.processes {
        match start(args, &dir.0, process) {
            Ok(child) => children.push(child),
            Err(failure) => {
                children.iter_mut().for_each(stop);
                return Err(failure);
            }
        }
    }
    let echoes: Vec<_> = children.iter_mut().enumerate().skip(1).flat_map(|(at, child)| echo(at, child)).collect();
    let codes: Vec<Option<i32>> =
        children.iter_mut().map(|child| child.wait().ok().and_then(|status| status.code())).collect();
    for thread in echoes {
        // A reader that failed has nothing more to say.
        let _ = thread.join();
    }
    let code = codes.first().copied().flatten().and_then(|code| u8::try_from(code).ok());
    code.ok_or_else(|| Failure::input("process 0 ended without an exit code"))
}

fn start(args: &ClusterRunArgs, dir: &Path, process: u16) -> Result<Child, Failure> {
    let cannot = |error: std::io::Error| Failure::input(format!("cannot start process {process}: {error}"));
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.args(&args.arguments).arg("--cluster").arg(dir.join("hosts")).arg("--cluster-key").arg(dir.join("key"));
    command.arg("--process").arg(process.to_string()).stdin(Stdio::null());
    let given = args.arguments.iter().any(|argument| argument.to_string_lossy().starts_with("--workers"));
    if !given {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        command.arg("--workers").arg((processors / usize::from(args.processes)).max(1).to_string());
    }
    if process > 0 {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    command.spawn().map_err(cannot)
}

fn stop(child: &mut Child) {
    // One that has ended by itself cannot be stopped.
    let _ = child.kill();
    let _ = child.wait();
}

/// Shows what a process says, with its number before each line.
fn echo(process: usize, child: &mut Child) -> Vec<std::thread::JoinHandle<()>> {
    let out = child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>);
    let err = child.stderr.take().map(|err| Box::new(err) as Box<dyn Read + Send>);
    let show = move |stream: Box<dyn Read + Send>| {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            console::error(&format!("[{process}] {line}"));
        }
    };
    [out, err].into_iter().flatten().map(|stream| std::thread::spawn(move || show(stream))).collect()
}

/// Writes a file that only we can read.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn unwritable(error: std::io::Error) -> Failure {
    Failure::input(format!("cannot write a temporary file: {error}"))
}

/// A directory for us alone, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Self, Failure> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| Failure::input(format!("no random numbers: {error}")))?;
        let path = std::env::temp_dir().join(format!("cyrano-cluster-{:016x}", u64::from_le_bytes(bytes)));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(unwritable)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed now will be by the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
