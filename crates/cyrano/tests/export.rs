//! Checks as formulas in files: another solver agrees with the verdict, and the file says what its answer means.

mod cli;

use cli::{Folder, SB, json};

/// Solves a file with another solver.
fn is_satisfiable(place: &Folder, name: &str) -> bool {
    let mut solver = varisat::Solver::new();
    solver.add_dimacs_cnf(place.read(name).as_bytes()).expect("the formula can be read");
    solver.solve().expect("the solver ends")
}

/// The number after `p cnf V`, and how many clauses there are.
fn declared(text: &str) -> (usize, usize) {
    let header = text.lines().find(|line| line.starts_with("p cnf")).expect("a header");
    let number = header.split_whitespace().nth(3).and_then(|word| word.parse().ok());
    let lines = text.lines().filter(|line| !line.starts_with('c') && !line.starts_with('p')).count();
    (number.expect("a number of clauses"), lines)
}

#[test]
fn another_solver_agrees_on_the_queue() {
    let place = Folder::new(&[]);
    for (file, satisfiable, verdict) in [("msn", false, "verified"), ("msn_unfenced", true, "violated")] {
        let done =
            place.run(&format!("export lib:datatypes/{file}.c --test T0 --model relaxed --dimacs cnf --format json"));
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let formula = &json(&done)["formulas"][0];
        let path = formula["path"].as_str().expect("a path");
        assert_eq!(path, format!("cnf/{file}.T0.relaxed.observations.cnf"));
        assert_eq!((formula["satisfiable"].as_bool(), formula["verdict"].as_str()), (Some(satisfiable), Some(verdict)));
        assert_eq!(is_satisfiable(&place, path), satisfiable, "{file}");
        let text = place.read(path);
        let (number, lines) = declared(&text);
        assert_eq!(number, lines);
        for line in [
            format!("c file: lib:datatypes/{file}.c"),
            "c test: T0".to_owned(),
            "c model: relaxed".to_owned(),
            "c criterion: observations, 4 of them serial".to_owned(),
            format!("c verdict of cyrano: {verdict}"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
        assert!(text.contains("c bounds: every loop is repeated at most once\n"));
        assert_eq!(text.contains("c bounds: sufficient"), !satisfiable);
    }
}

/// The meaning of an answer depends on the quantifier.
#[test]
fn conditions_of_final_states_are_formulas() {
    let place = Folder::new(&[("sb.rml", SB)]);
    let done = place.run("export sb.rml --dimacs out");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let expected = [("sb.sc.never", false), ("sb.tso.never", true), ("sb.sc.exists", true)];
    for (name, satisfiable) in expected {
        assert_eq!(is_satisfiable(&place, &format!("out/{name}.cnf")), satisfiable, "{name}");
    }
    assert!(
        place
            .read("out/sb.sc.exists.cnf")
            .contains("c satisfiable: some execution within the bounds ends as the condition says")
    );
    assert!(
        done.stdout.contains("unsatisfiable: verified") && done.stdout.contains("satisfiable: violated"),
        "{}",
        done.stdout
    );
}

/// With a bound nothing is solved, and nothing is claimed.
#[test]
fn a_given_bound_makes_no_claim() {
    let place = Folder::new(&[]);
    let done = place.run("export lib:datatypes/msn.c --test T0 --model relaxed --bound 0 --dimacs cnf");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("not solved"), "{}", done.stdout);
    let text = place.read("cnf/msn.T0.relaxed.observations.cnf");
    assert!(text.contains("c bounds: every loop is repeated at most 0 times\n") && text.contains("not asked for"));
    assert!(!is_satisfiable(&place, "cnf/msn.T0.relaxed.observations.cnf"));
}

#[test]
fn what_is_no_formula_is_said() {
    let place = Folder::new(&[]);
    let done = place.run("export lib:stm/tl2.rml --model sc --criterion opacity --dimacs cnf");
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("no formula:"), "{}", done.stdout);
    let done = place.run("export lib:litmus/sb.rml --engine explore --dimacs cnf");
    assert!(done.code == 2 && done.stderr.contains("only the symbolic engine"), "{}", done.stderr);
}

#[test]
fn a_transition_system_is_written_whole_or_not_at_all() {
    let place = Folder::new(&[("sb.rml", SB), ("locked.rml", cli::LOCKED)]);
    let done = place.run("export locked.rml --set vars=1 --aut locked.aut --format json");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let system = &json(&done)["systems"][0];
    let text = place.read("locked.aut");
    let lines: Vec<&str> = text.lines().collect();
    let head = format!("des (0, {}, {})", system["transitions"], system["states"]);
    assert_eq!((lines[0], lines.len() as u64), (head.as_str(), system["transitions"].as_u64().unwrap_or(0) + 1));
    for label in ["(0,\"i\",", "\"1 load g[0]\"", "\"2 rfin\"", "\"2 commit\""] {
        assert!(text.contains(label), "{label}");
    }
    assert_eq!(place.run("export sb.rml --model tso --aut sb.aut").code, 0);
    assert!(place.read("sb.aut").contains("\"p0 load y 0\""));
    let endless = place.run("export lib:stm/global_lock.rml --model pso --aut endless.aut");
    assert!(endless.code == 3 && !place.path("endless.aut").exists(), "{endless:?}");
    assert_eq!(place.run("export sb.rml --model sc,tso --aut both.aut").code, 2);
    assert_eq!(place.run("export sb.rml").code, 2);
}
