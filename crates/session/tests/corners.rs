//! Corners of the machines' instructions, each a test of one thread or two whose answer the manuals give: parts of registers, the register that is
//! always 0, flags of shifted operands, widths, types of registers in conditions, addresses that are chosen.

use std::time::Duration;

use cyrano_session::litmus::{Ask, Litmus};
use cyrano_session::{Options, Runner, Source};

/// What a test of this architecture, initial state, code and proposition observes: how often the proposition holds; a reason if it is refused.
fn observed(arch: &str, init: &str, code: &str, proposition: &str) -> String {
    let body = match arch {
        "C" => format!("P0 {code}\n"),
        _ => format!(" P0 ;\n{}", code.split(" ; ").map(|line| format!(" {line} ;\n")).collect::<String>()),
    };
    let text = format!("{arch} t\n{{ {init} }}\n{body}forall ({proposition})\n");
    run(text)
}

fn run(text: String) -> String {
    let test = Litmus::new(Source { name: "t.litmus".to_owned(), text, dir: None });
    let model = test.default_model().expect("there is such an architecture");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let ask = Ask { timeout: Duration::from_secs(60), compare: false, graphs: false };
    let report = test.run(&runner, &model, ask, &()).expect("it can be asked");
    report.observation.map(str::to_owned).or(report.reason).unwrap_or_default()
}

fn check(arch: &str, rows: &[(&str, &str, &str, &str)]) {
    for (expected, init, code, proposition) in rows {
        let found = observed(arch, init, code, proposition);
        assert!(found.contains(expected), "{arch}: {init} {code} {proposition}: {found}");
    }
}

