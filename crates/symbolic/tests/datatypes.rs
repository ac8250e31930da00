//! Tests of the C library: outcome sets equal those of the explorer, which shares no code with this engine, and grow along the models.

use cyrano_conformance::{corpus, limits};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::Program;
use cyrano_symbolic::Symbolic;

fn program(file: &str, test: &str) -> Program {
    let folder = corpus::folder().join("datatypes");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the library can be read");
    let unit = cyrano_cfront::parse(&read(&format!("{file}.c")), file, &|_| None).expect("the library compiles");
    let stem = file.trim_end_matches("_unfenced");
    let tests = cyrano_cfront::tests(&read(&format!("{stem}.tests")), &unit).expect("the tests are right");
    let test = tests.tests.iter().find(|candidate| candidate.name == test).expect("there is such a test");
    unit.program(test).expect("the test becomes a program")
}

#[test]
fn outcomes_equal_the_explorers() {
    let files =
        [("msn", "T0"), ("msn", "Tpc2"), ("ms2", "T0"), ("msn_unfenced", "T0"), ("lazylist", "Sac"), ("harris", "Sac")];
    for (file, test) in files {
        let program = program(file, test);
        let mut before = None;
        for name in ["serial", "sc", "tso", "pso"] {
            let model = cyrano_memory::named(name).expect("a model");
            let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
            let explored = Explore::default().ask(query, &limits(120.0, 3), &());
            let solved = Symbolic::default().ask(query, &limits(120.0, 3), &());
            assert_eq!(solved.verdict, Verdict::Verified, "{file} {test} {name}: {:?}", solved.reason);
            assert_eq!(explored.verdict, Verdict::Verified, "{file} {test} {name}: {:?}", explored.reason);
            assert!(solved.outcomes.len() >= 4, "{file} {test} {name}: {:?}", solved.outcomes);
            assert_eq!(solved.outcomes, explored.outcomes, "{file} {test} {name}");
            let grown = before.replace(solved.outcomes.clone()).is_none_or(|before| before.is_subset(&solved.outcomes));
            assert!(grown, "{file} {test}: {name} lacks outcomes of the model before it");
        }
    }
}
