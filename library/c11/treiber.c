// treiber: Treiber's stack in C11; nodes are not freed.
// "Systems programming: coping with parallelism" (IBM Research Report RJ 5118, 1986).
// `treiber.tests` asks whether every observation is that of a serial execution.
//
// RELAXED_PUSH: the compare-and-swap of `push` is relaxed: who pops the node need not see what is in it.
// RELAXED_LOOK: `pop` looks at the first node with a relaxed load.
// TOP_IS_STORED: `pop` stores the new first node: two pops return the same value.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 RELAXED_PUSH: violated
//@ rc11 RELAXED_LOOK: violated
//@ sc TOP_IS_STORED: violated

#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED_PUSH
#define PUSH memory_order_relaxed
#else
#define PUSH memory_order_release
#endif
#ifdef RELAXED_LOOK
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

#define EMPTY (-1)

typedef struct node {
    struct node *next;
    int value;
} node_t;

_Atomic(node_t *) top;

void push(int value)
{
    node_t *node = malloc(sizeof *node);
    node->value = value;
    node_t *first = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = first;
    while (!atomic_compare_exchange_weak_explicit(&top, &first, node, PUSH, memory_order_relaxed));
}

int pop(void)
{
    node_t *first = atomic_load_explicit(&top, LOOK);
    do {
        if (first == NULL)
            return EMPTY;
#ifdef TOP_IS_STORED
        atomic_store_explicit(&top, first->next, memory_order_release);
        break;
#endif
    } while (!atomic_compare_exchange_weak_explicit(&top, &first, first->next, LOOK, LOOK));
    return first->value;
}
