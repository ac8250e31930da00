//! Random programs, as RML, so that a failure can be read, shrunk and kept.
//!
//! The shapes are those that memory models differ in: few variables, few values, own writes read back, compare-and-swap,
//! fences of every kind, branches on loaded and on forwarded values, dependencies of each kind, atomic sections, choices, operations;
//! loops in sections and sections in loops, waits, choices and assertions in both, and code beside operations.

use std::fmt::{self, Write};

use cyrano_ir::{Program, text};
use proptest::prelude::*;

use crate::dress::{Dress, dress};
use crate::models::{KINDS, chosen};

/// A statement of a random program. Registers are `r0` to `r2`, variables `x`, `y`, `z` and the array `a[2]`.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `x := e`
    Store(Var, Value),
    /// `r := x`
    Load(u8, Var),
    /// `r := cas(x, e, e)`
    Cas(u8, Var, Value, Value),
    /// `r := exchange(x, e)`
    Exchange(u8, Var, Value),
    /// `r := fetch_add(x, 1)`
    FetchAdd(u8, Var),
    /// A fence of the kinds whose bits are set.
    Fence(u8),
    /// `r := e`
    Assign(u8, Value),
    /// `if r = c { … } else { … }`
    If(u8, i128, Vec<Stmt>, Vec<Stmt>),
    /// `atomic { … }`
    Atomic(Vec<Stmt>),
    /// `atomic { r := x; assume r = c; x := e }`
    Guarded(u8, Var, i128, Value),
    /// `choose r in 0..1`
    Choose(u8),
    /// `assume r != c`
    Assume(u8, i128),
    /// `assert r != c`
    Assert(u8, i128),
    /// `index i: while i < 2 { …; i := i + 1 }`
    Twice(Vec<Stmt>),
    /// `j := 0; while j < n { …; j := j + 1; if r = c { break } }`, with or without the way out.
    Rounds(i128, Option<(u8, i128)>, Vec<Stmt>),
    /// `operation f { … }`
    Operation(Vec<Stmt>),
}

/// A shared variable.
#[derive(Clone, Copy, Debug)]
pub enum Var {
    /// `x`, `y`, `z`.
    Named(u8),
    /// `a[r]`, an address dependency if `r` was loaded.
    Element(u8),
}

/// A value to store or compare with.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A constant.
    Const(i128),
    /// A register.
    Reg(u8),
    /// A register plus one.
    Next(u8),
    /// A value that is always the same and still depends on a register.
    Same(u8, i128),
}

/// A random program.
#[derive(Clone, Debug)]
pub struct Random {
    /// The threads.
    pub threads: Vec<Vec<Stmt>>,
    /// What is put on top of the compiled program.
    pub dress: Dress,
}

fn reg() -> impl Strategy<Value = u8> {
    0..3u8
}

fn var() -> impl Strategy<Value = Var> {
    prop_oneof![12 => (0..2u8).prop_map(Var::Named), 2 => Just(Var::Named(2)), 1 => reg().prop_map(Var::Element)]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        5 => (1..3i128).prop_map(Value::Const),
        2 => reg().prop_map(Value::Reg),
        1 => reg().prop_map(Value::Next),
        1 => (reg(), 1..3i128).prop_map(|(r, c)| Value::Same(r, c)),
    ]
}

fn access() -> BoxedStrategy<Stmt> {
    prop_oneof![
        6 => (var(), value()).prop_map(|(x, e)| Stmt::Store(x, e)),
        6 => (reg(), var()).prop_map(|(r, x)| Stmt::Load(r, x)),
        1 => (reg(), var(), value(), value()).prop_map(|(r, x, e, n)| Stmt::Cas(r, x, e, n)),
        1 => (reg(), var(), value()).prop_map(|(r, x, e)| Stmt::Exchange(r, x, e)),
        1 => (reg(), var()).prop_map(|(r, x)| Stmt::FetchAdd(r, x)),
    ]
    .boxed()
}

fn simple() -> BoxedStrategy<Stmt> {
    prop_oneof![
        12 => access(),
        2 => (1..16u8).prop_map(Stmt::Fence),
        1 => (reg(), value()).prop_map(|(r, e)| Stmt::Assign(r, e)),
    ]
    .boxed()
}

fn stmt() -> BoxedStrategy<Stmt> {
    let some = |max| prop::collection::vec(simple(), 0..max);
    let accesses = |max| prop::collection::vec(access(), 1..max);
    prop_oneof![
        14 => simple(),
        2 => (reg(), 0..2i128, some(3), some(2)).prop_map(|(r, c, a, b)| Stmt::If(r, c, a, b)),
        1 => accesses(4).prop_map(Stmt::Atomic),
        1 => (accesses(3), reg(), 0..2i128, accesses(2)).prop_map(|(mut all, r, c, then)| {
            all.push(Stmt::If(r, c, then, vec![]));
            Stmt::Atomic(all)
        }),
        1 => (reg(), var(), 0..2i128, value()).prop_map(|(r, x, c, e)| Stmt::Guarded(r, x, c, e)),
        1 => reg().prop_map(Stmt::Choose),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assume(r, c)),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assert(r, c)),
        1 => prop::collection::vec(simple(), 1..2).prop_map(Stmt::Twice),
        1 => unit(),
    ]
    .boxed()
}

