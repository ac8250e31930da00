// A barrier behind the first half only.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>
pthread_barrier_t b;
int a[2], s[2];

void *w(void *p) {
    long i = (long)p;
    for (int r = 0; r < 2; r++) {
        a[i] = r + 1;
        pthread_barrier_wait(&b);
        s[i] = a[1 - i];
        assert(s[i] == r + 1);
    }
    return 0;
}

int main(void) {
    pthread_barrier_init(&b, 0, 2);
    pthread_t t, u;
    pthread_create(&t, 0, w, (void *)0);
    pthread_create(&u, 0, w, (void *)1);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
