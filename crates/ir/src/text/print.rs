//! Printing.

use std::fmt;

use super::lex::quote;
use super::names::{References, numeral, written};
use crate::access::{Access, AccessKind, Addr, Change, Tags};
use crate::cond::{Check, FinalVar, Property, StateVar};
use crate::expr::{Expr, UnOp};
use crate::fence::Fence;
use crate::ids::{RegId, Span, ThreadId};
use crate::op::Op;
use crate::program::{Interchangeable, LocalExpr, Place, Program, Thread, Ty};

/// The program in text form.
pub fn print(program: &Program) -> String {
    let registers = |t: &Thread| References::new(t.registers.iter().map(|r| &*r.name));
    let printer = Printer {
        locations: References::new(program.locations.iter().map(|l| &*l.name)),
        arrays: References::new(program.arrays.iter().map(|a| &*a.name)),
        threads: References::new(program.threads.iter().map(|t| &*t.name)),
        registers: program.threads.iter().map(registers).collect(),
        points: References::new(program.points.iter().map(|p| &*p.label)),
    };
    let mut out = Lines::default();
    printer.declarations(program, &mut out);
    for (thread, registers) in program.threads.iter().zip(&printer.registers) {
        printer.thread(thread, registers, &mut out);
    }
    if let Some(setup) = program.setup {
        out.plain(format_args!("setup {}", printer.threads.to(setup.index())));
    }
    for family in &program.families {
        let (name, thread) = (written(&family.name), printer.threads.to(family.thread.index()));
        out.plain(format_args!("family {name} {thread} by {}", written(&family.size)));
    }
    if program.in_order {
        out.plain(format_args!("inorder"));
    }
    if program.scoped {
        out.plain(format_args!("scoped"));
    }
    if !program.initial.is_empty() {
        out.plain(format_args!("initially {}", numbers(&program.initial)));
    }
    let Interchangeable { threads, locations, values } = &program.interchangeable;
    if *threads {
        out.plain(format_args!("interchangeable threads"));
    }
    if *locations {
        out.plain(format_args!("interchangeable locations"));
    }
    if !values.is_empty() {
        out.plain(format_args!("interchangeable values {}", numbers(values)));
    }
    for order in &program.orders {
        out.plain(format_args!("ordered {}", written(&order.model)));
        for (thread, instrs) in order.before.iter().enumerate() {
            for (instr, before) in instrs.iter().enumerate().filter(|(_, before)| !before.is_empty()) {
                let before: Vec<_> = before.iter().map(ToString::to_string).collect();
                let (model, thread) = (written(&order.model), printer.threads.to(thread));
                out.plain(format_args!("order {model} {thread} @{instr} after {}", before.join(", ")));
            }
        }
    }
    for order in &program.serial_orders {
        out.plain(format_args!("serial {}", written(&order.name)));
        for (thread, keys) in order.keys.iter().enumerate().flat_map(|(t, txns)| txns.iter().map(move |k| (t, k))) {
            let var = |key: &RegId| printer.final_var(FinalVar::Reg(ThreadId::new(thread), *key));
            let keys: Vec<_> = keys.iter().map(var).collect();
            out.plain(format_args!("keys {} {}", written(&order.name), keys.join(", ")));
        }
    }
    for observable in &program.observed {
        let var = printer.final_var(observable.var);
        out.plain(format_args!("observe {} = {var}", written(&observable.name)));
    }
    for point in &program.points {
        let (label, thread) = (written(&point.label), printer.threads.to(point.thread.index()));
        let places: Vec<_> = point.places.iter().map(ToString::to_string).collect();
        out.plain(format_args!("point {label} = {thread} {}", places.join(", ")));
    }
    for span in &program.settled {
        out.line(format_args!("settled"), *span);
    }
    for routine in &program.routines {
        out.line(format_args!("routine {}", written(&routine.name)), routine.span);
    }
    for check in &program.checks {
        out.line(format_args!("check {}", printer.check(check)), check.span);
    }
    out.text
}

/// The lines so far.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, line: fmt::Arguments<'_>, span: Span) {
        self.text.push_str(&line.to_string());
        if span != Span::default() {
            self.text.push_str(&format!(" ; {span:?}"));
        }
        self.text.push('\n');
    }

    fn plain(&mut self, line: fmt::Arguments<'_>) {
        self.line(line, Span::default());
    }
}

/// How everything is called.
struct Printer {
    locations: References,
    arrays: References,
    threads: References,
    registers: Vec<References>,
    points: References,
}

