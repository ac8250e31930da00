//! Every premise of what is known of fresh objects is needed: a search that leaves one out is noticed, by programs written for it or by random ones.

use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Answer, Engine, Query, Question, Verdict};
use cyrano_graphs::{Fault, Graphs};
use cyrano_ir::{Program, Property};

use super::publish::{compiled, publishes};
use super::{MODELS, parts, program};

/// Answers with and without what is known of fresh objects, and with a bug in that.
fn differs(program: &Program, fault: Option<Fault>, (work, iterations): (f64, usize)) -> Option<String> {
    for name in MODELS {
        let model = model(name);
        for races in [false, true].into_iter().filter(|races| !races || name == "rc11") {
            let question = if races { Question::Holds(&Property::Races) } else { Question::Outcomes };
            let Ok(query) = Query::new(program, &model, question) else { continue };
            let ask = |fresh_objects, fault| -> Answer {
                Graphs { fresh_objects, fault, ..Graphs::default() }.ask(query, &limits(work, iterations), &())
            };
            let right = ask(false, None);
            if right.verdict == Verdict::Unknown && right.reason.is_some() && right.flags.is_empty() {
                continue;
            }
            let Ok(found) = std::panic::catch_unwind(|| ask(true, fault)) else {
                return Some(format!("{name}: a panic"));
            };
            if found.verdict == Verdict::Unknown && found.reason.is_some() && found.flags.is_empty() {
                continue;
            }
            let whole = right.verdict == Verdict::Verified;
            let lost = !races && !right.outcomes.is_subset(&found.outcomes);
            let more = !races && whole && right.outcomes != found.outcomes;
            let flags = !races && whole && right.flags != found.flags;
            let raced = |answer: &Answer| answer.verdict == Verdict::Violated;
            if lost || more || flags || races && raced(&right) && !raced(&found) {
                return Some(format!(
                    "{name}, races {races}: {:?} {:?} instead of {:?} {:?}",
                    found.verdict, found.outcomes, right.verdict, right.outcomes
                ));
            }
        }
    }
    None
}

