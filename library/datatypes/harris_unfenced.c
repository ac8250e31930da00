// harris without fences: the non-blocking list of Harris as published. See harris.c.
//
// Failures (CheckFence, section 4.3): a node is linked before its fields are stored; the fields of a node are loaded before the
// pointer to it.
//
//@ tests: harris.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

#include <cyrano.h>
#include <stdlib.h>

typedef struct node {
    int key;
    uintptr_t next; // a pointer to a node, and the mark in its lowest bit
} node_t;

typedef struct set {
    node_t head;
    node_t tail;
} set_t;

typedef struct window {
    node_t *left;  // the last node before the key
    node_t *right; // the node behind it, which has the key if `found`
    bool found;
} window_t;

set_t set;

void init_set(set_t *s)
{
    s->head.next = (uintptr_t)&s->tail;
}

static bool is_marked(uintptr_t next)
{
    return (next & 1) != 0;
}

static node_t *target(uintptr_t next)
{
    return (node_t *)(next & ~(uintptr_t)1);
}

static window_t search(set_t *s, int key)
{
    window_t w;
    uintptr_t left_next, next;
    node_t *right;
    int right_key;
    while (true) {
        w.left = &s->head;
        w.found = false;
        left_next = next = w.left->next;
        while (true) {
            right = target(next);
            if (right == &s->tail)
                break;
            next = right->next;
            if (!is_marked(next)) {
                right_key = right->key;
                if (right_key >= key) {
                    w.found = right_key == key;
                    break;
                }
                w.left = right;
                left_next = next;
            }
        }
        w.right = right;
        if (left_next == (uintptr_t)right || cas(&w.left->next, left_next, (uintptr_t)right)) {
            if (right == &s->tail || !is_marked(right->next))
                return w;
        }
    }
}

bool set_add(set_t *s, int key)
{
    window_t w;
    node_t *node = malloc(sizeof(node_t));
    node->key = key;
    while (true) {
        w = search(s, key);
        if (w.found)
            return false;
        node->next = (uintptr_t)w.right;
        if (cas(&w.left->next, (uintptr_t)w.right, (uintptr_t)node))
            return true;
    }
}

bool set_remove(set_t *s, int key)
{
    window_t w;
    uintptr_t next;
    while (true) {
        w = search(s, key);
        if (!w.found)
            return false;
        next = w.right->next;
        if (!is_marked(next) && cas(&w.right->next, next, next | 1))
            break;
    }
    if (!cas(&w.left->next, (uintptr_t)w.right, next))
        search(s, key);
    return true;
}

bool set_contains(set_t *s, int key)
{
    window_t w = search(s, key);
    return w.found;
}
