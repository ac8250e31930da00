// A signed atomic member of a union, and its halves.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

union u {
    atomic_int word;
    int raw;
    struct {
        unsigned short lo, hi;
    } h;
} v;

void *w(void *p) {
    v.word++;
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(v.raw == 2 && v.h.lo == 2);
    v.word = -1;
    assert(v.raw == -1 && v.h.hi == 0xffff);
    int e = -1;
}
