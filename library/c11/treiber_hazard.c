// treiber_hazard: Treiber's stack whose nodes are freed once no hazard pointer leads to them, in C11.
// Michael, "Hazard pointers: safe memory reclamation for lock-free objects" (IEEE TPDS 15(6), 2004).
// A thread tells which node it is about to read, and looks again whether the node is still the first. Who frees looks at
// what the others told.
// Both sides store and then load something else, so both need a sequentially consistent fence between.
//
// NO_FENCE: the one who reads has no such fence: it may look again before the others can see what it told.
// NO_SECOND_LOOK: it does not look again: the node may be gone already.
// FREE_AT_ONCE: nobody looks at hazard pointers before freeing.
//
//@ sc: verified
//@ sc NO_SECOND_LOOK: violated
//@ sc FREE_AT_ONCE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2

typedef struct node {
    struct node *next;
    int value;
} node_t;

static _Atomic(node_t *) top;
static _Atomic(node_t *) hazard[THREADS];
static atomic_int popped;

static void push(int value)
{
    node_t *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release, memory_order_relaxed))
        ;
}

// The first node, told to the others before it is used.
static node_t *protect(int self)
{
    for (;;) {
        node_t *first = atomic_load_explicit(&top, memory_order_relaxed);
        atomic_store_explicit(&hazard[self], first, memory_order_relaxed);
#ifndef NO_FENCE
        atomic_thread_fence(memory_order_seq_cst);
#endif
#ifdef NO_SECOND_LOOK
        atomic_thread_fence(memory_order_acquire);
        return first;
#else
        if (atomic_load_explicit(&top, memory_order_acquire) == first)
            return first;
#endif
    }
}

static void retire(int self, node_t *node)
{
    (void)self;
#ifndef FREE_AT_ONCE
    atomic_thread_fence(memory_order_seq_cst);
    for (int other = 0; other < THREADS; other++)
        if (other != self && atomic_load_explicit(&hazard[other], memory_order_acquire) == node)
            return; // somebody reads it: kept for a later time, here for ever
#endif
    free(node);
}

static void *thread(void *arg)
{
    int self = *(int *)arg;
    node_t *first;
    do {
        first = protect(self);
        if (first == NULL)
            return NULL;
    } while (!atomic_compare_exchange_strong_explicit(&top, &first, first->next, memory_order_acquire, memory_order_relaxed));
    atomic_store_explicit(&hazard[self], NULL, memory_order_release);
    atomic_fetch_add_explicit(&popped, first->value, memory_order_relaxed);
    retire(self, first);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int names[THREADS] = { 0, 1 };
    push(1);
    push(2);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&popped) == 3);
    return 0;
}
