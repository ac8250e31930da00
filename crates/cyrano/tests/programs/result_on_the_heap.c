// Results of threads as pointers, freed by who joins.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdlib.h>
#include <assert.h>

void *work(void *p) {
    int *r = malloc(sizeof *r);
    *r = *(int *)p + 1;
    return r;
}

int main(void) {
    pthread_t a, b;
    int x = 1, y = 5;
    void *r;
    pthread_create(&a, 0, work, &x);
    pthread_create(&b, 0, work, &y);
    pthread_join(a, &r);
    assert(*(int *)r == 2);
    free(r);
    pthread_join(b, &r);
    assert(*(int *)r == 6);
    free(r);
}
