// two_lock_queue: the two-lock queue of Michael and Scott in C11; nodes are not freed.
// "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
// `msqueue.tests` asks whether every observation is that of a serial execution.
//
// One lock protects the head, another one the tail, so that an enqueue and a dequeue run side by side. They meet in the `next` field of the first node when the
// queue is empty, which is why that one is atomic.
//
// RELAXED_LINK: a node is linked by a relaxed store: who follows the link need not see the value.
// RELAXED_FOLLOW: the link is followed by a relaxed load.
// RELAXED_LEAVE: a lock is given back by a relaxed store: the next one may see an old head or tail.
// RELAXED_TAKE: a lock is taken by a relaxed compare-and-swap.
// HEAD_IS_OPEN: a dequeue takes no lock: two of them return the same value.
// VALUE_LATE: the value is written into a node that is linked already.
//
//@ tests: msqueue.tests
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_LINK: violated
//@ rc11 RELAXED_FOLLOW: violated
//@ rc11 RELAXED_LEAVE: violated
//@ rc11 RELAXED_TAKE: violated
//@ sc HEAD_IS_OPEN: violated
//@ sc VALUE_LATE: violated

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif
#ifdef RELAXED_FOLLOW
#define FOLLOW memory_order_relaxed
#else
#define FOLLOW memory_order_acquire
#endif
#ifdef RELAXED_TAKE
#define TAKE memory_order_relaxed
#else
#define TAKE memory_order_acquire
#endif
#ifdef RELAXED_LEAVE
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

#define EMPTY (-1)

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node_t;

typedef struct queue {
    node_t *head, *tail;
    atomic_bool head_held, tail_held;
} queue_t;

queue_t queue;

static void take(atomic_bool *held)
{
    for (;;) {
        bool is_held = false;
        if (atomic_compare_exchange_strong_explicit(held, &is_held, true, TAKE, memory_order_relaxed))
            return;
    }
}

static void leave(atomic_bool *held)
{
    atomic_store_explicit(held, false, LEAVE);
}

void init_queue(queue_t *q)
{
    node_t *stub = malloc(sizeof *stub);
    atomic_init(&stub->next, NULL);
    q->head = stub;
    q->tail = stub;
    atomic_init(&q->head_held, false);
    atomic_init(&q->tail_held, false);
}

void enqueue(queue_t *q, int value)
{
    node_t *node = malloc(sizeof *node);
#ifndef VALUE_LATE
    node->value = value;
#endif
    atomic_init(&node->next, NULL);
    take(&q->tail_held);
    atomic_store_explicit(&q->tail->next, node, LINK);
    q->tail = node;
#ifdef VALUE_LATE
    node->value = value;
#endif
    leave(&q->tail_held);
}

int dequeue(queue_t *q)
{
#ifndef HEAD_IS_OPEN
    take(&q->head_held);
#endif
    int value = EMPTY;
    node_t *next = atomic_load_explicit(&q->head->next, FOLLOW);
    if (next != NULL) {
        value = next->value;
        q->head = next;
    }
#ifndef HEAD_IS_OPEN
    leave(&q->head_held);
#endif
    return value;
}
