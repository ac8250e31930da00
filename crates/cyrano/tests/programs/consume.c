// What a consume load has read is dereferenced.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

struct n {
    int v;
} a;
_Atomic(struct n *) p;

void *w(void *x) {
    a.v = 1;
    atomic_store_explicit(&p, &a, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    struct n *q = atomic_load_explicit(&p, memory_order_consume);
    if (q) assert(q->v == 1);
    pthread_join(t, 0);
}
