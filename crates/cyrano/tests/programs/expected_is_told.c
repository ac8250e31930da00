// A compare-and-exchange that fails says what it found.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <stdatomic.h>
#include <assert.h>
atomic_int x = 5;

int main(void) {
    int e = 3;
    _Bool ok = atomic_compare_exchange_strong(&x, &e, 9);
    assert(!ok && e == 5 && x == 5);
    ok = atomic_compare_exchange_strong(&x, &e, 9);
    assert(ok && e == 5 && x == 9);
}
