// POSIX threads. What creates, joins and ends threads is known to the checker; the rest is C.
// A section that waits has not happened, so that what must hold in it is asked only where it goes on.
// A mutex is the name of the thread that holds it, 0 if nobody does, 1 once it is destroyed.
#ifndef CYRANO_PTHREAD_H
#define CYRANO_PTHREAD_H
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

typedef unsigned long pthread_t;
typedef struct { int detached; } pthread_attr_t;
typedef struct { int kind; } pthread_mutexattr_t;
typedef struct { int unused; } pthread_condattr_t;
typedef struct { int unused; } pthread_rwlockattr_t;
typedef struct { int unused; } pthread_barrierattr_t;
// Whether an object was initialised by a call; no in all memory that nobody has written.
typedef struct { unsigned initialised : 1; unsigned unused : 31; } __cyrano_made;
typedef struct { unsigned long owner; int kind; int depth; __cyrano_made made; } pthread_mutex_t;
typedef struct { unsigned long owner; } pthread_spinlock_t;

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_INITIALIZER { 0, 0, 0 }
enum { __cyrano_recursive = PTHREAD_MUTEX_RECURSIVE, __cyrano_errorcheck = PTHREAD_MUTEX_ERRORCHECK };
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { 0, __cyrano_recursive, 0 }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { 0, __cyrano_errorcheck, 0 }

// Whether the program has mutexes of several kinds.
#define __CYRANO_KINDS (__cyrano_mentions("pthread_mutexattr_settype") || __cyrano_mentions("mtx_recursive") \
    || __cyrano_mentions("__cyrano_recursive") || __cyrano_mentions("__cyrano_errorcheck"))

int pthread_create();
int pthread_join();
pthread_t pthread_self(void);
void pthread_exit(void *result);

unsigned long __cyrano_acquire();
unsigned long __cyrano_load();
void __cyrano_release();
void __cyrano_store();
void __cyrano_assume(_Bool holds);
_Bool __cyrano_either(void);
void __cyrano_must(_Bool holds, const char *why);
int __cyrano_mentions(const char *function);
int __cyrano_number(void);
int __cyrano_any_thread(void);

static inline int pthread_equal(pthread_t one, pthread_t other) { return one == other; }
static inline int pthread_detach(pthread_t thread) { return 0; }
static inline int pthread_attr_init(pthread_attr_t *attributes) { return 0; }
static inline int pthread_attr_destroy(pthread_attr_t *attributes) { return 0; }
static inline int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) { return 0; }
static inline int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) { return 0; }

static inline int pthread_mutexattr_init(pthread_mutexattr_t *attributes)
{
    attributes->kind = PTHREAD_MUTEX_DEFAULT;
    return 0;
}

static inline int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) { return 0; }

static inline int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind)
{
    attributes->kind = kind;
    return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    if (mutex->made.initialised)
        __cyrano_must(__cyrano_load(&mutex->owner) <= 1, "a mutex is initialised while somebody holds it");
    mutex->made.initialised = 1;
    mutex->owner = 0;
    if (__CYRANO_KINDS) {
        mutex->kind = PTHREAD_MUTEX_DEFAULT;
        if (attributes)
            mutex->kind = attributes->kind;
        mutex->depth = 0;
    }
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    unsigned long owner = __cyrano_load(&mutex->owner);
    __cyrano_must(owner != 1, "a mutex is destroyed twice");
    __cyrano_must(owner == 0, "a mutex is destroyed while somebody holds it");
    __cyrano_store(&mutex->owner, 1);
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (__CYRANO_KINDS) {
        int kind = mutex->kind;
        if (kind != PTHREAD_MUTEX_NORMAL && __cyrano_load(&mutex->owner) == pthread_self()) {
            if (kind == PTHREAD_MUTEX_ERRORCHECK)
                return EDEADLK;
            mutex->depth++;
            return 0;
        }
    }
    __cyrano_atomic: {
        unsigned long owner = __cyrano_acquire(&mutex->owner);
        __cyrano_assume(owner <= 1);
        __cyrano_must(owner != 1, "a mutex is locked after it was destroyed");
        __cyrano_store(&mutex->owner, pthread_self());
    }
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (__CYRANO_KINDS) {
        if (mutex->kind == PTHREAD_MUTEX_RECURSIVE && __cyrano_load(&mutex->owner) == pthread_self()) {
            mutex->depth++;
            return 0;
        }
    }
    int result = EBUSY;
    __cyrano_atomic: {
        unsigned long owner = __cyrano_acquire(&mutex->owner);
        __cyrano_must(owner != 1, "a mutex is locked after it was destroyed");
        if (owner == 0) {
            __cyrano_store(&mutex->owner, pthread_self());
            result = 0;
        }
    }
    return result;
}

