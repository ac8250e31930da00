// once: something is done exactly once, and everybody who comes later sees it, in C11.
// The state goes from NEW by BUSY to DONE, as in the implementations of `call_once`.
//
// RELAXED_DONE: DONE is stored with a relaxed store.
// RELAXED_LOOK: the fast path looks with a relaxed load.
// DO_NOT_WAIT: who comes while somebody else is BUSY goes on as if it were done.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_DONE: violated
//@ rc11 RELAXED_LOOK: violated
//@ sc DO_NOT_WAIT: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef RELAXED_DONE
#define FINISH memory_order_relaxed
#else
#define FINISH memory_order_release
#endif
#ifdef RELAXED_LOOK
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

enum { NEW, BUSY, DONE };

static atomic_int state = NEW;
static int value; // written once, by whoever is first

static void once(void)
{
    if (atomic_load_explicit(&state, LOOK) == DONE)
        return;
    int expected = NEW;
    if (atomic_compare_exchange_strong_explicit(&state, &expected, BUSY, memory_order_acquire, LOOK)) {
        value += 42;
        atomic_store_explicit(&state, DONE, FINISH);
        return;
    }
#ifndef DO_NOT_WAIT
    while (atomic_load_explicit(&state, LOOK) != DONE)
        ;
#endif
}

static void *thread(void *unused)
{
    (void)unused;
    once();
    assert(value == 42);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
