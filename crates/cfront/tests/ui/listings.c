// What the lowering makes: small code, spans of statements, the form that engines expect.
//= a_stack_push_is_five_accesses_and_no_copies listing
//~ p = push(&s, in {0, 1})
//~ test T = ( p )
#include <cyrano.h>
#include <stdlib.h>
typedef struct node { struct node *next; int value; } node_t;
typedef struct { node_t *top; } stack_t;
stack_t s;
void push(stack_t *s, int v) {
    node_t *n = malloc(sizeof(node_t));
    n->value = v;
    do { n->next = s->top; } while (!cas(&s->top, n->next, n));
}
//= spans_point_to_statements_and_calls_of_stubs spans
#include <cyrano.h>
lock_t l; int x;
void f(void)
{
    lock(&l);
    x = 1;
    unlock(&l);
}
//= memory_has_gaps_and_names listing
#include <stdlib.h>
struct q { struct n *head; } q; struct n { int v[2]; }; int x;
void f(void) { q.head = malloc(sizeof(struct n)); q.head->v[0] = 1; free(q.head); }
//= out_parameters_cost_no_access listing
//~ g = get(out) -> ok
//~ test T = ( g )
_Bool get(int *out) { *out = 3; return 1; }
//= a_prime_cuts_retry_loops_only listing
//~ s = spin()
//~ test A = ( s )
//~ test B = ( s' )
#include <cyrano.h>
int x;
void spin(void) { int i = 0; while (i < 2) i++; while (true) { int o = x; if (cas(&x, o, o + i)) return; } }
