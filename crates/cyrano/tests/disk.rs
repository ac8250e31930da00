//! Checks whose states are in files: killed, interrupted, without room, and resumed.
//!
//! `CYRANO_KILLS` says how often each search is killed; the moments come from a seed, so that they are always the same.

mod cli;

use std::process::{Child, Stdio};
use std::time::Duration;

use cli::{DEADLOCK, Done, ENDLESS, Folder, SB, done, json};
use serde_json::Value;

const PHILOSOPHERS: &str = include_str!("../../../benches/spin/philosophers.rml");

fn philosophers() -> Folder {
    Folder::new(&[("p.rml", PHILOSOPHERS), ("sb.rml", SB), ("deadlock.rml", DEADLOCK), ("endless.rml", ENDLESS)])
}

/// What must be the same in all runs of a check that looks at all states.
fn facts(done: &Done) -> (i32, [Value; 4]) {
    let report = json(done);
    let check = &report["checks"][0];
    (done.code, ["verdict", "states", "transitions", "depth"].map(|name| check[name].clone()))
}

/// The number in a line of `checkpoint info`.
fn told(place: &Folder, dir: &str, name: &str) -> Option<u64> {
    let info = place.run(&format!("checkpoint info {dir}"));
    let line = info.stdout.lines().find_map(|line| line.strip_prefix(name).map(str::trim).map(str::to_owned))?;
    line.replace(',', "").parse().ok()
}

