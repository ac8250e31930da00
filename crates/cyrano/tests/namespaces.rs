//! Three hosts, each a network namespace of its own, joined by a bridge in a fourth one. The test makes and removes them; where that
//! is not permitted it says so and passes.

mod cli;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cli::{Done, ENDLESS, Folder, done, json};

/// An instance that takes some seconds, and what one machine says about it.
const LONG: &str = "check lib:stm/norec.rml --criterion opacity --model sc --workers 1 --format json \
                    --no-reduction ample-sets,thread-symmetry";

/// The hosts: namespaces with an address each.
struct Net {
    name: String,
}

fn ip(line: &str) -> bool {
    let output = Command::new("ip").args(line.split_whitespace()).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

impl Net {
    /// Three hosts; `None` if they cannot be made.
    fn new(test: &str) -> Option<Self> {
        let name = format!("cyr{test}{}", std::process::id());
        let net = Self { name: name.clone() };
        let made = ip(&format!("netns add {name}"))
            && ip(&format!("-n {name} link add bridge type bridge"))
            && ip(&format!("-n {name} link set bridge up"))
            && (0..3).all(|host| net.add(host));
        if !made {
            eprintln!("skipped: network namespaces cannot be made here");
        }
        made.then_some(net)
    }

    fn add(&self, host: usize) -> bool {
        let (switch, own) = (&self.name, self.host(host));
        ip(&format!("netns add {own}"))
            && ip(&format!("-n {switch} link add port{host} type veth peer name eth0 netns {own}"))
            && ip(&format!("-n {switch} link set port{host} master bridge up"))
            && ip(&format!("-n {own} addr add 10.77.0.{}/24 dev eth0", host + 1))
            && ip(&format!("-n {own} link set lo up"))
            && ip(&format!("-n {own} link set eth0 up"))
    }

    fn host(&self, host: usize) -> String {
        format!("{}h{host}", self.name)
    }

    /// Plugs a host's cable in or out.
    fn plug(&self, host: usize, state: &str) {
        assert!(ip(&format!("-n {} link set port{host} {state}", self.name)), "the cable cannot be set {state}");
    }

    fn place(files: &[(&str, &str)]) -> Folder {
        let place = Folder::new(files);
        place.write("hosts", b"10.77.0.1:7101\n10.77.0.2:7101\n10.77.0.3:7101\n");
        place.write("key", b"0f1e2d3c4b5a69788796a5b4c3d2e1f0");
        place
    }

    fn start(&self, place: &Folder, line: &str, host: usize) -> Child {
        let own = place.command(&format!("{line} --cluster hosts --cluster-key key --process {host}"));
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(host)]).arg(own.get_program()).args(own.get_args());
        command.env("CYRANO_CACHE", "off").current_dir(place.path(".")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be run")
    }

    fn start_all(&self, place: &Folder, line: &str) -> Vec<Child> {
        (0..3).map(|host| self.start(place, line, host)).collect()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for host in 0..3 {
            ip(&format!("netns del {}", self.host(host)));
        }
        ip(&format!("netns del {}", self.name));
    }
}

fn wait(child: Child) -> Done {
    done(&child.wait_with_output().expect("it ends"))
}

/// States and verdict of a report.
fn facts(done: &Done) -> (String, u64) {
    let check = &json(done)["checks"][0];
    (check["verdict"].as_str().unwrap_or_default().to_owned(), check["states"].as_u64().unwrap_or(0))
}

#[test]
fn a_run_completes_and_a_short_cut_heals() {
    let Some(net) = Net::new("a") else { return };
    let place = Net::place(&[]);
    let alone = facts(&place.run(&format!("{LONG} --engine explore")));
    let whole: Vec<Done> = net.start_all(&place, LONG).into_iter().map(wait).collect();
    assert_eq!(facts(&whole[0]), alone, "{whole:?}");
    let mut children = net.start_all(&place, LONG);
    std::thread::sleep(Duration::from_millis(1200));
    net.plug(1, "down");
    std::thread::sleep(Duration::from_secs(3));
    let waiting = children.iter_mut().all(|child| child.try_wait().is_ok_and(|status| status.is_none()));
    assert!(waiting, "it was over before the cable was cut");
    net.plug(1, "up");
    let healed: Vec<Done> = children.into_iter().map(wait).collect();
    assert_eq!(facts(&healed[0]), alone, "{healed:?}");
    assert!(healed.iter().all(|done| done.code == 0), "{healed:?}");
}

#[test]
fn a_killed_process_stops_the_others() {
    let Some(net) = Net::new("b") else { return };
    let place = Net::place(&[("endless.rml", ENDLESS)]);
    let mut children = net.start_all(&place, "check endless.rml --workers 1 --timeout 60");
    std::thread::sleep(Duration::from_secs(3));
    let mut killed = children.remove(1);
    killed.kill().expect("it is still there");
    killed.wait().expect("it ends");
    let start = Instant::now();
    for done in children.into_iter().map(wait) {
        assert_eq!(done.code, 3, "{done:?}");
        assert!(done.stderr.contains("process 1 (10.77.0.2:7101) was lost"), "{done:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[test]
fn after_a_killed_process_the_run_is_resumed() {
    let Some(net) = Net::new("d") else { return };
    let place = Net::place(&[]);
    let alone = facts(&place.run(&format!("{LONG} --engine explore")));
    // Each host has its own part, in the same directory here: as if it were on a shared file system.
    let line = format!("{LONG} --checkpoint c --checkpoint-every 0.2");
    let mut children = net.start_all(&place, &line);
    // Until something has been kept.
    let parts = || place.run("checkpoint info c").stdout.matches(" levels ").count();
    while parts() < 3 && children[0].try_wait().is_ok_and(|status| status.is_none()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let mut killed = children.remove(1);
    killed.kill().expect("it is still there");
    killed.wait().expect("it ends");
    let start = Instant::now();
    for done in children.into_iter().map(wait) {
        assert_eq!(done.code, 3, "it was over before the process was killed: {done:?}");
        assert!(done.stderr.contains("process 1 (10.77.0.2:7101) was lost"), "{done:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    let info = place.run("checkpoint info c");
    assert!(info.stdout.contains("--resume goes on with level"), "{info:?}");
    let resumed: Vec<Done> = net.start_all(&place, &format!("{line} --resume")).into_iter().map(wait).collect();
    assert_eq!(facts(&resumed[0]), alone, "{resumed:?}");
    assert!(resumed.iter().all(|done| done.code == 0), "{resumed:?}");
}

#[test]
fn a_long_cut_ends_the_run() {
    let Some(net) = Net::new("c") else { return };
    let place = Net::place(&[("endless.rml", ENDLESS)]);
    let children = net.start_all(&place, "check endless.rml --workers 1 --timeout 90 --cluster-silence 4");
    std::thread::sleep(Duration::from_secs(3));
    net.plug(2, "down");
    let start = Instant::now();
    for done in children.into_iter().map(wait) {
        assert_eq!(done.code, 3, "{done:?}");
        assert!(done.stderr.contains("was lost: it was silent for 4 s"), "{done:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}
