// Threads are created and joined in loops whose rounds are counted by hand.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

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
    while (i < 3) {
        pthread_create(&t[i], 0, w, 0);
        i++;
    }
    do {
        i--;
        pthread_join(t[i], 0);
    } while (i > 0);
    assert(n == 3);
}
