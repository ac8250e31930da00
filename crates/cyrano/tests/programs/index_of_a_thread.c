// A thread too many for the array.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
int a[2];

void *w(void *p) {
    a[(long)p] = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    for (long i = 0; i < 3; i++) pthread_create(&t, 0, w, (void *)i);
    pthread_join(t, 0);
}
