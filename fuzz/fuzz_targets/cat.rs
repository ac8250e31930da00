//! Any text is either a model in cat or a list of diagnostics with spans inside the text.
#![no_main]

use cyrano_memory::cat::Cat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    if let Err(diagnostics) = Cat::parse(source) {
        assert!(!diagnostics.is_empty());
        for diagnostic in diagnostics {
            let range = diagnostic.span.range();
            assert!(range.start <= range.end && range.end <= source.len(), "{diagnostic:?}");
        }
    }
});
