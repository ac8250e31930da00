// ticket without fences: a ticket lock around a counter. See ticket.c.
//
// Failures: the next thread is served before the counter is stored; the counter is loaded before the thread is served.
//
//@ tests: ticket.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

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
    return ticket;
}

static void release(ticket_lock_t *l, unsigned ticket)
{
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
