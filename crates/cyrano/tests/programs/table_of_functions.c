// Pointers to functions in a table of constant structs.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

struct ops {
    const char *name;
    int (*apply)(int);
    void (*log)(atomic_int *);
};

static int inc(int x) {
    return x + 1;
}

static int dbl(int x) {
    return x * 2;
}

static void count(atomic_int *c) {
    atomic_fetch_add(c, 1);
}
static const struct ops table[] = { { "inc", inc, count }, { .name = "dbl", .log = count, .apply = dbl } };
atomic_int calls;
int out[2];

void *w(void *p) {
    long i = (long)p;
    const struct ops *o = &table[i];
    out[i] = o->apply(5);
    if (o->log) o->log(&calls);
    return (void *)(long)out[i];
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, w, (void *)i);
    long s = 0;
    for (int i = 0; i < 2; i++) {
        void *r;
        pthread_join(t[i], &r);
        s += (long)r;
    }
    assert(s == 16 && calls == 2);
}
