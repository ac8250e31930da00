//! Any text is either a C file, whose program, if it has `main`, passes the IR verifier, or a list of diagnostics with spans inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match cyrano_cfront::parse(source, "it.c", &|_| None) {
        Ok(unit) if unit.has_main() => {
            if let Ok(program) = unit.whole(cyrano_cfront::Bounds::default()) {
                cyrano_ir::verify(&program).expect("a lowered program is valid");
            }
        }
        Ok(_) => {}
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                let range = diagnostic.span.range();
                assert!(range.start <= range.end && range.end <= source.len(), "{diagnostic:?}");
            }
        }
    }
});
