//! `cyrano explore` over plain connections: what it serves, what it refuses, and that nothing ends it.

mod cli;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use cli::{Folder, SB, json};
use serde_json::Value;

/// A running server.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start(place: &Folder, line: &str) -> Self {
        let mut command = place.command(&format!("explore {line} --no-open"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary can be run");
        let mut address = String::new();
        let out = child.stdout.take().expect("it has an output");
        BufReader::new(out).read_line(&mut address).expect("it says its address");
        let rest = address.trim().strip_prefix("http://127.0.0.1:").expect("it is on the loopback interface");
        let (port, token) = rest.split_once('/').expect("there is a token");
        let (port, token) = (port.parse().expect("a port"), token.trim_end_matches('/').to_owned());
        assert_eq!(token.len(), 32, "{token}");
        Self { child, port, token }
    }

    /// The status and the body of what comes back for these bytes.
    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
        // It may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).expect("answers are text");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, body.to_owned())
    }

    fn request(&self, line: &str, headers: &str, body: &str) -> (u16, String) {
        let (port, length) = (self.port, body.len());
        let host = if headers.contains("Host:") { String::new() } else { format!("Host: 127.0.0.1:{port}\r\n") };
        let line = line.replace("TOKEN", &self.token);
        let head = format!("{line} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\n\r\n");
        self.raw(&[head.as_bytes(), body.as_bytes()].concat())
    }

    fn post(&self, what: &str, path: &[usize]) -> Value {
        let path = path.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let (status, body) = self.request(&format!("POST /TOKEN/{what}"), "", &path);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("it is JSON")
    }

    /// Visits every place that can be reached.
    fn visit(&self, path: &mut Vec<usize>, see: &mut dyn FnMut(&Value)) {
        let place = self.post("state", path);
        see(&place);
        for number in 0..place["enabled"].as_array().expect("a list").len() {
            path.push(number);
            self.visit(path, see);
            path.pop();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn all_paths_together_have_the_outcomes() {
    let place = Folder::new(&[("sb.rml", SB)]);
    for model in ["sc", "tso"] {
        let server = Server::start(&place, &format!("sb.rml --model {model}"));
        let mut seen = BTreeSet::new();
        server.visit(&mut Vec::new(), &mut |place| {
            let outcome = place["outcome"].as_array().expect("a list");
            if !outcome.is_empty() {
                seen.insert(outcome.iter().map(|named| named["value"].as_i64()).collect::<Vec<_>>());
            }
        });
        let known = json(&place.run(&format!("outcomes sb.rml --model {model} --format json")));
        let known = known["results"][0]["outcomes"].as_array().expect("a list");
        let known = known.iter().map(|outcome| {
            let values = outcome.as_object().expect("an object").values();
            values.map(Value::as_i64).collect::<Vec<_>>()
        });
        assert_eq!(seen, known.collect(), "{model}");
    }
}

#[test]
fn steps_are_described_and_saved_steps_replay() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let server = Server::start(&place, "sb.rml --model tso");
    let first = server.post("state", &[]);
    let early = first["enabled"].as_array().expect("a list").iter().position(|step| {
        let access = &step["steps"][0];
        step["thread"] == "p0" && access["kind"] == "load" && access["overtook"][0]["location"] == "x"
    });
    let early = early.expect("p0 may load before it stores");
    let mut path = vec![early];
    loop {
        let at = server.post("state", &path);
        assert_eq!(at["path"].as_array().map(Vec::len), Some(path.len()));
        place.write("steps.json", server.post("trace", &path).to_string().as_bytes());
        let replayed = place.run("replay steps.json");
        assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
        if at["enabled"].as_array().expect("a list").is_empty() {
            assert!(at["state"] == "done" || at["state"] == "wrong", "{}", at["state"]);
            break;
        }
        assert!(replayed.stdout.contains("steps taken by hand"), "{}", replayed.stdout);
        path.push(0);
    }
    assert_eq!(path.len(), 4);
}

#[test]
fn an_algorithm_is_stepped_through_out_of_order() {
    let place = Folder::new(&[]);
    let server = Server::start(&place, "lib:tm-objects/core_mcrt.rml --test P_WE --model literal");
    // The value may be read before it is known whether the location is locked.
    let first = server.post("state", &[]);
    let offered: Vec<(String, &Value)> = first["enabled"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| {
            (
                format!(
                    "{} {}",
                    step["thread"].as_str().unwrap_or(""),
                    step["steps"][0]["label"].as_str().unwrap_or("")
                ),
                step,
            )
        })
        .collect();
    let labels: Vec<&str> = offered.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["t1 R03", "t1 R09", "t2 W03"]);
    assert_eq!(offered[1].1["steps"][0]["call"]["text"], "v := r[1].read()");
    assert_eq!(offered[1].1["steps"][0]["overtook"][0]["label"], "R03");
    let mut path = vec![1];
    loop {
        let at = server.post("state", &path);
        let trace = &at["trace"];
        place.write("steps.json", server.post("trace", &path).to_string().as_bytes());
        let replayed = place.run("replay steps.json");
        assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
        if at["enabled"].as_array().expect("a list").is_empty() {
            assert_eq!((&at["state"], &trace["transactions"][0]["status"]), (&"done".into(), &"committed".into()));
            break;
        }
        assert!(trace["steps"].as_array().is_some_and(|steps| steps.len() >= path.len()), "{trace}");
        path.push(0);
    }
    assert!(path.len() > 10, "{path:?}");
}

