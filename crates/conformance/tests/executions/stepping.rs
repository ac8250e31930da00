//! Stepping by hand under a program's own order: all paths together show what the search finds, and every place and every step on offer is
//! an execution that the reference interpreter confirms.

use std::collections::BTreeSet;

use cyrano_conformance::compare::model;
use cyrano_conformance::limits;
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::{Explore, Position, Standing, Stepping};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

/// A reader that may read the flag early or late, and returns early if it is down; the writer raises it. Under `declared` the reader waits for the flag.
const FLAG: &str = "algorithm F(locs = 2) {
    shared x: AtomicRegister = 0, y: AtomicRegister = 0, flag: AtomicRegister = 0;
    method read(i) {
        R01: f := flag.read();
        R02: if (f == 0) { R03: return 7; }
        R04: a := x.read();
        R05: b := y.read();
        R06: return a + b;
    }
    method write(i, v) { W01: x.write(v); W02: flag.write(1); W03: return ok; }
    method commit() { C01: return committed; }
}
client P { thread { tx { r := read(0); } } thread { tx { write(0, 1); } } }
check never (r == 1);
";

/// A basic register: a read that meets a write chooses its value.
const BASIC: &str = "algorithm B(locs = 1) {
    shared r: BasicRegister = 0, s: AtomicRegister = 0;
    method read(i) { R01: v := r.read(); R02: w := s.read(); R03: return v + 10 * w; }
    method write(i, v) { W01: r.write(v); W02: s.write(v); W03: return ok; }
    method commit() { C01: return committed; }
}
client P { thread { tx { a := read(0); } } thread { tx { write(0, 1); } } }
check never (a == 11);
";

/// A loop in any order over what a transaction has written, behind a condition.
const LOOP: &str = "algorithm L(locs = 2) {
    shared go: AtomicRegister = 0, x: AtomicRegister[locs] = 0;
    txlocal ws: Map;
    method read(i) { R01: go.write(1); R02: a := x[0].read(); R03: b := x[1].read(); R04: return a + 10 * b; }
    method write(i, v) { W01: ws.put(i, v); W02: ws.put(1 - i, v); W03: return ok; }
    method commit() {
        C01: g := go.read();
        C02: if (g) { C03: foreach (i -> v in ws) { C04: x[i].write(v); } }
        C05: return committed;
    }
}
client P { thread { tx { r := read(0); } } thread { tx { write(0, 1); commit(); } } }
check never (r == 11);
";

struct Walk<'a> {
    stepping: Stepping<'a>,
    program: &'a Program,
    model: &'a Model,
    outcomes: BTreeSet<Vec<i128>>,
    places: usize,
    early: bool,
}

impl Walk<'_> {
    fn confirm(&self, execution: &cyrano_engine::Execution) {
        let replayed = cyrano_interp::confirm(self.program, self.model, &Property::Assertions, None, execution);
        let replayed = replayed.unwrap_or_else(|error| panic!("{}: {error}", self.model.name));
        assert_eq!(replayed.steps.len(), execution.order.len());
    }

    fn visit(&mut self, path: &mut Vec<usize>) {
        let place = self.stepping.at(path).expect("an enabled step leads somewhere");
        self.places += 1;
        self.confirm(&place.execution);
        self.look(path, &place);
        for number in 0..place.enabled.len() {
            path.push(number);
            self.visit(path);
            path.pop();
        }
    }

    fn look(&mut self, path: &[usize], place: &Position) {
        assert_eq!(place.enabled.is_empty(), place.standing != Standing::Open, "{path:?}");
        if let Standing::Done { outcome } = &place.standing {
            self.outcomes.insert(outcome.clone());
            assert_eq!(place.taken, place.execution.order.len());
        }
        for step in &place.enabled {
            assert!(step.taken >= place.taken);
            self.confirm(&step.execution);
            let own = &step.execution.order[..step.taken];
            let late = |access: &cyrano_engine::Access| {
                own.iter().any(|other| other.thread == access.thread && other.index > access.index)
            };
            self.early |= step.execution.order[step.taken..].iter().any(late);
        }
    }
}

/// Whether something was performed before an earlier access of its call.
fn check(source: &str, mode: &str) -> bool {
    let test = cyrano_rml::algorithm::tests("test", source, &[]).expect("it compiles").remove(0);
    let (program, model) = (test.program.without_calls(), model(mode));
    let stepping = Stepping::new(&program, &model).expect("it can be stepped through");
    let (outcomes, places, early) = (BTreeSet::new(), 0, false);
    let mut walk = Walk { stepping, program: &program, model: &model, outcomes, places, early };
    walk.visit(&mut Vec::new());
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let answer = Explore::default().ask(query, &limits(10.0, 1), &());
    assert_eq!(answer.verdict, Verdict::Verified);
    assert_eq!(walk.outcomes, answer.outcomes, "{mode}");
    assert!(walk.places > 10, "{} places", walk.places);
    walk.early
}

#[test]
fn all_paths_out_of_order_have_the_outcomes_of_the_search() {
    for source in [FLAG, BASIC, LOOP] {
        assert!(!check(source, "inorder"));
        assert!(check(source, "declared") && check(source, "literal"));
    }
}
