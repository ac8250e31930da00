// Two threads write two bit-fields of one memory location.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>

struct {
    unsigned a : 4, b : 4;
} s;

void *w1(void *p) {
    s.a = 1;
    return 0;
}

void *w2(void *p) {
    s.b = 2;
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w1, 0);
    pthread_create(&u, 0, w2, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(s.a == 1 && s.b == 2);
}
