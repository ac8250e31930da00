// Control flow.
//= loops_break_and_continue
int f(void) { int s = 0; for (int i = 0; ; i++) { if (i == 2) continue; if (i == 5) break; s = s * 10 + i; }
int k = 3; while (k) s += k--; do s += 100; while (s < 0); return s; }
//= switches_fall_through
static int g(int x) { int r = 0; switch (x) { case 1: r += 1; case 2: r += 10; break; default: r = 7; break; case 3: { r = 30; } }
return r; } int f(void) { return g(1) * 1000000 + g(2) * 10000 + g(3) * 100 + g(9); }
//= gotos_forward_and_back
int f(void) { int n = 0; retry: n++; if (n < 3) goto retry; if (n == 3) goto out; n = 100; out: return n; }
//= short_circuits_guard_memory
struct n { struct n *next; int v; } a = { 0, 5 }; struct n *g = &a, *z;
int f(void) { int r = 0; if (g && g->v == 5) r += 1; if (z && z->v == 5) r += 10; if (!z || z->v) r += 100;
    r += 1000 * (z && z->v); r += 10000 * (g->v == 5 || z->v); return r; }
//= conditional_expressions_and_commas
int g = 3; int f(void) { int a = g > 2 ? g : 0; int b = (g++, g); int *p = g ? &g : (int *)0; return a * 100 + b * 10 + *p; }
//= values_are_taken_before_they_change
static int bump(int *p) { *p += 10; return 1; } int f(void) { int x = 1; int y = x + bump(&x); return y * 100 + x; }
//= values_are_taken_before_they_change_2
int g; static int set(int v) { g = v; return v; } int f(void) { int i = 0; int a[2] = { 0, 0 }; a[i] = (i = 1); return set(3) * 10 + g + a[0] * 100; }
//= addresses_of_locals_that_escape
int *keep; static void store(int *p) { keep = p; } static int load(void) { return *keep; }
int f(void) { int x = 4; store(&x); x = 6; int y = load(); *keep = 9; return y * 10 + x; }
//= calls_have_variables_of_their_own
static int sq(int x) { int y = x * x; return y; } static int sum(int a, int b) { return sq(a) + sq(b); }
int f(void) { return sum(2, 3) * 100 + sum(sq(2), 1); }
//= returns_leave_atomic_blocks
#include <cyrano.h>
int g; static int pick(int k) { while (true) { atomic { if (k == 1) return 5; if (k == 2) break; g = 8; }
return g; } return 6; } int f(void) { return pick(1) * 100 + pick(2) * 10 + pick(3); }
//= objects_of_a_loop_come_from_a_pool
#include <stdlib.h>
struct n { struct n *next; int v; };
int f(void) { struct n *l = 0; for (int i = 0; i < 3; i++) { struct n *p = malloc(sizeof(struct n)); p->v = i; p->next = l; l = p; }
    int s = 0; while (l) { s = s * 10 + l->v; l = l->next; } return s; }
//= objects_of_a_loop_come_from_a_pool_2
#include <stdlib.h>
struct n { struct n *next; int v; };
int f(void) { struct n *l = 0; for (int i = 0; i < 6; i++) { struct n *p = malloc(sizeof(struct n)); p->v = i; p->next = l; l = p; }
    int s = 0; while (l) { s = s * 10 + l->v; l = l->next; } return s; }
