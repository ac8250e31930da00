//! RISC-V and POWER.

use expect_test::expect;

use super::check;

const RISCV: &str = "RISCV a\n{ 0:x6=x; 0:a1=y; uint64_t y; uint8_t b; 0:x7=b; uint64_t z[2]; 0:s2=z; }";

#[test]
fn riscv() {
    let list = [
        "lw x5,0(x6)",
        "lwu x5,(x6)",
        "ld a0,0(a1)",
        "lb x5,0(x7)",
        "lbu x5,0(x7)",
        "lw x0,0(x6)",
        "lw.aq x5,0(x6)",
        "sw x5,0(x6)",
        "sd x0,0(x11)",
        "sb x5,0(x7)",
        "sw.rl x5,0(x6)",
        "lr.w x5,0(x6)",
        "lr.d.aq x5,(a1)",
        "sc.w x5,x8,0(x6)",
        "sc.w.aq.rl x5,x8,(x6)",
        "amoadd.w x5,x8,(x6)",
        "amoswap.w.aqrl x0,x8,(x6)",
        "amoswap.w.aq.rl x5,x5,(x6)",
        "amoor.d.aq x5,x0,0(a1)",
        "amoand.w.rl x5,x8,(x6)",
        "amoxor.w x5,x8,(x6)",
        "amomaxu.w x5,x8,(x6)",
        "amomin.d x5,x8,(a1)",
        "ld x5,8(s2)",
        "ld x5,16(s2)",
        "xor x9,x5,x5 ; add x10,x9,x6 ; lw x8,0(x10)",
        "fence rw,rw",
        "fence r , w",
        "fence iorw,ow",
        "fence",
        "fence.tso",
        "fence.i",
        "fence x,w",
        "li x5,-1",
        "lui x5,1",
        "mv x5,x8",
        "ori x5,x0,1",
        "xori x5,x8,1",
        "andi x5,x8,128",
        "addi x5,x8,-1",
        "addiw x5,x8,1",
        "add x5,x8,x9",
        "subw x5,x8,x9",
        "slli x5,x8,3",
        "srl x5,x8,x9",
        "srai x5,x8,3",
        "slt x5,x8,x9",
        "sltiu x5,x8,1",
        "mul x5,x8,x9",
        "seqz x5,x8",
        "sext.w x5,x8",
        "add x0,x8,x9",
        "beq x5,x0,L ; L:",
        "bne x5,x8,L ; L:",
        "bltu x5,x8,L ; L:",
        "bgez x5,L ; L:",
        "bnez x5,L ; L:",
        "j L ; L:",
        "nop",
        "lw.rl x5,0(x6)",
        "sw.aq x5,0(x6)",
        "lw.aq.rl x5,0(x6)",
        "sw.aqrl x5,0(x6)",
        "andi x28,x29,4 ; add x6,x6,x28 ; lw x5,0(x6)",
        "lw x5,0(x32)",
        "lr x5,0(x6)",
        "ld x5,0(x6)",
    ];
    check(
        RISCV,
        &list,
        &expect![[r#"
            lw x5,0(x6)                  x5 := load x
            lwu x5,(x6)                  %t9 := load x; x5 := wrap_u32(%t9)
            ld a0,0(a1)                  x10 := load y
            lb x5,0(x7)                  x5 := load b
            lbu x5,0(x7)                 %t9 := load b; x5 := wrap_u8(%t9)
            lw x0,0(x6)                  %t9 := load x
            lw.aq x5,0(x6)               x5 := load x {acquire}
            sw x5,0(x6)                  store x, wrap_i32(x5)
            sd x0,0(x11)                 store y, 0
            sb x5,0(x7)                  store b, wrap_i8(x5)
            sw.rl x5,0(x6)               store x, wrap_i32(x5) {release}
            lr.w x5,0(x6)                x5 := load x {exclusive}
            lr.d.aq x5,(a1)              x5 := load y {acquire exclusive}
            sc.w x5,x8,0(x6)             x5 := store x, wrap_i32(x8) {exclusive success}
            sc.w.aq.rl x5,x8,(x6)        x5 := store x, wrap_i32(x8) {acquire release exclusive success}
            amoadd.w x5,x8,(x6)          atomic begin; %q0 := load x; store x, wrap_i32((%q0 + x8)); atomic end; x5 := %q0
            amoswap.w.aqrl x0,x8,(x6)    %q0 := exchange x, wrap_i32(x8) {acquire release}
            amoswap.w.aq.rl x5,x5,(x6)   %q0 := exchange x, wrap_i32(x5) {acquire release}; x5 := %q0
            amoor.d.aq x5,x0,0(a1)       atomic begin; %q0 := load y {acquire}; store y, (%q0 | 0); atomic end; x5 := %q0
            amoand.w.rl x5,x8,(x6)       atomic begin; %q0 := load x; store x, wrap_i32((%q0 & x8)) {release}; atomic end; x5 := %q0
            amoxor.w x5,x8,(x6)          atomic begin; %q0 := load x; store x, wrap_i32((%q0 ^ x8)); atomic end; x5 := %q0
            amomaxu.w x5,x8,(x6)         atomic begin; %q0 := load x; store x, wrap_i32((wrap_u32(x8) + ((wrap_u32(%q0) > wrap_u32(x8)) * (wrap_u32(%q0) - wrap_u32(x8))))); atomic end; x5 := %q0
            amomin.d x5,x8,(a1)          atomic begin; %q0 := load y; store y, wrap_i64((wrap_i64(x8) + ((wrap_i64(%q0) < wrap_i64(x8)) * (wrap_i64(%q0) - wrap_i64(x8))))); atomic end; x5 := %q0
            ld x5,8(s2)                  x5 := load "z[1]"
            ld x5,16(s2)                 refused: byte 16 is not in `z`, which has 16
            xor x9,x5,x5 ; add x10,x9,x6 ; lw x8,0(x10) x9 := (x5 ^ x5); x10 := wrap_i64((x6 | (x9 & 0))); x8 := load memory[target(x10)]
            fence rw,rw                  fence fence.rw.rw
            fence r , w                  fence fence.r.w
            fence iorw,ow                fence fence.rw.w
            fence                        fence fence.rw.rw
            fence.tso                    fence fence.tso
            fence.i                      fence fence.i
            fence x,w                    refused: a fence orders `r`, `w` or `rw` with `r`, `w` or `rw`
            li x5,-1                     x5 := -1
            lui x5,1                     x5 := 4096
            mv x5,x8                     x5 := x8
            ori x5,x0,1                  x5 := 1
            xori x5,x8,1                 x5 := (x8 ^ 1)
            andi x5,x8,128               x5 := (x8 & 128)
            addi x5,x8,-1                x5 := wrap_i64((x8 + -1))
            addiw x5,x8,1                x5 := wrap_i32((x8 + 1))
            add x5,x8,x9                 x5 := wrap_i64((x8 + x9))
            subw x5,x8,x9                x5 := wrap_i32((x8 - x9))
            slli x5,x8,3                 x5 := wrap_i64((x8 << 3))
            srl x5,x8,x9                 x5 := wrap_i64((wrap_u64(x8) >> (x9 & 63)))
            srai x5,x8,3                 x5 := wrap_i64((x8 >> 3))
            slt x5,x8,x9                 x5 := (x8 < x9)
            sltiu x5,x8,1                x5 := (wrap_u64(x8) < 1)
            mul x5,x8,x9                 x5 := wrap_i64((x8 * x9))
            seqz x5,x8                   x5 := (x8 == 0)
            sext.w x5,x8                 x5 := wrap_i32(x8)
            add x0,x8,x9                 nothing
            beq x5,x0,L ; L:             branch (x5 == 0) then @1 else @1
            bne x5,x8,L ; L:             branch (x5 != x8) then @1 else @1
            bltu x5,x8,L ; L:            branch (wrap_u64(x5) < wrap_u64(x8)) then @1 else @1
            bgez x5,L ; L:               branch (x5 >= 0) then @1 else @1
            bnez x5,L ; L:               branch (x5 != 0) then @1 else @1
            j L ; L:                     jump @1
            nop                          nothing
            lw.rl x5,0(x6)               refused: a load that releases and does not acquire (`.rl`) is not supported
            sw.aq x5,0(x6)               refused: a store that acquires and does not release (`.aq`) is not supported
            lw.aq.rl x5,0(x6)            fence fence.rw.r; x5 := load x {acquire}
            sw.aqrl x5,0(x6)             store x, wrap_i32(x5) {release}; fence fence.w.rw
            andi x28,x29,4 ; add x6,x6,x28 ; lw x5,0(x6) x28 := (x29 & 4); x6 := wrap_i64(("x6'1" | (x28 & 0))); x5 := load memory[target(x6)]
            lw x5,0(x32)                 refused: there is no register `x32`
            lr x5,0(x6)                  refused: there is no instruction `lr`, or it is not supported
            ld x5,0(x6)                  x5 := load x
        "#]],
    );
}

#[test]
fn power() {
    let list = [
        "lwz r3,0(r1)",
        "lbz r3,0(r2)",
        "lwzx r3,r4,r1",
        "lwzx r3,r1,r4",
        "xor r4,r5,r5 ; lwzx r3,r4,r1",
        "stw r3,0(r1)",
        "stwx r3,r4,r1",
        "stb r3,0(r2)",
        "lwarx r3,r0,r1",
        "lwarx r3,0,r1",
        "stwcx. r3,r0,r1 ; bne L ; L:",
        "stwcx. r3,r0,r1",
        "sync",
        "hwsync",
        "lwsync",
        "eieio",
        "isync",
        "li r3,-1",
        "lis r3,1",
        "mr r3,r4",
        "addi r3,r4,1",
        "addi r3,r0,1",
        "add r3,r4,r5",
        "subf r3,r4,r5",
        "and r3,r4,r5",
        "ori r3,r4,1",
        "xor r3,r4,r4",
        "neg r3,r4",
        "cmpw r3,r3 ; beq L ; L:",
        "cmpwi r3,1 ; bne- L ; L:",
        "cmpwi cr3,r3,1 ; blt cr3,L ; L:",
        "cmplw r3,r4 ; bgt L ; L:",
        "add. r3,r3,r4 ; bge L ; L:",
        "b L ; L:",
        "nop",
        "lwz r3,4(r1)",
        "ld r3,0(r1)",
        "foo r3",
    ];
    check(
        "PPC a\n{ 0:r1=x; 0:r2=b; uint8_t b; }",
        &list,
        &expect![[r#"
            lwz r3,0(r1)                 r3 := load x
            lbz r3,0(r2)                 %t9 := load b; r3 := wrap_u8(%t9)
            lwzx r3,r4,r1                r3 := load x[r4]
            lwzx r3,r1,r4                r3 := load x[r4]
            xor r4,r5,r5 ; lwzx r3,r4,r1 r4 := (r5 ^ r5); r3 := load x[r4]
            stw r3,0(r1)                 store x, r3
            stwx r3,r4,r1                store x[r4], r3
            stb r3,0(r2)                 store b, wrap_i8(r3)
            lwarx r3,r0,r1               r3 := load x {exclusive}
            lwarx r3,0,r1                r3 := load x {exclusive}
            stwcx. r3,r0,r1 ; bne L ; L: %status := store x, r3 {exclusive}; ZF := (%status == 0); branch !ZF then @3 else @3
            stwcx. r3,r0,r1              %status := store x, r3 {exclusive}
            sync                         fence sync
            hwsync                       fence sync
            lwsync                       fence lwsync
            eieio                        fence eieio
            isync                        fence isync
            li r3,-1                     r3 := -1
            lis r3,1                     r3 := 65536
            mr r3,r4                     r3 := r4
            addi r3,r4,1                 r3 := wrap_i32((r4 + 1))
            addi r3,r0,1                 r3 := 1
            add r3,r4,r5                 r3 := wrap_i32((r4 + r5))
            subf r3,r4,r5                r3 := wrap_i32((r5 - r4))
            and r3,r4,r5                 r3 := (r4 & r5)
            ori r3,r4,1                  r3 := (r4 | 1)
            xor r3,r4,r4                 r3 := (r4 ^ r4)
            neg r3,r4                    r3 := wrap_i32((0 - r4))
            cmpw r3,r3 ; beq L ; L:      ZF := (r3 == r3); branch ZF then @2 else @2
            cmpwi r3,1 ; bne- L ; L:     ZF := (r3 == 1); branch !ZF then @2 else @2
            cmpwi cr3,r3,1 ; blt cr3,L ; L: SF3 := (wrap_i32((r3 - 1)) < 0); OF3 := (((r3 ^ 1) & (r3 ^ wrap_i32((r3 - 1)))) < 0); branch (SF3 ^ OF3) then @3 else @3
            cmplw r3,r4 ; bgt L ; L:     ZF := (wrap_i32((r3 ^ -2147483648)) == wrap_i32((r4 ^ -2147483648))); SF := (wrap_i32((wrap_i32((r3 ^ -2147483648)) - wrap_i32((r4 ^ -2147483648)))) < 0); OF := (((wrap_i32((r3 ^ -2147483648)) ^ wrap_i32((r4 ^ -2147483648))) & (wrap_i32((r3 ^ -2147483648)) ^ wrap_i32((wrap_i32((r3 ^ -2147483648)) - wrap_i32((r4 ^ -2147483648)))))) < 0); branch !(ZF | (SF ^ OF)) then @4 else @4
            add. r3,r3,r4 ; bge L ; L:   SF := (wrap_i32((wrap_i32((r3 + r4)) - 0)) < 0); OF := (((wrap_i32((r3 + r4)) ^ 0) & (wrap_i32((r3 + r4)) ^ wrap_i32((wrap_i32((r3 + r4)) - 0)))) < 0); r3 := wrap_i32((r3 + r4)); branch !(SF ^ OF) then @4 else @4
            b L ; L:                     jump @1
            nop                          nothing
            lwz r3,4(r1)                 refused: byte 4 is not in `x`, which has 4
            ld r3,0(r1)                  r3 := load x
            foo r3                       refused: there is no instruction `foo`, or it is not supported
        "#]],
    );
    let long =
        ["ld r3,0(r1)", "std r3,0(r1)", "ldarx r3,r0,r1", "ld r4,0(r1) ; cmpd r4,r3 ; beq L ; L:", "lwa r3,0(r2)"];
    check(
        "PPC a\n{ 0:r1=x; uint64_t x; 0:r2=y; int y; }",
        &long,
        &expect![[r#"
        ld r3,0(r1)                  r3 := load x
        std r3,0(r1)                 store x, r3
        ldarx r3,r0,r1               r3 := load x {exclusive}
        ld r4,0(r1) ; cmpd r4,r3 ; beq L ; L: r4 := load x; ZF := (r4 == r3); branch ZF then @3 else @3
        lwa r3,0(r2)                 r3 := load y
    "#]],
    );
}