/// Numbers that look random and are the same in every run (Marsaglia's xorshift).
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn kills() -> usize {
    std::env::var("CYRANO_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

fn start(place: &Folder, line: &str) -> Child {
    let mut command = place.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be run")
}

#[test]
fn memory_and_disk_agree_through_kills() {
    let place = philosophers();
    let check = "check p.rml --set N=9 --format json --no-reduction ample-sets";
    let expected = facts(&place.run(check));
    assert_eq!(expected.1[0], "verified");
    for (dir, mode) in [("m", "--checkpoint m"), ("d", "--disk d --memory 4")] {
        let line = format!("{check} {mode} --checkpoint-every 0.05 --workers 2");
        let mut moments = Moments(0x9e37_79b9_7f4a_7c15);
        let (mut killed, mut states, mut grew) = (0, 0, 0);
        while killed < kills() {
            let resume = if place.path(dir).join("manifest").exists() { " --resume" } else { "" };
            let mut child = start(&place, &format!("{line}{resume}"));
            std::thread::sleep(Duration::from_millis(30 + moments.next(400)));
            if child.try_wait().expect("it can be asked").is_some() {
                // It was faster than we are: from the beginning.
                assert_eq!(facts(&done(&child.wait_with_output().expect("it has ended"))), expected, "{mode}");
                std::fs::remove_dir_all(place.path(dir)).expect("the directory is there");
                states = 0;
                continue;
            }
            child.kill().expect("it can be killed");
            child.wait().expect("it has ended");
            killed += 1;
            let now = told(&place, dir, "states").unwrap_or(0);
            assert!(now >= states, "{mode}: {now} states after {states}");
            grew += usize::from(now > states);
            states = now;
        }
        let resume = if place.path(dir).join("manifest").exists() { " --resume" } else { "" };
        let last = place.run(&format!("{line}{resume}"));
        assert_eq!(facts(&last), expected, "{mode}: {}", last.stderr);
        println!("{mode}: killed {killed} times, {grew} times with more states than before");
    }
}

#[test]
fn an_interrupt_keeps_what_was_found() {
    let place = philosophers();
    let check = "check p.rml --set N=10 --format json --no-reduction ample-sets";
    let line = format!("{check} --disk d");
    let child = start(&place, &format!("{line} --memory 8"));
    while !place.path("d").join("manifest").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    // While it runs, nobody else can have the directory.
    let second = place.run(&format!("{line} --resume"));
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.stderr.contains(&format!("another process uses this directory (process {})", child.id())));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let stopped = done(&child.wait_with_output().expect("it ends"));
    assert_eq!((stopped.code, &json(&stopped)["checks"][0]["reason"]), (3, &Value::from("interrupted")));
    let kept = told(&place, "d", "states").expect("there is a checkpoint");
    assert_eq!(json(&stopped)["checks"][0]["states"], kept);
    let resumed = place.run(&format!("{line} --resume --memory 512"));
    assert_eq!(facts(&resumed), facts(&place.run(check)));
}

#[test]
fn violations_are_shown_and_replayed() {
    let place = philosophers();
    let line = "check deadlock.rml --model sc --format json";
    let (memory, disk) = (place.run(line), place.run(&format!("{line} --disk d --memory 1 --save-trace t.json")));
    assert_eq!((memory.code, disk.code), (1, 1), "{disk:?}");
    let length = |done: &Done| json(done)["checks"][0]["trace"]["steps"].as_array().map(Vec::len);
    assert!(length(&memory).is_some() && length(&memory) == length(&disk));
    assert_eq!(place.run("replay t.json").code, 0);
    // A complete checkpoint gives the same answer again.
    let again = place.run(&format!("{line} --disk d --resume"));
    assert_eq!((again.code, length(&again)), (1, length(&memory)), "{again:?}");
    let info = place.run("checkpoint info d");
    for part in
        ["deadlock.rml", "model        sc", "check        assertions", "complete: a path to show was found", "UTC"]
    {
        assert!(info.stdout.contains(part), "{part}: {}", info.stdout);
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let place = philosophers();
    let refused = |line: &str, part: &str| {
        let done = place.run(line);
        assert_eq!(done.code, 2, "{line}: {done:?}");
        assert!(done.stdout.is_empty() && done.stderr.contains(part), "{line}: {}", done.stderr);
    };
    refused("check sb.rml --disk d", "this command has 3");
    refused("check sb.rml p.rml --model sc --checkpoint d", "one check at a time");
    refused("check p.rml --resume", "--resume needs");
    refused("check p.rml --checkpoint-every 3", "--checkpoint-every needs");
    refused("check p.rml --disk a --checkpoint b", "the same directory");
    refused("check p.rml --disk a --engine symbolic", "--engine explore");
    refused("check p.rml --disk a --fingerprint", "--fingerprint");
    refused("check p.rml --disk a --gpu", "--gpu");
    refused("check p.rml --engine symbolic --gpu", "--gpu is for --engine explore");
    // Whether or not there is one: nobody has so many.
    refused("check p.rml --gpu=1000", "--gpu");
    refused("check p.rml --disk a --resume", "no checkpoint");
    refused("check lib:atomicity/bluetooth.rml --model sc --criterion commit-atomicity --disk a", "commit-atomicity");
    refused("check lib:stm/tl2.rml --model sc --criterion local-progress --disk a", "local-progress");
    refused("check p.rml --disk sb.rml", "sb.rml");
    refused("checkpoint info nowhere", "no checkpoint");
    assert_eq!(place.run("check p.rml --set N=4 --checkpoint d").code, 0);
    refused("check p.rml --set N=4 --checkpoint d", "--resume");
    refused("check p.rml --set N=5 --checkpoint d --resume", "program: the checkpoint has p.rml");
    refused("check p.rml --set N=4 --model tso --checkpoint d --resume", "model: the checkpoint has sc");
    refused("check p.rml --set N=4 --no-reduction dead-registers --checkpoint d --resume", "dead-registers: the");
    place.write("d/states", b"nothing of the kind");
    refused("check p.rml --set N=4 --checkpoint d --resume", "damaged");
}

#[test]
fn too_little_memory_is_unknown_and_can_be_resumed() {
    let place = philosophers();
    let line = "check p.rml --set N=8 --format json";
    let stopped = place.run(&format!("{line} --checkpoint c --memory 1"));
    assert_eq!(stopped.code, 3, "{stopped:?}");
    let reason = json(&stopped)["checks"][0]["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.starts_with("memory limit reached")), "{reason}");
    let resumed = place.run(&format!("{line} --checkpoint c --resume"));
    assert_eq!(facts(&resumed), facts(&place.run(&format!("{line} --no-reduction ample-sets"))));
    // A time limit is the same; this one has no end at all.
    let stopped = place.run("check endless.rml --disk e --memory 2 --timeout 1");
    assert_eq!(stopped.code, 3, "{stopped:?}");
    let before = told(&place, "e", "states").expect("there is a checkpoint");
    place.run("check endless.rml --disk e --memory 2 --timeout 1 --resume");
    assert!(told(&place, "e", "states").is_some_and(|now| now > before));
}

/// A small file system of its own, which is gone in the end.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(path: std::path::PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&path).ok()?;
        let mounted = run("mount", &["-t", "tmpfs", "-o", size, "tmpfs", &path.to_string_lossy()]);
        mounted.then_some(Self(path))
    }

    fn resize(&self, size: &str) -> bool {
        run("mount", &["-o", &format!("remount,{size}"), &self.0.to_string_lossy()])
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        run("umount", &[&self.0.to_string_lossy()]);
    }
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn a_full_disk_is_unknown_and_can_be_resumed() {
    let place = philosophers();
    let Some(small) = Small::mount(place.path("small"), "size=6m") else {
        println!("skipped: no permission to mount a small file system");
        return;
    };
    let line = "check p.rml --set N=9 --format json --disk small/d --memory 2";
    let stopped = place.run(line);
    assert_eq!(stopped.code, 3, "{stopped:?}");
    let reason = json(&stopped)["checks"][0]["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains("the disk is full")), "{reason}");
    assert!(told(&place, "small/d", "states").is_some_and(|states| states > 1000));
    // Nothing has changed, so it comes to nothing again.
    assert_eq!(place.run(&format!("{line} --resume")).code, 3);
    assert!(small.resize("size=256m"), "a file system can be made larger");
    let resumed = place.run(&format!("{line} --resume"));
    assert_eq!(facts(&resumed), facts(&place.run("check p.rml --set N=9 --format json --no-reduction ample-sets")));
}
