// Directives, macros, includes, and where their tokens come from.
//= macros_expand_once
#define ONE 1
#define ADD(a, b) ((a) + (b))
#define x x + ONE
#define EMPTY()
int f(void) { int y = 3; EMPTY();
#undef ONE
#define ONE 2

return ADD(ADD(y, ONE), \
 40); }
//= conditions_choose_lines
#define A 3
#if defined(A) && A * 2 == 6
#define R 1
#elif 1
#define R 2
#else
#error no
#endif
#ifdef B
#if nonsense (
#endif
int g = broken
#endif
#ifndef B
int f(void) { return R + __CYRANO__ * 10; }
#endif
//= files_beside_the_source_are_included
#include "h.h"
int f(void) { return twice(4); }
//- h.h
#pragma once
#include "h.h"
static int twice(int x) { return x * 2; }
//= files_beside_the_source_are_included_2
#include "h.h"
int f(void) { return twice(4); }
//- h.h


int twice(int x) { return y; }
//= what_it_cannot_do_is_said
#include <complex.h>
//= what_it_cannot_do_is_said_2
#pragma omp parallel
//= what_it_cannot_do_is_said_3
#defien X
//= what_it_cannot_do_is_said_4
#define F(a, ...) a
//= what_it_cannot_do_is_said_5
#define F(a) #a
//= what_it_cannot_do_is_said_6
#if 1 +
#endif
//= what_it_cannot_do_is_said_7
#if 1 / 0
#endif
//= what_it_cannot_do_is_said_8
#endif
//= what_it_cannot_do_is_said_9
#if 1
//= what_it_cannot_do_is_said_10
#error too old
//= what_it_cannot_do_is_said_11
#define F(a) a
int x = F(1, 2);
//= what_it_cannot_do_is_said_12
int x = 'a;
//= what_it_cannot_do_is_said_13
/* 
//= what_it_cannot_do_is_said_14
int x = 1 @ 2;
//= places_survive_macros
#define GET(p) ((p)->valu)
struct s { int value; } g;
int f(void) { return GET(&g); }
//= pasting_and_variable_arguments
#define CAT(a, b) a ## b
#define XCAT(a, b) CAT(a, b)
#define N 4
#define SUM(first, ...) (first + 0, ## __VA_ARGS__)
#define OPT(x, ...) (x __VA_OPT__(+) __VA_ARGS__)
#define t(x, y, z) x ## y ## z
#define f2(a) a * g2
#define g2(a) f2(a)
int v4 = 7, vN = 8, g2_ = 3;
int f(void) { int n = CAT(v, N), m = XCAT(v, N); return n * 1000 + m * 100 + OPT(1) * 10 + OPT(1, 2) + (SUM(5)) * 10000 + t(1, 2, ) * 100000 + t(, , 3); }
//= lines_and_conditions
#line 41 "other.c"
int a = __LINE__;
#if __has_include(<stdint.h>) && !__has_include("nothing.h") && 'a' == 97 && (1 ? 2 : 1 / 0)
#define OK 1
#elif 0
#endif
#ifdef OK
#elifdef __linux__
#error not here
#endif
#warning nobody listens
#pragma omp parallel
int f(void) { _Pragma("once") int b = __COUNTER__ * 10 + __COUNTER__; return a * 100 + OK * 10 + b; }
