// All threads get the address of one loop variable, the classical mistake: they read what it holds by then.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>
int seen[2];

void *work(void *p) {
    int i = *(int *)p;
    if (i < 2) seen[i] = 1;
    return 0;
}

int main(void) {
    pthread_t t[2];
    int i;
    for (i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &i);
    for (int j = 0; j < 2; j++) pthread_join(t[j], 0);
    assert(seen[0] && seen[1]);
}
