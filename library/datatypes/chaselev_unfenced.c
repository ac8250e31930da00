// chaselev without fences: the work-stealing deque of Chase and Lev as published. See chaselev.c.
//
// Failures: already under tso, the owner looks at `top` before thieves can see that it has claimed an element, and the element
// is both taken and stolen. From pso on, a slot is counted before it is filled.
//
//@ tests: chaselev.tests
//@ sc: verified
//@ tso: violated
//@ pso: violated
//@ rmo: violated
//@ relaxed: violated

#include <cyrano.h>

#define SIZE 4
#define EMPTY (-1)

typedef int value_t;

typedef struct deque {
    int top;
    int bottom;
    value_t slot[SIZE];
} deque_t;

deque_t deque;

void push(deque_t *d, value_t value)
{
    int bottom = d->bottom;
    assert(bottom < SIZE);
    d->slot[bottom] = value;
    d->bottom = bottom + 1;
}

value_t take(deque_t *d)
{
    value_t value;
    int top;
    int bottom = d->bottom - 1;
    d->bottom = bottom;
    top = d->top;
    if (top > bottom) {
        d->bottom = bottom + 1;
        return EMPTY;
    }
    value = d->slot[bottom];
    if (top == bottom) {
        if (!cas(&d->top, top, top + 1))
            value = EMPTY;
        d->bottom = bottom + 1;
    }
    return value;
}

value_t steal(deque_t *d)
{
    value_t value;
    int top, bottom;
    do {
        top = d->top;
        bottom = d->bottom;
        if (top >= bottom)
            return EMPTY;
        value = d->slot[top];
    } while (!cas(&d->top, top, top + 1));
    return value;
}
