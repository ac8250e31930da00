// treiber_tagged: Treiber's stack over nodes that are used again, with a counter beside the index of the first node, in C11.
// "Systems programming: coping with parallelism" (IBM Research Report RJ 5118, 1986).
// The counter changes with every pop, so that a compare-and-swap fails if the first node was taken away and put back in
// between (ABA).
//
// NO_TAG: without the counter.
// RELAXED_PUSH: a node is pushed by a relaxed compare-and-swap: who pops it need not see what is in it.
// RELAXED_LOOK: the first node is looked at by a relaxed load.
//
//@ sc: verified
//@ sc NO_TAG: violated
//@ rc11 RELAXED_PUSH: violated
//@ rc11 RELAXED_LOOK: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define NODES 3 // node 0 is none
#define INDEX(word) ((word) & 0xff)
#ifdef NO_TAG
#define NEXT_TAG(word) 0u
#else
#define NEXT_TAG(word) (((word) & ~0xffu) + 0x100)
#endif
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

static struct {
    atomic_uint next; // a pop that comes too late reads it while somebody else pushes the node again
    atomic_int owned;
    int value;
} nodes[NODES];
static atomic_uint top;

static void push(unsigned node)
{
    unsigned first = atomic_load_explicit(&top, memory_order_relaxed);
    do
        atomic_store_explicit(&nodes[node].next, INDEX(first), memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &first, node | (first & ~0xffu), PUSH, memory_order_relaxed));
}

static unsigned pop(void)
{
    unsigned first = atomic_load_explicit(&top, LOOK), next;
    do {
        if (INDEX(first) == 0)
            return 0;
        next = atomic_load_explicit(&nodes[INDEX(first)].next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&top, &first, next | NEXT_TAG(first), LOOK, LOOK));
    return INDEX(first);
}

// Who has a node has it alone.
static void take(unsigned node)
{
    if (node != 0) {
        assert(!atomic_exchange_explicit(&nodes[node].owned, 1, memory_order_relaxed));
        nodes[node].value++;
    }
}

static void give(unsigned node)
{
    if (node != 0) {
        atomic_store_explicit(&nodes[node].owned, 0, memory_order_relaxed);
        push(node);
    }
}

// Takes two nodes and puts the first one back, so that it is there again while the other is not.
static void *busy(void *unused)
{
    (void)unused;
    unsigned first = pop(), second = pop();
    take(first);
    take(second);
    give(first);
    return NULL;
}

static void *taker(void *unused)
{
    (void)unused;
    take(pop());
    take(pop());
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (unsigned node = 1; node < NODES; node++)
        push(node);
    pthread_create(&threads[0], NULL, busy, NULL);
    pthread_create(&threads[1], NULL, taker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
