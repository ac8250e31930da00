// seqlock: a sequence lock in C11, in the variants of Boehm.
// Published in "Can seqlocks get along with programming language memory models?" (MSPC 2012).
// Readers look at a counter, read the data, and look at the counter again; the data is atomic, for it is read while it is
// written.
// By default the second look is a relaxed load behind an acquire fence (Boehm's Fig. 4).
//
// READ_BY_RMW: the second look is a read-modify-write that adds nothing, with release order (Fig. 6), so that no fence is
// needed.
// NO_FENCE: the second look is a relaxed load, or an acquire load, which does not keep the loads before it: data of two
// versions.
// NO_WRITER_FENCE: the writer's data may be seen before the counter is odd.
// PLAIN_DATA: the data is not atomic: a race, although what is read is thrown away.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 READ_BY_RMW: verified
//@ rc11 READ_BY_RMW STORED: violated
//@ rc11 NO_FENCE: violated
//@ rc11 NO_WRITER_FENCE: violated
//@ rc11 PLAIN_DATA: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_uint version;
#ifdef PLAIN_DATA
static int first, second;
#define READ(word) (word)
#define WRITE(word, value) ((word) = (value))
#else
static atomic_int first, second;
#define READ(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define WRITE(word, value) atomic_store_explicit(&(word), value, memory_order_relaxed)
#endif

static void write_both(int value)
{
#if defined READ_BY_RMW && !defined STORED
    unsigned before = atomic_fetch_add_explicit(&version, 1, memory_order_acquire);
#else
    unsigned before = atomic_load_explicit(&version, memory_order_relaxed);
    atomic_store_explicit(&version, before + 1, memory_order_relaxed);
#endif
#ifndef NO_WRITER_FENCE
    atomic_thread_fence(memory_order_release);
#endif
    WRITE(first, value);
    WRITE(second, value);
    atomic_store_explicit(&version, before + 2, memory_order_release);
}

static bool read_both(int *one, int *two)
{
    unsigned before = atomic_load_explicit(&version, memory_order_acquire);
    *one = READ(first);
    *two = READ(second);
#if defined READ_BY_RMW
    unsigned after = atomic_fetch_add_explicit(&version, 0, memory_order_release);
#elif defined NO_FENCE
    unsigned after = atomic_load_explicit(&version, memory_order_acquire);
#else
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&version, memory_order_relaxed);
#endif
    return before % 2 == 0 && before == after;
}

static void *writer(void *unused)
{
    (void)unused;
    write_both(1);
    write_both(2);
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    int one, two;
    if (read_both(&one, &two))
        assert(one == two);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
