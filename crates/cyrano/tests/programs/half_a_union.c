// Half of a union is atomic, and all of it: accesses of two sizes are not supported.
//
//@ sc: refused
//@ tso: refused
//@ rc11: refused

#include <pthread.h>
#include <stdatomic.h>

union u {
    atomic_uint word;
    struct {
        atomic_ushort lo, hi;
    } h;
} v;

void *w(void *p) {
    v.h.lo = 1;
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    v.word++;
    pthread_join(t, 0);
}
