//! Each malformed section has a message of its own; everything that is not supported is named, with its place.

use super::complaints;

fn check(source: &str, expected: &[&str]) {
    assert_eq!(complaints(source), expected, "{source}");
}

#[test]
fn heads() {
    check("", &["1:1 head: the file is empty; expected an architecture and a name: `X86 NAME`"]);
    check("X68 a\n{}", &["1:1 head: there is no architecture `X68`"]);
    check("MIPS a\n{}", &["1:1 head: tests for MIPS are not supported"]);
    let help = cyrano_litmus::compile("Arm64 a\n{}").expect_err("there is none").remove(0).help;
    assert_eq!(help.as_deref(), Some("the architectures are X86, X86_64, AArch64, RISCV, PPC and C"));
    check("X86\n{}", &["1:1 head: the first line has no name for the test"]);
    check("X86 a\n", &["1:6 head: the test has no initial state"]);
    check("X86 a\nP0 ;\n", &["2:1 head: expected `{`, a text in quotes or a line `Key=Value`, found `P0 ;`"]);
    check("X86 a\n\"open\n{}", &["2:1 head: this text has no closing quote"]);
    check("X86 a\n(* open\n{}", &["2:1 this comment is not closed"]);
}

#[test]
fn initial_states() {
    let of = |init: &str| format!("X86 a\n{{{init}}}\n P0 ;\n MOV EAX,[x] ;\nexists (0:EAX=1)\n");
    check("X86 a\n{ x=1;", &["2:1 initial state: this `{` is not closed"]);
    check(&of("x=1 y=2"), &["2:6 initial state: expected `;`, found `y`"]);
    check(&of("x="), &["2:4 initial state: expected a number or the name of a location, found `}`"]);
    check(&of("x[2]={1,2,3}"), &["2:7 initial state: 3 values for 2 elements"]);
    check(&of("x[0]"), &["2:4 initial state: an array has 1 to 64 elements, not 0"]);
    check(&of("x={1,2}"), &["2:4 initial state: only an array has several values"]);
    check(&of("7:EAX=1"), &["2:2 initial state: there is no thread 7"]);
    check(&of("0:FOO=1"), &["2:2 there is no register `FOO`"]);
    check(&of("int8_t x=1"), &["2:2 initial state: `int8_t` has 8 bits; accesses of mixed sizes are not supported"]);
    check(&of("foo_t x=1"), &["2:2 initial state: the type `foo_t` is not supported"]);
}

#[test]
fn code() {
    let of = |rows: &str| format!("X86 a\n{{}}\n P0 | P1 ;\n{rows}exists (0:EAX=1)\n");
    check("X86 a\n{}\n P1 ;\n", &["3:2 code: expected `P0`, the head of column 1, found `P1`"]);
    check(&of(" MOV EAX,[x] ;\n"), &["4:2 code: this row has 1 columns, the first one 2"]);
    check(&of(" MOV EAX | JMP ;\n"), &["4:12 a jump needs a label", "4:2 `MOV` has 2 operand(s), not 1"]);
    check(&of(" JMP L | L: L: ;\n"), &["4:6 P0 has no label `L`", "4:13 the label `L` is placed twice in P1"]);
    check(&of(" MOV x,$1 | ;\n"), &["4:6 `x` is no register"]);
    check(&of(" MOV $1,EAX | ;\n"), &["4:6 a constant cannot be the destination"]);
    check(&of(" MOV [x],[y] | ;\n"), &["4:2 no instruction of x86 has two operands in memory"]);
    check(
        &of(" LOCK MOV [x],$1 | LOCK ;\n"),
        &[
            "4:20 `LOCK` stands before an instruction in the same cell",
            "4:2 `MOV` with these operands cannot be locked",
        ],
    );
    check(
        &of(" MOV EAX,[x+4] | MOV EAX,4[EBX] ;\n"),
        &[
            "4:12 addresses with an offset or an index are not supported",
            "4:26 addresses with an offset are not supported",
        ],
    );
}

#[test]
fn addresses_are_not_computed_with() {
    let of = |code: &str| format!("X86 a\n{{ p=x; 0:ESI=x; }}\n P0 ;\n MOV EAX,[p] ;\n {code} ;\nexists (0:EBX=1)\n");
    let message = "5:2 this computes with an address, and a test does not say where locations lie";
    for wrong in ["INC EAX", "XOR EBX,EAX", "LOCK NOT [p]", "NEG ESI"] {
        check(&of(wrong), &[message]);
    }
    for right in
        ["XOR EAX,EAX", "SUB EAX,EAX", "XCHG EBX,EAX", "CMP EAX,ESI", "TEST EAX,EAX", "MOV EBX,[EAX]", "INC [EAX]"]
    {
        super::accepted(&of(right));
    }
}

