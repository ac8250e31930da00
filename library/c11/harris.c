// harris: the lock-free set of Harris in C11: a sorted list whose nodes are marked before they are taken out.
// "A pragmatic implementation of non-blocking linked-lists" (DISC 2001). The mark is the lowest bit of the link. Nodes are
// not freed.
//
// RELAXED_LINK: a node is linked by a relaxed compare-and-swap.
// NO_MARK: a node is taken out without being marked: what is inserted behind it at the same time is lost.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 RELAXED_LINK: violated
//@ sc NO_MARK: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

typedef struct node {
    _Atomic(uintptr_t) next; // a node, and whether the one that has this link is marked
    int key;
} node_t;

static _Atomic(uintptr_t) head;

#define NODE(link) ((node_t *)((link) & ~(uintptr_t)1))
#define IS_MARKED(link) ((link) & 1)

// The link behind which the key belongs, and what it leads to.
static _Atomic(uintptr_t) *find(int key, node_t **at)
{
again:;
    _Atomic(uintptr_t) *before = &head;
    node_t *node = NODE(atomic_load_explicit(before, memory_order_acquire));
    while (node != NULL) {
        uintptr_t next = atomic_load_explicit(&node->next, memory_order_acquire);
        if (IS_MARKED(next)) {
            uintptr_t expected = (uintptr_t)node;
            if (!atomic_compare_exchange_strong_explicit(before, &expected, (uintptr_t)NODE(next), memory_order_release, memory_order_relaxed))
                goto again;
            node = NODE(next);
            continue;
        }
        if (node->key >= key)
            break;
        before = &node->next;
        node = NODE(next);
    }
    *at = node;
    return before;
}

static bool insert(int key)
{
    node_t *new = malloc(sizeof *new), *at;
    new->key = key;
    for (;;) {
        _Atomic(uintptr_t) *before = find(key, &at);
        if (at != NULL && at->key == key)
            return false;
        atomic_store_explicit(&new->next, (uintptr_t)at, memory_order_relaxed);
        uintptr_t expected = (uintptr_t)at;
        if (atomic_compare_exchange_strong_explicit(before, &expected, (uintptr_t)new, LINK, memory_order_relaxed))
            return true;
    }
}

static bool delete(int key)
{
    node_t *at;
    for (;;) {
        _Atomic(uintptr_t) *before = find(key, &at);
        if (at == NULL || at->key != key)
            return false;
        uintptr_t next = atomic_load_explicit(&at->next, memory_order_acquire), expected = (uintptr_t)at;
        if (IS_MARKED(next))
            continue;
#ifndef NO_MARK
        if (!atomic_compare_exchange_strong_explicit(&at->next, &next, next | 1, memory_order_release, memory_order_relaxed))
            continue;
        atomic_compare_exchange_strong_explicit(before, &expected, next, memory_order_release, memory_order_relaxed);
        return true;
#else
        if (atomic_compare_exchange_strong_explicit(before, &expected, next, memory_order_release, memory_order_relaxed))
            return true;
#endif
    }
}

static bool contains(int key)
{
    node_t *node = NODE(atomic_load_explicit(&head, memory_order_acquire));
    while (node != NULL && node->key < key)
        node = NODE(atomic_load_explicit(&node->next, memory_order_acquire));
    return node != NULL && node->key == key && !IS_MARKED(atomic_load_explicit(&node->next, memory_order_acquire));
}

static void *deleter(void *unused)
{
    (void)unused;
    assert(delete(1));
    return NULL;
}

static void *inserter(void *unused)
{
    (void)unused;
    assert(insert(2));
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    insert(1);
    pthread_create(&threads[0], NULL, deleter, NULL);
    pthread_create(&threads[1], NULL, inserter, NULL);
    contains(2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!contains(1));
    assert(contains(2));
    return 0;
}
