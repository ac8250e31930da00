// msqueue: the lock-free queue of Michael and Scott in C11; nodes are not freed.
// "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
// `msqueue.tests` asks whether every observation is that of a serial execution.
//
// RELAXED_LINK: a node is linked by a relaxed compare-and-swap: a dequeue may return a value that is not there yet.
// RELAXED_NEXT: the link is followed by a relaxed load.
// HEAD_IS_STORED: a dequeue stores `head`: two of them return the same value.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_LINK: violated
//@ rc11 RELAXED_NEXT: violated
//@ sc HEAD_IS_STORED: violated

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif
#ifdef RELAXED_NEXT
#define FOLLOW memory_order_relaxed
#else
#define FOLLOW memory_order_acquire
#endif

#define EMPTY (-1)

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node_t;

typedef struct queue {
    _Atomic(node_t *) head, tail;
} queue_t;

queue_t queue;

void init_queue(queue_t *q)
{
    node_t *stub = malloc(sizeof *stub);
    atomic_init(&stub->next, NULL);
    atomic_init(&q->head, stub);
    atomic_init(&q->tail, stub);
}

void enqueue(queue_t *q, int value)
{
    node_t *node = malloc(sizeof *node), *tail;
    node->value = value;
    atomic_init(&node->next, NULL);
    for (;;) {
        tail = atomic_load_explicit(&q->tail, memory_order_acquire);
        node_t *next = atomic_load_explicit(&tail->next, memory_order_acquire);
        if (next != NULL) {
            atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_release, memory_order_relaxed);
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&tail->next, &next, node, LINK, memory_order_relaxed))
            break;
    }
    atomic_compare_exchange_strong_explicit(&q->tail, &tail, node, memory_order_release, memory_order_relaxed);
}

int dequeue(queue_t *q)
{
    for (;;) {
        node_t *head = atomic_load_explicit(&q->head, memory_order_acquire);
        node_t *tail = atomic_load_explicit(&q->tail, memory_order_acquire);
        node_t *next = atomic_load_explicit(&head->next, FOLLOW);
        if (next == NULL)
            return EMPTY;
        if (head == tail)
            atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_release, memory_order_relaxed);
        int value = next->value;
#ifdef HEAD_IS_STORED
        atomic_store_explicit(&q->head, next, memory_order_release);
        return value;
#else
        if (atomic_compare_exchange_strong_explicit(&q->head, &head, next, memory_order_release, memory_order_relaxed))
            return value;
#endif
    }
}
