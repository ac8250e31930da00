// What tests for Nidhugg call and declare themselves: an exchange that waits until what it reads compares with a number as it should.
#ifndef CYRANO_NIDHUGG_H
#define CYRANO_NIDHUGG_H
#include <pthread.h>
#include <stdatomic.h>
static inline int __VERIFIER_xchg_await_aint(atomic_int *variable, int value, int condition, int other)
{
    int found = 0;
    int *word = (int *)variable;
    __cyrano_atomic: {
        found = (int)__cyrano_acquire(word);
        _Bool less = (condition & 8) != 0 ? found < other : (unsigned)found < (unsigned)other;
        __cyrano_assume((condition & 4) != 0 && less || (condition & 2) != 0 && found == other
                        || (condition & 1) != 0 && !less && found != other);
        __cyrano_release(word, value);
    }
    return found;
}
#endif
