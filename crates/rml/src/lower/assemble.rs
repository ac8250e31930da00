//! From a checked file to its tests: which programs there are, and one program from its threads.

use std::collections::HashMap;

use cyrano_ir::told::Told;
use cyrano_ir::{Addr, Check, Expr as IrExpr, FinalVar, LocId, Observable, Program, RegId, Span, ThreadId};

use crate::CompileError;
use crate::algorithm::{Orders, Test};
use crate::clients::endless;
use crate::clients::named::{ThreadPlan, space_values, written};
use crate::clients::space::{ClientSpace, SETTABLE, Values, space};
use crate::expand::budget::Budget;
use crate::expand::compact::resolve;
use crate::expand::method::Lower;
use crate::lower::build::NamedRegisters;
use crate::lower::executed::Events;
use crate::lower::memory::{Memory, Written, clashes, initial_values};
use crate::lower::program::{properties, routine};
use crate::orders::layout::{Layout, OrderPair};
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::constants::Constants;
use crate::resolve::kinds::interchangeable;
use crate::syntax::ast::{CheckDecl, Claim, File};
use crate::syntax::objects::{About, Algorithm, Client, ClientStmt, OrderDecl, Tx};

/// The model of a check that names none.
const DEFAULT_MODEL: &str = "declared";

/// The model of a check about progress that names none.
const IN_ORDER: &str = "inorder";

/// Values may be given for constants and, if some check is about all clients, for their size.
pub(crate) fn check_set(file: &File, set: &[(String, i128)]) -> Result<(), CompileError> {
    let Some(algorithm) = &file.algorithm else { return Ok(()) };
    let consts = file.consts.iter().chain(&algorithm.params).chain(&algorithm.consts);
    let mut known: Vec<String> = consts.map(|constant| constant.name.text.clone()).collect();
    if file.checks.iter().any(|check| matches!(check.about, About::All(..))) {
        let more = SETTABLE.iter().map(|name| (*name).to_owned());
        known.extend(more.filter(|name| !known.contains(name)).collect::<Vec<_>>());
    }
    crate::refuse_unknown(known, set)
}

/// The labels and orders of a file.
pub(crate) fn orders(file: &File) -> Orders {
    let mut orders = Orders { labels: Vec::new(), declared: Vec::new(), end: Span::default() };
    let Some(algorithm) = &file.algorithm else { return orders };
    algorithm.walk(&mut |stmt| {
        orders.labels.extend(stmt.label.iter().map(|label| (label.text.clone(), label.span)));
    });
    orders.declared = algorithm.orders.iter().map(|order| (pair(order), order.span)).collect();
    orders.end = algorithm.close;
    orders
}

/// An order by the names of its labels.
pub(crate) fn pair(order: &OrderDecl) -> OrderPair {
    OrderPair { first: order.first.text.clone(), second: order.second.text.clone(), each: order.each }
}

/// One program to make.
pub(crate) struct Plan<'a> {
    name: String,
    threads: Vec<ThreadPlan<'a>>,
    /// How often each transaction of each thread is run again.
    retries: Vec<Vec<u32>>,
    client: Option<&'a Client>,
    space: Option<ClientSpace>,
    checks: Vec<&'a CheckDecl>,
    span: Span,
    /// Whether its threads go on for ever.
    endless: bool,
}

impl<'a> Plan<'a> {
    /// The same with these threads.
    pub(crate) fn of_threads(self, threads: Vec<ThreadPlan<'a>>) -> Self {
        Self { threads, ..self }
    }

    fn transactions(&self) -> usize {
        if let (true, Some(space)) = (self.endless, &self.space) {
            return endless::names(space.threads.into(), space.locs.into());
        }
        let named = self.retries.iter().flatten().map(|retry| *retry as usize + 1).sum();
        self.space.as_ref().map_or(named, ClientSpace::transactions)
    }
}

