// The notation of tests.
//= observations_are_those_of_the_calls
//~ type queue // a comment
//~ init = init(&q)
//~ e = e(&q, in {0, 1})
//~ d = d(&q, out) -> found
//~ test T = e ( d )
#include <cyrano.h>
enum { RED = 2 }; struct q { int v; int n[2]; } q; int other;
void init(struct q *p) { p->v = 0; }
void e(struct q *p, int v) { p->v = v; }
bool d(struct q *p, int *out) { *out = p->v; return p->v != 0; }
int *where(int *p) { return p; }
void declared(int x);
//= an_out_parameter_may_count_only_if_the_call_succeeded
//~ g = get(&q, in {0, 1}, out if found) -> found
//~ h = get(&q, in {0, 1}, out if !result)
//~ k = get(&q, in {0, 1}, out if result) -> _
//~ test T = ( g )
//~ test U = ( h )
//~ test V = ( k )
struct q { int v; } q;
int get(struct q *p, int ok, int *out) { *out = 7; return ok; }
//= what_does_not_count_may_be_undefined
//~ g = get(in {0, 1}, out if result)
//~ test T = ( g )
struct pair { int a, b; };
int get(int ok, struct pair *out) { int junk; out->b = junk; if (ok) { out->a = 3; out->b = 4; } return ok; }
//= calls_behind_the_threads_come_after_them
//~ s = set(in {0, 1})
//~ g = get() -> _
//~ h = get() -> seen
//~ test T = ( s | g ) h
int x;
void set(int v) { x = v + 1; }
int get(void) { return x; }