#[test]
fn arm() {
    let rows = [
        ("Always", "uint64_t 0:X0=-1;", "MOV W0,#1", "0:X0=1"),
        ("Always", "uint64_t 0:X0=-1;", "MOV W1,W0 ; ADD X2,X1,X1", "0:X1=-1 /\\ 0:X1=0xffffffff"),
        ("Always", "uint64_t 0:X2; uint64_t 0:X0=-1;", "MOV W1,W0 ; ADD X2,X1,X1", "0:X2=0x1fffffffe"),
        ("Never", "uint64_t 0:X2; uint64_t 0:X0=-1;", "MOV W1,W0 ; ADD X2,X1,X1", "0:X2=-2"),
        ("Always", "int64_t 0:X0;", "MOV W1,#0x80000000 ; SXTW X0,W1", "0:X0=-2147483648"),
        ("Always", "int64_t 0:X0;", "MOV W1,#0x80000000 ; UXTW X0,W1", "0:X0=2147483648"),
        ("Always", "int64_t 0:X0;", "MOV W1,#-1 ; LSR W0,W1,#1", "0:X0=0x7fffffff"),
        ("Always", "int64_t 0:X0;", "MOV W1,#-1 ; ASR W0,W1,#1", "0:X0=0xffffffff"),
        ("Always", "int64_t 0:X0;", "MOV X1,#-1 ; LSR X0,X1,#60", "0:X0=15"),
        ("Always", "int64_t 0:X0;", "MOV X1,#1 ; LSL X0,X1,#63", "0:X0=0x8000000000000000"),
        ("Always", "int64_t 0:X0;", "MOV W1,#1 ; LSL W0,W1,#31 ; ADD X0,X0,#1", "0:X0=0x80000001"),
        ("Always", "", "MOV W1,#1 ; MOV W2,#33 ; LSL W0,W1,W2", "0:X0=2"),
        ("Always", "", "MOV W1,#5 ; MOV W2,#3 ; SUB W0,W2,W1", "0:X0=-2"),
        ("Always", "int64_t 0:X0;", "MOV W1,#5 ; MOV W2,#3 ; SUB W0,W2,W1", "0:X0=4294967294"),
        ("Always", "", "MOV W1,#1 ; MOV W2,#1 ; ANDS W0,W1,W2,LSL #31 ; CSET W3,MI", "0:X3=0"),
        ("Always", "", "MOV W1,#-1 ; MOV W2,#1 ; ANDS W0,W1,W2,LSL #31 ; CSET W3,MI", "0:X3=1"),
        ("Always", "", "MOV W1,#-1 ; MOV W2,#1 ; TST W1,W2,LSL #31 ; CSET W3,EQ", "0:X3=0"),
        ("Always", "", "MOV X1,#-1 ; MOV X2,#1 ; TST X1,X2,LSL #63 ; CSET W3,MI", "0:X3=1"),
        ("Always", "", "MOV W1,#-1 ; BICS W0,W1,W1 ; CSET W3,EQ", "0:X3=1"),
        ("Always", "", "MOV W1,#0 ; BICS W0,W1,W1,LSL #31 ; CSET W3,EQ", "0:X3=1"),
        (
            "Always",
            "",
            "MOV W1,#-1 ; ADDS W0,W1,#1 ; CSET W3,CS ; CSET W4,EQ ; CSET W5,VS",
            "0:X3=1 /\\ 0:X4=1 /\\ 0:X5=0",
        ),
        ("Always", "", "MOV W1,#0x7fffffff ; ADDS W0,W1,#1 ; CSET W3,VS ; CSET W4,MI", "0:X3=1 /\\ 0:X4=1"),
        ("Always", "", "MOV W1,#0 ; CMP W1,#1 ; CSET W3,LO ; CSET W4,LT ; CSET W5,HI", "0:X3=1 /\\ 0:X4=1 /\\ 0:X5=0"),
        ("Always", "", "MOV W1,#-1 ; CMP W1,#1 ; CSET W3,LO ; CSET W4,LT ; CSET W5,HI", "0:X3=0 /\\ 0:X4=1 /\\ 0:X5=1"),
        ("Always", "", "MOV W1,#-1 ; CMP W1,#-1 ; CSET W3,EQ", "0:X3=1"),
        ("Always", "", "MOV W1,#1 ; CMN W1,#-1 ; CSET W3,EQ ; CSET W4,CS", "0:X3=1 /\\ 0:X4=1"),
        ("Always", "", "MOV X1,#0xffffffff ; CMP W1,#-1 ; CSET W3,EQ", "0:X3=1"),
        ("Always", "", "MOV X1,#0xffffffff ; CMP X1,#-1 ; CSET W3,EQ", "0:X3=0"),
        ("Always", "", "MOV W1,#7 ; EOR W2,W1,W1,LSL #1", "0:X2=9"),
        ("Always", "", "MOV W1,#-8 ; ADD W2,WZR,W1,ASR #1", "0:X2=-4"),
        ("Always", "", "MOV W1,#-8 ; ADD W2,WZR,W1,LSR #1", "0:X2=0x7ffffffc"),
        ("Always", "", "MOV W1,#0x180 ; ADD W2,WZR,W1,SXTB", "0:X2=-128"),
        ("Always", "", "MOV W1,#0x180 ; ADD W2,WZR,W1,UXTB #1", "0:X2=256"),
        ("Always", "int64_t 0:X2;", "MOV W1,#-1 ; ADD X2,XZR,W1,UXTW", "0:X2=0xffffffff"),
        ("Always", "int64_t 0:X2;", "MOV W1,#-1 ; ADD X2,XZR,W1,SXTW #2", "0:X2=-4"),
        ("Always", "int64_t 0:X2;", "MOV W1,#-1 ; ADD X2,XZR,W1,UXTW #2", "0:X2=0x3fffffffc"),
        ("Always", "", "MOV W1,#1 ; CMP W1,#1 ; CSINC W2,WZR,W1,NE", "0:X2=2"),
        ("Always", "", "MOV W1,#1 ; CMP W1,#1 ; CSINV W2,WZR,W1,NE", "0:X2=-2"),
        ("Always", "", "MOV W1,#1 ; CMP W1,#1 ; CSNEG W2,WZR,W1,NE", "0:X2=-1"),
        ("Always", "", "CMP WZR,#0 ; CSETM W2,EQ", "0:X2=-1"),
        ("Always", "int64_t 0:X2;", "CMP WZR,#0 ; CSETM W2,EQ", "0:X2=0xffffffff"),
        ("Always", "int64_t 0:X2;", "CMP WZR,#0 ; CSETM X2,EQ", "0:X2=-1"),
        ("Always", "", "MOV W1,#3 ; MUL W2,W1,W1 ; NEG W3,W2 ; MVN W4,W2", "0:X2=9 /\\ 0:X3=-9 /\\ 0:X4=-10"),
        ("Always", "", "MOV W1,#0x40000000 ; MOV W3,#4 ; MUL W2,W1,W3", "0:X2=0"),
        ("Always", "", "MOV W1,#4 ; TBNZ W1,#2,L0 ; MOV W5,#1 ; L0: NOP", "0:X5=0"),
        ("Always", "", "MOV W1,#4 ; TBZ W1,#2,L0 ; MOV W5,#1 ; L0: NOP", "0:X5=1"),
        ("Always", "", "MOV X1,#0x100000000 ; CBZ W1,L0 ; MOV W5,#1 ; L0: NOP", "0:X5=0"),
        ("Always", "", "MOV X1,#0x100000000 ; CBZ X1,L0 ; MOV W5,#1 ; L0: NOP", "0:X5=1"),
        ("Always", "", "MOV W1,#1", "0:X7=0"),
        ("Always", "", "MOV W1,#1", "0:X1=1 /\\ 0:W1=1"),
        ("Always", "0:X1=x;", "MOV W0,#1 ; STR W0,[X1] ; LDR W2,[X1] ; STR WZR,[X1]", "0:X2=1 /\\ x=0"),
        (
            "Always",
            "uint8_t x=255; 0:X1=x;",
            "LDRB W0,[X1] ; LDRSB W2,[X1] ; LDRSB X3,[X1]",
            "0:X0=255 /\\ 0:X2=-1 /\\ 0:X3=-1 /\\ x=255 /\\ x=-1",
        ),
        ("Always", "uint8_t x; 0:X1=x;", "MOV W0,#0x1ff ; STRB W0,[X1] ; LDRB W2,[X1]", "0:X2=255"),
        ("Always", "uint64_t x=-1; int64_t 0:X0; 0:X1=x;", "LDR X0,[X1]", "0:X0=-1 /\\ x=-1"),
        ("Always", "uint32_t x=-1; int64_t 0:X0; 0:X1=x;", "LDRSW X0,[X1]", "0:X0=-1"),
        ("Always", "uint32_t x=-1; int64_t 0:X0; 0:X1=x;", "LDR W0,[X1]", "0:X0=0xffffffff"),
        (
            "Always",
            "x=5; 0:X1=x;",
            "MOV W0,#1 ; LDADD W0,W2,[X1] ; LDSET W0,W3,[X1] ; LDCLR W0,W4,[X1] ; LDEOR W0,W5,[X1] ; SWP W0,W6,[X1]",
            "0:X2=5 /\\ 0:X3=6 /\\ 0:X4=7 /\\ 0:X5=6 /\\ 0:X6=7 /\\ x=1",
        ),
        ("Always", "x=-5; 0:X1=x;", "MOV W0,#1 ; LDSMAX W0,W2,[X1] ; LDUMIN W0,W3,[X1]", "0:X2=-5 /\\ 0:X3=1 /\\ x=1"),
        ("Always", "x=-5; 0:X1=x;", "MOV W0,#1 ; LDUMAX W0,W2,[X1]", "x=-5"),
        ("Always", "x=-5; 0:X1=x;", "MOV W0,#1 ; LDSMIN W0,W2,[X1]", "x=-5"),
        ("Always", "uint8_t x=255; 0:X1=x;", "MOV W0,#1 ; LDADDB W0,W2,[X1]", "0:X2=255 /\\ x=0"),
        ("Always", "uint8_t x=255; 0:X1=x;", "MOV W0,#1 ; LDUMAXB W0,W2,[X1]", "0:X2=255 /\\ x=255"),
        ("Always", "uint8_t x=255; 0:X1=x;", "MOV W0,#1 ; LDSMAXB W0,W2,[X1]", "0:X2=255 /\\ x=1"),
        (
            "Always",
            "x=5; 0:X1=x;",
            "MOV W0,#5 ; MOV W2,#7 ; CAS W0,W2,[X1] ; MOV W3,#5 ; CAS W3,W2,[X1]",
            "0:X0=5 /\\ 0:X3=7 /\\ x=7",
        ),
        ("Always", "uint8_t x=5; 0:X1=x;", "MOV W0,#0x105 ; MOV W2,#0x107 ; CASB W0,W2,[X1]", "0:X0=5 /\\ x=7"),
        ("Always", "x=5; 0:X1=x;", "MOV W0,#9 ; STADD W0,[X1] ; STCLR W0,[X1]", "x=6"),
        ("Always", "x=5; 0:X1=x;", "MOV W0,#9 ; LDADD W0,W0,[X1]", "x=14 /\\ 0:X0=5"),
        ("Always", "x=5; 0:X1=x;", "MOV W0,#9 ; SWP W0,W0,[X1]", "x=9 /\\ 0:X0=5"),
        (
            "Always",
            "x=5; 0:X1=x;",
            "LDXR W0,[X1] ; ADD W0,W0,#1 ; STXR W2,W0,[X1]",
            "(0:X2=0 /\\ x=6) \\/ (0:X2=1 /\\ x=5)",
        ),
        (
            "Always",
            "uint32_t x[2]={1,2}; 0:X1=x;",
            "LDR W0,[X1,#4] ; MOV W2,#4 ; LDR W3,[X1,W2,SXTW] ; MOV X4,#1 ; LDR W5,[X1,X4,LSL #2]",
            "0:X0=2 /\\ 0:X3=2 /\\ 0:X5=2",
        ),
        (
            "Always",
            "uint64_t x[2]={1,2}; 0:X1=x;",
            "LDP X0,X2,[X1] ; STP X2,X0,[X1]",
            "0:X0=1 /\\ 0:X2=2 /\\ x[0]=2 /\\ x[1]=1",
        ),
        ("Always", "0:X3=x;", "MOV X1,X3 ; MOV W0,#2 ; STR W0,[X1]", "x=2 /\\ 0:X1=x"),
        (
            "Always",
            "0:X3=x; 0:X4=y;",
            "CMP WZR,#0 ; CSEL X1,X3,X4,EQ ; MOV W0,#2 ; STR W0,[X1]",
            "x=2 /\\ y=0 /\\ 0:X1=x",
        ),
        (
            "Always",
            "0:X3=x; 0:X4=y;",
            "CMP WZR,#1 ; CSEL X1,X3,X4,EQ ; MOV W0,#2 ; STR W0,[X1]",
            "x=0 /\\ y=2 /\\ 0:X1=y",
        ),
        ("Always", "0:X3=x; p=y; 0:X4=p;", "LDR X1,[X4] ; MOV W0,#2 ; STR W0,[X1]", "y=2 /\\ 0:X1=y"),
        (
            "Always",
            "",
            "MOV W1,#0 ; MOV W2,#0x10000000 ; CMP W1,W2,LSL #4 ; CSET W3,EQ ; CSET W4,CS",
            "0:X3=1 /\\ 0:X4=1",
        ),
        (
            "Always",
            "",
            "MOV W1,#1 ; MOV W2,#0x40000000 ; ADDS W5,W1,W2,LSL #1 ; CSET W3,MI ; CSET W4,VS",
            "0:X3=1 /\\ 0:X4=0",
        ),
        ("Always", "uint64_t 0:X2;", "MOV W2,#-1", "0:X2=0xffffffff"),
        ("Always", "uint64_t 0:X2;", "MOV X2,#-1", "0:X2=0xffffffffffffffff"),
        ("Never", "uint64_t 0:X2;", "MOV W2,#-1", "0:X2=-1"),
        ("Always", "0:X0=65537;", "MOVK W0,#2 ; MOV X1,#-1 ; MOVK X1,#0,LSL #48", "0:X0=65538"),
        ("Always", "uint64_t 0:X1;", "MOV X1,#-1 ; MOVK X1,#0,LSL #48", "0:X1=0xffffffffffff"),
        (
            "Always",
            "",
            "MOV W1,#3 ; MOV W2,#5 ; MOV W3,#7 ; MADD W4,W1,W2,W3 ; MSUB W5,W1,W2,W3 ; MNEG W6,W1,W2",
            "0:X4=22 /\\ 0:X5=-8 /\\ 0:X6=-15 /\\ 0:XZR=0",
        ),
        ("Always", "0:SP=x; x=4;", "LDR W0,[SP]", "0:X0=4"),
    ];
    check("AArch64", &rows);
}

