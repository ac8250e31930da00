//! Broken files: whatever is dropped, doubled or swapped in a right one, nothing panics, and what compiles is a right program.

use proptest::prelude::*;

use super::*;

const FILES: [&str; 5] = [
    include_str!("../../../../../library/tm-objects/core_mcrt_fixed.rml"),
    include_str!("../../../../../library/tm-objects/core_dstm_fixed.rml"),
    include_str!("../../../../../library/tm-objects/tl2.rml"),
    include_str!("../../../../../library/tm-objects/bank.rml"),
    include_str!("../../../../../library/tm-objects/try_lock.rml"),
];

/// The pieces of a source text: words, marks and the space between them.
fn pieces(source: &str) -> Vec<&str> {
    source.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn broken_files_are_refused_or_right(
        file in 0..FILES.len(),
        edits in prop::collection::vec((0..3u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        // The comments in front are of no interest.
        let text = &FILES[file][FILES[file].find("const").unwrap_or(0)..];
        let mut pieces = pieces(text);
        for (kind, at, other) in edits {
            let (at, other) = (at.index(pieces.len()), other.index(pieces.len()));
            match kind {
                0 => drop(pieces.remove(at)),
                1 => pieces.insert(at, pieces[other]),
                _ => pieces.swap(at, other),
            }
        }
        if let Ok(tests) = compile("soup", &pieces.concat(), &[]) {
            for test in tests {
                prop_assert_eq!(cyrano_ir::verify(&test.program), Ok(()));
            }
        }
    }
}
