//! A criterion of one's own: a function in Rust says which outcomes are right, on every model.
//!
//! `cargo run --example own_criterion`

use cyrano::{Outcome, Session, Verdict};

/// Two threads draw tickets from a counter, each by a load and a store.
const TICKETS: &str = "
threads {
  shared next;
  local a, b;
  thread p { a := next; next := a + 1; }
  thread q { b := next; next := b + 1; }
}
";

/// The same with fetch-and-add.
const ATOMIC: &str = "
threads {
  shared next;
  local a, b;
  thread p { a := fetch_add(next, 1); }
  thread q { b := fetch_add(next, 1); }
}
";

/// Nobody draws a ticket that somebody else has, and none is left out.
fn tickets_are_unique(outcome: &Outcome<'_>) -> bool {
    let mut drawn = [outcome["a"], outcome["b"]];
    drawn.sort_unstable();
    drawn == [0, 1]
}

fn main() -> Result<(), cyrano::Failure> {
    for (name, text) in [("tickets.rml", TICKETS), ("atomic.rml", ATOMIC)] {
        let session = Session::new().file(name, text);
        let case = session.cases(name)?.remove(0);
        for model in cyrano_memory::all() {
            let checked = session.judge(&case, &model, "unique-tickets", tickets_are_unique)?;
            println!("{name:<12} {:<10} {}", model.name, checked.verdict.name());
            let right = name == "atomic.rml" || model.name == "serial";
            assert_eq!(checked.verdict, if right { Verdict::Verified } else { Verdict::Violated });
            if let (Verdict::Violated, Some(trace)) = (checked.verdict, checked.trace) {
                println!("             {}", trace.explanation.sentence);
            }
        }
    }
    Ok(())
}