// Time is not modelled: it may be up whenever somebody else holds the mutex, or never.
static inline int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    if (__cyrano_either())
        return pthread_mutex_trylock(mutex) == 0 ? 0 : ETIMEDOUT;
    return pthread_mutex_lock(mutex);
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    unsigned long owner = __cyrano_load(&mutex->owner);
    if (__CYRANO_KINDS) {
        int kind = mutex->kind;
        if (kind == PTHREAD_MUTEX_ERRORCHECK && owner != pthread_self())
            return EPERM;
        if (kind == PTHREAD_MUTEX_RECURSIVE && owner == pthread_self() && mutex->depth > 0) {
            mutex->depth--;
            return 0;
        }
    }
    __cyrano_must(owner == pthread_self(), "a mutex is unlocked by a thread that does not hold it");
    __cyrano_release(&mutex->owner, 0);
    return 0;
}

// Which threads wait: a bit for each, cleared by whoever wakes it. With CYRANO_SPURIOUS_WAKEUPS a thread may also wake by itself.
typedef struct { unsigned long waiting; } pthread_cond_t;
#define PTHREAD_COND_INITIALIZER { 0 }

static inline int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    cond->waiting = 0;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *cond)
{
    __cyrano_must(__cyrano_load(&cond->waiting) == 0, "a condition variable is destroyed while somebody waits for it");
    return 0;
}

static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    unsigned long own = 1UL << __cyrano_number();
    _Bool wakes = 0;
    __cyrano_atomic: {
        unsigned long waiting = __cyrano_load(&cond->waiting);
        __cyrano_store(&cond->waiting, waiting | own);
    }
    pthread_mutex_unlock(mutex);
#ifdef CYRANO_SPURIOUS_WAKEUPS
    wakes = __cyrano_either();
    if (wakes) {
        __cyrano_atomic: {
            unsigned long waiting = __cyrano_acquire(&cond->waiting);
            __cyrano_store(&cond->waiting, waiting & ~own);
        }
    }
#endif
    if (!wakes) {
        __cyrano_atomic: {
            unsigned long waiting = __cyrano_acquire(&cond->waiting);
            __cyrano_assume((waiting & own) == 0);
        }
    }
    pthread_mutex_lock(mutex);
    return 0;
}

// Time is not modelled: it may be up at any moment, or never.
static inline int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    if (__cyrano_either()) {
        pthread_mutex_unlock(mutex);
        pthread_mutex_lock(mutex);
        return ETIMEDOUT;
    }
    return pthread_cond_wait(cond, mutex);
}

static inline int pthread_cond_signal(pthread_cond_t *cond)
{
    int chosen = __cyrano_any_thread();
    _Bool there = 1;
    __cyrano_atomic: {
        unsigned long waiting = __cyrano_load(&cond->waiting);
        if (waiting == 0)
            there = chosen == 0;
        else if ((waiting >> chosen & 1) == 0)
            there = 0;
        else
            __cyrano_release(&cond->waiting, waiting & ~(1UL << chosen));
    }
    __cyrano_assume(there);
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *cond)
{
    __cyrano_atomic: {
        unsigned long waiting = __cyrano_load(&cond->waiting);
        if (waiting != 0)
            __cyrano_release(&cond->waiting, 0);
    }
    return 0;
}

// How many read, or -1 if somebody writes; -2 once it is destroyed.
typedef struct { int holders; __cyrano_made made; } pthread_rwlock_t;
#define PTHREAD_RWLOCK_INITIALIZER { 0 }