/// Makes every test of a file.
pub(crate) fn tests(name: &str, file: &File, set: &[(String, i128)], reports: &mut Reports) -> Vec<Test> {
    let Some(algorithm) = &file.algorithm else { return Vec::new() };
    let labels = label_numbers(algorithm);
    let maker = Maker { name, file, algorithm, set, labels: &labels };
    let spaces = maker.spaces(reports);
    if maker.probe(reports).is_err() || maker.references(reports).is_err() {
        return Vec::new();
    }
    let Ok(spaces) = spaces else { return Vec::new() };
    let mut tests = Vec::new();
    for plan in maker.plans(&spaces, reports) {
        tests.extend(maker.test(&plan, reports));
    }
    tests
}

/// One test of a file as a machine runs it; none if there is no such test, or no machine can.
pub(crate) fn in_words(
    name: &str,
    file: &File,
    set: &[(String, i128)],
    test: &str,
    reports: &mut Reports,
) -> Fallible<Option<Program>> {
    let Some(algorithm) = &file.algorithm else { return Ok(None) };
    let labels = label_numbers(algorithm);
    let maker = Maker { name, file, algorithm, set, labels: &labels };
    let spaces = maker.spaces(reports)?;
    let plans = maker.plans(&spaces, reports);
    plans.iter().find(|plan| plan.name == test).map_or(Ok(None), |plan| maker.in_words(plan, reports))
}

fn label_numbers(algorithm: &Algorithm) -> HashMap<&str, u32> {
    let mut labels = HashMap::new();
    algorithm.walk(&mut |stmt| {
        if let Some(label) = &stmt.label {
            let next = u32::try_from(labels.len()).unwrap_or(u32::MAX);
            labels.insert(label.text.as_str(), next);
        }
    });
    labels
}

pub(crate) struct Maker<'a> {
    name: &'a str,
    file: &'a File,
    pub(crate) algorithm: &'a Algorithm,
    set: &'a [(String, i128)],
    labels: &'a HashMap<&'a str, u32>,
}

/// A program without its checks, and what it was made of.
struct Made {
    test: Test,
    registers: Vec<NamedRegisters>,
    constants: Constants,
    memory: Memory,
    events: Events,
}

/// A size of clients, whether they go on for ever, and the checks about them.
struct Sized<'a> {
    space: ClientSpace,
    endless: bool,
    span: Span,
    checks: Vec<&'a CheckDecl>,
}

impl<'a> Maker<'a> {
    pub(crate) fn constants(&self, threads: usize, txns: usize, reports: &mut Reports) -> Fallible<Constants> {
        Constants::new(self.file, self.algorithm, self.set, (threads, txns), reports)
    }

    /// Whatever is used as a reference is one.
    fn references(&self, reports: &mut Reports) -> Fallible<()> {
        crate::resolve::references::check(self.algorithm, &self.constants(1, 1, reports)?, reports)
    }

    /// The sizes that checks are about, each once.
    fn spaces(&self, reports: &mut Reports) -> Fallible<Vec<Sized<'a>>> {
        let constants = self.constants(1, 1, reports)?;
        let mut spaces: Vec<Sized<'a>> = Vec::new();
        let mut failed = false;
        for check in &self.file.checks {
            let About::All(decl, span) = &check.about else { continue };
            let endless = matches!(check.claim, Claim::Progress(_));
            failed |= endless && endless::check_decl(decl, reports).is_err();
            let found = space(decl, *span, &constants, self.set, reports);
            let found = found.and_then(|space| {
                let initial = self.initially(&constants, reports)?;
                if !endless {
                    self.own_values(&space, &initial, *span, reports)?;
                }
                Ok(space)
            });
            let found = found.map(|space| if endless { endless::endless_space(space) } else { space });
            match found {
                Ok(space) => match spaces.iter_mut().find(|known| (&known.space, known.endless) == (&space, endless)) {
                    Some(known) => known.checks.push(check),
                    None => spaces.push(Sized { space, endless, span: *span, checks: vec![check] }),
                },
                Err(_) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(spaces) }
    }

