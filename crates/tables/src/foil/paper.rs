//! What FOIL prints, and a sentence for each way in which we differ.

use cyrano_report::FenceInfo;

/// What the paper says about one algorithm in Tables 2 and 3.
pub struct Algorithm {
    /// Its name.
    pub name: &'static str,
    /// Its file in the library.
    pub file: &'static str,
    /// Table 2: how many states it has.
    pub states: &'static str,
    /// Table 2: how long it took to make them.
    pub time: &'static str,
    /// Why our number of states is another one.
    pub why_states: &'static str,
    /// Table 3.
    pub fences: [Printed; 3],
}

/// One cell of Table 3.
pub struct Printed {
    /// The model.
    pub model: &'static str,
    /// As printed: kind, program and statement number.
    pub text: &'static str,
    /// The same as command and kind.
    pub fences: Kinds,
}

/// Fences, each as command and kind.
type Kinds = &'static [(&'static str, &'static str)];

const fn printed(model: &'static str, text: &'static str, fences: Kinds) -> Printed {
    Printed { model, text, fences }
}

const NO_FENCES: Kinds = &[];

const WORDS: &str = "DSTM, words";

pub const ALGORITHMS: [Algorithm; 4] = [
    Algorithm {
        name: "TL2",
        file: "lib:stm/tl2.rml",
        states: "1,888,674",
        time: "581 s",
        why_states: "Ours are states of the product with the monitor of opacity, reduced; the paper's are of the algorithm alone.",
        fences: [
            printed("tso", "none", NO_FENCES),
            printed("pso", "sfence p_e 26", &[("end", "store-store")]),
            printed(
                "rmo",
                "sfence p_e 26, ld fence p_e 17, ld fence p_r 07",
                &[("end", "store-store"), ("end", "load-load"), ("read", "load-load")],
            ),
        ],
    },
    Algorithm {
        name: "DSTM",
        file: "lib:stm/dstm.rml",
        states: "3,060,158",
        time: "1,327 s",
        why_states: "As for TL2; and the corrected version has a status and an owner of one word each instead of records that are copied.",
        fences: [
            printed("tso", "none", NO_FENCES),
            printed("pso", "none", NO_FENCES),
            printed("rmo", "none", NO_FENCES),
        ],
    },
    Algorithm {
        name: WORDS,
        file: "lib:stm/dstm_words.rml",
        states: "3,060,158",
        time: "1,327 s",
        why_states: "The same algorithm in steps of one word, which is the paper's point; each transaction has a name that is never used again.",
        fences: [
            printed("tso", "none", NO_FENCES),
            printed("pso", "none", NO_FENCES),
            printed("rmo", "none", NO_FENCES),
        ],
    },
    Algorithm {
        name: "McRT STM",
        file: "lib:stm/mcrt.rml",
        states: "479,234",
        time: "265 s",
        why_states: "As for TL2; and the corrected version remembers its locks in locals and gives a read lock back in one step.",
        fences: [
            printed("tso", "none", NO_FENCES),
            printed("pso", "sfence p_a 07", &[("pa", "store-store")]),
            printed("rmo", "sfence p_a 07", &[("pa", "store-store")]),
        ],
    },
];

/// What the paper adds with each model, as (r1, r2, r3, r4).
pub const FIG4: [(&str, &str, &[[i128; 4]]); 4] = [
    ("sc", "247", &[[1, 0, 2, 0], [1, 0, 1, 0], [1, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 2], [0, 1, 0, 1], [0, 1, 0, 2]]),
    ("tso", "943", &[[0, 0, 0, 0]]),
    (
        "pso",
        "3,382",
        &[[1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 0, 2], [1, 1, 2, 0], [1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 0, 0]],
    ),
    ("rmo", "26,596", &[[1, 1, 2, 2]]),
];

