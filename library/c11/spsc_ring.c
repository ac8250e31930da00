// spsc_ring: a bounded ring for one producer and one consumer, in C11.
// Lamport shows that two indices are enough under sequential consistency in "Specifying concurrent program modules" (ACM
// TOPLAS 5(2), 1983).
// The producer owns `tail`, the consumer owns `head`; each publishes its own with a release store and looks at the other's
// with an acquire load.
//
// RELAXED_TAIL: `tail` is published with a relaxed store: the consumer takes what is not there yet.
// RELAXED_HEAD: `head` is published with a relaxed store: the producer writes into a slot that is still being read.
// OFF_BY_ONE: one more element than there are slots.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_TAIL: violated
//@ pso RELAXED_TAIL: violated
//@ sc OFF_BY_ONE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SIZE 2
#ifndef ITEMS
#define ITEMS 3
#endif

#ifdef RELAXED_TAIL
#define PUBLISH_TAIL memory_order_relaxed
#else
#define PUBLISH_TAIL memory_order_release
#endif
#ifdef RELAXED_HEAD
#define PUBLISH_HEAD memory_order_relaxed
#else
#define PUBLISH_HEAD memory_order_release
#endif
#ifdef OFF_BY_ONE
#define ROOM (SIZE + 1)
#else
#define ROOM SIZE
#endif

static int slots[SIZE];
static atomic_uint head, tail;

static bool put(int value)
{
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    if (at - atomic_load_explicit(&head, memory_order_acquire) == ROOM)
        return false;
    slots[at % SIZE] = value;
    atomic_store_explicit(&tail, at + 1, PUBLISH_TAIL);
    return true;
}

static bool get(int *value)
{
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    if (atomic_load_explicit(&tail, memory_order_acquire) == at)
        return false;
    *value = slots[at % SIZE];
    atomic_store_explicit(&head, at + 1, PUBLISH_HEAD);
    return true;
}

static void *producer(void *unused)
{
    (void)unused;
    for (int item = 1; item <= ITEMS; item++)
        while (!put(item))
            ;
    return NULL;
}

static void *consumer(void *unused)
{
    (void)unused;
    for (int item = 1; item <= ITEMS; item++) {
        int value;
        while (!get(&value))
            ;
        assert(value == item);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
