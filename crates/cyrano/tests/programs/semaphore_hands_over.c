// A semaphore hands data over.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <semaphore.h>
#include <assert.h>
sem_t s;
int data;

void *w(void *p) {
    data = 1;
    sem_post(&s);
    return 0;
}

int main(void) {
    sem_init(&s, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    sem_wait(&s);
    assert(data == 1);
    pthread_join(t, 0);
    sem_destroy(&s);
}