#[test]
fn riscv() {
    let rows = [
        ("Always", "", "li x5,-1 ; srli x6,x5,60 ; srliw x7,x5,28", "0:x6=15 /\\ 0:x7=15"),
        ("Always", "", "li x5,-1 ; srai x6,x5,60 ; sraiw x7,x5,28", "0:x6=-1 /\\ 0:x7=-1"),
        (
            "Always",
            "int64_t 0:x6; int64_t 0:x7;",
            "li x5,0x7fffffff ; addi x6,x5,1 ; addiw x7,x5,1",
            "0:x6=0x80000000 /\\ 0:x7=-2147483648",
        ),
        ("Always", "int64_t 0:x6;", "li x5,1 ; slli x6,x5,63", "0:x6=0x8000000000000000"),
        ("Always", "int64_t 0:x6;", "li x5,1 ; slliw x6,x5,31", "0:x6=-2147483648"),
        (
            "Always",
            "",
            "li x5,-1 ; li x6,1 ; slt x7,x5,x6 ; sltu x8,x5,x6 ; sltiu x9,x6,-1",
            "0:x7=1 /\\ 0:x8=0 /\\ 0:x9=1",
        ),
        ("Always", "", "addi x0,x0,5 ; add x5,x0,x0", "0:x5=0 /\\ 0:x0=0"),
        ("Always", "", "ori x5,x0,-1 ; xori x6,x5,-1 ; andi x7,x5,0xff", "0:x5=-1 /\\ 0:x6=0 /\\ 0:x7=255"),
        ("Always", "", "lui x5,1 ; li x6,4096 ; sub x7,x5,x6", "0:x7=0"),
        ("Always", "int64_t 0:x5;", "lui x5,0x80000", "0:x5=-2147483648"),
        (
            "Always",
            "x=-1; 0:x6=x; int64_t 0:x5; int64_t 0:x7;",
            "lw x5,0(x6) ; lwu x7,0(x6)",
            "0:x5=-1 /\\ 0:x7=0xffffffff",
        ),
        (
            "Always",
            "x=-1; 0:x6=x; int64_t 0:x5;",
            "li x7,1 ; amoadd.w x5,x7,(x6) ; amomaxu.w x8,x7,(x6)",
            "0:x5=-1 /\\ 0:x8=0 /\\ x=1",
        ),
        (
            "Always",
            "x=-1; 0:x6=x;",
            "li x7,1 ; amomin.w x5,x7,(x6) ; amominu.w x8,x7,(x6) ; amomax.w x9,x0,(x6)",
            "0:x5=-1 /\\ 0:x8=-1 /\\ 0:x9=1 /\\ x=1",
        ),
        ("Always", "x=5; 0:x6=x;", "li x7,1 ; amoswap.w x0,x7,(x6) ; amoor.w x7,x7,(x6)", "0:x7=1 /\\ x=1"),
        ("Always", "", "li x5,-1 ; bltu x5,x0,L ; li x6,1 ; L: nop", "0:x6=1"),
        ("Always", "", "li x5,-1 ; blt x5,x0,L ; li x6,1 ; L: nop", "0:x6=0"),
        (
            "Always",
            "",
            "li a0,3 ; mv t0,a0 ; neg t1,t0 ; not t2,t0 ; snez s0,t0 ; seqz s1,t0",
            "0:x5=3 /\\ 0:x6=-3 /\\ 0:x7=-4 /\\ 0:x8=1 /\\ 0:x9=0",
        ),
        ("Always", "int8_t x=-1; 0:x6=x;", "lb x5,0(x6) ; lbu x7,0(x6)", "0:x5=-1 /\\ 0:x7=255"),
        ("Always", "int64_t x; 0:x6=x;", "li x5,-1 ; sd x5,0(x6) ; ld x7,0(x6)", "0:x7=-1 /\\ x=-1"),
        ("Always", "", "li x5,1 ; li x6,65 ; sll x7,x5,x6 ; sllw x8,x5,x6", "0:x7=2 /\\ 0:x8=2"),
        (
            "Always",
            "x=3; 0:x6=x;",
            "lr.w x5,0(x6) ; addi x5,x5,1 ; sc.w x7,x5,0(x6)",
            "(0:x7=0 /\\ x=4) \\/ (0:x7=1 /\\ x=3)",
        ),
    ];
    check("RISCV", &rows);
}