static inline int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    if (lock->made.initialised) {
        int holders = __cyrano_load(&lock->holders);
        __cyrano_must(holders == 0 || holders == -2, "a read-write lock is initialised while somebody holds it");
    }
    lock->made.initialised = 1;
    lock->holders = 0;
    return 0;
}

static inline int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    __cyrano_must(__cyrano_load(&lock->holders) == 0, "a read-write lock is destroyed twice, or while somebody holds it");
    __cyrano_store(&lock->holders, -2);
    return 0;
}

static inline int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    __cyrano_atomic: {
        int holders = __cyrano_acquire(&lock->holders);
        __cyrano_assume(holders >= 0 || holders == -2);
        __cyrano_must(holders != -2, "a read-write lock is locked after it was destroyed");
        __cyrano_store(&lock->holders, holders + 1);
    }
    return 0;
}

static inline int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    int result = EBUSY;
    __cyrano_atomic: {
        int holders = __cyrano_acquire(&lock->holders);
        __cyrano_must(holders != -2, "a read-write lock is locked after it was destroyed");
        if (holders >= 0) {
            __cyrano_store(&lock->holders, holders + 1);
            result = 0;
        }
    }
    return result;
}

static inline int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    __cyrano_atomic: {
        int holders = __cyrano_acquire(&lock->holders);
        __cyrano_assume(holders == 0 || holders == -2);
        __cyrano_must(holders != -2, "a read-write lock is locked after it was destroyed");
        __cyrano_store(&lock->holders, -1);
    }
    return 0;
}

static inline int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    int result = EBUSY;
    __cyrano_atomic: {
        int holders = __cyrano_acquire(&lock->holders);
        __cyrano_must(holders != -2, "a read-write lock is locked after it was destroyed");
        if (holders == 0) {
            __cyrano_store(&lock->holders, -1);
            result = 0;
        }
    }
    return result;
}

static inline int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (__cyrano_either())
        return pthread_rwlock_tryrdlock(lock) == 0 ? 0 : ETIMEDOUT;
    return pthread_rwlock_rdlock(lock);
}

static inline int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (__cyrano_either())
        return pthread_rwlock_trywrlock(lock) == 0 ? 0 : ETIMEDOUT;
    return pthread_rwlock_wrlock(lock);
}

static inline int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    __cyrano_atomic: {
        int holders = __cyrano_load(&lock->holders);
        __cyrano_must(holders == -1 || holders > 0, "a read-write lock is unlocked that nobody holds");
        __cyrano_release(&lock->holders, holders > 0 ? holders - 1 : 0);
    }
    return 0;
}

// How many have come, and whether the round is an odd one: nobody is two rounds ahead of a thread that waits.
typedef struct { unsigned come; unsigned count; __cyrano_made made; } pthread_barrier_t;
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define __CYRANO_ROUND 1024u

static inline int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
    if (count == 0)
        return EINVAL;
    __cyrano_must(!barrier->made.initialised, "a barrier is initialised that is in use: it is not destroyed");
    barrier->made.initialised = 1;
    barrier->count = count;
    barrier->come = 0;
    return 0;
}

static inline int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    unsigned come = (unsigned)__cyrano_load(&barrier->come);
    __cyrano_must(come % __CYRANO_ROUND == 0, "a barrier is destroyed while somebody waits at it");
    __cyrano_store(&barrier->come, __CYRANO_ROUND - 1);
    barrier->made.initialised = 0;
    return 0;
}

static inline int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    unsigned count = barrier->count;
    unsigned round = 0;
    _Bool last = 0;
    __cyrano_atomic: {
        unsigned come = (unsigned)__cyrano_acquire(&barrier->come);
        __cyrano_must(come % __CYRANO_ROUND < count, "a barrier is used that is not initialised or was destroyed, or by too many");
        round = come & __CYRANO_ROUND;
        last = come % __CYRANO_ROUND + 1 == count;
        __cyrano_release(&barrier->come, last ? round ^ __CYRANO_ROUND : come + 1);
    }
    if (last)
        return PTHREAD_BARRIER_SERIAL_THREAD;
    __cyrano_atomic: {
        unsigned come = (unsigned)__cyrano_acquire(&barrier->come);
        __cyrano_assume((come & __CYRANO_ROUND) != round);
    }
    return 0;
}