    fn plans<'p>(&'p self, spaces: &'p [Sized<'a>], reports: &mut Reports) -> Vec<Plan<'p>> {
        let mut plans = Vec::new();
        for (index, client) in self.file.clients.iter().enumerate() {
            let about = |check: &&CheckDecl| match &check.about {
                About::Last(last) => *last == Some(index),
                About::Named(names) => names.iter().any(|name| name.text == client.name.text),
                About::All(..) => false,
            };
            let checks: Vec<_> = self.file.checks.iter().filter(about).collect();
            if checks.is_empty() && !self.file.checks.is_empty() {
                continue;
            }
            let Ok(retries) = self.retries(client, reports) else { continue };
            plans.push(Plan {
                name: client.name.text.clone(),
                threads: client.threads.iter().map(ThreadPlan::Named).collect(),
                retries,
                client: Some(client),
                space: None,
                checks,
                span: client.name.span,
                endless: false,
            });
        }
        let locs = self.constants(1, 1, reports).ok().and_then(|constants| constants.get("locs")).unwrap_or(0);
        let locs = u32::try_from(locs).unwrap_or(0);
        for Sized { space, endless, span, checks } in spaces {
            let name = if *endless { endless::name(space, locs) } else { space.name(locs) };
            let plan = all_clients(name, space, *span, checks.clone());
            let threads = match endless {
                true => vec![ThreadPlan::Endless(space, *span); space.threads.into()],
                false => plan.threads.clone(),
            };
            plans.push(Plan { endless: *endless, threads, ..plan });
        }
        plans
    }

    fn retries(&self, client: &Client, reports: &mut Reports) -> Fallible<Vec<Vec<u32>>> {
        let constants = self.constants(1, 1, reports)?;
        let mut one = |tx: &Tx| {
            let Some(retry) = &tx.retry else { return Ok(0) };
            let value = constants.eval(retry, reports)?;
            u32::try_from(value).ok().filter(|value| *value <= 64).ok_or_else(|| {
                let message = format!("a transaction cannot be run {value} times again");
                let help = "write a number from 0 to 64";
                reports.complain(retry.span, message, "out of range", help)
            })
        };
        client.threads.iter().map(|thread| thread.txns().into_iter().map(&mut one).collect()).collect()
    }

    pub(crate) fn test(&self, plan: &Plan<'_>, reports: &mut Reports) -> Fallible<Test> {
        let mut made = self.made(plan, None, reports)?;
        made.test.program.in_order = true;
        let (test, constants) = (&mut made.test, &made.constants);
        if let Some(space) = plan.space.as_ref().filter(|_| !plan.endless) {
            let initial = &test.program.initial;
            let memory = &made.memory;
            test.program.interchangeable = interchangeable(self.algorithm, constants, memory, (space, initial));
            // Whoever knows its thread's number tells threads apart.
            test.program.interchangeable.threads &= !self.algorithm.names_threads();
        }
        let declared: Vec<_> = self.algorithm.orders.iter().map(pair).collect();
        test.program.orders = test.layout.orders(&test.program, &declared);
        self.checked(plan, made, reports)
    }

    /// The same with base objects that are words of a machine's memory; none if they cannot be.
    fn in_words(&self, plan: &Plan<'_>, reports: &mut Reports) -> Fallible<Option<Program>> {
        if clashes(self.algorithm) || plan.endless && endless::needs_names(self.algorithm) {
            return Ok(None);
        }
        let in_order = self.made(plan, None, reports)?;
        let made = self.made(plan, Some(&in_order.registers), reports)?;
        self.checked(plan, made, reports).map(|test| Some(test.program))
    }

    /// A program with its checks.
    fn checked(&self, plan: &Plan<'_>, made: Made, reports: &mut Reports) -> Fallible<Test> {
        let Made { mut test, constants, events, .. } = made;
        self.add_checks(plan, (&constants, &events), &mut test.program, reports)?;
        debug_assert_eq!(cyrano_ir::verify(&test.program), Ok(()), "the lowering broke an invariant of the IR");
        Ok(test)
    }

    /// A program without its checks and orders. Its registers have the numbers of those given, if it is one of words.
    fn made(&self, plan: &Plan<'_>, words: Option<&Vec<NamedRegisters>>, reports: &mut Reports) -> Fallible<Made> {
        let constants = self.constants(plan.threads.len(), plan.transactions(), reports)?;
        let values: Written = match (&plan.client, &plan.space) {
            (Some(client), _) => written(client, self.algorithm.is_memory(), &constants, reports),
            (None, Some(space)) => Some(space_values(space)),
            (None, None) => None,
        };
        let of_words = words.map(|_| plan.threads.len());
        let mut memory = Memory::new(self.algorithm, &constants, (&values, of_words), reports)?;
        if let (true, Some(space)) = (plan.endless, &plan.space) {
            endless::check_names(self.algorithm, &constants, &memory, (space, plan.span), reports)?;
            memory.reserve(i128::try_from(plan.transactions()).unwrap_or(0));
        }
        let mut events = Events::of(&plan.checks);
        if words.is_some() {
            events = events.without_pairs();
        }
        events.flags(|number| memory.flags(number));
        // How many pairs a set can hold is known once everything is inlined, so that is done until it fits.
        let mut depths = vec![1; self.algorithm.locals.len()];
        let (mut test, registers) = loop {
            let known = (&constants, &events, words);
            let (test, registers, most) = self.program(plan, known, memory.clone(), &depths, reports)?;
            if most.iter().zip(&depths).all(|(most, depth)| most <= depth) {
                break (test, registers);
            }
            depths.iter_mut().zip(&most).for_each(|(depth, most)| *depth = (*depth).max(*most));
        };
        test.program.initial = self.initially(&constants, reports)?;
        if plan.endless {
            endless::find_clocks(&mut test.program);
        }
        Ok(Made { test, registers, constants, memory, events })
    }

    /// What the locations hold before the first transaction; nothing if that is not said.
    fn initially(&self, constants: &Constants, reports: &mut Reports) -> Fallible<Vec<i128>> {
        let Some(init) = &self.algorithm.initially else { return Ok(Vec::new()) };
        let locs = constants.locs(self.algorithm.name.span, reports)? as usize;
        initial_values("the memory", init, locs, constants, reports)
    }

    /// Where every write has a value of its own, none of them is an initial value.
    fn own_values(&self, space: &ClientSpace, initial: &[i128], span: Span, reports: &mut Reports) -> Fallible<()> {
        let both = initial.iter().find(|value| space_values(space).contains(value));
        match both.filter(|_| space.values == Values::Distinct) {
            None => Ok(()),
            Some(value) => {
                let message = format!("{value} is an initial value, and what one of these clients writes");
                let help = "say what they write, `values {1, 2}`, or begin with another value";
                Err(reports.complain(span, message, "every write has its own value: 1, 2, 3, …", help))
            }
        }
    }

    fn program(
        &self,
        plan: &Plan<'_>,
        (constants, events, words): (&Constants, &Events, Option<&Vec<NamedRegisters>>),
        mut memory: Memory,
        depths: &[u32],
        reports: &mut Reports,
    ) -> Fallible<(Test, Vec<NamedRegisters>, Vec<u32>)> {
        let budget = Budget::default();
        let mut program = Program {
            name: self.name.to_owned(),
            constants: constants.shown.clone(),
            routines: self.algorithm.methods.iter().map(|method| routine(&method.name, &method.body)).collect(),
            ..Program::default()
        };
        let mut layout = Layout { labels: vec![String::new(); self.labels.len()], ..Layout::default() };
        for (label, number) in self.labels {
            layout.labels[*number as usize] = (*label).to_owned();
        }
        let (mut told, mut registers) = (Told::default(), Vec::new());
        let mut most = vec![0u32; depths.len()];
        let mut first = 1;
        for (index, thread) in plan.threads.iter().enumerate() {
            let known = (constants, self.labels, events);
            let mut lower = Lower::client(self.algorithm, known, &mut memory, (&budget, reports), index);
            if let Some(known) = words {
                lower.own.words = true;
                lower.build.registers_as_in(&known[index]);
            }
            lower.lay_out(depths)?;
            let retries = plan.retries.get(index).map(Vec::as_slice).unwrap_or_default();
            lower.client_thread(*thread, retries, first)?;
            first = lower.own.tx + 1;
            most.iter_mut().zip(&lower.own.most).for_each(|(most, of_thread)| *most = (*most).max(*of_thread));
            registers.push(lower.build.named_registers());
            layout.owners.push(lower.owners());
            told.notes.push(lower.build.told(&layout.labels));
            told.objects.push(std::mem::take(&mut lower.build.objects));
            told.sets.push(lower.set_registers());
            let (mut thread, labels) = (lower.build.thread, lower.build.labels);
            resolve(&mut thread.code, &labels);
            thread.name = format!("t{}", index + 1);
            layout.marks.push(lower.build.marks);
            program.threads.push(thread);
        }
        told.helpers = memory.finish(self.algorithm, &mut program);
        events.name_flags(&mut program);
        program.told = told.into();
        fix_addresses(&mut program);
        let locations = u32::try_from(program.locations.len()).unwrap_or(u32::MAX);
        reports.settle(budget.charge_locations(locations, plan.span))?;
        let clients = plan.space.clone().filter(|_| !plan.endless);
        Ok((Test { name: plan.name.clone(), program, clients, layout, words: Default::default() }, registers, most))
    }

    fn add_checks(
        &self,
        plan: &Plan<'_>,
        (constants, events): (&Constants, &Events),
        program: &mut Program,
        reports: &mut Reports,
    ) -> Fallible<()> {
        let results = results(plan, program);
        program.observed =
            results.iter().map(|(name, var)| Observable { name: (*name).to_owned(), var: *var }).collect();
        for check in &plan.checks {
            let properties = properties(&check.claim, |cond| {
                constants.condition(cond, &results, &|executed| events.resolve(executed, program), reports)
            })?;
            let default = if plan.endless { IN_ORDER } else { DEFAULT_MODEL };
            let models = match check.models.is_empty() {
                true => vec![default.to_owned()],
                false => check.models.clone(),
            };
            let check = |property| Check { property, models: models.clone(), span: check.span };
            program.checks.extend(properties.into_iter().map(check));
        }
        Ok(())
    }
}

