// A struct is copied word by word while another thread reads it.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <string.h>
#include <assert.h>

struct p {
    int a, b;
} g, src = { 1, 1 };

void *w(void *p) {
    memcpy(&g, &src, sizeof g);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    struct p l = g;
    assert(l.a == l.b);
    pthread_join(t, 0);
}
