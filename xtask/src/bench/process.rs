//! Processes with what they used: wall time, processor time and peak resident memory.
//!
//! The standard library does not give the usage of a child, so the child is waited for with `wait4`. Its output goes to a file: a pipe
//! that nobody empties would stop it.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;

/// What a process used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Seconds from its start until it was waited for.
    pub wall: f64,
    /// Seconds of processors, of the process and the system for it.
    pub cpu: f64,
    /// Peak resident bytes.
    pub rss: f64,
}

/// A process that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; nothing if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub usage: Usage,
}

/// A process that may still run.
pub struct Started {
    shown: String,
    id: libc::pid_t,
    began: Instant,
    out: File,
    err: File,
}

/// How a command is shown.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// A command that may use this many seconds of processor time; a signal ends it then.
/// `prlimit` replaces itself by the program, so that what is waited for is the program.
pub fn limited(program: &Path, seconds: Option<u32>) -> Command {
    let Some(seconds) = seconds else { return Command::new(program) };
    let mut command = Command::new("prlimit");
    command.arg(format!("--cpu={seconds}")).arg(program);
    command
}

/// Runs a command to its end.
pub fn run(command: Command) -> anyhow::Result<Finished> {
    start(command)?.finish()
}

/// Runs a command and insists on success.
pub fn succeed(command: Command) -> anyhow::Result<Finished> {
    let shown = shown(&command);
    let done = run(command)?;
    anyhow::ensure!(done.code == Some(0), "`{shown}` failed:\n{}{}", done.out, done.err);
    Ok(done)
}

/// Starts a command.
pub fn start(mut command: Command) -> anyhow::Result<Started> {
    let shown = shown(&command);
    let (out, err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
    let began = Instant::now();
    let child = command.spawn().with_context(|| shown.clone())?;
    let id = libc::pid_t::try_from(child.id())?;
    Ok(Started { shown, id, began, out, err })
}

impl Started {
    /// Waits for the end.
    pub fn finish(mut self) -> anyhow::Result<Finished> {
        let (status, usage) = wait(self.id).with_context(|| format!("waiting for `{}`", self.shown))?;
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        let usage = Usage {
            wall: self.began.elapsed().as_secs_f64(),
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            rss: usage.ru_maxrss as f64 * 1024.0,
        };
        let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        Ok(Finished { code, out: text(&mut self.out)?, err: text(&mut self.err)?, usage })
    }
}

fn wait(id: libc::pid_t) -> std::io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: `rusage` is made of integers, for which zeroes are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the types that `wait4` fills in; the child is ours and not yet waited for.
    let waited = unsafe { libc::wait4(id, &mut status, 0, &mut usage) };
    if waited == id { Ok((status, usage)) } else { Err(std::io::Error::last_os_error()) }
}

fn text(file: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_exit_code_and_usage() {
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo out; echo err >&2; exit 3"]);
        let done = run(command).expect("runs");
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(3), "out\n", "err\n"));
        assert!(done.usage.cpu > 0.0 && done.usage.wall > 0.0 && done.usage.rss > 100_000.0, "{:?}", done.usage);
        assert!(run(Command::new("/nonexistent")).is_err());
        let mut forever = limited(Path::new("sh"), Some(1));
        forever.args(["-c", "while :; do :; done"]);
        let stopped = run(forever).expect("runs");
        assert_eq!(stopped.code, None);
        assert!((0.5..3.0).contains(&stopped.usage.cpu), "{:?}", stopped.usage);
    }
}
