//! What the documentation shows is what the tool says.
//!
//! In README and `docs/`:
//! - a block marked `rml` is a whole file. Behind each `check` a comment names the verdict under each of its models, in their order:
//!   `check opacity on sc, tso;   // verified, bounded`. A block marked `rml fragment` is not run;
//! - a line that starts with `cyrano` (or `$ cyrano`) is a command, run as it is, in a folder in which the earlier commands of its page have run.
//!   `# violated` behind it names the verdict that decides the exit code; nothing means success. A block marked `sh no-run` needs what a test does
//!   not have: other machines, a terminal, much time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cli::{self, Folder};

/// A fenced block of a page.
struct Block {
    /// What stands behind the fence.
    mark: String,
    /// The number of its first line.
    line: usize,
    text: Vec<String>,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs")).expect("there is documentation");
    pages.extend(
        docs.map(|entry| entry.expect("it can be listed").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md")),
    );
    pages.sort();
    pages
}

fn blocks(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).expect("a page can be read");
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(mark) => {
                inside = true;
                blocks.push(Block { mark: mark.trim().to_owned(), line: at + 2, text: Vec::new() });
            }
            None if inside => blocks.last_mut().expect("one was begun").text.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// The words of a list behind a comment sign.
fn promised(line: &str, sign: &str) -> Vec<String> {
    let comment = line.split_once(sign).map_or("", |(_, comment)| comment);
    comment.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_check_has_the_verdict_that_stands_behind_it() {
    let mut checks = 0;
    for page in pages() {
        for block in blocks(&page).iter().filter(|block| block.mark == "rml") {
            let declared = || block.text.iter().filter(|line| line.trim_start().starts_with("check "));
            let expected: Vec<String> = declared().flat_map(|line| promised(line, "//")).collect();
            if declared().next().is_none() {
                continue;
            }
            let place = Folder::new(&[("shown.rml", &block.text.join("\n"))]);
            let done = place.run("check shown.rml --format json");
            let at = format!("{}:{}", page.display(), block.line);
            assert_ne!(done.code, 2, "{at}: {}", done.stderr);
            let report = cli::json(&done);
            let rows = report["checks"].as_array().expect("a list");
            let found: Vec<&str> = rows.iter().filter_map(|row| row["verdict"].as_str()).collect();
            assert_eq!(found, expected, "{at}");
            checks += found.len();
        }
    }
    assert!(checks >= 20, "only {checks} checks were found");
}

/// The exit code that a command ends with.
fn code(words: &[String]) -> i32 {
    match words.first().and_then(|words| words.split_whitespace().next()).unwrap_or_default() {
        "violated" => 1,
        "refused" => 2,
        "unknown" => 3,
        "bounded" => 4,
        "vacuous" => 5,
        _ => 0,
    }
}

#[test]
fn every_command_runs_and_ends_as_it_says() {
    let mut commands = 0;
    let binary = Path::new(env!("CARGO_BIN_EXE_cyrano")).parent().expect("it is in a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in pages() {
        let place = Folder::new(&[("queue.c", COUNTER), ("queue.tests", TESTS)]);
        std::fs::create_dir(place.path("src")).expect("a folder can be made");
        place.write("src/lock.rml", CORRECT.as_bytes());
        std::os::unix::fs::symlink(root.join("benches"), place.path("benches")).expect("a link can be made");
        for block in blocks(&page).iter().filter(|block| !block.mark.contains("no-run")) {
            let lines = block.text.iter().enumerate();
            for (at, line) in lines.filter_map(|(at, line)| Some((at, command(line)?))) {
                let mut shell = Command::new("sh");
                shell.args(["-c", line]).current_dir(place.path(".")).stdin(Stdio::null());
                shell.env("PATH", &path).env("CYRANO_CACHE", "off").env("COLUMNS", "100");
                let done = cli::done(&shell.output().expect("a shell can be run"));
                let at = format!("{}:{}: {line}", page.display(), block.line + at);
                assert_eq!(done.code, code(&promised(line, " # ")), "{at}\n{}{}", done.stdout, done.stderr);
                commands += 1;
            }
        }
    }
    assert!(commands >= 20, "only {commands} commands were found");
}

/// The command in a line, if there is one.
fn command(line: &str) -> Option<&str> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    line.starts_with("cyrano ").then_some(line)
}

/// A program for commands about files in `src`.
const CORRECT: &str =
    "threads { shared x; thread p[2] { local r; r := fetch_add(x, 1); assert r < 2; } }\ncheck assertions;\n";

/// A data type for commands about `queue.c`.
const COUNTER: &str = "\
#include <cyrano.h>
int value;
void init(void) { value = 0; }
int counted(void) { return fetch_add(&value, 1); }
";

const TESTS: &str = "init = init()\nc = counted()\ntest T0 = ( c | c )\n";
