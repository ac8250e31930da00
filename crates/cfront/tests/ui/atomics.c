// C11's atomics, those of compilers, and those of the kernel: what they give, what their accesses are.
//= orders_of_loads_and_stores listing
#include <stdatomic.h>
atomic_int x; _Atomic int y; _Atomic(int) z;
void f(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 2, memory_order_release); atomic_store(&z, 3);
    atomic_load_explicit(&x, memory_order_relaxed); atomic_load_explicit(&x, memory_order_consume);
    atomic_load_explicit(&y, memory_order_acquire); atomic_load(&z); z = 4; int a = z; z++; z += a; }
//= orders_of_updates listing
#include <stdatomic.h>
atomic_int x; atomic_bool b; atomic_flag l = ATOMIC_FLAG_INIT;
int f(void) { int e = 0; atomic_exchange_explicit(&x, 1, memory_order_acq_rel);
    int k = atomic_compare_exchange_strong_explicit(&x, &e, 2, memory_order_acq_rel, memory_order_acquire);
    atomic_fetch_or_explicit(&x, 4, memory_order_release);
    while (atomic_flag_test_and_set_explicit(&l, memory_order_acquire)) ;
    atomic_flag_clear_explicit(&l, memory_order_release);
    return k; }
//= fences_of_all_orders listing
#include <stdatomic.h>
void f(void) { atomic_thread_fence(memory_order_relaxed); atomic_thread_fence(memory_order_acquire); atomic_thread_fence(memory_order_release);
    atomic_thread_fence(memory_order_acq_rel); atomic_thread_fence(memory_order_seq_cst); atomic_thread_fence(memory_order_consume);
    atomic_signal_fence(memory_order_seq_cst); }
//= what_they_give
#include <stdatomic.h>
atomic_int x = ATOMIC_VAR_INIT(5); _Atomic unsigned char c = 250; atomic_long n = -1; int a[4]; _Atomic(int *) p = a;
int f(void) { int e = 5, w = 7; int r = atomic_compare_exchange_strong(&x, &e, 6); r = r * 10 + atomic_compare_exchange_strong(&x, &w, 9);
    r = r * 10 + w; r = r * 10 + atomic_fetch_add(&x, 3); r = r * 10 + atomic_load(&x); c += 10; r = r * 10 + c; r = r * 10 + c++;
    r = r * 10 + (int)atomic_fetch_sub(&n, -2); r = r * 10 + n; atomic_fetch_add(&p, 3); return r * 10 + (p == &a[3]); }
//= results_wrap
#include <stdatomic.h>
#include <limits.h>
atomic_int x = INT_MAX; atomic_uint u = 0; _Atomic signed char c = 127;
int f(void) { atomic_fetch_add(&x, 1); atomic_fetch_sub(&u, 1); c++; return (x == INT_MIN) * 100 + (u == UINT_MAX) * 10 + (c == -128); }
//= what_compilers_have
int x = 5, e = 7, v = 9, o; char b;
long f(void) { long r = __atomic_load_n(&x, __ATOMIC_SEQ_CST); r = r * 10 + __atomic_add_fetch(&x, 1, __ATOMIC_RELAXED);
    __atomic_load(&x, &o, __ATOMIC_ACQUIRE); r = r * 10 + o; r = r * 10 + __atomic_compare_exchange(&x, &e, &v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    r = r * 10 + e; __atomic_store(&x, &v, __ATOMIC_RELEASE); r = r * 10 + x; r = r * 10 + __sync_bool_compare_and_swap(&x, 9, 3);
    r = r * 10 + __sync_val_compare_and_swap(&x, 3, 4); r = r * 10 + __sync_fetch_and_add(&x, 1); return r * 10 + __atomic_fetch_nand(&x, 1, 0) % 8; }
//= orders_that_are_none
#include <stdatomic.h>
atomic_int x; int y;
void f(void) { int e = 0; atomic_load_explicit(&x, memory_order_release); atomic_store_explicit(&x, 1, memory_order_acquire);
    atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_acq_rel, memory_order_acq_rel); atomic_load_explicit(&x, 17);
    atomic_load(&y); atomic_thread_fence(9); atomic_load(&x, 1); }
