//! Random C functions without threads about objects: structs, unions, bit-fields, pointers, pointers to functions, literals, initialisers, strings,
//! recursion, `switch`, `goto`, statement expressions, `_Generic`, whole objects filled and copied.
//!
//! Nothing that they do is undefined, and nothing depends on an order that C leaves open: all arithmetic is unsigned, indices and amounts of
//! shifts are cut to what is there, and what has effects is a statement of its own. So each function has one result.

use std::fmt::Write;

use crate::stream::Stream;

/// What stands before the functions.
pub const PRELUDE: &str = "\
#include <stddef.h>
#include <string.h>
struct inner { unsigned char x; long y; short z[2]; };
struct object { unsigned a; int b : 5; unsigned c : 7; unsigned d : 20; short e; struct inner in; unsigned list[3]; struct object *next; };
union word { unsigned long all; struct { unsigned short lo, hi; unsigned top; } parts; int signed_one; unsigned char byte; };
struct node { unsigned value; struct node *next; };
enum color { RED, GREEN = 3, BLUE };
typedef unsigned (*operation)(unsigned, unsigned);
static unsigned add(unsigned a, unsigned b) { return a + b; }
static unsigned mix(unsigned a, unsigned b) { return (a ^ (b >> 3)) * 17u; }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
static const operation operations[] = { add, mix, [2] = least };
static unsigned deep(unsigned n, unsigned x) { return n == 0 ? x : deep(n - 1, x * 3 + n) ^ n; }
static unsigned even(unsigned n);
static unsigned odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static unsigned even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static unsigned count(unsigned by) { static unsigned calls = 3, sums[2] = { 5 }; sums[calls & 1] += by; return ++calls + sums[0] - sums[1]; }
static struct object make(unsigned a, unsigned b) { struct object made = { .a = a, .list = { [1] = b, a }, .in.z[1] = (short)b, .c = b }; return made; }
static unsigned sum(const unsigned *list, unsigned length) { unsigned all = 0; while (length--) all = all * 5 + *list++; return all; }
static void change(struct object *p, unsigned by) { p->a += by; p->in.z[by & 1]++; p->c ^= by; if (p->next) p->next->list[by % 3] -= by; }
static unsigned length(const struct node *list) { unsigned all = 0; for (; list; list = list->next) all = all * 7 + list->value; return all; }
static unsigned pick(enum color color) { switch (color) { case RED: return 1; case GREEN: case BLUE: break; default: return 9; } return color; }
#define kind(x) _Generic((x), unsigned: 1u, int: 2u, long: 3u, unsigned *: 4u, struct object: 5u, default: 6u)
#define around(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
";

/// The function of this seed, by this name: it has no parameters and returns an `unsigned`.
pub fn function(name: &str, seed: u64) -> String {
    let mut made = Maker { stream: Stream::mixed(seed), text: String::new(), labels: 0, depth: 0 };
    let _ = writeln!(made.text, "static unsigned {name}(void)\n{{");
    made.declarations();
    for _ in 0..3 + made.stream.below(6) {
        made.statement();
    }
    made.text.push_str(RESULT);
    made.text
}

/// Everything that a function has computed.
const RESULT: &str = "\
    unsigned all = sum(v, 4) + 31 * sum(s.list, 3) + sum(t.list, 3) * 7 + length(nodes);
    all = all * 3 + s.a + s.b + s.c + s.d + (unsigned)s.e + s.in.x + (unsigned)s.in.y + (unsigned)s.in.z[0] * 5 + (unsigned)s.in.z[1];
    all = all * 3 + t.a + t.b + t.c + t.d + (unsigned)t.e + t.in.x + (unsigned)t.in.y + (unsigned)t.in.z[0] * 5 + (unsigned)t.in.z[1];
    all = all * 3 + (unsigned)u.all + u.parts.top + (s.next == &t) * 2 + (t.next == &s) + (p == &s) + (unsigned)(q - v) + (unsigned)text[1];
    return all;
}
";

