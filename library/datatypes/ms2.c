// ms2: the two-lock queue of Michael and Scott, with the fences that `relaxed` needs.
// Published in "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
//
// A linked list that starts with a dummy node. One lock protects the head, another one the tail, so that an enqueue and a
// dequeue run side by side. They meet in the `next` field of the dummy when the queue is empty: that race is why the locks do
// not make fences superfluous, although lock and unlock contain those of CheckFence, Fig. 7.
//
// Nothing is changed but names.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

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
    node_t *node = malloc(sizeof(node_t));
    node->value = value;
    node->next = 0;
    lock(&q->tail_lock);
    fence("store-store"); // whoever sees the node in the list sees its fields
    q->tail->next = node;
    q->tail = node;
    unlock(&q->tail_lock);
}

bool dequeue(queue_t *q, value_t *value)
{
    node_t *dummy, *next;
    lock(&q->head_lock);
    dummy = q->head;
    next = dummy->next;
    if (next == 0) {
        unlock(&q->head_lock);
        return false;
    }
    fence("load-load"); // the node's field after the pointer to the node
    *value = next->value;
    q->head = next;
    unlock(&q->head_lock);
    free(dummy);
    return true;
}
