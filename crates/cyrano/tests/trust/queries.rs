//! A question that makes no sense is refused, by every command, with the same words.
//!
//! Each command once decided for itself what may be asked: `declared`, for programs with an order of their own, gave "violated" for programs
//! without one, and algorithms were run under models that know no base objects.

use crate::cli::{self, Done, Folder};

const HERD: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

const BLOCKS: &str = "threads { shared x; thread p { atomic a { x := 1; commit } } }\n";

const ALGORITHM: &str = "lib:tm-objects/core_mcrt_fixed.rml";

fn refused(done: &Done, file: &str, why: &str) {
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
    assert!(done.stderr.starts_with(&format!("error: {file}: {why}")), "{}", done.stderr);
}

#[test]
fn models_with_own_orders_are_for_programs_that_have_one() {
    let place = Folder::new(&[("sb.rml", cli::SB), ("sb.litmus", HERD), ("block.rml", BLOCKS)]);
    for model in ["declared", "literal"] {
        let why = format!("{model} is for algorithms that say themselves which of their statements stay in order");
        let commands = [
            format!("check sb.rml --model {model}"),
            format!("check sb.rml --model sc,{model} --engine symbolic"),
            format!("check sb.rml --model {model} --engine interp --format json"),
            format!("check sb.rml --model {model} --criterion opacity"),
            format!("check sb.rml --model {model} --criterion assertions --disk states"),
            format!("outcomes sb.rml --model {model}"),
            format!("outcomes sb.rml --model {model} --engine symbolic"),
            format!("fence sb.rml --model {model}"),
            format!("compare sb.rml --models sc,{model}"),
            format!("export sb.rml --model {model} --dimacs formulas"),
            format!("explore sb.rml --model {model} --no-open"),
            format!("litmus sb.litmus --model {model}"),
            format!("check block.rml --model {model} --criterion atomicity"),
            format!("check block.rml --model {model} --criterion commit-atomicity"),
        ];
        for command in commands {
            let file = command.split(' ').nth(1).expect("a file");
            refused(&place.run(&command), file, &why);
        }
    }
}

#[test]
fn a_check_in_the_file_is_no_way_around() {
    let source = cli::SB.replace("on sc, tso", "on declared");
    let place = Folder::new(&[("sb.rml", &source)]);
    for command in ["check sb.rml", "fence sb.rml"] {
        refused(&place.run(command), "sb.rml", "declared is for algorithms");
    }
}

#[test]
fn algorithms_are_not_run_under_models_about_relations() {
    let place = Folder::new(&[]);
    for model in ["rc11", "armv8"] {
        let commands = [
            format!("check {ALGORITHM} --model {model}"),
            format!("outcomes {ALGORITHM} --model {model}"),
            format!("export {ALGORITHM} --model {model} --dimacs formulas"),
            // Threads that go on for ever have no order of their own, but they are made of base objects all the same.
            format!("outcomes {ALGORITHM} --test endless-2x2-locs1 --model {model}"),
        ];
        for command in commands {
            refused(&place.run(&command), ALGORITHM, &format!("this algorithm is not run under {model}: "));
        }
    }
}

#[test]
fn what_is_more_than_words_is_not_run_on_machines() {
    const DSTM: &str = "lib:tm-objects/core_dstm.rml";
    const LOCK: &str = "lib:tm-objects/try_lock.rml";
    let place = Folder::new(&[]);
    let words = |model: &str| format!("this algorithm is not run under {model}: a word of memory is no ");
    for model in ["tso", "pso", "rmo", "relaxed"] {
        for check in [format!("{DSTM} --test endless-2x1-locs1"), format!("{LOCK} --test Hasty --criterion exists")] {
            let done = place.run(&format!("check {check} --model {model}"));
            assert_eq!(done.code, 3, "{done:?}");
            assert!(done.stdout.contains(&words(model)), "{}", done.stdout);
        }
        let orders = format!("orders are sought for modes of execution, and {model} is a machine's model");
        refused(&place.run(&format!("fence {ALGORITHM} --model {model}")), ALGORITHM, &orders);
    }
}

