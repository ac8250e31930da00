//! A test as a program: the threads of the test, each a sequence of operations.
//!
//! The thread `init` calls the initialisation and the operations before the parentheses; it is the program's setup. The thread `after` calls those behind them:
//! every other thread tells by a word of its own that it has ended, by a release, and `after` waits for all of these, by acquires, as if it joined them. Every operation is
//! bracketed, so that the model `serial` knows it as a unit, and its observed arguments and results are registers of their own that keep
//! their values to the end. The columns of an observation follow threads, then program order: `in` arguments, result, `out` parameters.

pub(crate) mod blocks;
mod order;
pub(crate) mod whole;

use std::collections::BTreeMap;

use cyrano_ir::{
    Diagnostic, Expr as Ir, FinalVar, Instr, LocalExpr, Observable, Op, Place, Program, RegId, SharedArray, Span,
    Thread, ThreadId, Ty,
};

use self::order::CallOrder;
use crate::Unit;
use crate::lower::call::Argument as Given;
use crate::lower::memory::{MAX_MEMORY, Memory, Object};
use crate::lower::{Lowerer, MAX_CODE, Shared, Spot};
use crate::optimise;
use crate::tests_file::{Argument, Call, Step, Test};
use crate::types::arith;

/// How much of what a program does without bound is covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The objects that each `malloc` within a loop can make.
    pub objects: u32,
    /// Whether `malloc` may also return what was freed.
    pub reuse: bool,
    /// Whether memory that is not freed when a whole program ends is an error.
    pub leaks: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { objects: 4, reuse: true, leaks: false }
    }
}

/// The program of a test; `clean` says whether it is cleaned up.
///
/// Where freed memory is used again each `malloc` has to know all objects, and `realloc` has to, so such a program is made twice: what it allocates
/// does not depend on what is used again.
pub(crate) fn program(unit: &Unit, test: &Test, bounds: Bounds, clean: bool) -> Result<Program, Vec<Diagnostic>> {
    let (program, objects) = program_with(unit, test, bounds, clean, Vec::new())?;
    if !(bounds.reuse || unit.checked.reallocates) || objects.is_empty() {
        return Ok(program);
    }
    program_with(unit, test, bounds, clean, objects).map(|(program, _)| program)
}

/// The program of a test in which these objects are used again, and the objects that it allocates.
fn program_with(
    unit: &Unit,
    test: &Test,
    bounds: Bounds,
    clean: bool,
    known: Vec<Object>,
) -> Result<(Program, Vec<Object>), Vec<Diagnostic>> {
    let setup = !(test.interface.init.is_empty() && test.before.is_empty());
    let mut shared = shared(unit, bounds, known, setup);
    let mut made: Vec<Made> = Vec::new();
    if setup {
        let (init, steps) = (&test.interface.init[..], &test.before[..]);
        made.push(thread(&mut shared, test, &Part { name: "init", init, steps, ..Part::default() }, None)?);
    }
    let joined = !test.after.is_empty();
    shared.threads = test.threads.len() + usize::from(setup) + usize::from(joined);
    let mut order = CallOrder::new(&mut shared, &test.orders);
    let mut ended = Vec::new();
    for (index, steps) in test.threads.iter().enumerate() {
        shared.thread = made.len();
        let name = &format!("thread{}", index + 1);
        let ends = joined.then(|| shared.memory.end(name));
        ended.extend(ends);
        made.push(thread(&mut shared, test, &Part { name, steps, ends, ..Part::default() }, Some(&mut order))?);
    }
    if joined {
        shared.thread = made.len();
        let part = Part { name: "after", steps: &test.after, behind: &ended, ..Part::default() };
        made.push(thread(&mut shared, test, &part, None)?);
    }
    // The numbers of calls are observed behind everything else.
    let numbers = order.numbers;
    refused(&shared)?;
    let objects = shared.memory.objects.clone();
    if clean {
        made.iter_mut().for_each(|made| cleaned(made, &shared.memory));
    }
    let mut program = assembled(unit, &test.name, made, shared.memory, setup.then_some(ThreadId(0)))?;
    let (numbers, others): (Vec<_>, Vec<_>) =
        program.observed.into_iter().partition(|observable| numbers.contains(&observable.name));
    program.observed = [others, numbers].concat();
    Ok((program, objects))
}

