// seqlock without fences: a pair of words under a sequence lock. See seqlock.c.
//
// Failures: the words change while the number is even, or are loaded before or after the number was compared.
//
//@ tests: seqlock.tests
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

#include <cyrano.h>

typedef struct pair {
    lock_t lock;
    unsigned seq;
    unsigned first;
    unsigned second;
} pair_t;

pair_t pair;

void write_pair(pair_t *p, unsigned value)
{
    unsigned seq;
    lock(&p->lock);
    seq = p->seq;
    p->seq = seq + 1;
    p->first = value;
    p->second = value;
    p->seq = seq + 2;
    unlock(&p->lock);
}

unsigned read_pair(pair_t *p)
{
    unsigned seq, first, second;
    do {
        seq = p->seq;
        assume((seq & 1) == 0);
        first = p->first;
        second = p->second;
    } while (p->seq != seq);
    return 2 * first + second;
}