typedef struct { int state; } pthread_once_t;
#define PTHREAD_ONCE_INIT { 0 }

static inline int pthread_once(pthread_once_t *once, void (*function)(void))
{
    int state = 0;
    __cyrano_atomic: {
        state = (int)__cyrano_acquire(&once->state);
        __cyrano_assume(state != 1);
        if (state == 0)
            __cyrano_store(&once->state, 1);
    }
    if (state == 0) {
        function();
        __cyrano_release(&once->state, 2);
    }
    return 0;
}

static inline int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    lock->owner = 0;
    return 0;
}

static inline int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    __cyrano_store(&lock->owner, 1);
    return 0;
}

static inline int pthread_spin_lock(pthread_spinlock_t *lock)
{
    __cyrano_atomic: {
        unsigned long owner = __cyrano_acquire(&lock->owner);
        __cyrano_assume(owner <= 1);
        __cyrano_must(owner != 1, "a spin lock is locked after it was destroyed");
        __cyrano_store(&lock->owner, pthread_self());
    }
    return 0;
}

static inline int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    int result = EBUSY;
    __cyrano_atomic: {
        unsigned long owner = __cyrano_acquire(&lock->owner);
        __cyrano_must(owner != 1, "a spin lock is locked after it was destroyed");
        if (owner == 0) {
            __cyrano_store(&lock->owner, pthread_self());
            result = 0;
        }
    }
    return result;
}

static inline int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    unsigned long owner = __cyrano_load(&lock->owner);
    __cyrano_must(owner == pthread_self(), "a spin lock is unlocked by a thread that does not hold it");
    __cyrano_release(&lock->owner, 0);
    return 0;
}

// Thread-specific data. A thread's values are variables of its own; what is to be done with them at its end, `__cyrano_thread_ends` does.
typedef unsigned pthread_key_t;
#define PTHREAD_KEYS_MAX 4
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
static unsigned __cyrano_keys;
static void (*__cyrano_destructors[PTHREAD_KEYS_MAX])(void *);
static _Thread_local void *__cyrano_values[PTHREAD_KEYS_MAX];

static inline int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    unsigned next = 0;
    __cyrano_atomic: {
        next = (unsigned)__cyrano_load(&__cyrano_keys);
        if (next < PTHREAD_KEYS_MAX)
            __cyrano_store(&__cyrano_keys, next + 1);
    }
    if (next >= PTHREAD_KEYS_MAX)
        return EAGAIN;
    if (destructor)
        __cyrano_release(&__cyrano_destructors[next], destructor);
    *key = next;
    return 0;
}

static inline int pthread_key_delete(pthread_key_t key)
{
    __cyrano_must(key < PTHREAD_KEYS_MAX, "there is no such key");
    __cyrano_release(&__cyrano_destructors[key], 0);
    return 0;
}

static inline int pthread_setspecific(pthread_key_t key, const void *value)
{
    __cyrano_must(key < PTHREAD_KEYS_MAX, "there is no such key");
    __cyrano_values[key] = (void *)value;
    return 0;
}

static inline void *pthread_getspecific(pthread_key_t key)
{
    __cyrano_must(key < PTHREAD_KEYS_MAX, "there is no such key");
    return __cyrano_values[key];
}

static inline _Bool __cyrano_destroys(unsigned key)
{
    void *value = __cyrano_values[key];
    if (value == 0)
        return 0;
    void (*destructor)(void *) = __cyrano_acquire(&__cyrano_destructors[key]);
    if (destructor == 0)
        return 0;
    __cyrano_values[key] = 0;
    destructor(value);
    return 1;
}

static inline void __cyrano_thread_ends(void)
{
    for (unsigned round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        _Bool one = __cyrano_destroys(0), two = __cyrano_destroys(1);
        _Bool three = __cyrano_destroys(2), four = __cyrano_destroys(3);
        if (!(one || two || three || four))
            break;
    }
}
#endif