#[test]
fn steps_that_cannot_be_taken_do_not_replay() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let server = Server::start(&place, "sb.rml --model tso");
    let first = server.post("state", &[]);
    let loads = |step: &Value| step["steps"][0]["kind"] == "load";
    let load = first["enabled"].as_array().expect("a list").iter().position(loads).expect("a load may come first");
    let good = server.post("trace", &[load]);
    let check = |change: &dyn Fn(&mut Value), code: i32| {
        let mut trace = good.clone();
        change(&mut trace);
        place.write("steps.json", trace.to_string().as_bytes());
        let replayed = place.run("replay steps.json --quiet");
        assert_eq!(replayed.code, code, "{}{}", replayed.stdout, replayed.stderr);
    };
    check(&|_| {}, 0);
    check(&|trace| trace["steps"][0]["read"] = 7.into(), 2);
    check(&|trace| trace["steps"][0]["po"] = 5.into(), 2);
    check(&|trace| trace["property"]["criterion"] = "opacity".into(), 2);
    check(&|trace| trace["explanation"]["kind"] = "witness".into(), 2);
    check(&|trace| trace["model"] = model_in_a_trace("sc"), 2);
}

/// A model, as a trace has it.
fn model_in_a_trace(name: &str) -> Value {
    let place = Folder::new(&[("sb.rml", SB)]);
    Server::start(&place, &format!("sb.rml --model {name}")).post("trace", &[])["model"].clone()
}

#[test]
fn the_page_is_served_with_its_first_place() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let server = Server::start(&place, "sb.rml --model tso");
    let (status, page) = server.request("GET /TOKEN/", "", "");
    assert_eq!(status, 200);
    let (_, data) = page.split_once("id=\"data\">").expect("there is data");
    let (data, _) = data.split_once("</script>").expect("it ends");
    let data: Value = serde_json::from_str(data).expect("it is JSON");
    assert_eq!(data["schema"], "cyrano.stepping/1");
    assert_eq!(data["enabled"].as_array().map(Vec::len), Some(4));
    assert!(page.contains("connect-src 'self'"));
    let (status, _) = server.request("GET /TOKEN/", &format!("Host: localhost:{}\r\n", server.port), "");
    assert_eq!(status, 200);
}

