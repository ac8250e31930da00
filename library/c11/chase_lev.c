// chase_lev: the work-stealing deque of Chase and Lev with the orders of Lê and others, in C11.
// Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005); Lê, Pop, Cohen and Zappa Nardelli, "Correct and
// efficient work-stealing for weak memory models" (PPoPP 2013), Fig. 1.
// The owner pushes and takes at the bottom, thieves steal at the top. Elements are atomic: a thief reads one that the owner
// may overwrite, and throws away what it read.
// The array does not grow here.
//
// NO_TAKE_FENCE: without the fence in `take`, owner and thief both get the last element.
// NO_STEAL_FENCE: the same with the fence in `steal`.
// NO_PUSH_FENCE: without the release fence in `push` a thief reads an element that is not there.
//
//@ sc: verified
//@ rc11: verified
//@ rc11 NO_TAKE_FENCE: violated
//@ rc11 NO_STEAL_FENCE: violated
//@ rc11 NO_PUSH_FENCE: violated
//@ tso NO_TAKE_FENCE: violated

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define SIZE 2
#define NOTHING 0

static atomic_int top, bottom;
static atomic_int slots[SIZE];
static int taken[4]; // by whom does not matter; twice is a race, or 2

static void push(int value)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&slots[b % SIZE], value, memory_order_relaxed);
#ifndef NO_PUSH_FENCE
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifndef NO_TAKE_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int t = atomic_load_explicit(&top, memory_order_relaxed), value = NOTHING;
    if (t <= b) {
        value = atomic_load_explicit(&slots[b % SIZE], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                value = NOTHING;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return value;
}

static int steal(void)
{
    int t = atomic_load_explicit(&top, memory_order_acquire), value = NOTHING;
#ifndef NO_STEAL_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t < b) {
        value = atomic_load_explicit(&slots[t % SIZE], memory_order_relaxed);
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            return NOTHING;
        assert(value != NOTHING);
    }
    return value;
}

static void use(int value)
{
    if (value != NOTHING)
        taken[value]++;
}

static void *owner(void *unused)
{
    (void)unused;
    push(1);
    push(2);
    use(take());
    use(take());
    return NULL;
}

static void *thief(void *unused)
{
    (void)unused;
    use(steal());
    use(steal());
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, owner, NULL);
    pthread_create(&threads[1], NULL, thief, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(taken[1] <= 1 && taken[2] <= 1);
    return 0;
}
