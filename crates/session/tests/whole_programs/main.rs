//! Whole C programs: threads, what waits, how a program ends; verdicts worked out by hand, under several models.

mod conventions;
mod library;
mod objects;

use std::collections::BTreeMap;

use cyrano_engine::Verdict::{self, Bounded, Verified, Violated};
use cyrano_report::CheckReport;
use cyrano_session::frontend::Wanted;
use cyrano_session::{Failure, Files, Options, Runner, Source, Subject, select};

/// Files by name.
struct Memory(BTreeMap<&'static str, String>);

impl Files for Memory {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let text = self.0.get(name).ok_or_else(|| Failure::input(format!("{name}: there is no such file")))?;
        Ok(Source { name: name.to_owned(), text: text.clone(), dir: None })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}

const HEADERS: &str = "#include <pthread.h>\n#include <assert.h>\n#include <stdlib.h>\n#include <semaphore.h>\n";

/// The answers under sc, tso and rc11.
fn answers(text: &str) -> Vec<CheckReport> {
    answers_about(format!("{HEADERS}{text}"))
}

/// The answers about a file that includes what it needs itself.
fn answers_about(text: String) -> Vec<CheckReport> {
    let files = Memory([("p.c", text)].into());
    let subjects = Subject::load(&files, "p.c", &[], &Wanted::default(), None).expect("it compiles");
    let models: Vec<_> = ["sc", "tso", "rc11"].iter().filter_map(|name| cyrano_memory::named(name)).collect();
    let selected = select(&subjects[0].case, &[], &models, &files).expect("there are checks");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    // Of races nothing is said here.
    let asked = selected.iter().filter(|check| check.criterion() != "races");
    asked.map(|check| subjects[0].check(&runner, check, &()).expect("an answer")).collect()
}

/// The verdicts under sc, tso and rc11; there `Bounded` stands for an engine that may not know, but does not contradict sc.
fn check(text: &str, wanted: [Verdict; 3]) {
    let found = answers(text);
    let mut verdicts: Vec<Verdict> = found.iter().map(|report| report.verdict).collect();
    if wanted[2] == Bounded && verdicts[2] == verdicts[0] {
        verdicts[2] = Bounded;
    }
    assert_eq!(verdicts, wanted, "{text}\n{found:?}");
}

const COUNTER: &str = "int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    void *f(void *a) { LOCK x = x + 1; UNLOCK return a; }\n\
    int main(void) { pthread_t t[3];\n\
      for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, f, NULL);\n\
      for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);\n\
      assert(x == 3); return 0; }\n";

#[test]
fn mutexes_exclude() {
    let with = |lock, unlock| COUNTER.replace("UNLOCK", unlock).replace("LOCK", lock);
    check(&with("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"), [Verified, Verified, Bounded]);
    check(&with("", ""), [Violated; 3]);
    check(&with("if (pthread_mutex_trylock(&m)) return a;", "pthread_mutex_unlock(&m);"), [Violated; 3]);
    check(&with("", "pthread_mutex_unlock(&m);"), [Violated; 3]);
}

#[test]
fn mutexes_deadlock() {
    let order = |first, second| {
        format!(
            "pthread_mutex_t a, b; void *f(void *x) {{ pthread_mutex_lock(&a); pthread_mutex_lock(&b); \
             pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return x; }}\n\
             void *g(void *x) {{ pthread_mutex_lock(&{first}); pthread_mutex_lock(&{second}); \
             pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return x; }}\n\
             int main() {{ pthread_t s, t; pthread_mutex_init(&a, 0); pthread_mutex_init(&b, 0); \
             pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); \
             pthread_join(s, 0); pthread_join(t, 0); }}\n"
        )
    };
    check(&order("a", "b"), [Verified, Verified, Bounded]);
    check(&order("b", "a"), [Violated, Violated, Bounded]);
    let own = "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return a; }\n\
        int main() { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }";
    check(own, [Violated, Violated, Bounded]);
    let used = "pthread_mutex_t m; int y; void *f(void *a) { pthread_mutex_destroy(&m); y = 1; return a; }\n\
        void *g(void *a) { if (y) pthread_mutex_lock(&m); return a; }\n\
        int main() { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); END }";
    check(&used.replace("END", "return 0;"), [Violated; 3]);
    check(&used.replace("END", "exit(0);"), [Violated; 3]);
    // Whoever is left waiting when `main` returns is no deadlock.
    check(&own.replace("pthread_join(t, 0);", ""), [Verified, Verified, Bounded]);
}

#[test]
fn conditions_wake() {
    let with = |wakes: &str| {
        format!(
            "pthread_mutex_t m; pthread_cond_t c; int ready, taken;\n\
             void *f(void *a) {{ pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); taken++; \
             pthread_mutex_unlock(&m); return a; }}\n\
             void *g(void *a) {{ pthread_mutex_lock(&m); ready = 1; {wakes} pthread_mutex_unlock(&m); return a; }}\n\
             int main() {{ pthread_t t[3]; pthread_create(&t[0], 0, f, 0); pthread_create(&t[1], 0, f, 0); \
             pthread_create(&t[2], 0, g, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); assert(taken == 2); }}"
        )
    };
    check(&with("pthread_cond_broadcast(&c);"), [Verified, Verified, Bounded]);
    check(&with("pthread_cond_signal(&c);"), [Violated, Violated, Bounded]);
    check(&with(""), [Violated, Violated, Bounded]);
}

#[test]
fn threads_start_once_and_give_results() {
    let text = "#include <cyrano.h>\nint x; void *f(void *a) { x = (int)(long)a; return a; }\n\
        int main() { pthread_t t; int made = 0; void *r; if (choose(0, 1)) { pthread_create(&t, 0, f, (void *)7); made = 1; }\n\
          if (choose(0, 1)) { if (made) pthread_join(t, &r); assert(!made || (x == 7 && (long)r == 7)); }\n\
          else if (choose(0, 1)) exit(0); else pthread_exit(NULL); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(&text.replace("x == 7", "x == 8"), [Violated; 3]);
    check(&text.replace("if (made) pthread_join(t, &r);", "r = (void *)7;"), [Violated; 3]);
}

#[test]
fn pointers_to_functions_are_followed() {
    let text = "int inc(int a) { return a + 1; } int dbl(int a) { return a * 2; }\n\
        typedef struct { int (*fn)(int); int arg, out; } job_t;\n\
        void *work(void *p) { job_t *j = p; j->out = j->fn(j->arg); return 0; }\n\
        int main() { pthread_t t[2]; job_t jobs[2] = { { inc, 4 }, { dbl, 5 } };\n\
          for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, work, &jobs[i]);\n\
          for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);\n\
          assert(jobs[0].out == 5 && jobs[1].out == 10); }";
    check(text, [Verified, Verified, Bounded]);
    check(&text.replace("a * 2", "a * 3"), [Violated; 3]);
    check(&text.replace("{ dbl, 5 }", "{ 0, 5 }"), [Violated; 3]);
}

#[test]
fn barriers_and_their_kin_wait() {
    let text = "pthread_barrier_t b; int x[2]; sem_t s; pthread_once_t o = PTHREAD_ONCE_INIT; int inits; \
        pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER; int v; void init(void) { inits++; }\n\
        void *w(void *a) { int me = (int)(long)a; pthread_once(&o, init); assert(inits == 1); x[me] = 1; \
          pthread_barrier_wait(&b); assert(x[1 - me] == 1);\n\
          if (me) { pthread_rwlock_wrlock(&rw); v = v + 1; v = v + 1; } else { pthread_rwlock_rdlock(&rw); assert(v % 2 == 0); }\n\
          pthread_rwlock_unlock(&rw); sem_post(&s); return 0; }\n\
        int main() { pthread_t t[2]; pthread_barrier_init(&b, 0, 2); sem_init(&s, 0, 0);\n\
          for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, w, (void *)(long)i);\n\
          sem_wait(&s); sem_wait(&s); assert(v == 2); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(&text.replace("pthread_barrier_wait(&b);", ""), [Violated; 3]);
    check(&text.replace("pthread_rwlock_wrlock", "pthread_rwlock_rdlock"), [Violated; 3]);
    check(&text.replace("sem_wait(&s); sem_wait(&s);", "sem_wait(&s);"), [Violated; 3]);
    check(&text.replace("pthread_once(&o, init);", "init();"), [Violated; 3]);
}

/// The checks that run without being asked for, and their verdicts under sc, tso and rc11.
fn defaults(text: &str) -> Vec<(&'static str, Verdict)> {
    let files = Memory([("p.c", format!("{HEADERS}#include <stdatomic.h>\n{text}"))].into());
    let subjects = Subject::load(&files, "p.c", &[], &Wanted::default(), None).expect("it compiles");
    let models: Vec<_> = ["sc", "tso", "rc11"].iter().filter_map(|name| cyrano_memory::named(name)).collect();
    let selected = select(&subjects[0].case, &[], &models, &files).expect("there are checks");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let verdict = |check| subjects[0].check(&runner, check, &()).expect("an answer").verdict;
    selected.iter().map(|check| (check.criterion(), verdict(check))).collect()
}

#[test]
fn races_are_looked_for_under_rc11() {
    let with = |order: &str| {
        format!(
            "int data; atomic_int ready; void *w(void *a) {{ data = 1; atomic_store_explicit(&ready, 1, {order}); return a; }}\n\
             void *r(void *a) {{ while (!atomic_load_explicit(&ready, memory_order_acquire)) ; data = 2; return a; }}\n\
             int main() {{ pthread_t s, t; pthread_create(&s, 0, w, 0); pthread_create(&t, 0, r, 0); \
             assert(ready < 2); return 0; }}"
        )
    };
    let [sc, tso, rc11] = [("assertions", Verified); 3];
    let safe = defaults(&with("memory_order_release"));
    assert_eq!(safe, [sc, tso, rc11, ("races", Verified)]);
    let racy = defaults(&with("memory_order_relaxed"));
    assert_eq!(racy, [sc, tso, ("assertions", Verdict::Unknown), ("races", Violated)]);
}

const TWO: &str = "int main() { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); JOIN }\n";

#[test]
fn locals_end_with_their_calls() {
    let with = |first: &str, join: &str| {
        let second = "void *g(void *a) { int *q = p; if (q) *q = 1; return a; }";
        format!("_Atomic(int *) p; {first}\n{second}\n{}", TWO.replace("JOIN", join))
    };
    // The end of a thread's function, of a call within it, and of the thread.
    check(&with("void *f(void *a) { int x = 0; p = &x; return a; }", ""), [Violated, Violated, Bounded]);
    check(&with("void h() { int x; p = &x; }\nvoid *f(void *a) { h(); return a; }", ""), [Violated, Violated, Bounded]);
    check(&with("void *f(void *a) { int x = 0; p = &x; pthread_exit(0); }", ""), [Violated, Violated, Bounded]);
    check(&with("void *f(void *a) { int x[2]; p = x + 1; return a; }", ""), [Violated, Violated, Bounded]);
    check(
        &with("int *h() { int x; int *q = &x; return q; }\nvoid *f(void *a) { *h() = 1; return a; }", ""),
        [Violated, Violated, Bounded],
    );
    // Whoever waits for the other one to be done may lend it a local; rc11 cannot tell, and says so.
    let lends = with("int done; void *f(void *a) { int x = 0; p = &x; while (!done); return a; }", "")
        .replace("*q = 1; return a;", "*q = 1; done = 1; return a;")
        .replace(" int done;", " _Atomic int done;");
    let found = answers(&lends);
    assert_eq!([found[0].verdict, found[1].verdict, found[2].verdict], [Verified, Verified, Bounded], "{found:?}");
    let reason = found[2].reason.clone().unwrap_or_default();
    assert!(reason.contains("locals of calls that have ended") && reason.contains("`f.x` (line 5)"), "{reason}");
}

#[test]
fn locals_that_nobody_keeps_cost_nothing() {
    // Those of `main` live on, those that are only passed down nobody knows afterwards.
    let text = "int x; void add(int *by, int n) { int *q = by; for (int i = 0; i < n; i++) x += q[i]; }\n\
        void *f(void *a) { int own[2] = { 1, 2 }; add(own, 2); *(int *)a = x; return 0; }\n\
        int main() { pthread_t t; int y; pthread_create(&t, 0, f, &y); pthread_join(t, 0); assert(y == 3); return 0; }";
    let found = answers(text);
    assert!(found.iter().all(|found| found.verdict == Verified), "{found:?}");
    let ends = text.replace("pthread_join(t, 0); assert(y == 3); return 0;", "pthread_exit(0);");
    check(&ends, [Violated, Violated, Bounded]);
}

#[test]
fn locals_of_calls_in_loops_end() {
    let text = "int *p; void h() { int x = 1; if (p) assert(*p == 1); LATE p = &x; ENDS }\n\
        int main() { for (int i = 0; i < 2; i++) h(); return 0; }";
    check(&text.replace("LATE", "").replace("ENDS", "p = 0;"), [Verified, Verified, Bounded]);
    check(&text.replace("LATE", "").replace("ENDS", ""), [Violated, Violated, Bounded]);
}

#[test]
fn what_is_in_use_is_not_initialised_again() {
    let text = |made: &str| {
        format!("pthread_barrier_t b; pthread_mutex_t m; pthread_rwlock_t r; int main() {{ {made} return 0; }}")
    };
    let barrier = "pthread_barrier_init(&b, 0, 1);";
    check(&text(&format!("{barrier} pthread_barrier_wait(&b);")), [Verified, Verified, Bounded]);
    check(&text(&format!("{barrier} pthread_barrier_destroy(&b); {barrier}")), [Verified, Verified, Bounded]);
    check(&text(&format!("{barrier} {barrier}")), [Violated; 3]);
    check(&text("pthread_barrier_wait(&b);"), [Violated; 3]);
    check(
        &text(&format!("pthread_barrier_t own; pthread_barrier_t *b = &own; {}", barrier.replace("&b", "b"))),
        [Verified, Verified, Bounded],
    );
    check(&text("pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); pthread_mutex_init(&m, 0);"), [Violated; 3]);
    check(
        &text(
            "pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_destroy(&m); pthread_mutex_init(&m, 0);",
        ),
        [Verified, Verified, Bounded],
    );
    check(&text("pthread_rwlock_init(&r, 0); pthread_rwlock_rdlock(&r); pthread_rwlock_init(&r, 0);"), [Violated; 3]);
}

#[test]
fn names_of_intrinsics_are_the_files_own() {
    let text = "#include <threads.h>\n#include <stdatomic.h>\n\
        static int cas(int);\nint before(void) { return cas(1); }\n\
        static void lock(int self) { (void)self; } static void unlock(int self) { (void)self; }\n\
        static int cas(int n) { return n + 1; } static int exchange(int a, int b, int c) { return a + b + c; }\n\
        static void fence(void) { atomic_thread_fence(memory_order_seq_cst); } static int choose(int n) { return n; }\n\
        static int assume(int n) { return !n; } static void atomic_begin(int n) { (void)n; } int commit_point = 3;\n\
        int main() { lock(1); fence(); unlock(1); atomic_begin(2); \
        assert(before() == 2 && cas(4) == 5 && exchange(1, 2, 3) == 6 && choose(7) == 7 && assume(0) && commit_point == 3); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(&text.replace("cas(4) == 5", "cas(4) == 4"), [Violated; 3]);
}
