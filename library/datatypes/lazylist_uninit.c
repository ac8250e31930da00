// lazylist_uninit: the lazy list with the bug of the published pseudocode. See lazylist.c.
//
// A new node's field `marked` is not initialised. If it happens to be true, the key is not in the set although it was added,
// and the node can neither be removed nor have a neighbour inserted. CheckFence found this (section 4.1) after a formal proof of
// the algorithm had missed it: the text that was proved initialises the field. Cyrano reports the use of an undefined value.
// The fences are those of lazylist.c, so that nothing else is wrong.
//
//@ tests: lazylist.tests
//@ sc: violated
//@ tso: violated
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
            fence("load-load"); // the node's fields after the pointer to the node
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
        init_lock(&node->lock);
        fence("store-store"); // whoever sees the node in the list sees its fields
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
            fence("load-load"); // the node's fields after the pointer to the node
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
        fence("load-load"); // the node's fields after the pointer to the node
        found = curr->key;
    } while (found < key);
    return found == key && !curr->marked;
}