#[test]
fn power() {
    let rows = [
        (
            "Always",
            "",
            "li r1,-1 ; li r2,1 ; add r3,r1,r2 ; subf r4,r2,r1 ; sub r5,r2,r1 ; xor r6,r1,r1 ; neg r7,r2",
            "0:r3=0 /\\ 0:r4=-2 /\\ 0:r5=2 /\\ 0:r6=0 /\\ 0:r7=-1",
        ),
        ("Always", "", "li r1,-1 ; cmpwi r1,0 ; blt L ; li r3,1 ; L: nop", "0:r3=0"),
        ("Always", "", "li r1,-1 ; cmpwi cr1,r1,0 ; blt cr1,L ; li r3,1 ; L: nop", "0:r3=0"),
        ("Always", "", "li r1,-1 ; cmpwi r1,0 ; bge L ; li r3,1 ; L: nop", "0:r3=1"),
        (
            "Always",
            "x=3; 0:r4=x;",
            "lwz r1,0(r4) ; lwzx r2,r0,r4 ; li r5,7 ; stw r5,0(r4)",
            "0:r1=3 /\\ 0:r2=3 /\\ x=7",
        ),
        ("Always", "x=-1; 0:r4=x; int64_t 0:r1;", "lwz r1,0(r4)", "0:r1=0xffffffff"),
        ("Always", "", "li r1,12 ; andi. r2,r1,4 ; beq L ; li r3,1 ; L: nop", "0:r2=4 /\\ 0:r3=1"),
        (
            "Always",
            "",
            "li r1,12 ; ori r2,r1,3 ; xori r3,r1,12 ; and r4,r1,r2 ; or r5,r1,r2 ; mr r6,r5 ; addi r7,r6,-1",
            "0:r2=15 /\\ 0:r3=0 /\\ 0:r4=12 /\\ 0:r5=15 /\\ 0:r6=15 /\\ 0:r7=14",
        ),
        (
            "Always",
            "x=3; 0:r4=x;",
            "li r5,9 ; lwarx r1,r0,r4 ; stwcx. r5,r0,r4 ; bne L ; li r6,1 ; L: nop",
            "(0:r6=1 /\\ x=9) \\/ (0:r6=0 /\\ x=3)",
        ),
        ("Always", "", "li r0,5 ; addi r1,r0,3", "0:r1=3"),
    ];
    check("PPC", &rows);
}

