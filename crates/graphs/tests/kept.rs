//! Searches that are interrupted, go on from what was kept, or are shared: the same as one that does all at once.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use cyrano_conformance::compare::model;
use cyrano_conformance::generate::program;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Answer, Cause, Engine, Execution, Limits, Query, Question, Verdict};
use cyrano_graphs::{Graphs, Keep, Progress, Share};
use cyrano_ir::Program;
use proptest::test_runner::{TestCaseError, TestError};

/// Looks at limits after every few events. Whatever is kept has no names.
fn graphs(pace: u64) -> Graphs {
    Graphs { pace, patience: 50, unseen_values: false, ..Graphs::default() }
}

/// Tells equal threads apart.
fn each(pace: u64) -> Graphs {
    Graphs { thread_symmetry: false, ..graphs(pace) }
}

/// Keeps what was found after every few looks; and what was kept before that.
#[derive(Default)]
struct Shelf {
    looks: AtomicU64,
    every: u64,
    kept: Mutex<Vec<Progress>>,
}

impl Keep for Shelf {
    fn is_due(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1
    }

    fn keep(&self, progress: &Progress) {
        self.kept.lock().expect("nobody panics with it").push(progress.clone());
    }
}

/// Numbers that look random and are the same in every run (Marsaglia's xorshift).
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Asks until there is an answer, interrupted again and again; says how often. A run that is killed loses what came after it was kept.
fn in_pieces(graphs: &Graphs, query: &Query<'_>, workers: usize, moments: &mut Moments) -> (Answer, usize) {
    let (mut from, mut interrupts) = (None, 0);
    loop {
        let shelf = Shelf { every: 2 + moments.next(3), ..Shelf::default() };
        let limits = Limits {
            workers: 1 + moments.next(workers as u64) as usize,
            ..limits(1.0, 2).with_looks(3 + moments.next(12) + interrupts)
        };
        let answer = graphs.ask_kept(query, &limits, &(), &shelf, from.clone());
        let mut kept = shelf.kept.into_inner().expect("nobody panics with it");
        if answer.reason.as_ref().and_then(Cause::stop).is_none() {
            return (answer, interrupts as usize);
        }
        interrupts += 1;
        if moments.next(3) == 0 {
            kept.pop();
        }
        from = kept.pop().or(from);
    }
}

/// What must be the same.
fn facts(answer: &Answer) -> (Verdict, Option<u64>, Option<u64>, u64, Vec<&Vec<i128>>) {
    let stats = &answer.stats;
    (answer.verdict, stats.executions, stats.blocked, stats.states, answer.outcomes.iter().collect())
}

/// Compares with the whole search; says how often it was interrupted.
fn compare(program: &Program, models: &[&str], workers: usize, moments: &mut Moments) -> Result<usize, String> {
    let mut interrupted = 0;
    for name in models {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let whole = graphs(4096).ask_kept(&query, &limits(1.0, 2), &(), &shelf_of(u64::MAX), None);
        if matches!(whole.reason, Some(Cause::Refused(_) | Cause::Stopped(_))) {
            continue;
        }
        let (pieces, interrupts) = in_pieces(&graphs(1), &query, workers, moments);
        interrupted += interrupts;
        // Whoever may begin anew, with values for names, observes the same.
        let anew = Graphs::default().ask(query, &limits(1.0, 2), &());
        if anew.verdict == whole.verdict && anew.outcomes != whole.outcomes {
            return Err(format!("{name}: with names {:?}, without {:?}", anew.outcomes, whole.outcomes));
        }
        let named = Graphs { unseen_values: true, ..graphs(1) };
        let (again, _) = in_pieces(&named, &query, 1, moments);
        if facts(&again) != facts(&pieces) {
            return Err(format!("{name}: {:?} with the switch, {:?} without", facts(&again), facts(&pieces)));
        }
        if facts(&whole) != facts(&pieces) {
            return Err(format!("{name}: {:?} became {:?}, {interrupts} interrupts", facts(&whole), facts(&pieces)));
        }
    }
    Ok(interrupted)
}

#[test]
fn interrupted_searches_find_the_same() {
    let cases = if pinned::long() { 5_000 } else { 400 };
    let (mut moments, mut interrupted) = (Moments(0x9e37_79b9_7f4a_7c15), 0);
    let mut runner = pinned::runner(cases, file!());
    let cell = Mutex::new((&mut moments, &mut interrupted));
    let result = runner.run(&program(), |random| {
        let mut cell = cell.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = compare(&random.program(), &["cat:tso", "rc11"], 2, cell.0);
        *cell.1 += found.map_err(TestCaseError::fail)?;
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, random)) => panic!("{reason}\n{}", random.shown()),
        Err(TestError::Abort(reason)) => panic!("gave up: {reason}"),
    }
    println!("{interrupted} interrupts");
    assert!(2 * interrupted >= cases as usize, "only {interrupted} interrupts");
}