/// A loop that goes round at most three times, and may be left before.
fn rounds(body: BoxedStrategy<Stmt>) -> BoxedStrategy<Stmt> {
    let leave = prop::option::weighted(0.7, (reg(), 0..2i128));
    let all = (1..4i128, leave, prop::collection::vec(body, 0..2));
    all.prop_map(|(times, leave, body)| Stmt::Rounds(times, leave, body)).boxed()
}

/// What may stand in a section: no fence.
fn inner() -> BoxedStrategy<Stmt> {
    let some = |max| prop::collection::vec(access(), 0..max);
    prop_oneof![
        8 => access(),
        4 => rounds(access()),
        2 => (reg(), 0..2i128, some(2), some(2)).prop_map(|(r, c, a, b)| Stmt::If(r, c, a, b)),
        1 => (reg(), value()).prop_map(|(r, e)| Stmt::Assign(r, e)),
        1 => reg().prop_map(Stmt::Choose),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assume(r, c)),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assert(r, c)),
    ]
    .boxed()
}

fn section() -> BoxedStrategy<Stmt> {
    prop::collection::vec(inner(), 1..4).prop_map(Stmt::Atomic).boxed()
}

/// What may stand in an operation.
fn part() -> BoxedStrategy<Stmt> {
    prop_oneof![
        6 => simple(),
        3 => (1..16u8).prop_map(Stmt::Fence),
        3 => section(),
        2 => rounds(simple()),
        1 => prop_oneof![simple(), section()].prop_map(|one| Stmt::Twice(vec![one])),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assume(r, c)),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Stmt::Assert(r, c)),
        1 => reg().prop_map(Stmt::Choose),
    ]
    .boxed()
}

/// A unit of axiom 6, perhaps in a loop.
fn unit() -> BoxedStrategy<Stmt> {
    let operation = prop::collection::vec(part(), 1..4).prop_map(Stmt::Operation);
    let unit = prop_oneof![3 => section(), 2 => operation].boxed();
    prop_oneof![4 => unit.clone(), 1 => unit.prop_map(|unit| Stmt::Twice(vec![unit]))].boxed()
}

/// Programs that consist of units more than of anything else.
pub fn units() -> impl Strategy<Value = Random> {
    let stmt = || prop_oneof![3 => unit(), 2 => simple(), 1 => part()];
    let threads = prop::collection::vec(prop::collection::vec(stmt(), 1..3), 2..4);
    small(8, (threads, dress()).prop_map(|(threads, dress)| Random { threads, dress }))
}

/// Programs of two or three threads, small enough for the reference interpreter.
pub fn program() -> impl Strategy<Value = Random> {
    let two = prop::collection::vec(prop::collection::vec(stmt(), 1..5), 2);
    let three = prop::collection::vec(prop::collection::vec(stmt(), 1..4), 3);
    let threads = prop_oneof![3 => two, 2 => three];
    small(10, (threads, dress()).prop_map(|(threads, dress)| Random { threads, dress }))
}

/// At most so many accesses.
fn small(most: usize, all: impl Strategy<Value = Random>) -> impl Strategy<Value = Random> {
    all.prop_filter("small enough to enumerate", move |program| {
        let size = |stmts: &Vec<Stmt>| stmts.iter().map(Stmt::accesses).sum::<usize>();
        program.threads.iter().map(size).sum::<usize>() <= most
    })
}

impl Stmt {
    /// How many accesses it may perform.
    pub fn accesses(&self) -> usize {
        let sum = |stmts: &Vec<Self>| stmts.iter().map(Self::accesses).sum::<usize>();
        match self {
            Self::Store(..) | Self::Load(..) | Self::Cas(..) | Self::Exchange(..) | Self::FetchAdd(..) => 1,
            Self::If(_, _, a, b) => sum(a).max(sum(b)),
            Self::Atomic(all) | Self::Operation(all) => sum(all),
            Self::Guarded(..) => 2,
            Self::Twice(all) => 2 * sum(all),
            Self::Rounds(times, _, all) => usize::try_from(*times).unwrap_or(0) * sum(all),
            Self::Fence(_) | Self::Assign(..) | Self::Choose(_) | Self::Assume(..) | Self::Assert(..) => 0,
        }
    }

