//! What the paper says: Lesani and Palsberg, *Proving Non-opacity*, sections 5 and 7, on the tool Samand and Z3.

/// A run of the paper's tool, or a run that it leaves out.
pub struct Experiment {
    pub algorithm: &'static str,
    pub file: &'static str,
    pub client: &'static str,
    /// Whether the paper says that the pattern can be seen, if it says anything.
    pub seen: Option<bool>,
    /// How it says so.
    pub paper: &'static str,
    pub time: &'static str,
}

const fn run(
    algorithm: (&'static str, &'static str),
    client: &'static str,
    seen: Option<bool>,
    paper: &'static str,
    time: &'static str,
) -> Experiment {
    let (algorithm, file) = algorithm;
    Experiment { algorithm, file, client, seen, paper, time }
}

pub const CORE_DSTM: (&str, &str) = ("Core DSTM", "lib:tm-objects/core_dstm.rml");
pub const FIXED_DSTM: (&str, &str) = ("Fixed Core DSTM", "lib:tm-objects/core_dstm_fixed.rml");
pub const CORE_MCRT: (&str, &str) = ("Core McRT", "lib:tm-objects/core_mcrt.rml");
pub const PRINTED_MCRT: (&str, &str) = ("Core McRT as printed", "lib:tm-objects/mcrt_printed.rml");
pub const FIXED_MCRT: (&str, &str) = ("Fixed Core McRT", "lib:tm-objects/core_mcrt_fixed.rml");

/// The paper's runs, and below each algorithm the patterns that it does not report on.
pub const EXPERIMENTS: [Experiment; 9] = [
    run(CORE_DSTM, "P_WS", Some(true), "seen", "not given"),
    run(FIXED_DSTM, "P_WS", Some(false), "prevented, says the text", "no run"),
    run(CORE_MCRT, "P_WE", Some(true), "seen", "20 min"),
    run(CORE_MCRT, "P_WE2", Some(true), "seen", "7 min"),
    run(PRINTED_MCRT, "P_WE", Some(true), "seen", "20 min"),
    run(PRINTED_MCRT, "P_WE2", Some(true), "seen", "7 min"),
    run(FIXED_MCRT, "P_WE", Some(false), "not seen", "10 min"),
    run(FIXED_MCRT, "P_WE2", None, "-", "no run"),
    run(FIXED_MCRT, "P_WS", None, "-", "no run"),
];

/// What the paper says about an algorithm as a whole.
pub struct Claim {
    pub file: &'static str,
    pub criterion: &'static str,
    pub holds: bool,
    /// How it says so.
    pub said: &'static str,
    /// In a sentence.
    pub words: &'static str,
}

/// Its claims.
pub const CLAIMS: [Claim; 8] = [
    Claim {
        file: CORE_DSTM.1,
        criterion: "opacity",
        holds: false,
        said: "does not hold",
        words: "Core DSTM is not opaque",
    },
    Claim {
        file: CORE_DSTM.1,
        criterion: "snapshot-isolation",
        holds: true,
        said: "holds",
        words: "DSTM provides snapshot isolation",
    },
    Claim {
        file: FIXED_DSTM.1,
        criterion: "opacity",
        holds: true,
        said: "likely",
        words: "the implementation of DSTM, which the fix models, most likely satisfies opacity",
    },
    Claim {
        file: CORE_MCRT.1,
        criterion: "opacity",
        holds: false,
        said: "does not hold",
        words: "Core McRT is not opaque",
    },
    Claim {
        file: CORE_MCRT.1,
        criterion: "serializability",
        holds: true,
        said: "holds",
        words: "Core McRT is serializable",
    },
    Claim {
        file: PRINTED_MCRT.1,
        criterion: "opacity",
        holds: false,
        said: "does not hold",
        words: "Core McRT is not opaque",
    },
    Claim {
        file: PRINTED_MCRT.1,
        criterion: "serializability",
        holds: true,
        said: "holds",
        words: "Core McRT is serializable",
    },
    Claim {
        file: FIXED_MCRT.1,
        criterion: "opacity",
        holds: true,
        said: "suggested",
        words: "the fix, offered against non-opacity, lets the read method do the validation",
    },
];

/// What the paper claims about an algorithm and a criterion.
pub fn claim(file: &str, criterion: &str) -> Option<&'static Claim> {
    CLAIMS.iter().find(|claim| claim.file == file && claim.criterion == criterion)
}
