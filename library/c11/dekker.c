// dekker: Dekker's lock for two threads, in C11.
// The first solution of mutual exclusion by software; Dijkstra tells of it in "Cooperating sequential processes" (1965).
// Store buffering is its heart: each thread raises its flag and looks at the other's. Only sequentially consistent fences,
// or accesses, forbid that both
// look too early.
//
// NO_FENCE: without the fences between raising a flag and looking at the other.
// ACQ_REL_FENCE: with fences that order everything but a store before a load.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 NO_FENCE: violated
//@ rc11 ACQ_REL_FENCE: violated
//@ tso ACQ_REL_FENCE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined NO_FENCE
#define FENCE() ((void)0)
#elif defined ACQ_REL_FENCE
#define FENCE() atomic_thread_fence(memory_order_acq_rel)
#else
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

static atomic_int wants[2], turn;
static int counter;

static void lock(int self)
{
    int other = 1 - self;
    atomic_store_explicit(&wants[self], 1, memory_order_relaxed);
    FENCE(); // either this thread sees the other's flag, or the other sees this one's
    while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
        if (atomic_load_explicit(&turn, memory_order_relaxed) != self) {
            atomic_store_explicit(&wants[self], 0, memory_order_relaxed);
            while (atomic_load_explicit(&turn, memory_order_relaxed) != self)
                ;
            atomic_store_explicit(&wants[self], 1, memory_order_relaxed);
            FENCE();
        }
    }
}

static void unlock(int self)
{
    atomic_store_explicit(&turn, 1 - self, memory_order_relaxed);
    atomic_store_explicit(&wants[self], 0, memory_order_release);
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
