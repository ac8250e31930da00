// A jump to the end leaves with the mutex held.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;

static int step(int bad) {
    pthread_mutex_lock(&m);
    if (bad) goto out;
    n++;
    pthread_mutex_unlock(&m);
    out: return n >= 0;
}

void *w(void *p) {
    step((int)(long)p);
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, (void *)1);
    pthread_create(&u, 0, w, (void *)0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
