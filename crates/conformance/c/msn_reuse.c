// msn_reuse: the non-blocking queue of Michael and Scott with counters in its pointers, and with nodes that are used again.
// Published in "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms" (PODC 1996).
//
// `malloc` never gives the same object twice, so a queue that wants its nodes back keeps them itself: here one spare node, which is taken and
// given back with one access each. Only with reuse do the re-checks of `q->head` and `q->tail` matter.
// There are no fences: this version is for sc.

#include <cyrano.h>
#include <stdlib.h>

typedef int value_t;
struct node;
typedef cyrano_word struct { struct node *ptr; unsigned count : 4; } tagged_t;
typedef struct node { tagged_t next; value_t value; } node_t;
typedef struct queue { tagged_t head; tagged_t tail; } queue_t;
queue_t queue;
node_t *spare; // a node that nobody uses, or null

static node_t *new_node(void)
{
    node_t *node = exchange(&spare, NULL);
    if (node == NULL) {
        node = malloc(sizeof(node_t));
        node->next = (tagged_t){ NULL, 0 };
    }
    return node;
}

void init_queue(queue_t *q)
{
    node_t *dummy = malloc(sizeof(node_t));
    dummy->next = (tagged_t){ NULL, 0 };
    q->head = q->tail = (tagged_t){ dummy, 0 };
}

void enqueue(queue_t *q, value_t value)
{
    tagged_t tail, next;
    node_t *node = new_node();
    node->value = value;
    next = node->next;
    node->next = (tagged_t){ NULL, next.count + 1 };
    while (true) {
        tail = q->tail;
        next = tail.ptr->next;
        if (tail == q->tail) {
            if (next.ptr == NULL) {
                if (cas(&tail.ptr->next, next, ((tagged_t){ node, next.count + 1 })))
                    break;
            } else {
                cas(&q->tail, tail, ((tagged_t){ next.ptr, tail.count + 1 }));
            }
        }
    }
    cas(&q->tail, tail, ((tagged_t){ node, tail.count + 1 }));
}

bool dequeue(queue_t *q, value_t *value)
{
    tagged_t head, tail, next;
    value_t taken;
    while (true) {
        head = q->head;
        tail = q->tail;
        next = head.ptr->next;
        if (head == q->head) {
            if (head.ptr == tail.ptr) {
                if (next.ptr == NULL)
                    return false;
                cas(&q->tail, tail, ((tagged_t){ next.ptr, tail.count + 1 }));
            } else {
                taken = next.ptr->value;
                if (cas(&q->head, head, ((tagged_t){ next.ptr, head.count + 1 }))) {
                    *value = taken;
                    spare = head.ptr;
                    return true;
                }
            }
        }
    }
}
