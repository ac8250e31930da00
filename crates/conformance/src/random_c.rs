//! Random small C programs with a test each, so that the whole way from C to an observation is compared.
//!
//! A program has the globals of [`PRELUDE`], one to three functions and a test of two threads; each function has a nondeterministic
//! argument, a result and an out parameter. The statements ([`stmt`]) are those that a data type is made of: plain and
//! marked pointers, packed words, allocation, compare-and-swap on one and two words, locks, loops; and what can go wrong: null, undefined
//! values, indices, division. A failure shrinks to fewer statements and can be read as C. [`agree`](crate::agree) compares the engines.

pub mod objects;
mod render;
pub mod sequential;
pub mod stmt;

use std::fmt::Write;

use cyrano_ir::Program;
use proptest::prelude::*;

use stmt::Stmt;

/// What every program starts with.
pub const PRELUDE: &str = "\
#include <cyrano.h>
#include <stdlib.h>
typedef struct node { struct node *next; int value; } node_t;
typedef cyrano_word struct { node_t *ptr; unsigned count : 2; } word_t;
typedef struct { int a; unsigned char b; } pair_t;
typedef struct { int v; } cell_t;
int x, y;
pair_t s;
int a[2];
node_t n0 = { 0, 2 };
node_t *p, *q = &n0;
word_t w = { &n0, 3 };
uintptr_t m = 1;
cell_t *c;
lock_t l;
";

/// A C program and its test.
#[derive(Clone, Debug)]
pub struct RandomC {
    /// The bodies of the functions `f0`, `f1`, ….
    pub functions: Vec<Vec<Stmt>>,
    /// The functions that the thread `init` calls.
    pub before: Vec<usize>,
    /// The functions that each of the two threads calls.
    pub threads: Vec<Vec<usize>>,
}

/// Programs with at most so many accesses, as far as they can be counted without looking at values.
pub fn random_c(most_accesses: usize) -> impl Strategy<Value = RandomC> {
    let functions = prop::collection::vec(prop::collection::vec(stmt::stmt(), 1..6), 1..4);
    let calls = |least: usize, most: usize| prop::collection::vec(0..3usize, least..most);
    let before = prop_oneof![3 => calls(0, 1), 1 => calls(1, 2)];
    let threads = prop_oneof![4 => (calls(1, 2), calls(1, 2)), 1 => (calls(1, 2), calls(1, 3))];
    let all = (functions, before, threads).prop_map(|(functions, before, (left, right))| {
        let known = |calls: Vec<usize>| calls.into_iter().map(|call| call % functions.len()).collect::<Vec<_>>();
        let (before, threads) = (known(before), vec![known(left), known(right)]);
        RandomC { before, threads, functions }
    });
    all.prop_filter("small enough to enumerate", move |program| program.accesses() <= most_accesses)
}

impl RandomC {
    /// How many accesses the threads may perform.
    fn accesses(&self) -> usize {
        let calls = self.before.iter().chain(self.threads.iter().flatten());
        calls.map(|call| stmt::accesses(&self.functions[*call])).sum()
    }

    /// The C file.
    pub fn source(&self) -> String {
        let mut out = PRELUDE.to_owned();
        for (number, body) in self.functions.iter().enumerate() {
            let _ = writeln!(out, "int f{number}(int arg, int *out)\n{{");
            render::locals(body, &mut out);
            body.iter().for_each(|stmt| stmt.render(&mut out, 1));
            out.push_str("    *out = r1;\n    return r0;\n}\n");
        }
        out
    }

    /// The tests file.
    pub fn tests(&self) -> String {
        let mut out = String::new();
        for number in 0..self.functions.len() {
            let _ = writeln!(out, "f{number} = f{number}(in {{0, 1}}, out)");
        }
        let calls = |calls: &Vec<usize>| calls.iter().map(|call| format!("f{call}")).collect::<Vec<_>>().join(" ");
        let threads: Vec<String> = self.threads.iter().map(calls).collect();
        let _ = writeln!(out, "test T = {} ( {} )", calls(&self.before), threads.join(" | "));
        out
    }

    /// Both files, for people.
    pub fn shown(&self) -> String {
        let source = self.source();
        let own = source.strip_prefix(PRELUDE).unwrap_or(&source);
        format!("// after the prelude:\n{own}// tests:\n{}", self.tests())
    }

    /// The program of the test; `Err` says what the front end does not like, which is a fault of the generator or of the front end.
    pub fn program(&self) -> Result<Program, String> {
        compile(&self.source(), &self.tests())
    }
}

/// The program of the test `T`.
pub fn compile(source: &str, tests: &str) -> Result<Program, String> {
    let complain = |errors: Vec<cyrano_ir::Diagnostic>| format!("does not compile: {errors:?}");
    let unit = cyrano_cfront::parse(source, "random.c", &|_| None).map_err(complain)?;
    let file = cyrano_cfront::tests(tests, &unit).map_err(complain)?;
    let test = file.test("T").ok_or("there is no test T")?;
    let program = unit.program(test).map_err(complain)?;
    match cyrano_ir::verify(&program) {
        Ok(()) => Ok(program),
        Err(error) => Err(format!("is not well formed: {error:?}")),
    }
}
