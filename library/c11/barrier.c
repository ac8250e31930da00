// barrier: a barrier that reverses its sense, in C11.
// Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (International Journal of Parallel Programming
// 17(1), 1988); the centralized form is in Mellor-Crummey and Scott (1991).
// The last one to come resets the counter and turns the sense; the others wait until it is turned.
//
// RELAXED_COUNT: arriving is relaxed: what was done before the barrier need not be seen behind it.
// RELAXED_SENSE: the sense is turned with a relaxed store.
// RESET_LATE: the sense is turned before the counter is reset: a fast thread counts itself into the next phase, and the
// reset forgets it.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_COUNT: violated
//@ rc11 RELAXED_SENSE: violated
//@ sc RESET_LATE termination: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS 2
#define PHASES 2

#ifdef RELAXED_COUNT
#define ARRIVE memory_order_relaxed
#else
#define ARRIVE memory_order_acq_rel
#endif
#ifdef RELAXED_SENSE
#define TURN memory_order_relaxed
#else
#define TURN memory_order_release
#endif

static atomic_int waiting = THREADS, sense;
static int done[THREADS];

static void barrier_wait(int *my_sense)
{
    *my_sense = !*my_sense;
    if (atomic_fetch_sub_explicit(&waiting, 1, ARRIVE) == 1) {
#ifdef RESET_LATE
        atomic_store_explicit(&sense, *my_sense, TURN);
        atomic_store_explicit(&waiting, THREADS, memory_order_relaxed);
#else
        atomic_store_explicit(&waiting, THREADS, memory_order_relaxed);
        atomic_store_explicit(&sense, *my_sense, TURN);
#endif
    } else {
        while (atomic_load_explicit(&sense, memory_order_acquire) != *my_sense)
            ;
    }
}

static void *thread(void *arg)
{
    int self = *(int *)arg, my_sense = 0;
    for (int phase = 1; phase <= PHASES; phase++) {
        done[self] = phase;
        barrier_wait(&my_sense);
        assert(done[1 - self] == phase);
        barrier_wait(&my_sense);
    }
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
    return 0;
}