/// What threads share before the first of them is lowered.
pub(crate) fn shared(unit: &Unit, bounds: Bounds, known: Vec<Object>, setup: bool) -> Shared<'_> {
    let (mut memory, _) = Memory::new(&unit.checked, &unit.sources);
    memory.leaks = bounds.leaks;
    Shared {
        checked: &unit.checked,
        sources: &unit.sources,
        escapes: &unit.escapes,
        kept: &unit.kept,
        main_exits: false,
        addresses: &unit.addresses,
        mentioned: BTreeMap::new(),
        memory,
        objects: bounds.objects.max(1),
        reused: if bounds.reuse && unit.checked.frees { known.clone() } else { Vec::new() },
        known,
        thread: 0,
        setup,
        spawned: Vec::new(),
        refused: Vec::new(),
        waits: false,
        threads: crate::lower::threads::MAX_THREADS + 1,
        counts: false,
        fixed: BTreeMap::new(),
        threaded: Vec::new(),
        creating: Vec::new(),
    }
}

/// Cleans up the code of a thread.
pub(crate) fn cleaned(made: &mut Made, memory: &Memory) {
    let registers: Vec<_> = made.observed.iter().map(|(_, reg)| *reg).collect();
    let registers = optimise::optimise(&mut made.thread, memory, &registers);
    made.observed.iter_mut().zip(registers).for_each(|((_, reg), now)| *reg = now);
}

/// The program of these threads.
pub(crate) fn assembled(
    unit: &Unit,
    name: &str,
    made: Vec<Made>,
    memory: Memory,
    setup: Option<ThreadId>,
) -> Result<Program, Vec<Diagnostic>> {
    if memory.is_full() {
        let message = format!("the program needs more than {MAX_MEMORY} words of memory");
        return Err(vec![Diagnostic::new(Span::default(), message, "in this file")]);
    }
    let program = assemble(unit, name, made, memory, setup);
    match cyrano_ir::verify(&program) {
        Ok(()) => Ok(program),
        Err(errors) => {
            let message = format!("the program is wrong, a bug in Cyrano: {}", errors[0]);
            let diagnostic = Diagnostic::new(Span::default(), message, "in this file");
            Err(vec![diagnostic.with_help("please report it together with the file")])
        }
    }
}

/// A lowered thread and its observed registers.
pub(crate) struct Made {
    pub(crate) thread: Thread,
    /// Where its assertions are.
    asserted: Vec<Span>,
    observed: Vec<(String, RegId)>,
}

fn assemble(unit: &Unit, name: &str, made: Vec<Made>, memory: Memory, setup: Option<ThreadId>) -> Program {
    let name = format!("{}.{name}", unit.name);
    let mut program = Program { name, setup, ..Program::default() };
    for (index, Made { thread, asserted, observed }) in made.into_iter().enumerate() {
        for (name, reg) in observed {
            program.observed.push(Observable { name, var: FinalVar::Reg(ThreadId::new(index), reg) });
        }
        let left = asserted_in(&thread.code);
        program.settled.extend(asserted.into_iter().filter(|span| !left.contains(span)));
        program.threads.push(thread);
    }
    program.settled.sort_unstable();
    program.settled.dedup();
    program.locations = memory.words;
    let len = u32::try_from(program.locations.len()).unwrap_or(u32::MAX);
    let base = cyrano_ir::LocId(0);
    program.arrays = vec![SharedArray { name: "memory".into(), base, len, headers: false }];
    if unit.checked.frees || program.has_headers() {
        program.arrays.push(SharedArray { name: "objects".into(), base, len, headers: true });
    }
    program
}

/// What a thread of a test does.
#[derive(Default)]
struct Part<'t> {
    name: &'t str,
    init: &'t [Call],
    steps: &'t [Step],
    /// The word that tells of its end.
    ends: Option<i128>,
    /// The words that tell of the ends it waits for.
    behind: &'t [i128],
}

