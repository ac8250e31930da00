//! What the instructions of each machine become, one at a time.

mod others;

use expect_test::{Expect, expect};

use super::{accepted, complaints};

/// The first thread's code without places and without its end.
pub(crate) fn code(source: &str) -> String {
    let text = cyrano_ir::text::print(&accepted(source).program);
    let thread = text.split("thread ").nth(1).unwrap_or_default();
    let lines = thread.lines().filter_map(|line| line.trim().strip_prefix('@')?.split_once(": "));
    let line = |(_, line): (&str, &str)| line.split(" ; ").next().unwrap_or_default().to_owned();
    let lines: Vec<String> = lines.map(line).filter(|line| line != "halt").collect();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }
}

/// Each instruction with what becomes of it, or why it is refused.
fn check(head: &str, instructions: &[&str], expected: &Expect) {
    let mut out = String::new();
    for instruction in instructions {
        let rows: String = instruction.split(" ; ").map(|row| format!(" {row} ;\n")).collect();
        let source = format!("{head}\n P0 ;\n{rows}exists (x=1)\n");
        let said = match complaints(&source).first() {
            None => code(&source),
            Some(error) => format!("refused: {}", error.split_once(' ').unwrap_or_default().1),
        };
        out.push_str(&format!("{instruction:28} {said}\n"));
    }
    expected.assert_eq(&out);
}

const ARM: &str = "AArch64 a\n{ 0:X1=x; 0:X4=y; 0:X5=z; uint64_t y; uint64_t z[2]; uint8_t b; 0:X6=b; }";

