//! Certificates through the command line: written, accepted, refused when somebody tampers with them, and files that are none.

mod cli;

use cli::{Folder, json};

const LOCK: &str = "threads { shared turn, n; local r;
  thread p[2] { atomic { r := turn; assume r = 0; turn := 1 } r := n; n := r + 1; assert r < 2; turn := 0 } }
check assertions on sc;
check always (n = 2) on sc;
";

/// The lines of a certificate with the sum that belongs to them, as somebody who knows the format would write it.
fn with_sum(place: &Folder, name: &str, lines: &[String]) {
    use sha2::{Digest, Sha256};
    let text = lines.join("\n") + "\n";
    let sum: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(place.path(name), format!("{text}{{\"sum\":\"{sum}\"}}\n")).expect("it can be written");
}

/// A certificate of the lock: its lines without the sum.
fn written(place: &Folder) -> Vec<String> {
    let done = place.run("check lock.rml --certificate lock.cert");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let text = std::fs::read_to_string(place.path("lock.cert")).expect("it was written");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

/// The heading with one field changed.
fn heading(lines: &[String], change: impl FnOnce(&mut serde_json::Value)) -> Vec<String> {
    let mut heading: serde_json::Value = serde_json::from_str(&lines[0]).expect("a heading");
    change(&mut heading);
    let mut lines = lines.to_vec();
    lines[0] = heading.to_string();
    lines
}

#[test]
fn what_is_tampered_with_is_refused() {
    let place = Folder::new(&[("lock.rml", LOCK)]);
    let lines = written(&place);
    with_sum(&place, "same.cert", &lines);
    let same = place.run("certify same.cert --format json");
    assert!(same.code == 0 && json(&same)["verdict"] == "accepted", "{}{}", same.stdout, same.stderr);
    let states = lines.len() - 1;
    let fewer = |lines: &[String]| heading(lines, |heading| heading["states"] = (lines.len() - 1).into());
    let mut lost = lines.clone();
    lost.remove(1 + states / 2);
    let mut value = lines.clone();
    value[states / 2] = value[states / 2].replacen("\"m\":[", "\"m\":[7", 1);
    let replaced = |field: &str, from: &str, to: &str| {
        let changed = heading(&lines, |heading| {
            let text = heading[field].as_str().expect("a text").to_owned();
            assert!(text.contains(from), "{field}: {text}");
            heading[field] = text.replace(from, to).into();
        });
        assert_ne!(changed, lines, "{field}");
        changed
    };
    let cases = [
        ("a state is lost", fewer(&lost), 1, "not in the certificate"),
        ("no states", fewer(&lines[..1]), 1, "initial state is not in the certificate"),
        ("a value", value, 1, "not in the certificate"),
        ("the source", replaced("source", "r + 1", "r + 2"), 1, "not what its source says"),
        ("the source is none", replaced("source", "threads", "treads"), 1, "does not compile"),
        ("the program", replaced("program", "assertions", "races"), 2, "hash"),
        ("the claim", replaced("criterion", "assertions", "races"), 2, "one check"),
        ("the model", heading(&lines, |heading| heading["model"]["name"] = "tso".into()), 2, "model"),
        ("too few states", heading(&lines, |heading| heading["states"] = 3.into()), 2, "states"),
    ];
    for (what, lines, code, said) in cases {
        with_sum(&place, "other.cert", &lines);
        let done = place.run("certify other.cert");
        let all = format!("{}{}", done.stdout, done.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(done.code == code && all.contains(said), "{what}: {} {all}", done.code);
    }
}

#[test]
fn files_that_are_none() {
    let place = Folder::new(&[("lock.rml", LOCK)]);
    let lines = written(&place);
    let text = lines.join("\n") + "\n";
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("nothing", Vec::new(), "no certificate"),
        ("not UTF-8", b"\xff\xfe{\"schema\":1}".to_vec(), "UTF-8"),
        ("garbage", b"0123456789abcdef".repeat(1 << 18), "no certificate"),
        ("lines of garbage", b"x\n".repeat(1 << 20), "no certificate"),
        ("nested", b"[".repeat(1 << 20), "no certificate"),
        ("nested objects", b"{\"schema\":".repeat(1 << 16), "no certificate"),
        ("another schema", b"{\"schema\":\"cyrano.certificate/2\"}\n".to_vec(), "this version reads"),
        ("a trace", b"{\"schema\":\"cyrano.trace/2\"}\n".to_vec(), "cyrano.trace/2"),
        ("without its sum", text.clone().into_bytes(), "ends too early"),
        ("with another sum", format!("{text}{{\"sum\":\"00\"}}\n").into_bytes(), "the sum is wrong"),
    ];
    for (what, bytes, said) in cases {
        std::fs::write(place.path("bad.cert"), bytes).expect("it can be written");
        let done = place.run("certify bad.cert");
        assert!(done.code == 2 && done.stderr.contains(said), "{what}: {} {}", done.code, done.stderr);
    }
    let mut deep = lines;
    deep[1] = "[".repeat(1 << 16);
    with_sum(&place, "bad.cert", &deep);
    let done = place.run("certify bad.cert");
    assert!(done.code == 2 && done.stderr.contains("line 2"), "{} {}", done.code, done.stderr);
}

#[test]
fn every_number_of_threads() {
    let place = Folder::new(&[]);
    let done = place.run("check lib:parameterised/once.rml --criterion assertions --model sc --certificate once.cert");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = place.run("certify once.cert");
    assert!(done.code == 0 && done.stdout.contains("for every number of threads"), "{}", done.stdout);
    let text = std::fs::read_to_string(place.path("once.cert")).expect("it was written");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines.remove(3);
    let lines = heading(&lines, |heading| heading["states"] = (lines.len() - 1).into());
    with_sum(&place, "once.cert", &lines);
    let done = place.run("certify once.cert");
    assert!(done.code == 1 && done.stdout.contains("refused"), "{} {}", done.stdout, done.stderr);
}

#[test]
fn commit_atomicity() {
    let place = Folder::new(&[]);
    let check = "check lib:atomicity/bluetooth.rml --criterion commit-atomicity --model tso --certificate blue.cert";
    let done = place.run(check);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let done = place.run("certify blue.cert");
    assert!(done.code == 0 && done.stdout.contains("accepted"), "{} {}", done.stdout, done.stderr);
    let text = std::fs::read_to_string(place.path("blue.cert")).expect("it was written");
    let mut original: Vec<String> = text.lines().map(str::to_owned).collect();
    original.pop();
    let refused = |what: &str, change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = original.clone();
        change(&mut lines);
        let states = lines.len() - 1;
        let lines = heading(&lines, |heading| heading["states"] = states.into());
        with_sum(&place, "blue.cert", &lines);
        let done = place.run("certify blue.cert");
        assert!((1..=2).contains(&done.code), "{what}: {} {}", done.stdout, done.stderr);
    };
    refused("a state is dropped", &|lines| drop(lines.remove(7)));
    refused("a value is changed", &|lines| lines[5] = lines[5].replacen("{\"m\":[0", "{\"m\":[1", 1));
    refused("a shadow is changed", &|lines| lines[5] = lines[5].replacen("\"w\":[{\"m\":[0", "\"w\":[{\"m\":[1", 1));
    refused("a shadow is missing", &|lines| {
        let at = lines[5].find(",\"ser\"").expect("it has a serial run");
        lines[5].replace_range(at.., "}");
    });
    refused("another criterion is claimed", &|lines| {
        lines[0] = lines[0].replacen("\"criterion\":\"commit-atomicity\"", "\"criterion\":\"races\"", 1);
    });
}

