//! Any text is either an RML program that passes the IR verifier and can be explored, or a list of diagnostics with
//! spans inside the text.
#![no_main]

use std::time::Duration;

use cyrano_engine::{Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match cyrano_rml::compile(source, "fuzz", &[]) {
        Ok(program) => {
            cyrano_ir::verify(&program).expect("a lowered program is valid");
            let printed = cyrano_ir::text::print(&program);
            assert_eq!(cyrano_ir::text::parse(&printed).as_ref(), Ok(&program));
            explore(&program);
        }
        Err(cyrano_rml::CompileError::Diagnostics(diagnostics)) => {
            assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                let range = diagnostic.span.range();
                assert!(range.start <= range.end && range.end <= source.len(), "{diagnostic:?}");
            }
        }
        Err(error) => panic!("{error:?}"),
    }
});

fn explore(program: &cyrano_ir::Program) {
    let limits = Limits { memory: 4 << 20, deferred: 3, ..Limits::default() };
    for model in cyrano_memory::all() {
        let limits = limits.clone().with_timeout(Some(Duration::from_millis(20)));
        if Explore::default().runs(program, &model) {
            let question = Question::Holds(&cyrano_ir::Property::Assertions);
            let query = Query::new(program, &model, question).expect("a question");
            Explore::default().ask(query, &limits, &());
        }
    }
}
