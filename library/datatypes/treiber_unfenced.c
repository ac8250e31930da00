// treiber without fences: Treiber's stack as published. See treiber.c.
//
// Failures: a node is linked before its fields are stored; the fields of a node are loaded before the pointer to it.
//
//@ tests: treiber.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

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
    } while (!cas(&s->top, top, node));
}

value_t pop(stack_t *s)
{
    node_t *top;
    do {
        top = s->top;
        if (top == 0)
            return EMPTY;
    } while (!cas(&s->top, top, top->next));
    return top->value;
}
