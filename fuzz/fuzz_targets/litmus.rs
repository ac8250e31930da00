//! Any text is either a litmus test whose program passes the IR verifier and can be explored, or a list of diagnostics with spans
//! inside the text.
#![no_main]

use std::time::Duration;

use cyrano_engine::{Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match cyrano_litmus::compile(source) {
        Ok(test) => {
            cyrano_ir::verify(&test.program).expect("a lowered program is valid");
            let printed = cyrano_ir::text::print(&test.program);
            assert_eq!(cyrano_ir::text::parse(&printed).as_ref(), Ok(&test.program));
            explore(&test);
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                let range = diagnostic.span.range();
                assert!(range.start <= range.end && range.end <= source.len(), "{diagnostic:?}");
            }
        }
    }
});

fn explore(test: &cyrano_litmus::Test) {
    let limits = Limits { memory: 4 << 20, deferred: 3, ..Limits::default() };
    for model in cyrano_memory::all() {
        let limits = limits.clone().with_timeout(Some(Duration::from_millis(20)));
        if Explore::default().runs(&test.program, &model) {
            let query = Query::new(&test.program, &model, Question::Outcomes).expect("a question");
            let answer = Explore::default().ask(query, &limits, &());
            _ = test.judge(&answer.outcomes);
        }
    }
}
