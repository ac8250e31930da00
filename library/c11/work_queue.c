// work_queue: workers draw jobs from a shared counter and count down what is left; who finishes the last one tells the one
// who waits. In C11.
// The pattern of parallel loops and of wait groups.
//
// RELAXED_DONE: the countdown is relaxed: who waits sees that all is done and not what was done.
// JOB_IS_READ: the next job is read and stored, not drawn at once.
// COUNT_EARLY: a worker counts before it has written its result.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_DONE: violated
//@ sc JOB_IS_READ: violated
//@ sc COUNT_EARLY: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define JOBS 2
#define WORKERS 2

#ifdef RELAXED_DONE
#define DONE memory_order_relaxed
#else
#define DONE memory_order_acq_rel
#endif

static atomic_int next, left = JOBS;
static int results[JOBS];

static void *worker(void *unused)
{
    (void)unused;
    for (;;) {
#ifdef JOB_IS_READ
        int job = atomic_load_explicit(&next, memory_order_relaxed);
        atomic_store_explicit(&next, job + 1, memory_order_relaxed);
#else
        int job = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
#endif
        if (job >= JOBS)
            return NULL;
#ifdef COUNT_EARLY
        atomic_fetch_sub_explicit(&left, 1, DONE);
        results[job] += job + 1;
#else
        results[job] += job + 1;
        atomic_fetch_sub_explicit(&left, 1, DONE);
#endif
    }
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    while (atomic_load_explicit(&left, memory_order_acquire) > 0)
        ;
    assert(results[0] == 1 && results[1] == 2);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
