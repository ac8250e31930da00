// Atomic objects and memory orders (C11, 7.17). The functions are known to the checker by their names. See docs/c.md.
#ifndef CYRANO_STDATOMIC_H
#define CYRANO_STDATOMIC_H
#include <stdbool.h>
#include <stddef.h>

typedef enum {
    memory_order_relaxed = 0,
    memory_order_consume = 1,
    memory_order_acquire = 2,
    memory_order_release = 3,
    memory_order_acq_rel = 4,
    memory_order_seq_cst = 5
} memory_order;

typedef _Atomic(_Bool) atomic_bool;
typedef _Atomic(char) atomic_char;
typedef _Atomic(signed char) atomic_schar;
typedef _Atomic(unsigned char) atomic_uchar;
typedef _Atomic(short) atomic_short;
typedef _Atomic(unsigned short) atomic_ushort;
typedef _Atomic(int) atomic_int;
typedef _Atomic(unsigned int) atomic_uint;
typedef _Atomic(long) atomic_long;
typedef _Atomic(unsigned long) atomic_ulong;
typedef _Atomic(long long) atomic_llong;
typedef _Atomic(unsigned long long) atomic_ullong;
typedef _Atomic(unsigned short) atomic_char16_t;
typedef _Atomic(unsigned int) atomic_char32_t;
typedef _Atomic(int) atomic_wchar_t;
typedef _Atomic(signed char) atomic_int_least8_t;
typedef _Atomic(unsigned char) atomic_uint_least8_t;
typedef _Atomic(short) atomic_int_least16_t;
typedef _Atomic(unsigned short) atomic_uint_least16_t;
typedef _Atomic(int) atomic_int_least32_t;
typedef _Atomic(unsigned int) atomic_uint_least32_t;
typedef _Atomic(long) atomic_int_least64_t;
typedef _Atomic(unsigned long) atomic_uint_least64_t;
typedef _Atomic(signed char) atomic_int_fast8_t;
typedef _Atomic(unsigned char) atomic_uint_fast8_t;
typedef _Atomic(long) atomic_int_fast16_t;
typedef _Atomic(unsigned long) atomic_uint_fast16_t;
typedef _Atomic(long) atomic_int_fast32_t;
typedef _Atomic(unsigned long) atomic_uint_fast32_t;
typedef _Atomic(long) atomic_int_fast64_t;
typedef _Atomic(unsigned long) atomic_uint_fast64_t;
typedef _Atomic(long) atomic_intptr_t;
typedef _Atomic(unsigned long) atomic_uintptr_t;
typedef _Atomic(unsigned long) atomic_size_t;
typedef _Atomic(long) atomic_ptrdiff_t;
typedef _Atomic(long) atomic_intmax_t;
typedef _Atomic(unsigned long) atomic_uintmax_t;

#define ATOMIC_BOOL_LOCK_FREE 2
#define ATOMIC_CHAR_LOCK_FREE 2
#define ATOMIC_CHAR16_T_LOCK_FREE 2
#define ATOMIC_CHAR32_T_LOCK_FREE 2
#define ATOMIC_WCHAR_T_LOCK_FREE 2
#define ATOMIC_SHORT_LOCK_FREE 2
#define ATOMIC_INT_LOCK_FREE 2
#define ATOMIC_LONG_LOCK_FREE 2
#define ATOMIC_LLONG_LOCK_FREE 2
#define ATOMIC_POINTER_LOCK_FREE 2
#define ATOMIC_VAR_INIT(value) (value)
#define atomic_is_lock_free(object) ((void)(object), (_Bool)1)

void atomic_init();
int atomic_load();
int atomic_load_explicit();
void atomic_store();
void atomic_store_explicit();
int atomic_exchange();
int atomic_exchange_explicit();
bool atomic_compare_exchange_strong();
bool atomic_compare_exchange_strong_explicit();
bool atomic_compare_exchange_weak();
bool atomic_compare_exchange_weak_explicit();
int atomic_fetch_add();
int atomic_fetch_add_explicit();
int atomic_fetch_sub();
int atomic_fetch_sub_explicit();
int atomic_fetch_or();
int atomic_fetch_or_explicit();
int atomic_fetch_xor();
int atomic_fetch_xor_explicit();
int atomic_fetch_and();
int atomic_fetch_and_explicit();
void atomic_thread_fence(memory_order order);
void atomic_signal_fence(memory_order order);
int kill_dependency();

typedef struct { _Atomic(_Bool) is_set; } atomic_flag;
#define ATOMIC_FLAG_INIT { 0 }

static inline bool atomic_flag_test_and_set_explicit(volatile atomic_flag *flag, memory_order order)
{
    return atomic_exchange_explicit(&flag->is_set, 1, order);
}

static inline bool atomic_flag_test_and_set(volatile atomic_flag *flag)
{
    return atomic_exchange_explicit(&flag->is_set, 1, memory_order_seq_cst);
}

static inline void atomic_flag_clear_explicit(volatile atomic_flag *flag, memory_order order)
{
    atomic_store_explicit(&flag->is_set, 0, order);
}

static inline void atomic_flag_clear(volatile atomic_flag *flag)
{
    atomic_store_explicit(&flag->is_set, 0, memory_order_seq_cst);
}

#endif
