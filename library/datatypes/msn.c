// msn: the non-blocking queue of Michael and Scott, with the fences that `relaxed` needs.
// Published in "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
//
// The queue is a linked list that starts with a dummy node: `head` points to the dummy, `tail` to the last node or the one
// before it. A node is linked with one cas; then anybody may move `tail` forward with another one.
//
// Departures from the published code: pointers carry no counters, which are there to notice that a node was freed and used
// again. Nodes are not used again here, and therefore not freed either (CheckFence simplifies the queue in the same way).
// A dequeue hands out the value when it has taken it, so that a call that fails in the end leaves nothing behind.
//
// The fences are those of CheckFence, Fig. 9; the comment beside each says what it is for.
// On tso they come for free, on pso only the store-store ones do something.
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
    fence("store-store"); // whoever sees the node in the list sees its fields
    while (true) {
        tail = q->tail;
        fence("load-load"); // the node's field after the pointer to the node
        next = tail->next;
        fence("load-load"); // q->tail had the same value before and after next was loaded
        if (tail == q->tail) {
            if (next == 0) {
                if (cas(&tail->next, next, node))
                    break;
            } else {
                cas(&q->tail, tail, next);
            }
        }
    }
    fence("store-store"); // the tail does not move to a node that is not linked yet
    cas(&q->tail, tail, node);
}

bool dequeue(queue_t *q, value_t *value)
{
    node_t *head, *tail, *next;
    value_t taken;
    while (true) {
        head = q->head;
        fence("load-load"); // head, tail and next are loaded in this order, so that tail is not behind head
        tail = q->tail;
        fence("load-load"); // if next is 0, the queue was empty when it was loaded
        next = head->next;
        fence("load-load"); // q->head had the same value before and after; and next before next->value
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
