// An atomic member of a union, and what another member shows of it.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

union u {
    atomic_uint word;
    unsigned raw;
} v;

void *w(void *p) {
    atomic_fetch_add(&v.word, 0x10001u);
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(v.raw == 0x20002u);
}
