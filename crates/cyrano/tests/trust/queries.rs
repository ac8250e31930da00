//! A question that makes no sense is refused, by every command, with the same words.
//!
//! Each command once decided for itself what may be asked: `declared`, for programs with an order of their own, gave "violated" for programs
//! without one, and algorithms were run under models that reorder their base objects.

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
fn algorithms_are_not_run_under_models_that_reorder() {
    let place = Folder::new(&[]);
    for model in ["tso", "pso", "rmo", "relaxed"] {
        let commands = [
            format!("check {ALGORITHM} --model {model}"),
            format!("outcomes {ALGORITHM} --model {model}"),
            format!("fence {ALGORITHM} --model {model}"),
            format!("export {ALGORITHM} --model {model} --dimacs formulas"),
            format!("explore {ALGORITHM} --test P_WE --model {model} --no-open"),
            // Threads that go on for ever have no order of their own, but they are made of base objects all the same.
            format!("outcomes {ALGORITHM} --test endless-2x2-locs1 --model {model}"),
        ];
        for command in commands {
            refused(&place.run(&command), ALGORITHM, &format!("an algorithm is not run under {model}: "));
        }
    }
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
