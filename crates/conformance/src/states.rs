//! Random programs with invariants over their variables, registers and statements, and with variables that synchronise.

use std::fmt::Write;

use cyrano_ir::Program;
use proptest::prelude::*;

use crate::generate::{Random, program, units};

/// A random condition over a moment.
#[derive(Clone, Debug)]
pub enum Cond {
    /// A variable compared with a number.
    Var(u8, &'static str, i128),
    /// A thread stands at one of its statements.
    At(u8, u8),
    /// A register has a value.
    Reg(u8, u8, i128),
    /// Not so.
    Not(Box<Cond>),
    /// Both.
    And(Box<Cond>, Box<Cond>),
    /// One of them.
    Or(Box<Cond>, Box<Cond>),
}

/// A random program and what is asked about its states.
#[derive(Clone, Debug)]
pub struct States {
    random: Random,
    invariants: Vec<Cond>,
    /// Which of `x`, `y`, `z` and `a` synchronise, by bits.
    sync: u8,
}

fn cond() -> impl Strategy<Value = Cond> {
    let compare = prop_oneof![Just("=="), Just("!="), Just("<=")];
    let leaf = prop_oneof![
        4 => (0..5u8, compare, 0..3i128).prop_map(|(var, op, value)| Cond::Var(var, op, value)),
        6 => (0..3u8, 0..4u8).prop_map(|(thread, stmt)| Cond::At(thread, stmt)),
        1 => (0..3u8, 0..3u8, 0..2i128).prop_map(|(thread, reg, value)| Cond::Reg(thread, reg, value)),
    ];
    let inner = leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            2 => inner.clone().prop_map(|cond| Cond::Not(Box::new(cond))),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Cond::And(Box::new(a), Box::new(b))),
            3 => (inner.clone(), inner).prop_map(|(a, b)| Cond::Or(Box::new(a), Box::new(b))),
        ]
    });
    // Most random conditions fail at once; the negation of two facts is one that may hold for a while.
    let facts = (inner.clone(), inner.clone());
    prop_oneof![
        1 => inner,
        3 => facts.prop_map(|(a, b)| Cond::Not(Box::new(Cond::And(Box::new(a), Box::new(b))))),
    ]
}

/// Random programs with one or two invariants.
pub fn states() -> impl Strategy<Value = States> {
    let random = prop_oneof![3 => program().boxed(), 1 => units().boxed()];
    let random = random.prop_filter("one is enough to enumerate", |random| random.accesses() <= 8);
    let all = (random, prop::collection::vec(cond(), 1..3), 0..16u8);
    all.prop_map(|(random, invariants, sync)| States { random, invariants, sync })
}

impl Cond {
    fn render(&self, threads: &[usize], out: &mut String) {
        let _ = match self {
            Self::Var(var, op, value) => {
                write!(out, "{} {op} {value}", ["x", "y", "z", "a[0]", "a[1]"][usize::from(*var)])
            }
            Self::At(thread, stmt) => {
                let thread = usize::from(*thread) % threads.len();
                write!(out, "p{thread}@L{thread}{}", usize::from(*stmt) % threads[thread])
            }
            Self::Reg(thread, reg, value) => write!(out, "p{}.r{reg} == {value}", usize::from(*thread) % threads.len()),
            Self::Not(cond) => {
                out.push_str("!(");
                cond.render(threads, out);
                write!(out, ")")
            }
            Self::And(a, b) | Self::Or(a, b) => {
                out.push('(');
                a.render(threads, out);
                out.push_str(if matches!(self, Self::And(..)) { " && " } else { " || " });
                b.render(threads, out);
                write!(out, ")")
            }
        };
    }
}

impl States {
    /// The program, which claims its invariants and that it has no races.
    pub fn program(&self) -> Program {
        let source = self.source();
        let compiled = cyrano_rml::compile(&source, "random", &[]);
        let program = compiled.unwrap_or_else(|error| panic!("does not compile: {error:?}\n{source}"));
        self.random.dress.put_on(program)
    }

    /// The program as RML, with what is put on top of it.
    pub fn shown(&self) -> String {
        format!("{}// {:?}", self.source(), self.random.dress)
    }

    fn source(&self) -> String {
        let marked = |bit: u8| if self.sync >> bit & 1 == 1 { "shared sync" } else { "shared" };
        let names = ["x", "y", "z", "a[2]"].into_iter().zip(0..);
        let mut out = "threads {\n".to_owned();
        names.for_each(|(name, bit)| {
            let _ = writeln!(out, "  {} {name};", marked(bit));
        });
        out.push_str("  local r0, r1, r2;\n  index i, j;\n");
        out.push_str(&self.random.bodies(true));
        let threads: Vec<usize> = self.random.threads.iter().map(Vec::len).collect();
        for invariant in &self.invariants {
            out.push_str("  invariant (");
            invariant.render(&threads, &mut out);
            out.push_str(");\n");
        }
        out + "}\ncheck races;\n"
    }
}
