//! Checks a program that is a string, and walks over the counterexample step by step.
//!
//! `cargo run --example walk_a_trace`

use cyrano::{Session, Verdict};

/// A flag that is raised after the data is written; under pso the stores may change places.
const MESSAGE: &str = "
threads {
  shared data, flag;
  local seen, ready;
  thread sender { data := 1; flag := 1; }
  thread receiver { ready := flag; seen := data; }
}
check never (ready = 1 && seen = 0) on sc, tso, pso;
";

fn main() -> Result<(), cyrano::Failure> {
    let session = Session::new().file("message.rml", MESSAGE);
    for check in session.check("message.rml")? {
        println!("{}: {}", check.model.as_deref().unwrap_or("?"), check.verdict.name());
        assert_eq!(check.verdict == Verdict::Violated, check.model.as_deref() == Some("pso"));
        if check.verdict != Verdict::Violated {
            continue;
        }
        let trace = check.trace.expect("a violation comes with an execution");
        assert!(trace.confirmed, "the reference interpreter has replayed it");
        for step in &trace.steps {
            println!("  {}. {:<8}  line {}: {}", step.n, step.thread, step.line, step.text);
            for words in &step.words {
                println!("     {words}");
            }
        }
        println!("  {}", trace.explanation.sentence);
        let read = trace.relations.rf.iter().map(|pair| format!("{pair:?}")).collect::<Vec<_>>();
        println!("  reads-from: {}", read.join(", "));
    }
    Ok(())
}
