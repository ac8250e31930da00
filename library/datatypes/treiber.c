// treiber: Treiber's stack, with the fences that `relaxed` needs.
// Published in "Systems programming: coping with parallelism" (IBM Research Report RJ 5118, 1986).
//
// A linked list whose first node is replaced with a cas.
//
// Departures: `top` carries no counter, which is there to notice that a node was freed and used again. Nodes are not used
// again here, and therefore not freed either.
//
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
} stack_t;

stack_t stack;

void init_stack(stack_t *s)
{
    s->top = 0;
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
    node_t *top;
    do {
        top = s->top;
        if (top == 0)
            return EMPTY;
        fence("load-load"); // the node's fields after the pointer to the node
    } while (!cas(&s->top, top, top->next));
    return top->value;
}