#[test]
fn where_there_is_none_there_is_a_reason() {
    let place = Folder::new(&[]);
    let cases = [
        ("lib:litmus/peterson_fenced.rml --model sc --criterion termination", "a measure that falls"),
        ("lib:litmus/sb_mfence.rml --model armv8", "about relations between events"),
        ("lib:stm/tl2.rml --model sc --criterion opacity --set vars=1", "more than 524288 states"),
    ];
    for (question, why) in cases {
        let done = place.run(&format!("check {question} --certificate none.cert"));
        let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(done.code == 0 && said.contains(why), "{question}: {} {}{said}", done.code, done.stdout);
        assert!(!place.path("none.cert").exists(), "{question}");
    }
}

const INCREMENTS: &str = "threads { shared n; thread p[2] { local r; operation increment { r := fetch_add(n, 1); } } }
observe n, p[0].r, p[1].r;
";

const BLOCKS: &str = "threads { shared n, m; thread p[2] { local r;
  atomic increment returns r { r := fetch_add(n, 1); m := 1; } } }
check atomicity on sc, tso;
";

/// The heading with another reference and the hash that belongs to it.
fn compared(lines: &[String], change: impl Fn(&str) -> String) -> Vec<String> {
    use sha2::{Digest, Sha256};
    heading(lines, |heading| {
        let text = |field: &str| heading[field].as_str().expect("a text").to_owned();
        let (program, reference) = (text("program"), change(&text("reference")));
        assert_ne!(text("reference"), reference);
        let hash = Sha256::digest(format!("{program}{reference}").as_bytes());
        heading["hash"] = hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        heading["reference"] = reference.into();
    })
}