struct Maker {
    stream: Stream,
    text: String,
    labels: u32,
    depth: u32,
}

impl Maker {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth as usize + 1));
    }

    fn of(&mut self, choices: &[&str]) -> String {
        self.stream.pick(choices).to_owned()
    }

    fn number(&mut self) -> String {
        match self.stream.below(4) {
            0 => format!("{}u", self.stream.below(5)),
            1 => format!("0x{:x}u", self.stream.below(1 << 32)),
            2 => format!("{}u", self.stream.below(300)),
            _ => self.of(&[
                "'a'",
                "'\\n'",
                "GREEN",
                "sizeof(struct object)",
                "sizeof(struct inner)",
                "offsetof(struct object, in.z)",
                "(unsigned)-1",
                "sizeof(\"abc\")",
                "_Alignof(long)",
                "010",
                "0b101",
            ]),
        }
    }

    fn declarations(&mut self) {
        let list: Vec<String> = (0..4).map(|_| self.number()).collect();
        let text = match self.stream.below(4) {
            0 => format!("unsigned v[4] = {{ {}, {} }};", list[0], list[1]),
            1 => format!("unsigned v[] = {{ [2] = {}, {}, [0] = {} }};", list[0], list[1], list[2]),
            2 => format!("unsigned v[4] = {{ [1 ... 2] = 6, {} }};", list[0]),
            _ => format!("unsigned v[4] = {{ {} }};", list.join(", ")),
        };
        self.line(&text);
        for name in ["s", "t"] {
            let (a, b) = (self.number(), self.number());
            let text = match self.stream.below(5) {
                0 => format!("struct object {name} = {{ {a}, -3, 5, .e = 4, .in = {{ 7, 8 }}, {b} }};"),
                1 => format!("struct object {name} = {{ .in.z = {{ [1] = 2 }}, .a = {a}, .list[2] = {b} }};"),
                2 => format!("struct object {name} = {{ {a}, 3, 2, 1, -1, 2, 3, 4, 5, {b}, 6 }};"),
                3 => format!("struct object {name} = make({a}, {b});"),
                _ => format!(
                    "struct object {name}; memset(&{name}, 0, sizeof {name}); {name}.d = {a}; {name}.list[1] = {b};"
                ),
            };
            self.line(&text);
        }
        let a = self.number();
        let union = self.of(&[
            "{ .all = 0x1234567890 }",
            "{ 77 }",
            "{ .parts = { .hi = 3, 9 } }",
            "{ .parts.lo = 5, .all = 6 }",
        ]);
        self.line(&format!("union word u = {union};"));
        self.line("static const char text[] = \"ab\" \"\\x43\\n\", *words[] = { \"one\", \"three\" };");
        self.line(&format!(
            "struct node third = {{ {a} }}, *nodes = &(struct node){{ 4, &(struct node){{ 5, &third }} }};"
        ));
        let (p, q) = (self.of(&["&s", "&t"]), self.of(&["v", "&v[1]", "v + 2"]));
        self.line(&format!("struct object *p = {p}; unsigned *q = {q}; operation f = operations[1];"));
        self.line("unsigned i = 0, j = 0;");
    }

    /// A place of an unsigned type.
    fn place(&mut self) -> String {
        let index = self.stream.below(4);
        match self.stream.below(12) {
            0..=2 => format!("v[{index}]"),
            3 => self.of(&["s.a", "t.a", "p->a", "(*p).a", "around(&s.list, struct object, list)->a"]),
            4 => self.of(&["s.c", "t.c", "p->c", "s.d", "p->d"]),
            5 => format!("{}.list[{}]", self.of(&["s", "t", "(*p)"]), index % 3),
            6 => format!("p->list[{} % 3]", self.of(&["v[0]", "i", "s.a", "(unsigned)u.all"])),
            7 => self.of(&["u.parts.lo", "u.parts.hi", "u.parts.top"]),
            8 => self.of(&["s.in.x", "p->in.x", "around(&t.in, struct object, in)->in.x"]),
            9 => self.of(&["q[0]", "*q", "q[1]", "*(q + 1)"]),
            10 => self.of(&["nodes->value", "nodes->next->value", "third.value"]),
            _ => self.of(&["i", "j"]),
        }
    }

    /// A value of type `unsigned` without effects.
    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.stream.below(5) == 0 {
            return match self.stream.below(3) {
                0 => format!("(unsigned){}", self.number()),
                1 => format!("(unsigned){}", self.place()),
                _ => self.of(&[
                    "(unsigned)s.b",
                    "(unsigned)p->e",
                    "(unsigned)t.in.y",
                    "(unsigned)u.all",
                    "(unsigned)u.signed_one",
                    "(unsigned)text[2]",
                    "u.byte",
                ]),
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        match self.stream.below(22) {
            0..=4 => format!("({a} {} {b})", self.of(&["+", "-", "*", "^", "&", "|"])),
            5 => format!("({a} {} ({b} | 1u))", self.of(&["/", "%"])),
            6 => format!("({a} {} ({b} % 32u))", self.of(&["<<", ">>"])),
            7 => format!("(unsigned)({a} {} {b})", self.of(&["<", "<=", "==", "!=", ">", ">=", "&&", "||"])),
            8 => format!("(({a} & 1u) ? {b} : {})", self.value(depth - 1)),
            9 => format!("operations[{a} % 3]({a}, {b})"),
            10 => format!("{}({a}, {b})", self.of(&["f", "(*f)", "add", "(&mix)"])),
            11 => format!("deep({a} % 5u, {b})"),
            12 => format!("{}({a} % 6u)", self.of(&["even", "odd"])),
            13 => format!("({{ unsigned w = {a}; if (w & 1) w += {b}; w; }})"),
            14 => format!("((struct object){{ .a = {a}, .list = {{ 1, {b} }} }}).{}", self.of(&["a", "list[1]", "c"])),
            15 => format!("sum((unsigned[]){{ {a}, {b}, 3 }}, {}u)", self.stream.below(4)),
            16 => self.of(&["kind(s)", "kind(v[0])", "kind(&v[1])", "kind(1L)", "kind(s.e)", "kind('a')", "kind(p)"]),
            17 => format!("(unsigned)text[{a} % 5u]"),
            18 => format!("(unsigned)words[{a} & 1][{b} & 3]"),
            19 => format!("(make({a}, {b}).{})", self.of(&["a", "c", "in.z[1] + 0u", "list[2]"])),
            20 => format!("(unsigned)pick((enum color)({a} % 6u))"),
            _ => format!("({}{a})", self.of(&["~", "-", "!", "+"])),
        }
    }

    fn block(&mut self, statements: usize) {
        self.depth += 1;
        (0..statements).for_each(|_| self.statement());
        self.depth -= 1;
    }

    fn statement(&mut self) {
        let value = self.value(2);
        match self.stream.below(if self.depth < 2 { 24 } else { 17 }) {
            0..=3 => {
                let place = self.place();
                self.line(&format!("{place} = {value};"));
            }
            4 | 5 => {
                let (place, op) = (self.place(), self.of(&["+=", "-=", "*=", "^=", "|=", "&="]));
                self.line(&format!("{place} {op} {value};"));
            }
            6 => {
                let place = self.place();
                let text = self
                    .of(&["@++;", "++@;", "@--;", "v[1] = @++;", "v[2] = --@;"])
                    .replace('@', &format!("({place})"));
                // A place that is changed and read in one statement is not defined.
                self.line(&if place.contains("v[") || place.contains('q') { format!("({place})++;") } else { text });
            }
            7 => {
                let text = self.of(&[
                    "s = t;",
                    "t = s;",
                    "*p = make(@, 3);",
                    "s = *p;",
                    "s.in = t.in;",
                    "t = (struct object){ .a = @ };",
                ]);
                self.line(&text.replace('@', &value));
            }
            8 => {
                let text = self.of(&[
                    "p = &s;",
                    "p = &t;",
                    "p = (@ & 1) ? &s : &t;",
                    "s.next = &t;",
                    "t.next = 0;",
                    "p = p->next ? p->next : p;",
                    "q = &v[@ % 3];",
                    "q = &p->list[1];",
                    "q = v;",
                ]);
                let text = text.replace('@', &value);
                // What the result asks of `q` is a distance within `v`.
                self.line(&if text == "q = &p->list[1];" { "*(&p->list[1]) += 3;".into() } else { text });
            }
            9 => self.line(&format!("v[3] = count({value});")),
            10 => self.line(&format!("change({}, {value});", if value.len().is_multiple_of(2) { "p" } else { "&s" })),
            11 => {
                let text = self.of(&[
                    "memset(&s, 0, sizeof s);",
                    "memset(v, 0xff, sizeof v);",
                    "memset(&t.in, 0, sizeof(t.in));",
                    "memcpy(&t.in, &s.in, sizeof t.in);",
                    "memcpy(s.list, v, 3 * sizeof(unsigned));",
                    "memmove(v + 1, v, 2 * sizeof *v);",
                ]);
                self.line(&text);
            }
            12 => {
                self.line(&format!("u.{} = {value};", if value.len().is_multiple_of(3) { "all" } else { "parts.hi" }))
            }
            13 => {
                let text = self.of(&[
                    "s.b = @ % 31 - 15;",
                    "p->e = (short)@;",
                    "t.in.y = -(long)@;",
                    "s.in.z[@ & 1] = (short)@;",
                    "u.signed_one = (int)(@ >> 1);",
                ]);
                self.line(&text.replace('@', &value));
            }
            14 => self.line(&format!("f = operations[{value} % 3u];")),
            15 => {
                let text = self.of(&[
                    "third.next = 0; nodes = &(struct node){ @, nodes };",
                    "nodes = nodes->next ? nodes->next : nodes;",
                    "nodes->value += @;",
                ]);
                // A literal lives as long as its block.
                self.line(&if self.depth > 0 {
                    format!("nodes->value ^= {value};")
                } else {
                    text.replace('@', &value)
                });
            }
            16 => self.line(&format!("v[0] = ({value}, v[1]);")),
            17 | 18 => {
                self.line(&format!("if ({value} & 1) {{"));
                self.block(2);
                self.line("} else {");
                self.block(1);
                self.line("}");
            }
            19 => {
                let rounds = 1 + self.stream.below(3);
                let counter = format!("n{}", self.labels);
                self.labels += 1;
                self.line(&format!("for (unsigned {counter} = 0; {counter} < {rounds}; {counter}++) {{"));
                self.block(1);
                let leaves = self.of(&["continue", "break"]);
                self.line(&format!("    if (({value} & 3) == 2) {leaves};"));
                self.line("    v[1] += 1;");
                self.line("}");
            }
            20 | 21 => {
                self.line(&format!("switch ({value} % 5u) {{"));
                self.line("case 0:");
                self.block(1);
                let through = self.of(&["    break;", "    /* on */;"]);
                self.line(&through);
                self.line("case GREEN: case 1: {");
                self.block(1);
                self.line("    break; }");
                let otherwise = self.of(&["default:", "case 2:"]);
                self.line(&otherwise);
                self.block(1);
                self.line("}");
            }
            22 => {
                let label = format!("l{}", self.labels);
                self.labels += 1;
                self.line(&format!("if ({value} & 2) goto {label};"));
                self.block(1);
                self.line(&format!("{label}: v[2] ^= 1;"));
            }
            _ => {
                let counter = format!("n{}", self.labels);
                self.labels += 1;
                self.line(&format!("{{ unsigned {counter} = 0; do {{"));
                self.block(1);
                self.line(&format!("}} while (++{counter} < 2 && ({value} & 1)); }}"));
            }
        }
    }
}
