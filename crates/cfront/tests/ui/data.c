// Structs, arrays, pointers, words, initialisers, undefined values.
//= structs_nest_and_are_copied
struct in { int a; int b; }; struct out { struct in i; int c; } g = { { 1, 2 }, .c = 3 };
static struct out twice(struct out o) { o.i.a *= 2; o.i.b *= 2; o.c *= 2; return o; }
int f(void) { struct out l = g; struct out m = twice(l); l.i.b = 7; g = m;
    return g.i.a * 1000 + g.i.b * 100 + g.c * 10 + l.i.b; }
//= structs_nest_and_are_copied_2
struct s { int a; int b; }; int f(void) { struct s x = { 1, 2 }; x = (struct s){ x.b, x.a }; return x.a * 10 + x.b; }
//= arrays_in_registers_and_in_memory
int g[4] = { 1, 2, [3] = 9 };
int f(void) { int l[4]; int s = 0; for (int i = 0; i < 4; i++) l[i] = g[i] * 2;
    for (int i = 0; i < 4; i++) s = s * 100 + l[i]; g[g[0]] = 5; return s + g[1]; }
//= arrays_in_registers_and_in_memory_2
struct c { int v[2]; } t[2]; int f(void) { struct c l[2]; int i = 1, j = 0;
t[i].v[j] = 3; l[j].v[i] = 4; l[i].v[i] = 5; return t[1].v[0] * 100 + l[0].v[1] * 10 + l[1].v[1]; }
//= an_index_out_of_bounds_is_an_error
int g1[3], k1 = 3; int f1(void) { return g1[k1]; }
int k2 = 3; int f2(void) { int l[3] = { 0 }; return l[k2]; }
struct { int a3[2]; int b3; } g3; int k3 = -1; int f3(void) { g3.a3[k3] = 1; return 0; }
int g4[2], h4; int f4(void) { int *p = g4; return p[2]; } // the gap behind the object
//= pointers_to_anything
#include <stddef.h>
int x = 1, y = 2; int *p = &y; struct n { struct n *next; int v; } a = { NULL, 5 }, b = { &a, 6 };
static void swap(int *l, int *r) { int t = *l; *l = *r; *r = t; }
int f(void) { int l = 8; swap(&l, &x); swap(&x, p); struct n *q = &b; int **pp = &p; *pp = &l;
    return (x * 10 + y) * 1000 + q->next->v * 100 + *p * 10 + (q->next->next == NULL); }
//= bad_pointers_are_errors
struct n1 { int v1; }; struct n1 *g1; int f1(void) { return g1->v1; }
int *g2 = (int *)12; int f2(void) { return *g2; }
int f3(void) { int *p; return *p; }
//= undefined_values_may_be_copied_but_not_used
#include <stdlib.h>
struct n { int a; int b; }; int f(void) { struct n *p = malloc(sizeof(struct n)); int x = p->a; p->b = x; return 1; }
//= undefined_values_may_be_copied_but_not_used_2
#include <stdlib.h>
struct n { int a; int b; }; int f(void) { struct n *p = malloc(sizeof *p); int x = p->a; return x + 1; }
//= undefined_values_may_be_copied_but_not_used_3
#include <stdlib.h>
struct n { int a; int b; }; int f(void) { struct n *p = malloc(sizeof *p); if (p->a) return 1; return 2; }
//= undefined_values_may_be_copied_but_not_used_4
int f1(void) { int x; return x; } // a result is used by the client
int g2; static int h2(int k2) { if (k2) return 3; } int f2(void) { return h2(g2) + 1; } // the end of a function without a return
int f3(void) { int s = 0; for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; s += x; } return s; } // a variable of an earlier round
//= marks_in_the_low_bits_of_pointers
#include <stdint.h>
struct n { struct n *next; int v; } a = { 0, 4 };
int f(void) { uintptr_t u = (uintptr_t)&a | 1; struct n *p = (struct n *)(u & ~(uintptr_t)1);
    return (int)(u & 1) * 10 + p->v; }
//= several_fields_in_one_word
#include <cyrano.h>
typedef struct n { int v; } n_t; n_t a = { 3 }, b = { 4 };
typedef cyrano_word struct { n_t *ptr; unsigned count : 8; int s : 4; } w_t;
w_t g = { &a, 255, -3 };
int f(void) { w_t w = g; w_t x = { &b, w.count + 1, w.s }; bool won = cas(&g, w, x); w_t y; y.ptr = g.ptr; y.count = 9; y.s = -8;
    return won * 10000 + w.ptr->v * 1000 + g.ptr->v * 100 + (int)(g.count + y.count) * 10 + w.s + y.s + (y.ptr == x.ptr)
        + (g == x) * 100000; }
