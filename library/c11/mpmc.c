// mpmc: Vyukov's bounded queue for many producers and many consumers, in C11.
// "Bounded MPMC queue" (1024cores.net, 2010).
// Each slot has a number that says whose turn it is: position p may be filled when it is p, and emptied when it is p + 1.
// Threads draw positions with a compare-and-swap.
//
// RELAXED_FILLED: the number is raised with a relaxed store when the slot was filled.
// RELAXED_EMPTIED: the same when it was emptied: the next producer overwrites what is still being read.
// POSITION_IS_STORED: a position is taken with a store: two threads get the same one.
//
//@ sc: verified
//@ sc POSITION_IS_STORED: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SIZE 2u

#ifdef RELAXED_FILLED
#define FILLED memory_order_relaxed
#else
#define FILLED memory_order_release
#endif
#ifdef RELAXED_EMPTIED
#define EMPTIED memory_order_relaxed
#else
#define EMPTIED memory_order_release
#endif

static struct {
    atomic_uint turn;
    int value;
} slots[SIZE];
static atomic_uint head, tail;

// Takes a position whose slot has come to its turn; false if it has not.
static bool draw(atomic_uint *end, unsigned behind, unsigned *at)
{
    *at = atomic_load_explicit(end, memory_order_relaxed);
    for (;;) {
        unsigned turn = atomic_load_explicit(&slots[*at % SIZE].turn, memory_order_acquire);
        int lead = (int)(turn - (*at + behind));
        if (lead < 0)
            return false;
        if (lead > 0) {
            *at = atomic_load_explicit(end, memory_order_relaxed);
            continue;
        }
#ifdef POSITION_IS_STORED
        atomic_store_explicit(end, *at + 1, memory_order_relaxed);
        return true;
#else
        if (atomic_compare_exchange_weak_explicit(end, at, *at + 1, memory_order_relaxed, memory_order_relaxed))
            return true;
#endif
    }
}

static bool put(int value)
{
    unsigned at;
    if (!draw(&tail, 0, &at))
        return false;
    slots[at % SIZE].value = value;
    atomic_store_explicit(&slots[at % SIZE].turn, at + 1, FILLED);
    return true;
}

static bool get(int *value)
{
    unsigned at;
    if (!draw(&head, 1, &at))
        return false;
    *value = slots[at % SIZE].value;
    atomic_store_explicit(&slots[at % SIZE].turn, at + SIZE, EMPTIED);
    return true;
}

static atomic_int accepted, taken;

static void *producer(void *arg)
{
    int value = *(int *)arg;
    if (put(value))
        atomic_fetch_add_explicit(&accepted, value, memory_order_relaxed);
    return NULL;
}

static void *consumer(void *unused)
{
    int value;
    (void)unused;
    if (get(&value)) {
        assert(value == 1 || value == 2 || value == 4);
        atomic_fetch_add_explicit(&taken, value, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    int values[2] = { 1, 2 }, value, rest = 0;
    for (unsigned at = 0; at < SIZE; at++)
        atomic_init(&slots[at].turn, at);
    put(4); // so that a position comes round again
    pthread_create(&threads[0], NULL, producer, &values[0]);
    pthread_create(&threads[1], NULL, producer, &values[1]);
    pthread_create(&threads[2], NULL, consumer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int all = atomic_load(&taken);
    while (get(&value))
        rest += value;
    all += rest;
    assert(all == 4 + atomic_load(&accepted)); // a queue that is full refuses
    return 0;
}
