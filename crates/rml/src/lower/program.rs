//! The whole program: memory, threads, observed columns, checks.

use std::collections::HashMap;

use cyrano_ir::automorphisms::interchangeable;
use cyrano_ir::told::Told;
use cyrano_ir::{
    Addr, ArrayId, Check, Diagnostic, Family, FinalExpr, FinalVar, LocId, Location, Observable, Op, Program, Property,
    Routine, SharedArray, Span, Tags, ThreadId,
};

use crate::clients::told::{self, check_told};
use crate::clients::values::serial_orders;
use crate::expand::fold::{Resolve, fold};
use crate::lower::finals::{Finals, Found, offset};
use crate::lower::invariants::Invariants;
use crate::lower::points::named_labels;
use crate::lower::thread::{Lower, LoweredThread, Shared, SharedHome, initial_values};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::calls::walk;
use crate::resolve::names::{Names, Shape, VarId};
use crate::resolve::typing::truth;
use crate::rules::checker::Checked;
use crate::rules::flow::check_flow;
use crate::rules::paths::check_blocks;
use crate::syntax::ast::{Block, BlockKind, CheckDecl, Claim, Count, Expr, File, Name, StmtKind, VarKind};

/// What an empty file should look like instead.
const EXAMPLE: &str = "for example:
threads {
  shared x = 0, y = 0;
  thread p0 { local r1; x := 1; r1 := y; }
  thread p1 { local r2; y := 1; r2 := x; }
}";

/// Lowers a checked file. The result is good only if nothing was reported.
pub(crate) fn lower_program(
    name: &str,
    names: &Names<'_>,
    checked: &Checked,
    atomic: bool,
    reports: &mut Reports,
) -> Program {
    let mut memory = lay_out(names, reports);
    let (homes, locations, arrays) = (&memory.homes, &memory.locations, &memory.arrays);
    let named = named_labels(names.file);
    let shared = Shared { names, checked, homes, locations, arrays, named: &named, atomic };
    let mut threads = lower_threads(&shared, reports);
    for thread in &threads {
        check_flow(thread, &shared, reports);
    }
    if names.file.tells_calls() && !atomic {
        check_told(&threads, names, reports);
    }
    let marks = threads.iter_mut().map(|thread| std::mem::take(&mut thread.marks)).collect();
    let keys: Vec<_> = threads.iter_mut().map(|thread| std::mem::take(&mut thread.keys)).collect();
    check_blocks(&threads, names.file, reports);
    let mut finals = Finals { shared: &shared, threads: &mut threads, reports, binders: Vec::new() };
    // The threads of an stm never end, so it has no final states; the checker has refused whatever is said about them.
    let given = names.file.client.is_some();
    let has_finals = names.file.stm().is_none() || given;
    let observed = if has_finals { observe(&mut finals) } else { Vec::new() };
    let checks = names.file.checks.iter();
    let checks = checks.filter(|check| has_finals || !matches!(check.claim, Claim::Final(..)));
    let mut invariants = Invariants { finals: &mut finals, points: Vec::new() };
    let mut checks: Vec<Check> = checks.flat_map(|check| lower_check(check, &mut invariants)).collect();
    checks.extend(invariants.declared());
    let points = invariants.points;
    let families = families(names, &threads);
    if given && names.file.has_values() && (atomic || !names.file.tells_calls()) {
        // What its transactions do is not judged as a history.
        memory.transactional.clear();
    }
    let orders = if given { &[] } else { names.file.orders.as_slice() };
    let mut program = Program {
        initial: Vec::new(),
        scoped: false,
        name: name.to_owned(),
        threads: threads.into_iter().map(|lowered| lowered.thread).collect(),
        setup: None,
        families,
        in_order: false,
        orders: Vec::new(),
        interchangeable: Default::default(),
        serial_orders: serial_orders(orders.iter().map(|order| order.name.text.as_str()), &keys),
        observed,
        points,
        checks,
        transactional: memory.transactional,
        constants: constants(names),
        locations: memory.locations,
        arrays: memory.arrays,
        settled: Vec::new(),
        routines: names.file.procs.iter().map(|procedure| routine(&procedure.name, &procedure.body)).collect(),
        told: Told { marks, labels: labels(names.file), ..Told::default() }.into(),
    };
    if names.file.tells_calls() && !atomic {
        told::note_size(&mut program);
    }
    program.settled = settled(names.file, &program);
    mark_synchronising(&mut program, &memory.sync);
    if names.file.has_values() && !given {
        let values = program.constants.iter().find(|(name, _)| name == "values").map_or(0, |(_, value)| *value);
        program.interchangeable = interchangeable(&program, values);
    }
    program
}

