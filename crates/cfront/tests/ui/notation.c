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
