//! Generated tests are read back, and are what their cycles say.

use cyrano_litmus::generate::{Cycle, Edge, Relation, Target};
use expect_test::{Expect, expect};

use super::accepted;

const TARGETS: [Target; 7] =
    [Target::X86, Target::X86_64, Target::AArch64, Target::Riscv, Target::Ppc, Target::C, Target::Kernel];

fn check(target: Target, cycle: &str, expected: &Expect) {
    let text = Cycle::parse(cycle).and_then(|cycle| cycle.text(target)).expect("the cycle makes a test");
    accepted(&text);
    expected.assert_eq(&text);
}

#[test]
fn tests_have_what_the_cycle_names() {
    check(
        Target::AArch64,
        "DMB.SYdWW Rfe DpAddrdR Fre",
        &expect![[r#"
        AArch64 MP+dmb.sy+addr
        "DpAddrdR Fre DMB.SYdWW Rfe"
        Cycle=DpAddrdR Fre DMB.SYdWW Rfe
        {
        0:X1=x; 0:X4=y;
        1:X1=y; 1:X3=x;
        }
         P0                  | P1          ;
         LDR W0,[X1]         | MOV W0,#1   ;
         EOR W2,W0,W0        | STR W0,[X1] ;
         LDR W3,[X4,W2,SXTW] | DMB SY      ;
                             | MOV W2,#1   ;
                             | STR W2,[X3] ;
        exists (0:X0=1 /\ 0:X3=0)
    "#]],
    );
    check(
        Target::AArch64,
        "PodWWPL RfeLA DpCtrlIsbdRAQ Fre",
        &expect![[r#"
        AArch64 MP+popl+ctrlisbaq
        "PodWWPL RfeLA DpCtrlIsbdRAQ Fre"
        Cycle=PodWWPL RfeLA DpCtrlIsbdRAQ Fre
        {
        0:X1=x; 0:X3=y;
        1:X1=y; 1:X3=x;
        }
         P0           | P1            ;
         MOV W0,#1    | LDAR W0,[X1]  ;
         STR W0,[X1]  | CBNZ W0,LC00  ;
         MOV W2,#1    | LC00:         ;
         STLR W2,[X3] | ISB           ;
                      | LDAPR W2,[X3] ;
        exists (1:X0=1 /\ 1:X2=0)
    "#]],
    );
    check(
        Target::Riscv,
        "Fence.w.wdWW Rfe DpDatadW Wse",
        &expect![[r#"
        RISCV S+fence.w.w+data
        "DpDatadW Wse Fence.w.wdWW Rfe"
        Cycle=DpDatadW Wse Fence.w.wdWW Rfe
        {
        0:x6=x; 0:x8=y;
        1:x6=y; 1:x8=x;
        }
         P0           | P1          ;
         lw x5,0(x6)  | ori x5,x0,2 ;
         xor x7,x5,x5 | sw x5,0(x6) ;
         addi x7,x7,1 | fence w,w   ;
         sw x7,0(x8)  | ori x7,x0,1 ;
                      | sw x7,0(x8) ;
        exists (0:x5=1 /\ y=2)
    "#]],
    );
    check(
        Target::Ppc,
        "LwSyncdWW Rfe DpCtrlIsyncdR Fre",
        &expect![[r#"
            PPC MP+lwsync+ctrlisync
            "DpCtrlIsyncdR Fre LwSyncdWW Rfe"
            Cycle=DpCtrlIsyncdR Fre LwSyncdWW Rfe
            {
            0:r2=x; 0:r4=y;
            1:r2=y; 1:r4=x;
            }
             P0           | P1           ;
             lwz r1,0(r2) | li r1,1      ;
             cmpw r1,r1   | stw r1,0(r2) ;
             beq LC00     | lwsync       ;
             LC00:        | li r3,1      ;
             isync        | stw r3,0(r4) ;
             lwz r3,0(r4) |              ;
            exists (0:r1=1 /\ 0:r3=0)
        "#]],
    );
    check(
        Target::C,
        "PodWWRlxRel RfeRelAcq PodRRAcqRlx Fre",
        &expect![[r#"
        C MP+porlxrel+poacqrlx
        "PodRRAcqRlx Fre PodWWRlxRel RfeRelAcq"
        Cycle=PodRRAcqRlx Fre PodWWRlxRel RfeRelAcq
        {
        }

        P0 (atomic_int *x, atomic_int *y) {
            int r0 = atomic_load_explicit(x, memory_order_acquire);
            int r1 = atomic_load_explicit(y, memory_order_relaxed);
        }

        P1 (atomic_int *x, atomic_int *y) {
            atomic_store_explicit(y, 1, memory_order_relaxed);
            atomic_store_explicit(x, 1, memory_order_release);
        }

        exists (0:r0=1 /\ 0:r1=0)
    "#]],
    );
    check(
        Target::Kernel,
        "WmbdWW Rfe DpAddrdR Fre",
        &expect![[r#"
        C MP+wmb+addr
        "DpAddrdR Fre WmbdWW Rfe"
        Cycle=DpAddrdR Fre WmbdWW Rfe
        {
        }

        P0 (int *x, int *y) {
            int r0 = READ_ONCE(*x);
            int r1 = READ_ONCE(*(y + (r0 ^ r0)));
        }

        P1 (int *x, int *y) {
            WRITE_ONCE(*y, 1);
            smp_wmb();
            WRITE_ONCE(*x, 1);
        }

        exists (0:r0=1 /\ 0:r1=0)
    "#]],
    );
    check(
        Target::Kernel,
        "DpCtrldW Rfe MbdRW Rfe",
        &expect![[r#"
        C LB+ctrl+mb
        "DpCtrldW Rfe MbdRW Rfe"
        Cycle=DpCtrldW Rfe MbdRW Rfe
        {
        }

        P0 (int *x, int *y) {
            int r0 = READ_ONCE(*x);
            if (r0 >= 0) {
                WRITE_ONCE(*y, 1);
            }
        }

        P1 (int *x, int *y) {
            int r0 = READ_ONCE(*y);
            smp_mb();
            WRITE_ONCE(*x, 1);
        }

        exists (0:r0=1 /\ 1:r0=1)
    "#]],
    );
}

#[test]
fn every_cycle_is_read_back() {
    for target in TARGETS {
        let mut edges: Vec<Edge> = Relation::basic().into_iter().map(Edge::from).collect();
        edges.extend(Relation::same().into_iter().map(Edge::from));
        edges.extend(Relation::fences(target).into_iter().take(12).map(Edge::from));
        if target.has_dependencies() {
            edges.extend(Relation::dependencies(target).into_iter().map(Edge::from));
        }
        let cycles = Cycle::all(&edges, 4, 4);
        assert!(cycles.len() > 200, "{} has only {} cycles", target.name(), cycles.len());
        for cycle in cycles {
            let text = cycle.text(target).unwrap_or_else(|why| panic!("{cycle}: {why}"));
            let test = accepted(&text);
            let shape = cycle.shape().expect("it makes a test");
            assert_eq!(test.program.threads.len(), shape.threads.len(), "{text}");
            let accesses: usize = shape.threads.iter().map(Vec::len).sum();
            assert_eq!(test.program.accesses().count(), accesses, "{text}");
        }
    }
}

#[test]
fn what_a_language_does_not_have_is_said() {
    let said = |target, cycle: &str| {
        let cycle = Cycle::parse(cycle).expect("a cycle");
        cycle.text(target).expect_err("it does not have it")
    };
    assert_eq!(said(Target::X86, "DMB.SYdWW Rfe PodRR Fre"), "X86 tests have no `dmb.sy`");
    assert_eq!(said(Target::Ppc, "PodWWPL RfeLA PodRRAP Fre"), "PPC has no load `A`");
    assert_eq!(said(Target::Rml, "PodWWPL RfeLA PodRRAP Fre"), "the native language has no `A`");
    assert_eq!(said(Target::C, "PodWW Rfe MbdRR Fre"), "C11 tests have no `mb`");
    let wrong = Cycle::parse("PodWWPL RfeAL PodRRAP Fre").expect_err("the ends do not fit");
    assert_eq!(wrong, "PodWWPL leads to a `L` and RfeAL starts from a `A`");
}
