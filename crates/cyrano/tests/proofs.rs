//! Proofs beside formulas: accepted by checkers that know neither the engine nor the solver, and no longer once they are cut off or altered.
//!
//! One checker is here: it propagates units and does nothing else. The other is `rate` of the package registry, which `scripts/drat.sh` installs; that takes a while, so
//! the test asks it where it is installed already and in long runs, and says so where it does not.

mod cli;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cli::{Folder, json};

const QUESTIONS: [&str; 3] = [
    "lib:litmus/peterson_fenced.rml --model tso",
    "lib:litmus/peterson_fenced.rml --model pso",
    "lib:datatypes/msn.c --test T0 --model sc",
];

type Clause = Vec<i64>;

/// The clauses of a text, without deletions and comments.
fn clauses(text: &str) -> Vec<Clause> {
    let lines = text.lines().filter(|line| !line.starts_with(['c', 'p', 'd']));
    lines.map(|line| line.split_whitespace().map(|word| word.parse().expect("a literal")).collect()).collect()
}

/// Whether unit propagation refutes the clauses and the negation of one more.
fn follows(known: &[Clause], clause: &[i64]) -> bool {
    let mut values: BTreeMap<i64, bool> = clause.iter().map(|literal| (literal.abs(), *literal < 0)).collect();
    loop {
        let mut changed = false;
        for other in known {
            let open = |literal: &&i64| values.get(&literal.abs()).is_none_or(|value| *value == (**literal > 0));
            let mut left = other.iter().filter(open);
            match (left.next(), left.next()) {
                (None, _) => return true,
                (Some(unit), None) if !values.contains_key(&unit.abs()) => {
                    values.insert(unit.abs(), *unit > 0);
                    changed = true;
                }
                _ => {}
            }
        }
        if !changed {
            return false;
        }
    }
}

/// Whether each clause of a proof follows from those before it, and the last one is empty.
fn accepts(formula: &str, proof: &str) -> bool {
    let strip = |clause: Clause| clause.into_iter().filter(|literal| *literal != 0).collect::<Clause>();
    let mut known: Vec<Clause> = clauses(formula).into_iter().map(strip).collect();
    for clause in clauses(proof).into_iter().map(strip) {
        if !follows(&known, &clause) {
            return false;
        }
        if clause.is_empty() {
            return true;
        }
        known.push(clause);
    }
    false
}

fn read(place: &Folder, path: &str) -> String {
    std::fs::read_to_string(place.path(path)).expect("it was written")
}

/// Ways to spoil a proof.
fn spoilt(proof: &str) -> Vec<(&'static str, String)> {
    let additions: Vec<&str> = proof.lines().filter(|line| !line.starts_with('d')).collect();
    let first = additions[0].trim_end_matches('0').trim();
    let half: Vec<&str> = proof.lines().take(proof.lines().count() / 2).collect();
    let negated: Vec<String> = first.split_whitespace().map(|l| format!("{}", -l.parse::<i64>().unwrap())).collect();
    vec![
        ("the first half", half.join("\n") + "\n"),
        ("only its end", "0\n".to_owned()),
        ("nothing", String::new()),
        ("with the opposite first", format!("{} 0\n{proof}", negated[0])),
    ]
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What `rate` says of proofs, or why it was not asked.
fn rate(proofs: &[PathBuf]) -> Result<Vec<String>, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/drat.sh").canonicalize().expect("a script");
    let target = Path::new(env!("CARGO_BIN_EXE_cyrano")).ancestors().nth(2).expect("the target folder");
    let tools = std::env::var_os("DRAT_CHECKER").map_or_else(|| target.join("drat"), PathBuf::from);
    if !tools.join("bin/rate").exists() && std::env::var_os("CYRANO_LONG").is_none_or(|value| value.is_empty()) {
        return Err("rate is not installed; scripts/drat.sh does it".to_owned());
    }
    let asked = Command::new(script).env("DRAT_CHECKER", tools).args(proofs).output().expect("it runs");
    let why = String::from_utf8_lossy(&asked.stderr).into_owned();
    match asked.status.code() {
        Some(0) => {}
        Some(77) => return Err(why),
        _ => panic!("{why}"),
    }
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    Ok(said.lines().map(|line| line.rsplit_once(".drat ").expect("an answer").1.to_owned()).collect())
}

#[test]
fn proofs_are_accepted_and_spoilt_ones_are_not() {
    let place = Folder::new(&[]);
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for question in QUESTIONS {
        let done = place.run(&format!("export {question} --dimacs formulas --proof --format json"));
        assert_eq!(done.code, 0, "{question}: {}{}", done.stdout, done.stderr);
        for formula in json(&done)["formulas"].as_array().expect("formulas") {
            assert_eq!(formula["satisfiable"], false, "{question}");
            let cnf = read(&place, formula["path"].as_str().expect("a path"));
            let path = formula["proof"]["path"].as_str().expect("a proof").to_owned();
            let proof = read(&place, &path);
            let small = clauses(&cnf).len() < 3_000;
            assert!(!small || accepts(&cnf, &proof), "{question}");
            for (number, (how, spoilt)) in spoilt(&proof).into_iter().enumerate() {
                assert!(!small || !accepts(&cnf, &spoilt), "{question}: {how}");
                let copy = place.path(&path).with_extension(format!("{number}.drat"));
                std::fs::write(&copy, spoilt).expect("it can be written");
                std::fs::write(copy.with_extension("cnf"), &cnf).expect("it can be written");
                bad.push(copy);
            }
            good.push(place.path(&path));
        }
    }
    assert_eq!(good.len(), QUESTIONS.len());
    let said = rate(&good).and_then(|said| rate(&bad).map(|refused| (said, refused)));
    match said {
        Err(why) => say(&format!("skipped: {why}")),
        Ok((said, refused)) => {
            assert!(said.len() == good.len() && said.iter().all(|answer| answer == "VERIFIED"), "{said:?}");
            assert!(refused.len() == bad.len() && refused.iter().all(|answer| answer != "VERIFIED"), "{refused:?}");
        }
    }
}

#[test]
fn what_is_satisfiable_has_no_proof() {
    let place = Folder::new(&[]);
    let violated = place.run("export lib:litmus/dekker.rml --model tso --dimacs formulas --proof --format json");
    assert_eq!(violated.code, 0, "{}", violated.stderr);
    assert!(json(&violated)["formulas"][0]["proof"].is_null());
    let given = place.run("export lib:litmus/dekker.rml --model tso --bound 1 --dimacs formulas --proof");
    assert!(given.code == 0 && given.stdout.contains("no proof: the formula is satisfiable"), "{}", given.stdout);
    let alone = place.run("export lib:litmus/dekker.rml --model tso --smt2 formulas --proof");
    assert_eq!(alone.code, 2, "{}", alone.stderr);
}
