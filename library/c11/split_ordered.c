// split_ordered: the extensible hash set of Shalev and Shavit, small, in C11: one sorted list, and buckets that are short
// cuts into it.
// "Split-ordered lists: lock-free extensible hash tables" (PODC 2003). Two buckets, keys of two bits; nothing is removed.
// Keys stand in the list in the order of their reversed bits; a bucket's own node stands before all keys that belong to it.
//
// RELAXED_BUCKET: a bucket is published with a relaxed store.
// BUCKET_NOT_LINKED: a bucket begins with a node of its own, which is not put into the list: two threads make two, and the
// keys behind one of them are lost.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 RELAXED_BUCKET: violated
//@ sc BUCKET_NOT_LINKED: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef RELAXED_BUCKET
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

typedef struct node {
    _Atomic(struct node *) next;
    int rank; // the key's bits reversed, times two, plus one; a bucket's without the one
} node_t;

static node_t bucket0 = { .rank = 0 };
static _Atomic(node_t *) buckets[2] = { &bucket0 };

static int reversed(int key)
{
    return (key & 1) << 1 | (key & 2) >> 1;
}

// The last node before the rank, or the node that has it.
static bool find(node_t *from, int rank, node_t **before, node_t **node)
{
    *before = from;
    for (;;) {
        *node = atomic_load_explicit(&(*before)->next, memory_order_acquire);
        if (*node == NULL || (*node)->rank >= rank)
            return *node != NULL && (*node)->rank == rank;
        *before = *node;
    }
}

// The node of this rank, new or found.
static node_t *insert_at(node_t *from, int rank, bool *is_new)
{
    node_t *new = malloc(sizeof *new), *before, *node;
    new->rank = rank;
    for (;;) {
        if (find(from, rank, &before, &node)) {
            *is_new = false;
            return node;
        }
        atomic_store_explicit(&new->next, node, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&before->next, &node, new, memory_order_release, memory_order_relaxed)) {
            *is_new = true;
            return new;
        }
    }
}

static node_t *bucket(int key)
{
    int which = key & 1;
    node_t *found = atomic_load_explicit(&buckets[which], memory_order_acquire);
    if (found == NULL) {
#ifdef BUCKET_NOT_LINKED
        found = malloc(sizeof *found);
        found->rank = 4 * which;
        atomic_init(&found->next, NULL);
#else
        bool is_new;
        found = insert_at(&bucket0, 4 * which, &is_new);
#endif
        atomic_store_explicit(&buckets[which], found, PUBLISH);
    }
    return found;
}

static bool insert(int key)
{
    bool is_new;
    insert_at(bucket(key), 2 * reversed(key) + 1, &is_new);
    return is_new;
}

static bool contains(int key)
{
    node_t *before, *node;
    return find(bucket(key), 2 * reversed(key) + 1, &before, &node);
}

static void *thread(void *arg)
{
    int key = *(int *)arg;
    assert(insert(key));
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int keys[2] = { 1, 3 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &keys[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(contains(1) && contains(3) && !contains(2));
    return 0;
}