//= several_fields_in_one_word_2
struct f { unsigned a : 3; unsigned b : 5; } g; int f(void) { struct f l = { 9, 17 }; g = l; return (int)(g.a * 100 + g.b); } // a struct of bit-fields is one word
//= narrow_bit_fields_are_promoted_to_int
struct f { unsigned a : 5; unsigned long b : 20; }; int f(void) { struct f l = { 17, 3 }; return l.a < -1; }
//= narrow_bit_fields_are_promoted_to_int_2
struct f { unsigned a : 5; unsigned long b : 20; }; int f(void) { struct f l = { 17, 3 }; return (l.a - 18) / 2 + (int)(l.b - 4 < 0) * 10; }
//= narrow_bit_fields_are_promoted_to_int_3
struct f { unsigned a : 5; unsigned long b : 20; }; int f(void) { struct f l = { 17, 3 }; l.a /= -16; return (int)l.a; }
//= a_word_is_one_access under relaxed
//~ p = put(in {1, 2})
//~ g = get()
//~ test T = ( p | g )
#include <cyrano.h>
typedef cyrano_word struct { unsigned a : 4; unsigned b : 4; } w_t; w_t g;
void put(unsigned v) { g = (w_t){ v, v }; }  unsigned get(void) { w_t w = g; return w.a * 16 + w.b; }
//= neighbouring_bit_fields_are_one_location
//~ a = set_a()
//~ b = set_b()
//~ test T = ( a | b )
struct f { unsigned a : 4; unsigned b : 4; } g; struct m { int x; unsigned a : 4; unsigned b : 4; } h;
int set_a(void) { g.a = 1; h.a = 1; return g.a * 100 + g.b * 10 + h.a + h.b; }
int set_b(void) { g.b = 1; h.b = 1; return g.a * 100 + g.b * 10 + h.a + h.b; }
//= fields_of_a_word_that_are_not_bit_fields_are_stored_alone
//~ a = set_a()
//~ b = set_b()
//~ test T = ( a | b )
#include <cyrano.h>
struct p { unsigned a; unsigned b; } g;
int set_a(void) { g.a = 1; return g.a * 10 + g.b; } int set_b(void) { g.b = 1; return g.a * 10 + g.b; }
void swap(void) { struct p o = g; cas(&g, o, o); }
//= a_struct_that_cas_takes_is_one_word under relaxed
//~ p = put(in {1, 2})
//~ g = get()
//~ test T = ( p | g )
#include <cyrano.h>
struct n { int v; } a; struct w { struct n *ptr; unsigned count; } g;
void put(unsigned v) { struct w o = g; cas(&g, o, ((struct w){ &a, v })); }
unsigned get(void) { struct w w = g; return (w.ptr == &a) * 16 + w.count; }
//= members_of_a_union
//~ f = f()
//~ test f = ( f )
#include <stdlib.h>
union u { int i; unsigned char c; int *p; struct { short lo, hi; }; } g = { .hi = 3 };
int f(void) { int x = 4; union u l = { -2 }, *q = malloc(sizeof *q); q->hi = 1; q->lo = 5; int *p = &x; g.lo = 7; union u m; m.p = p;
    return (g.i == 3 * 65536 + 7) * 1000 + (l.c == 254) * 100 + (q->i == 65541) * 10 + *m.p; }
//= a_union_that_was_not_written_is_undefined
union u { int i; unsigned n; }; int f(void) { union u l; return l.i; }
//= globals_start_as_zero_or_as_initialised
enum { A, B = 5, C } e = C; int z; _Bool t = 7; int m[2][2] = { { 1, 2 }, { 3 } }; static int *p = &m[1][0];
int f(void) { static int calls = 40; calls++; return (int)e * 10000 + z + t * 1000 + m[0][1] * 100 + *p * 10 + m[1][1] + calls; }
//= an_index_that_is_constant_in_the_end_is_checked_too
int a1[3], b1[3]; int f1(void) { return a1[(0, 5)]; }
int a2[3], g2, b2[3]; int f2(void) { return a2[g2 = -1]; }
int g3; int f3(void) { int a[3] = { 1 }, b[3] = { 2 }; return a[g3 = 3] + b[0]; }
