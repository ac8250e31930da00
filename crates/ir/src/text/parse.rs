//! Reading, line by line.
//!
//! A [`Line`] is a cursor over the words of one line; a [`Reader`] holds the program so far and how its
//! parts are called. Names must be declared on an earlier line than they are used.

use std::collections::BTreeSet;

use super::TextError;
use super::code::Scope;
use super::lex::lex;
use super::line::{Line, Result};
use super::names::Names;
use crate::cond::{Check, FinalVar, Invariant, Observable, Point, Property, StateVar};
use crate::ids::{LocId, PointId, RegId, ThreadId};
use crate::program::{Family, Instr, Location, OwnOrder, Program, Register, Routine, SharedArray, Thread};
use crate::serial::SerialOrder;
use crate::{Liveness, Progress, Quantifier, Structure, TxCriterion};

/// Reads a program.
pub fn parse(text: &str) -> std::result::Result<Program, TextError> {
    let mut reader = Reader::default();
    let mut started = false;
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let at_line = |message| TextError { line: number, message };
        let tokens = lex(line).map_err(at_line)?;
        if tokens.is_empty() {
            continue;
        }
        let mut line = Line::new(tokens);
        let read = if started { reader.item(&mut line) } else { reader.header(&mut line) };
        started = true;
        read.and_then(|()| line.end()).map_err(at_line)?;
    }
    if started {
        return Ok(reader.program);
    }
    Err(TextError { line: last.max(1), message: "there is no program".into() })
}

/// The program so far, and how its parts are called.
#[derive(Default)]
struct Reader {
    program: Program,
    locations: Names,
    arrays: Names,
    threads: Names,
    registers: Vec<Names>,
    points: Names,
}

impl Reader {
    fn header(&mut self, line: &mut Line) -> Result<()> {
        line.word("program")?;
        self.program.name = line.name()?;
        Ok(())
    }

    fn item(&mut self, line: &mut Line) -> Result<()> {
        if line.peek_symbol("@") {
            return self.instr(line);
        }
        match &*line.any_word()? {
            "const" => {
                let constant = (line.name()?, line.assigned()?);
                self.program.constants.push(constant);
            }
            "location" => self.location(line)?,
            "array" => self.array(line)?,
            "thread" => {
                let name = line.name()?;
                self.threads.push(&name);
                self.registers.push(Names::default());
                let thread = Thread { name, ..Thread::default() };
                self.program.threads.push(thread);
            }
            "setup" => {
                let thread = line.reference("thread", &self.threads)?;
                self.program.setup = Some(ThreadId(thread));
            }
            "family" => {
                let name = line.name()?;
                let thread = ThreadId(line.reference("thread", &self.threads)?);
                line.word("by")?;
                self.program.families.push(Family { name, thread, size: line.name()? });
            }
            "inorder" => self.program.in_order = true,
            "scoped" => self.program.scoped = true,
            "initially" => self.program.initial = line.numbers()?,
            "ordered" => {
                let before = self.program.threads.iter().map(|t| vec![Vec::new(); t.code.len()]).collect();
                self.program.orders.push(OwnOrder { model: line.name()?, before });
            }
            "interchangeable" => match &*line.any_word()? {
                "threads" => self.program.interchangeable.threads = true,
                "locations" => self.program.interchangeable.locations = true,
                "values" => self.program.interchangeable.values = line.numbers()?,
                other => return Err(format!("`{other}` are never interchangeable")),
            },
            "order" => self.order(line)?,
            "serial" => {
                let keys = vec![Vec::new(); self.program.threads.len()];
                self.program.serial_orders.push(SerialOrder { name: line.name()?, keys });
            }
            "keys" => self.keys(line)?,
            "transactional" => {
                let loc = LocId(line.reference("location", &self.locations)?);
                self.program.transactional.push(loc);
            }
            "register" => self.register(line)?,
            "observe" => {
                let name = line.name()?;
                line.symbol("=")?;
                let var = self.final_var(line)?;
                self.program.observed.push(Observable { name, var });
            }
            "point" => {
                let label = line.name()?;
                line.symbol("=")?;
                let thread = ThreadId(line.reference("thread", &self.threads)?);
                let mut places = Vec::new();
                while line.peek_symbol("@") {
                    places.push(line.instr_id()?);
                    line.take_symbol(",");
                }
                self.points.push(&label);
                self.program.points.push(Point { label, thread, places });
            }
            "settled" => {
                let span = line.span()?;
                self.program.settled.push(span);
            }
            "routine" => {
                let name = line.name()?;
                let span = line.span()?;
                self.program.routines.push(Routine { name, span });
            }
            "check" => self.check(line)?,
            other => return Err(format!("`{other}` starts no line of this form")),
        }
        Ok(())
    }

    fn location(&mut self, line: &mut Line) -> Result<()> {
        let (name, ty, init) = (line.name()?, line.ty()?, line.assigned()?);
        let span = line.span()?;
        self.locations.push(&name);
        self.program.locations.push(Location { name, init, ty, span });
        Ok(())
    }

    fn array(&mut self, line: &mut Line) -> Result<()> {
        let name = line.name()?;
        line.symbol("=")?;
        let base = LocId(line.reference("location", &self.locations)?);
        line.word("of")?;
        let len = line.number()?;
        let headers = line.take_word("headers");
        self.arrays.push(&name);
        self.program.arrays.push(SharedArray { name, base, len, headers });
        Ok(())
    }

