//! Memories without values run with a client of their own (FOIL, section 2.3), judged by opacity and strict serializability.
//!
//! A given client that may do whatever the most general one does has its verdict. Small clients have the verdict of the definition, applied to
//! every history that brute force finds. What is shown replays.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, words};
use cyrano_criteria::oracle;
use cyrano_engine::{Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};

fn compile(source: &str) -> Program {
    cyrano_rml::compile(source, "given", &[]).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

fn judge(program: &Program, model_name: &str, criterion: TxCriterion) -> Verdict {
    let property = Property::Transactions(criterion);
    corpus::judge(&Explore::default(), program, &model(model_name), &property, &limits(6.0, 1)).verdict
}

/// A client that does in every transaction what it likes, and after an abort whatever comes next; for one variable.
const ANYTHING: &str = "client { thread t[threads] { loop {
    tx { loop { choose { read(0); } or { write(0); } or { break; } } } else { skip }
} } }";

#[test]
fn the_most_general_client_can_be_given() {
    let entries = corpus::in_folder("stm");
    let compared = corpus::for_each(&entries, |_, entry| {
        let set = [("vars".to_owned(), 1), ("threads".to_owned(), 2)];
        let general = cyrano_rml::compile(&entry.source, "general", &set).expect("the library compiles");
        let source = format!("{}\n{ANYTHING}", entry.source);
        let given = cyrano_rml::compile(&source, "given", &set).map_err(|error| format!("{error:?}"))?;
        let mut compared = 0;
        for model in ["sc", "pso"] {
            let [general, given] = [&general, &given].map(|program| judge(program, model, TxCriterion::Opacity));
            let decided = |verdict: Verdict| matches!(verdict, Verdict::Verified | Verdict::Violated);
            if decided(general) && decided(given) {
                compared += 1;
            }
            if decided(general) && given != general {
                return Err(format!("{model}: {general:?}, but {given:?} with the client given"));
            }
        }
        Ok(compared)
    });
    assert!(compared >= 60, "only {compared} verdicts were compared");
}

/// Transactions of at most two commands on two variables, as far as they are not alike by names.
fn transactions() -> Vec<String> {
    let commands = ["read(0);", "read(1);", "write(0);", "write(1);"];
    let pairs =
        commands.iter().flat_map(|first| commands.map(|second| format!("tx {{ {first} {second} }} else {{ }}")));
    commands.iter().map(|one| format!("tx {{ {one} }} else {{ }}")).chain(pairs).collect()
}

/// Whether some history of the program is rejected by the definition.
fn goes_wrong(program: &Program, criterion: TxCriterion) -> bool {
    words::histories(program, usize::MAX).iter().any(|history| !oracle::accepts_last(criterion, history))
}

#[test]
fn small_clients_have_the_verdict_of_the_definition() {
    let all = transactions();
    let (mut wrong, mut compared) = (0, 0);
    for (name, entry) in corpus::in_folder("stm") {
        // The others have too many interleavings for brute force.
        if !["global_lock", "global_lock_bug_free_reads", "tml", "tml_bug_no_check", "tml_bug_blind_writer"]
            .contains(&&*name)
        {
            continue;
        }
        for (at, (one, other)) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))).enumerate() {
            if at % 7 != 0 {
                continue;
            }
            let client = format!("client {{ thread a {{ {one} }} thread b {{ {other} }} }}");
            let program = compile(&format!("{}\n{client}", entry.source));
            for criterion in TxCriterion::BY_CONFLICTS {
                let verdict = judge(&program, "sc", criterion);
                let expected = goes_wrong(&program, criterion);
                assert_eq!(
                    verdict == Verdict::Violated,
                    expected,
                    "{name}, {}: {verdict:?}\n{client}",
                    criterion.name()
                );
                wrong += usize::from(expected);
                compared += 1;
            }
        }
    }
    assert!(wrong >= 20 && compared >= 400, "{wrong} of {compared} were wrong");
}

/// A bug that a client hits, and one that does not.
#[test]
fn a_client_may_miss_a_bug() {
    let read_source = |name: &str| {
        let path = corpus::folder().join("stm").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let source = read_source("tl2_bug_no_read_validation.rml");
    let hits = "client { thread a { tx { write(0); write(1); } } thread b { tx { read(0); read(1); } } }";
    let misses = "client { thread a { tx { write(0); } } thread b { tx { read(0); read(1); } tx { write(1); } } }";
    assert_eq!(judge(&compile(&source), "sc", TxCriterion::Opacity), Verdict::Violated);
    assert_eq!(judge(&compile(&format!("{source}{hits}")), "sc", TxCriterion::Opacity), Verdict::Violated);
    assert_eq!(judge(&compile(&format!("{source}{misses}")), "sc", TxCriterion::Opacity), Verdict::Verified);
    let right = read_source("tl2.rml");
    assert_eq!(judge(&compile(&format!("{right}{hits}")), "sc", TxCriterion::Opacity), Verdict::Verified);
}

/// Progress is about clients that go on for ever, whoever gives them.
#[test]
fn progress_is_refused() {
    let source = corpus::in_folder("stm").into_iter().find(|(name, _)| name == "tml").expect("tml is there").1.source;
    let program =
        compile(&format!("{source}client {{ thread a {{ tx {{ read(0); }} }} thread b {{ tx {{ write(0); }} }} }}"));
    let property = Property::Progress(cyrano_ir::Progress::Solo);
    assert!(Query::new(&program, &model("sc"), Question::Holds(&property)).is_err());
}
