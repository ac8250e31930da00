//! Tests in assembly: what all machines share. A machine reads its instructions and says what they do as [`instr::Step`]s; everything else
//! is here.

pub(crate) mod cell;
pub mod flags;
pub mod instr;
mod lower;
mod points;
pub(crate) mod sizes;
mod split;
pub(crate) mod table;

use cyrano_ir::{Diagnostic, FinalVar, IntType, Thread, ThreadId};

use crate::ast::{Arch, Condition, Init, Name, Prop, Right, Var};
use crate::code::signed;
use crate::cursor::{Cursor, Parse};
use crate::finals::{self, Finals, Resolved};
use crate::layout::Layout;
use crate::{aarch64, ppc, riscv, x86};
use cell::Cell;
use instr::{Line, Register, Step};
use points::Points;

/// The registers of a thread that have initial values.
pub(crate) type RegisterInits<'i> = Vec<(Register, &'i Init)>;

/// Reads the columns of a test; `decode` reads an instruction and says what it does.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    arch: Arch,
    mut decode: impl FnMut(&mut Cell<'_, '_>) -> Parse<Vec<Step>>,
) -> Result<Vec<instr::Thread>, Vec<Diagnostic>> {
    let (columns, errors) = table::read(cursor, arch, |cell| {
        let start = cell.span();
        let steps = decode(cell)?;
        cell.end()?;
        Ok((steps, cell.tokens.last().map_or(start, |last| start.to(last.span))))
    })?;
    if !errors.is_empty() {
        return Err(errors);
    }
    let line = |(labels, content): (Vec<Name>, Option<(Vec<Step>, _)>)| {
        let (steps, span) = content.unwrap_or_default();
        Line { labels, steps, span }
    };
    Ok(columns.into_iter().map(|column| instr::Thread { lines: column.into_iter().map(line).collect() }).collect())
}

