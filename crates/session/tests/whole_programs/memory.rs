//! Memory that is published without synchronisation: to allocate it is an access to it, and so is to free it. And threads that are cut off in front of a store.

use cyrano_engine::Verdict::{self, Verified, Violated};

use super::asked;

/// The verdicts about races and about assertions under rc11.
fn under_rc11(text: &str) -> [Verdict; 2] {
    let verdict = |criterion| {
        let found = asked(text, &["rc11"], criterion);
        let [report] = &found[..] else { panic!("{found:?}") };
        report.verdict
    };
    [verdict("races"), verdict("assertions")]
}

const PUBLISHED: &str = "#include <stdatomic.h>\n_Atomic(int *) p; \
    void *f(void *x) { atomic_store_explicit(&p, malloc(sizeof(int)), memory_order_RELEASE); return x; } \
    void *g(void *x) { int *r = atomic_load_explicit(&p, memory_order_ACQUIRE); if (r) USE return x; } \
    int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); return 0; }";

fn published(release: &str, acquire: &str, used: &str) -> String {
    PUBLISHED.replace("RELEASE", release).replace("ACQUIRE", acquire).replace("USE", used)
}

#[test]
fn an_allocation_is_an_access() {
    assert_eq!(under_rc11(&published("release", "acquire", "*r = 18;")), [Verified, Verified]);
    for (release, acquire) in [("relaxed", "acquire"), ("release", "relaxed"), ("relaxed", "relaxed")] {
        let text = published(release, acquire, "*r = 18;");
        assert_eq!(under_rc11(&text), [Violated, Verified], "{text}");
    }
    // Atomic accesses, too: the allocation is none.
    let atomic = |release| {
        published(release, "acquire", "*r = 18;").replace("int *", "atomic_int *").replace("(int)", "(atomic_int)")
    };
    assert_eq!(under_rc11(&atomic("release")), [Verified, Verified]);
    assert_eq!(under_rc11(&atomic("relaxed")), [Violated, Verified]);
    // What only one thread uses races with nobody.
    let own = "void *f(void *x) { int *n = malloc(sizeof(int)); *n = 1; assert(*n == 1); return x; } \
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); return 0; }";
    assert_eq!(under_rc11(own), [Verified, Verified]);
    // What is allocated before there is another thread is allocated before everything.
    let before = "#include <stdatomic.h>\nint *n; _Atomic(int *) p; \
        void *g(void *x) { int *r = atomic_load_explicit(&p, memory_order_relaxed); if (r) *r = 1; return x; } \
        int main(void) { pthread_t t; n = malloc(sizeof(int)); pthread_create(&t, 0, g, 0); \
          atomic_store_explicit(&p, n, memory_order_relaxed); return 0; }";
    assert_eq!(under_rc11(before), [Verified, Verified]);
}

#[test]
fn who_frees_comes_after_the_allocation() {
    assert_eq!(under_rc11(&published("release", "acquire", "free(r);")), [Verified, Verified]);
    let text = published("relaxed", "acquire", "free(r);");
    assert_eq!(under_rc11(&text)[1], Violated, "{text}");
    let used = |release, acquire| published(release, acquire, "{ *r = 18; free(r); }");
    assert_eq!(under_rc11(&used("release", "acquire")), [Verified, Verified]);
    assert_eq!(under_rc11(&used("relaxed", "acquire"))[1], Violated);
    assert_eq!(under_rc11(&used("release", "relaxed"))[1], Violated);
}

/// Where there is one order of all accesses nobody comes before the allocation.
#[test]
fn allocations_cost_nothing_in_one_order() {
    for model in ["sc", "tso", "pso"] {
        let found = asked(&published("relaxed", "relaxed", "*r = 18;"), &[model], "assertions");
        assert_eq!(found.iter().map(|report| report.verdict).collect::<Vec<_>>(), [Verified], "{model}");
    }
}

/// The writer is cut off in front of a store, and what is shown of it ends there.
#[test]
fn a_writer_that_is_cut_off_is_shown() {
    let text = "#include <stdatomic.h>\nstruct node { atomic_int v; } n; _Atomic(struct node *) p; atomic_int go; \
        void *w(void *x) { int r; do { n.v = 1; atomic_store_explicit(&p, &n, memory_order_release); r = go; n.v = 2; } while (!r); return x; } \
        void *q(void *x) { struct node *m = atomic_load_explicit(&p, memory_order_acquire); if (m) assert(m->v != 2); go = 1; return x; } \
        int main(void) { pthread_t s, t; pthread_create(&s, 0, w, 0); pthread_create(&t, 0, q, 0); \
          pthread_join(s, 0); pthread_join(t, 0); return 0; }";
    for model in ["sc", "ra", "rc11"] {
        let found = asked(text, &[model], "assertions");
        assert_eq!(found.iter().map(|report| report.verdict).collect::<Vec<_>>(), [Violated], "{model}");
    }
}