impl Printer {
    fn declarations(&self, program: &Program, out: &mut Lines) {
        out.plain(format_args!("program {}", written(&program.name)));
        for (name, value) in &program.constants {
            out.plain(format_args!("const {} = {}", written(name), numeral(*value)));
        }
        for location in &program.locations {
            let declared = typed(&location.name, location.ty, location.init);
            out.line(format_args!("location {declared}"), location.span);
        }
        for array in &program.arrays {
            let (name, base) = (written(&array.name), self.locations.to(array.base.index()));
            let headers = if array.headers { " headers" } else { "" };
            out.plain(format_args!("array {name} = {base} of {}{headers}", array.len));
        }
        for loc in &program.transactional {
            out.plain(format_args!("transactional {}", self.locations.to(loc.index())));
        }
    }

    fn thread(&self, thread: &Thread, registers: &References, out: &mut Lines) {
        out.plain(format_args!("thread {}", written(&thread.name)));
        for register in &thread.registers {
            let declared = typed(&register.name, register.ty, register.init);
            out.plain(format_args!("  register {declared}"));
        }
        let code = Code { printer: self, registers };
        for (pc, instr) in thread.code.iter().enumerate() {
            out.line(format_args!("  @{pc}: {}", code.op(&instr.op)), instr.span);
        }
    }

    fn check(&self, check: &Check) -> String {
        let mut out = match &check.property {
            Property::Transactions(criterion) => format!("transactions {}", written(criterion.name())),
            Property::Progress(progress) => format!("progress {}", written(progress.name())),
            Property::Live(liveness) => format!("live {}", written(liveness.name())),
            Property::Structure(structure) => format!("structure {}", written(structure.name())),
            Property::CommitAtomicity => "commit_atomicity".to_owned(),
            property => property.criterion().to_owned(),
        };
        match &check.property {
            Property::Final { cond, text, .. } => {
                let cond = expr(cond, &|var| self.final_var(*var));
                out.push_str(&format!(" {cond} {}", quote(text)));
            }
            Property::Invariant(invariant) => {
                let cond = expr(&invariant.cond, &|var| self.state_var(*var));
                out.push_str(&format!(" {cond} {}", quote(&invariant.text)));
            }
            Property::Observations(allowed) => {
                allowed.iter().for_each(|row| out.push_str(&format!(" ({})", numbers(row))));
            }
            Property::Assertions
            | Property::Transactions(_)
            | Property::Progress(_)
            | Property::Live(_)
            | Property::Structure(_)
            | Property::CommitAtomicity
            | Property::Races => {}
        }
        if !check.models.is_empty() {
            let models: Vec<_> = check.models.iter().map(|m| written(m)).collect();
            out.push_str(&format!(" on {}", models.join(", ")));
        }
        out
    }

    fn state_var(&self, var: StateVar) -> String {
        match (var, var.value()) {
            (StateVar::At(point), _) => format!("@{}", self.points.to(point.index())),
            (_, value) => value.map_or(String::new(), |value| self.final_var(value)),
        }
    }

    fn final_var(&self, var: FinalVar) -> String {
        match var {
            FinalVar::Loc(loc) => self.locations.to(loc.index()),
            FinalVar::Reg(thread, reg) => {
                let registers = self.registers.get(thread.index());
                let reg = registers.map_or(format!("#{}", reg.0), |names| names.to(reg.index()));
                format!("{}:{reg}", self.threads.to(thread.index()))
            }
        }
    }
}

/// How everything is called within one thread.
struct Code<'a> {
    printer: &'a Printer,
    registers: &'a References,
}

