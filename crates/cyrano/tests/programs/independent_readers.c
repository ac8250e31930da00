// Two readers see two releases in different orders.
//
//@ sc: verified
//@ tso: verified
//@ rc11: violated

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x, y;
int r[4];

void *a(void *p) {
    atomic_store_explicit(&x, 1, memory_order_release);
    return 0;
}

void *b(void *p) {
    atomic_store_explicit(&y, 1, memory_order_release);
    return 0;
}

void *c(void *p) {
    r[0] = atomic_load_explicit(&x, memory_order_acquire);
    r[1] = atomic_load_explicit(&y, memory_order_acquire);
    return 0;
}

void *d(void *p) {
    r[2] = atomic_load_explicit(&y, memory_order_acquire);
    r[3] = atomic_load_explicit(&x, memory_order_acquire);
    return 0;
}

int main(void) {
    pthread_t t[4];
    void *(*f[])(void *) = { a, b, c, d };
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(!(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0));
}