/// The constants of the instance.
fn constants(names: &Names<'_>) -> Vec<(String, i128)> {
    let known = names.file.consts.iter().zip(&names.consts);
    let known = known.filter_map(|(constant, value)| Some((constant.name.text.clone(), (*value)?)));
    known.filter(|(name, _)| !names.file.sizes.contains(name)).chain(names.file.sized.iter().cloned()).collect()
}

/// The families of any number of threads.
fn families(names: &Names<'_>, threads: &[LoweredThread]) -> Vec<Family> {
    let family = |(thread, lowered): (usize, &LoweredThread)| {
        let declared = &names.file.threads[lowered.declared];
        let Count::Any { by, .. } = &declared.count else { return None };
        let (name, thread) = (declared.name.text.clone(), ThreadId::new(thread));
        Some(Family { size: by.clone().unwrap_or_else(|| name.clone()), name, thread })
    };
    threads.iter().enumerate().filter_map(family).collect()
}

/// A procedure or method, for reports.
pub(crate) fn routine(name: &Name, body: &Block) -> Routine {
    Routine { name: name.text.clone(), span: name.span.to(body.close) }
}

/// The labels of a file's statements.
fn labels(file: &File) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    let procs = file.procs.iter().map(|procedure| &procedure.body);
    for body in procs.chain(file.threads.iter().map(|thread| &thread.body)) {
        walk(body, &mut |stmt| found.extend(stmt.label.iter().map(|label| (stmt.span, label.text.clone()))));
    }
    found
}

/// The assertions of a file that no thread's code has: nothing leads to them.
fn settled(file: &File, program: &Program) -> Vec<Span> {
    let mut found = Vec::new();
    let bodies = file.procs.iter().map(|procedure| &procedure.body);
    for body in bodies.chain(file.threads.iter().map(|thread| &thread.body)) {
        walk(body, &mut |stmt| {
            if matches!(stmt.kind, StmtKind::Assert(..)) {
                found.push(stmt.span);
            }
        });
    }
    let code = || program.threads.iter().flat_map(|thread| &thread.code);
    let lowered = |span: &Span| code().any(|instr| matches!(instr.op, Op::Assert { .. }) && instr.span == *span);
    found.retain(|span| !lowered(span));
    found
}

/// Complains about a file that has no program.
pub(crate) fn require_program(file: &File, reports: &mut Reports) {
    match file.program {
        None => {
            let start = Span::new(0, 0);
            reports.complain(start, "no program in this file", "expected `threads { … }` or `stm { … }`", EXAMPLE);
        }
        Some((BlockKind::Threads, span)) if file.threads.is_empty() => {
            let help = "add one: `thread p0 { x := 1; }`";
            reports.complain(span, "this program has no thread", "no `thread` inside", help);
        }
        Some((BlockKind::Algorithm, span)) => {
            let help = "check the file: it has a program for each of its clients";
            reports.complain(span, "an `algorithm` is a program only with a client", "not a program", help);
        }
        Some(_) => {}
    }
    if let Some(client) = file.clients.first().filter(|_| file.algorithm.is_none()) {
        let help = "the client of an stm has no name: `client { … }`";
        reports.complain(client.name.span, "a client with a name needs an `algorithm`", "the client", help);
    }
}

#[derive(Default)]
struct Memory {
    locations: Vec<Location>,
    arrays: Vec<SharedArray>,
    homes: HashMap<VarId, SharedHome>,
    transactional: Vec<LocId>,
    /// For each location whether all accesses to it synchronise threads.
    sync: Vec<bool>,
}