    fn render(&self, out: &mut String, depth: usize) -> fmt::Result {
        let pad = "  ".repeat(depth);
        let block = |out: &mut String, head: &str, stmts: &[Self], end: &str| -> fmt::Result {
            writeln!(out, "{pad}{head} {{")?;
            stmts.iter().try_for_each(|s| s.render(out, depth + 1))?;
            writeln!(out, "{end}{pad}}}")
        };
        match self {
            Self::Store(x, e) => writeln!(out, "{pad}{x} := {e};"),
            Self::Load(r, x) => writeln!(out, "{pad}r{r} := {x};"),
            Self::Cas(r, x, e, n) => writeln!(out, "{pad}r{r} := cas({x}, {e}, {n});"),
            Self::Exchange(r, x, e) => writeln!(out, "{pad}r{r} := exchange({x}, {e});"),
            Self::FetchAdd(r, x) => writeln!(out, "{pad}r{r} := fetch_add({x}, 1);"),
            Self::Fence(bits) => writeln!(out, "{pad}fence({});", chosen(&KINDS, *bits, ", ")),
            Self::Assign(r, e) => writeln!(out, "{pad}r{r} := {e};"),
            Self::If(r, c, then, other) => {
                block(out, &format!("if r{r} = {c}"), then, "")?;
                block(out, "else", other, "")
            }
            Self::Atomic(all) => block(out, "atomic", all, ""),
            Self::Operation(all) => block(out, "operation f", all, ""),
            Self::Guarded(r, x, c, e) => {
                writeln!(out, "{pad}atomic {{ r{r} := {x}; assume r{r} = {c}; {x} := {e} }}")
            }
            Self::Choose(r) => writeln!(out, "{pad}choose r{r} in 0..1;"),
            Self::Assume(r, c) => writeln!(out, "{pad}assume r{r} != {c};"),
            Self::Assert(r, c) => writeln!(out, "{pad}assert r{r} != {c};"),
            Self::Twice(all) => {
                writeln!(out, "{pad}i := 0;")?;
                block(out, "while i < 2", all, &format!("{pad}  i := i + 1;\n"))
            }
            Self::Rounds(times, leave, all) => {
                writeln!(out, "{pad}j := 0;")?;
                let leave = leave.map(|(r, c)| format!("{pad}  if r{r} = {c} {{ break; }}\n")).unwrap_or_default();
                block(out, &format!("while j < {times}"), all, &format!("{pad}  j := j + 1;\n{leave}"))
            }
        }
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(n) => write!(f, "{}", ["x", "y", "z"][*n as usize]),
            Self::Element(r) => write!(f, "a[r{r} % 2]"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(c) => write!(f, "{c}"),
            Self::Reg(r) => write!(f, "r{r}"),
            Self::Next(r) => write!(f, "r{r} + 1"),
            Self::Same(r, c) => write!(f, "{c} + r{r} - r{r}"),
        }
    }
}

impl Random {
    /// The program; what does not compile is a fault of the generator.
    pub fn program(&self) -> Program {
        let source = self.source();
        let compiled = cyrano_rml::compile(&source, "random", &[]);
        let program = compiled.unwrap_or_else(|error| panic!("does not compile: {error:?}\n{source}"));
        let program = self.dress.put_on(program);
        assert_eq!(cyrano_ir::verify(&program), Ok(()), "{}", text::print(&program));
        program
    }

    /// The program for people: as RML if it can be, else in the text form of the IR.
    pub fn shown(&self) -> String {
        if self.dress == Dress::default() { self.source() } else { text::print(&self.program()) }
    }

    /// The program as RML.
    pub fn source(&self) -> String {
        let mut out = String::from("threads {\n  shared x, y, z, a[2];\n  local r0, r1, r2;\n  index i, j;\n");
        out.push_str(&self.bodies(false));
        let regs = (0..self.threads.len()).flat_map(|t| (0..3).map(move |r| (t, r)));
        let used = regs.filter(|(t, r)| self.mentions(*t, *r)).map(|(t, r)| format!("p{t}.r{r}"));
        let observed: Vec<_> = used.chain(["x".into(), "y".into()]).collect();
        let _ = writeln!(out, "}}\nobserve {};", observed.join(", "));
        out
    }

    /// The threads as RML; with labels, statement `s` of thread `t` is `Lts`.
    pub fn bodies(&self, labelled: bool) -> String {
        let mut out = String::new();
        for (t, stmts) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "  thread p{t} {{");
            for (s, stmt) in stmts.iter().enumerate() {
                let mut text = String::new();
                stmt.render(&mut text, 2).expect("writing to a string");
                let label = if labelled { format!("L{t}{s}: ") } else { String::new() };
                let _ = writeln!(out, "    {label}{}", text.trim());
            }
            out.push_str("  }\n");
        }
        out
    }

    /// How many accesses it may perform.
    pub fn accesses(&self) -> usize {
        self.threads.iter().flatten().map(Stmt::accesses).sum()
    }

    fn mentions(&self, thread: usize, reg: u8) -> bool {
        let mut text = String::new();
        self.threads[thread].iter().for_each(|s| s.render(&mut text, 0).expect("writing to a string"));
        text.contains(&format!("r{reg}"))
    }
}
