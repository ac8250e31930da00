//! Section 8 of FOIL: what carries opacity from two threads and two variables to any number of them.

use cyrano_engine::Verdict;
use cyrano_ir::{Property, Structure};
use cyrano_report::TableRow;
use cyrano_session::{Failure, reduction};

use crate::{Made, Rows, Setup, each, made, model};

/// A property and the threads and variables at which it is checked.
const COLUMNS: [(Structure, i128, i128); 8] = [
    (Structure::AbortIsolation, 2, 1),
    (Structure::PendingIsolation, 2, 1),
    (Structure::ConflictCommutativity, 2, 1),
    (Structure::TransactionProjection, 2, 1),
    (Structure::SequentialRenaming, 3, 1),
    (Structure::VariableProjection, 2, 2),
    (Structure::Monotonicity, 2, 1),
    (Structure::Completion, 2, 1),
];

/// A memory, a model, and what the paper says of it.
const MEMORIES: [(&str, &str, &str); 5] = [
    ("lib:stm/dstm.rml", "sc", "has all"),
    ("lib:stm/tl2.rml", "sc", "has all"),
    ("lib:stm/tl2.rml", "pso", "not conflict-commutative"),
    ("lib:stm/tl2_pso.rml", "pso", "has all, with fences"),
    ("lib:stm/mcrt.rml", "sc", "not abort-isolated"),
];

pub(super) fn section8(setup: &Setup<'_>, title: &'static str) -> Result<Made, Failure> {
    let rows = each(1, &MEMORIES, |(file, name, paper)| {
        let mut complete = true;
        let mut cells = vec![format!("{} on {name}", file.trim_start_matches("lib:stm/"))];
        let mut notes = Vec::new();
        for (structure, threads, vars) in COLUMNS {
            let case = setup.case(file, &[("threads", threads), ("vars", vars)])?;
            let report = setup.runner().check(&case, &Property::Structure(structure), &model(name), &())?;
            complete &= report.verdict != Verdict::Unknown;
            cells.push(match report.verdict {
                Verdict::Verified => "yes".to_owned(),
                Verdict::Violated => "no".to_owned(),
                other => other.name().to_owned(),
            });
            let why = report.explanation.filter(|_| report.verdict == Verdict::Violated).map(|why| why.sentence);
            notes.extend(why.map(|why| format!("{}: {why}", structure.name())));
        }
        let proven = reduction::proven(&setup.case(file, &[])?, &model(name));
        cells.push(if proven.is_empty() { "-".to_owned() } else { proven.join(", ") });
        cells.push((*paper).to_owned());
        Ok(Rows { rows: vec![TableRow { cells, notes }], complete })
    })?;
    let header = [
        "memory",
        "abort-isol.",
        "pending-isol.",
        "commutes",
        "P1",
        "P2, rows",
        "P3",
        "P4",
        "completion",
        "all sizes",
        "paper",
    ];
    let notes = [
        "For 2 threads and 1 variable; P2 for 3 threads and 1 variable, P3 for 2 and 2. P4 is checked for histories up to a length, hence `bounded`.",
        "All sizes: proven on the text for every number of threads and variables, for models that keep accesses in order; P3 as far as the theorem needs it.",
        "Isolation is read literally: whoever reads a word that an unfinished transaction changed has to abort. No memory here does that, and none needs to: P1 is what matters.",
        "P1 to P4 alone do not carry opacity to more threads; with completion they do (docs/reduction.md).",
    ];
    Ok(made(title, &header, rows, &notes))
}
