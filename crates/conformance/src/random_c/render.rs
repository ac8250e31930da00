//! Random statements as C.

use std::fmt::{self, Write};

use crate::models::{KINDS, chosen};

use super::stmt::{Condition, MemoryWord, Pointer, Stmt, Target, Value};

/// Declares the locals of a function.
pub fn locals(body: &[Stmt], out: &mut String) {
    let mut text = String::new();
    body.iter().for_each(|stmt| stmt.render(&mut text, 0));
    let mentions = |name: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    out.push_str("    int r0 = 0, r1 = 0, r2 = arg;\n");
    let declarations = [("u", "int u;"), ("v", "word_t v;"), ("k", "cell_t *k;")];
    for (_, declaration) in declarations.iter().filter(|(name, _)| mentions(name)) {
        let _ = writeln!(out, "    {declaration}");
    }
    if mentions("t0") || mentions("t1") {
        out.push_str("    node_t *t0 = 0, *t1 = 0;\n");
    }
}

impl Stmt {
    /// The statement as C.
    pub fn render(&self, out: &mut String, depth: usize) {
        let pad = "    ".repeat(depth);
        let block = |out: &mut String, stmts: &[Self], around: &str| {
            let _ = writeln!(out, "{pad}{around}{{");
            stmts.iter().for_each(|stmt| stmt.render(out, depth + 1));
            let _ = writeln!(out, "{pad}}}");
        };
        match self {
            Self::Atomic(all) => block(out, all, "atomic "),
            Self::Locked(all) => {
                let _ = writeln!(out, "{pad}lock(&l);");
                block(out, all, "");
                let _ = writeln!(out, "{pad}unlock(&l);");
            }
            Self::If(c, then, other) => {
                block(out, then, &format!("if ({c}) "));
                if !other.is_empty() {
                    block(out, other, "else ");
                }
            }
            Self::Twice(all, c) => {
                let _ = writeln!(out, "{pad}for (int i = 0; i < 2; i++) {{");
                all.iter().for_each(|stmt| stmt.render(out, depth + 1));
                if let Some(c) = c {
                    let _ = writeln!(out, "{pad}    if ({c}) break;");
                }
                let _ = writeln!(out, "{pad}}}");
            }
            simple => {
                let _ = writeln!(out, "{pad}{}", simple.line());
            }
        }
    }

    /// A statement without parts, on one line.
    fn line(&self) -> String {
        match self {
            Self::Store(x, e) => format!("{x} = {e};"),
            Self::Load(r, x) => format!("r{r} = {x};"),
            Self::Compute(r, e) => format!("r{r} = {e};"),
            Self::StorePointer(x, t) => format!("{} = {};", pointer_name(*x), target_name(*t)),
            Self::LoadPointer(t, x) => format!("t{t} = {};", pointer_name(*x)),
            Self::Allocate(t, fields) => {
                let value = if *fields >= 1 { format!(" t{t}->value = r2;") } else { String::new() };
                let next = if *fields >= 2 { format!(" t{t}->next = 0;") } else { String::new() };
                format!("t{t} = malloc(sizeof(node_t));{value}{next}")
            }
            Self::Cell(what) => cell(*what).to_owned(),
            Self::Cas(r, x, e, n) => format!("r{r} = cas(&{x}, {e}, {n});"),
            Self::CasPointer(r, x, e, n) => {
                format!("r{r} = cas(&{}, {}, {});", pointer_name(*x), target_name(*e), target_name(*n))
            }
            Self::Dcas(r, x, [e, n], [s, t]) => {
                let (x, s, t) = (pointer_name(*x), target_name(*s), target_name(*t));
                format!("r{r} = dcas(&x, &{x}, {e}, {s}, {n}, {t});")
            }
            Self::FetchAdd(r, x, c) => format!("r{r} = fetch_add(&{x}, {c});"),
            Self::Exchange(r, x, e) => format!("r{r} = exchange(&{x}, {e});"),
            Self::Word(what, r, e) => word(*what, *r, *e),
            Self::Mark(what, t) => mark(*what, *t),
            Self::Fence(bits) => format!("fence(\"{}\");", chosen(&KINDS, *bits, " ")),
            Self::Retry(r, e) => format!("while (!cas(&x, r{r}, {e})) r{r} = x;"),
            Self::Return(c, r) => format!("if ({c}) return r{r};"),
            Self::Assert(c) => format!("assert({c});"),
            Self::Assume(c) => format!("assume({c});"),
            Self::Locked(_) | Self::Atomic(_) | Self::If(..) | Self::Twice(..) => String::new(),
        }
    }
}

