//! Which questions make sense.

use cyrano_engine::{Lack, Query, Question, Refusal};
use cyrano_ir::{Program, Progress, Property, TxCriterion};
use cyrano_memory::Model;

const PLAIN: &str = "program p\nlocation x = 0\nthread t\n@0: store x, 1\n@1: halt\n";

fn program(lines: &str) -> Program {
    cyrano_ir::text::parse(&format!("{PLAIN}{lines}")).expect("a program")
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a model")
}

fn ask(program: &Program, model: &Model, property: Option<&Property>) -> Result<(), Refusal> {
    Query::new(program, model, property.map_or(Question::Outcomes, Question::Holds)).map(|_| ())
}

#[test]
fn own_orders_are_for_programs_that_have_them() {
    let models = ["serial", "sc", "inorder", "tso", "rmo", "declared", "literal"];
    let run = |program: &Program| models.into_iter().filter(|name| ask(program, &model(name), None).is_ok()).collect();
    let check = |lines: &str, expected: &[&str]| {
        let accepted: Vec<&str> = run(&program(lines));
        assert_eq!(accepted, expected, "{lines}");
    };
    check("", &["serial", "sc", "inorder", "tso", "rmo"]);
    check("ordered declared\n", &["serial", "sc", "inorder", "declared"]);
    check("inorder\nordered declared\nordered literal\n", &["serial", "sc", "inorder", "declared", "literal"]);
    check("inorder\n", &["serial", "sc", "inorder"]);
}

#[test]
fn tags_mean_something_or_are_refused() {
    let tagged = |word: &str| cyrano_ir::text::parse(&PLAIN.replace("store x, 1", word)).expect("a program");
    assert_eq!(ask(&tagged("rollback x, 1"), &model("tso"), None), Ok(()));
    let check = |said: &str, name: &str, expected: Option<&str>| {
        let refused = ask(&tagged(said), &model(name), None).err().map(|refusal| refusal.to_string());
        assert_eq!(refused.as_deref(), expected, "{said} under {name}");
    };
    check("store x, 1 {atomic release seq_cst}", "sc", None);
    check("store x, 1 {atomic release}", "tso", None);
    check("store x, 1 {release seq_cst}", "tso", Some("tso does not say what `seq_cst` means"));
    check("store x, 1 {release}", "pso", Some("pso does not say what `release` means"));
    check("fetch_add x, 1 {acquire}", "pso", None);
    check("fetch_add x, 1 {acquire}", "relaxed", Some("relaxed does not say what `acquire` means"));
    check("cas x, 0, 1 {atomic} else {acquire}", "relaxed", Some("relaxed does not say what `acquire` means"));
    check("store x, 1 {exclusive}", "sc", Some("sc does not say what `exclusive` means"));
    check("fence dmb.ish", "relaxed", None);
    check("fence isync", "sc", Some("sc does not say what the fence `isync` means"));
}

/// What a model does decides, not its name.
#[test]
fn a_weak_model_called_sc_is_weak() {
    let weak = Model { name: "sc".into(), ..model("tso") };
    let refused = ask(&program("ordered declared\n"), &weak, None);
    assert_eq!(refused, Err(Refusal::ForeignModel { model: "sc".into(), relational: false }));
}

#[test]
fn a_property_is_about_something() {
    let check = |property: Property, lack: Lack| {
        let refused = ask(&program(""), &model("sc"), Some(&property)).expect_err("nothing to judge");
        assert_eq!(refused, Refusal::Lacks { criterion: property.criterion(), lack });
    };
    check(Property::CommitAtomicity, Lack::Blocks);
    check(Property::Transactions(TxCriterion::Opacity), Lack::Transactions);
    check(Property::Transactions(TxCriterion::SnapshotIsolation), Lack::Calls);
    check(Property::Progress(Progress::Local), Lack::EndlessTransactions);
    assert_eq!(ask(&program(""), &model("sc"), Some(&Property::Assertions)), Ok(()));
    let stm = program("transactional x\n");
    assert_eq!(ask(&stm, &model("sc"), Some(&Property::Transactions(TxCriterion::Opacity))), Ok(()));
    // A client that comes to an end makes no progress, and need not.
    let progress = ask(&stm, &model("sc"), Some(&Property::Progress(Progress::Local))).expect_err("an end");
    assert!(matches!(progress, Refusal::Lacks { lack: Lack::EndlessTransactions, .. }), "{progress:?}");
}
