//! Any text is either a program in the IR's text form, which then survives printing, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    if let Ok(program) = cyrano_ir::text::parse(source) {
        let printed = cyrano_ir::text::print(&program);
        assert_eq!(cyrano_ir::text::parse(&printed), Ok(program.clone()));
        let _ = cyrano_ir::verify(&program);
    }
});
