// Double-checked locking with an ordinary pointer.
//
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdlib.h>
#include <assert.h>

struct s {
    int v;
} *inst;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

struct s *get(void) {
    if (!inst) {
        pthread_mutex_lock(&m);
        if (!inst) {
            struct s *n = malloc(sizeof *n);
            n->v = 3;
            inst = n;
        }
        pthread_mutex_unlock(&m);
    }
    return inst;
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
