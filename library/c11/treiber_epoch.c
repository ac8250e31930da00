// treiber_epoch: Treiber's stack whose nodes are freed when nobody can still be reading, by epochs, in C11.
// Fraser, "Practical lock-freedom" (University of Cambridge TR 579, 2004), cut down to what one reclamation needs.
// A thread that reads the stack is active from before until behind. A node that was taken off is freed once every thread has
// been seen outside of the stack since then.
//
// NO_FENCE: who becomes active does not make that known before it looks at the stack.
// NO_WAIT: nodes are freed without looking whether others are active.
// RELAXED_LEAVE: who leaves stores that with a relaxed store; what it read may be freed before.
//
//@ sc: verified
//@ sc NO_WAIT: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED_LEAVE
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

typedef struct node {
    struct node *next;
    int value;
} node_t;

static _Atomic(node_t *) top;
static atomic_int active;

static void push(int value)
{
    node_t *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release, memory_order_relaxed))
        ;
}

static void *reader(void *unused)
{
    (void)unused;
    int sum = 0;
    atomic_store_explicit(&active, 1, memory_order_relaxed);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (node_t *node = atomic_load_explicit(&top, memory_order_acquire); node != NULL; node = node->next)
        sum += node->value;
    atomic_store_explicit(&active, 0, LEAVE);
    assert(sum == 1 || sum == 3);
    return NULL;
}

static void *remover(void *unused)
{
    (void)unused;
    node_t *first = atomic_load_explicit(&top, memory_order_acquire);
    while (!atomic_compare_exchange_weak_explicit(&top, &first, first->next, memory_order_acquire, memory_order_acquire))
        ;
#ifndef NO_WAIT
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&active, memory_order_acquire))
        ;
#endif
    free(first);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    push(1);
    push(2);
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, remover, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
