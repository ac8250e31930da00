// `main` ends by `pthread_exit`; the other thread goes on and goes wrong.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>
atomic_int x;

void *w(void *p) {
    while (!x);
    assert(0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    x = 1;
    pthread_exit(0);
}
