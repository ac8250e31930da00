//! Tests in C. `cfront` reads the bodies of the functions; what they mean is said here, for C's atomics and the kernel's have an order
//! in a litmus test, signed arithmetic wraps, and a variable that nobody has written is 0.

mod calls;
mod convert;
mod lower;
mod parse;
mod rmw;
mod stmt;
mod types;

use std::collections::BTreeMap;

use cyrano_ir::{Diagnostic, FinalVar, Thread, ThreadId, Ty};

use crate::ast::{Condition, Init, Name, TypeName, Value, Var};
use crate::finals::{self, Finals, Resolved};
use crate::layout::{Layout, constant};
use lower::Lowered;
pub use parse::Function;
pub(crate) use parse::{read, variables};
pub use types::Type;

/// Lowers a test: its threads and its condition. `errors` are the complaints so far.
pub(crate) fn lower(
    inits: &[Init],
    functions: &[Function],
    condition: &Condition,
    mut errors: Vec<Diagnostic>,
    layout: &mut Layout,
) -> Result<(Vec<Thread>, Finals), Vec<Diagnostic>> {
    crate::few_threads(functions.len(), condition)?;
    for init in inits {
        if let Err(error) = declare(init, layout) {
            errors.push(error);
        }
    }
    let mut lowered = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        match lower::lower(function, initial(inits, number), layout) {
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
    // What is only to be shown need not be there, as in herd.
    let mut condition = condition.clone();
    condition.locations.retain(|var| match var {
        Var::Reg { thread, name } => usize::try_from(*thread)
            .ok()
            .and_then(|at| lowered.get(at))
            .is_none_or(|thread| thread.locals.contains_key(&name.text)),
        Var::Loc(_) => true,
    });
    let finals =
        finals::lower(&condition, &known, lowered.len(), &mut |at, name| resolve(at, name, &lowered[at.index()]))?;
    let finished = lowered.into_iter().enumerate().map(|(number, thread)| thread.code.finish(format!("P{number}")));
    Ok((finished.collect(), finals))
}

/// The variables of a thread that the initial state gives a value.
fn initial(inits: &[Init], number: usize) -> BTreeMap<String, Type> {
    let own = inits.iter().filter_map(|init| match &init.var {
        Var::Reg { thread, name } if usize::try_from(*thread) == Ok(number) => Some((init, name)),
        _ => None,
    });
    let ty = |init: &Init| {
        let pointer = matches!(init.value, Some(Value::Address(_)));
        let plain = if pointer { Type::INT.pointer() } else { Type::INT };
        init.ty.as_ref().and_then(|ty| declared(ty).ok()).unwrap_or(plain)
    };
    own.map(|(init, name)| (name.text.clone(), ty(init))).collect()
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
    if let Some(len) = init.len {
        layout.array(name, len);
    }
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
    if let Var::Loc(name) = &init.var {
        for (at, value) in init.elements.iter().enumerate() {
            layout.initialise(name, at, value);
        }
    }
    let Some(value) = &init.value else { return Ok(()) };
    match &init.var {
        Var::Loc(name) => layout.initialise(name, 0, value),
        Var::Reg { thread, name } => {
            let found = usize::try_from(*thread).ok().and_then(|at| threads.get_mut(at));
            let known = found.and_then(|found| found.locals.get(&name.text).copied().map(|local| (found, local)));
            let Some((found, (reg, ty))) = known else {
                let message = format!("initial state: P{thread} has no variable `{}`", name.text);
                return Err(Diagnostic::new(name.span, message, "not declared in this thread"));
            };
            let (value, pointer) = layout.value(value);
            let register = &mut found.code.registers[reg.index()];
            register.init = constant(ty.word(), value);
            if pointer {
                register.ty = Ty::Pointer;
            }
        }
    }
    Ok(())
}

/// What a name in a condition means in a thread.
fn resolve(thread: ThreadId, name: &Name, lowered: &Lowered) -> Result<Resolved, Diagnostic> {
    let Some((reg, ty)) = lowered.locals.get(&name.text) else {
        let message = format!("condition: P{} has no variable `{}`", thread.index(), name.text);
        return Err(Diagnostic::new(name.span, message, "not declared in this thread"));
    };
    let shown = format!("{}:{}", thread.index(), name.text);
    Ok(Resolved { name: shown, var: FinalVar::Reg(thread, *reg), ty: ty.word(), narrowed: false, declared: None })
}
