//! What each thread has for itself, C11's threads, mutexes of every kind, waiting with an end, and functions that verifiers have.

use cyrano_engine::Verdict::{Bounded, Verified, Violated};

use super::check;

/// Every occurrence replaced; there is one.
fn spoilt(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

#[test]
fn threads_have_variables_of_their_own() {
    let text = "__thread int mine = 3; static _Thread_local int *where; \
        static int calls(void) { static __thread int count; return ++count; } \
        void *f(void *p) { mine += (int)(long)p; where = &mine; assert(*where == 3 + (int)(long)p); \
          assert(calls() == 1 && calls() == 2); return 0; } \
        int main(void) { pthread_t t[2]; mine = 7; \
          for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, (void *)(long)(i + 1)); assert(calls() == 1); \
          for (int i = 0; i < 2; i++) pthread_join(t[i], 0); assert(mine == 7); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(&spoilt(text, "mine == 7", "mine == 3"), [Violated; 3]);
    check(&spoilt(text, "__thread int mine", "int mine"), [Violated; 3]);
    check(&spoilt(text, "__thread int count", "int count"), [Violated; 3]);
}

#[test]
fn keys_have_a_value_in_each_thread() {
    let text = "#include <stdatomic.h>\npthread_key_t key; atomic_int gone; int a, b; \
        void end(void *p) { *(int *)p = 5; gone++; } \
        void *f(void *p) { assert(pthread_getspecific(key) == 0); pthread_setspecific(key, p); \
          assert(pthread_getspecific(key) == p); if (p == &a) pthread_exit(0); return 0; } \
        int main(void) { pthread_t s, t; pthread_key_create(&key, end); \
          pthread_create(&s, 0, f, &a); pthread_create(&t, 0, f, &b); pthread_join(s, 0); pthread_join(t, 0); \
          assert(gone == 2 && a == 5 && b == 5); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(&spoilt(text, "gone == 2", "gone == 1"), [Violated; 3]);
    check(&spoilt(text, "&key, end", "&key, 0"), [Violated; 3]);
    // A destructor that leaves a value behind is called again, but not for ever.
    let again = spoilt(text, "*(int *)p = 5;", "*(int *)p = 5; if (gone < 1) pthread_setspecific(key, p);");
    check(&again, [Violated; 3]);
}

#[test]
fn c11_threads_have_all_of_it() {
    let text = "#include <threads.h>\nmtx_t m; cnd_t c; once_flag flag = ONCE_FLAG_INIT; tss_t key; int made, full; \
        void make(void) { made++; tss_create(&key, 0); } \
        int f(void *p) { call_once(&flag, make); mtx_lock(&m); mtx_lock(&m); full = 1; mtx_unlock(&m); \
          cnd_signal(&c); mtx_unlock(&m); tss_set(key, p); return tss_get(key) == p ? 4 : 0; } \
        int main(void) { thrd_t t; int r; mtx_init(&m, mtx_plain | mtx_recursive); cnd_init(&c); \
          thrd_create(&t, f, &made); call_once(&flag, make); mtx_lock(&m); while (!full) cnd_wait(&c, &m); \
          mtx_unlock(&m); thrd_join(t, &r); assert(made == 1 && r == 4 && tss_get(key) == 0); mtx_destroy(&m); \
          return 0; }";
    check(text, [Verified, Verified, Bounded]);
    // A thread that waits for itself.
    check(&spoilt(text, "mtx_plain | mtx_recursive", "mtx_plain"), [Violated, Violated, Violated]);
    check(&spoilt(text, "call_once(&flag, make); mtx_lock(&m); while", "make(); mtx_lock(&m); while"), [Violated; 3]);
    check(&spoilt(text, "cnd_signal(&c);", ""), [Violated, Violated, Bounded]);
}

#[test]
fn mutexes_come_in_kinds() {
    let text = "pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; int x; \
        void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); \
          x++; pthread_mutex_unlock(&m); return p; } \
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == 4); return 0; }";
    check(text, [Verified, Verified, Bounded]);
    check(
        &spoilt(text, "x++; pthread_mutex_unlock(&m); return", "pthread_mutex_unlock(&m); x++; return"),
        [Violated; 3],
    );
    let checked = spoilt(text, "RECURSIVE_MUTEX_INITIALIZER_NP", "ERRORCHECK_MUTEX_INITIALIZER_NP");
    // The second lock is refused, and the first unlock is the last.
    check(&checked, [Violated; 3]);
    check(&spoilt(text, "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP", "PTHREAD_MUTEX_INITIALIZER"), [Violated; 3]);
}

#[test]
fn waiting_may_come_to_an_end() {
    let text = "pthread_mutex_t m; struct timespec soon; int x; sem_t s; pthread_rwlock_t l; \
        void *f(void *p) { if (pthread_mutex_timedlock(&m, &soon) == 0) { x++; pthread_mutex_unlock(&m); } \
          sem_post(&s); return p; } \
        int main(void) { pthread_t t; pthread_mutex_init(&m, 0); sem_init(&s, 0, 0); pthread_rwlock_init(&l, 0); \
          pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); x = 5; pthread_mutex_unlock(&m); \
          int got = sem_timedwait(&s, &soon); assert(pthread_rwlock_timedwrlock(&l, &soon) == 0); \
          assert(pthread_rwlock_timedrdlock(&l, &soon) != 0 || GIVEN); pthread_rwlock_unlock(&l); \
          pthread_join(t, 0); assert(x == 5 || x == 6); return got; }";
    // Nobody unlocks what the writer holds itself.
    check(&spoilt(text, "GIVEN", "0"), [Violated, Violated, Violated].map(|_| Violated));
    let text = spoilt(text, "assert(pthread_rwlock_timedrdlock(&l, &soon) != 0 || GIVEN);", "");
    check(&text, [Verified, Verified, Bounded]);
    check(&spoilt(&text, "x == 5 || x == 6", "x == 6"), [Violated; 3]);
    check(&spoilt(&text, "x == 5 || x == 6", "x == 5"), [Violated; 3]);
}

#[test]
fn verifiers_functions_are_known() {
    let text = "#include <genmc.h>\n#include <stdatomic.h>\natomic_int x; \
        void *f(void *p) { x++; return p; } \
        int main(void) { pthread_t t = __VERIFIER_spawn(f, 0); \
          __VERIFIER_optional(while (x == 0)); __VERIFIER_join(t); assert(x == 1); \
          return __builtin_expect(x == 1, 1) ? 0 : (__builtin_unreachable(), 1); }";
    check(text, [Verified, Verified, Bounded]);
    check(&spoilt(text, "assert(x == 1)", "assert(x == 0)"), [Violated; 3]);
    check(&spoilt(text, "__builtin_expect(x == 1, 1)", "__builtin_expect(x == 2, 1)"), [Violated; 3]);
}
