// snark without fences: the corrected double-ended queue. See snark.c; snark_bug.c is the algorithm before the correction.
//
// Failures (CheckFence, section 4.3): a node is linked before its fields are stored; the fields of a node are loaded before the
// pointer to it.
//
//@ tests: snark.tests
//@ sc: verified
//@ tso: verified
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
        rhr = rh->right;
        if (rhr == rh) {
            node->left = &d->dummy;
            lh = d->left_hat;
            if (dcas(&d->right_hat, &d->left_hat, rh, lh, node, node))
                return;
        } else {
            node->left = rh;
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
        lhl = lh->left;
        if (lhl == lh) {
            node->right = &d->dummy;
            rh = d->right_hat;
            if (dcas(&d->left_hat, &d->right_hat, lh, rh, node, node))
                return;
        } else {
            node->right = lh;
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
        lh = d->left_hat;
        if (rh->right == rh) {
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
        rh = d->right_hat;
        if (lh->left == lh) {
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
