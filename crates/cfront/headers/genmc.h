// What tests of stateless model checkers call; they know these names, too.
#ifndef CYRANO_GENMC_H
#define CYRANO_GENMC_H
#include <stdbool.h>
#include <pthread.h>
void __VERIFIER_assume(bool holds);
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void __VERIFIER_error();
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

typedef pthread_t __VERIFIER_thread_t;
#define __VERIFIER_spawn(function, argument) \
    ({ pthread_t __cyrano_new; pthread_create(&__cyrano_new, 0, function, argument); __cyrano_new; })
#define __VERIFIER_spawn_symmetric(function, argument, like) __VERIFIER_spawn(function, argument)
#define __VERIFIER_join(thread) ({ void *__cyrano_result; pthread_join(thread, &__cyrano_result); __cyrano_result; })
#define __VERIFIER_join_symmetric(thread) ((void)pthread_join(thread, 0))

// A block that may be left out; who executes it goes no further.
#define __VERIFIER_optional(...) \
    do { \
        if (__cyrano_either()) { \
            __VA_ARGS__; \
            __cyrano_assume(0); \
        } \
    } while (0)

// What these say makes a search smaller, and changes nothing.
#define __VERIFIER_local_write(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_final_write(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_helped_CAS(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_helping_CAS(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_speculative_read(...) (__VA_ARGS__)
#define __VERIFIER_confirming_read(...) (__VA_ARGS__)
#define __VERIFIER_confirming_CAS(...) (__VA_ARGS__)
#define __VERIFIER_final_CAS(...) (__VA_ARGS__)
#endif
