// lazy_list: the lazy set of Heller and others in C11: updates lock two nodes, look-ups take no lock.
// "A lazy concurrent list-based set algorithm" (OPODIS 2005).
//
// RELAXED_LINK: a node is linked with a relaxed store: a look-up may follow it to a key that is not there.
// NO_VALIDATION: after the locks were taken nobody looks whether the nodes are still neighbours.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 RELAXED_LINK: violated
//@ sc NO_VALIDATION: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef RELAXED_LINK
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

typedef struct node {
    _Atomic(struct node *) next;
    atomic_bool removed;
    pthread_mutex_t mutex;
    int key;
} node_t;

static node_t last = { .key = 100, .mutex = PTHREAD_MUTEX_INITIALIZER };
static node_t first = { .key = 0, .next = &last, .mutex = PTHREAD_MUTEX_INITIALIZER };

static node_t *find(int key, node_t **before)
{
    node_t *node = &first;
    do {
        *before = node;
        node = atomic_load_explicit(&node->next, memory_order_acquire);
    } while (node->key < key);
    return node;
}

// Both locked and still neighbours; if not, neither is locked.
static bool lock_both(node_t *before, node_t *node)
{
    pthread_mutex_lock(&before->mutex);
    pthread_mutex_lock(&node->mutex);
#ifndef NO_VALIDATION
    if (atomic_load_explicit(&before->removed, memory_order_relaxed) || atomic_load_explicit(&node->removed, memory_order_relaxed)
        || atomic_load_explicit(&before->next, memory_order_relaxed) != node) {
        pthread_mutex_unlock(&node->mutex);
        pthread_mutex_unlock(&before->mutex);
        return false;
    }
#endif
    return true;
}

static void unlock_both(node_t *before, node_t *node)
{
    pthread_mutex_unlock(&node->mutex);
    pthread_mutex_unlock(&before->mutex);
}

static bool add(int key)
{
    node_t *before, *node;
    do
        node = find(key, &before);
    while (!lock_both(before, node));
    bool is_new = node->key != key;
    if (is_new) {
        node_t *new = malloc(sizeof *new);
        new->key = key;
        atomic_init(&new->removed, false);
        atomic_init(&new->next, node);
        pthread_mutex_init(&new->mutex, NULL);
        atomic_store_explicit(&before->next, new, LINK);
    }
    unlock_both(before, node);
    return is_new;
}

static bool take_out(int key)
{
    node_t *before, *node;
    do
        node = find(key, &before);
    while (!lock_both(before, node));
    bool is_there = node->key == key;
    if (is_there) {
        atomic_store_explicit(&node->removed, true, memory_order_release);
        atomic_store_explicit(&before->next, atomic_load_explicit(&node->next, memory_order_relaxed), memory_order_release);
    }
    unlock_both(before, node);
    return is_there;
}

static bool contains(int key)
{
    node_t *node = &first;
    while (node->key < key)
        node = atomic_load_explicit(&node->next, memory_order_acquire);
    return node->key == key && !atomic_load_explicit(&node->removed, memory_order_acquire);
}

static void *remover(void *unused)
{
    (void)unused;
    assert(take_out(1));
    return NULL;
}

static void *adder(void *unused)
{
    (void)unused;
    assert(add(2));
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    add(1);
    pthread_create(&threads[0], NULL, remover, NULL);
    pthread_create(&threads[1], NULL, adder, NULL);
    contains(2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!contains(1));
    assert(contains(2));
    return 0;
}