/// A fence that the paper does not have: algorithm, command, kind, and why it is needed.
const EXTRA: [(&str, &str, &str, &str); 10] = [
    (
        "TL2",
        "end",
        "store-store",
        "The paper fences only the release of the locks; the value can still overtake the version, and a reader that looked at the lock before sees the new value with the old version.",
    ),
    (
        "TL2",
        "read",
        "load-load",
        "A read relies on the order of clock, lock, value and version; the paper has only the fence between value and version.",
    ),
    (
        "TL2",
        "write",
        "load-load",
        "A write that starts the transaction loads the clock, and later loads of the transaction must not be performed before it.",
    ),
    (
        "DSTM",
        "open",
        "load-load",
        "A variable may be taken before the exchange that makes the transaction active is performed, so that others take its owner for a finished one and do not abort it; the printed version has no such step.",
    ),
    (
        "DSTM",
        "read",
        "load-load",
        "A read must see that its transaction is still active after it took the value, which the printed version does not do, and rmo swaps the two loads.",
    ),
    (
        WORDS,
        "open",
        "load-load",
        "Taking a variable may overtake the cas that aborts its owner, which a section over both words hides; the printed version looks at the outcome of that cas before it goes on, and rmo keeps what depends on it behind it.",
    ),
    (WORDS, "read", "load-load", "As for DSTM: the value is loaded before the status that confirms it."),
    (
        "McRT STM",
        "end",
        "store-store",
        "A commit releases the lock by a plain store as an abort does, and the transaction's stores have to be in memory before; the paper has this fence in the abort only.",
    ),
    (
        "McRT STM",
        "write",
        "store-store",
        "A commit releases the lock by a plain store as an abort does, and the transaction's stores have to be in memory before; the paper has this fence in the abort only.",
    ),
    (
        "McRT STM",
        "read",
        "load-load",
        "The load of the value may be performed before the cas that takes the read lock; the paper's table has no fence for it.",
    ),
];

/// One sentence for each fence that only one side has.
pub fn differences(algorithm: &Algorithm, ours: &[FenceInfo], paper: &[(&str, &str)]) -> Vec<String> {
    let mut missing = paper.to_vec();
    let mut sentences = Vec::new();
    for fence in ours {
        let program = fence.program.as_deref().unwrap_or("");
        for kind in fence.kind.split(", ") {
            if let Some(at) = missing.iter().position(|theirs| *theirs == (program, kind)) {
                missing.remove(at);
                continue;
            }
            let known = EXTRA
                .iter()
                .find(|(name, command, extra, _)| *name == algorithm.name && *command == program && *extra == kind);
            sentences.push(known.map_or_else(
                || format!("The paper has no {kind} fence there; the execution above shows that it is needed."),
                |(_, _, _, why)| (*why).to_owned(),
            ));
        }
    }
    for (program, kind) in missing {
        sentences.push(format!(
            "The paper's {kind} fence in {program} is not needed: without it all executions are opaque."
        ));
    }
    sentences.dedup();
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ours: &[(&str, &str)], paper: &[(&str, &str)], expected: &[&str]) {
        let fence = |(program, kind): &(&str, &str)| FenceInfo {
            line: 1,
            place: "after",
            kind: (*kind).to_owned(),
            order: None,
            instead_of: None,
            program: Some((*program).to_owned()),
            prevents: Vec::new(),
            counterexamples: Vec::new(),
        };
        let ours: Vec<FenceInfo> = ours.iter().map(fence).collect();
        let sentences = differences(&ALGORITHMS[0], &ours, paper);
        assert_eq!(sentences.len(), expected.len(), "{sentences:?}");
        for (sentence, part) in sentences.iter().zip(expected) {
            assert!(sentence.contains(part), "no `{part}` in {sentence}");
        }
    }

    #[test]
    fn only_what_one_side_has_is_a_difference() {
        let store = ("end", "store-store");
        check(&[store], &[store], &[]);
        check(&[store, store], &[store], &["overtake the version"]);
        check(&[], &[store], &["store-store fence in end is not needed"]);
        check(&[("read", "load-load, load-store")], &[("read", "load-load")], &["no load-store fence"]);
        check(&[("pa", "load-load")], &[store], &["no load-load fence", "not needed"]);
    }
}
