// ring without fences: Lamport's ring for one producer and one consumer as published. See ring.c.
//
// Failures: a slot is counted before it is filled, loaded before it is known to be filled, or filled before it is empty.
//
//@ tests: ring.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

#include <cyrano.h>

#define SIZE 2
#define EMPTY (-1)

typedef int value_t;

typedef struct ring {
    unsigned head;
    unsigned tail;
    value_t slot[SIZE];
} ring_t;

ring_t ring;

void put(ring_t *r, value_t value)
{
    unsigned tail = r->tail;
    assume(tail - r->head < SIZE);
    r->slot[tail % SIZE] = value;
    r->tail = tail + 1;
}

value_t get(ring_t *r)
{
    value_t value;
    unsigned head = r->head;
    unsigned tail = r->tail;
    if (head == tail)
        return EMPTY;
    value = r->slot[head % SIZE];
    r->head = head + 1;
    return value;
}