    fn order(&mut self, line: &mut Line) -> Result<()> {
        let model = line.name()?;
        let thread: u16 = line.reference("thread", &self.threads)?;
        let instr = line.instr_id()?;
        line.word("after")?;
        let mut before = vec![line.instr_id()?];
        while line.take_symbol(",") {
            before.push(line.instr_id()?);
        }
        let order = self.program.orders.iter_mut().find(|order| order.model == model);
        let slot = order.and_then(|o| o.before.get_mut(usize::from(thread))?.get_mut(instr.index()));
        *slot.ok_or(format!("there is no order for `{model}`, or no instruction {instr}"))? = before;
        Ok(())
    }

    /// The keys of the next transaction of a thread.
    fn keys(&mut self, line: &mut Line) -> Result<()> {
        let name = line.name()?;
        let mut keys = Vec::new();
        let mut owner = None;
        loop {
            match self.final_var(line)? {
                FinalVar::Reg(thread, reg) if *owner.get_or_insert(thread) == thread => keys.push(reg),
                _ => return Err("the keys of a transaction are registers of one thread".into()),
            }
            if !line.take_symbol(",") {
                break;
            }
        }
        let order = self.program.serial_orders.iter_mut().find(|order| order.name == name);
        let slot = order.zip(owner).and_then(|(order, thread)| order.keys.get_mut(thread.index()));
        slot.ok_or(format!("there is no serial order `{name}`"))?.push(keys);
        Ok(())
    }

    fn register(&mut self, line: &mut Line) -> Result<()> {
        let (name, ty, init) = (line.name()?, line.ty()?, line.assigned()?);
        let (Some(thread), Some(names)) = (self.program.threads.last_mut(), self.registers.last_mut()) else {
            return Err("a register before the first thread".into());
        };
        names.push(&name);
        thread.registers.push(Register { name, init, ty });
        Ok(())
    }

    fn instr(&mut self, line: &mut Line) -> Result<()> {
        let number = line.instr_id()?;
        line.symbol(":")?;
        let Some(registers) = self.registers.last() else {
            return Err("an instruction before the first thread".into());
        };
        let scope = Scope { locations: &self.locations, arrays: &self.arrays, registers };
        let op = scope.op(line)?;
        let span = line.span()?;
        let thread = self.program.threads.last_mut();
        let code = &mut thread.expect("registers and threads grow together").code;
        if number.index() != code.len() {
            return Err(format!("instruction {number} stands at @{}", code.len()));
        }
        code.push(Instr { op, span });
        Ok(())
    }

    fn check(&mut self, line: &mut Line) -> Result<()> {
        let property = match &*line.any_word()? {
            "assertions" => Property::Assertions,
            "transactions" => {
                let name = line.name()?;
                let criterion = TxCriterion::from_name(&name);
                Property::Transactions(criterion.ok_or(format!("`{name}` is no criterion for transactions"))?)
            }
            "progress" => {
                let name = line.name()?;
                let progress = Progress::from_name(&name);
                Property::Progress(progress.ok_or(format!("`{name}` is no progress property"))?)
            }
            "live" => {
                let name = line.name()?;
                let liveness = Liveness::from_name(&name);
                Property::Live(liveness.ok_or(format!("`{name}` is no property of endless executions"))?)
            }
            "structure" => {
                let name = line.name()?;
                let structure = Structure::from_name(&name);
                Property::Structure(structure.ok_or(format!("`{name}` is no structural property"))?)
            }
            "commit_atomicity" => Property::CommitAtomicity,
            "observations" => Property::Observations(rows(line)?),
            "exists" => self.condition(Quantifier::Exists, line)?,
            "never" => self.condition(Quantifier::Never, line)?,
            "always" => self.condition(Quantifier::Always, line)?,
            "invariant" => self.invariant(line)?,
            "races" => Property::Races,
            other => return Err(format!("`{other}` is nothing to check")),
        };
        let mut models = Vec::new();
        if line.take_word("on") {
            models.push(line.name()?);
            while line.take_symbol(",") {
                models.push(line.name()?);
            }
        }
        let span = line.span()?;
        self.program.checks.push(Check { property, models, span });
        Ok(())
    }

    fn condition(&self, quantifier: Quantifier, line: &mut Line) -> Result<Property> {
        let cond = line.expr(&mut |line| self.final_var(line))?;
        let text = line.quoted();
        let text = text.ok_or("the condition's text in quotes is missing")?;
        Ok(Property::Final { quantifier, cond, text })
    }

    fn invariant(&self, line: &mut Line) -> Result<Property> {
        let cond = line.expr(&mut |line| self.state_var(line))?;
        let text = line.quoted().ok_or("the invariant's text in quotes is missing")?;
        Ok(Property::Invariant(Invariant { cond, text }))
    }

    fn state_var(&self, line: &mut Line) -> Result<StateVar> {
        if line.take_symbol("@") {
            let point = line.reference("point", &self.points)?;
            return Ok(StateVar::At(PointId(point)));
        }
        self.final_var(line).map(StateVar::from)
    }

    fn final_var(&self, line: &mut Line) -> Result<FinalVar> {
        if !line.reference_before(":") {
            let loc = line.reference("location", &self.locations)?;
            return Ok(FinalVar::Loc(LocId(loc)));
        }
        let thread: u16 = line.reference("thread", &self.threads)?;
        line.symbol(":")?;
        let none = Names::default();
        let registers = self.registers.get(usize::from(thread)).unwrap_or(&none);
        let reg = line.reference("register", registers)?;
        Ok(FinalVar::Reg(ThreadId(thread), RegId(reg)))
    }
}

/// Allowed outcomes, each in parentheses.
fn rows(line: &mut Line) -> Result<BTreeSet<Vec<i128>>> {
    let mut rows = BTreeSet::new();
    while line.take_symbol("(") {
        let row = line.numbers()?;
        line.symbol(")")?;
        rows.insert(row);
    }
    Ok(rows)
}
