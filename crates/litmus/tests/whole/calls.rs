//! What calls of C11's and the kernel's functions become, one at a time.

use expect_test::{Expect, expect};

use super::machines::code;

fn check(statements: &[&str], expected: &Expect) {
    let mut out = String::new();
    for statement in statements {
        let head = "C a\n{ }\nP0 (int *x, atomic_int *y, spinlock_t *l, struct srcu_struct *s, int **p)";
        let source = format!("{head} {{ int r0; {statement} }}\nexists (x=1)\n");
        out.push_str(&format!("{statement}\n    {}\n", code(&source)));
    }
    expected.assert_eq(&out);
}

#[test]
fn c11() {
    let list = [
        "*x = 1;",
        "*y = 1;",
        "r0 = *y;",
        "r0 = atomic_load(y);",
        "r0 = atomic_load_explicit(y, memory_order_relaxed);",
        "r0 = atomic_load_explicit(y, memory_order_consume);",
        "r0 = atomic_load_explicit(y, memory_order_acquire);",
        "atomic_store_explicit(y, 1, memory_order_release);",
        "atomic_init(y, 1);",
        "r0 = atomic_exchange_explicit(y, 1, memory_order_acq_rel);",
        "r0 = atomic_fetch_add_explicit(y, 1, memory_order_relaxed);",
        "r0 = atomic_fetch_or(y, 1);",
        "int e; r0 = atomic_compare_exchange_strong(y, &e, 1);",
        "int e; r0 = atomic_compare_exchange_strong_explicit(y, &e, 1, memory_order_acq_rel, memory_order_acquire);",
        "int e; r0 = atomic_compare_exchange_weak_explicit(y, x, 1, memory_order_relaxed, memory_order_relaxed);",
        "atomic_thread_fence(memory_order_relaxed);",
        "atomic_thread_fence(memory_order_acquire);",
        "atomic_thread_fence(memory_order_seq_cst);",
    ];
    check(
        &list,
        &expect![[r#"
            *x = 1;
                store x, 1
            *y = 1;
                store y, 1 {seq_cst atomic}
            r0 = *y;
                r0 := load y {seq_cst atomic}
            r0 = atomic_load(y);
                r0 := load y {seq_cst atomic}
            r0 = atomic_load_explicit(y, memory_order_relaxed);
                r0 := load y {atomic}
            r0 = atomic_load_explicit(y, memory_order_consume);
                r0 := load y {consume atomic}
            r0 = atomic_load_explicit(y, memory_order_acquire);
                r0 := load y {acquire atomic}
            atomic_store_explicit(y, 1, memory_order_release);
                store y, 1 {release atomic}
            atomic_init(y, 1);
                store y, 1
            r0 = atomic_exchange_explicit(y, 1, memory_order_acq_rel);
                %t0 := exchange y, 1 {acquire release atomic}; r0 := %t0
            r0 = atomic_fetch_add_explicit(y, 1, memory_order_relaxed);
                atomic begin; %t0 := load y {atomic}; store y, wrap_i32((%t0 + 1)) {atomic}; atomic end; r0 := %t0
            r0 = atomic_fetch_or(y, 1);
                atomic begin; %t0 := load y {seq_cst atomic}; store y, (%t0 | 1) {seq_cst atomic}; atomic end; r0 := %t0
            int e; r0 = atomic_compare_exchange_strong(y, &e, 1);
                %t0 := e; %t1 := cas y, %t0, 1 {seq_cst atomic}; e := %t1; r0 := (%t1 == %t0)
            int e; r0 = atomic_compare_exchange_strong_explicit(y, &e, 1, memory_order_acq_rel, memory_order_acquire);
                %t0 := e; %t1 := cas y, %t0, 1 {acquire release atomic} else {acquire atomic}; e := %t1; r0 := (%t1 == %t0)
            int e; r0 = atomic_compare_exchange_weak_explicit(y, x, 1, memory_order_relaxed, memory_order_relaxed);
                %t0 := load x; %t1 := choose 0, 1; branch %t1 then @3 else @6; %t3 := cas y, %t0, 1 {atomic}; %t2 := (%t3 == %t0); jump @8; %t3 := load y {atomic}; %t2 := 0; branch %t2 then @10 else @9; store x, %t3; r0 := %t2
            atomic_thread_fence(memory_order_relaxed);
                nothing
            atomic_thread_fence(memory_order_acquire);
                fence thread_fence.acquire
            atomic_thread_fence(memory_order_seq_cst);
                fence thread_fence.seq_cst
        "#]],
    );
}

#[test]
fn kernel() {
    let list = [
        "r0 = READ_ONCE(*x);",
        "WRITE_ONCE(*x, 1);",
        "r0 = smp_load_acquire(x);",
        "smp_store_release(x, 1);",
        "smp_store_mb(*x, 1);",
        "int *q = rcu_dereference(*p); r0 = *q;",
        "rcu_assign_pointer(*p, x);",
        "r0 = xchg(x, 1);",
        "r0 = xchg_relaxed(x, 1);",
        "r0 = xchg_acquire(x, 1);",
        "r0 = cmpxchg(x, 0, 1);",
        "r0 = cmpxchg_release(x, 0, 1);",
        "r0 = atomic_read(x);",
        "atomic_set(x, 1);",
        "r0 = atomic_read_acquire(x);",
        "atomic_inc(x);",
        "atomic_add(2, x);",
        "r0 = atomic_fetch_andnot(2, x);",
        "r0 = atomic_add_return(2, x);",
        "r0 = atomic_dec_return_relaxed(x);",
        "r0 = atomic_fetch_add(2, x);",
        "r0 = atomic_fetch_sub_release(2, x);",
        "r0 = atomic_dec_and_test(x);",
        "r0 = atomic_add_negative(1, x);",
        "r0 = atomic_add_unless(x, 1, 5);",
        "smp_mb(); smp_rmb(); smp_wmb(); barrier();",
        "smp_mb__before_atomic(); smp_mb__after_atomic();",
        "smp_mb__after_spinlock(); smp_mb__after_unlock_lock();",
        "rcu_read_lock(); rcu_read_unlock(); synchronize_rcu();",
        "spin_lock(l); spin_unlock(l);",
        "r0 = spin_trylock(l);",
        "r0 = spin_is_locked(l);",
        "r0 = srcu_read_lock(s); srcu_read_unlock(s, r0);",
        "synchronize_srcu(s);",
        "r7 = READ_ONCE(*x);",
        "intptr_t a = x; WRITE_ONCE(*p, a);",
        "r0 = READ_ONCE(*(intptr_t *)x);",
    ];
    check(
        &list,
        &expect![[r#"
        r0 = READ_ONCE(*x);
            r0 := load x {atomic}
        WRITE_ONCE(*x, 1);
            store x, 1 {atomic}
        r0 = smp_load_acquire(x);
            r0 := load x {acquire atomic}
        smp_store_release(x, 1);
            store x, 1 {release atomic}
        smp_store_mb(*x, 1);
            store x, 1 {atomic}; fence smp_mb
        int *q = rcu_dereference(*p); r0 = *q;
            q := load p {atomic}; r0 := load memory[target(q)]
        rcu_assign_pointer(*p, x);
            store p, 8 {release atomic}
        r0 = xchg(x, 1);
            %t0 := exchange x, 1 {atomic full}; r0 := %t0
        r0 = xchg_relaxed(x, 1);
            %t0 := exchange x, 1 {atomic}; r0 := %t0
        r0 = xchg_acquire(x, 1);
            %t0 := exchange x, 1 {acquire atomic}; r0 := %t0
        r0 = cmpxchg(x, 0, 1);
            %t0 := cas x, 0, 1 {atomic full} else {atomic}; r0 := %t0
        r0 = cmpxchg_release(x, 0, 1);
            %t0 := cas x, 0, 1 {release atomic} else {atomic}; r0 := %t0
        r0 = atomic_read(x);
            r0 := load x {atomic}
        atomic_set(x, 1);
            store x, 1 {atomic}
        r0 = atomic_read_acquire(x);
            r0 := load x {acquire atomic}
        atomic_inc(x);
            atomic begin; %t0 := load x {atomic noreturn}; store x, wrap_i32((%t0 + 1)) {atomic noreturn}; atomic end
        atomic_add(2, x);
            atomic begin; %t0 := load x {atomic noreturn}; store x, wrap_i32((%t0 + 2)) {atomic noreturn}; atomic end
        r0 = atomic_fetch_andnot(2, x);
            atomic begin; %t0 := load x {atomic full}; store x, (%t0 & -3) {atomic full}; atomic end; r0 := %t0
        r0 = atomic_add_return(2, x);
            atomic begin; %t0 := load x {atomic full}; store x, wrap_i32((%t0 + 2)) {atomic full}; atomic end; r0 := wrap_i32((%t0 + 2))
        r0 = atomic_dec_return_relaxed(x);
            atomic begin; %t0 := load x {atomic}; store x, wrap_i32((%t0 - 1)) {atomic}; atomic end; r0 := wrap_i32((%t0 - 1))
        r0 = atomic_fetch_add(2, x);
            atomic begin; %t0 := load x {atomic full}; store x, wrap_i32((%t0 + 2)) {atomic full}; atomic end; r0 := %t0
        r0 = atomic_fetch_sub_release(2, x);
            atomic begin; %t0 := load x {atomic}; store x, wrap_i32((%t0 - 2)) {release atomic}; atomic end; r0 := %t0
        r0 = atomic_dec_and_test(x);
            atomic begin; %t0 := load x {atomic full}; store x, wrap_i32((%t0 - 1)) {atomic full}; atomic end; r0 := (wrap_i32((%t0 - 1)) == 0)
        r0 = atomic_add_negative(1, x);
            atomic begin; %t0 := load x {atomic full}; store x, wrap_i32((%t0 + 1)) {atomic full}; atomic end; r0 := (wrap_i32((%t0 + 1)) < 0)
        r0 = atomic_add_unless(x, 1, 5);
            atomic begin; %t0 := load x {atomic full}; branch (%t0 != 5) then @3 else @4; store x, wrap_i32((%t0 + 1)) {atomic full}; atomic end; r0 := (%t0 != 5)
        smp_mb(); smp_rmb(); smp_wmb(); barrier();
            fence smp_mb; fence smp_rmb; fence smp_wmb; fence barrier
        smp_mb__before_atomic(); smp_mb__after_atomic();
            fence smp_mb__before_atomic; fence smp_mb__after_atomic
        smp_mb__after_spinlock(); smp_mb__after_unlock_lock();
            fence smp_mb__after_spinlock; fence smp_mb__after_unlock_lock
        rcu_read_lock(); rcu_read_unlock(); synchronize_rcu();
            fence rcu_read_lock; fence rcu_read_unlock; fence synchronize_rcu
        spin_lock(l); spin_unlock(l);
            %t0 := exchange l, 1 {acquire atomic lock}; assume (%t0 == 0); store l, 0 {release atomic lock}
        r0 = spin_trylock(l);
            %t0 := cas l, 0, 1 {acquire atomic lock} else {atomic}; r0 := (%t0 == 0)
        r0 = spin_is_locked(l);
            %t0 := load l {atomic}; r0 := (%t0 != 0)
        r0 = srcu_read_lock(s); srcu_read_unlock(s, r0);
            r0 := load s {srcu}; store s, r0 {srcu}
        synchronize_srcu(s);
            fence synchronize_srcu at s
        r7 = READ_ONCE(*x);
            %t0 := load x {atomic}; r7 := %t0
        intptr_t a = x; WRITE_ONCE(*p, a);
            a := 8; store p, a {atomic}
        r0 = READ_ONCE(*(intptr_t *)x);
            %t0 := load x {atomic}; r0 := wrap_i32(%t0)
    "#]],
    );
}
