// chaselev: the work-stealing deque of Chase and Lev, with the fences that `relaxed` needs.
// Published in "Dynamic circular work-stealing deque" (SPAA 2005); Le, Pop, Cohen and Zappa Nardelli give fences for it in
// "Correct and efficient work-stealing for weak memory models" (PPoPP 2013).
//
// One thread owns the deque: it pushes and takes at the bottom. Others steal at the top.
// Owner and thieves compete for the last element with a cas on `top`.
//
// Departures: the array neither grows nor wraps around, so that a test must not push more than SIZE elements (an assertion says
// so). A steal that loses the race tries again instead of reporting failure, which no serial execution would show.
// Slots below `top` are not used again; where the array wraps around, the thief must load the value before its cas.
//
//@ sc: verified
//@ tso: verified
//@ pso: verified
//@ rmo: verified
//@ relaxed: verified

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
    fence("store-store"); // the slot is filled before it is counted
    d->bottom = bottom + 1;
}

value_t take(deque_t *d)
{
    value_t value;
    int top;
    int bottom = d->bottom - 1;
    d->bottom = bottom;
    fence("store-load"); // thieves see that the last element is claimed, or the owner sees that they have taken it
    top = d->top;
    if (top > bottom) {
        fence("load-store"); // the claim is given up after it is known to be in vain
        d->bottom = bottom + 1;
        return EMPTY;
    }
    value = d->slot[bottom];
    if (top == bottom) {
        if (!cas(&d->top, top, top + 1))
            value = EMPTY;
        fence("load-store"); // the claim is given up after the cas has decided
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
        fence("load-load"); // bottom is not older than top
        bottom = d->bottom;
        fence("load-load"); // the slot is loaded after it is known to be filled; and the next steal looks later than this one
        if (top >= bottom)
            return EMPTY;
        value = d->slot[top];
    } while (!cas(&d->top, top, top + 1));
    return value;
}