//= orders_known_when_calls_are_inlined listing
#include <stdatomic.h>
static inline int get(atomic_int *p, memory_order order) { return atomic_load_explicit(p, order); }
static inline int both(atomic_int *p, memory_order order) { memory_order mine = order == memory_order_acq_rel ? memory_order_acquire : order; return get(p, mine); }
atomic_int x;
void f(void) { both(&x, memory_order_acq_rel); both(&x, memory_order_relaxed); }
//= orders_computed_at_run_time
#include <stdatomic.h>
atomic_int x; int y;
int get(atomic_int *p, memory_order order) { return atomic_load_explicit(p, order); }
void f1(void) { get(&x, y ? memory_order_acquire : memory_order_relaxed); get(&x, memory_order_release); }
//= message_passing under rc11
//~ w = put()
//~ r = get()
//~ test T = ( w | r )
#include <stdatomic.h>
int data; atomic_int flag;
void put(void) { data = 1; atomic_store_explicit(&flag, 1, memory_order_release); }
int get(void) { return atomic_load_explicit(&flag, memory_order_acquire) ? data : 2; }
//= message_passing_relaxed under rc11
//~ w = put()
//~ r = get()
//~ test T = ( w | r )
#include <stdatomic.h>
atomic_int data, flag;
void put(void) { atomic_store_explicit(&data, 1, memory_order_relaxed); atomic_store_explicit(&flag, 1, memory_order_relaxed); }
int get(void) { return atomic_load_explicit(&flag, memory_order_relaxed) ? atomic_load_explicit(&data, memory_order_relaxed) : 2; }
//= a_weak_exchange_may_fail
//~ w = f()
//~ test T = ( w )
#include <stdatomic.h>
atomic_int x;
int f(void) { int e = 0; int done = atomic_compare_exchange_weak(&x, &e, 1); return done * 10 + e; }
//= parts_of_types
#include <stdatomic.h>
struct node { struct node *_Atomic next; atomic_int value; int plain; }; typedef struct { int a, b; } pair;
struct node n; _Atomic(struct node *) top; _Atomic pair both; atomic_int list[3]; int *_Atomic q;
int f(void) { struct node *old = top; do n.next = old; while (!atomic_compare_exchange_strong(&top, &old, &n));
    n.value = 3; list[1] = n.value + 1; pair p = { 1, 2 }; both = p; pair r = atomic_load(&both); q = &n.plain; *q = 7;
    return (top == &n) * 10000 + (n.next == 0) * 1000 + list[1] * 100 + r.b * 10 + n.plain; }
//= fields_of_atomic_objects
#include <stdatomic.h>
typedef struct { int a, b; } pair; _Atomic pair both; typedef struct { long a, b; } big; _Atomic big large;
int f(void) { return both.a; }
//= what_the_kernel_has listing
#include <linux/atomic.h>
int x, *p; atomic_t v = ATOMIC_INIT(0); spinlock_t l;
void f(void) { WRITE_ONCE(x, 1); smp_wmb(); READ_ONCE(x); smp_store_release(&x, 2); smp_load_acquire(&x); xchg(&x, 3);
    rcu_assign_pointer(p, &x); rcu_read_lock(); rcu_dereference(p); rcu_read_unlock(); synchronize_rcu(); atomic_inc(&v);
    atomic_fetch_add_relaxed(2, &v); cmpxchg_acquire(&x, 3, 4); spin_lock(&l); spin_unlock(&l); smp_store_mb(x, 1); }
//= an_alias_that_is_assigned
int a, b; void set(int **p) { *p = &b; } void put(int *p) { set(&p); *p = 1; }
int f(void) { int n = 5; put(&n); put(&a); return n * 100 + a * 10 + b; }