/// What observations are compared with is compiled again, as the program is.
#[test]
fn a_reference_is_not_believed() {
    let place = Folder::new(&[("n.rml", INCREMENTS), ("blocks.rml", BLOCKS)]);
    place.write("by_cas.rml", INCREMENTS.replace("fetch_add(n, 1)", "n; n := r + 1").as_bytes());
    let lines = |command: &str, file: &str| -> Vec<String> {
        let done = place.run(command);
        assert_eq!(done.code, 0, "{command}: {}{}", done.stdout, done.stderr);
        let text = std::fs::read_to_string(place.path(file)).expect("it was written");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.pop();
        lines
    };
    let certify = |lines: &[String]| {
        with_sum(&place, "changed.cert", lines);
        place.run("certify changed.cert")
    };
    let written =
        lines("check n.rml --criterion observations --model sc --reference by_cas.rml --certificate n.cert", "n.cert");
    let same = certify(&written);
    assert!(same.code == 0 && same.stdout.contains("compared with by_cas.rml"), "{}{}", same.stdout, same.stderr);
    let source = |change: &dyn Fn(&mut serde_json::Value)| certify(&heading(&written, change));
    let other = source(&|heading| heading["reference_source"]["source"] = INCREMENTS.into());
    assert!(other.code == 1 && other.stdout.contains("is not what its source says"), "{}", other.stdout);
    let none = source(&|heading| heading["reference_source"]["source"] = "threads {".into());
    assert_eq!(none.code, 1, "{}", none.stdout);
    assert_eq!(source(&|heading| heading["reference_source"] = serde_json::Value::Null).code, 2);
    let program = certify(&compared(&written, |reference| reference.replace(" + 1", " + 0")));
    assert_eq!(program.code, 1, "{}{}", program.stdout, program.stderr);

    let written = lines("check blocks.rml --certificate blocks.cert", "blocks.cert");
    let same = certify(&written);
    assert!(same.code == 0 && same.stdout.contains("atomicity"), "{}{}", same.stdout, same.stderr);
    assert_eq!(certify(&heading(&written, |heading| heading["criterion"] = "observations".into())).code, 2);
    let spoilt = certify(&heading(&written, |heading| {
        let source = heading["source"].as_str().expect("a text").replace("m := 1", "m := 2");
        heading["source"] = source.into();
    }));
    assert!(spoilt.code == 1 && spoilt.stdout.contains("is not what its source says"), "{}", spoilt.stdout);
    let operations = certify(&compared(&written, |reference| reference.replace("store m, 1", "store m, 2")));
    assert!(operations.code == 1 && operations.stdout.contains("is not what its source says"), "{}", operations.stdout);
}
