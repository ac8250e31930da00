//! Checks as SMT-LIB 2 scripts: Z3 and cvc5 agree with the verdict. `scripts/smt.sh` installs them; where they cannot be had, the test
//! says so and passes.

mod cli;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use cli::{Folder, SB, json};

/// What is asked, with the verdict of each check: a violated and a verified one of each kind of program.
const QUESTIONS: [(&str, &[&str]); 8] = [
    ("sb.rml", &["verified", "violated", "verified"]),
    ("lib:litmus/dekker_fenced.rml --model relaxed", &["verified"]),
    ("lib:litmus/dekker.rml --model tso", &["violated"]),
    ("lib:datatypes/msn.c --test T0 --model relaxed", &["verified"]),
    ("lib:datatypes/msn_unfenced.c --test T0 --model relaxed", &["violated"]),
    ("lib:datatypes/harris.c --test Sac --model relaxed", &["verified"]),
    ("lib:tm-objects/core_mcrt.rml --test P_WE --criterion never --model declared", &["violated"]),
    ("lib:tm-objects/core_mcrt_fixed.rml --test P_WE --criterion never --model inorder", &["verified"]),
];

/// The files' paths and whether each formula is satisfiable.
fn export(place: &Folder) -> Vec<(String, bool)> {
    let mut files = Vec::new();
    for (question, verdicts) in QUESTIONS {
        let done = place.run(&format!("export {question} --smt2 smt --format json"));
        assert_eq!(done.code, 0, "{question}: {}{}", done.stdout, done.stderr);
        let formulas = json(&done)["formulas"].as_array().expect("formulas").clone();
        let found: Vec<&str> = formulas.iter().map(|formula| formula["verdict"].as_str().expect("a verdict")).collect();
        assert_eq!(found, verdicts, "{question}");
        files.extend(formulas.iter().map(|formula| {
            let path = formula["path"].as_str().expect("a path").to_owned();
            (path, formula["satisfiable"].as_bool().expect("it was solved"))
        }));
    }
    files
}

/// A line that is seen even if the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[test]
fn z3_and_cvc5_agree() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let files = export(&place);
    assert!(files.iter().any(|(_, satisfiable)| *satisfiable) && files.iter().any(|(_, satisfiable)| !*satisfiable));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/smt.sh");
    let script = script.canonicalize().expect("the script is there");
    let asked = Command::new(script).args(files.iter().map(|(path, _)| place.path(path))).output().expect("it runs");
    let why = String::from_utf8_lossy(&asked.stderr).into_owned();
    if asked.status.code() == Some(77) {
        say(&format!("skipped: {}", why.lines().last().unwrap_or("Z3 and cvc5 are missing")));
        return;
    }
    assert!(asked.status.success(), "{why}");
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let mut lines = said.lines();
    for (path, satisfiable) in &files {
        for solver in ["z3", "cvc5"] {
            let expected = if *satisfiable { "sat" } else { "unsat" };
            let line = lines.next().unwrap_or("nothing");
            assert!(line.ends_with(&format!("{path} {solver} {expected}")), "{line}, not {expected}");
        }
    }
}

/// A script says what its names stand for, and asks once.
#[test]
fn a_script_can_be_read() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("export sb.rml --model tso --criterion never --smt2 smt");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = place.read("smt/sb.tso.never.smt2");
    for line in [
        "; x0, v0, p0: p0, line 3 stores x",
        "; satisfiable: some execution within the bounds violates the criterion: violated",
        "(set-logic QF_LIA)",
        "(check-sat)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("(define-fun |final.r1| () Int ") && text.contains("(assert (=> "), "{text}");
    let done = place.run("export sb.rml --smt2 smt --dimacs cnf");
    assert!(done.code == 2 && done.stderr.contains("cannot be used with"), "{}", done.stderr);
}
