// snark_bug: the double-ended queue with double compare-and-swap as published, with its two bugs. See snark.c.
//
// First bug (test D0): remove_right loads the right hat; another thread adds a node on the right and removes this one from the
// left, so that the node points to itself; remove_right reports an empty deque that never was empty.
// Second bug (test Dq): a node in the middle becomes the only one, but keeps its old neighbours in `left` and `right`. A
// remove_right and a remove_left that were under way with these neighbours both succeed, and both return its value.
// Both were found by Doherty and others (SPAA 2004). They show on every memory model.
// The fences are those of snark.c, so that nothing else is wrong.
//
//@ tests: snark.tests
//@ sc: violated
//@ tso: violated
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

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
    bool moved;
    while (true) {
        rh = d->right_hat;
        fence("load-load"); // the node's fields after the pointer to the node
        lh = d->left_hat;
        if (rh->right == rh) {
            return EMPTY;
        } else {
            if (rh == lh) {
                moved = dcas(&d->right_hat, &d->left_hat, rh, lh, &d->dummy, &d->dummy);
            } else {
                rhl = rh->left;
                moved = dcas(&d->right_hat, &rh->left, rh, rhl, rhl, rh);
            }
            if (moved)
                return rh->value;
        }
    }
}

value_t remove_left(deque_t *d)
{
    node_t *lh, *rh, *lhr;
    bool moved;
    while (true) {
        lh = d->left_hat;
        fence("load-load"); // the node's fields after the pointer to the node
        rh = d->right_hat;
        if (lh->left == lh) {
            return EMPTY;
        } else {
            if (lh == rh) {
                moved = dcas(&d->left_hat, &d->right_hat, lh, rh, &d->dummy, &d->dummy);
            } else {
                lhr = lh->right;
                moved = dcas(&d->left_hat, &lh->right, lh, lhr, lhr, lh);
            }
            if (moved)
                return lh->value;
        }
    }
}
