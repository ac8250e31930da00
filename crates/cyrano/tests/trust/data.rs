//! Loaded data that decides nothing does not make a search bounded.
//!
//! A transactional memory with an undo log was `bounded` wherever stores are deferred, only because it does not store one constant; and
//! `repeated-stores` was said to be used where it left nothing out.

use super::cli::{self, Folder};
use super::verdicts;

/// Two-phase locking with an undo log; `{value}` is what a write stores, `{extra}` stands in `read` behind the load.
fn undo_log(value: &str, extra: &str) -> String {
    format!(
        "const vars = 1;
stm in_place {{
    shared owner[vars];
    data g[vars];
    local old[vars], wrote[vars], mine[vars], d, r;
    proc release {{
        foreach i in 0..<vars {{
            wrote[i] := 0;
            if mine[i] == 1 {{ mine[i] := 0; owner[i] := 0; }}
        }}
    }}
    proc undo {{
        foreach i in 0..<vars {{ if wrote[i] == 1 then rollback g[i] := old[i]; }}
        release;
        abort
    }}
    proc own(i) {{
        if mine[i] == 0 {{
            r := cas(owner[i], 0, self + 1);
            if r != 0 then undo;
            mine[i] := 1;
            old[i] := g[i];
        }}
    }}
    read(v)  {{ own(v); d := g[v]; {extra} rfin }}
    write(v) {{ own(v); wrote[v] := 1; g[v] := {value}; }}
    end      {{ release; commit }}
}}
check opacity;
"
    )
}

fn verdict(source: &str, options: &str) -> String {
    verdicts("stm.rml", source, options).0.join(",")
}

#[test]
fn an_undo_log_is_verified_where_stores_are_deferred() {
    let source = undo_log("self + 1", "");
    assert_eq!(verdict(&source, "--model sc,tso"), "verified,verified");
    assert_eq!(verdict(&source, "--model sc --no-reduction collapsed-data"), "verified");
    assert_eq!(verdict(&source, "--model tso --no-reduction collapsed-data --deferred 4"), "bounded");
}

#[test]
fn what_is_wrong_stays_wrong_and_is_replayed() {
    // Without its lock the read sees what is undone later; the counterexample has the program's own values.
    let wrong = undo_log("self + 1", "").replace("read(v)  { own(v);", "read(v)  {");
    for model in ["sc", "tso"] {
        assert_eq!(verdict(&wrong, &format!("--model {model}")), "violated");
        assert_eq!(verdict(&wrong, &format!("--model {model} --no-reduction collapsed-data --deferred 4")), "violated");
    }
}

#[test]
fn where_data_decides_the_reason_names_the_place() {
    let source = undo_log("self + 1", "if d == 7 { old[v] := 0; }");
    let place = Folder::new(&[("stm.rml", &source)]);
    let report = cli::json(&place.run("check stm.rml --model tso --deferred 4 --format json"));
    let check = &report["checks"][0];
    assert_eq!(check["verdict"], "bounded");
    let reason = check["reason"].as_str().expect("a reason");
    assert!(reason.contains("depends on transactional data") && reason.ends_with("(line 25)"), "{reason}");
}

#[test]
fn reductions_are_named_where_they_helped() {
    let place = Folder::new(&[("stm.rml", &undo_log("self + 1", ""))]);
    let report = cli::json(&place.run("check stm.rml --model sc,tso --format json"));
    let uses = |at: usize, name: &str| {
        let reductions = report["checks"][at]["reductions"].as_array().expect("a list");
        reductions.iter().any(|reduction| reduction == name)
    };
    assert!(!uses(0, "repeated-stores") && uses(1, "repeated-stores"));
    assert!(uses(0, "collapsed-data") && uses(1, "collapsed-data"));
}

#[test]
fn fence_shows_its_best_candidate_where_nothing_is_proven() {
    // Wrong executions are short, and a proof needs more memory than there is.
    let place = Folder::new(&[]);
    let done = place.run("fence lib:stm/tl2.rml --model pso --criterion opacity --memory 2 --format json");
    let result = &cli::json(&done)["results"][0];
    assert_eq!((done.code, &result["verdict"]), (3, &"unknown".into()), "{result}");
    assert!(!result["candidate"]["fences"].as_array().expect("fences").is_empty(), "{result}");
    assert!(result["candidate"]["diff"].as_str().expect("a diff").contains("fence(store-store)"), "{result}");
}
