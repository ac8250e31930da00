// A weak compare-and-exchange may fail for no reason.
//
//@ sc: violated
//@ tso: violated
//@ rc11: violated

#include <stdatomic.h>
#include <assert.h>
atomic_int x;

int main(void) {
    int e = 0;
    assert(atomic_compare_exchange_weak(&x, &e, 1));
}
