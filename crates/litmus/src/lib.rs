//! Litmus tests in herd's format, from text to the IR: for X86, X86_64, AArch64, RISCV, PPC and C; and tests made from cycles of relations.
//!
//! A test is a head (`head`), an initial state (`init`), threads (`asm` and one module for each machine; `c`) and a quantified condition over
//! final states (`condition`, `finals`). [`compile`] makes an [`cyrano_ir::Program`] of it; [`Test::judge`] says what a set of outcomes means
//! for the condition. `docs/litmus.md` is the reference.
//!
//! **Invariants:** everything that is wrong with or unsupported in a file is reported with its place, never guessed; no input makes
//! a pass panic or run on; every program that comes out passes [`cyrano_ir::verify()`].
//! This crate knows neither memory models nor engines: what the text says about an access is its tags, a fence has the name that the text gives
//! it, and what an address, a value or a branch depends on is what the text says ([`fenced()`] is for models without a word for some tags).

pub mod aarch64;
pub mod asm;
pub mod ast;
pub mod c;
mod code;
mod condition;
mod cursor;
mod fenced;
mod finals;
pub mod generate;
mod head;
mod init;
mod judge;
mod layout;
mod pointers;
pub mod ppc;
pub mod riscv;
mod token;
pub mod x86;

use cyrano_ir::{Diagnostic, FinalExpr, IntType, Program, Span};

use ast::{Arch, Condition, Head, Init};
use cursor::Cursor;
pub use fenced::{fenced, needs_fences};
pub use judge::{FinalState, Judgement, Observation, Shown};
use layout::Layout;
use token::Mode;

/// The largest source file, in bytes.
pub const MAX_SOURCE: usize = 1 << 20;

/// A compiled test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its head.
    pub head: Head,
    /// Its initial state, as written.
    pub init: Vec<Init>,
    /// Its threads, as written.
    pub code: Code,
    /// Its condition, as written.
    pub condition: Condition,
    /// The program.
    pub program: Program,
    /// What a final state shows, in the order of the program's `observed`, some of it perhaps twice.
    pub columns: Vec<Column>,
    prop: FinalExpr,
    filter: Option<FinalExpr>,
}

/// The threads of a test, as written.
#[derive(Clone, Debug)]
pub enum Code {
    /// In x86's assembly.
    X86(Vec<x86::ast::Thread>),
    /// In another machine's assembly, as what its instructions do.
    Asm(Vec<asm::instr::Thread>),
    /// In C.
    C(Vec<c::Function>),
}

/// One thing that a final state shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// How the test names it: `0:EAX`, `x`.
    pub name: String,
    /// Its place in an outcome.
    pub at: usize,
    /// The part of the value that is meant, if it is not all of it.
    pub view: Option<IntType>,
    /// Whether it may hold an address.
    pub pointer: bool,
}

/// Compiles a test. `name` is for messages only; the test's name is in its head.
pub fn compile(source: &str) -> Result<Test, Vec<Diagnostic>> {
    if source.len() > MAX_SOURCE {
        let message = format!("file too large: {} bytes, at most {MAX_SOURCE} are read", source.len());
        return Err(vec![Diagnostic::new(Span::default(), message, "the file")]);
    }
    let one = |error| vec![error];
    let (head, at) = head::read(source).map_err(one)?;
    let renamed = if head.arch == Arch::C { c::variables(source) } else { None };
    let source = renamed.as_deref().unwrap_or(source);
    let mut cursor = Cursor::new(source, at, Mode::Litmus, "initial state").map_err(one)?;
    let inits = init::read(&mut cursor).map_err(one)?;
    cursor.enter("code");
    match head.arch {
        Arch::C => compile_c(source, head, inits, cursor.at()),
        _ => compile_asm(source, head, inits, cursor),
    }
}

