// lamport_fast: Lamport's fast mutual exclusion (its second algorithm) for two threads, in C11.
// Published in "A fast mutual exclusion algorithm" (ACM Transactions on Computer Systems 5(1), 1987).
// Without contention a thread enters after seven accesses. All of them are sequentially consistent here but those in the
// last line of `lock`.
//
// ACQ_REL: acquire and release are not enough for the writes of `x` and `y` and what is read behind them.
// NO_SECOND_LOOK: who found that somebody else came does not wait for those who are about to enter.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 ACQ_REL: violated
//@ sc NO_SECOND_LOOK: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 2

#ifdef ACQ_REL
#define LOAD memory_order_acquire
#define STORE memory_order_release
#else
#define LOAD memory_order_seq_cst
#define STORE memory_order_seq_cst
#endif

static atomic_int x, y, entering[THREADS + 1]; // threads are 1, 2, …; 0 is nobody
static int counter;

static void await_zero(atomic_int *word)
{
    while (atomic_load_explicit(word, LOAD) != 0)
        ;
}

static void lock(int self)
{
    for (;;) {
        atomic_store_explicit(&entering[self], 1, STORE);
        atomic_store_explicit(&x, self, STORE);
        if (atomic_load_explicit(&y, LOAD) != 0) {
            atomic_store_explicit(&entering[self], 0, STORE);
            await_zero(&y);
            continue;
        }
        atomic_store_explicit(&y, self, STORE);
        if (atomic_load_explicit(&x, LOAD) == self)
            return;
        atomic_store_explicit(&entering[self], 0, STORE);
#ifndef NO_SECOND_LOOK
        for (int other = 1; other <= THREADS; other++)
            await_zero(&entering[other]);
#endif
        if (atomic_load_explicit(&y, LOAD) == self)
            return;
        await_zero(&y);
    }
}

static void unlock(int self)
{
    atomic_store_explicit(&y, 0, STORE);
    atomic_store_explicit(&entering[self], 0, STORE);
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
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i + 1;
        pthread_create(&threads[i], NULL, thread, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS);
    return 0;
}
