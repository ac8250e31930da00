// treiber_counted: a stack whose nodes are freed and used again, with a counter beside the pointer.
//
// A pop takes the first node, the node behind it and the counter in one step, so that it never reads from a node that has been freed; the
// counter tells it that a node has come back in the meantime. Without the counter the cas would succeed (ABA, see treiber_free.c).
//
//@ tests: treiber_free.tests
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

#include <cyrano.h>
#include <stdlib.h>

#define EMPTY (-1)

typedef int value_t;

typedef struct node {
    struct node *next;
    value_t value;
} node_t;

typedef struct stack {
    node_t *top;
    unsigned count;
} stack_t;

stack_t stack;

void init_stack(stack_t *s)
{
    s->top = 0;
    s->count = 0;
}

void push(stack_t *s, value_t value)
{
    node_t *top;
    node_t *node = malloc(sizeof(node_t));
    node->value = value;
    do {
        top = s->top;
        node->next = top;
        fence("store-store"); // whoever sees the node in the list sees its fields
    } while (!cas(&s->top, top, node));
}

value_t pop(stack_t *s)
{
    node_t *top, *next;
    unsigned count;
    value_t value;
    do {
        atomic {
            top = s->top;
            count = s->count;
            next = top ? top->next : 0;
        }
        if (top == 0)
            return EMPTY;
    } while (!dcas(&s->top, &s->count, top, count, next, count + 1));
    fence("load-load");   // the value after the pointer to the node
    fence("store-store"); // nobody frees what can still be found
    value = top->value;
    free(top);
    return value;
}
