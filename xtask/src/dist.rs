//! `cargo xtask dist`: what is handed out, in `target/dist`: the program without symbols and with a low floor of libraries, archive, Debian package, checksums,
//! and what it is made of (CycloneDX).
//!
//! Tools that are not there are installed from their registries into `target/tools`. Archives have sorted names, one owner and the date of the commit, so that two
//! builds of one commit are the same.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::root;

const USAGE: &str = "\
cargo xtask dist [--native] [--program FILE]

(nothing)        builds with the profile `dist` for musl where Rust has it, else for glibc 2.17, by way of cargo-zigbuild
--native         builds for this machine as it is
--program FILE   packs this program instead of building one";

/// The oldest glibc that Rust's own library runs on.
const FLOOR: &str = "x86_64-unknown-linux-gnu.2.17";
const MUSL: &str = "x86_64-unknown-linux-musl";
const SHELLS: [(&str, &str); 3] = [("bash", "cyrano.bash"), ("zsh", "_cyrano"), ("fish", "cyrano.fish")];

/// Runs the command.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let program = match arguments {
        [] => build()?,
        ["--native"] => native()?,
        ["--program", file] => PathBuf::from(file).canonicalize().with_context(|| format!("there is no {file}"))?,
        ["--help" | "-h"] => {
            println!("{USAGE}");
            return Ok(());
        }
        _ => anyhow::bail!("{USAGE}"),
    };
    let out = root().join("target/dist");
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let name = format!("cyrano-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = out.join(&name);
    fill(&folder, &program)?;
    archive(&out, &name)?;
    debian(&out, &folder)?;
    materials(&out)?;
    std::fs::remove_dir_all(&folder)?;
    checksums(&out)
}

/// The program for as many machines as possible.
fn build() -> anyhow::Result<PathBuf> {
    let installed = output("rustup", &["target", "list", "--installed"]).unwrap_or_default();
    if installed.lines().any(|target| target == MUSL) {
        cargo(&["build", "--target", MUSL])?;
        return Ok(root().join("target").join(MUSL).join("dist/cyrano"));
    }
    let zig = root().join("target/tools/zig");
    if !zig.join("bin/cargo-zigbuild").exists() {
        crate::run("python3", &["-m", "venv", &text(&zig)], &[])?;
        crate::run(&text(&zig.join("bin/pip")), &["install", "--quiet", "cargo-zigbuild"], &[])?;
    }
    let path = format!("{}:{}", zig.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let arguments = ["zigbuild", "--profile", "dist", "--package", "cyrano", "--locked", "--target", FLOOR];
    crate::run("cargo", &arguments, &[("PATH", &path), STRIPPED[0], STRIPPED[1]])?;
    Ok(root().join("target/x86_64-unknown-linux-gnu/dist/cyrano"))
}

/// The profile `dist` keeps line tables for profilers; what is handed out has none.
const STRIPPED: [(&str, &str); 2] = [("CARGO_PROFILE_DIST_STRIP", "symbols"), ("CARGO_PROFILE_DIST_DEBUG", "false")];

fn native() -> anyhow::Result<PathBuf> {
    cargo(&["build"])?;
    Ok(root().join("target/dist/cyrano"))
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    let (verb, rest) = arguments.split_first().context("a verb")?;
    let all = [&[*verb, "--profile", "dist", "--package", "cyrano", "--locked"], rest].concat();
    crate::run("cargo", &all, &STRIPPED)
}

/// The program, manual pages, completions, licences.
fn fill(folder: &Path, program: &Path) -> anyhow::Result<()> {
    for part in ["man", "completions"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    std::fs::copy(program, folder.join("cyrano"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root().join(file), folder.join(file))?;
    }
    let program = text(program);
    std::fs::write(folder.join("man/cyrano.1"), output(&program, &["man"])?)?;
    for command in commands(&output(&program, &["--help"])?) {
        let page = output(&program, &["man", &command])?;
        std::fs::write(folder.join("man").join(format!("cyrano-{command}.1")), page)?;
    }
    for (shell, file) in SHELLS {
        std::fs::write(folder.join("completions").join(file), output(&program, &["completions", shell])?)?;
    }
    Ok(())
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// One archive, the same whenever it is made from the same commit.
fn archive(out: &Path, name: &str) -> anyhow::Result<()> {
    let date = output("git", &["log", "-1", "--format=%ct"])?;
    let options = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner"];
    let tar = out.join(format!("{name}.tar"));
    let place = [&format!("--mtime=@{}", date.trim()), "-C", &text(out), "-cf", &text(&tar), name];
    crate::run("tar", &[&options[..], &place[..]].concat(), &[])?;
    crate::run("gzip", &["-9n", &text(&tar)], &[])
}

/// The package for Debian and its kin, as `crates/cyrano/Cargo.toml` describes it.
fn debian(out: &Path, folder: &Path) -> anyhow::Result<()> {
    let tool = tool("cargo-deb")?;
    let staged = root().join("target/dist-deb");
    if staged.exists() {
        std::fs::remove_dir_all(&staged)?;
    }
    crate::run("cp", &["-r", &text(folder), &text(&staged)], &[])?;
    let pages =
        staged.join("man").read_dir()?.map(|page| Ok(text(&page?.path()))).collect::<anyhow::Result<Vec<_>>>()?;
    let compress: Vec<&str> = ["-9n"].into_iter().chain(pages.iter().map(String::as_str)).collect();
    crate::run("gzip", &compress, &[])?;
    let options = ["--no-build", "--no-strip", "--package", "cyrano", "--output", &text(out)];
    crate::run(&text(&tool), &options, &[])
}

/// What the program is made of.
fn materials(out: &Path) -> anyhow::Result<()> {
    let tool = tool("cargo-cyclonedx")?;
    let manifest = text(&root().join("crates/cyrano/Cargo.toml"));
    let options = ["cyclonedx", "--manifest-path", &manifest, "--format", "json", "--override-filename", "cyrano-sbom"];
    crate::run(&text(&tool), &options, &[])?;
    // It is written beside every manifest of the workspace.
    let written =
        output("git", &["ls-files", "--others", "--ignored", "--exclude=cyrano-sbom.json", "--full-name", ":/"])?;
    for file in written.lines().filter(|file| file.ends_with("cyrano-sbom.json") && !file.starts_with("target/")) {
        if file == "crates/cyrano/cyrano-sbom.json" {
            std::fs::copy(root().join(file), out.join("cyrano.cdx.json"))?;
        }
        std::fs::remove_file(root().join(file))?;
    }
    ensure!(out.join("cyrano.cdx.json").exists(), "cargo-cyclonedx wrote nothing");
    Ok(())
}

fn checksums(out: &Path) -> anyhow::Result<()> {
    let mut names =
        out.read_dir()?.map(|entry| Ok(text(Path::new(&entry?.file_name())))).collect::<anyhow::Result<Vec<_>>>()?;
    names.sort();
    let sums = Command::new("sha256sum").args(&names).current_dir(out).output()?;
    ensure!(sums.status.success(), "sha256sum failed");
    std::fs::write(out.join("SHA256SUMS"), &sums.stdout)?;
    println!("{}in {}", String::from_utf8_lossy(&sums.stdout), out.display());
    Ok(())
}

/// A subcommand of Cargo, installed if it is not there.
fn tool(name: &str) -> anyhow::Result<PathBuf> {
    let tools = root().join("target/tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        crate::run("cargo", &["install", "--locked", "--root", &text(&tools), name], &[])?;
    }
    Ok(program)
}

fn output(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output()?;
    ensure!(output.status.success(), "`{program} {}` failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
