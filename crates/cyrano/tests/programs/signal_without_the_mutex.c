// The flag is set without the mutex, between the look and the wait: nobody wakes the thread.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
atomic_int ready;

void *w(void *p) {
    pthread_mutex_lock(&m);
    while (!atomic_load(&ready)) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    atomic_store(&ready, 1);
    pthread_cond_signal(&c);
    pthread_join(t, 0);
}