fn thread(
    shared: &mut Shared<'_>,
    test: &Test,
    part: &Part<'_>,
    mut order: Option<&mut CallOrder>,
) -> Result<Made, Vec<Diagnostic>> {
    // 1 says of a mutex that it was destroyed.
    let own = shared.thread as i128 + 2;
    let mut builder = Builder { lowerer: Lowerer::new(shared), name: part.name.into(), observed: Vec::new() };
    builder.lowerer.own = own;
    for word in part.behind {
        builder.lowerer.wait_for(&Ir::Const(*word), 0);
    }
    for call in part.init {
        builder.operation(call, &call.name, "init", None);
    }
    for (position, step) in part.steps.iter().enumerate() {
        let Some(call) = test.interface.operations.get(step.operation) else { continue };
        builder.lowerer.primed = step.primed;
        let prime = if step.primed { "'" } else { "" };
        let label = format!("{}{}", call.name, position + 1);
        builder.operation(call, &format!("{}{prime}", call.name), &label, order.as_deref_mut());
    }
    let Builder { mut lowerer, observed, .. } = builder;
    part.ends.into_iter().for_each(|word| lowerer.mark_word(word, 0, 1));
    finished(lowerer, part.name, observed)
}

/// The thread that was lowered, if it could be.
pub(crate) fn finished(
    mut lowerer: Lowerer<'_, '_>,
    name: &str,
    observed: Vec<(String, RegId)>,
) -> Result<Made, Vec<Diagnostic>> {
    if lowerer.too_long {
        let message =
            format!("the program is too long: a thread has more than {MAX_CODE} instructions, or too many variables");
        return Err(vec![Diagnostic::new(Span::default(), message, "in this file")]);
    }
    lowerer.fenced.sort();
    lowerer.fenced.dedup();
    if !lowerer.fenced.is_empty() {
        let fenced = lowerer.fenced.iter();
        let message = "a fence within an atomic block";
        return Err(fenced.map(|span| Diagnostic::new(*span, message, "called from an atomic block")).collect());
    }
    lowerer.disordered.sort();
    lowerer.disordered.dedup();
    if !lowerer.disordered.is_empty() {
        let disordered = lowerer.disordered.into_iter();
        return Err(disordered.map(|(span, why)| Diagnostic::new(span, why, "not an order for this")).collect());
    }
    let marked = std::mem::take(&mut lowerer.marked);
    lowerer.emit(Op::Halt);
    let asserted = asserted_in(&lowerer.code);
    let code = optimise::resolve(lowerer.code, &lowerer.labels);
    let thread = Thread { name: name.into(), registers: lowerer.registers, code };
    blocks::check(&thread, marked)?;
    Ok(Made { thread, asserted, observed })
}

