// double_checked: double-checked locking in C11.
// Schmidt and Harrison, "Double-checked locking" (PLoP 1996); that it is broken without orders on the pointer was written
// down by Bacon and many others in "The double-checked locking is broken declaration" (2000).
//
// PLAIN: as published: an ordinary pointer, looked at without a lock.
// RELAXED: an atomic pointer without orders: no race on the pointer, but one on what it points to.
// CHECK_ONCE: the pointer is not looked at again under the lock: two objects are made.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 PLAIN: violated
//@ rc11 RELAXED: violated
//@ sc CHECK_ONCE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    int value;
} thing_t;

#ifdef PLAIN
static thing_t *thing;
#define LOOK() thing
#define LOOK_AGAIN() thing
#define SHOW(new) (thing = (new))
#else
#ifdef RELAXED
#define ACQUIRE memory_order_relaxed
#define RELEASE memory_order_relaxed
#else
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#endif
static _Atomic(thing_t *) thing;
#define LOOK() atomic_load_explicit(&thing, ACQUIRE)
#define LOOK_AGAIN() atomic_load_explicit(&thing, memory_order_relaxed)
#define SHOW(new) atomic_store_explicit(&thing, new, RELEASE)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int made; // under the mutex

static thing_t *get(void)
{
    thing_t *found = LOOK();
    if (found == NULL) {
        pthread_mutex_lock(&mutex);
#ifndef CHECK_ONCE
        found = LOOK_AGAIN();
#endif
        if (found == NULL) {
            found = malloc(sizeof *found);
            found->value = 42;
            made++;
            SHOW(found);
        }
        pthread_mutex_unlock(&mutex);
    }
    return found;
}

static void *thread(void *unused)
{
    (void)unused;
    assert(get()->value == 42);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(made == 1);
    return 0;
}
