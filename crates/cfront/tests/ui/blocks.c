// Atomic blocks with commit points.
//= a_block listing
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int m, data; int f(void) { int old; atomic_begin(); while (!cas(&m, 0, 1)) ; commit_point();
old = data; data = old + 1; m = 0; atomic_end(); return old; }
//= commits_in_functions_and_several_ends listing
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int m, data;
static bool try(void) { if (cas(&m, 0, 1)) { commit_point(); return true; } commit_point(); return false; }
int f(void) { atomic_begin(); if (!try()) { atomic_end(); return 0; } data = 1; m = 0; atomic_end(); return 1; }
//= what_is_wrong
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin();
if (x == 0) {
commit_point(); }
atomic_end();
return 0;
}
//= what_is_wrong_2
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin();
x = 1; commit_point();
while (x) {
commit_point(); }
atomic_end(); return 0;
}
//= what_is_wrong_3
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin();
commit_point(); x = 1;
atomic_end(); return 0;
}
//= what_is_wrong_4
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin(); x = 1;
int r = choose(0, 1);
commit_point(); atomic_end(); return r;
}
//= what_is_wrong_5
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin(); x = 1; commit_point();
if (x == 2) {
return 1; }
atomic_end(); return 0;
}
//= what_is_wrong_6
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin(); x = 1;
atomic_begin(); commit_point(); atomic_end(); atomic_end(); return 0;
}
//= what_is_wrong_7
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
x = 1;
commit_point();
return 0;
}
//= what_is_wrong_8
//~ f = f()
//~ test T = ( f | f )
#include <cyrano.h>
int x;
int f(void) {
atomic_begin();
atomic { x = 1;
commit_point(); }
atomic_end(); return 0;
}