impl Code<'_> {
    fn op(&self, op: &Op) -> String {
        match op {
            Op::Assign { dst, value } => format!("{} := {}", self.place(dst), self.expr(value)),
            Op::Access(access) => self.access(access),
            Op::Fence(Fence::Named { name, at: Some(at) }) => {
                format!("fence {name} at {}", self.printer.locations.to(at.index()))
            }
            Op::Fence(fence) => format!("fence {fence}"),
            Op::AtomicBegin => "atomic begin".into(),
            Op::AtomicEnd => "atomic end".into(),
            Op::OperationBegin(name) => format!("operation begin {}", written(name)),
            Op::OperationEnd => "operation end".into(),
            Op::BlockBegin(name) => format!("block begin {}", written(name)),
            Op::BlockCommit => "block commit".into(),
            Op::BlockEnd(results) => {
                let results: Vec<_> = results.iter().map(|e| self.expr(e)).collect();
                format!("block end {}", results.join(", ")).trim_end().into()
            }
            Op::Choose { dst, from } => {
                let line = format!("{} := choose {}", self.place(dst), numbers(from));
                line.trim_end().into()
            }
            Op::Assume(cond) => format!("assume {}", self.expr(cond)),
            Op::Assert { cond, message } => {
                let message = message.as_ref().map(|message| format!(" {}", quote(message)));
                format!("assert {}{}", self.expr(cond), message.unwrap_or_default())
            }
            Op::Limit { cond, what } => format!("limit {} {}", self.expr(cond), quote(what)),
            Op::Branch { cond, then_to, else_to } => {
                format!("branch {} then {then_to} else {else_to}", self.expr(cond))
            }
            Op::Jump(target) => format!("jump {target}"),
            Op::Transaction(event) => event.name().into(),
            Op::Invoke { method, args } => {
                let args: Vec<_> = args.iter().map(|e| self.expr(e)).collect();
                format!("invoke {} {}", method.name(), args.join(", ")).trim_end().into()
            }
            Op::Respond(value) => format!("respond {}", self.expr(value)),
            Op::Progress(None) => "progress".into(),
            Op::Progress(Some(label)) => format!("progress {}", written(label)),
            Op::Halt => "halt".into(),
        }
    }

    fn access(&self, access: &Access) -> String {
        let word = match (access.kind, &access.change) {
            (AccessKind::Store, _) if access.tags.contains(Tags::ROLLBACK) && access.dst.is_none() => "rollback",
            (AccessKind::Load | AccessKind::Store | AccessKind::Mark, _) | (_, None) => access.kind.noun(),
            (_, Some(Change::Cas { .. })) => "cas",
            (_, Some(Change::Set(_))) => "exchange",
            (_, Some(Change::Add(_))) => "fetch_add",
        };
        let dst = access.dst.as_ref().map(|dst| self.place(dst) + " := ");
        let operands = access.operands().into_iter().map(|e| self.expr(e));
        let arguments: Vec<_> = std::iter::once(self.addr(&access.addr)).chain(operands).collect();
        let tags = if word == "rollback" { access.tags.without(Tags::ROLLBACK) } else { access.tags };
        let tags = if tags.is_empty() { String::new() } else { format!(" {{{tags}}}") };
        let failed = access.failed.map(|tags| format!(" else {{{tags}}}")).unwrap_or_default();
        format!("{}{word} {}{tags}{failed}", dst.unwrap_or_default(), arguments.join(", "))
    }

    fn addr(&self, addr: &Addr) -> String {
        match addr {
            Addr::Fixed(loc) => self.printer.locations.to(loc.index()),
            Addr::Indexed { array, index } => {
                let array = self.printer.arrays.to(array.index());
                format!("{array}[{}]", self.expr(index))
            }
        }
    }

    fn expr(&self, e: &LocalExpr) -> String {
        expr(e, &|place| self.place(place))
    }

    fn place(&self, place: &Place) -> String {
        let register = |reg: &RegId| self.registers.to(reg.index());
        match place {
            Place::Reg(reg) => register(reg),
            Place::Elem { base, len, index } => {
                format!("{}[{} of {len}]", register(base), self.expr(index))
            }
        }
    }
}

fn expr<V>(e: &Expr<V>, var: &dyn Fn(&V) -> String) -> String {
    match e {
        Expr::Const(value) => numeral(*value),
        Expr::Var(v) => var(v),
        Expr::Unary(UnOp::Not, arg) => format!("!{}", expr(arg, var)),
        Expr::Unary(UnOp::Neg, arg) => match **arg {
            // Without parentheses the sign would become part of the number.
            Expr::Const(value) => format!("-({})", numeral(value)),
            _ => format!("-{}", expr(arg, var)),
        },
        Expr::Unary(op, arg) => format!("{}({})", op.word(), expr(arg, var)),
        Expr::Binary(op, left, right) => {
            let (left, right) = (expr(left, var), expr(right, var));
            format!("({left} {} {right})", op.symbol())
        }
    }
}

fn numbers(values: &[i128]) -> String {
    values.iter().map(|value| numeral(*value)).collect::<Vec<_>>().join(", ")
}

fn typed(name: &str, ty: Ty, init: i128) -> String {
    let ty = match ty {
        Ty::Int => "",
        Ty::Timestamp => ": timestamp",
        Ty::Pointer => ": pointer",
        Ty::Gap => ": gap",
        Ty::Header => ": header",
        Ty::Witness => ": witness",
    };
    format!("{}{ty} = {}", written(name), numeral(init))
}
