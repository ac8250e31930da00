// A recursive mutex is given back by a thread that does not hold it, and the error is asserted away.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>
pthread_mutex_t m;

void *w(void *p) {
    int e = pthread_mutex_unlock(&m);
    assert(e == 0);
    return 0;
}

int main(void) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
}
