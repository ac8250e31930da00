// A struct on the heap for each thread, handed over in a loop; the thread frees it.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdlib.h>
#include <assert.h>

struct arg {
    int id;
    int *out;
};
int results[3];

void *work(void *p) {
    struct arg *a = p;
    a->out[a->id] = a->id * 10;
    free(a);
    return NULL;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        struct arg *a = malloc(sizeof *a);
        a->id = i;
        a->out = results;
        pthread_create(&t[i], NULL, work, a);
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 3; i++) assert(results[i] == i * 10);
}
