// Fences, read-modify-writes, locks, allocation.
//= read_modify_writes_give_what_they_should
#include <cyrano.h>
unsigned x = 5; int *p; int y;
int f(void) { int a = cas(&x, 5, 6), b = cas(&x, 5, 7); unsigned c = fetch_add(&x, 10), d = exchange(&x, 1);
    bool e = cas(&p, NULL, &y); return a * 10000 + b * 1000 + (int)(c * 100 + d) + (int)x * 100000 + (e && p == &y) * 1000000; }
//= read_modify_writes_give_what_they_should_2
#include <cyrano.h>
int a = 1, b = 2; int f(void) { bool x = dcas(&a, &b, 1, 3, 8, 9); int k = a * 10 + b;
bool y = dcas(&a, &b, 1, 2, 8, 9); return x * 10000 + y * 1000 + k * 10000 + a * 10 + b; }
//= published_declarations_of_cas_work
extern int cas(void *loc, unsigned old, unsigned new); struct n { struct n *next; } a, *g;
int f(void) { return cas(&g, (unsigned)0, (unsigned)&a) * 10 + (g == &a); }
//= comparing_with_an_undefined_word_is_an_error
#include <cyrano.h>
#include <stdlib.h>
int f(void) { int *p = malloc(sizeof(int)); cas(p, 0, 1); return 0; }
//= locks_exclude_and_unlocking_twice_fails under relaxed
//~ i = inc()
//~ test T = ( i | i )
#include <cyrano.h>
lock_t l; int x; int inc(void) { lock(&l); int old = x; x = old + 1; unlock(&l); return old; }
//= locks_exclude_and_unlocking_twice_fails_2
#include <cyrano.h>
lock_t l; int f(void) { lock(&l); unlock(&l); unlock(&l); return 0; }
//= fences_of_all_kinds listing
#include <cyrano.h>
void f(void) { fence("load-load store-store"); fence("full"); }
//= fences_of_machines listing
#include <cyrano.h>
void f(void) { fence("dmb.ishld"); fence("lwsync"); fence("fence.r.rw"); fence("thread_fence.seq_cst"); }
//= a_double_free_is_an_error
#include <stdlib.h>
struct n { int v; }; int f(void) { struct n *p = malloc(sizeof *p); free(p); free((struct n *)0); return 1; }
//= a_double_free_is_an_error_2
#include <stdlib.h>
struct n { int v; }; int f(void) { struct n *p = malloc(sizeof *p); free(p); free(p); return 1; }
//= a_double_free_is_an_error_3
#include <stdlib.h>
struct n { int v; }; int f(void) { struct n *p = malloc(sizeof *p); p->v = 1; free(p); return p->v; }
//= a_double_free_is_an_error_4
#include <stdlib.h>
struct n { int v; }; int f(void) { struct n *p = malloc(2 * sizeof *p); free(p + 1); return 1; }
//= choices_and_assumptions
#include <cyrano.h>
int f(void) { int c = choose(1, 4); assume(c % 2 == 0); return c; }
//= a_pool_that_is_too_small_bounds_the_verdict
#include <stdlib.h>
int f(void) { for (int i = 0; i < 6; i++) { int *p = malloc(sizeof(int)); *p = i; } return 0; }