#[test]
fn everything_unsupported_is_named() {
    let source = "X86 a\n{}\n P0 | P1 ;\n MOVNTI [x],EAX | FOO [x] ;\n MOV AL,[x] | SETE [x] ;\n MOVB [x],$1 | MOV RAX,[x] ;\nexists (0:EAX=1)\n";
    check(
        source,
        &[
            "4:2 the instruction `MOVNTI` is not supported: non-temporal accesses have an order of their own",
            "4:19 there is no instruction `FOO`, or it is not supported",
            "5:6 `AL` is a part of 8 bits of a register; accesses of mixed sizes are not supported",
            "5:15 the instruction `SETE` is not supported: it writes a single byte, and accesses of mixed sizes are not supported",
            "6:20 `RAX` has 64 bits, and X86 tests have registers of 32 bits",
            "6:2 `MOVB` accesses 8 bits; accesses of mixed sizes are not supported",
        ],
    );
    check(
        "X86_64 a\n{}\n P0 ;\n movl $1,(x) ;\n movq (x),%rax ;\nexists (0:rax=1)\n",
        &["5:2 `x` has 32 bits and is accessed as 64; mixed sizes are not supported"],
    );
}

#[test]
fn conditions() {
    let of = |condition: &str| format!("X86 a\n{{}}\n P0 ;\n MOV EAX,[x] ;\n{condition}\n");
    check(&of("exists 0:EAX"), &["5:13 condition: expected `=` or `<>`, found the end of the file"]);
    check(&of("exists (0:EAX=1"), &["5:8 condition: this `(` is not closed"]);
    check(&of("exists (0:EAX=1))"), &["5:17 condition: expected the end of the file, `/\\` or `\\/`, found `)`"]);
    check(&of("~forall (0:EAX=1)"), &["5:2 condition: expected `exists`, found `forall`"]);
    check(&of("exists (0:EAX=y)"), &["5:15 condition: there is no location `y`"]);
    check(&of("exists (3:EAX=1)"), &["5:9 condition: there is no thread 3"]);
    check(&of("locations [x; exists (0:EAX=1)"), &["5:22 locations: expected `;`, found `(`"]);
    check(&of("filter exists (0:EAX=1)"), &["5:8 only registers and locations can be compared"]);
}

#[test]
fn functions() {
    let of = |body: &str| format!("C a\n{{}}\nP0 (int *x, atomic_int *y) {{\n{body}\n}}\nexists (x=1)\n");
    check("C a\n{}\nexists (x=1)\n", &["3:1 code: expected `P0 (…) { … }`, found `exists`"]);
    check(
        "C a\n{}\nP0 (struct s *s, int *x, foo y) { call_rcu(x); }\nexists (x=1)\n",
        &[
            "3:5 structures are not supported",
            "3:26 the type `foo` is not supported",
            "3:35 `call_rcu` is not supported",
        ],
    );
    check("C a\n{}\nP0 (int x) { }\nexists (x=1)\n", &["3:9 the parameter `x` is no pointer"]);
    check("C a\n{}\nP0 (int *x) { *x = 1;\nexists (x=1)\n", &["3:13 code: this `{` is not closed"]);
    check(
        &of("int r0 = *x + *y;"),
        &["4:15 C leaves open which of these accesses comes first; use one statement for each"],
    );
    check(&of("int r0 = 'a;"), &["4:10 this has no closing '"]);
    check(&of("int r0 = 1"), &["5:1 syntax error: `}` is not expected here"]);
    check(
        &of("int r0 = smp_mb();\nr0 += x[1];\nr0++;\nr0 = *x ? 1 : 2;\nfor (;;) { struct s *q; break; }"),
        &[
            "4:10 `smp_mb` has no value",
            "5:1 `+=` is not supported; write the assignment out",
            "6:1 `++` is not supported; write the assignment out",
            "7:6 `?:` is not supported",
            "8:1 `for` is not supported",
            "8:21 structures are not supported",
            "8:25 `break` is not supported",
        ],
    );
    check(
        &of("x = 1;\nint r1 = z;"),
        &["4:1 `x` is a parameter", "5:10 there is no variable or parameter `z` in this thread"],
    );
    check(
        &of("int r0 = spin_lock(x);\nsmp_store_release(x);\natomic_inc_release(x);\ngoto out;"),
        &[
            "4:10 `spin_lock` has no value",
            "5:1 `smp_store_release` has 2 argument(s), not 1",
            "6:1 `atomic_inc_release` is not supported",
            "7:1 `goto` is not supported",
        ],
    );
    check(
        &of(
            "atomic_store_explicit(y, 1, memory_order_acquire);\nint r0 = atomic_load_explicit(y, memory_order_release);\natomic_thread_fence(1);",
        ),
        &["4:29 a store cannot have this order", "5:34 a load cannot have this order", "6:21 expected a memory order"],
    );
}
