// peterson: Peterson's lock for two threads, in C11.
// Published in "Myths about the mutual exclusion problem" (Information Processing Letters 12(3), 1981), for sequentially
// consistent memory.
// The orders are those that Anthony Williams gives for C++ ("Peterson's lock with C++0x atomics", 2008): the exchange of
// `turn` reads what the other
// thread wrote there before it, so that one of the two sees the other's flag.
//
// TURN_IS_STORED: `turn` is stored with release order, not exchanged: both stores of flags may come late, and both threads
// enter. This version was published,
// too, and Williams' is the answer to it.
// RELAXED_UNLOCK: the flag is lowered with a relaxed store: the next thread need not see what was done under the lock.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 TURN_IS_STORED: violated
//@ rc11 RELAXED_UNLOCK: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], turn;
static int counter; // not atomic: a race shows that both were in the critical section

static void lock(int self)
{
    int other = 1 - self;
    atomic_store_explicit(&flag[self], 1, memory_order_relaxed);
#ifdef TURN_IS_STORED
    atomic_store_explicit(&turn, other, memory_order_release);
#else
    atomic_exchange_explicit(&turn, other, memory_order_acq_rel);
#endif
    while (atomic_load_explicit(&flag[other], memory_order_acquire)
           && atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void unlock(int self)
{
#ifdef RELAXED_UNLOCK
    atomic_store_explicit(&flag[self], 0, memory_order_relaxed);
#else
    atomic_store_explicit(&flag[self], 0, memory_order_release);
#endif
}

static void *thread(void *arg)
{
    int self = *(int *)arg;
    lock(self);
    counter++;
    unlock(self);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int names[2] = { 0, 1 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