#[test]
fn arm_loads_and_stores() {
    let list = [
        "LDR W0,[X1]",
        "LDR X0,[X4]",
        "ldr w0,[x1]",
        "LDR WZR,[X1]",
        "LDRB W0,[X6]",
        "LDRSB W0,[X6]",
        "LDRSW X0,[X1]",
        "LDUR W0,[X1]",
        "LDAR W0,[X1]",
        "LDAPR W0,[X1]",
        "LDXR W0,[X1]",
        "LDAXR W0,[X1]",
        "LDARB W0,[X6]",
        "STR W0,[X1]",
        "STR XZR,[X4]",
        "STRB W0,[X6]",
        "STLR W0,[X1]",
        "STXR W2,W0,[X1]",
        "STLXR W2,W0,[X1]",
        "LDP X0,X2,[X5]",
        "STP X0,X2,[X5]",
        "LDR X0,[X5,#8]",
        "LDR X0,[X5,#16]",
        "LDR X0,[X5,#4]",
        "LDR W0,[X4]",
        "LDR W0,[X1,W2,SXTW]",
        "LDR W0,[X1,X2]",
        "LDR X0,[X5,X2,LSL #3]",
        "EOR W2,W3,W3 ; LDR W0,[X1,W2,SXTW]",
        "EOR X2,X3,X3 ; ADD X7,X1,X2 ; LDR W0,[X7]",
        "LDR W0,[X1],#4",
        "LDR W0,[X1,#4]!",
        "LDR W0,[X9]",
        "LDR X0,[X1]",
        "LDR W0,[W1]",
        "LDRSW W0,[X1]",
    ];
    check(
        ARM,
        &list,
        &expect![[r#"
        LDR W0,[X1]                  W0 := load x
        LDR X0,[X4]                  X0 := load y
        ldr w0,[x1]                  W0 := load x
        LDR WZR,[X1]                 %t9 := load x
        LDRB W0,[X6]                 %t9 := load b; W0 := wrap_u8(%t9)
        LDRSB W0,[X6]                W0 := load b
        LDRSW X0,[X1]                X0 := load x
        LDUR W0,[X1]                 W0 := load x
        LDAR W0,[X1]                 W0 := load x {acquire}
        LDAPR W0,[X1]                W0 := load x {acquire_pc}
        LDXR W0,[X1]                 W0 := load x {exclusive}
        LDAXR W0,[X1]                W0 := load x {acquire exclusive}
        LDARB W0,[X6]                %t9 := load b {acquire}; W0 := wrap_u8(%t9)
        STR W0,[X1]                  store x, W0
        STR XZR,[X4]                 store y, 0
        STRB W0,[X6]                 store b, wrap_i8(W0)
        STLR W0,[X1]                 store x, W0 {release}
        STXR W2,W0,[X1]              W2 := store x, W0 {exclusive}
        STLXR W2,W0,[X1]             W2 := store x, W0 {release exclusive}
        LDP X0,X2,[X5]               X0 := load "z[0]"; X2 := load "z[1]"
        STP X0,X2,[X5]               store "z[0]", X0; store "z[1]", X2
        LDR X0,[X5,#8]               X0 := load "z[1]"
        LDR X0,[X5,#16]              refused: byte 16 is not in `z`, which has 16
        LDR X0,[X5,#4]               refused: byte 4 is within an element of `z`; mixed sizes are not supported
        LDR W0,[X4]                  refused: `y` has 64 bits and is accessed as 32; mixed sizes are not supported
        LDR W0,[X1,W2,SXTW]          W0 := load x[W2]
        LDR W0,[X1,X2]               W0 := load x[X2]
        LDR X0,[X5,X2,LSL #3]        X0 := load z[(X2 << 3)]
        EOR W2,W3,W3 ; LDR W0,[X1,W2,SXTW] W2 := (W3 ^ W3); W0 := load x[W2]
        EOR X2,X3,X3 ; ADD X7,X1,X2 ; LDR W0,[X7] X2 := (X3 ^ X3); X7 := wrap_i64((X1 | (X2 & 0))); W0 := load memory[target(X7)]
        LDR W0,[X1],#4               refused: addresses that are changed by their use are not supported
        LDR W0,[X1,#4]!              refused: addresses that are changed by their use are not supported
        LDR W0,[X9]                  refused: no register of this address holds one: the initial state gives none of them a location
        LDR X0,[X1]                  X0 := load x
        LDR W0,[W1]                  refused: a register of 32 bits where one of 64 is expected
        LDRSW W0,[X1]                refused: a register of 32 bits cannot hold this
    "#]],
    );
}

#[test]
fn arm_read_modify_writes() {
    let list = [
        "SWP W0,W2,[X1]",
        "SWPAL W0,W2,[X1]",
        "SWPA W0,WZR,[X1]",
        "CAS W0,W2,[X1]",
        "CASAL W0,W2,[X1]",
        "CASB W0,W2,[X6]",
        "LDADD W0,W2,[X1]",
        "LDADDAL X0,X2,[X4]",
        "LDADDA W0,WZR,[X1]",
        "LDCLR W0,W2,[X1]",
        "LDEORL W0,W2,[X1]",
        "LDSETAB W0,W2,[X6]",
        "LDSMAX W0,W2,[X1]",
        "LDUMIN W0,W2,[X1]",
        "STADD W0,[X1]",
        "STCLRL W0,[X1]",
        "STADDA W0,[X1]",
        "LDADD W0,W0,[X1]",
        "CASP W0,W1,W2,W3,[X1]",
    ];
    check(
        ARM,
        &list,
        &expect![[r#"
            SWP W0,W2,[X1]               %t0 := exchange x, W0; W2 := %t0
            SWPAL W0,W2,[X1]             %t0 := exchange x, W0 {acquire release}; W2 := %t0
            SWPA W0,WZR,[X1]             %t0 := exchange x, W0 {noreturn}
            CAS W0,W2,[X1]               %t0 := cas x, W0, W2; W0 := %t0
            CASAL W0,W2,[X1]             %t0 := cas x, W0, W2 {acquire release} else {acquire}; W0 := %t0
            CASB W0,W2,[X6]              %t0 := cas b, wrap_i8(W0), wrap_i8(W2); W0 := wrap_u8(%t0)
            LDADD W0,W2,[X1]             atomic begin; %t0 := load x; store x, wrap_i32((%t0 + W0)); atomic end; W2 := %t0
            LDADDAL X0,X2,[X4]           atomic begin; %q0 := load y {acquire}; store y, wrap_i64((%q0 + X0)) {release}; atomic end; X2 := %q0
            LDADDA W0,WZR,[X1]           atomic begin; %t0 := load x {noreturn}; store x, wrap_i32((%t0 + W0)) {noreturn}; atomic end
            LDCLR W0,W2,[X1]             atomic begin; %t0 := load x; store x, (%t0 & (W0 ^ -1)); atomic end; W2 := %t0
            LDEORL W0,W2,[X1]            atomic begin; %t0 := load x; store x, (%t0 ^ W0) {release}; atomic end; W2 := %t0
            LDSETAB W0,W2,[X6]           atomic begin; %t0 := load b {acquire}; store b, wrap_i8((%t0 | W0)); atomic end; W2 := wrap_u8(%t0)
            LDSMAX W0,W2,[X1]            atomic begin; %t0 := load x; store x, wrap_i32((wrap_i32(W0) + ((wrap_i32(%t0) > wrap_i32(W0)) * (wrap_i32(%t0) - wrap_i32(W0))))); atomic end; W2 := %t0
            LDUMIN W0,W2,[X1]            atomic begin; %t0 := load x; store x, wrap_i32((wrap_u32(W0) + ((wrap_u32(%t0) < wrap_u32(W0)) * (wrap_u32(%t0) - wrap_u32(W0))))); atomic end; W2 := %t0
            STADD W0,[X1]                atomic begin; %t0 := load x {noreturn}; store x, wrap_i32((%t0 + W0)) {noreturn}; atomic end
            STCLRL W0,[X1]               atomic begin; %t0 := load x {noreturn}; store x, (%t0 & (W0 ^ -1)) {release noreturn}; atomic end
            STADDA W0,[X1]               refused: there is no instruction `STADDA`, or it is not supported
            LDADD W0,W0,[X1]             atomic begin; %t0 := load x; store x, wrap_i32((%t0 + W0)); atomic end; W0 := %t0
            CASP W0,W1,W2,W3,[X1]        refused: there is no instruction `CASP`, or it is not supported
        "#]],
    );
}

#[test]
fn arm_arithmetic_branches_and_barriers() {
    let list = [
        "MOV W0,#1",
        "MOV X0,#-1",
        "MOV W0,W2",
        "MOV X0,XZR",
        "MVN W0,W2",
        "NEG W0,W2",
        "ADD W0,W2,#1",
        "ADD X0,X2,W3,SXTW",
        "ADD X0,X2,X3,LSL #2",
        "SUB W0,W2,W3",
        "AND W0,W2,#1",
        "ORR W0,W2,W3",
        "EOR W0,W2,W2",
        "BIC W0,W2,W3",
        "LSL W0,W2,#1",
        "LSR W0,W2,W3",
        "ASR X0,X2,#1",
        "MUL W0,W2,W3",
        "MNEG W0,W2,W3",
        "MSUB W0,W2,W3,W7",
        "MOVK W0,#1,LSL #16",
        "MOVK W0,#1,LSL #32",
        "LDR W0,[SP]",
        "UXTW X0,W2",
        "SXTB W0,W2",
        "CMP W0,#1 ; B.EQ L ; L:",
        "CMP W0,W0 ; B.NE L ; L:",
        "SUBS W0,W0,#1 ; B.HI L ; L:",
        "ADDS W0,W0,#1 ; B.CS L ; L:",
        "TST W0,#1 ; CSET W2,NE",
        "CMP W0,#0 ; CSEL W2,W3,W0,LT",
        "CBZ W0,L ; L:",
        "CBNZ X0,L ; L:",
        "TBNZ W0,#3,L ; L:",
        "B L ; L:",
        "DMB SY",
        "DMB ISHLD",
        "DSB ST",
        "ISB",
        "NOP",
        "DMB FOO",
        "ADD W0,X2,#1",
        "ADD X1,X1,#8 ; LDR W0,[X1]",
        "MOV W0,#1 W1",
        "B.XX L ; L:",
        "FOO W0",
    ];
    check(
        ARM,
        &list,
        &expect![[r#"
            MOV W0,#1                    W0 := 1
            MOV X0,#-1                   X0 := -1
            MOV W0,W2                    W0 := W2
            MOV X0,XZR                   X0 := 0
            MVN W0,W2                    W0 := (W2 ^ -1)
            NEG W0,W2                    W0 := wrap_i32((0 - W2))
            ADD W0,W2,#1                 W0 := wrap_i32((W2 + 1))
            ADD X0,X2,W3,SXTW            X0 := wrap_i64((X2 + W3))
            ADD X0,X2,X3,LSL #2          X0 := wrap_i64((X2 + wrap_i64((X3 << 2))))
            SUB W0,W2,W3                 W0 := wrap_i32((W2 - W3))
            AND W0,W2,#1                 W0 := (W2 & 1)
            ORR W0,W2,W3                 W0 := (W2 | W3)
            EOR W0,W2,W2                 W0 := (W2 ^ W2)
            BIC W0,W2,W3                 W0 := (W2 & (W3 ^ -1))
            LSL W0,W2,#1                 W0 := wrap_i32((W2 << 1))
            LSR W0,W2,W3                 W0 := wrap_i32((wrap_u32(W2) >> (W3 & 31)))
            ASR X0,X2,#1                 X0 := wrap_i64((X2 >> 1))
            MUL W0,W2,W3                 W0 := wrap_i32((W2 * W3))
            MNEG W0,W2,W3                W0 := wrap_i32((0 - wrap_i32((W2 * W3))))
            MSUB W0,W2,W3,W7             W0 := wrap_i32((W7 - wrap_i32((W2 * W3))))
            MOVK W0,#1,LSL #16           W0 := ((W0 & 65535) | 65536)
            MOVK W0,#1,LSL #32           refused: expected a constant of 16 bits, shifted by 0, 16, 32 or 48
            LDR W0,[SP]                  refused: no register of this address holds one: the initial state gives none of them a location
            UXTW X0,W2                   X0 := wrap_u32(W2)
            SXTB W0,W2                   W0 := wrap_i8(W2)
            CMP W0,#1 ; B.EQ L ; L:      ZF := (W0 == 1); branch ZF then @2 else @2
            CMP W0,W0 ; B.NE L ; L:      ZF := (W0 == W0); branch !ZF then @2 else @2
            SUBS W0,W0,#1 ; B.HI L ; L:  ZF := (W0 == 1); CF := (wrap_u32(W0) < 1); W0 := wrap_i32((W0 - 1)); branch !(CF | ZF) then @4 else @4
            ADDS W0,W0,#1 ; B.CS L ; L:  CF := !(wrap_u32(wrap_i32((W0 + 1))) < wrap_u32(W0)); W0 := wrap_i32((W0 + 1)); branch !CF then @3 else @3
            TST W0,#1 ; CSET W2,NE       ZF := ((W0 & 1) == 0); W2 := wrap_u1(!ZF)
            CMP W0,#0 ; CSEL W2,W3,W0,LT SF := (wrap_i32((W0 - 0)) < 0); OF := (((W0 ^ 0) & (W0 ^ wrap_i32((W0 - 0)))) < 0); W2 := wrap_i32(((wrap_u1((SF ^ OF)) * W3) + (wrap_u1(((SF ^ OF) == 0)) * W0)))
            CBZ W0,L ; L:                branch (W0 == 0) then @1 else @1
            CBNZ X0,L ; L:               branch (X0 != 0) then @1 else @1
            TBNZ W0,#3,L ; L:            branch ((W0 & 8) != 0) then @1 else @1
            B L ; L:                     jump @1
            DMB SY                       fence dmb.sy
            DMB ISHLD                    fence dmb.ishld
            DSB ST                       fence dsb.st
            ISB                          fence isb
            NOP                          nothing
            DMB FOO                      refused: `DMB` needs one of SY, LD, ST, ISH, ISHLD, ISHST, OSH, OSHLD, OSHST
            ADD W0,X2,#1                 refused: a register of 64 bits where one of 32 is expected
            ADD X1,X1,#8 ; LDR W0,[X1]   refused: this computes with an address, and a test does not say where locations lie
            MOV W0,#1 W1                 refused: expected nothing more, found `W1`
            B.XX L ; L:                  refused: there is no instruction `B.XX`, or it is not supported
            FOO W0                       refused: there is no instruction `FOO`, or it is not supported
        "#]],
    );
}
