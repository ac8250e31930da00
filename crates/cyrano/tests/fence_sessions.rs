//! Fence synthesis with candidates put to one solver (`sessions`) and without: the same verdict, the same cost, minimal both times.

mod cli;

use cli::{Folder, json};
use serde_json::Value;

/// What is the same with and without: for each model the verdict, whether every fence was shown to be needed, and what the first set costs.
fn results(place: &Folder, line: &str) -> Vec<(String, String, bool, u64)> {
    let done = place.run(&format!("fence {line} --format json"));
    assert!([0, 1, 3].contains(&done.code), "{line}: {}{}", done.stdout, done.stderr);
    let cost = |fence: &Value| {
        let kinds = fence["kind"].as_str().unwrap_or_default().split(", ");
        kinds.map(|kind| if kind == "store-load" { 8 } else { 1 }).sum::<u64>()
    };
    let result = |result: &Value| {
        let word = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
        let first = result["sets"].as_array().and_then(|sets| sets.first()).and_then(Value::as_array);
        let costs = first.into_iter().flatten().map(cost).sum();
        (word("model"), word("verdict"), result["minimal"].as_bool().unwrap_or_default(), costs)
    };
    let report = json(&done);
    report["results"].as_array().expect("a list").iter().map(result).collect()
}

fn same(place: &Folder, line: &str) {
    let (with, without) = (results(place, line), results(place, &format!("{line} --no-reduction sessions")));
    assert_eq!(with, without, "{line}");
}

fn library(folder: &str) -> Vec<(String, String)> {
    let path = format!("{}/../../library/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<(String, String)> = std::fs::read_dir(&path)
        .expect("the library is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

/// Every native litmus test under every model, all by the symbolic engine. A few can go on for ever and are told so after a while.
#[test]
fn litmus_tests() {
    let place = Folder::new(&[]);
    let files = library("litmus");
    let names: Vec<&String> = files.iter().map(|(name, _)| name).filter(|name| name.ends_with(".rml")).collect();
    assert!(names.len() >= 40, "{} files", names.len());
    for name in names {
        same(
            &place,
            &format!("lib:litmus/{name} --model sc,tso,pso,rmo,sparc-rmo,relaxed --engine symbolic --iterations 3"),
        );
    }
}

/// Small tests of the library's data types.
#[test]
fn data_types() {
    let files = library("datatypes");
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let place = Folder::new(&files);
    for (file, tests) in [
        ("treiber_unfenced.c", "S0,Si2,Spc2"),
        ("ms2_unfenced.c", "T0,Ti2"),
        ("msn_unfenced.c", "T0,Ti2,Tpc2"),
        ("ring_unfenced.c", ""),
        ("ticket_unfenced.c", ""),
        ("seqlock_unfenced.c", ""),
    ] {
        let tests = if tests.is_empty() { String::new() } else { format!("--test {tests}") };
        for model in ["pso", "relaxed"] {
            same(&place, &format!("{file} --model {model} {tests}"));
        }
    }
}

/// All minimal sets are the same ones, whatever was learnt on the way.
#[test]
fn all_sets() {
    let place = Folder::new(&[]);
    for name in ["sb", "mp", "lb", "iriw", "peterson"] {
        let sets = |more: &str| {
            let line = format!("fence lib:litmus/{name}.rml --model relaxed --all --format json {more}");
            let report = json(&place.run(&line));
            let sets = report["results"][0]["sets"].as_array().expect("a list");
            let fence = |fence: &Value| (fence["line"].as_u64(), fence["kind"].as_str().map(str::to_owned));
            let mut sets: Vec<Vec<_>> =
                sets.iter().map(|set| set.as_array().into_iter().flatten().map(fence).collect()).collect();
            sets.sort();
            assert!(!sets.is_empty(), "{name}");
            sets
        };
        assert_eq!(sets(""), sets("--no-reduction sessions"), "{name}");
    }
}
