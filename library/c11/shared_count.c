// shared_count: counting references, as `std::shared_ptr` and Rust's `Arc` do, in C11.
// A reference is given on with a relaxed increment, for who has one can rely on the object; it is given back with a release
// decrement, and who gives back
// the last one acquires what all others did before it frees the object.
//
// RELAXED_BACK: the decrement is relaxed: an access of another owner may come after the object was freed.
// NO_ACQUIRE: the last one does not acquire.
// LOOK_THEN_DECREMENT: the counter is read and then decremented: two owners see that it is 2, and nobody frees; with a leak
// check this shows, here as an assertion.
//
//@ sc: verified
//@ tso: verified
//@ sc LOOK_THEN_DECREMENT: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED_BACK
#define BACK memory_order_relaxed
#else
#define BACK memory_order_release
#endif

typedef struct {
    atomic_int owners;
    int value;
} object_t;

static atomic_int freed;

static void retain(object_t *object)
{
    atomic_fetch_add_explicit(&object->owners, 1, memory_order_relaxed);
}

static void give_back(object_t *object)
{
#ifdef LOOK_THEN_DECREMENT
    int owners = atomic_load(&object->owners);
    atomic_fetch_sub(&object->owners, 1);
    if (owners != 1)
        return;
#else
    if (atomic_fetch_sub_explicit(&object->owners, 1, BACK) != 1)
        return;
#endif
#ifndef NO_ACQUIRE
    atomic_thread_fence(memory_order_acquire);
#endif
    object->value = 0; // as a destructor does
    atomic_fetch_add_explicit(&freed, 1, memory_order_relaxed);
    free(object);
}

static void *thread(void *arg)
{
    object_t *object = arg;
    assert(object->value == 42);
    give_back(object);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    object_t *object = malloc(sizeof *object);
    atomic_init(&object->owners, 1);
    object->value = 42;
    for (int i = 0; i < 2; i++) {
        retain(object);
        pthread_create(&threads[i], NULL, thread, object);
    }
    give_back(object);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&freed) == 1);
    return 0;
}