#[test]
fn x86_64() {
    let rows = [
        ("Always", "int64_t 0:rax=-1;", "movl $1,%eax", "0:rax=1"),
        ("Always", "", "movq $-1,%rax ; addl $0,%eax", "0:rax=-1 /\\ 0:rax=0xffffffff"),
        ("Always", "int64_t 0:rax;", "movq $-1,%rax ; addl $0,%eax", "0:rax=0xffffffff"),
        ("Never", "int64_t 0:rax;", "movl $-1,%eax", "0:rax=-1"),
        ("Always", "", "movl $5,%eax ; subl $7,%eax ; negl %eax ; notl %eax ; xorl $1,%eax", "0:eax=-4"),
        ("Always", "x=3;", "movl $1,%eax ; lock xaddl %eax,(x)", "0:eax=3 /\\ x=4"),
        ("Always", "x=3;", "movl $1,%eax ; xchgl %eax,(x)", "0:eax=3 /\\ x=1"),
        ("Always", "x=3;", "movl $3,%eax ; movl $9,%ebx ; lock cmpxchgl %ebx,(x)", "0:eax=3 /\\ x=9"),
        ("Always", "x=3;", "movl $2,%eax ; movl $9,%ebx ; lock cmpxchgl %ebx,(x)", "0:eax=3 /\\ x=3"),
        ("Always", "", "movl $1,%eax ; cmpl $2,%eax ; jl L ; movl $1,%ebx ; L: nop", "0:ebx=0"),
        ("Always", "", "movl $-1,%eax ; cmpl $2,%eax ; jb L ; movl $1,%ebx ; L: nop", "0:ebx=1"),
    ];
    check("X86_64", &rows);
}

