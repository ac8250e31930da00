// msn: the non-blocking queue of Michael and Scott with commit points, for CheckFence's comparison with the commit-point method (Fig. 12).
//
// An enqueue happens when its node is linked, a dequeue when the head moves. An empty queue is reported where `next` of the first node is
// found to be 0; the mark belongs to the access before it, so the second look at `queue->head`, which nodes that are never used again do not
// need (docs/c.md), is left out.
// The same file is judged by its observations, for which the marks are nothing.
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
    node_t *node, *tail, *next;
    atomic_begin();
    node = malloc(sizeof(node_t));
    node->value = value;
    node->next = 0;
    while (true) {
        tail = q->tail;
        next = tail->next;
        if (next == 0) {
            if (cas(&tail->next, next, node))
                break;
        } else
            cas(&q->tail, tail, next);
    }
    commit_point();
    cas(&q->tail, tail, node);
    atomic_end();
}

bool dequeue(queue_t *q, value_t *value)
{
    node_t *head, *tail, *next;
    atomic_begin();
    while (true) {
        head = q->head;
        tail = q->tail;
        next = head->next;
        if (next == 0) {
            commit_point();
            atomic_end();
            return false;
        }
        if (head == tail)
            cas(&q->tail, tail, next);
        else if (cas(&q->head, head, next))
            break;
    }
    commit_point();
    *value = next->value;
    atomic_end();
    return true;
}
