// Arithmetic of atomic objects wraps.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified

#include <stdatomic.h>
#include <limits.h>
#include <assert.h>
atomic_int x = INT_MAX;

int main(void) {
    atomic_fetch_add(&x, 1);
    assert(atomic_load(&x) == INT_MIN);
    x = INT_MAX;
    x++;
    assert(x == INT_MIN);
}
