//! Outputs never destroy inputs, and never change a verdict's exit code.
//!
//! Paths of outputs used to be looked at after the search: `--save-trace a.rml` replaced the checked file, and one that could not be written lost the others
//! and turned `violated` into bad usage.

use crate::cli::{self, Folder};

/// A command that must be refused before anything is computed or written.
fn refused(place: &Folder, line: &str, part: &str) {
    let done = place.run(line);
    assert_eq!(done.code, 2, "{line}: {done:?}");
    assert!(done.stderr.contains(part), "{line}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{line}: nothing is computed");
}

#[test]
fn no_output_is_an_input() {
    let place = Folder::new(&[("sb.rml", cli::SB), ("machine.txt", "")]);
    std::fs::create_dir(place.path("d")).expect("a folder can be made");
    let options = ["--save-trace", "--html", "--svg", "--dot", "--mermaid"];
    for option in options {
        refused(&place, &format!("check sb.rml --model tso {option} sb.rml"), "sb.rml: a source file has such a name");
    }
    for (name, text) in [("plain", cli::SB), ("hard.rml", cli::SB)] {
        place.write(name, text.as_bytes());
    }
    std::fs::hard_link(place.path("hard.rml"), place.path("hard")).expect("files can have two names");
    refused(&place, "check hard.rml --model tso --save-trace hard", "an input of the same run");
    refused(&place, "check hard.rml --model tso --html d/../hard", "an input of the same run");
    let model = place.run("models tso --format json");
    assert_eq!(model.code, 0);
    place.write("machine.txt", MACHINE.as_bytes());
    refused(&place, "check sb.rml --model ./machine.txt --svg machine.txt", "an input of the same run");
    refused(&place, "fence hard.rml --model tso --write hard.rml", "an input of the same run");
    refused(&place, "fence hard.rml --model tso --write hard", "an input of the same run");
    refused(&place, "fence hard.rml --model tso --write fixed.rml --html other.c", "a source file has such a name");
    assert_eq!((place.read("hard.rml"), place.read("sb.rml")), (cli::SB.to_owned(), cli::SB.to_owned()));
    assert_eq!(place.read("machine.txt"), MACHINE);
}

const MACHINE: &str = "model machine\nsummary One.\nkeep different: load-load, load-store, store-store\nkeep same: all\nforward: yes\ndependencies: none\n";

#[cfg(unix)]
#[test]
fn links_lead_to_inputs_too() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    for (link, target) in [("link", "sb.rml"), ("second", "link")] {
        std::os::unix::fs::symlink(target, place.path(link)).expect("links can be made");
        refused(&place, &format!("check sb.rml --model tso --save-trace {link}"), "an input of the same run");
    }
    assert_eq!(place.read("sb.rml"), cli::SB);
    // A link to nothing is a name for what it leads to.
    std::os::unix::fs::symlink("made.json", place.path("ahead")).expect("links can be made");
    refused(&place, "check sb.rml --model tso --save-trace ahead --html made.json", "--html names the same file");
    let done = place.run("check sb.rml --model tso --save-trace ahead");
    assert_eq!(done.code, 1, "{done:?}");
    assert!(place.read("made.json").contains("cyrano.trace/2"));
}

#[test]
fn saved_documents_are_inputs_too() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    place.run("check sb.rml --model tso --save-trace t.json");
    let report = place.run("check sb.rml --model tso --format json");
    place.write("r.json", report.stdout.as_bytes());
    let (trace, saved) = (place.read("t.json"), place.read("r.json"));
    refused(&place, "view t.json -o t.json --no-open", "an input of the same run");
    refused(&place, "replay t.json --svg ./t.json", "an input of the same run");
    refused(&place, "replay t.json --source sb.rml --html sb.rml", "a source file has such a name");
    refused(&place, "report merge r.json -o r.json", "an input of the same run");
    refused(&place, "report merge r.json -o merged.rml", "a source file has such a name");
    assert_eq!((place.read("t.json"), place.read("r.json")), (trace, saved));
}

#[test]
fn outputs_are_different_files() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    refused(&place, "check sb.rml --model tso --save-trace a --html ./a", "--html names the same file");
    refused(&place, "check sb.rml --model tso --svg a.svg --dot a.svg", "--svg names the same file");
    assert!(!place.path("a").exists() && !place.path("a.svg").exists(), "nothing is left behind");
    // The second trace has a name of its own, which is that of the picture.
    let done = place.run("check sb.rml --save-trace t.json --svg t-2.json");
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stderr.contains("t-2.json: cannot be written: --svg names the same file"), "{}", done.stderr);
    assert!(place.read("t-2.json").contains("<svg"));
}

#[test]
fn what_cannot_be_written_is_found_out_before() {
    let place = Folder::new(&[("endless.rml", cli::ENDLESS), ("sb.rml", cli::SB)]);
    std::fs::create_dir(place.path("d")).expect("a folder can be made");
    for path in ["none/t.json", "d", "sb.rml/t.json"] {
        refused(&place, &format!("check endless.rml --save-trace {path}"), "cannot be written");
        refused(&place, &format!("fence endless.rml --model tso --html {path}"), "cannot be written");
    }
    refused(&place, "fence sb.rml --model tso --write none/a.rml", "cannot be written");
}

#[cfg(target_os = "linux")]
#[test]
fn a_failure_neither_loses_the_others_nor_lowers_a_verdict() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    // A device on which nothing can be written is found out about only then.
    let done = place.run("check sb.rml --model tso --html /dev/full --save-trace t.json --svg t.svg");
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stderr.contains("/dev/full: cannot be written"), "{}", done.stderr);
    assert!(done.stdout.contains("violated") && place.path("t.json").exists() && place.path("t.svg").exists());
    let done = place.run("check sb.rml --model sc --criterion never --html /dev/full");
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.stdout.contains("verified"));
    // A pipe is written to as it is.
    let done = place.run("check sb.rml --model tso --quiet --save-trace /dev/stdout");
    assert!(done.code == 1 && done.stdout.contains("cyrano.trace/2"), "{done:?}");
    // Standard output is no exception.
    for (model, code) in [("tso", 1), ("sc", 2)] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there is such a device");
        let line = format!("check sb.rml --model {model} --criterion never --html {model}.html");
        let output = place.command(&line).stdout(full).output().expect("the binary can be run");
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(place.path(&format!("{model}.html")).exists(), "{line}");
    }
}

#[test]
fn an_older_file_stays_unless_there_is_a_new_one() {
    let place = Folder::new(&[("sb.rml", cli::SB), ("old.json", "precious")]);
    let done = place.run("check sb.rml --model sc --criterion never --save-trace old.json");
    assert_eq!((done.code, place.read("old.json").as_str()), (0, "precious"));
    let done = place.run("check sb.rml --save-trace old.json");
    assert_eq!(done.code, 1);
    assert!(place.read("old.json").contains("cyrano.trace/2"));
    let left: Vec<_> = std::fs::read_dir(place.path(".")).expect("the folder is there").collect();
    assert_eq!(left.len(), 3, "the file, its trace and a witness: {left:?}");
}

#[test]
fn generated_tests_overwrite_no_other() {
    let place = Folder::new(&[]);
    let line = "litmus generate 'PodWR Fre PodWR Fre' -o tests";
    assert_eq!((place.run(line).code, place.run(line).code), (0, 0), "the same tests are no harm");
    let file = std::fs::read_dir(place.path("tests")).expect("the folder is there").next().expect("there is a test");
    let path = file.expect("it can be read").path();
    std::fs::write(&path, "mine").expect("it can be written");
    refused(&place, line, "other content");
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "mine");
}
