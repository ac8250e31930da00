// What the Linux kernel has for memory that is shared (tools/memory-model). The functions are known to the checker by their names. See docs/c.md.
#ifndef CYRANO_LINUX_H
#define CYRANO_LINUX_H
#include <stdbool.h>
#include <stddef.h>

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long s64;
typedef unsigned long u64;

typedef int atomic_t;
typedef long atomic_long_t;
typedef long atomic64_t;
typedef int spinlock_t;
struct srcu_struct { int srcu_idx; };

#define ATOMIC_INIT(value) (value)
#define ATOMIC_LONG_INIT(value) (value)
#define DEFINE_SPINLOCK(name) spinlock_t name = 0
#define __SPIN_LOCK_UNLOCKED(name) 0
#define DEFINE_SRCU(name) struct srcu_struct name
#define DEFINE_STATIC_SRCU(name) static struct srcu_struct name
#define __rcu
#define __user
#define __always_inline inline
#define likely(condition) (condition)
#define unlikely(condition) (condition)

static inline void spin_lock_init(spinlock_t *lock)
{
    *lock = 0;
}

int READ_ONCE();
int rcu_dereference();
int lockless_dereference();
int smp_load_acquire();
int atomic_read();
int atomic_read_acquire();
int xchg();
int xchg_relaxed();
int xchg_acquire();
int xchg_release();
int cmpxchg();
int cmpxchg_relaxed();
int cmpxchg_acquire();
int cmpxchg_release();
int spin_trylock();
int spin_is_locked();
int srcu_read_lock();
int srcu_down_read();
int atomic_xchg();
int atomic_xchg_relaxed();
int atomic_xchg_acquire();
int atomic_xchg_release();
int atomic_cmpxchg();
int atomic_cmpxchg_relaxed();
int atomic_cmpxchg_acquire();
int atomic_cmpxchg_release();
int atomic_add_unless();
int atomic_add_unless_relaxed();
int atomic_add_unless_acquire();
int atomic_add_unless_release();
int atomic_add_return();
int atomic_add_return_relaxed();
int atomic_add_return_acquire();
int atomic_add_return_release();
int atomic_sub_return();
int atomic_sub_return_relaxed();
int atomic_sub_return_acquire();
int atomic_sub_return_release();
int atomic_inc_return();
int atomic_fetch_inc();
int atomic_inc_return_relaxed();
int atomic_fetch_inc_relaxed();
int atomic_inc_return_acquire();
int atomic_fetch_inc_acquire();
int atomic_inc_return_release();
int atomic_fetch_inc_release();
int atomic_dec_return();
int atomic_fetch_dec();
int atomic_dec_return_relaxed();
int atomic_fetch_dec_relaxed();
int atomic_dec_return_acquire();
int atomic_fetch_dec_acquire();
int atomic_dec_return_release();
int atomic_fetch_dec_release();
int atomic_fetch_add();
int atomic_fetch_add_relaxed();
int atomic_fetch_add_acquire();
int atomic_fetch_add_release();
int atomic_fetch_sub();
int atomic_fetch_sub_relaxed();
int atomic_fetch_sub_acquire();
int atomic_fetch_sub_release();
int atomic_fetch_and();
int atomic_fetch_and_relaxed();
int atomic_fetch_and_acquire();
int atomic_fetch_and_release();
int atomic_fetch_or();
int atomic_fetch_or_relaxed();
int atomic_fetch_or_acquire();
int atomic_fetch_or_release();
int atomic_fetch_xor();
int atomic_fetch_xor_relaxed();
int atomic_fetch_xor_acquire();
int atomic_fetch_xor_release();
int atomic_inc_and_test();
int atomic_dec_and_test();
int atomic_add_and_test();
int atomic_sub_and_test();
int atomic_add_negative();
void WRITE_ONCE();
void rcu_assign_pointer();
void smp_store_release();
void smp_store_mb();
void atomic_set();
void atomic_set_release();
void atomic_inc();
void atomic_dec();
void atomic_add();
void atomic_sub();
void atomic_and();
void atomic_or();
void atomic_xor();
void spin_lock();
void spin_unlock();
void srcu_read_unlock();
void srcu_up_read();
void synchronize_srcu();
void synchronize_srcu_expedited();
void smp_mb();
void smp_rmb();
void smp_wmb();
void smp_mb__before_atomic();
void smp_mb__after_atomic();
void smp_mb__after_spinlock();
void smp_mb__after_unlock_lock();
void smp_mb__after_srcu_read_unlock();
void barrier();
void rcu_read_lock();
void rcu_read_unlock();
void synchronize_rcu();
void synchronize_rcu_expedited();
void rcu_read_lock_bh();
void rcu_read_unlock_bh();

#endif
