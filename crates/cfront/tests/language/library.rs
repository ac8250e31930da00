//! Every data type of the library is read, and every test of it becomes a program that passes the verifier.

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/datatypes")
}

/// The tests file that a C file names in its header, or the one of its own name.
fn tests_of(path: &Path, source: &str) -> PathBuf {
    let named = source.lines().find_map(|line| line.strip_prefix("//@ tests:"));
    match named {
        Some(name) => path.with_file_name(name.trim()),
        None => path.with_extension("tests"),
    }
}

#[test]
fn every_test_of_every_data_type_becomes_a_program() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("the library has data types") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|ending| ending != "c") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("readable");
        let shown = path.display();
        let beside = |name: &str| std::fs::read_to_string(path.with_file_name(name)).ok();
        let unit = cyrano_cfront::parse(&source, "unit", &beside).unwrap_or_else(|e| panic!("{shown}: {e:?}"));
        let text = std::fs::read_to_string(tests_of(&path, &source)).unwrap_or_else(|e| panic!("{shown}: {e}"));
        let file = cyrano_cfront::tests(&text, &unit).unwrap_or_else(|e| panic!("{shown}: {e:?}"));
        for test in &file.tests {
            let program = unit.program(test).unwrap_or_else(|e| panic!("{shown} {}: {e:?}", test.name));
            assert_eq!(cyrano_ir::verify(&program), Ok(()), "{shown} {}", test.name);
            let spans = program.threads.iter().flat_map(|thread| &thread.code).map(|instr| instr.span);
            assert!(spans.into_iter().all(|span| span.end as usize <= source.len()), "{shown} {}", test.name);
            count += 1;
        }
    }
    assert!(count > 50, "only {count} tests");
}
