//! A file with `main` as a program: `main` is its first thread, and every creation of a thread that lowering meets is another one.
//!
//! How threads start, end and are joined is told in [`crate::lower::threads`]. `main` that returns ends the program, like `exit`: if a thread may then be left
//! waiting for something else than another thread, a `main` that has not joined all threads stays there for ever, so that it is
//! no deadlock.

use cyrano_ir::{BinOp, Diagnostic, Expr as Ir, LocalExpr, Op, Place, Program, Span, UNDEFINED};

use crate::Unit;
use crate::lower::call::Argument;
use crate::lower::memory::{Memory, Object};
use crate::lower::rounds::{creating, exiting, fixed, threaded};
use crate::lower::threads::{ARGUMENT, NEVER, START, Spawn};
use crate::lower::{Lowerer, Shared};
use crate::program::{Bounds, Made, assembled, cleaned, finished, refused, shared};
use crate::tree::FuncId;
use crate::types::arith;
use crate::types::{Signature, Type};

/// What is known of a program from having made it before.
#[derive(Clone, Default)]
struct Known {
    objects: Vec<Object>,
    /// How many threads there are, if that is asked.
    threads: Option<usize>,
    /// Whether the end of `main` stops an execution in which threads are left.
    stops: bool,
}

/// The program that begins with `main`.
pub(crate) fn program(unit: &Unit, bounds: Bounds, clean: bool) -> Result<Program, Vec<Diagnostic>> {
    let main = unit.checked.functions.iter().position(|function| function.name == "main" && function.body.is_some());
    let Some(main) = main else {
        let message = "the file has no `main`";
        return Err(vec![Diagnostic::new(Span::default(), message, "in this file")]);
    };
    let (program, found) = program_with(unit, FuncId(main), bounds, clean, Known::default())?;
    let reused = (bounds.reuse || unit.checked.reallocates) && !found.objects.is_empty();
    let asked = bounds.leaks && !found.objects.is_empty();
    if !reused && !found.stops && found.threads.is_none() && !asked {
        return Ok(program);
    }
    program_with(unit, FuncId(main), bounds, clean, found).map(|(program, _)| program)
}

fn program_with(
    unit: &Unit,
    main: FuncId,
    bounds: Bounds,
    clean: bool,
    known: Known,
) -> Result<(Program, Known), Vec<Diagnostic>> {
    let mut shared = shared(unit, bounds, known.objects.clone(), false);
    shared.threads = known.threads.unwrap_or(shared.threads);
    shared.threaded = threaded(&unit.checked);
    shared.creating = creating(&unit.checked);
    shared.fixed = fixed(&unit.checked);
    shared.main_exits = exiting(&unit.checked)[main.0];
    let mut made = Vec::new();
    let own = shared.memory.thread("main", false, unit.sources.span(unit.checked.functions[main.0].loc));
    made.push(first(&mut shared, main, own, known.stops)?);
    if clean {
        cleaned(&mut made[0], &shared.memory);
    }
    // The code of its creator says whether a thread may never be created.
    let mut creators = vec![0; shared.spawned.len()];
    let mut next = 0;
    while let Some(spawn) = shared.spawned.get(next).cloned() {
        shared.thread = made.len();
        let never = is_told_never(&made[creators[next]], &shared.memory, spawn.object);
        let mut thread = child(&mut shared, &spawn, never)?;
        if clean {
            cleaned(&mut thread, &shared.memory);
        }
        creators.resize(shared.spawned.len(), made.len());
        made.push(thread);
        next += 1;
    }
    refused(&shared)?;
    if clean {
        made.iter_mut().for_each(|made| cleaned(made, &shared.memory));
    }
    let threads = shared.counts.then_some(made.len());
    let found = Known { threads, objects: shared.memory.objects.clone(), stops: shared.waits };
    let program = assembled(unit, "main", made, shared.memory, None)?;
    Ok((program, found))
}

