// Bad C: every error with its place, all of them at once.
//= syntax_errors
int f(void) { return 1 }
//= syntax_errors_2
bool f(void) { return 1; }
//= syntax_errors_3
int f(void) { atomic { } }
//= syntax_errors_4
int f(void) {
//= all_unsupported_constructs_in_one_report
union u { int a; };
float x;
int f(int (*g)(void)) {
    asm("nop");
    return g();
}
void h(int a, ...) { double d = 1.5; }
_Atomic int z;
//= names_and_types
struct node { struct node *next; int value; } *top;
int count;
int f(int x) {
    int y = cuont + top->vlaue;
    top = count;
    y.a = 1;
    *x = 2;
    undefined_function(y);
    f(1, 2);
    struct missing m;
    goto nowhere;
    break;
    return top + top;
}
void g(void) { return 1; }
int count2 = f(1);
int f(int z) { return z; }
//= functions_without_bodies_are_refused
int d(int x) { return d(x - 1); }
int e(void) { int missing(void); return missing(); }
//= intrinsics_used_wrongly
#include <cyrano.h>
#include <stdlib.h>
struct two { long a; long b; } t;
struct keeps { struct two inner; } k;
void f(int n, struct two *p) {
    fence("store-laod");
    fence("");
    cas(&t, t, t);
    cas(n, 1, 2);
    malloc(n);
    atomic { fence("full"); }
    free(p);
    fetch_add(&p, 1);
    goto in;
    atomic { in: n = 1; }
}
//= words_used_wrongly
#include <cyrano.h>
typedef cyrano_word struct { long a; int b; } big_t;
typedef cyrano_word struct { int a : 4; struct { int x; } b; } odd_t;
typedef struct { int a : 4; int b; } mixed_t;
typedef cyrano_word struct { int *p; int c; } w_t;
w_t g;
w_t h(void) { return g; }
void f(void) { g.c = 1; int *q = &g.c; h().c = 1; mixed_t m; int *r = &m.a; }
//= a_struct_that_is_one_word_because_of_its_use
#include <cyrano.h>
struct pair { unsigned a, b; } g;
void f(void) { struct pair p = g; cas(&g, p, p); unsigned *q = &g.b; }
//= unions_that_are_not_one_word
union bytes { int n; char c[4]; };
union wide { long n; struct { int *p; int tag; } s; };
union far { struct { long a, b; }; long c; };
union fine { int n; unsigned u; } g;
int *f(void) { g.x = 1; return &g.n; }
union twice { int a; struct { int a; }; };
//= too_much_memory
int a[4000], b[4000], c[4000];
//= too_much_memory_2
int a[5000];
//= a_fence_that_a_call_brings_into_an_atomic_block
#include <cyrano.h>
lock_t l;
void f(void) { atomic { lock(&l); } }
