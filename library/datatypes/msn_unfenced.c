// msn without fences: the non-blocking queue of Michael and Scott as published. See msn.c.
//
// Failures (CheckFence, section 4.3): a node is linked before its fields are stored; the tail moves to a node before that node is
// linked; the fields of a node are loaded before the pointer to it; and the loads whose order makes head, tail and next
// consistent are performed in another order. The first two show from pso on, the others under models that reorder loads.
//
//@ tests: msn.tests
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
    node_t *tail, *next;
    node_t *node = malloc(sizeof(node_t));
    node->value = value;
    node->next = 0;
    while (true) {
        tail = q->tail;
        next = tail->next;
        if (tail == q->tail) {
            if (next == 0) {
                if (cas(&tail->next, next, node))
                    break;
            } else {
                cas(&q->tail, tail, next);
            }
        }
    }
    cas(&q->tail, tail, node);
}

bool dequeue(queue_t *q, value_t *value)
{
    node_t *head, *tail, *next;
    value_t taken;
    while (true) {
        head = q->head;
        tail = q->tail;
        next = head->next;
        if (head == q->head) {
            if (head == tail) {
                if (next == 0)
                    return false;
                cas(&q->tail, tail, next);
            } else {
                taken = next->value;
                if (cas(&q->head, head, next)) {
                    *value = taken;
                    return true;
                }
            }
        }
    }
}
