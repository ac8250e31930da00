// mpsc: Vyukov's queue of nodes for many producers and one consumer, in C11.
// "Non-intrusive MPSC node-based queue" (1024cores.net, 2010).
// A producer takes the place of the last node with one exchange, and links itself to its predecessor afterwards: between the
// two the queue looks shorter than it is.
//
// RELAXED_LINK: the link is stored with a relaxed store: the consumer need not see what is in the node.
// LINK_LAST: the link is stored at the node that is last by then, found by a second load: a producer that was overtaken
// links itself to itself.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ rc11 RELAXED_LINK: violated
//@ sc LINK_LAST: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define PRODUCERS 2

#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node_t;

static node_t stub, nodes[PRODUCERS];
static _Atomic(node_t *) last = &stub;
static node_t *first = &stub; // the consumer's

static void put(node_t *node)
{
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
#ifdef LINK_LAST
    node_t *before = atomic_load_explicit(&last, memory_order_acquire);
    atomic_store_explicit(&last, node, memory_order_release);
#else
    node_t *before = atomic_exchange_explicit(&last, node, memory_order_acq_rel);
#endif
    atomic_store_explicit(&before->next, node, LINK);
}

static node_t *get(void)
{
    node_t *next = atomic_load_explicit(&first->next, memory_order_acquire);
    if (next != NULL)
        first = next;
    return next;
}

static void *producer(void *arg)
{
    node_t *node = arg;
    node->value = 1;
    put(node);
    return NULL;
}

int main(void)
{
    pthread_t threads[PRODUCERS];
    int sum = 0;
    node_t *node;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, &nodes[i]);
    if ((node = get()) != NULL)
        sum += node->value;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PRODUCERS; i++)
        if ((node = get()) != NULL)
            sum += node->value;
    assert(sum == PRODUCERS);
    return 0;
}
