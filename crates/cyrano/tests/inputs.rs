//! What a command line may name: standard input, folders, models by other names and all of them, parts of the library's names; and what depends on where text goes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

mod cli;

use cli::{COUNTER, Done, Folder, SB, done, json};

/// Runs a command line with this on standard input.
fn piped(folder: &Folder, line: &str, input: &str) -> Done {
    let mut command = folder.command(line);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("it is a pipe").write_all(input.as_bytes()).expect("it reads");
    done(&child.wait_with_output().expect("ends"))
}

#[test]
fn standard_input_is_a_file() {
    let folder = Folder::new(&[]);
    let check = |line: &str, input: &str, code: i32, part: &str| {
        let done = piped(&folder, line, input);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(done.code == code && all.contains(part), "{line}: {done:?}");
    };
    check("check - --language rml --model tso", SB, 1, "<stdin>.rml");
    check("check - --language rml --model tso", "threads {", 2, "<stdin>.rml:1:10");
    check("check -", SB, 2, "expected `--language rml`, `c` or `litmus`");
    check("outcomes - --language rml --model sc", SB, 0, "sc: 3 outcomes");
    check("compare - --language rml --model sc,tso", SB, 0, "allowed by tso; forbidden by sc");
    check("fence - --language rml --model tso", SB, 0, "+");
    check(
        "check - --language c --model sc",
        "#include <assert.h>\nint main(void) { assert(1); return 0; }",
        0,
        "verified",
    );
    let litmus = folder.run("library show herd/SB.litmus").stdout;
    check("litmus - --model tso", &litmus, 0, "Sometimes");
    check("check - --language litmus --model tso", &litmus, 0, "verified");
}

#[test]
fn a_folder_is_every_program_in_it() {
    let folder = Folder::new(&[("a.rml", SB), ("notes.txt", "not a program")]);
    std::fs::create_dir(folder.path("deep")).expect("a folder can be made");
    folder.write("deep/b.rml", COUNTER.as_bytes());
    let report = json(&folder.run("check . --model sc --format json"));
    let files: Vec<&str> =
        report["checks"].as_array().expect("checks").iter().filter_map(|c| c["file"].as_str()).collect();
    assert!(
        files.contains(&"./a.rml") && files.contains(&"./deep/b.rml") && !files.iter().any(|f| f.contains("notes"))
    );
    let litmus = folder.run("check lib:litmus --model sc --format json");
    assert!(json(&litmus)["checks"].as_array().is_some_and(|checks| checks.len() > 20));
    std::fs::create_dir(folder.path("empty")).expect("a folder can be made");
    let none = folder.run("check empty");
    assert!(
        none.code == 2 && none.stderr.contains("there is no `.rml`, `.c`, `.i` or `.litmus` file in this folder"),
        "{none:?}"
    );
    let one = folder.run("outcomes deep");
    assert!(one.code == 2 && one.stderr.contains("this is a folder; expected a file"), "{one:?}");
}

#[test]
fn models_have_other_names_and_may_be_all() {
    let folder = Folder::new(&[("a.rml", SB)]);
    let models = |line: &str| -> Vec<String> {
        let report = json(&folder.run(line));
        let checks = report["checks"].as_array().expect("checks").iter();
        checks.filter_map(|check| check["model"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(models("check a.rml --model x86,tso --format json"), ["tso"]);
    let all = models("check a.rml --model all --format json");
    assert!(["sc", "tso", "rmo", "rc11", "power"].iter().all(|name| all.iter().any(|model| model == name)), "{all:?}");
    assert!(!all.iter().any(|model| model == "serial" || model.starts_with("cat:")), "{all:?}");
    // Opacity is about one order of all accesses: the other models are named, and no check is left undecided for them.
    let stm = folder.run("check lib:stm/global_lock.rml --model all --set threads=2 --set vars=1");
    assert!(stm.code != 3 && stm.stderr.contains("cannot be checked on") && stm.stderr.contains("rc11"), "{stm:?}");
    let wrong = folder.run("check a.rml --model xyz");
    assert!(wrong.code == 2 && wrong.stderr.contains("and so will `all`"), "{wrong:?}");
}

#[test]
fn the_library_is_found_by_parts_of_names() {
    let folder = Folder::new(&[]);
    let listed = folder.run("library list peterson");
    assert!(listed.stdout.lines().count() > 5 && listed.stdout.contains("lib:locks/peterson.rml"), "{listed:?}");
    assert_eq!(folder.run("library list nothing-like-that").code, 2);
    assert!(folder.run("library show datatypes/msn.tests").stdout.contains("T0"));
    assert!(folder.run("library show bluetooth").code == 0);
    let several = folder.run("library show peterson");
    assert!(several.code == 2 && several.stderr.contains("`lib:locks/peterson.rml`"), "{several:?}");
    let near = folder.run("library show pettersn");
    assert!(near.code == 2 && near.stderr.contains("did you mean") && near.stderr.contains("peterson"), "{near:?}");
}

#[test]
fn text_is_ascii_where_nothing_else_can_be_shown() {
    let folder = Folder::new(&[("a.rml", SB), ("bad.rml", "threads { thread p { x := 1; x := 2 } }")]);
    for (name, value) in [("LC_ALL", "C"), ("TERM", "dumb")] {
        for line in ["check a.rml --model tso", "check bad.rml"] {
            let done = done(&folder.command(line).env(name, value).output().expect("runs"));
            assert!(done.stdout.is_ascii() && done.stderr.is_ascii(), "{done:?}");
        }
    }
    let plain = folder.run("check bad.rml").stderr;
    assert!(plain.contains("the same in line 1") && plain.matches("Error:").count() == 1, "{plain}");
}

#[test]
fn one_execution_under_several_models_is_drawn_once() {
    let folder = Folder::new(&[("a.rml", SB)]);
    let text = folder.run("check a.rml --model tso,pso,rmo").stdout;
    assert!(text.contains("on tso, also on pso, rmo (a.rml)"), "{text}");
    assert!(text.trim_end().lines().last().is_some_and(|last| last.contains("checks: ")), "{text}");
}

/// Reads lines until one has this in it.
fn until(lines: &mut impl BufRead, part: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(part) {
        let before = seen.len();
        lines.read_line(&mut seen).expect("it is text");
        assert!(seen.len() > before, "it ended without `{part}`: {seen}");
    }
    seen
}

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).expect("process ids are small");
    // SAFETY: it is a child of this process that has not been waited for, so the id is its own.
    unsafe { libc::kill(pid, libc::SIGINT) };
}

#[test]
fn a_watched_file_is_checked_again_when_it_changes() {
    let folder = Folder::new(&[("a.rml", SB)]);
    let mut command = folder.command("check a.rml --model sc --watch");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
    until(&mut stdout, "verified");
    until(&mut stderr, "watching 1 file;");
    // Some file systems count in seconds.
    std::thread::sleep(Duration::from_millis(1100));
    folder.write("a.rml", SB.replace("r1 = 0 && r2 = 0", "r1 = 1 && r2 = 1").as_bytes());
    until(&mut stdout, "violated");
    until(&mut stderr, "watching 1 file;");
    interrupt(&child);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("it is text");
    assert_eq!(child.wait().expect("ends").code(), Some(1));
}
