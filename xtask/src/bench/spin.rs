//! Spin: its verifier `pan`, built from a model, and what it prints.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::measure::Run;
use super::models::{Constants, folder};
use super::process::{limited, run, succeed};

/// Deep enough for every model here; the search stack for it is allocated in full, so measured runs use a smaller one.
const DEEPEST: u64 = 10_000_000;

/// Bytes of memory that Spin may use, in MiB: the same as Cyrano's default.
const MEMORY: u32 = 8192;

/// How `pan` is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Build {
    /// Without reductions.
    Plain,
    /// Without reductions, for counting only: quick to build.
    Counting,
    /// With partial-order reduction.
    Reduced,
    /// Without reductions, states compressed.
    Collapse,
}

impl Build {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-O3", "-DNOREDUCE"],
            Self::Counting => &["-O0", "-DNOREDUCE"],
            Self::Reduced => &["-O3"],
            Self::Collapse => &["-O3", "-DNOREDUCE", "-DCOLLAPSE"],
        }
    }
}

/// A verifier.
pub struct Pan {
    folder: TempDir,
    /// Seconds that building it took.
    pub built: f64,
}

/// Sizes that Spin's user has to know: the hash table's slots (as a power of two) and the depth of the search.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    slots: u32,
    depth: u64,
}

impl Sizes {
    /// Where nothing is known yet; the slots are Spin's default.
    pub const UNKNOWN: Self = Self { slots: 24, depth: DEEPEST };
    /// For small instances.
    pub const SMALL: Self = Self { slots: 16, depth: 100_000 };
}

/// Installs what is missing, if that is allowed.
pub fn provide() -> anyhow::Result<()> {
    let missing: Vec<&str> = ["spin", "gcc"].into_iter().filter(|program| !installed(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let mut id = Command::new("id");
    id.arg("-u");
    let root = run(id)?.out.trim() == "0";
    ensure!(root && installed("apt-get"), "not found: {names} (Debian: `apt-get install {names}`, as root)");
    eprintln!("installing {names}");
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(&missing);
    succeed(install).context("Spin could not be installed; `apt-get update` may be needed first")?;
    Ok(())
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Spin's version, as it prints it.
pub fn version() -> anyhow::Result<String> {
    let mut command = Command::new("spin");
    command.arg("-V");
    let text = succeed(command)?.out;
    Ok(text.split(" -- ").next().unwrap_or_default().trim().to_owned())
}

impl Pan {
    /// Builds the verifier of a model.
    pub fn build(model: &str, constants: &Constants, build: Build) -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("cyrano-spin-").tempdir()?;
        let began = Instant::now();
        let mut spin = Command::new("spin");
        spin.args(constants.iter().map(|(constant, value)| format!("-D{constant}={value}")));
        spin.arg("-a").arg(folder().join(format!("{model}.pml"))).current_dir(temporary.path());
        let said = succeed(spin)?;
        ensure!(!said.out.contains("rror"), "spin -a {model}.pml:\n{}", said.out);
        let mut gcc = Command::new("gcc");
        gcc.args(build.flags()).args(["-DSAFETY", "-DNOFAIR", &format!("-DMEMLIM={MEMORY}")]);
        gcc.args(["-w", "-o", "pan", "pan.c"]).current_dir(temporary.path());
        succeed(gcc)?;
        Ok(Self { folder: temporary, built: began.elapsed().as_secs_f64() })
    }

    fn command(&self, sizes: Sizes, seconds: Option<u32>) -> Command {
        let pan = self.folder.path().join("pan");
        let mut command = limited(&pan, seconds);
        command.args([format!("-m{}", sizes.depth), format!("-w{}", sizes.slots)]).current_dir(self.folder.path());
        command
    }

    /// One run; nothing if it needs more than the limits.
    pub fn try_run(&self, sizes: Sizes, seconds: Option<u32>) -> anyhow::Result<Option<(Run, Sizes)>> {
        let done = run(self.command(sizes, seconds))?;
        let text = done.out + &done.err;
        if done.code.is_none() || ["MEMLIM", "out of memory"].iter().any(|words| text.contains(words)) {
            ensure!(seconds.is_some(), "pan needs too much or was stopped by a signal:\n{text}");
            return Ok(None);
        }
        let printed = Printed::read(&text).with_context(|| format!("pan did not print what it should:\n{text}"))?;
        let cut_short = ["not completed", "search depth too small"].iter().any(|words| text.contains(words));
        if printed.errors != 0 || cut_short || done.code != Some(0) {
            bail!("pan did not finish its search without errors:\n{text}");
        }
        let run = Run {
            states: printed.states,
            transitions: printed.transitions,
            bytes: printed.memory_for_states * MIB + printed.hash_table * MIB,
            usage: done.usage,
        };
        Ok(Some((run, printed.sizes())))
    }

    /// One run without limits.
    pub fn run(&self, sizes: Sizes) -> anyhow::Result<(Run, Sizes)> {
        self.try_run(sizes, None)?.context("pan was stopped")
    }
}

const MIB: f64 = 1024.0 * 1024.0;

/// What `pan` says about its search.
#[derive(Debug, PartialEq)]
struct Printed {
    states: u64,
    transitions: u64,
    errors: u64,
    depth: u64,
    /// In MiB; small searches have no line of their own for it, so there it is what they take without compression.
    memory_for_states: f64,
    hash_table: f64,
}

impl Printed {
    fn read(text: &str) -> Option<Self> {
        let states = before(text, "states, stored")?;
        Some(Self {
            states: states as u64,
            transitions: before(text, "transitions (= stored+matched)")? as u64,
            errors: after(text, "errors: ")?,
            depth: after(text, "depth reached ")?,
            memory_for_states: before(text, "actual memory usage for states")
                .or_else(|| before(text, "equivalent memory usage for states"))
                .unwrap_or(f64::NAN),
            hash_table: before(text, "memory used for hash table")?,
        })
    }

    /// One to two slots for each state, and just the depth.
    fn sizes(&self) -> Sizes {
        Sizes { slots: (u64::BITS - self.states.leading_zeros()).max(16), depth: self.depth + 1000 }
    }
}

/// The number before some words.
fn before(text: &str, words: &str) -> Option<f64> {
    let (left, _) = text.split_once(words)?;
    left.split_whitespace().last()?.parse().ok()
}

/// The number after some words.
fn after(text: &str, words: &str) -> Option<u64> {
    let (_, right) = text.split_once(words)?;
    let end = right.find(|c: char| !c.is_ascii_digit()).unwrap_or(right.len());
    right[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pan_prints() {
        let text = "State-vector 48 byte, depth reached 35585, errors: 0\n   123080 states, stored\n   369241 states, matched\n   \
                    492321 transitions (= stored+matched)\n 1.5e+06 atomic steps\n    7.982\tequivalent memory usage for states \
                    (stored*(State-vector + overhead))\n    5.888\tactual memory usage for states (compression: 73.77%)\n   \
                    32.000\tmemory used for hash table (-w22)\n";
        let printed = Printed::read(text).expect("is complete");
        let expected = Printed {
            states: 123_080,
            transitions: 492_321,
            errors: 0,
            depth: 35_585,
            memory_for_states: 5.888,
            hash_table: 32.0,
        };
        assert_eq!(printed, expected);
        assert_eq!((printed.sizes().slots, printed.sizes().depth), (17, 36_585));
        assert_eq!(Printed::read("pan: out of memory"), None);
    }
}
