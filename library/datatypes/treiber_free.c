// treiber_free: Treiber's stack with `free`, as it should not be done.
//
// A popped node is freed at once. Another thread that has loaded `top` before reads `next` from freed memory. And if `malloc` returns the
// node again, with another one behind it, the cas of that thread succeeds though the stack has changed (ABA).
//
//@ sc: violated
//@ tso: violated
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
        fence("store-store");
    } while (!cas(&s->top, top, node));
}

value_t pop(stack_t *s)
{
    node_t *top, *next;
    value_t value;
    do {
        top = s->top;
        if (top == 0)
            return EMPTY;
        fence("load-load");
        next = top->next;
    } while (!cas(&s->top, top, next));
    value = top->value;
    free(top);
    return value;
}