/// What could not be lowered.
pub(crate) fn refused(shared: &Shared<'_>) -> Result<(), Vec<Diagnostic>> {
    let mut refused = shared.refused.clone();
    refused.sort();
    refused.dedup();
    let found: Vec<_> = refused.into_iter().map(|(span, why)| Diagnostic::new(span, why, "here")).collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Where a code has assertions.
fn asserted_in(code: &[Instr]) -> Vec<Span> {
    let asserts = code.iter().filter(|instr| matches!(instr.op, Op::Assert { .. }));
    asserts.map(|instr| instr.span).collect()
}

/// A thread in the making, with what is observed of it.
struct Builder<'s, 'u> {
    lowerer: Lowerer<'s, 'u>,
    name: String,
    observed: Vec<(String, RegId)>,
}

/// What an `out` argument became.
struct OutVariable {
    spot: Spot,
    names: Vec<(String, Ty)>,
    /// Whether it counts only if the result is nonzero, or only if it is zero.
    when: Option<bool>,
}

impl Builder<'_, '_> {
    fn operation(&mut self, call: &Call, shown: &str, label: &str, mut order: Option<&mut CallOrder>) {
        let function = &self.lowerer.shared.checked.functions[call.func.0];
        self.lowerer.span = self.lowerer.shared.sources.span(function.loc);
        let span = self.lowerer.span;
        let mut given = Vec::new();
        let mut outs = Vec::new();
        for (index, arg) in call.args.iter().enumerate() {
            let param = function.param_names.get(index).filter(|name| !name.is_empty());
            let param = param.cloned().unwrap_or_else(|| format!("arg{}", index + 1));
            let name = format!("{}.{label}.{param}", self.name);
            let alias = self.lowerer.shared.escapes.is_alias(call.func, index);
            given.push(self.argument(arg, &name, alias, &mut outs));
        }
        order.iter().for_each(|order| order.before(&mut self.lowerer));
        self.lowerer.emit(Op::OperationBegin(shown.into()));
        let number =
            order.as_mut().and_then(|order| order.number(&mut self.lowerer, format!("{}.{label}.#", self.name)));
        self.observed.extend(number);
        let words = self.lowerer.inline(call.func, given);
        self.lowerer.span = span;
        let returned = words.first().cloned();
        if let Some(result) = &call.result {
            let mut names = Vec::new();
            let name = format!("{}.{label}.{result}", self.name);
            self.lowerer.shared.checked.types.leaves(&function.returns, &name, &mut names);
            self.observe(names, words);
        }
        outs.into_iter().for_each(|out| self.observe_out(out, returned.as_ref()));
        self.lowerer.emit(Op::OperationEnd);
        order.into_iter().for_each(|order| order.after(&mut self.lowerer));
    }

    /// An `out` variable after the call that returned this value. Where it does not count its columns are 0, as they are before the call.
    fn observe_out(&mut self, out: OutVariable, returned: Option<&LocalExpr>) {
        let skipped = out.when.zip(returned).map(|(wanted, result)| {
            let (zero, nonzero) = (self.lowerer.new_label(), self.lowerer.new_label());
            self.lowerer.branch(arith::used(result.clone()), nonzero, zero);
            let (counts, skipped) = if wanted { (nonzero, zero) } else { (zero, nonzero) };
            self.lowerer.bind(counts);
            skipped
        });
        let words = self.lowerer.read(&out.spot, out.names.len() as u32);
        self.observe(out.names, words);
        skipped.into_iter().for_each(|label| self.lowerer.bind(label));
    }

    fn argument(&mut self, arg: &Argument, name: &str, alias: bool, outs: &mut Vec<OutVariable>) -> Given {
        match arg {
            Argument::Fixed(address) if alias => Given::PointsTo(Spot::fixed(*address)),
            Argument::Fixed(value) => Given::Words(vec![Ir::Const(*value)]),
            Argument::In(values) => {
                let reg = self.lowerer.register(name, 0);
                self.lowerer.emit(Op::Choose { dst: Place::Reg(reg), from: values.clone() });
                self.observed.push((name.to_string(), reg));
                Given::Words(vec![Ir::Var(Place::Reg(reg))])
            }
            Argument::Out(ty, when) => {
                let shared = &mut *self.lowerer.shared;
                let (checked, span) = (shared.checked, self.lowerer.span);
                let mut names = Vec::new();
                checked.types.leaves(ty, name, &mut names);
                if !alias {
                    let address = shared.memory.variable(checked, ty, name, 0, span);
                    outs.push(OutVariable { spot: Spot::fixed(address), names, when: *when });
                    return Given::Words(vec![Ir::Const(address)]);
                }
                let made = self.lowerer.variable_registers(&format!("{name}.out"), ty, 0);
                let spot = made.unwrap_or(Spot::Values(Vec::new()));
                outs.push(OutVariable { spot: spot.clone(), names, when: *when });
                Given::PointsTo(spot)
            }
        }
    }

    /// Keeps words in registers of their own; an undefined one is an error.
    fn observe(&mut self, names: Vec<(String, Ty)>, words: Vec<LocalExpr>) {
        for ((name, ty), word) in names.into_iter().zip(words) {
            let reg = self.lowerer.typed_register(&name, ty, 0);
            self.lowerer.emit(Op::Assign { dst: Place::Reg(reg), value: arith::used(word) });
            self.observed.push((name, reg));
        }
    }
}
