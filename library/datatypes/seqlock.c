// seqlock: a pair of words under a sequence lock, with the fences that `relaxed` needs.
// Sequence locks come from the Linux kernel. Lameter describes them in "Effective synchronization on Linux/NUMA systems" (2005),
// Boehm describes their fences in "Can seqlocks get along with programming language memory models?" (MSPC 2012).
//
// Writers exclude each other with a lock and make the sequence number odd while they store. A reader takes no lock: it tries
// again if the number was odd or has changed. It must never return half of one pair and half of another.
//
// Waiting for an even number has no side effect, so it is an assumption instead of a loop.
// write_pair stores the same value into both words; read_pair returns both: the first one times two plus the second one.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

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
    fence("store-store"); // the number is odd before a word changes
    p->first = value;
    p->second = value;
    fence("store-store"); // the words have changed before the number is even again
    p->seq = seq + 2;
    unlock(&p->lock);
}

unsigned read_pair(pair_t *p)
{
    unsigned seq, first, second;
    do {
        seq = p->seq;
        assume((seq & 1) == 0);
        fence("load-load"); // the words are loaded after the number
        first = p->first;
        second = p->second;
        fence("load-load"); // and before it is looked at again
    } while (p->seq != seq);
    return 2 * first + second;
}