/// Programs in which something is published and written again.
const WRITTEN: &[(&str, &str)] = &[
    // In a loop, and written again before the loop ends: somebody may see the second write and let the loop end by that.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r; do { n->value = 1; atomic_store_explicit(&top, n, memory_order_release); \
        r = atomic_load_explicit(&go, memory_order_acquire); n->value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&top, memory_order_acquire); if (!p) return 7; int r = p->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g )"),
    // Before the loop.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r; n->value = 0; atomic_store_explicit(&top, n, memory_order_release); \
        do { n->value = 1; r = atomic_load_explicit(&go, memory_order_acquire); n->value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&top, memory_order_acquire); if (!p) return 7; int r = p->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g )"),
    // By way of another object.
    ("int f(int a) { node_t *n = malloc(sizeof *n); node_t *m = malloc(sizeof *m); int r; m->value = 0; n->next = m; \
        atomic_store_explicit(&top, n, memory_order_release); \
        do { m->value = 1; r = atomic_load_explicit(&go, memory_order_acquire); m->value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&top, memory_order_acquire); if (!p) return 7; int r = p->next->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g )"),
    // By a copy that somebody else makes.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r; n->value = 0; atomic_store_explicit(&top, n, memory_order_release); \
        do { n->value = 1; r = atomic_load_explicit(&go, memory_order_acquire); n->value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&top, memory_order_acquire); \
        if (p) atomic_store_explicit(&last, p, memory_order_release); return 0; }
      int h(void) { node_t *p = atomic_load_explicit(&last, memory_order_acquire); if (!p) return 7; int r = p->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g | h )"),
    // By an element of an array, and by a swap that may fail.
    ("int f(int a) { node_t *n = malloc(sizeof *n); node_t *first = 0; int r; n->value = 0; \
        atomic_compare_exchange_strong_explicit(&table[a], &first, n, memory_order_release, memory_order_relaxed); \
        do { n->value = 1; r = atomic_load_explicit(&go, memory_order_acquire); n->value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&table[0], memory_order_acquire); if (!p) return 7; int r = p->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g )"),
    // What is written is read back before it is overwritten, and published.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r, s = 0; n->value = 0; do { s = n->value; r = atomic_load_explicit(&go, memory_order_acquire); \
        n->value = 1; } while (!r); return s; }
      int g(void) { atomic_store_explicit(&go, 1, memory_order_release); return 0; }", "( f | g )"),
    // Written, published in the next iteration, and then overwritten.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r; n->value = 0; do { r = atomic_load_explicit(&go, memory_order_acquire); \
        if (r) atomic_store_explicit(&top, n, memory_order_release); n->value = r ? 2 : 1; } while (!r); return r; }
      int g(void) { atomic_store_explicit(&go, 1, memory_order_release); node_t *p = atomic_load_explicit(&top, memory_order_acquire); \
        return p ? p->value : 7; }", "( f | g )"),
    // The same by a store into another object, which is published before.
    ("int f(int a) { node_t *n = malloc(sizeof *n); node_t *m = malloc(sizeof *m); int r; n->next = 0; m->value = 0; \
        atomic_store_explicit(&top, n, memory_order_release); do { r = atomic_load_explicit(&go, memory_order_acquire); \
        if (r) n->next = m; m->value = r ? 2 : 1; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&top, memory_order_acquire); if (!p) return 7; \
        atomic_store_explicit(&go, 1, memory_order_release); node_t *q = p->next; return q ? q->value : 8; }", "( f | g )"),
    // Published without synchronisation: what was overwritten may be read.
    ("int f(int a) { node_t *n = malloc(sizeof *n); int r; n->value = 0; do { n->value = 1; \
        r = atomic_load_explicit(&go, memory_order_relaxed); if (r) atomic_store_explicit(&top, n, memory_order_relaxed); else n->value = 2; \
        } while (!r); return r; }
      int g(void) { atomic_store_explicit(&go, 1, memory_order_relaxed); node_t *p = atomic_load_explicit(&top, memory_order_relaxed); \
        return p ? p->value : 7; }", "( f | g )"),
    // An object whose address is in memory from the start.
    ("node_t s; _Atomic(node_t *) first = &s; \
      int f(int a) { node_t *n = malloc(sizeof *n); int r; n->value = 0; do { s.value = 1; r = atomic_load_explicit(&go, memory_order_acquire); \
        s.value = 2; } while (!r); return r; }
      int g(void) { node_t *p = atomic_load_explicit(&first, memory_order_acquire); int r = p->value; \
        if (r == 2) atomic_store_explicit(&go, 1, memory_order_release); return r; }", "( f | g )"),
    // A race of an idle iteration with a write that comes of what its thread does later.
    ("atomic_int z; int w; \
      int f(int a) { node_t *n = malloc(sizeof *n); n->value = 0; while (!atomic_load_explicit(&go, memory_order_relaxed)) { int r = w; (void)r; } \
        atomic_store_explicit(&z, 1, memory_order_relaxed); return 0; }
      int g(void) { if (atomic_load_explicit(&z, memory_order_relaxed)) w = 1; return 0; }
      int h(void) { atomic_store_explicit(&go, 1, memory_order_relaxed); return 0; }", "( f | g | h )"),
    // A read of what was there before races, and one of what is there now does not.
    ("struct cell { atomic_int v; }; _Atomic(struct cell *) cell; \
      int f(int a) { struct cell *n = malloc(sizeof *n); atomic_init(&n->v, 1); atomic_store_explicit(&cell, n, memory_order_relaxed); \
        atomic_store_explicit(&n->v, 2, memory_order_release); return 0; }
      int g(void) { struct cell *p = atomic_load_explicit(&cell, memory_order_relaxed); if (!p) return 7; \
        while (atomic_load_explicit(&p->v, memory_order_acquire) != 2); return 0; }", "( f | g )"),
];

fn written() -> Vec<Program> {
    let both = ["int", "atomic_int"].into_iter().flat_map(|ty| WRITTEN.iter().map(move |(code, client)| {
        let source = format!(
            "#include <stdatomic.h>\n#include <stdlib.h>\ntypedef struct node {{ struct node *next; {ty} value; }} node_t;\n\
             _Atomic(node_t *) top;\n_Atomic(node_t *) last;\n_Atomic(node_t *) table[2];\natomic_int go;\n{code}\n"
        );
        let source = if code.contains("int h(") { source } else { format!("{source}int h(void) {{ return 0; }}\n") };
        compiled(&source, client)
    }));
    both.collect()
}

#[test]
fn what_is_published_and_written_again_is_seen() {
    for (number, program) in written().iter().enumerate() {
        if let Some(why) = differs(program, None, (2.0, 3)) {
            panic!("{number}: {why}");
        }
    }
}

#[test]
fn objects_are_published_in_every_way() {
    let cases = if pinned::long() { 5_000 } else { 60 };
    let result =
        pinned::runner(cases, file!()).run(&publishes(), |random| match differs(&random.program(), None, (0.2, 3)) {
            None => Ok(()),
            Some(why) => Err(proptest::test_runner::TestCaseError::fail(format!("{why}\n{}", random.shown()))),
        });
    result.unwrap_or_else(|why| panic!("{why}"));
}

/// Which of these bugs nobody notices.
#[test]
fn every_premise_is_needed() {
    let faults = [
        Fault::Unpublished,
        Fault::UnreadOwn,
        Fault::PublishedLate,
        Fault::AtomicOwn,
        Fault::Hidden,
        Fault::Unmarked,
        Fault::Strangers,
        Fault::Reordered,
    ];
    let mut programs = written();
    let collected = std::cell::RefCell::new(&mut programs);
    let cases = if pinned::long() { 2_000 } else { 20 };
    let all = pinned::runner(cases, file!()).run(&(publishes(), parts()), |(random, parts)| {
        collected.borrow_mut().extend([random.program(), program(&parts)]);
        Ok(())
    });
    all.expect("nothing fails");
    let quiet: Vec<Fault> = faults
        .into_iter()
        .filter(|fault| {
            let found = programs
                .iter()
                .enumerate()
                .find_map(|(at, program)| Some((at, differs(program, Some(*fault), (0.2, 3))?)));
            println!(
                "{fault:?}: {:?}",
                found.as_ref().map(|(at, why)| (at, why.chars().take(100).collect::<String>()))
            );
            found.is_none()
        })
        .collect();
    assert_eq!(quiet, [], "not noticed");
}
