// transaction: transaction.rml in C: an update whose computation does not hold the lock, tried again if the data has changed.
// The block commits with the store of the new value.
//
//@ sc: verified
//@ tso: verified
//@ pso: violated
//@ rmo: violated

#include <cyrano.h>

int m, data;

static void acquire(void)
{
    while (!cas(&m, 0, 1))
        ;
}

static void release(void)
{
    m = 0;
}

int update(void)
{
    int old, now;
    atomic_begin();
    for (;;) {
        acquire();
        old = data;
        release();
        acquire();
        now = data;
        if (now == old) {
            data = old * 2 + 1;
            commit_point();
            release();
            break;
        }
        release();
    }
    atomic_end();
    return old;
}
