// C11's threads, by POSIX's.
#ifndef CYRANO_THREADS_H
#define CYRANO_THREADS_H
#include <pthread.h>

typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef int (*thrd_start_t)(void *);

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
#define thread_local _Thread_local

int thrd_create();
int thrd_join();
thrd_t thrd_current(void);
void thrd_exit(int result);
void thrd_yield();

static inline int thrd_equal(thrd_t one, thrd_t other) { return one == other; }
static inline int thrd_detach(thrd_t thread) { return thrd_success; }

static inline int mtx_init(mtx_t *mutex, int kind)
{
    __cyrano_must(kind == mtx_plain || kind == mtx_timed, "mtx_recursive is not supported: pthread_mutexattr_settype is");
    mutex->owner = 0;
    return thrd_success;
}

static inline void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex); }
static inline int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock(mutex); }
static inline int mtx_unlock(mtx_t *mutex) { return pthread_mutex_unlock(mutex); }

static inline int mtx_trylock(mtx_t *mutex)
{
    if (pthread_mutex_trylock(mutex) == 0)
        return thrd_success;
    return thrd_busy;
}
#endif
