// lazylist without fences but those in lock and unlock: the lazy list as published, with `marked` initialised. See lazylist.c.
//
// Failures (CheckFence, section 4.3): a node is linked before its fields are stored; the fields of a node are loaded before the
// pointer to it.
//
//@ tests: lazylist.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

#include <cyrano.h>
#include <stdlib.h>

#define LAST_KEY 2 // greater than every key in use

typedef struct node {
    int key;
    struct node *next;
    bool marked;
    lock_t lock;
} node_t;

typedef struct set {
    node_t head;
    node_t tail;
} set_t;

set_t set;

void init_set(set_t *s)
{
    s->head.next = &s->tail;
    s->tail.key = LAST_KEY;
}

bool set_add(set_t *s, int key)
{
    node_t *pred, *curr, *node;
    int found;
    while (true) {
        pred = &s->head;
        while (true) {
            curr = pred->next;
            found = curr->key;
            if (found >= key)
                break;
            pred = curr;
        }
        lock(&pred->lock);
        lock(&curr->lock);
        if (!pred->marked && !curr->marked && pred->next == curr)
            break;
        unlock(&curr->lock);
        unlock(&pred->lock);
    }
    if (found != key) {
        node = malloc(sizeof(node_t));
        node->key = key;
        node->next = curr;
        node->marked = false;
        init_lock(&node->lock);
        pred->next = node;
    }
    unlock(&curr->lock);
    unlock(&pred->lock);
    return found != key;
}

bool set_remove(set_t *s, int key)
{
    node_t *pred, *curr;
    int found;
    while (true) {
        pred = &s->head;
        while (true) {
            curr = pred->next;
            found = curr->key;
            if (found >= key)
                break;
            pred = curr;
        }
        lock(&pred->lock);
        lock(&curr->lock);
        if (!pred->marked && !curr->marked && pred->next == curr)
            break;
        unlock(&curr->lock);
        unlock(&pred->lock);
    }
    if (found == key) {
        curr->marked = true;
        pred->next = curr->next;
    }
    unlock(&curr->lock);
    unlock(&pred->lock);
    return found == key;
}

bool set_contains(set_t *s, int key)
{
    node_t *curr = &s->head;
    int found;
    do {
        curr = curr->next;
        found = curr->key;
    } while (found < key);
    return found == key && !curr->marked;
}
