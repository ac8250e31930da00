// An assertion that counts: without it the program aborts.
//
//@ sc: verified
//@ tso: verified
//@ rc11: verified
//@ sc NDEBUG: violated

#include <pthread.h>
#include <assert.h>
#include <stdlib.h>
int n;

int main(void) {
    assert(++n == 1);
    if (n != 1) abort();
}
