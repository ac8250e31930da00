// Index and tag in a union, exchanged as one word.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdint.h>

union tagged {
    _Atomic uint64_t all;
    struct {
        uint32_t index, tag;
    } part;
};
union tagged top;

void *w(void *p) {
    union tagged old, new;
    old.all = atomic_load(&top.all);
    do {
        new.part.index = old.part.index + 1;
        new.part.tag = old.part.tag + 1;
    } while (!atomic_compare_exchange_strong(&top.all, (uint64_t *)&old.all, new.all));
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(top.part.index == 2 && top.part.tag == 2);
}
