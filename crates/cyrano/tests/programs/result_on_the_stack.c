// The result of a thread points to its own local.
//
//@ sc: violated
//@ tso: violated

#include <pthread.h>
#include <assert.h>

void *work(void *p) {
    int r = 7;
    int *q = &r;
    return q;
}

int main(void) {
    pthread_t a;
    void *r;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, &r);
    assert(*(int *)r == 7);
}
