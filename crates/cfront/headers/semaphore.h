// POSIX semaphores. The value is one word; -1 once it is destroyed.
#ifndef CYRANO_SEMAPHORE_H
#define CYRANO_SEMAPHORE_H
#include <stddef.h>
#include <errno.h>
#include <time.h>

typedef struct { int value; } sem_t;

int __cyrano_acquire();
int __cyrano_load();
void __cyrano_release();
void __cyrano_store();
void __cyrano_assume(_Bool holds);
_Bool __cyrano_either(void);
void __cyrano_must(_Bool holds, const char *why);

static inline int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    semaphore->value = (int)value;
    return 0;
}

static inline int sem_destroy(sem_t *semaphore)
{
    __cyrano_store(&semaphore->value, -1);
    return 0;
}

static inline int sem_wait(sem_t *semaphore)
{
    __cyrano_atomic: {
        int value = __cyrano_acquire(&semaphore->value);
        __cyrano_assume(value != 0);
        __cyrano_must(value >= 0, "a semaphore is used after it was destroyed");
        __cyrano_store(&semaphore->value, value - 1);
    }
    return 0;
}

static inline int sem_trywait(sem_t *semaphore)
{
    int result = -1;
    errno = EAGAIN;
    __cyrano_atomic: {
        int value = __cyrano_acquire(&semaphore->value);
        __cyrano_must(value >= 0, "a semaphore is used after it was destroyed");
        if (value > 0) {
            __cyrano_store(&semaphore->value, value - 1);
            result = 0;
        }
    }
    return result;
}

// Time is not modelled: it may be up whenever the value is 0, or never.
static inline int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    if (__cyrano_either()) {
        int result = sem_trywait(semaphore);
        errno = ETIMEDOUT;
        return result;
    }
    return sem_wait(semaphore);
}

static inline int sem_post(sem_t *semaphore)
{
    __cyrano_atomic: {
        int value = __cyrano_load(&semaphore->value);
        __cyrano_must(value >= 0, "a semaphore is used after it was destroyed");
        __cyrano_release(&semaphore->value, value + 1);
    }
    return 0;
}

static inline int sem_getvalue(sem_t *semaphore, int *value)
{
    *value = __cyrano_load(&semaphore->value);
    return 0;
}
#endif
