//! No text makes the parser panic or run on.

use proptest::prelude::*;

use super::complaints;

const PIECES: [&str; 64] = [
    "X86 a\n",
    "X86_64 a\n",
    "C a\n",
    "{",
    "}",
    "{}",
    "\n P0 ;\n",
    "\n P0 | P1 ;\n",
    "P0 (int *x) {",
    ";",
    "|",
    "MOV ",
    "EAX",
    "[x]",
    ",",
    "$1",
    "LOCK ",
    "INC ",
    "XCHG ",
    "CMPXCHG ",
    "JNE L",
    "L:",
    "MFENCE",
    "exists ",
    "~exists ",
    "forall ",
    "(",
    ")",
    "0:EAX",
    "=",
    "1",
    "/\\",
    "\\/",
    "~",
    "=>",
    "x",
    "locations ",
    "[",
    "]",
    "filter ",
    "int ",
    "*",
    "r0",
    "READ_ONCE(",
    "smp_mb();",
    "if ",
    "while ",
    "else ",
    "do ",
    "&&",
    "&",
    "-",
    "%",
    "(%rax)",
    "(*",
    "*)",
    "\"",
    "9999999999999999999",
    "0x",
    "atomic_int ",
    "cmpxchg(",
    "é",
    "\t",
    "P1",
];

proptest! {
    #[test]
    fn pieces_in_any_order(picked in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let source: String = picked.iter().map(|at| PIECES[*at]).collect();
        complaints(&source);
    }

    #[test]
    fn damaged_tests(at in 0..200usize, piece in 0..PIECES.len(), cut in 0..4usize, c in any::<bool>()) {
        let whole = if c {
            "C a\n{ int *p = &x; }\nP0 (int *x, int **p) {\n int r0 = READ_ONCE(*x);\n if (r0) { *x = 1; } else xchg(x, 2);\n}\nexists (0:r0=1 /\\ x=2)\n"
        } else {
            "X86 a\n\"doc\"\n{ x=1; 0:EBX=x; }\n P0 | P1 ;\n L: LOCK INC [x] | MOV EAX,[EBX] ;\n JNE L | XCHG [x],EAX ;\nlocations [x;]\nexists (0:EAX=1 /\\ x=2)\n"
        };
        let start = at.min(whole.len());
        let end = (start + cut).min(whole.len());
        let source = format!("{}{}{}", &whole[..start], PIECES[piece], &whole[end..]);
        complaints(&source);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, close: &str| format!("{}x=1{}", open.repeat(100_000), close.repeat(100_000));
    let test = |condition: String| format!("X86 a\n{{}}\n P0 ;\n MOV EAX,[x] ;\nexists {condition}\n");
    for source in [test(deep("(", ")")), test(deep("~", "")), test(deep("x=1 => ", ""))] {
        assert!(complaints(&source)[0].contains("nested too deeply"), "{:.80}", complaints(&source)[0]);
    }
    let code = |body: String| format!("C a\n{{}}\nP0 (int *x) {{ int r0; {body} }}\nexists (x=1)\n");
    for body in ["{".repeat(50_000), "r0 = ".to_owned() + &"!".repeat(50_000), "if (1) ".repeat(50_000)] {
        assert!(complaints(&code(body))[0].contains("nested too deeply"));
    }
    let long = "0:EAX=1 /\\ ".repeat(20_000) + "0:EAX=1";
    assert!(complaints(&test(long))[0].contains("more than 2000 operators"));
}
