//! Testing the tests: each deliberate bug in the explorer must be noticed by the comparison on the corpus.

use cyrano_conformance::{compare_with, corpus, limits};
use cyrano_explore::{Explore, Fault};

fn programs() -> Vec<(String, cyrano_ir::Program)> {
    let entries = corpus::entries().expect("the library can be read");
    let small = entries.iter().filter(|e| e.path.parent().is_some_and(|p| p.ends_with("litmus")));
    small
        .map(|entry| {
            let name = entry.path.file_stem().expect("a file name").to_string_lossy().into_owned();
            let program = cyrano_rml::compile(&entry.source, &name, &[]).expect("the library compiles");
            (name, program)
        })
        .collect()
}

#[test]
fn every_seeded_bug_is_noticed() {
    let programs = programs();
    let mut unnoticed = Vec::new();
    for fault in Fault::ALL {
        let explore = Explore { fault: Some(fault), ..Explore::default() };
        let noticed = programs
            .iter()
            .find_map(|(name, program)| Some((name, compare_with(program, &explore, &|| limits(0.2, 1)).err()?)));
        match noticed {
            Some((name, disagreement)) => println!("{fault:?}: {name} {disagreement}"),
            None => unnoticed.push(fault),
        }
    }
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}
