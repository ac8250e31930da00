// ms2: the two-lock queue of Michael and Scott with commit points, for CheckFence's comparison with the commit-point method (Fig. 12).
//
// An enqueue happens when its node is linked. A dequeue happens when it looks at the first node: under the lock nobody else takes one, and
// an enqueue that comes later changes nothing about a node that is there.
// Nodes are not freed. The same file is judged by its observations, for which the marks are nothing.
//
//@ tests: queue.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated

#include <cyrano.h>
#include <stdlib.h>

typedef int value_t;

typedef struct node {
    struct node *next;
    value_t value;
} node_t;

typedef struct queue {
    node_t *head;
    node_t *tail;
    lock_t head_lock;
    lock_t tail_lock;
} queue_t;

queue_t queue;

void init_queue(queue_t *q)
{
    node_t *dummy = malloc(sizeof(node_t));
    dummy->next = 0;
    q->head = q->tail = dummy;
}

void enqueue(queue_t *q, value_t value)
{
    node_t *node, *tail;
    atomic_begin();
    node = malloc(sizeof(node_t));
    node->value = value;
    node->next = 0;
    lock(&q->tail_lock);
    tail = q->tail;
    tail->next = node;
    commit_point();
    q->tail = node;
    unlock(&q->tail_lock);
    atomic_end();
}

bool dequeue(queue_t *q, value_t *value)
{
    node_t *dummy, *next;
    atomic_begin();
    lock(&q->head_lock);
    dummy = q->head;
    next = dummy->next;
    commit_point();
    if (next != 0) {
        *value = next->value;
        q->head = next;
    }
    unlock(&q->head_lock);
    atomic_end();
    return next != 0;
}
