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