/// The program of all clients of a size.
pub(crate) fn all_clients<'p>(
    name: String,
    space: &'p ClientSpace,
    span: Span,
    checks: Vec<&'p CheckDecl>,
) -> Plan<'p> {
    Plan {
        name,
        threads: vec![ThreadPlan::Any(space, span); space.threads.into()],
        retries: Vec::new(),
        client: None,
        space: Some(space.clone()),
        checks,
        span,
        endless: false,
    }
}

/// The results of a named client, in the order of the text.
fn results<'p>(plan: &Plan<'p>, program: &Program) -> Vec<(&'p str, FinalVar)> {
    let mut results = Vec::new();
    for (index, thread) in plan.client.iter().flat_map(|client| &client.threads).enumerate() {
        for name in ClientStmt::calls(&thread.body).into_iter().filter_map(|call| call.result.as_ref()) {
            let registers = &program.threads[index].registers;
            if let Some(at) = registers.iter().position(|register| register.name == name.text) {
                results.push((name.text.as_str(), FinalVar::Reg(ThreadId::new(index), RegId::new(at))));
            }
        }
    }
    results
}

/// Elements with constant indices are fixed locations; an index that is out of range stays and is an error when it is met.
fn fix_addresses(program: &mut Program) {
    let arrays = &program.arrays;
    for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        let Some(addr) = instr.op.access_mut().map(|access| &mut access.addr) else { continue };
        let Addr::Indexed { array, index: IrExpr::Const(index) } = addr else { continue };
        let array = &arrays[array.index()];
        if let Ok(index) = u32::try_from(*index)
            && index < array.len
        {
            *addr = Addr::Fixed(LocId(array.base.0 + index));
        }
    }
}
