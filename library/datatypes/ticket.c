// ticket: a ticket lock around a counter, with the fences that `relaxed` needs.
// The lock is Lamport's bakery with a fetch-and-add, as described by Reed and Kanodia in "Synchronization with eventcounts and
// sequencers" (CACM 1979) and by Mellor-Crummey and Scott in "Algorithms for scalable synchronization on shared-memory
// multiprocessors" (TOCS 1991).
//
// A thread draws a ticket and waits until it is served. The client increments a counter in its critical section and returns
// the value before; two threads in the critical section at once would return the same one.
//
// This client loads and then stores one word in its critical section. A client that stores to a word which it has not loaded, or
// loads one that it does not store, needs load-store at both fences as well (compare CheckFence, Fig. 7).
//
// Waiting has no side effect, so it is an assumption instead of a loop: only the last load of `serving` matters.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

#include <cyrano.h>

typedef struct ticket_lock {
    unsigned next;
    unsigned serving;
} ticket_lock_t;

typedef struct counter {
    ticket_lock_t lock;
    unsigned value;
} counter_t;

counter_t counter;

static unsigned acquire(ticket_lock_t *l)
{
    unsigned ticket = fetch_add(&l->next, 1);
    assume(l->serving == ticket);
    fence("load-load"); // the critical section does not start before
    return ticket;
}

static void release(ticket_lock_t *l, unsigned ticket)
{
    fence("store-store"); // the critical section has ended
    l->serving = ticket + 1;
}

unsigned increment(counter_t *c)
{
    unsigned ticket = acquire(&c->lock);
    unsigned value = c->value;
    c->value = value + 1;
    release(&c->lock, ticket);
    return value;
}
