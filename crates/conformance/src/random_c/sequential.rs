//! Random C functions without threads, to compare the front end's C with that of a compiler.
//!
//! What a function does is defined by the C standard, by the sizes of LP64 and by two choices that Cyrano shares with the usual
//! compilers (conversions to narrower signed types wrap, `>>` of a negative number keeps the sign), or is undefined in a way that both
//! can notice: signed overflow, division by zero, shifts too far or of a negative number, an index out of bounds.
//!
//! Every statement stands on a line of its own, so that a line says where something went wrong.
//!
//! A function can be written in two ways that mean the same. *Plain* is for Cyrano. *Kept* is for the compiler, which checks an
//! operation after it has simplified it: it narrows a product of which only the low bits are wanted, folds what is constant, drops what
//! nobody reads. So every operation goes through a variable (`W`), and every constant through one that the compiler cannot see
//! through (`K`).

mod expr;
mod stmt;

use std::fmt::Write;

use crate::stream::Stream;

/// The integer types, as C names them.
const TYPES: [&str; 14] = [
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "bool",
    "char",
    "int",
    "unsigned",
    "long",
    "unsigned long long",
];

/// The integer types in which arithmetic wraps.
const WRAPPING: [&str; 3] = ["uint32_t", "uint64_t", "unsigned long"];

/// How many values a function shows.
pub const SHOWN: usize = 14;

/// What stands before the functions.
pub const PRELUDE: &str = "\
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
typedef struct { int a; unsigned char b; short c[2]; } pair_t;
typedef struct { char c; int64_t l; uint8_t s[3]; bool t; uint16_t u; } mixed_t;
struct bits { unsigned lo : 3; unsigned hi : 5; int sign : 4; bool flag : 1; uint64_t wide : 20; };
enum color { RED, GREEN = 3, BLUE };
enum level { LOW = -2, HIGH = 2 };
typedef struct { uint64_t r[14]; } shown_t;
static int twice(int x) { return x + x; }
static int8_t narrow(uint16_t x) { return x; }
static uint64_t mix(uint64_t h, int64_t x) { return (h ^ x) * 0x100000001b3u; }
static bool odd(unsigned long long x) { return x % 2; }
static void bump(int *x, int by) { *x += by; }
static pair_t swapped(pair_t p) { pair_t q = { p.b, (unsigned char)p.a, { p.c[1], p.c[0] } }; return q; }
";

/// What stands before the prelude where functions are written in the kept way.
pub const KEEPERS: &str = "\
#define W(e) __extension__ ({ __auto_type w_ = +(e); w_; })
#define K(e) __extension__ ({ __auto_type k_ = +(e); __asm__(\"\" : \"+r\"(k_)); k_; })
";

/// How a function is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// As people write it.
    Plain,
    /// With every operation and constant kept from the compiler's simplifications.
    Kept,
}

/// A function in the making.
struct Author<'n> {
    dice: Stream,
    style: Style,
    name: &'n str,
    out: String,
    /// One in so many operations may be undefined; the others are in types that wrap.
    tame: usize,
    /// How many labels and variables of blocks there are.
    names: usize,
}

/// The function `shown_t NAME(void)` of a seed, and the globals of its own, whose names start with its name.
pub fn function(name: &str, seed: u64, style: Style) -> String {
    let mut dice = Stream::mixed(seed);
    let tame = [2, 4, 8, 30][dice.below(4)];
    let mut author = Author { dice, style, name, out: String::new(), tame, names: 0 };
    author.globals();
    let _ = writeln!(author.out, "shown_t {name}(void)\n{{");
    author.locals();
    for _ in 0..4 + author.dice.below(6) {
        author.statement(1);
    }
    author.result();
    author.out
}

impl Author<'_> {
    fn globals(&mut self) {
        let name = self.name;
        for number in 0..3 {
            let (ty, value) = (self.any_type(), self.constant_value());
            let _ = writeln!(self.out, "{ty} {name}_g{number} = {value};");
        }
        let (ty, one, two) = (self.any_type(), self.constant_value(), self.constant_value());
        let _ = writeln!(self.out, "{ty} {name}_ga[3] = {{ {one}, [2] = {two} }};");
        let (one, two, three) = (self.literal(), self.literal(), self.literal());
        let _ = writeln!(self.out, "mixed_t {name}_gs = {{ {one}, {two}, .u = {three} }};");
    }

    fn locals(&mut self) {
        let name = self.name;
        for number in 0..5 {
            let ty = self.any_type();
            let value = match self.dice.below(3) {
                0 => format!("{name}_g{}", number % 3),
                _ => self.constant(),
            };
            let _ = writeln!(self.out, "    {ty} v{number} = {value};");
        }
        let value = self.constant();
        let _ = writeln!(self.out, "    int a[3] = {{ 4, -7, {value} }};");
        self.out.push_str("    pair_t s = { 1, 2, { 3, 4 } };\n    int *p = &a[1];\n");
        self.out.push_str("    struct bits b = { 5, 17, -3, 1, 70000 };\n    enum color k = GREEN;\n");
        self.out.push_str("    enum level e = LOW;\n    unsigned n = 0;\n    int64_t never;\n");
    }

    /// Shows the variables and what of the globals fits.
    fn result(&mut self) {
        let name = self.name;
        let _ = writeln!(self.out, "    shown_t shown = {{ {{ v0, v1, v2, v3, v4, a[0], a[1],");
        let _ =
            writeln!(self.out, "        mix(mix(s.a, s.b), s.c[0]) + s.c[1], mix(mix(b.lo, b.hi), b.sign) + b.flag,");
        let _ = writeln!(self.out, "        mix(mix(k, e), p - a) + b.wide, n, mix({name}_g0, {name}_g1) + {name}_g2,");
        let _ = writeln!(self.out, "        mix({name}_ga[0], {name}_ga[1]) + {name}_ga[2],");
        let _ = writeln!(self.out, "        mix({name}_gs.c, {name}_gs.l) + {name}_gs.u + {name}_gs.s[1] }} }};");
        self.out.push_str("    return shown;\n}\n");
    }
}
