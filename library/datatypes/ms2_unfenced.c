// ms2 without fences but those in lock and unlock: the two-lock queue of Michael and Scott as published. See ms2.c.
//
// Failures (CheckFence, section 4.3): a node is linked before its fields are stored, since taking the tail lock does not wait
// for earlier stores; and the fields of a node are loaded before the pointer to it.
//
//@ tests: ms2.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

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
    *value = next->value;
    q->head = next;
    unlock(&q->head_lock);
    free(dummy);
    return true;
}
