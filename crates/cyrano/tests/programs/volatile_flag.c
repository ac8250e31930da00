// A flag that is volatile and no more.
//
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rc11: violated

#include <pthread.h>
#include <assert.h>
volatile int flag;
int data;

void *w(void *p) {
    data = 42;
    flag = 1;
    return 0;
}

void *r(void *p) {
    if (flag) assert(data == 42);
    return 0;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, r, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
