// rwlock: a reader-writer lock in one word, in C11.
// The word counts readers; a writer takes all of it at once, as Linux's old `rwlock_t` with its bias did.
//
// RELAXED_READER_LEAVES: readers leave with a relaxed decrement: the next writer overwrites what is still being read.
// RELAXED_READER_ENTERS: readers enter with a relaxed compare-and-swap.
// WRITER_OVERLOOKS_READERS: a writer waits for other writers only.
//
//@ sc: verified
//@ tso: verified
//@ rc11 RELAXED_READER_ENTERS: violated
//@ sc WRITER_OVERLOOKS_READERS: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define WRITER 0x100

#ifdef RELAXED_READER_LEAVES
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif
#ifdef RELAXED_READER_ENTERS
#define ENTER memory_order_relaxed
#else
#define ENTER memory_order_acquire
#endif

static atomic_int lock;
static int first, second;

static void read_lock(void)
{
    int seen = atomic_load_explicit(&lock, memory_order_relaxed);
    for (;;) {
        while (seen >= WRITER)
            seen = atomic_load_explicit(&lock, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&lock, &seen, seen + 1, ENTER, memory_order_relaxed))
            return;
    }
}

static void read_unlock(void)
{
    atomic_fetch_sub_explicit(&lock, 1, LEAVE);
}

static void write_lock(void)
{
    for (;;) {
#ifdef WRITER_OVERLOOKS_READERS
        int free = atomic_load_explicit(&lock, memory_order_relaxed);
        if (free >= WRITER)
            continue;
        if (atomic_compare_exchange_weak_explicit(&lock, &free, free + WRITER, memory_order_acquire, memory_order_relaxed))
            return;
#else
        int free = 0;
        if (atomic_compare_exchange_weak_explicit(&lock, &free, WRITER, memory_order_acquire, memory_order_relaxed))
            return;
#endif
    }
}

static void write_unlock(void)
{
    atomic_fetch_sub_explicit(&lock, WRITER, memory_order_release);
}

static void *reader(void *unused)
{
    (void)unused;
    read_lock();
    assert(first == second);
    read_unlock();
    return NULL;
}

static void *writer(void *unused)
{
    (void)unused;
    write_lock();
    first++;
    second++;
    write_unlock();
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(first == 1 && second == 1);
    return 0;
}
