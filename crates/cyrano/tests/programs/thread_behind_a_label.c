// A thread is created behind a label that is jumped back to: refused, for each round would need a thread of its own.
//
//@ sc: refused
//@ tso: refused
//@ rc11: refused

#include <pthread.h>
#include <assert.h>
int n;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *w(void *p) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t t[3];
    int i = 0;
    again: pthread_create(&t[i], 0, w, 0);
    if (++i < 2) goto again;
    for (int j = 0; j < 2; j++) pthread_join(t[j], 0);
    assert(n == 1);
}