/// Lowers a test: its threads and its condition.
pub(crate) fn lower(
    arch: Arch,
    inits: &[Init],
    threads: &[instr::Thread],
    condition: &Condition,
    layout: &mut Layout,
) -> Result<(Vec<Thread>, Finals), Vec<Diagnostic>> {
    crate::few_threads(threads.len(), condition)?;
    let sizes = sizes::declare(arch, inits, layout)?;
    let mut registers = register_inits(inits, threads.len(), arch)?;
    let mut points = Points::new(threads, &registers, inits, layout);
    let mut threads = threads.to_vec();
    let mut changed = false;
    for (number, (thread, inits)) in threads.iter_mut().zip(&mut registers).enumerate() {
        if split::adds(thread, &mut |value| !points.value(number, value, layout).is_empty()) {
            split::split(thread, inits);
            changed = true;
        }
    }
    let threads = &threads[..];
    if changed {
        points = Points::new(threads, &registers, inits, layout);
    }
    sizes.resolve(threads, &points, layout)?;
    for init in inits {
        if let Var::Loc(name) = &init.var {
            for (element, value) in init.values().into_iter().enumerate() {
                layout.initialise(name, element, value);
            }
        }
    }
    let mut lowered = Vec::new();
    let mut errors = Vec::new();
    for (number, (thread, inits)) in threads.iter().zip(&registers).enumerate() {
        match lower::lower(number, thread, inits, (arch, &points), layout) {
            Ok(thread) => lowered.push(thread),
            Err(mut more) => errors.append(&mut more),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    declare(condition, layout);
    let known = layout.clone();
    let finals = finals::lower(condition, &known, lowered.len(), &mut |at, name| {
        resolve(at, name, (arch, inits), &mut lowered[at.index()])
    })?;
    let finished = lowered.into_iter().enumerate().map(|(number, mut thread)| {
        for register in &mut thread.code.registers {
            let width = thread.widths.get(&register.name).copied().unwrap_or(32);
            register.name = shown(arch, &register.name, width);
        }
        thread.code.finish(format!("P{number}"))
    });
    Ok((finished.collect(), finals))
}

/// A register by its name in an initial state or condition.
fn register(arch: Arch, name: &Name) -> Result<Register, Diagnostic> {
    let found = match arch {
        Arch::X86 | Arch::X86_64 => return x86::register(arch, name),
        Arch::AArch64 => aarch64::register(&name.text),
        Arch::Riscv => riscv::register(&name.text),
        Arch::Ppc => ppc::register(&name.text),
        Arch::C => None,
    };
    found.ok_or_else(|| {
        let plain = name.text.trim_start_matches('%');
        Diagnostic::new(name.span, format!("there is no register `{plain}`"), "not a register")
    })
}

/// A register's name as people know it, if so many bits of it are used.
fn shown(arch: Arch, name: &str, width: u8) -> String {
    match arch {
        Arch::X86 | Arch::X86_64 => x86::shown(name, width),
        Arch::AArch64 if width == 32 => name.replacen('X', "W", 1),
        _ => name.to_owned(),
    }
}

/// The registers that an initial state gives values to, by thread.
fn register_inits(inits: &[Init], threads: usize, arch: Arch) -> Result<Vec<RegisterInits<'_>>, Vec<Diagnostic>> {
    let mut lists: Vec<RegisterInits<'_>> = vec![Vec::new(); threads];
    let mut errors = Vec::new();
    for init in inits {
        let Var::Reg { thread, name } = &init.var else { continue };
        match (usize::try_from(*thread).ok().and_then(|at| lists.get_mut(at)), register(arch, name)) {
            (Some(list), Ok(register)) => list.push((register, init)),
            (None, _) => {
                let message = format!("initial state: there is no thread {thread}");
                errors.push(Diagnostic::new(name.span, message, format!("the test has {threads} threads")));
            }
            (_, Err(error)) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(lists) } else { Err(errors) }
}

/// Makes the locations that only the condition names, as herd does; addresses have to be those of something.
fn declare(condition: &Condition, layout: &mut Layout) {
    fn walk(prop: &Prop, layout: &mut Layout) {
        match prop {
            Prop::Const(_) => {}
            Prop::Eq(left, right) => {
                let right = if let Right::Var(var) = right { Some(var) } else { None };
                std::iter::once(left).chain(right).for_each(|var| make(var, layout));
            }
            Prop::Not(inner) => walk(inner, layout),
            Prop::And(left, right) | Prop::Or(left, right) | Prop::Implies(left, right) => {
                walk(left, layout);
                walk(right, layout);
            }
        }
    }
    fn make(var: &Var, layout: &mut Layout) {
        if let Var::Loc(name) = var
            && !name.text.contains('[')
        {
            layout.number(name);
        }
    }
    condition.locations.iter().for_each(|var| make(var, layout));
    walk(&condition.prop, layout);
    if let Some(filter) = &condition.filter {
        walk(filter, layout);
    }
}

/// The type that the initial state gives a register; `int` if it gives none, as in herd.
fn declared(thread: ThreadId, register: &Register, (arch, inits): (Arch, &[Init])) -> IntType {
    let own = |init: &&Init| match &init.var {
        Var::Reg { thread: at, name } => {
            *at == thread.index() as i128 && self::register(arch, name).is_ok_and(|known| known.name == register.name)
        }
        Var::Loc(_) => false,
    };
    let ty = inits.iter().filter(own).find_map(|init| init.ty.as_ref());
    ty.and_then(|ty| sizes::type_of(ty, arch).ok()).unwrap_or(signed(32))
}

/// What a name in a condition means in a thread.
fn resolve(
    thread: ThreadId,
    name: &Name,
    (arch, inits): (Arch, &[Init]),
    lowered: &mut lower::Lowered,
) -> Result<Resolved, Diagnostic> {
    let register = register(arch, name)?;
    let width = lowered.widths.get(&register.name).copied().unwrap_or(32);
    let id = lowered.code.register(&register.name);
    // A register of 64 bits that was only used as one of 32 has its upper half clear.
    let (ty, narrowed) = match (register.bits, width) {
        (64, 32) => (IntType { bits: 32, signed: false }, true),
        (32, 64) => (signed(32), true),
        (bits, _) => (signed(bits), false),
    };
    let shown = format!("{}:{}", thread.index(), name.text.trim_start_matches('%'));
    let declared = declared(thread, &register, (arch, inits));
    let declared = (declared != ty).then_some(declared);
    Ok(Resolved { name: shown, var: FinalVar::Reg(thread, id), ty, narrowed, declared })
}