fn lay_out(names: &Names<'_>, reports: &mut Reports) -> Memory {
    let mut memory = Memory::default();
    for (index, var) in names.vars.iter().enumerate().filter(|(_, var)| var.kind == VarKind::Shared) {
        let values = initial_values(var.shape, var.init, var.name.span, |expr| names.constant(expr, reports));
        let values = match values {
            Ok(Ok(values)) => values,
            Ok(Err(diagnostic)) => {
                reports.add(diagnostic);
                continue;
            }
            Err(Reported) => {
                reports.skip(var.name.span);
                continue;
            }
        };
        let words = u32::try_from(values.len()).unwrap_or(u32::MAX);
        if reports.settle(names.budget.charge_locations(words, var.name.span)).is_err() {
            break;
        }
        let base = LocId::new(memory.locations.len());
        let name = &var.name.text;
        let array = matches!(var.shape, Shape::Array(_)).then(|| {
            memory.arrays.push(SharedArray { name: name.clone(), base, len: words, headers: false });
            ArrayId::new(memory.arrays.len() - 1)
        });
        memory.homes.insert(VarId(index), SharedHome { base, array });
        for (element, init) in values.into_iter().enumerate() {
            let name = if array.is_some() { format!("{name}[{element}]") } else { name.clone() };
            memory.transactional.extend(var.data.then(|| LocId::new(memory.locations.len())));
            memory.locations.push(Location { name, init, ty: var.ty, span: var.name.span });
            memory.sync.push(var.sync);
        }
    }
    memory
}

fn lower_threads(shared: &Shared<'_, '_>, reports: &mut Reports) -> Vec<LoweredThread> {
    let names = shared.names;
    let mut threads: Vec<LoweredThread> = Vec::new();
    for declared in 0..names.file.threads.len() {
        let body = names.thread_body(declared);
        for self_index in 0..names.counts[declared].unwrap_or(0) {
            let tid = i128::try_from(threads.len()).unwrap_or(i128::MAX);
            let lower = Lower::thread(shared, reports, body, (self_index.into(), tid));
            threads.push(lower.finish(declared));
        }
    }
    threads
}

fn lower_check<'a>(check: &'a CheckDecl, invariants: &mut Invariants<'a, '_, '_>) -> Vec<Check> {
    let properties = match &check.claim {
        Claim::Invariant((written, text)) => invariants.property(written, text).map(|property| vec![property]),
        claim => properties(claim, |written| {
            let finals = &mut *invariants.finals;
            let cond = fold(written, finals)?;
            let kind = finals.kind(&cond, &|finals, var| finals.is_timestamp(var), written.span);
            truth(kind, written.span, finals.reports);
            Ok(cond)
        }),
    };
    let Ok(properties) = properties else {
        invariants.finals.reports.skip(check.span);
        return Vec::new();
    };
    let check = |property| Check { property, models: check.models.clone(), span: check.span };
    properties.into_iter().map(check).collect()
}

/// Says of all accesses to locations that synchronise threads that they do.
fn mark_synchronising(program: &mut Program, sync: &[bool]) {
    let arrays = program.arrays.clone();
    for access in
        program.threads.iter_mut().flat_map(|thread| &mut thread.code).filter_map(|instr| instr.op.access_mut())
    {
        let loc = match &access.addr {
            Addr::Fixed(loc) => *loc,
            Addr::Indexed { array, .. } => arrays[array.index()].base,
        };
        if sync.get(loc.index()) == Some(&true) {
            access.tags |= Tags::SYNC;
        }
    }
}

/// What a claim says; `condition` makes the condition of one about final states.
pub(crate) fn properties<'a>(
    claim: &'a Claim,
    condition: impl FnOnce(&'a Expr) -> Fallible<FinalExpr>,
) -> Fallible<Vec<Property>> {
    Ok(match claim {
        Claim::Assertions => vec![Property::Assertions],
        Claim::Transactions(criterion) => vec![Property::Transactions(*criterion)],
        Claim::CommitAtomicity => vec![Property::CommitAtomicity],
        // Which observations are serial is found out by whoever checks it.
        Claim::Atomicity | Claim::Observations => vec![Property::Observations(Default::default())],
        Claim::Structure(structure) => vec![Property::Structure(*structure)],
        Claim::Live(liveness) => vec![Property::Live(*liveness)],
        Claim::Progress(all) => all.iter().copied().map(Property::Progress).collect(),
        Claim::Final(quantifier, (written, text)) => {
            let cond = condition(written)?;
            vec![Property::Final { quantifier: *quantifier, cond, text: text.clone() }]
        }
        Claim::Races => vec![Property::Races],
        // Only `threads` have invariants, and only tests of a C data type calls in an order of their own.
        Claim::Invariant(_) | Claim::Linearizability => return Err(Reported),
    })
}