fn compile_asm(source: &str, head: Head, inits: Vec<Init>, mut cursor: Cursor<'_>) -> Result<Test, Vec<Diagnostic>> {
    let mut code = match head.arch {
        Arch::AArch64 => Code::Asm(aarch64::read(&mut cursor)?),
        Arch::Riscv => Code::Asm(riscv::read(&mut cursor)?),
        Arch::Ppc => Code::Asm(ppc::read(&mut cursor)?),
        arch => Code::X86(x86::read(&mut cursor, arch)?),
    };
    let condition = condition::read(&mut cursor, source).map_err(|error| vec![error])?;
    let mut layout = Layout::default();
    let of_x86;
    let threads = match &mut code {
        Code::X86(threads) => {
            of_x86 = x86::steps(head.arch, &inits, threads);
            &of_x86
        }
        Code::Asm(threads) => threads,
        Code::C(_) => unreachable!("this is assembly"),
    };
    let (lowered, finals) = asm::lower(head.arch, &inits, threads, &condition, &mut layout)?;
    finish(head, inits, code, condition, lowered, finals, &layout)
}

fn compile_c(source: &str, head: Head, inits: Vec<Init>, at: usize) -> Result<Test, Vec<Diagnostic>> {
    let one = |error| vec![error];
    let mut cursor = Cursor::new(source, at, Mode::C, "code").map_err(one)?;
    let mut errors = Vec::new();
    let Some(functions) = c::read(&mut cursor, source, &mut errors) else { return Err(errors) };
    let end = Cursor::new(source, cursor.at(), Mode::Litmus, "condition");
    let condition = match end.and_then(|mut cursor| condition::read(&mut cursor, source)) {
        Ok(condition) => condition,
        Err(error) => {
            errors.push(error);
            return Err(errors);
        }
    };
    let mut layout = Layout::default();
    let (lowered, finals) = c::lower(&inits, &functions, &condition, errors, &mut layout)?;
    finish(head, inits, Code::C(functions), condition, lowered, finals, &layout)
}

/// More threads than this are not a litmus test.
const MAX_THREADS: usize = 64;

fn few_threads(threads: usize, condition: &Condition) -> Result<(), Vec<Diagnostic>> {
    if threads <= MAX_THREADS {
        return Ok(());
    }
    let message = format!("code: {threads} threads; at most {MAX_THREADS} are supported");
    Err(vec![Diagnostic::new(condition.span, message, "the test")])
}

fn finish(
    head: Head,
    init: Vec<Init>,
    code: Code,
    condition: Condition,
    threads: Vec<cyrano_ir::Thread>,
    finals: finals::Finals,
    layout: &Layout,
) -> Result<Test, Vec<Diagnostic>> {
    let (locations, arrays) = layout.tables();
    let check = finals::check(&condition, &finals);
    let mut program = Program {
        name: head.name.clone(),
        scoped: head.arch == Arch::C,
        locations,
        arrays,
        threads,
        observed: finals.observed,
        checks: vec![check],
        ..Program::default()
    };
    finals::settle(&mut program, layout);
    pointers::mark(&mut program, &layout.taken());
    let computed = pointers::arithmetic(&program);
    if !computed.is_empty() {
        let message = "this computes with an address, and a test does not say where locations lie";
        return Err(computed.into_iter().map(|span| Diagnostic::new(span, message, "not supported")).collect());
    }
    let mut columns = finals.columns;
    for column in &mut columns {
        column.pointer = pointers::is_pointer(&program, program.observed[column.at].var);
    }
    if let Err(errors) = cyrano_ir::verify(&program) {
        let errors = errors.iter().map(|error| Diagnostic::new(Span::default(), error.to_string(), "the whole test"));
        return Err(errors.collect());
    }
    Ok(Test { head, init, code, condition, program, columns, prop: finals.prop, filter: finals.filter })
}

/// The line and column of an offset, from 1.
pub fn line_column(source: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(source.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let before = &source[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line, column)
}

/// The name in the head of a test, if the head can be read at all.
pub fn name(source: &str) -> Option<String> {
    head::read(source).ok().map(|(head, _)| head.name)
}

/// The architecture in the head of a test, if it is one that can be read, whatever is wrong with the rest.
pub fn arch(source: &str) -> Option<Arch> {
    head::arch_of(source)
}
