// lazylist: the lazy list-based set, with the fences that `relaxed` needs.
// Published by Heller, Herlihy, Luchangco, Moir, Scherer and Shavit in "A lazy concurrent list-based set algorithm" (OPODIS
// 2005).
//
// A sorted linked list between two sentinels. add and remove search without locks, lock the two nodes between which they
// change something, and check that nothing has changed in between. remove marks a node before it unlinks it.
// contains takes no lock at all: a node that is found and not marked is in the set.
//
// Corrected: the published pseudocode never initialises `marked` in a new node (found by CheckFence, section 4.1);
// lazylist_uninit.c is that version.
// Departures: the loop ends with both nodes locked and the change follows it; a key is loaded once; the sentinels are part of
// the set instead of being allocated. The key of the first sentinel is never looked at.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

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
        node->marked = false;
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
