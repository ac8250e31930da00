// A thread that waits when the program exits is no deadlock.
//
//@ sc: verified
//@ tso: verified

#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *w(void *p) {
    pthread_mutex_lock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, w, 0);
    exit(0);
}
