//! Statements, each on a line of its own.

use std::fmt::Write;

use super::{Author, Style};

impl Author<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    fn block(&mut self, depth: usize) {
        if depth < 3 {
            self.statement(depth + 1);
        }
    }

    pub(super) fn statement(&mut self, depth: usize) {
        match self.dice.below(20) {
            0..6 => {
                let (place, value) = (self.place(), self.expression(2));
                let value = self.kept(value);
                self.line(depth, &format!("{place} = {value};"));
            }
            6..9 => self.update(depth),
            9 => self.step(depth),
            10 => {
                // Nobody reads it, and yet it is computed.
                let (ty, value, name) = (self.any_type(), self.expression(2), self.name());
                let value = self.kept(value);
                self.line(depth, &format!("{ty} dead{name} = {value};"));
            }
            11 | 12 => self.branch(depth),
            13 => self.repeat(depth),
            14 => self.switch(depth),
            15 => self.statics(depth),
            16 if depth == 1 => self.jump(),
            17 => {
                let text = match self.dice.below(5) {
                    0 => "p = p == a ? p + 1 : p - 1;",
                    1 => "bump(&a[0], n);",
                    2 => "s = swapped(s);",
                    3 => "pair_t t = s; s.c[1] = t.c[0];",
                    _ => "b = (struct bits){ b.hi, b.lo, .sign = n & 3, .wide = b.wide };",
                };
                self.line(depth, &format!("{{ {text} }}"));
            }
            18 => {
                let (to, value) = (self.dice.below(5), self.expression(2));
                self.line(depth, &format!("v{to} = (never = {}, never);", self.kept(value)));
            }
            _ => {
                let most = self.dice.below(20);
                self.line(depth, &format!("do n = n * 2 + 1; while (n < {most});"));
            }
        }
    }

    /// A compound assignment. Where the compiler would narrow it, it is written out.
    fn update(&mut self, depth: usize) {
        let op = self.dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
        let place = self.place();
        let mut value = self.expression(1);
        if self.dice.below(self.tame) != 0 {
            value = match op {
                "<<" | ">>" => self.kept(format!("{value} & 7")),
                "/" | "%" => self.kept(format!("({value} & 0xff) + 1")),
                _ => self.kept(format!("(uint32_t){value}")),
            };
        }
        match self.style {
            Style::Plain => self.line(depth, &format!("{place} {op}= {value};")),
            Style::Kept => {
                let result = self.kept(format!("{place} {op} {value}"));
                self.line(depth, &format!("{place} = {result};"));
            }
        }
    }

    fn step(&mut self, depth: usize) {
        let step = self.dice.pick(&["++", "--"]);
        let (to, from) = (self.dice.below(5), self.dice.below(5));
        let place = self.place();
        let text = match self.dice.below(4) {
            0 if to != from => format!("v{to} = v{from}{step};"),
            1 if to != from => format!("v{to} = {step}v{from};"),
            2 => format!("{step}{place};"),
            _ => format!("{place}{step};"),
        };
        self.line(depth, &text);
    }

    fn branch(&mut self, depth: usize) {
        let cond = self.expression(2);
        self.line(depth, &format!("if ({cond}) {{"));
        self.block(depth);
        self.line(depth, "} else {");
        self.block(depth);
        self.line(depth, "}");
    }

    fn repeat(&mut self, depth: usize) {
        let (most, when) = (1 + self.dice.below(4), self.expression(1));
        let leave = self.dice.pick(&["break", "continue"]);
        self.line(depth, &format!("for (int i = 0; i < {most}; i++) {{"));
        self.line(depth + 1, &format!("if ({when}) {leave};"));
        self.block(depth);
        self.line(depth + 1, "n += i;");
        self.line(depth, "}");
    }

    fn switch(&mut self, depth: usize) {
        let (value, label) = (self.expression(1), self.dice.pick(&["-1", "0x80000000", "-2147483648", "255", "'b'"]));
        self.line(depth, &format!("switch ({value}) {{"));
        self.line(depth, "case 0: n += 1;");
        self.block(depth);
        self.line(depth, "case 1: n += 10; break;");
        self.line(depth, "default: n += 100;");
        self.line(depth, &format!("case {label}: case GREEN: n += 1000;"));
        self.line(depth, "}");
    }

    /// Two variables of one name that keep their values, in blocks of their own that are run more than once.
    fn statics(&mut self, depth: usize) {
        let (one, other) = (self.any_type(), self.any_type());
        let (first, second) = (self.constant_value(), self.literal());
        let to = self.dice.below(5);
        self.line(depth, "for (int i = 0; i < 2; i++) {");
        self.line(depth + 1, &format!("{{ static {one} kept = {first}; kept ^= 5; v{to} ^= kept; }}"));
        self.line(depth + 1, &format!("{{ static {other} kept = {second}; kept |= 2; n ^= kept; }}"));
        self.line(depth, "}");
    }

    fn jump(&mut self) {
        let (cond, label) = (self.expression(1), self.name());
        self.line(1, &format!("if ({cond}) goto out{label};"));
        self.block(1);
        self.line(1, &format!("out{label}: n ^= 3;"));
    }
}