#[test]
fn x86() {
    let rows = [
        ("Always", "", "MOV EAX,$-1 ; ADD EAX,$1", "0:EAX=0"),
        ("Always", "", "MOV EAX,$5 ; CMP EAX,$7 ; JL L ; MOV EBX,$1 ; L: NOP", "0:EBX=0"),
        ("Always", "x=3;", "MOV EAX,[x] ; INC [x] ; DEC EAX ; NEG EAX ; NOT EAX", "0:EAX=1 /\\ x=4"),
        ("Always", "x=3;", "MOV EAX,$1 ; XCHG EAX,[x]", "0:EAX=3 /\\ x=1"),
    ];
    check("X86", &rows);
}

#[test]
fn c() {
    let rows = [
        (
            "Always",
            "",
            "(int *x) { int r0 = -1; unsigned int r1 = r0; long r2 = r1; *x = r2; }",
            "0:r2=4294967295 /\\ x=-1",
        ),
        (
            "Always",
            "",
            "(int *x) { int r0 = 7 / 2 * 2 % 4; int r1 = 1 << 3 | 1; int r2 = ~r1; int r3 = -7 / 2; int r4 = -7 % 2; int r5 = -8 >> 1; }",
            "0:r0=2 /\\ 0:r1=9 /\\ 0:r2=-10 /\\ 0:r3=-3 /\\ 0:r4=-1 /\\ 0:r5=-4",
        ),
        ("Always", "", "(int *x) { int r0 = 0; if (r0 == 0 && *x == 0) { r0 = 5; } else { r0 = 6; } }", "0:r0=5"),
        (
            "Always",
            "int x[3]={1,2,3};",
            "(int *x) { int r0 = x[2]; x[0] = r0; int r1 = *(x + 1); int r2 = atomic_load_explicit(x + r1, memory_order_relaxed); }",
            "0:r0=3 /\\ 0:r1=2 /\\ 0:r2=3 /\\ x[0]=3",
        ),
        ("goes wrong", "int x[2];", "(int *x) { int r0 = x[2]; }", "0:r0=0"),
        (
            "Always",
            "x=4;",
            "(atomic_int *x) { int r0 = atomic_fetch_sub_explicit(x, 1, memory_order_relaxed); int r1 = atomic_exchange(x, 9); }",
            "0:r0=4 /\\ 0:r1=3 /\\ x=9",
        ),
    ];
    check("C", &rows);
}

