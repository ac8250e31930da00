//! Tests in C. `cfront` reads the bodies of the functions; what they mean is said here, for C's atomics and the kernel's have an order
//! in a litmus test, signed arithmetic wraps, and a variable that nobody has written is 0.

mod calls;
mod convert;
mod lower;
mod parse;
mod rmw;
mod stmt;
mod types;

use cyrano_ir::{Diagnostic, FinalVar, Thread, ThreadId, Ty};

use crate::ast::{Condition, Init, TypeName, Value, Var};
use crate::finals::{self, Finals, Resolved};
use crate::layout::Layout;
use lower::{Lowered, WORD};
pub use parse::Function;
pub(crate) use parse::read;
pub use types::Type;

/// More threads than this are not a litmus test.
const MAX_THREADS: usize = 64;

/// Lowers a test: its threads and its condition. `errors` are the complaints so far.
pub(crate) fn lower(
    inits: &[Init],
    functions: &[Function],
    condition: &Condition,
    mut errors: Vec<Diagnostic>,
    layout: &mut Layout,
) -> Result<(Vec<Thread>, Finals), Vec<Diagnostic>> {
    if functions.len() > MAX_THREADS {
        let message = format!("code: {} threads; at most {MAX_THREADS} are supported", functions.len());
        return Err(vec![Diagnostic::new(condition.span, message, "the test")]);
    }
    for init in inits {
        if let Err(error) = declare(init, layout) {
            errors.push(error);
        }
    }
    let mut lowered = Vec::new();
    for function in functions {
        match lower::lower(function, layout) {
            Ok(thread) => lowered.push(thread),
            Err(mut more) => errors.append(&mut more),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for init in inits {
        if let Err(error) = initialise(init, layout, &mut lowered) {
            errors.push(error);
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let known = layout.clone();
    let finals = finals::lower(condition, &known, &mut |var| resolve(var, &lowered, &known))?;
    let finished = lowered.into_iter().enumerate().map(|(number, thread)| thread.code.finish(format!("P{number}")));
    Ok((finished.collect(), finals))
}

fn declared(ty: &TypeName) -> Result<Type, Diagnostic> {
    let words: Vec<&str> = ty.base.split_whitespace().collect();
    // `int * p` and a bare `* p` both point to an integer.
    let words = if words.is_empty() { vec!["int"] } else { words };
    let (int, atomic) = types::from_words(&words, ty.span)?;
    Ok(Type { int, atomic: atomic || ty.atomic, pointers: ty.pointers })
}

/// Declares a location of the initial state.
fn declare(init: &Init, layout: &mut Layout) -> Result<(), Diagnostic> {
    let ty = init.ty.as_ref().map(declared).transpose()?;
    if let Some(Value::Address(name)) = &init.value {
        layout.address(name);
    }
    let Var::Loc(name) = &init.var else { return Ok(()) };
    let number = layout.number(name);
    let cell = &mut layout.cells[number];
    let pointer = matches!(init.value, Some(Value::Address(_)));
    match ty {
        Some(ty) => {
            cell.ty = Some(ty.word());
            cell.pointer |= ty.pointers > 0;
        }
        None if pointer => cell.ty = Some(Type::INT.pointer().word()),
        None => {}
    }
    cell.pointer |= pointer;
    Ok(())
}

/// Gives a location or variable its initial value.
fn initialise(init: &Init, layout: &mut Layout, threads: &mut [Lowered]) -> Result<(), Diagnostic> {
    let Some(value) = &init.value else { return Ok(()) };
    let (value, pointer) = match value {
        Value::Int(value) => (*value, false),
        Value::Address(name) => (layout.address(name), true),
    };
    match &init.var {
        Var::Loc(name) => {
            let number = layout.number(name);
            let ty = layout.cells[number].ty.unwrap_or(WORD);
            layout.cells[number].init = convert::constant(ty, value);
        }
        Var::Reg { thread, name } => {
            let found = usize::try_from(*thread).ok().and_then(|at| threads.get_mut(at));
            let known = found.and_then(|found| found.locals.get(&name.text).copied().map(|local| (found, local)));
            let Some((found, (reg, ty))) = known else {
                let message = format!("initial state: P{thread} has no variable `{}`", name.text);
                return Err(Diagnostic::new(name.span, message, "not declared in this thread"));
            };
            let register = &mut found.code.registers[reg.index()];
            register.init = convert::constant(ty.word(), value);
            if pointer {
                register.ty = Ty::Pointer;
            }
        }
    }
    Ok(())
}

fn resolve(var: &Var, threads: &[Lowered], layout: &Layout) -> Result<Resolved, Diagnostic> {
    match var {
        Var::Reg { thread, name } => {
            let at = usize::try_from(*thread).ok().filter(|at| *at < threads.len());
            let Some(at) = at else {
                let message = format!("condition: there is no thread {thread}");
                return Err(Diagnostic::new(name.span, message, format!("the test has {} threads", threads.len())));
            };
            let Some((reg, ty)) = threads[at].locals.get(&name.text) else {
                let message = format!("condition: P{thread} has no variable `{}`", name.text);
                return Err(Diagnostic::new(name.span, message, "not declared in this thread"));
            };
            let shown = format!("{thread}:{}", name.text);
            Ok(Resolved { name: shown, var: FinalVar::Reg(ThreadId::new(at), *reg), ty: ty.word(), narrowed: false })
        }
        Var::Loc(name) => {
            let Some(number) = layout.find(&name.text) else {
                let message = format!("condition: there is no location `{}`", name.text);
                return Err(Diagnostic::new(name.span, message, "not a location"));
            };
            let ty = layout.cells[number].ty.unwrap_or(WORD);
            let (name, var) = (name.text.clone(), FinalVar::Loc(layout.id(number)));
            Ok(Resolved { name, var, ty, narrowed: false })
        }
    }
}
