//! Several processes whose search is kept: one is killed, all go on later. `CYRANO_KILLS` says how often, at moments that come from a seed.

mod cli;
mod local_cluster;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cli::{Done, Folder, SB, json};
use local_cluster::{place, run, start, wait};
use serde_json::Value;

const PHILOSOPHERS: &str = include_str!("../../../benches/spin/philosophers.rml");
const LONG: &str = "check p.rml --set N=10 --format json --no-reduction ample-sets";

/// What must be the same in all runs of a check that looks at all states.
fn facts(done: &Done) -> (i32, [Value; 4]) {
    let report = json(done);
    let check = &report["checks"][0];
    (done.code, ["verdict", "states", "transitions", "depth"].map(|name| check[name].clone()))
}

/// The newest level of which a process has a part.
fn newest(dir: &Path, process: usize) -> Option<u64> {
    let entries = std::fs::read_dir(dir.join(format!("process-{process}"))).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_prefix("level-0-")?.parse().ok()).max()
}

/// A word in a line of `checkpoint info`.
fn told(place: &Folder, dir: &str, name: &str) -> Option<String> {
    let info = place.run(&format!("checkpoint info {dir}"));
    info.stdout.lines().find_map(|line| line.strip_prefix(name).map(|rest| rest.trim().to_owned()))
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

/// Waits until something is true for all processes, or one of them has ended.
fn wait_until(children: &mut [Child], is_true: impl Fn(usize, &Child) -> bool) {
    loop {
        let ended = children.iter_mut().any(|child| child.try_wait().is_ok_and(|status| status.is_some()));
        if ended || children.iter().enumerate().all(|(process, child)| is_true(process, child)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process has taken its directory, which it does when all have joined.
fn has_taken(dir: &Path, process: usize, child: &Child) -> bool {
    let lock = std::fs::read_to_string(dir.join(format!("process-{process}/lock"))).unwrap_or_default();
    lock.trim() == child.id().to_string()
}

#[test]
fn kills_change_nothing() {
    kill_again_and_again(1, kills().div_ceil(2));
}

/// Here states are in tables that several workers share.
#[test]
fn kills_of_processes_with_several_workers_change_nothing() {
    kill_again_and_again(2, kills() / 2);
}

/// Kills processes with so many workers so many times.
fn kill_again_and_again(workers: usize, kills: usize) {
    let place = place(&[("p.rml", PHILOSOPHERS)], 3);
    let expected = facts(&place.run(&format!("{LONG} --workers 1 --engine explore")));
    assert_eq!(expected.1[0], "verified");
    let line = format!("{LONG} --checkpoint c --checkpoint-every 0.02 --workers {workers}");
    let mut moments = Moments(0x9e37_79b9_7f4a_7c15);
    let (mut killed, mut levels) = (0, Vec::new());
    while killed < kills {
        let dir = place.path("c");
        let before = newest(&dir, 0);
        let resume = if before.is_some() { " --resume" } else { "" };
        let mut children: Vec<Child> =
            (0..3).map(|process| start(&place, &format!("{line}{resume}"), process)).collect();
        // Every other time something has been done; else they may not even have read their states.
        wait_until(&mut children, |process, child| match killed % 2 {
            0 => newest(&dir, process) > before,
            _ => has_taken(&dir, process, child),
        });
        std::thread::sleep(Duration::from_millis(moments.next(200)));
        let victim = moments.next(3) as usize;
        if children.iter_mut().any(|child| child.try_wait().is_ok_and(|status| status.is_some())) {
            // They were faster than we are: from the beginning.
            let ended: Vec<Done> = children.into_iter().map(wait).collect();
            assert_eq!(facts(&ended[0]), expected, "{ended:?}");
            std::fs::remove_dir_all(&dir).expect("the directory is there");
            continue;
        }
        let mut child = children.remove(victim);
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        let since = Instant::now();
        let others: Vec<Done> = children.into_iter().map(wait).collect();
        if others.iter().any(|done| done.code == 0) {
            // It had nothing left to do but to end: the others know everything. From the beginning.
            assert!(victim == 0 || facts(&others[0]) == expected, "{others:?}");
            std::fs::remove_dir_all(&dir).expect("the directory is there");
            continue;
        }
        killed += 1;
        for done in others {
            assert_eq!(done.code, 3, "{done:?}");
            let text = format!("{}{}", done.stdout, done.stderr);
            assert!(text.contains(&format!("process {victim} (127.0.0.1:")) && text.contains("was lost"), "{done:?}");
        }
        assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
        let state = told(&place, "c", "search").expect("there is a checkpoint");
        levels.push(state.rsplit(' ').next().and_then(|level| level.parse::<u64>().ok()).expect("it can be resumed"));
    }
    println!("killed {killed} times, with the newest level at {levels:?}");
    let last = run(&place, &format!("{line} --resume"), 3);
    assert_eq!(facts(&last[0]), expected, "{last:?}");
    assert!(last.iter().all(|done| done.code == 0), "{last:?}");
    assert_eq!(told(&place, "c", "search").as_deref(), Some("complete"));
    // It is complete, so it is told again at once.
    let again = run(&place, &format!("{line} --resume"), 3);
    assert_eq!(facts(&again[0]), expected, "{again:?}");
}

#[test]
fn a_violation_is_found_after_a_resume_and_can_be_replayed() {
    let place = place(&[], 3);
    let check = "check lib:stm/norec_bug_no_revalidation.rml --criterion opacity --model sc --format json";
    let alone = place.run(&format!("{check} --engine explore --workers 1 --no-reduction ample-sets"));
    assert_eq!(alone.code, 1, "{alone:?}");
    let line = format!("{check} --checkpoint c --checkpoint-every 0 --save-trace bug.json");
    // Memory for the first levels only.
    let stopped = run(&place, &format!("{line} --memory 1"), 3);
    assert!(stopped.iter().all(|done| done.code == 3), "{stopped:?}");
    assert!(told(&place, "c", "search").is_some_and(|state| state.contains("--resume goes on")));
    let resumed = run(&place, &format!("{line} --resume"), 3);
    assert!(resumed.iter().all(|done| done.code == 1), "{resumed:?}");
    let depth = |done: &Done| json(done)["checks"][0]["depth"].clone();
    assert_eq!(depth(&resumed[0]), depth(&alone));
    assert_eq!(place.run("replay bug.json").code, 0);
}

#[test]
fn what_cannot_be_resumed_is_refused_by_all() {
    let place = place(&[("p.rml", PHILOSOPHERS), ("sb.rml", SB)], 2);
    let check = "check p.rml --set N=4 --checkpoint c";
    let refused = |lines: [&str; 2], parts: &[&str]| {
        let children = [start(&place, lines[0], 0), start(&place, lines[1], 1)];
        for done in children.map(wait) {
            assert!(done.code == 2 && done.stdout.is_empty(), "{lines:?}: {done:?}");
            assert!(parts.iter().all(|part| done.stderr.contains(part)), "{lines:?}: {done:?}");
        }
    };
    let both = |line: &str, parts: &[&str]| refused([line, line], parts);
    let resume = format!("{check} --resume");
    both(&resume, &["no checkpoint that all processes have a part of", "process 0 (", "process 1 (", "no level"]);
    both("check sb.rml --checkpoint c", &["this command has 3"]);
    both("check p.rml --set N=4 --resume", &["--resume needs"]);
    assert!(run(&place, check, 2).iter().all(|done| done.code == 0));
    both(check, &["process 0 (", "process 1 (", "--resume"]);
    refused([check, &resume], &["arguments: `", "--resume"]);
    both("check p.rml --set N=5 --checkpoint c --resume", &["program: the checkpoint has p.rml", "process 1 ("]);
    both("check p.rml --set N=4 --model tso --checkpoint c --resume", &["model: the checkpoint has sc"]);
    both("check p.rml --set N=4 --checkpoint c --resume --no-reduction dead-registers", &["dead-registers: the"]);
    both(&format!("{resume} --disk c"), &["--disk"]);
    let info = place.run("checkpoint info c");
    for part in ["p.rml", "N=4", "processes    2", "workers      1", "search       complete", "process 1    levels"] {
        assert!(info.stdout.contains(part), "{part}: {}", info.stdout);
    }
    let one = place.run("checkpoint info c/process-1");
    assert!(one.stdout.contains("as far as the parts here tell") && !one.stdout.contains("process 0 "), "{one:?}");
    // Without --cluster there is nothing for it there.
    let alone = place.run(&resume);
    assert!(alone.code == 2 && alone.stderr.contains("no checkpoint"), "{alone:?}");
    let path = place.path("c/process-1/states-0-0");
    let mut bytes = std::fs::read(&path).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).expect("it can be written");
    both(&resume, &["process 1 (", "damaged", "states-0-0"]);
}

#[test]
fn a_cluster_on_one_machine_is_resumed() {
    let place = Folder::new(&[("p.rml", PHILOSOPHERS)]);
    let check = "check p.rml --set N=9 --format json --no-reduction ample-sets";
    let line = format!("cluster run -n 3 -- {check} --checkpoint c --checkpoint-every 0.05 --workers 1");
    let stopped = place.run(&format!("{line} --memory 3"));
    assert_eq!((stopped.code, &json(&stopped)["checks"][0]["reason"]), (3, &Value::from("memory limit reached")));
    let before = told(&place, "c", "states").expect("there is a checkpoint");
    assert_ne!(before, "0");
    let resumed = place.run(&format!("{line} --resume"));
    assert_eq!(facts(&resumed), facts(&place.run(&format!("{check} --engine explore"))), "{resumed:?}");
}

/// A small file system of its own, which is gone in the end.
struct Small(std::path::PathBuf);

fn mount(arguments: &[&str]) -> bool {
    let mut command = Command::new("mount");
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Drop for Small {
    fn drop(&mut self) {
        // If it cannot be unmounted, the test has failed before.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_of_one_process_is_unknown_and_can_be_resumed() {
    let place = place(&[("p.rml", PHILOSOPHERS)], 2);
    let small = Small(place.path("small"));
    std::fs::create_dir_all(&small.0).expect("it can be made");
    let path = small.0.to_string_lossy().into_owned();
    if !mount(&["-t", "tmpfs", "-o", "size=4m", "tmpfs", &path]) {
        println!("skipped: no permission to mount a small file system");
        return;
    }
    let check = "check p.rml --set N=9 --format json --no-reduction ample-sets";
    let both = |resume: &str| {
        // Directories may have other names on other machines.
        let line = |dir: &str| format!("{check} --checkpoint {dir} --checkpoint-every 0{resume}");
        let children = [start(&place, &line("large"), 0), start(&place, &line("small/c"), 1)];
        children.map(wait)
    };
    for resume in ["", " --resume"] {
        let stopped = both(resume);
        assert!(stopped.iter().all(|done| done.code == 3), "{stopped:?}");
        let reason = json(&stopped[0])["checks"][0]["reason"].as_str().unwrap_or_default().to_owned();
        let parts = ["process 1 (", "small/c", "the disk is full", "last checkpoint is kept"];
        assert!(parts.iter().all(|part| reason.contains(part)), "{reason}");
    }
    assert!(mount(&["-o", "remount,size=256m", &path]), "a file system can be made larger");
    let resumed = both(" --resume");
    assert_eq!(facts(&resumed[0]), facts(&place.run(&format!("{check} --engine explore"))), "{resumed:?}");
}
