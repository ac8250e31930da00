// bakery: Lamport's bakery for two threads, in C11.
// Published in "A new solution of Dijkstra's concurrent programming problem" (CACM 17(8), 1974).
// A thread draws a number that is higher than all it sees, and waits for those with lower ones. Two fences are needed, both
// of the strongest kind: after it has said that it
// chooses, before it looks at the numbers; and after it has drawn a number, before it looks at who chooses.
//
// NO_FENCE_BEFORE_LOOKING: without the second one.
// NO_CHOOSING: the numbers alone; who has read but not yet written is overlooked.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 NO_FENCE_BEFORE_LOOKING: violated
//@ sc NO_CHOOSING: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 2

static atomic_int choosing[THREADS], number[THREADS];
static int counter;

static void lock(int self)
{
    int highest = 0;
#ifndef NO_CHOOSING
    atomic_store_explicit(&choosing[self], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (int other = 0; other < THREADS; other++) {
        int seen = atomic_load_explicit(&number[other], memory_order_relaxed);
        if (seen > highest)
            highest = seen;
    }
    atomic_store_explicit(&number[self], highest + 1, memory_order_relaxed);
#ifndef NO_CHOOSING
    atomic_store_explicit(&choosing[self], 0, memory_order_release);
#endif
#ifndef NO_FENCE_BEFORE_LOOKING
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (int other = 0; other < THREADS; other++) {
        if (other == self)
            continue;
        while (atomic_load_explicit(&choosing[other], memory_order_acquire))
            ;
        for (;;) {
            int theirs = atomic_load_explicit(&number[other], memory_order_acquire);
            if (theirs == 0 || theirs > highest + 1 || (theirs == highest + 1 && other > self))
                break;
        }
    }
}

static void unlock(int self)
{
    atomic_store_explicit(&number[self], 0, memory_order_release);
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
        names[i] = i;
        pthread_create(&threads[i], NULL, thread, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS);
    return 0;
}
