//! Testing the tests: each deliberate bug in the explorer must be noticed by the comparison on the corpus.

use cyrano_conformance::{compare_with, corpus, limits};

use crate::{Explore, Fault};

fn programs() -> Vec<(String, cyrano_ir::Program)> {
    let entries = corpus::entries().expect("the library can be read");
    let small = entries.iter().filter(|e| e.path.parent().is_some_and(|p| p.ends_with("litmus")));
    let mut programs: Vec<_> = small
        .map(|entry| {
            let name = entry.path.file_stem().expect("a file name").to_string_lossy().into_owned();
            let program = cyrano_rml::compile(&entry.source, &name, &[]).expect("the library compiles");
            (name, program)
        })
        .collect();
    programs.extend(corpus::ir_programs().expect("the programs can be read"));
    // Short programs first: they are compared sooner, and say more clearly what is wrong.
    programs.sort_by_key(|(_, program)| program.threads.iter().map(|t| t.code.len()).sum::<usize>());
    programs
}

/// What the comparison says against a program, if anything. A broken explorer may also fall over its own invariants.
fn complaint(program: &cyrano_ir::Program, explore: &Explore) -> Option<String> {
    let compared = std::panic::catch_unwind(|| compare_with(program, &[explore], &|| limits(0.05, 1)));
    match compared {
        Ok(result) => result.err().map(|disagreement| disagreement.to_string()),
        Err(_) => Some("panicked".into()),
    }
}

#[test]
fn the_explorer_itself_is_not_blamed() {
    for (name, program) in programs() {
        assert_eq!(complaint(&program, &Explore::default()), None, "{name}");
    }
}

/// The bugs stay in the package that is made for them: nothing else in the workspace is built with them.
#[test]
fn the_engine_that_users_get_has_no_seeded_bugs() {
    let explore = cyrano_explore::Explore { fault: Some(cyrano_explore::Fault::NoForwarding), ..Default::default() };
    for (name, program) in programs().into_iter().take(24) {
        assert_eq!(
            compare_with(&program, &[&explore], &|| limits(0.05, 1)).err().map(|why| why.to_string()),
            None,
            "{name}"
        );
    }
}

#[test]
fn every_seeded_bug_is_noticed() {
    let programs = programs();
    let mut unnoticed = Vec::new();
    for fault in Fault::ALL {
        let explore = Explore { fault: Some(fault), ..Explore::default() };
        let noticed = programs.iter().find_map(|(name, program)| Some((name, complaint(program, &explore)?)));
        match noticed {
            Some((name, disagreement)) => println!("{fault:?}: {name} {disagreement}"),
            None => unnoticed.push(fault),
        }
    }
    assert!(unnoticed.is_empty(), "the comparison does not notice {unnoticed:?}");
}
