// Who gets the lock at once counts, who does not goes on.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <assert.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;

void *w(void *p) {
    if (pthread_mutex_trylock(&m) == 0) {
        int o = n;
        n = o + 1;
        pthread_mutex_unlock(&m);
        return (void *)1;
    }
    return 0;
}

int main(void) {
    pthread_t t, u;
    void *a, *b;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, &a);
    pthread_join(u, &b);
    assert(n == (int)((long)a + (long)b));
    assert(n >= 1);
}
