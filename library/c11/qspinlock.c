// qspinlock: the idea of Linux's queued spin lock, in C11: one word with a byte for the owner, a bit for the first who
// waits, and a queue for the others.
// Corbet, "MCS locks and qspinlocks" (LWN, 2014). Cut down to three threads, so the queue has one place: who finds owner and
// waiter there spins until the waiter's bit is free.
//
// RELAXED_HAND_OVER: the waiter sees the owner leave with a relaxed load.
// RELAXED_UNLOCK: the owner leaves with a relaxed subtraction.
// NO_BIT_CHECK: who comes later does not look at the bit but at the owner alone, and overtakes into the critical section
// together with the waiter.
//
//@ sc: verified
//@ rc11 RELAXED_HAND_OVER: violated
//@ rc11 RELAXED_UNLOCK: violated
//@ sc NO_BIT_CHECK: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef THREADS
#define THREADS 3
#endif
#define LOCKED 1
#define WAITING 0x100

#ifdef RELAXED_HAND_OVER
#define SEE memory_order_relaxed
#else
#define SEE memory_order_acquire
#endif
#ifdef RELAXED_UNLOCK
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

static atomic_int word;
static int counter;

static void lock(void)
{
#ifdef NO_BIT_CHECK
    int seen = atomic_load_explicit(&word, memory_order_relaxed) & WAITING;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, seen | LOCKED, memory_order_acquire, memory_order_relaxed))
        return;
#else
    int seen = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, LOCKED, memory_order_acquire, memory_order_relaxed))
        return;
#endif
    // The place of the one who waits is taken by who sets the bit.
    while (atomic_fetch_or_explicit(&word, WAITING, memory_order_relaxed) & WAITING)
        ;
    while (atomic_load_explicit(&word, SEE) & LOCKED)
        ;
    // Nobody else may take the lock while the bit is set.
    atomic_fetch_sub_explicit(&word, WAITING - LOCKED, memory_order_relaxed);
}

static void unlock(void)
{
    atomic_fetch_sub_explicit(&word, LOCKED, LEAVE);
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