/// Objects that are freed: published, freed by whoever finds them, freed twice.
fn cell(what: u8) -> &'static str {
    match what {
        0 => "k = malloc(sizeof(cell_t)); k->v = r2; c = k;",
        1 => "k = c; free(k);",
        2 => "k = exchange(&c, 0); if (k) { r0 = k->v; free(k); }",
        3 => "k = malloc(sizeof(cell_t)); c = k;",
        _ => "k = c; if (k) r1 = k->v;",
    }
}

fn word(what: u8, r: u8, e: Value) -> String {
    match what {
        0 => "v = w;".to_owned(),
        1 => format!("r{r} = (int)w.count;"),
        2 => format!("w = (word_t){{ t0, {e} }};"),
        3 => format!("v = w; r{r} = cas(&w, v, ((word_t){{ t1, v.count + 1 }}));"),
        _ => format!("t0 = w.ptr; v.count = {e}; r{r} = (int)v.count;"),
    }
}

fn mark(what: u8, t: u8) -> String {
    match what {
        0 => format!("m = (uintptr_t)t{t} | 1;"),
        1 => format!("t{t} = (node_t *)(m & ~(uintptr_t)1);"),
        2 => "r0 = (int)(m & 1);".to_owned(),
        _ => format!("r1 = cas(&m, (uintptr_t)t{t}, (uintptr_t)t{t} | 1);"),
    }
}

fn pointer_name(pointer: Pointer) -> &'static str {
    ["p", "q", "n0.next", "t0->next", "t1->next"][usize::from(pointer)]
}

fn target_name(target: Target) -> &'static str {
    ["NULL", "&n0", "t0", "t1"][usize::from(target)]
}

impl fmt::Display for MemoryWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(n) => f.write_str(["x", "y", "s.a", "s.b", "n0.value"][usize::from(*n)]),
            Self::Element(r) => write!(f, "a[r{r} & 1]"),
            Self::AnyElement(r) => write!(f, "a[r{r}]"),
            Self::Field(t) => write!(f, "t{t}->value"),
            Self::Far => f.write_str("p->value"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(c) => write!(f, "{c}"),
            Self::Reg(r) => write!(f, "r{r}"),
            Self::Undefined => f.write_str("u"),
            Self::Choose => f.write_str("choose(0, 1)"),
            Self::Op(op @ 0..10, l, r) => {
                let op = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"][usize::from(*op)];
                write!(f, "r{l} {op} r{r}")
            }
            Self::Op(10, l, r) => write!(f, "(r{l} > 0 && 2 / r{l} == r{r})"),
            Self::Op(11, l, r) => write!(f, "(r{l} ? r{r} : !r{l})"),
            Self::Op(12, l, r) => write!(f, "(int)((unsigned)r{l} - (unsigned)r{r} & 7)"),
            Self::Op(13, l, r) => write!(f, "(r{l} < r{r}) - (r{r} < r{l})"),
            Self::Op(14, l, r) => write!(f, "(unsigned char)(r{l} * 200 + r{r}) >> 6"),
            Self::Op(15, l, _) => write!(f, "(~r{l} & 3)"),
            Self::Op(16, l, _) => write!(f, "r{l} - r{l} + 1"),
            Self::Op(_, l, r) => write!(f, "(signed char)(r{l} * 100) + r{r}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(r, c) => write!(f, "r{r} == {c}"),
            Self::Less(r, e) => write!(f, "r{r} < {e}"),
            Self::Read(x, c) => write!(f, "{x} != {c}"),
            Self::Guarded(t, c) => write!(f, "t{t} != 0 && t{t}->value == {c}"),
            Self::Same => f.write_str("t0 == t1"),
        }
    }
}
