// Intrinsics of Cyrano for C programs. See docs/c.md.
#ifndef CYRANO_H
#define CYRANO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <assert.h>

// Orders the accesses before it with those after it. One or several of "load-load", "load-store", "store-load",
// "store-store" separated by spaces, or "full".
void fence(const char *kinds);

// Executions in which the condition does not hold are left out. Within an atomic block: waits until it holds.
void assume(bool condition);

// Any value from lo to hi, both included; constants.
int choose(int lo, int hi);

// T is any type that fits into one word: integer, bool, enum, pointer, word struct. No fence is implied.
// bool cas(T *location, T expected, T desired)
// bool dcas(T *a, U *b, T expected_a, U expected_b, T desired_a, U desired_b)
// T exchange(T *location, T desired)            returns the old value
// T fetch_add(T *location, T summand)           returns the old value; integers only
bool cas();
bool dcas();
uintptr_t exchange();
uintptr_t fetch_add();

// atomic { ... }: the accesses of the block happen at one point of the memory order, in program order.
// No fences within; `return`, `break`, `continue` and `goto` out of it are fine.
#define atomic __cyrano_atomic:

// Blocks whose atomicity is checked, not given: what happens between atomic_begin() and atomic_end() should seem to happen at once,
// together with the last access before commit_point(). To memory these are nothing at all. Exactly one commit point on every path
// through a block, or none at all; `return`, `break` and `goto` do not end a block. See docs/atomicity.md.
void atomic_begin(void);
void commit_point(void);
void atomic_end(void);

// Something gets done here: where a thread runs for ever, `--criterion termination` asks that it passes such a mark again and again. See
// docs/termination.md.
void cyrano_progress(void);

// Before `struct`: the whole struct is one word, read, written and compared at once. Not needed for a struct that cas or exchange takes.
//   typedef cyrano_word struct { node_t *ptr; unsigned count : 8; } tagged_t;
#define cyrano_word __attribute__((cyrano_word))

// Locks (CheckFence, Fig. 7). The spin loop has no side effect, so `lock` waits instead of spinning.
typedef enum { unlocked, locked } lock_t;

static inline void init_lock(lock_t *lock)
{
    *lock = unlocked;
}

static inline void lock(lock_t *lock)
{
    atomic {
        assume(*lock == unlocked);
        *lock = locked;
    }
    fence("load-load load-store");
}

static inline void unlock(lock_t *lock)
{
    fence("load-store store-store");
    atomic {
        assert(*lock == locked);
        *lock = unlocked;
    }
}

#endif
