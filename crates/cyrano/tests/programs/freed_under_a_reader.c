// An object is freed while a thread still reads it.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdlib.h>

struct n {
    int v;
};

void *w(void *p) {
    struct n *x = p;
    int v = x->v;
    (void)v;
    return 0;
}

int main(void) {
    struct n *x = malloc(sizeof *x);
    x->v = 1;
    pthread_t t;
    pthread_create(&t, 0, w, x);
    free(x);
    pthread_join(t, 0);
}
