// bounded_buffer: producers and consumers with a mutex and two condition variables, as every textbook has it.
// Hoare, "Monitors: an operating system structuring concept" (CACM 17(10), 1974), for conditions that hand over at once;
// those of POSIX do not, and may wake up without a reason.
//
// IF_NOT_WHILE: a thread that was woken does not look again (right with Hoare's conditions, wrong with these).
// ONE_CONDITION: one condition for both, signalled to one thread: it may wake the wrong kind, and all sleep.
// SIGNAL_MISSING: a consumer does not tell that there is room.
//
//@ sc: verified
//@ rc11: verified
//@ sc IF_NOT_WHILE: violated
//@ sc ONE_CONDITION: violated
//@ sc SIGNAL_MISSING: violated

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define SIZE 1
#ifdef ONE_CONDITION
#define PRODUCERS 2
#else
#define PRODUCERS 1
#endif
#define CONSUMERS 2
#define ITEMS 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
#ifdef ONE_CONDITION
#define not_empty not_full
#else
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
#endif
static int buffer[SIZE], count, sum;

#ifdef IF_NOT_WHILE
#define UNTIL if
#else
#define UNTIL while
#endif

static void put(int value)
{
    pthread_mutex_lock(&mutex);
    UNTIL (count == SIZE)
        pthread_cond_wait(&not_full, &mutex);
    assert(count < SIZE);
    buffer[count++] = value;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
}

static int get(void)
{
    pthread_mutex_lock(&mutex);
    UNTIL (count == 0)
        pthread_cond_wait(&not_empty, &mutex);
    assert(count > 0);
    int value = buffer[--count];
    sum += value;
#ifndef SIGNAL_MISSING
    pthread_cond_signal(&not_full);
#endif
    pthread_mutex_unlock(&mutex);
    return value;
}

static void *producer(void *unused)
{
    (void)unused;
    for (int item = 1; item <= ITEMS / PRODUCERS; item++)
        put(item);
    return NULL;
}

static void *consumer(void *unused)
{
    (void)unused;
    for (int item = 1; item <= ITEMS / CONSUMERS; item++)
        get();
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consumer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    assert(count == 0);
    return 0;
}