/// Whether a creator's code has a store that tells a thread that it is never created.
fn is_told_never(creator: &Made, memory: &Memory, object: i128) -> bool {
    let start = memory.location(object / cyrano_ir::WORD + i128::from(START));
    creator.thread.code.iter().any(|instr| {
        let stores = instr.op.access().and_then(|access| access.stored()) == Some(&Ir::Const(NEVER));
        stores && matches!((instr.op.addr(), start), (Some(cyrano_ir::Addr::Fixed(at)), Some(start)) if *at == start)
    })
}

/// The arguments of `main`: no words on the command line.
fn arguments(shared: &Shared<'_>, main: FuncId) -> Vec<Argument> {
    let params = &shared.checked.functions[main.0].params;
    params.iter().enumerate().map(|(at, _)| Argument::Words(vec![Ir::Const(i128::from(at == 0))])).collect()
}

fn first(shared: &mut Shared<'_>, main: FuncId, own: i128, stops: bool) -> Result<Made, Vec<Diagnostic>> {
    let args = arguments(shared, main);
    let span = shared.sources.span(shared.checked.functions[main.0].loc);
    let mut lowerer = Lowerer::new(shared);
    (lowerer.own, lowerer.span) = (own, span);
    let end = lowerer.new_label();
    lowerer.end = Some(end);
    let counts = stops.then(|| lowerer.register("%joined", 0));
    lowerer.joined = counts;
    lowerer.inline(main, args);
    lowerer.check_leaks();
    if let Some(joined) = counts {
        // Whoever creates threads within `main` has them counted here; those of other threads are not `main`'s to join.
        let created = lowerer.created();
        let left = lowerer.new_label();
        lowerer.branch(arith::binary(BinOp::Eq, Ir::Var(Place::Reg(joined)), created), end, left);
        lowerer.bind(left);
        lowerer.stay();
    }
    lowerer.bind(end);
    lowerer.finish();
    finished(lowerer, "main", Vec::new())
}

/// A thread that another one creates.
fn child(shared: &mut Shared<'_>, spawn: &Spawn, never: bool) -> Result<Made, Vec<Diagnostic>> {
    let mut lowerer = Lowerer::new(shared);
    (lowerer.own, lowerer.span) = (spawn.object, spawn.span);
    let (end, gone) = (lowerer.new_label(), lowerer.new_label());
    lowerer.end = Some(end);
    let result = lowerer.register("%result", UNDEFINED);
    lowerer.result = Some(result);
    let started = lowerer.wait_for(&Ir::Const(spawn.object), START);
    if never {
        let go = lowerer.new_label();
        lowerer.branch(arith::binary(BinOp::Eq, started, Ir::Const(NEVER)), gone, go);
        lowerer.bind(go);
    }
    let whole = crate::lower::Spot::fixed(spawn.object);
    let given = |lowerer: &mut Lowerer<'_, '_>, known: Option<LocalExpr>, word: u32| match known {
        Some(known) => known,
        None => lowerer.read_word(&whole, word),
    };
    let argument = given(&mut lowerer, spawn.argument.clone(), ARGUMENT);
    let fixed = matches!(spawn.function, Ir::Const(_)).then(|| spawn.function.clone());
    let function = given(&mut lowerer, fixed, ARGUMENT + 1);
    let words = match lowerer.function_at(&function) {
        Some(func) => {
            let params = lowerer.shared.checked.functions[func.0].params.len();
            let given = (0..params).map(|_| Argument::Words(vec![argument.clone()])).collect();
            lowerer.inline(func, given)
        }
        None => {
            let void = Type::Void.pointer();
            let signature = Signature { returns: void.clone(), params: vec![void] };
            lowerer.call_at(&function, &signature, vec![vec![argument]])
        }
    };
    if let Some(word) = words.into_iter().next() {
        lowerer.emit(Op::Assign { dst: Place::Reg(result), value: word });
    }
    lowerer.bind(end);
    lowerer.destroy_values();
    lowerer.finish();
    lowerer.bind(gone);
    finished(lowerer, &spawn.name, Vec::new())
}
