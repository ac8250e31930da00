// Two readers of a lock want to write: both wait.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int n;

void *w(void *p) {
    pthread_rwlock_rdlock(&l);
    if (n == 0) {
        pthread_rwlock_wrlock(&l);
        n++;
        pthread_rwlock_unlock(&l);
    }
    pthread_rwlock_unlock(&l);
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
