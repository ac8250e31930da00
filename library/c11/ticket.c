// ticket: a ticket lock in C11.
// Published by Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors" (ACM
// TOCS 9(1), 1991).
// Tickets are drawn with a relaxed read-modify-write; what orders critical sections is `serving`.
//
// RELAXED_UNLOCK: `serving` is raised with a relaxed store.
// RELAXED_WAIT: it is waited for with relaxed loads.
// TICKET_IS_STORED: the ticket is read and stored, not drawn at once: two threads get the same one.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_UNLOCK: violated
//@ rc11 RELAXED_WAIT: violated
//@ sc TICKET_IS_STORED: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 3
#endif

#ifdef RELAXED_UNLOCK
#define UNLOCK memory_order_relaxed
#else
#define UNLOCK memory_order_release
#endif
#ifdef RELAXED_WAIT
#define WAIT memory_order_relaxed
#else
#define WAIT memory_order_acquire
#endif

static atomic_uint next, serving;
static int counter;

static void lock(void)
{
#ifdef TICKET_IS_STORED
    unsigned ticket = atomic_load_explicit(&next, memory_order_relaxed);
    atomic_store_explicit(&next, ticket + 1, memory_order_relaxed);
#else
    unsigned ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
#endif
    while (atomic_load_explicit(&serving, WAIT) != ticket)
        ;
}

static void unlock(void)
{
    unsigned owner = atomic_load_explicit(&serving, memory_order_relaxed);
    atomic_store_explicit(&serving, owner + 1, UNLOCK);
}

static void *thread(void *unused)
{
    (void)unused;
    lock();
    counter++;
    unlock();
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS);
    return 0;
}
