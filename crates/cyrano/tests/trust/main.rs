//! Every verdict means what it says: programs that once drew a wrong or misleading answer, each with the right one.
//!
//! One module for each kind of fault; the module doc says what the fault was.

#[path = "../cli/mod.rs"]
mod cli;

mod advice;
mod arithmetic;
mod clients;
mod commits;
mod confirmation;
mod data;
mod documents;
mod endless;
mod freed;
mod movers;
mod outputs;
mod queries;
mod sections;
mod untrusted;
mod uses;
mod vacuity;

use cli::Folder;

/// The verdicts of `check` on one file, in the order of the checks, and the exit code.
fn verdicts(name: &str, source: &str, options: &str) -> (Vec<String>, i32) {
    let place = Folder::new(&[(name, source)]);
    verdicts_in(&place, &format!("{name} {options}"))
}

/// The verdicts of `check` on files of a place.
fn verdicts_in(place: &Folder, arguments: &str) -> (Vec<String>, i32) {
    let done = place.run(&format!("check {arguments} --format json"));
    assert_ne!(done.code, 2, "{}", done.stderr);
    let report = cli::json(&done);
    let checks = report["checks"].as_array().expect("a list of checks");
    (checks.iter().map(|check| check["verdict"].as_str().expect("a verdict").to_owned()).collect(), done.code)
}

#[test]
fn a_verdict_is_read_from_the_report() {
    assert_eq!(verdicts("sb.rml", cli::SB, "--model tso"), (vec!["violated".to_owned()], 1));
}
