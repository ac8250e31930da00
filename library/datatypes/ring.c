// ring: a bounded ring for one producer and one consumer, with the fences that `relaxed` needs.
// Published by Lamport in "Proving the correctness of multiprocess programs" (IEEE TSE 1977).
//
// `tail` counts what was put, `head` what was taken; each of them is written by one thread only.
//
// put waits while the ring is full. Waiting has no side effect, so it is an assumption instead of a loop.
// A put that reports "full" instead would not look serial without store-load fences, even under tso: the producer may find the
// ring full and the consumer find it empty, each of them with its own last store still in the buffer.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

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
    fence("load-store"); // the slot is not filled before the consumer has emptied it
    r->slot[tail % SIZE] = value;
    fence("store-store"); // and is counted after it is filled
    r->tail = tail + 1;
}

value_t get(ring_t *r)
{
    value_t value;
    unsigned head = r->head;
    unsigned tail = r->tail;
    fence("load-load"); // the slot is loaded after it is known to be filled
    if (head == tail)
        return EMPTY;
    value = r->slot[head % SIZE];
    fence("load-store"); // and before the producer may fill it again
    r->head = head + 1;
    return value;
}
