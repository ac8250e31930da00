// The same with a relaxed pointer.
//
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

struct s {
    int v;
} one;
_Atomic(struct s *) inst;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

struct s *get(void) {
    struct s *p = atomic_load_explicit(&inst, memory_order_relaxed);
    if (!p) {
        pthread_mutex_lock(&m);
        p = atomic_load_explicit(&inst, memory_order_relaxed);
        if (!p) {
            one.v = 3;
            p = &one;
            atomic_store_explicit(&inst, p, memory_order_relaxed);
        }
        pthread_mutex_unlock(&m);
    }
    return p;
}

void *w(void *p) {
    assert(get()->v == 3);
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
