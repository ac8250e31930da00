// snark: the double-ended queue with double compare-and-swap, corrected, with the fences that `relaxed` needs.
// Published by Detlefs, Flood, Garthwaite, Martin, Shavit and Steele in "Even better DCAS-based concurrent deques" (DISC 2000).
// Doherty and others found two bugs in it and corrected them: "DCAS is not a silver bullet for nonblocking algorithm design"
// (SPAA 2004). snark_bug.c is the algorithm before the correction.
//
// A doubly-linked list. Each hat points to the outermost node of its side. A removed node points to itself on the side towards
// which the hat has moved; a hat at a node that points to itself outwards, or at the dummy, means that the deque is empty.
//
// Corrected, as in the second paper: a remove that finds the deque empty makes sure that the hat has not moved meanwhile; and a
// remove that has moved a hat takes the value with a cas, so that no value is taken from both sides.
// Departures: the published code overwrites the fields of a removed node to help a garbage collector, which is left out.
// A value that was taken is replaced by EMPTY.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

#include <cyrano.h>
#include <stdlib.h>

#define EMPTY (-1)

typedef int value_t;

typedef struct node {
    struct node *left;
    struct node *right;
    value_t value;
} node_t;

typedef struct deque {
    node_t *left_hat;
    node_t *right_hat;
    node_t dummy;
} deque_t;

deque_t deque;

void init_deque(deque_t *d)
{
    d->dummy.left = d->dummy.right = &d->dummy;
    d->left_hat = d->right_hat = &d->dummy;
}

void add_right(deque_t *d, value_t value)
{
    node_t *rh, *rhr, *lh;
    node_t *node = malloc(sizeof(node_t));
    node->right = &d->dummy;
    node->value = value;
    while (true) {
        rh = d->right_hat;
        fence("load-load"); // the node's field after the pointer to the node
        rhr = rh->right;
        if (rhr == rh) {
            node->left = &d->dummy;
            lh = d->left_hat;
            fence("store-store"); // whoever sees the node in the list sees its fields
            if (dcas(&d->right_hat, &d->left_hat, rh, lh, node, node))
                return;
        } else {
            node->left = rh;
            fence("store-store"); // whoever sees the node in the list sees its fields
            if (dcas(&d->right_hat, &rh->right, rh, rhr, node, node))
                return;
        }
    }
}

void add_left(deque_t *d, value_t value)
{
    node_t *lh, *lhl, *rh;
    node_t *node = malloc(sizeof(node_t));
    node->left = &d->dummy;
    node->value = value;
    while (true) {
        lh = d->left_hat;
        fence("load-load"); // the node's field after the pointer to the node
        lhl = lh->left;
        if (lhl == lh) {
            node->right = &d->dummy;
            rh = d->right_hat;
            fence("store-store"); // whoever sees the node in the list sees its fields
            if (dcas(&d->left_hat, &d->right_hat, lh, rh, node, node))
                return;
        } else {
            node->right = lh;
            fence("store-store"); // whoever sees the node in the list sees its fields
            if (dcas(&d->left_hat, &lh->left, lh, lhl, node, node))
                return;
        }
    }
}

value_t remove_right(deque_t *d)
{
    node_t *rh, *lh, *rhl;
    value_t value;
    bool moved;
    while (true) {
        rh = d->right_hat;
        fence("load-load"); // the node's fields after the pointer to the node
        lh = d->left_hat;
        if (rh->right == rh) {
            fence("load-load"); // the hat is looked at again after the node
            if (d->right_hat == rh)
                return EMPTY;
        } else {
            if (rh == lh) {
                moved = dcas(&d->right_hat, &d->left_hat, rh, lh, &d->dummy, &d->dummy);
            } else {
                rhl = rh->left;
                moved = dcas(&d->right_hat, &rh->left, rh, rhl, rhl, rh);
            }
            if (moved) {
                value = rh->value;
                if (value != EMPTY && cas(&rh->value, value, EMPTY))
                    return value;
            }
        }
    }
}

value_t remove_left(deque_t *d)
{
    node_t *lh, *rh, *lhr;
    value_t value;
    bool moved;
    while (true) {
        lh = d->left_hat;
        fence("load-load"); // the node's fields after the pointer to the node
        rh = d->right_hat;
        if (lh->left == lh) {
            fence("load-load"); // the hat is looked at again after the node
            if (d->left_hat == lh)
                return EMPTY;
        } else {
            if (lh == rh) {
                moved = dcas(&d->left_hat, &d->right_hat, lh, rh, &d->dummy, &d->dummy);
            } else {
                lhr = lh->right;
                moved = dcas(&d->left_hat, &lh->right, lh, lhr, lhr, lh);
            }
            if (moved) {
                value = lh->value;
                if (value != EMPTY && cas(&lh->value, value, EMPTY))
                    return value;
            }
        }
    }
}