#[test]
fn what_is_not_for_it_is_refused() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let server = Server::start(&place, "sb.rml");
    let check = |line: &str, headers: &str, body: &str, expected: u16| {
        let (status, text) = server.request(line, headers, body);
        assert_eq!(status, expected, "{line} {headers}: {text}");
        assert!(!text.contains(&server.token), "the token is not told");
    };
    let mut wrong = server.token.clone();
    wrong.replace_range(..1, if wrong.starts_with('0') { "1" } else { "0" });
    check("GET /", "", "", 403);
    check(&format!("GET /{wrong}/"), "", "", 403);
    check(&format!("GET /{}", server.token), "", "", 403);
    check(&format!("POST /{wrong}/state"), "", "", 403);
    check("GET /TOKEN/", "Host: evil.example\r\n", "", 403);
    check("GET /TOKEN/", &format!("Host: evil.example:{}\r\n", server.port), "", 403);
    check("GET /TOKEN/", "Host: 127.0.0.1\r\n", "", 403);
    check("GET /TOKEN/", &format!("Host: 127.0.0.1:{0}\r\nHost: 127.0.0.1:{0}\r\n", server.port), "", 403);
    check("POST /TOKEN/state", "Origin: http://evil.example\r\n", "", 403);
    check("POST /TOKEN/state", "Origin: null\r\n", "", 403);
    check("GET /TOKEN/nothing", "", "", 404);
    check("GET /TOKEN/../state", "", "", 404);
    check("GET /TOKEN/state", "", "", 405);
    check("DELETE /TOKEN/", "", "", 405);
    check("OPTIONS /TOKEN/state", "", "", 405);
    check("POST /TOKEN/state", "", "0 x", 400);
    check("POST /TOKEN/state", "", "-1", 400);
    check("POST /TOKEN/state", "", "99", 400);
    check("POST /TOKEN/state", "", "99999999999999999999999", 400);
    check("POST /TOKEN/state", "", &"0 ".repeat(20_000), 400);
    check("POST /TOKEN/state", "Transfer-Encoding: chunked\r\n", "", 411);
    check("POST /TOKEN/state", "Content-Length: 1\r\n", "", 400);
    check("POST /TOKEN/state", "", &"0 ".repeat(1 << 20), 413);
    check("GET /TOKEN/", &format!("X: {}\r\n", "y".repeat(1 << 17)), "", 431);
    check("GET /TOKEN/", &"X: y\r\n".repeat(100), "", 431);
    assert_eq!(server.post("state", &[])["state"], "open", "it goes on");
}

#[test]
fn garbage_and_silence_end_nothing() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let mut server = Server::start(&place, "sb.rml");
    for bytes in
        [&b"\0\xff\xfe garbage \r\n\r\n"[..], b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"HELO you\r\n\r\n"]
    {
        let (status, _) = server.raw(bytes);
        assert_eq!(status, 400, "{bytes:?}");
    }
    let head = format!("POST /{}/state HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", server.token, server.port);
    let (status, _) = server.raw(&[head.as_bytes(), b"Content-Length: 2\r\n\r\n\xff\xff"].concat());
    assert_eq!(status, 400, "the body is not text");
    // Connections that say nothing, or stop in the middle, keep nobody else waiting.
    let silent: Vec<TcpStream> =
        (0..8).map(|_| TcpStream::connect(("127.0.0.1", server.port)).expect("the server is there")).collect();
    drop(TcpStream::connect(("127.0.0.1", server.port)).and_then(|mut stream| stream.write_all(head.as_bytes())));
    assert_eq!(server.post("state", &[0])["path"][0], 0);
    drop(silent);
    assert!(server.child.try_wait().expect("it can be asked").is_none(), "it still runs");
}

#[test]
fn what_cannot_be_stepped_through_is_said_at_once() {
    let address = "threads { shared x, a[2]; thread p { local r, s; r := x; s := a[r] } }\n";
    let place = Folder::new(&[("sb.rml", SB), ("address.rml", address), ("bad.rml", "threads {")]);
    let check = |line: &str, part: &str| {
        let done = place.run(&format!("explore {line} --no-open"));
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{line}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{line}: {}", done.stderr);
    };
    check("address.rml --model rmo", "cannot be stepped through on rmo");
    check("bad.rml", "bad.rml");
    check("missing.rml", "no such file");
    check("sb.rml --model nowhere", "no memory model");
    check("sb.rml --model declared", "declared is for algorithms");
    check("sb.rml --test T0", "have tests");
    check("lib:datatypes/msn.c", "one test at a time");
    let server = Server::start(&place, "sb.rml");
    check(&format!("sb.rml --port {}", server.port), "cannot be used");
}
