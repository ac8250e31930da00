// What tests of stateless model checkers call; they know these names, too.
#ifndef CYRANO_GENMC_H
#define CYRANO_GENMC_H
#include <stdbool.h>
void __VERIFIER_assume(bool holds);
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void __VERIFIER_error();
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
#endif
