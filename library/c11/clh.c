// clh: the queue lock of Craig, and of Landin and Hagersten, in C11.
// Published by Craig, "Building FIFO and priority-queuing spin locks from atomic swap" (University of Washington TR
// 93-02-02, 1993), and by Magnusson, Landin and Hagersten,
// "Queue locks on cache coherent multiprocessors" (IPPS 1994).
// A thread spins on the node of its predecessor, and takes that node for its own when it is done.
//
// RELAXED_TAIL: the exchange of `tail` is relaxed: the successor may look at the node before `held` was set in it.
// RELAXED_RELEASE: `held` is cleared with a relaxed store.
// OWN_NODE_AGAIN: a thread keeps its own node. Its successor may not have looked at it yet when it is set again, and waits
// for a lock that was free; two who wait for each other wait for ever.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_TAIL: violated
//@ rc11 RELAXED_RELEASE: violated
//@ sc OWN_NODE_AGAIN termination: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif
#define THREADS 2

#ifdef RELAXED_TAIL
#define TAKE memory_order_relaxed
#else
#define TAKE memory_order_acq_rel
#endif
#ifdef RELAXED_RELEASE
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

typedef struct node {
    atomic_int held;
} node_t;

static node_t nodes[THREADS + 1];
static _Atomic(node_t *) tail = &nodes[THREADS];
static int counter;

static void *thread(void *arg)
{
    node_t *mine = arg;
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store_explicit(&mine->held, 1, memory_order_relaxed);
        node_t *before = atomic_exchange_explicit(&tail, mine, TAKE);
        while (atomic_load_explicit(&before->held, memory_order_acquire))
            ;
        counter++;
        atomic_store_explicit(&mine->held, 0, LEAVE);
#ifndef OWN_NODE_AGAIN
        mine = before;
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &nodes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * ROUNDS);
    return 0;
}
