//! Random C functions without threads, to compare the front end's C with that of a compiler.
//!
//! What a function does is defined by the C standard and two choices that Cyrano shares with the usual compilers (conversions to
//! narrower signed types wrap, `>>` of a negative number keeps the sign), or is an error that both can notice: signed overflow, division by
//! zero, shifts too far. `sizeof` and layouts are not compared, because a word of memory is not a byte.

use std::fmt::Write;

/// The integer types, as C names them.
const TYPES: [&str; 9] =
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "bool"];

/// What stands before the functions.
pub const PRELUDE: &str = "\
#include <stdbool.h>
#include <stdint.h>
typedef struct { int a; unsigned char b; short c[2]; } pair_t;
struct bits { unsigned lo : 3; unsigned hi : 5; int sign : 4; };
enum color { RED, GREEN = 3, BLUE };
static int twice(int x) { return x + x; }
static void bump(int *x, int by) { *x += by; }
static pair_t swapped(pair_t p) { pair_t q = { p.b, (unsigned char)p.a, { p.c[1], p.c[0] } }; return q; }
int32_t g = 5;
pair_t gs = { 3, 250, { -2, 7 } };
int64_t ga[3] = { 1, -1, 40 };
";

/// A source of random numbers (xorshift), so that a seed names a function.
pub struct Dice(u64);

impl Dice {
    /// Dice for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % sides as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A function `long NAME(void)` and nothing else.
pub fn function(name: &str, dice: &mut Dice) -> String {
    let mut body = format!("long {name}(void)\n{{\n");
    for number in 0..4 {
        let ty = TYPES[dice.below(TYPES.len())];
        let _ = writeln!(body, "    {ty} v{number} = {};", constant(dice));
    }
    body.push_str("    int a[3] = { 4, -7, 1 };\n    pair_t s = { 1, 2, { 3, 4 } };\n    int *p = &a[1];\n");
    body.push_str("    struct bits b = { 5, 17, -3 };\n    enum color k = GREEN;\n    int n = 0;\n");
    for label in 0..3 + dice.below(4) {
        statement(dice, 1, label, &mut body);
    }
    body.push_str(
        "    return (long)v0 + v1 * 3 + v2 % 1000 - (v3 & 255) + a[0] + a[1] * 2 + s.a + s.b + s.c[0] + b.lo + b.hi\n",
    );
    body.push_str("        + b.sign + (int)k + g + gs.b + (int)ga[2] + *p + n;\n}\n");
    body
}

fn constant(dice: &mut Dice) -> String {
    let choices = [
        "0",
        "1",
        "2",
        "-1",
        "7",
        "100",
        "127",
        "-128",
        "255",
        "32767",
        "-32768",
        "65535",
        "2147483647",
        "4294967295U",
    ];
    dice.pick(&choices).to_owned()
}

fn place(dice: &mut Dice) -> String {
    match dice.below(14) {
        number @ 0..8 => format!("v{}", number % 4),
        8 => "a[n & 1]".into(),
        9 => "*p".into(),
        10 => dice.pick(&["s.a", "s.b", "s.c[1]", "s.c[v0 & 1]"]).into(),
        11 => dice.pick(&["b.lo", "b.hi", "b.sign"]).into(),
        12 => dice.pick(&["g", "gs.b", "gs.c[0]", "ga[2]"]).into(),
        _ => "a[2]".into(),
    }
}

fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return match dice.below(4) {
            0 => constant(dice),
            1 => dice.pick(&["n", "(int)k", "BLUE", "(p - a)", "(p == &a[1])", "'a'", "0x7fL", "3u"]).into(),
            _ => place(dice),
        };
    }
    let mut part = || expression(dice, depth - 1);
    let (left, right) = (part(), part());
    match dice.below(17) {
        0..6 => {
            let op = dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
            format!("({left} {op} {right})")
        }
        // To shift a negative number to the left is undefined in C11; Cyrano multiplies, as compilers do.
        6 => format!("((uint16_t){left} << ({right} & 7))"),
        7 => format!("({left} >> ({right} & 15))"),
        8 | 9 => {
            let op = dice.pick(&["<", "<=", ">", ">=", "==", "!="]);
            format!("({left} {op} {right})")
        }
        10 => format!("({left} && {right})"),
        11 => format!("({left} || {right})"),
        12 => format!("({left} ? {right} : {})", expression(dice, depth - 1)),
        13 => format!("(({}){left})", TYPES[dice.below(TYPES.len())]),
        14 => format!("({} {left})", dice.pick(&["-", "~", "!", "+"])),
        15 => format!("({left}, {right})"),
        _ => format!("twice((int8_t){left})"),
    }
}

fn statement(dice: &mut Dice, depth: usize, label: usize, out: &mut String) {
    let pad = "    ".repeat(depth);
    let block = |dice: &mut Dice, out: &mut String| {
        if depth < 3 {
            statement(dice, depth + 1, label, out);
        }
    };
    match dice.below(14) {
        0..5 => {
            let _ = writeln!(out, "{pad}{} = {};", place(dice), expression(dice, 2));
        }
        5 => {
            let op = dice.pick(&["+=", "-=", "*=", "&=", "|=", "^="]);
            let _ = writeln!(out, "{pad}{} {op} {};", place(dice), expression(dice, 1));
        }
        6 => {
            let step = dice.pick(&["++", "--"]);
            let (to, from) = (dice.below(4), dice.below(4));
            let text = match dice.below(3) {
                0 if to != from => format!("v{to} = v{from}{step};"),
                1 if to != from => format!("v{to} = {step}v{from};"),
                _ => format!("v{to}{step};"),
            };
            let _ = writeln!(out, "{pad}{text}");
        }
        7 | 8 => {
            let _ = writeln!(out, "{pad}if ({}) {{", expression(dice, 2));
            block(dice, out);
            let _ = writeln!(out, "{pad}}} else {{");
            block(dice, out);
            let _ = writeln!(out, "{pad}}}");
        }
        9 => {
            let (most, when) = (1 + dice.below(4), expression(dice, 1));
            let leave = dice.pick(&["break", "continue"]);
            let _ = writeln!(out, "{pad}for (int i = 0; i < {most}; i++) {{\n{pad}    if ({when}) {leave};");
            block(dice, out);
            let _ = writeln!(out, "{pad}    n += i;\n{pad}}}");
        }
        10 => {
            let _ = writeln!(out, "{pad}switch ({}) {{\n{pad}case 0: n += 1;", expression(dice, 1));
            block(dice, out);
            let _ = writeln!(out, "{pad}case 1: n += 10; break;\n{pad}default: n += 100;");
            let _ = writeln!(out, "{pad}case -1: case GREEN: n += 1000;\n{pad}}}");
        }
        11 if depth == 1 => {
            let _ = writeln!(out, "{pad}if ({}) goto out{label};", expression(dice, 1));
            block(dice, out);
            let _ = writeln!(out, "{pad}out{label}: n ^= 3;");
        }
        12 => {
            let text = match dice.below(5) {
                0 => "p = p == a ? p + 1 : p - 1;",
                1 => "bump(&a[0], n); bump(p, 2);",
                2 => "s = swapped(s);",
                3 => "gs = s; s.c[1] = gs.c[0];",
                _ => "b = (struct bits){ b.hi, b.lo, .sign = n & 3 };",
            };
            let _ = writeln!(out, "{pad}{text}");
        }
        _ => {
            let _ = writeln!(out, "{pad}do n = n * 2 + 1; while (n < {});", dice.below(20));
        }
    }
}
