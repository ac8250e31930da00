//! Rebuilds the binary when the embedded library changes, which the compiler alone would not notice, and tells it which commit it is built from.
//!
//! Only optimised builds ask for the commit: others would be linked again after every commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=library");
    println!("cargo:rerun-if-changed=build.rs");
    let optimised = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let origin = if optimised { published().or_else(checked_out) } else { Some("debug build".to_owned()) };
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = origin.map_or(version.clone(), |origin| format!("{version} ({origin})"));
    println!("cargo:rustc-env=CYRANO_VERSION={version}");
}

/// The commit of a published package, from what `cargo package` writes beside the manifest.
fn published() -> Option<String> {
    let notes = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = notes.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?;
    Some(commit.get(..10)?.to_owned())
}

/// The commit of a checkout, and its date.
fn checked_out() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["log", "-1", "--abbrev=10", "--format=%h %cs"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
