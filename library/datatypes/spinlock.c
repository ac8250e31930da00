// spinlock: a counter under the lock of CheckFence, Fig. 7, as it is printed.
//
// `lock` spins: it writes `held` in every round, also over `held`. A round that finds what it writes changes nothing, so that the symbolic
// engine needs no bound for them (docs/symbolic.md). The lock of <cyrano.h> waits instead of spinning.
// Type and functions have other names here, because <cyrano.h> has the paper's.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

#include <cyrano.h>

typedef enum { vacant, held } spin_t;

void spin_lock(spin_t *lock)
{
    spin_t val;
    do {
        atomic {
            val = *lock;
            *lock = held;
        }
    } while (val != vacant);
    fence("load-load");
    fence("load-store");
}

void spin_unlock(spin_t *lock)
{
    fence("load-store");
    fence("store-store");
    atomic {
        assert(*lock == held);
        *lock = vacant;
    }
}

spin_t spin;
int value;

int increment(void)
{
    int old;
    spin_lock(&spin);
    old = value;
    value = old + 1;
    spin_unlock(&spin);
    return old;
}