/// Two threads that store and then load what the other one stored, with this barrier in between.
fn store_buffering(barrier: &str) -> String {
    run(format!(
        "AArch64 SB\n{{ 0:X1=x; 0:X2=y; 1:X1=y; 1:X2=x; }}\n P0 | P1 ;\n MOV W0,#1 | MOV W0,#1 ;\n STR W0,[X1] | STR W0,[X1] ;\n \
         {barrier} | {barrier} ;\n LDR W3,[X2] | LDR W3,[X2] ;\nexists (0:X3=0 /\\ 1:X3=0)\n"
    ))
}

#[test]
fn nothing_passes_a_dsb() {
    for barrier in ["DSB ST", "DSB ISHST", "DSB SY", "DMB SY"] {
        assert_eq!(store_buffering(barrier), "Never", "{barrier}");
    }
    for barrier in ["DMB ST", "DSB LD", "ISB"] {
        assert_eq!(store_buffering(barrier), "Sometimes", "{barrier}");
    }
}

#[test]
fn riscv_loads_and_stores_that_acquire_and_release() {
    let sb = |store: &str, load: &str| {
        run(format!(
            "RISCV SB\n{{ 0:x6=x; 0:x8=y; 1:x6=y; 1:x8=x; }}\n P0 | P1 ;\n li x5,1 | li x5,1 ;\n {store} x5,0(x6) | {store} x5,0(x6) ;\n \
             {load} x7,0(x8) | {load} x7,0(x8) ;\nexists (0:x7=0 /\\ 1:x7=0)\n"
        ))
    };
    assert_eq!(sb("sw", "lw.aq"), "Sometimes");
    assert_eq!(sb("sw.rl", "lw.aq"), "Sometimes");
    assert_eq!(sb("sw.aqrl", "lw"), "Never");
    assert_eq!(sb("sw", "lw.aqrl"), "Never");
}

#[test]
fn kernel_tests_have_their_own_words() {
    let of = |body: &str, end: &str| run(format!("C t\n{{ 0:continue=1; }}\nP0 (int *x) {{ {body} }}\n{end}\n"));
    let body = "int r0; if (continue) { r0 = READ_ONCE(*x); continue = 0; }";
    assert_eq!(of(body, "locations [0:nowhere] forall (0:r0=0 /\\ 0:continue=0)"), "Always");
    assert!(of(body, "forall (0:nowhere=0)").contains("no variable"));
}
