// publish: a pointer to a new version is published, readers follow it; the idea of read-copy-update without its reclamation.
// McKenney and Slingwine, "Read-copy update: using execution history to solve concurrency problems" (PDCS 1998).
// Readers may not free nor be waited for here; see `treiber_epoch.c` and `treiber_hazard.c` for reclamation.
//
// RELAXED_PUBLISH: the pointer is stored with a relaxed store: a reader can follow it to fields that are not there yet.
// RELAXED_FOLLOW: it is loaded with a relaxed load. C11 does not keep what depends on it in order; every machine but Alpha
// does.
// FREE_AT_ONCE: the old version is freed as soon as the new one is there, while somebody reads it.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_PUBLISH: violated
//@ rc11 RELAXED_FOLLOW: violated
//@ sc FREE_AT_ONCE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED_PUBLISH
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif
#ifdef RELAXED_FOLLOW
#define FOLLOW memory_order_relaxed
#else
#define FOLLOW memory_order_acquire
#endif

typedef struct {
    int width, height;
} extent_t;

static extent_t first = { 1, 1 };
static _Atomic(extent_t *) current = &first;

static void *writer(void *unused)
{
    (void)unused;
    extent_t *next = malloc(sizeof *next);
    next->width = 2;
    next->height = 2;
    extent_t *old = atomic_load_explicit(&current, memory_order_relaxed);
    atomic_store_explicit(&current, next, PUBLISH);
#ifdef FREE_AT_ONCE
    if (old != &first)
        free(old);
#endif
    (void)old;
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    extent_t *size = atomic_load_explicit(&current, FOLLOW);
    assert(size->width == size->height);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
#ifdef FREE_AT_ONCE
    writer(NULL);
#endif
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