#[test]
fn the_library_is_interrupted() {
    let interrupted = corpus::for_each_litmus(|_, program| {
        compare(program, &["ra", "cat:pso"], 2, &mut Moments(0x2545_f491_4f6c_dd1d))
    });
    assert!(interrupted >= 300, "only {interrupted} interrupts");
}

/// So many threads that add to one location.
fn increments(threads: usize) -> Program {
    let mut source = String::from("program p\nlocation x = 0\n");
    for number in 0..threads {
        source.push_str(&format!("thread t{number}\nregister a = 0\n@0: a := fetch_add x, 1 {{atomic}}\n@1: halt\n"));
    }
    cyrano_ir::text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

#[test]
fn what_is_kept_of_a_large_search_is_small() {
    let (program, model) = (increments(6), model("rc11"));
    let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
    let shelf = Shelf { every: 5, ..Shelf::default() };
    let answer = each(10).ask_kept(&query, &Limits::default(), &(), &shelf, None);
    assert_eq!((answer.verdict, answer.stats.executions), (Verdict::Verified, Some(720)));
    let kept = shelf.kept.into_inner().expect("nobody panics with it");
    let most = kept.iter().map(|progress| progress.parts.len()).max();
    assert!(kept.len() > 50 && most.is_some_and(|most| most < 60), "{} times, {most:?} parts", kept.len());
    assert!(kept.is_sorted_by(|a, b| a.share <= b.share + 1e-9 && a.counts.executions <= b.counts.executions));
    let last = kept.last().expect("kept at the end");
    assert!(last.parts.is_empty() && last.counts.executions == 720);
    // Whoever goes on from the end has the answer at once.
    let again = each(10).ask_kept(&query, &Limits::default(), &(), &shelf_of(1), Some(last.clone()));
    assert_eq!(facts(&again), facts(&answer));
    // What is of another search is noticed.
    let other = increments(2);
    let query = Query::new(&other, &model, Question::Outcomes).expect("a question");
    let lost = each(10).ask_kept(&query, &Limits::default(), &(), &shelf_of(1), Some(kept[kept.len() / 2].clone()));
    assert!(lost.verdict == Verdict::Unknown && matches!(lost.reason, Some(Cause::Trouble(_))), "{:?}", lost.reason);
}

fn shelf_of(every: u64) -> Shelf {
    Shelf { every, ..Shelf::default() }
}

/// The executions of all shares, each once, are those of the only one.
fn shares(graphs: Graphs, program: &Program, count: u16) -> Result<usize, String> {
    let mut compared = 0;
    let graphs = Graphs { share: Some(Share { index: 0, count: 1 }), ..graphs };
    for name in ["cat:sc", "cat:pso", "rc11"] {
        let model = model(name);
        let Ok(query) = Query::new(program, &model, Question::Outcomes) else { continue };
        let Some(Ok(all)) = graphs.executions(&query, &limits(0.2, 2)) else { continue };
        let key = |execution: &Execution| format!("{execution:?}");
        let wanted: HashSet<String> = all.iter().map(key).collect();
        let (mut found, mut times) = (HashSet::new(), 0);
        let (mut events, mut blocked) = (0, 0);
        for index in 0..count {
            let part = Graphs { share: Some(Share { index, count }), ..graphs };
            let Some(Ok(own)) = part.executions(&query, &limits(0.2, 2)) else { return Err("a limit".to_owned()) };
            times += own.len();
            found.extend(own.iter().map(key));
            let (answer, counts) = part.count(&query, &limits(0.2, 2), &());
            (events, blocked) = (events + counts.events, blocked + counts.blocked);
            if answer.verdict != Verdict::Bounded {
                return Err(format!("a part is {}", answer.verdict.name()));
            }
        }
        let (_, counts) = graphs.count(&query, &limits(0.2, 2), &());
        if (&found, times, events, blocked) != (&wanted, wanted.len(), counts.events, counts.blocked) {
            return Err(format!("{name}: {} of {}, {times} times", found.len(), wanted.len()));
        }
        compared += times;
    }
    Ok(compared)
}

#[test]
fn shares_are_all_executions_each_once() {
    let compared = corpus::for_each_litmus(|_, program| shares(graphs(4096), program, 3));
    assert!(compared >= 1_000, "only {compared} executions were compared");
    let many = shares(each(4096), &increments(6), 5).expect("shares of increments");
    assert_eq!(many, 3 * 720);
}
