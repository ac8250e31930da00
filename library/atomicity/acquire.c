// acquire: acquire1.rml in C. Each call takes a lock by busy waiting, adds one to `data` and gives the lock back; it returns what it found.
// The block commits with the compare-and-swap that succeeds. From pso on the lock can be free before the data is there; the fence that
// repairs it is `fence("store-store")` before `m = 0`.
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

int update(void)
{
    int old;
    atomic_begin();
    acquire();
    commit_point();
    old = data;
    data = old + 1;
    m = 0;
    atomic_end();
    return old;
}