/// The columns of an outcome.
fn observe(finals: &mut Finals<'_, '_>) -> Vec<Observable> {
    let references = &finals.shared.names.file.observed;
    let mut columns: Vec<Observable> = Vec::new();
    for reference in references {
        match observe_one(reference, finals) {
            Ok(named) => columns.extend(named),
            Err(Reported) => finals.reports.skip(reference.span),
        }
    }
    if references.is_empty() {
        columns = observe_locals(finals);
    }
    let given = finals.shared.names.file.client.is_some();
    if columns.is_empty() || given {
        columns.extend(observe_memory(finals, given));
    }
    let mut seen = std::collections::HashSet::new();
    columns.retain(|column| seen.insert(column.name.clone()));
    columns
}

/// The column of a reference, or one per element if it names a whole array.
fn observe_one<'a>(reference: &'a Expr, finals: &mut Finals<'a, '_>) -> Fallible<Vec<Observable>> {
    let (found, index) = finals.find(reference)?;
    if let Found::Const(_) = found {
        let diagnostic = Diagnostic::new(reference.span, "a constant cannot be observed", "a constant");
        return Err(finals.reports.add(diagnostic.with_help("name a shared or local variable")));
    }
    let (base, var) = finals.base(found)?;
    let (shape, name) = (finals.shared.names.var(var).shape, &finals.shared.names.var(var).name.text);
    let qualified = match (found, &reference.kind) {
        (Found::Local(thread, _), crate::syntax::ast::ExprKind::Member(_)) => {
            format!("{}.{name}", finals.threads[thread].thread.name)
        }
        _ => name.clone(),
    };
    let Some(index) = index else { return Ok(columns(&qualified, base, shape)) };
    finals.check_index(var, Some(index), reference.span)?;
    let value = crate::expand::fold::fold_const(index, finals)?;
    let position = crate::lower::thread::in_bounds(value, finals.len(var)?, index.span, finals.reports)?;
    Ok(vec![Observable { name: format!("{qualified}[{position}]"), var: offset(base, position) }])
}

fn columns(name: &str, base: FinalVar, shape: Shape) -> Vec<Observable> {
    match shape {
        Shape::Array(len) => (0..len as usize)
            .map(|element| Observable { name: format!("{name}[{element}]"), var: offset(base, element) })
            .collect(),
        _ => vec![Observable { name: name.to_owned(), var: base }],
    }
}

/// All locals that the user declared, of all threads that mention them; qualified by the thread where several have the name.
fn observe_locals(finals: &Finals<'_, '_>) -> Vec<Observable> {
    let names = finals.shared.names;
    let mut found = Vec::new();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for (thread, lowered) in finals.threads.iter().enumerate() {
        let own = Some(names.thread_body(lowered.declared));
        let mut homes: Vec<_> = lowered.homes.iter().collect();
        homes.sort();
        for (var, home) in homes.into_iter().map(|(var, home)| (names.var(*var), *home)) {
            if var.kind == VarKind::Local && (var.body.is_none() && names.file.client.is_none() || var.body == own) {
                // Of any number of threads each has it.
                let any = names.file.threads[lowered.declared].count.is_any();
                *having.entry(&var.name.text).or_default() += if any { 2 } else { 1 };
                found.push((thread, var, home));
            }
        }
    }
    let column = |(thread, var, home): (usize, &crate::resolve::names::Var<'_>, cyrano_ir::RegId)| {
        let name = match having[var.name.text.as_str()] {
            1 => var.name.text.clone(),
            _ => format!("{}.{}", finals.threads[thread].thread.name, var.name.text),
        };
        columns(&name, FinalVar::Reg(cyrano_ir::ThreadId::new(thread), home), var.shape)
    };
    found.into_iter().flat_map(column).collect()
}

/// All of memory, or all `data`.
fn observe_memory(finals: &Finals<'_, '_>, data_only: bool) -> Vec<Observable> {
    let names = finals.shared.names;
    let is_data = |loc: &Location| names.vars.iter().any(|var| var.data && var.name.span == loc.span);
    let locations = finals.shared.locations.iter().enumerate();
    let locations = locations.filter(|(_, location)| !data_only || is_data(location));
    locations.map(|(index, loc)| Observable { name: loc.name.clone(), var: FinalVar::Loc(LocId::new(index)) }).collect()
}
