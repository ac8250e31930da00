// C11's threads, by POSIX's.
#ifndef CYRANO_THREADS_H
#define CYRANO_THREADS_H
#include <pthread.h>

typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef pthread_key_t tss_t;
typedef int (*thrd_start_t)(void *);
typedef void (*tss_dtor_t)(void *);

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
#define thread_local _Thread_local
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
#define TSS_DTOR_ITERATIONS PTHREAD_DESTRUCTOR_ITERATIONS

int thrd_create();
int thrd_join();
thrd_t thrd_current(void);
void thrd_exit(int result);
void thrd_yield();
int thrd_sleep();

static inline int thrd_equal(thrd_t one, thrd_t other) { return one == other; }
static inline int thrd_detach(thrd_t thread) { return thrd_success; }

// Kinds other than recursive ones do not differ.
static inline int mtx_init(mtx_t *mutex, int kind)
{
    pthread_mutex_init(mutex, 0);
    if (__CYRANO_KINDS)
        mutex->kind = kind & 1;
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

static inline int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
    if (pthread_mutex_timedlock(mutex, until) == 0)
        return thrd_success;
    return thrd_timedout;
}

static inline int cnd_init(cnd_t *cond) { return pthread_cond_init(cond, 0); }
static inline void cnd_destroy(cnd_t *cond) { pthread_cond_destroy(cond); }
static inline int cnd_wait(cnd_t *cond, mtx_t *mutex) { return pthread_cond_wait(cond, mutex); }
static inline int cnd_signal(cnd_t *cond) { return pthread_cond_signal(cond); }
static inline int cnd_broadcast(cnd_t *cond) { return pthread_cond_broadcast(cond); }

static inline int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
    if (pthread_cond_timedwait(cond, mutex, until) == 0)
        return thrd_success;
    return thrd_timedout;
}

static inline void call_once(once_flag *flag, void (*function)(void)) { pthread_once(flag, function); }

static inline int tss_create(tss_t *key, tss_dtor_t destructor)
{
    if (pthread_key_create(key, destructor) == 0)
        return thrd_success;
    return thrd_error;
}

static inline void tss_delete(tss_t key) { pthread_key_delete(key); }
static inline void *tss_get(tss_t key) { return pthread_getspecific(key); }
static inline int tss_set(tss_t key, void *value) { return pthread_setspecific(key, value); }
#endif
