// msn_fig9: the non-blocking queue of Michael and Scott as CheckFence prints it in Fig. 9, with its fences.
//
// Lines 1 to 74 of the figure are below, between the two rules; what they leave open stands before and after them.
// A dequeue stores the value before it knows whether the cas will succeed. If it then finds the queue empty it returns false and leaves
// what it stored behind, so `*pvalue` counts only if the result is true: `out if found` in the tests file.
// Nodes are not used again, so `delete_node` does nothing (as in msn.c).
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

#include <stdbool.h>
#include <stdlib.h>

typedef int value_t;

// --------------------------------------------------------------------------------------------------------------------
typedef struct node {
    struct node *next;
    value_t value;
} node_t;
typedef struct queue {
    node_t *head;
    node_t *tail;
} queue_t;

extern void assert(bool expr);
extern void fence(char *type);
extern int cas(void *loc,
             unsigned old, unsigned new);
extern node_t *new_node();
extern void delete_node(node_t *node);

void init_queue(queue_t *queue)
{
    node_t *node = new_node();
    node->next = 0;
    queue->head = queue->tail = node;
}
void enqueue(queue_t *queue, value_t value)
{
    node_t *node, *tail, *next;
    node = new_node();
    node->value = value;
    node->next = 0;
    fence("store-store");
    while (true) {
        tail = queue->tail;
        fence("load-load");
        next = tail->next;
        fence("load-load");
        if (tail == queue->tail)
            if (next == 0) {
                if (cas(&tail->next,
                    (unsigned) next, (unsigned) node))
                    break;
            } else
                cas(&queue->tail,
                   (unsigned) tail, (unsigned) next);
    }
    fence("store-store");
    cas(&queue->tail,
       (unsigned) tail, (unsigned) node);
}
bool dequeue(queue_t *queue, value_t *pvalue)
{
    node_t *head, *tail, *next;
    while (true) {
        head = queue->head;
        fence("load-load");
        tail = queue->tail;
        fence("load-load");
        next = head->next;
        fence("load-load");
        if (head == queue->head) {
            if (head == tail) {
                if (next == 0)
                    return false;
                cas(&queue->tail,
                   (unsigned) tail, (unsigned) next);
            } else {
                *pvalue = next->value;
                if (cas(&queue->head,
                    (unsigned) head, (unsigned) next))
                    break;
            }
        }
    }
    delete_node(head);
    return true;
}
// --------------------------------------------------------------------------------------------------------------------

queue_t queue;

node_t *new_node()
{
    return malloc(sizeof(node_t));
}

void delete_node(node_t *node)
{
}
