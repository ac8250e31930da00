// ttas: a spin lock that looks before it tries (test and test-and-set), in C11.
// Published by Rudolph and Segall, "Dynamic decentralized cache schemes for MIMD parallel processors" (ISCA 1984).
//
// RELAXED_TAKE, RELAXED_RELEASE: one of the two orders is missing.
// LOOK_IS_ENOUGH: a thread that has seen the lock free stores that it has it.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_TAKE: violated
//@ rc11 RELAXED_RELEASE: violated
//@ sc LOOK_IS_ENOUGH: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef THREADS
#define THREADS 3
#endif

#ifdef RELAXED_TAKE
#define TAKE memory_order_relaxed
#else
#define TAKE memory_order_acquire
#endif
#ifdef RELAXED_RELEASE
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

static atomic_bool held;
static int counter;

static void lock(void)
{
    for (;;) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            ;
#ifdef LOOK_IS_ENOUGH
        atomic_store_explicit(&held, true, memory_order_relaxed);
        return;
#else
        if (!atomic_exchange_explicit(&held, true, TAKE))
            return;
#endif
    }
}

static void unlock(void)
{
    atomic_store_explicit(&held, false, LEAVE);
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
