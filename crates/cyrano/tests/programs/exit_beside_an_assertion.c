// `exit` ends the others, but what they do before it counts.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
#include <stdatomic.h>
atomic_int x;

void *w(void *p) {
    assert(atomic_load(&x) == 0);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    atomic_store(&x, 1);
    exit(0);
}
