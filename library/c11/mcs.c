// mcs: the queue lock of Mellor-Crummey and Scott, in C11.
// Published in "Algorithms for scalable synchronization on shared-memory multiprocessors" (ACM TOCS 9(1), 1991).
// A thread appends a node of its own to a queue and spins on a word in that node, which its predecessor clears.
//
// RELAXED_LINK: the link to the successor is stored with a relaxed store. The predecessor may then clear `waiting` before
// the successor has set it,
// and the successor waits for ever: nothing is raced for, and still it hangs.
// RELAXED_TAIL: the exchange of `tail` is relaxed, and so is the compare-and-swap that empties the queue: who finds the lock
// free has not seen what the last owner did.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_TAIL: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef THREADS
#define THREADS 2
#endif

#ifdef RELAXED_TAIL
#define TAKE memory_order_relaxed
#define LEAVE memory_order_relaxed
#else
#define TAKE memory_order_acq_rel
#define LEAVE memory_order_release
#endif
#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

typedef struct node {
    _Atomic(struct node *) next;
    atomic_int waiting;
} node_t;

static _Atomic(node_t *) tail;
static node_t nodes[THREADS];
static int counter;

static void lock(node_t *self)
{
    atomic_store_explicit(&self->next, NULL, memory_order_relaxed);
    node_t *before = atomic_exchange_explicit(&tail, self, TAKE);
    if (before != NULL) {
        atomic_store_explicit(&self->waiting, 1, memory_order_relaxed);
        atomic_store_explicit(&before->next, self, LINK);
        while (atomic_load_explicit(&self->waiting, memory_order_acquire))
            ;
    }
}

static void unlock(node_t *self)
{
    node_t *after = atomic_load_explicit(&self->next, memory_order_acquire);
    if (after == NULL) {
        node_t *expected = self;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, LEAVE, memory_order_relaxed))
            return;
        while ((after = atomic_load_explicit(&self->next, memory_order_acquire)) == NULL)
            ;
    }
    atomic_store_explicit(&after->waiting, 0, memory_order_release);
}

static void *thread(void *arg)
{
    node_t *self = arg;
    lock(self);
    counter++;
    unlock(self);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &nodes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS);
    return 0;
}
