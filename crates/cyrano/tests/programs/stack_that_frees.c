// Treiber's stack, popped nodes are freed: a node is read after that.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>

struct node {
    struct node *next;
    int v;
};
_Atomic(struct node *) top;

void push(int v) {
    struct node *n = malloc(sizeof *n);
    n->v = v;
    n->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &n->next, n));
}

int pop(void) {
    struct node *n = atomic_load(&top);
    while (n) {
        struct node *next = n->next;
        if (atomic_compare_exchange_strong(&top, &n, next)) {
            int v = n->v;
            free(n);
            return v;
        }
    }
    return 0;
}

void *w(void *p) {
    pop();
    return 0;
}

int main(void) {
    push(1);
    push(2);
    pthread_t t, u;
    pthread_create(&t, 0, w, 0);
    pthread_create(&u, 0, w, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