/// What one thread defers the other one does not see; with its declared order it does.
#[test]
fn algorithms_are_run_on_machines() {
    const LOCK: &str = "lib:tm-objects/try_lock.rml";
    let place = Folder::new(&[]);
    let code = |test: &str, model: &str| {
        let done =
            place.run(&format!("check {LOCK} --test {test} --criterion never --model {model} --save-trace trace.json"));
        if done.code == 1 {
            assert_eq!(place.run("replay trace.json").code, 0, "{test} under {model}");
        }
        done.code
    };
    for model in ["tso", "pso", "rmo"] {
        assert_eq!((code("Both", model), code("Hasty", model)), (0, 1), "{model}");
    }
    assert_eq!((code("Both", "sc"), code("Hasty", "sc")), (0, 0));
}

/// A criterion that was asked by name was left out where the file declares it for other models and another one not at all.
#[test]
fn every_criterion_that_is_asked_by_name_is_answered() {
    let place = Folder::new(&[]);
    place.write("one.rml", b"threads { shared x; thread p { x := 1; } } check termination on sc;\n");
    let done = place.run("check one.rml --criterion termination,lock-free --model tso --format json");
    let checks = cli::json(&done)["checks"].clone();
    let criteria = |checks: &serde_json::Value| -> Vec<String> {
        let list = checks.as_array().expect("a list").iter();
        list.map(|one| one["criterion"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(criteria(&checks), ["termination", "lock-free"]);
    let source =
        "threads { shared x; thread p { x := 1; assert true; } } check assertions on sc; check termination on tso;\n";
    place.write("two.rml", source.as_bytes());
    let done = place.run("check two.rml --criterion assertions,termination --model tso --format json");
    assert_eq!(criteria(&cli::json(&done)["checks"]), ["assertions", "termination"]);
    let done = place.run("check two.rml --model tso --format json");
    assert_eq!(criteria(&cli::json(&done)["checks"]), ["termination"]);
}

#[test]
fn tests_that_a_model_is_not_for_do_not_keep_others_from_running() {
    let place = Folder::new(&[]);
    let done = place.run(&format!("outcomes {ALGORITHM} --test P_WE,endless-2x2-locs1 --model declared --format json"));
    assert_eq!(done.code, 3, "{}", done.stderr);
    let report = cli::json(&done);
    let verdicts: Vec<&str> = report["results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["verdict"].as_str().expect("a verdict"))
        .collect();
    assert_eq!(verdicts, ["verified", "unknown"]);
    let done = place.run(&format!("check {ALGORITHM} --test P_WE,endless-2x2-locs1 --model declared --format json"));
    assert_eq!(done.code, 1, "{}", done.stderr);
    // Clients that go on for ever have no outcomes, but progress out of order.
    let checks = cli::json(&done)["checks"].clone();
    let verdict = checks[1]["verdict"].as_str().expect("a verdict");
    assert!(["verified", "violated"].contains(&verdict), "{checks}");
}

/// A trace from outside may pair a program with any model.
#[test]
fn a_saved_trace_is_no_way_around() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    assert_eq!(place.run("check sb.rml --model tso --save-trace trace.json").code, 1);
    let mut trace: serde_json::Value = serde_json::from_str(&place.read("trace.json")).expect("a trace");
    let declared = place.run("models declared --format json");
    trace["model"] = cli::json(&declared)["models"][0].clone();
    trace["model"].as_object_mut().expect("a model").remove("engines");
    place.write("trace.json", trace.to_string().as_bytes());
    refused(&place.run("replay trace.json"), "sb.rml", "declared is for algorithms");
}

#[test]
fn progress_of_algorithms_is_a_question() {
    let place = super::cli::Folder::new(&[]);
    let options = "lib:tm-objects/core_mcrt.rml --model inorder --criterion progress --test endless-2x2-locs1";
    let (verdicts, code) = super::verdicts_in(&place, options);
    assert_eq!((verdicts.join(","), code), ("violated,verified,violated".to_owned(), 1));
}
