//! What instructions and calls become.

use cyrano_ir::Op;

use super::accepted;

/// The first thread's instructions where pairs of accesses are reordered, one word each, fences by their kinds.
fn shape(source: &str) -> String {
    let program = cyrano_litmus::fenced(&accepted(source).program);
    let words = program.threads[0].code.iter().map(|instr| match &instr.op {
        Op::Assign { .. } => "assign".to_owned(),
        Op::Access(access) => format!("{:?}", access.kind).to_lowercase(),
        Op::Fence(fence) => format!("{:?}", fence.pairs()),
        Op::AtomicBegin => "atomic".to_owned(),
        Op::AtomicEnd => "end".to_owned(),
        Op::Branch { .. } => "branch".to_owned(),
        Op::Jump(_) => "jump".to_owned(),
        Op::Halt => "halt".to_owned(),
        other => format!("{other:?}"),
    });
    words.collect::<Vec<_>>().join(" ").replace("fence(load-load load-store store-load store-store)", "full")
}

#[test]
fn instructions() {
    let check = |code: &str, expected: &str| {
        let source = format!("X86 a\n{{ 0:ESI=x; }}\n P0 ;\n {code} ;\nexists (x=1)\n");
        assert_eq!(shape(&source), expected, "{code}");
    };
    check("MOV [x],$1", "store halt");
    check("MOV EAX,[x]", "load halt");
    check("MOV [ESI],EAX", "store halt");
    check("INC [x]", "load store halt");
    check("LOCK INC [x]", "full atomic load store end full halt");
    check("XCHG [x],EAX", "full rmw full assign halt");
    check("LOCK CMPXCHG [x],ECX", "full rmw full assign halt");
    check("CMPXCHG [x],ECX", "load branch store assign halt");
    check("MFENCE", "full halt");
    check("SFENCE", "fence(store-store) halt");
    check("LFENCE", "fence(load-load load-store) halt");
    check("CMP EAX,[x]", "load halt");
}

#[test]
fn calls() {
    let check = |code: &str, expected: &str| {
        let source = format!("C a\n{{}}\nP0 (int *x, atomic_int *y) {{ int r0; {code} }}\nexists (x=1)\n");
        assert_eq!(shape(&source), expected, "{code}");
    };
    check("*x = 1;", "store halt");
    check("*y = 1;", "full store full halt");
    check("r0 = *y;", "full load full halt");
    check("r0 = READ_ONCE(*y);", "load halt");
    check("r0 = atomic_load(y);", "full load full halt");
    check("r0 = atomic_load_explicit(y, memory_order_relaxed);", "load halt");
    check("r0 = xchg(x, 1);", "full rmw full assign halt");
    check("r0 = xchg_relaxed(x, 1);", "rmw assign halt");
    check("atomic_inc(x);", "atomic load store end halt");
    check("r0 = atomic_inc_return(x);", "full atomic load store end full assign halt");
    check("r0 = atomic_fetch_add(y, 1);", "full atomic load store end full assign halt");
    check("smp_mb(); smp_rmb(); smp_wmb(); barrier();", "full fence(load-load) fence(store-store) fence(none) halt");
    check("if (READ_ONCE(*x) == 1 && r0) *x = 2; else *x = 3;", "load branch branch store jump store halt");
    check("while (READ_ONCE(*x)) ;", "load branch jump halt");
    check("do *x = 1; while (*x);", "store load branch halt");
}

#[test]
fn constants_and_truth_values_have_their_types() {
    let check = |ty: &str, value: &str, expected: i128| {
        let test = accepted(&format!("C a\n{{}}\nP0 ({ty} *x) {{ *x = {value}; }}\nexists (x=1)\n"));
        let stored = test.program.threads[0].code.iter().find_map(|instr| instr.op.access()?.stored().cloned());
        assert_eq!(stored, Some(cyrano_ir::Expr::Const(expected)), "{ty} {value}");
    };
    check("long", "-1", -1);
    check("long", "-1u", 0xffff_ffff);
    check("long", "0x80000000 + 0x80000000", 0);
    check("long", "2147483648 + 2147483648", 1 << 32);
    check("int", "2147483647 + 1", -(1 << 31));
    check("int", "010", 8);
    check("_Bool", "2", 1);
}

#[test]
fn a_name_is_one_word() {
    let test = accepted("PPC m3 (mThree) (* old *)\n{}\n P0 ;\n li r1,1 ;\nexists (0:r1=1)\n");
    assert_eq!(test.head.name, "m3");
}

#[test]
fn conditions_are_kept_as_written() {
    let test = accepted(
        "X86 a\n{ int 0:EAX=3; x=y; }\n P0 ;\n MOV EBX,[x] ;\nlocations [x;]\n~exists (0:EBX=y /\\\n  (* why *) 0:EAX<>0x3)\n",
    );
    assert_eq!(test.condition.text, "~exists (0:EBX=y /\\ 0:EAX<>0x3)");
    let names: Vec<&str> = test.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["0:EBX", "0:EAX", "x"]);
    assert!(test.columns[0].pointer && test.columns[2].pointer && !test.columns[1].pointer);
}

#[test]
fn the_order_of_operands_is_known() {
    let intel = "X86_64 a\n{}\n P0 ;\n mov [x],$1 ;\n mov eax,[x] ;\nexists (0:eax=1)\n";
    let att = "X86_64 a\n{}\n P0 ;\n mov $1,[x] ;\n mov [x],%eax ;\nexists (0:eax=1)\n";
    assert_eq!(shape(intel), "store load halt");
    assert_eq!(shape(att), "store load halt");
}
