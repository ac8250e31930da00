// The conventions of SV-COMP: numbers that may be anything, assumptions by `abort`, an error that is called.
// Other numbers than 0 to 3 are left out.
//
//@ sc: bounded
//@ rc11: bounded
//@ sc WRONG: violated

#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);

void reach_error(void) {
    __assert_fail("0", "it.c", 3, "reach_error");
}

void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}

void __VERIFIER_assert(int cond) {
    if (!cond) {
        reach_error();
    }
}

int sum;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&m);
    sum += *(int *)arg;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
#ifdef WRONG
    assume_abort_if_not(n > 0);
#else
    assume_abort_if_not(n == 2);
#endif
    pthread_t a, b;
    pthread_create(&a, NULL, add, &n);
    pthread_create(&b, NULL, add, &n);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    __VERIFIER_assert(sum == 4);
    return 0;
}
