//! What programs for verifiers take for granted: sections by name, functions that must not be called, and declarations of a C library that a
//! preprocessor has left.

use cyrano_engine::Verdict::{self, Bounded, Unknown, Verified, Violated};

use super::{answers_about, check};

/// The verdicts about a file without the usual headers.
fn check_alone(text: &str, wanted: [Verdict; 3]) {
    let found = answers_about(text.to_owned());
    let mut verdicts: Vec<_> = found.iter().map(|report| report.verdict).collect();
    if wanted[2] == Bounded && verdicts[2] == verdicts[0] {
        verdicts[2] = Bounded;
    }
    assert_eq!(verdicts, wanted, "{text}\n{found:?}");
}

#[test]
fn functions_are_atomic_by_their_names() {
    let text = "int x; int NAME(int by) { int before = x; if (by == 0) return before; x = before + by; return before; } \
        void *f(void *p) { NAME(1); NAME(0); return 0; } \
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); \
          pthread_join(s, 0); pthread_join(t, 0); assert(x == 2); return 0; }";
    check(&text.replace("NAME", "__VERIFIER_atomic_add"), [Verified, Verified, Verified]);
    check(&text.replace("NAME", "add"), [Violated; 3]);
}

#[test]
fn to_reach_an_error_is_one_whatever_its_function_does() {
    let text = "void reach_error() {} _Atomic int x; void *f(void *p) { x = 1; return 0; } \
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (x == VALUE) reach_error(); return 0; }";
    check(&text.replace("VALUE", "1"), [Violated; 3]);
    check(&text.replace("VALUE", "2"), [Verified; 3]);
}

#[test]
fn a_section_may_end_on_a_way_that_goes_no_further() {
    let text = "int x, stopped; void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); \
        int add(void) { __VERIFIER_atomic_begin(); if (stopped) { __VERIFIER_atomic_end(); return -1; } else { x = x + 1; } \
          LATER return 0; } \
        void *f(void *p) { add(); return 0; } \
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); \
          pthread_join(s, 0); pthread_join(t, 0); assert(x == 2); return 0; }";
    // A section about two variables is nothing that rc11 has.
    check(&text.replace("LATER", "__VERIFIER_atomic_end();"), [Verified, Verified, Unknown]);
    let open =
        text.replace("__VERIFIER_atomic_begin(); if", "if").replace("{ __VERIFIER_atomic_end(); return", "{ return");
    check(&open.replace("LATER", ""), [Violated; 3]);
}

#[test]
fn declarations_of_another_library_are_read_as_those_of_the_headers() {
    let text = "typedef unsigned int size_t; typedef unsigned long pthread_t; typedef int my_size __attribute__((__mode__(__DI__)));\n\
        struct __list { struct __list *next; }; \
        struct __mutex { int lock; union { struct { short a, b; } parts; struct __list list; }; }; \
        typedef union { struct __mutex data; char size[40]; long align; } pthread_mutex_t; \
        union pthread_attr_t { char size[36]; long align; }; typedef union pthread_attr_t pthread_attr_t; \
        typedef __builtin_va_list __args; typedef __args va_list; extern int vprintf(const char *, va_list); \
        enum { PTHREAD_MUTEX_TIMED_NP, PTHREAD_MUTEX_RECURSIVE_NP }; \
        extern int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); \
        extern int pthread_join(pthread_t, void **); extern int pthread_mutex_unlock(pthread_mutex_t *); \
        extern int pthread_mutex_lock(pthread_mutex_t *) __attribute__((__nothrow__)) __attribute__((__nonnull__(1))); \
        extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((__noreturn__)); \
        pthread_mutex_t m = { { 0, PTHREAD_MUTEX_TIMED_NP, { { 0, 0 } } } }; my_size x$1; \
        void *f() { LOCK x$1 = x$1 + 1; pthread_mutex_unlock(&m); return 0; } \
        int main() { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); \
          pthread_join(s, 0); pthread_join(t, 0); \
          (x$1 == COUNT && sizeof(my_size) == 8) ? (void)0 : __assert_fail(\"x\", \"f\", 1, __func__); return 0; }";
    let with = |lock: &str, count: &str| text.replace("LOCK", lock).replace("COUNT", count);
    check_alone(&with("pthread_mutex_lock(&m);", "2"), [Verified; 3]);
    check_alone(&with("pthread_mutex_lock(&m);", "1"), [Violated; 3]);
    check_alone(&with("pthread_mutex_lock(&m); pthread_mutex_lock(&m);", "2"), [Violated; 3]);
    let recursive = text.replace("TIMED_NP, { {", "RECURSIVE_NP, { {");
    let twice = "pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);";
    check_alone(&recursive.replace("LOCK", twice).replace("COUNT", "2"), [Verified, Verified, Bounded]);
}

#[test]
fn some_functions_need_no_declaration() {
    let text = "int nondet_int(void); int x; \
        int main(void) { int n = nondet_int(); x = n; printf(\"%d\", x); assert(x LEAST 0); if (x > 2) exit(0); return 0; }";
    check_alone(&text.replace("LEAST", ">="), [Bounded, Bounded, Bounded]);
    check_alone(&text.replace("LEAST", ">"), [Violated; 3]);
}

#[test]
fn objects_have_any_number_of_elements() {
    let text = "int *make(int n) { int *p = malloc(n * sizeof *p); for (int i = 0; i < n; i++) p[i] = i; return p; } \
        int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1) return 0; \
          int *p = make(n); assert(p[LAST] == LAST); free(p); return 0; }";
    check(&text.replace("LAST", "(n - 1)"), [Bounded; 3]);
    check(&text.replace("LAST", "n"), [Violated; 3]);
    check(&text.replace("LAST", "1"), [Violated; 3]);
    let zeroed = "int main(void) { int n = 1 + __VERIFIER_nondet_int(); long *p = calloc(n, sizeof(long)); \
        assert(p[n - 1] == 0); free(p); assert(VALUE); return 0; }";
    check(&zeroed.replace("VALUE", "1"), [Bounded; 3]);
    check(&zeroed.replace("VALUE", "p[0] == 0"), [Violated; 3]);
}
