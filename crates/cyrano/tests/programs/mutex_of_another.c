// A mutex is given back by a thread that does not hold it.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *w(void *p) {
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_mutex_lock(&m);
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
}
