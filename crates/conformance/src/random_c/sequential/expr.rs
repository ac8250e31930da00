//! Expressions without side effects: every operator, constant and conversion.

use super::{Author, Style, TYPES, WRAPPING};

/// Constants at the ends of the types' ranges, in the ways that C can write them.
const LITERALS: [&str; 44] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "100",
    "127",
    "-128",
    "128",
    "255",
    "256",
    "32767",
    "-32768",
    "65535",
    "65536",
    "2147483647",
    "(-2147483647 - 1)",
    "2147483648",
    "4294967295",
    "4294967295U",
    "0x80000000",
    "0xffffffff",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "0xffffffffffffffffu",
    "9223372036854775807L",
    "18446744073709551615u",
    "INT_MIN",
    "INT_MAX",
    "UINT_MAX",
    "INT64_MIN",
    "INT64_MAX",
    "UINT64_MAX",
    "LONG_MIN",
    "CHAR_MIN",
    "3u",
    "5l",
    "7ul",
    "0x7fLL",
    "010ull",
    "'a'",
    "'\\xff'",
    "-0x80000000",
];

/// Constant expressions, as initialisers of globals and labels need them.
const FOLDED: [&str; 12] = [
    "UINT64_MAX >> 3",
    "0x8000000000000000 >> 63",
    "(0x8000000000000000 | 5) % 1000",
    "UINT64_MAX * UINT64_MAX",
    "-1 < 0u",
    "(int8_t)200 * 2",
    "INT64_MIN / 3",
    "~0u + 2",
    "(uint16_t)-1 << 3",
    "sizeof(mixed_t) + _Alignof(mixed_t)",
    "(bool)256 ? INT64_MIN : 1u",
    "(0 && 1 / 0) + (1 || 1 / 0)",
];

impl Author<'_> {
    pub(super) fn any_type(&mut self) -> &'static str {
        self.dice.pick(&TYPES)
    }

    pub(super) fn literal(&mut self) -> &'static str {
        self.dice.pick(&LITERALS)
    }

    /// What an initialiser of a global can be.
    pub(super) fn constant_value(&mut self) -> &'static str {
        if self.dice.below(3) == 0 { self.dice.pick(&FOLDED) } else { self.literal() }
    }

    /// The value of an operation, safe from simplifications.
    pub(super) fn kept(&self, operation: String) -> String {
        if self.style == Style::Kept { format!("W({operation})") } else { format!("({operation})") }
    }

    /// A constant where a value stands.
    pub(super) fn constant(&mut self) -> String {
        let value = self.constant_value();
        if self.style == Style::Kept { format!("K({value})") } else { format!("({value})") }
    }

    /// A place that can be read and assigned.
    pub(super) fn place(&mut self) -> String {
        let name = self.name;
        match self.dice.below(20) {
            number @ 0..10 => format!("v{}", number % 5),
            10 => "a[n & 1]".into(),
            11 => "p[0]".into(),
            12 => self.dice.pick(&["s.a", "s.b", "s.c[1]", "s.c[v0 & 1]"]).into(),
            13 | 14 => self.dice.pick(&["b.lo", "b.hi", "b.sign", "b.flag", "b.wide"]).into(),
            15 | 16 => format!("{name}_g{}", self.dice.below(3)),
            17 => format!("{name}_{}", self.dice.pick(&["ga[0]", "ga[2]", "ga[n & 1]", "ga[v1 & 1]"])),
            18 => format!("{name}_{}", self.dice.pick(&["gs.c", "gs.l", "gs.s[1]", "gs.t", "gs.u"])),
            _ => self.dice.pick(&["k", "e", "a[2]"]).into(),
        }
    }

    fn leaf(&mut self) -> String {
        let sizes =
            ["sizeof(int)", "sizeof(mixed_t)", "sizeof s", "sizeof(long[3])", "_Alignof(short)", "sizeof(v0 + 1)"];
        match self.dice.below(16) {
            0..3 => self.constant(),
            3 => self.dice.pick(&["BLUE", "HIGH", "(p - a)", "(p == &a[1])", "(p != a)", "n"]).into(),
            4 => self.dice.pick(&sizes).into(),
            // An index that may be one too far.
            5 if self.dice.below(self.tame) == 0 => format!("a[{} & 3]", self.place()),
            _ => self.place(),
        }
    }

    pub(super) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let left = self.expression(depth - 1);
        match self.dice.below(18) {
            0..7 => self.arithmetic(left, depth),
            7 | 8 => self.shift(left, depth),
            9 | 10 => {
                let (op, right) = (self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]), self.expression(depth - 1));
                self.kept(format!("{left} {op} {right}"))
            }
            11 => {
                let (op, right) = (self.dice.pick(&["&&", "||"]), self.expression(depth - 1));
                self.kept(format!("{left} {op} {right}"))
            }
            12 => {
                let (then, other) = (self.expression(depth - 1), self.expression(depth - 1));
                self.kept(format!("{left} ? {then} : {other}"))
            }
            13 | 14 => format!("(({}){left})", self.any_type()),
            15 => self.unary(&left),
            16 => {
                let left = self.kept(left);
                format!("({left}, {})", self.expression(depth - 1))
            }
            _ => self.call(&left),
        }
    }

    /// Whether the next operation is one that wraps.
    fn wraps(&mut self) -> bool {
        self.dice.below(self.tame) != 0
    }

    fn arithmetic(&mut self, left: String, depth: usize) -> String {
        let op = self.dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
        let right = self.expression(depth - 1);
        let (bits, divides) = (["&", "|", "^"].contains(&op), ["/", "%"].contains(&op));
        if bits || !self.wraps() {
            return self.kept(format!("{left} {op} {right}"));
        }
        let ty = self.dice.pick(&WRAPPING);
        let right = if divides { self.kept(format!("{right} | 1")) } else { right };
        match divides && self.dice.below(2) == 0 {
            // Signed, and never the one quotient that overflows.
            true => self.kept(format!("{left} {op} (int16_t){}", self.kept(format!("{right} & 0x7fff")))),
            false => self.kept(format!("({ty}){left} {op} {right}")),
        }
    }

    fn shift(&mut self, left: String, depth: usize) -> String {
        let op = self.dice.pick(&["<<", ">>"]);
        let right = self.expression(depth - 1);
        if !self.wraps() {
            return self.kept(format!("{left} {op} {right}"));
        }
        let wide = self.dice.below(2) == 0;
        let amount = self.kept(format!("{right} & {}", if wide { 63 } else { 31 }));
        match (op, wide) {
            (">>", false) => self.kept(format!("{left} >> {amount}")),
            (_, true) => self.kept(format!("(uint64_t){left} {op} {amount}")),
            _ => self.kept(format!("(uint32_t){left} << {amount}")),
        }
    }

    fn unary(&mut self, arg: &str) -> String {
        let op = self.dice.pick(&["-", "~", "!", "+"]);
        if op == "-" && self.wraps() {
            let ty = self.dice.pick(&WRAPPING);
            return self.kept(format!("-({ty}){arg}"));
        }
        self.kept(format!("{op}{arg}"))
    }

    fn call(&mut self, arg: &str) -> String {
        match self.dice.below(4) {
            0 => format!("twice((int8_t){arg})"),
            1 => format!("narrow({arg})"),
            2 => format!("mix({arg}, {})", self.leaf()),
            _ => format!("odd({arg})"),
        }
    }
}
