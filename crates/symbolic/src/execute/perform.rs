//! Symbolic execution of single instructions: what they compute, where they stop the thread, which accesses they make.
//!
//! **Invariant:** the meaning is that of the reference interpreter. A value that cannot be computed is 0 and an error, and the thread goes on; an
//! address, an index or a condition that cannot be computed stops it.

use std::rc::Rc;

use cyrano_ir::automorphisms::pointer_and_offset;
use cyrano_ir::{Access, AccessKind, Addr, ArrayId, BinOp, Change, InstrId, LocalExpr, Op, Place, Tags};

use crate::execute::arith::Computed;
use crate::execute::eval::{DIRECT, Taint};
use crate::execute::event::{Address, Event, Item, Placed, Sources, Spoken, Step};
use crate::execute::range::Range;
use crate::execute::value::Value;
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::order::same_address;
use crate::formula::relational::Fault;
use crate::formula::swap::Swap;
use crate::formula::symmetry::Exchanges;

impl ThreadWalk<'_, '_> {
    /// The thread stops where this literal holds, with an error.
    pub(crate) fn stop(&mut self, guard: &mut Lit, wrong: Lit) {
        self.error(*guard, wrong);
        if !self.any_path {
            *guard = self.gates.and(*guard, !wrong);
        }
    }

    /// A value whose computation stops nothing: an error is recorded and the value is 0.
    fn compute(&mut self, expr: &LocalExpr, guard: Lit, state: &ThreadState) -> (Value, Taint) {
        let (value, wrong) = state.registers.eval(self.gates, expr);
        let taint = state.registers.taint(self.gates, expr);
        (self.repair((value, wrong), guard), taint)
    }

    /// The same, but under a model about relations an error ends the thread.
    fn settled(&mut self, expr: &LocalExpr, guard: &mut Lit, state: &ThreadState) -> (Value, Taint) {
        if !self.set.traits.relational {
            return self.compute(expr, *guard, state);
        }
        let (value, wrong) = state.registers.eval(self.gates, expr);
        self.stop(guard, wrong);
        (value, state.registers.taint(self.gates, expr))
    }

    fn repair(&mut self, (value, wrong): Computed, guard: Lit) -> Value {
        if wrong == FALSE {
            return value;
        }
        self.error(guard, wrong);
        self.gates.choose(wrong, &Value::constant(0), &value)
    }

    /// Something goes wrong, which counts unless it is in a section that is cut off.
    fn error(&mut self, guard: Lit, wrong: Lit) {
        let error = self.gates.and(guard, wrong);
        let error = self.gates.and(error, self.whole);
        if error != FALSE && !self.ghost {
            self.run.errors.push(error);
        }
    }

    pub(crate) fn assign(
        &mut self,
        pc: InstrId,
        dst: &Place,
        value: &LocalExpr,
        guard: &mut Lit,
        state: &mut ThreadState,
    ) {
        let (choices, wrong) = state.registers.resolve(self.gates, dst);
        self.stop(guard, wrong);
        let open = state.registers.is_open(value);
        let (value, taint) = self.settled(value, guard, state);
        let index = state.registers.index_taint(self.gates, dst);
        let taint = self.gates.union(&taint, &index);
        let taint = self.hand_on(pc, taint, *guard, state);
        state.registers.write(self.gates, &choices, &value, &taint, open);
    }

    pub(crate) fn choice(&mut self, pc: InstrId, dst: &Place, from: &[i128], guard: &mut Lit, state: &mut ThreadState) {
        let (choices, wrong) = state.registers.resolve(self.gates, dst);
        self.stop(guard, wrong);
        let range = Range::of(from.to_vec());
        let value = self.gates.unknown(range.clone());
        if range.single().is_none() {
            let mut values = from.to_vec();
            values.sort_unstable();
            values.dedup();
            let mut one: Vec<Lit> = values.into_iter().map(|number| self.gates.equals(&value, number)).collect();
            one.push(!*guard);
            self.gates.clause(&one);
        }
        if self.ghost {
            // Which value was chosen would have to be looked at for all values at once.
            self.run.vague_waits = true;
        } else {
            let made = self.gates.and(*guard, self.whole);
            self.out.choices.push((made, value.clone()));
        }
        let taint = state.registers.index_taint(self.gates, dst);
        let taint = self.hand_on(pc, taint, *guard, state);
        state.registers.write(self.gates, &choices, &value, &taint, true);
    }

    /// Evaluates a condition that decides the way on.
    pub(crate) fn decide(&mut self, pc: InstrId, cond: &LocalExpr, guard: &mut Lit, state: &mut ThreadState) -> Lit {
        match state.registers.is_open(cond) {
            true => state.decided.1 += 1,
            false => state.decided.0 += 1,
        }
        let (value, wrong) = state.registers.eval(self.gates, cond);
        self.stop(guard, wrong);
        if self.set.traits.control {
            let taint = state.registers.taint(self.gates, cond);
            state.control = self.gates.union(&state.control, &taint);
        }
        if self.own.is_some() {
            let taint = state.registers.taint(self.gates, cond);
            self.hand_on(pc, taint, *guard, state);
        }
        if self.any_path && !state.registers.taint(self.gates, cond).is_empty() {
            return self.gates.fresh();
        }
        self.gates.is_true(&value)
    }

    /// Outside sections the thread stops; inside, it must not have entered. The setup thread stops in both cases.
    pub(crate) fn assume(&mut self, pc: InstrId, cond: &LocalExpr, guard: &mut Lit, state: &mut ThreadState) {
        let holds = self.decide(pc, cond, guard, state);
        if self.ghost {
            let stuck = self.gates.and(*guard, !holds);
            self.stuck.push(stuck);
        } else if state.memory.is_some() {
            let waits = self.gates.and(*guard, !holds);
            // Outside of sections the execution is dropped.
            if waits != FALSE && state.in_section {
                self.run.setup_waits.push(waits);
            }
        } else if state.in_section {
            self.gates.clause(&[!*guard, holds]);
        }
        *guard = self.gates.and(*guard, holds);
    }

    pub(crate) fn limit(&mut self, pc: InstrId, cond: &LocalExpr, guard: &mut Lit, state: &mut ThreadState) {
        let holds = self.decide(pc, cond, guard, state);
        let beyond = self.gates.and(*guard, !holds);
        if beyond != FALSE && !self.ghost {
            self.run.limits.push((self.thread, pc, beyond));
            self.cut(state, beyond);
        }
        *guard = self.gates.and(*guard, holds);
    }

    pub(crate) fn assert(&mut self, cond: &LocalExpr, goes_on: &mut Lit, state: &ThreadState) {
        if self.ghost {
            return;
        }
        let (value, wrong) = state.registers.eval(self.gates, cond);
        let guard = self.gates.and(*goes_on, self.whole);
        let error = self.gates.and(guard, wrong);
        if self.set.traits.relational && !self.any_path {
            *goes_on = self.gates.and(*goes_on, !wrong);
        }
        let holds = self.gates.is_true(&value);
        let fails = self.gates.and(!wrong, !holds);
        let fails = self.gates.and(guard, fails);
        self.run.errors.push(error);
        self.run.failed.push(fails);
        self.run.asserted.push(guard);
    }

    /// The words of an address, what it was computed from, and whether it cannot be computed.
    fn address(&mut self, addr: &Addr, state: &ThreadState) -> (Address, Taint, Lit) {
        match addr {
            Addr::Fixed(loc) => (Address::fixed(loc.0), Taint::default(), FALSE),
            Addr::Indexed { array, index } => {
                let exchanges = self.exchanged_index(*array, index, state);
                let (value, wrong) = state.registers.eval(self.gates, index);
                self.gates.exchanges = exchanges;
                let taint = state.registers.taint(self.gates, index);
                let program = self.set.program;
                let shared = &program.arrays[array.index()];
                let (cases, outside) = self.gates.cases(&value, shared.len, |at| program.element(*array, at).is_ok());
                let words = cases.into_iter().map(|(at, lit)| (shared.base.0 + at as u32, lit)).collect();
                let wrong = self.gates.or(wrong, outside);
                (Address { words, index: Some((*array, value)) }, taint, wrong)
            }
        }
    }

    /// The symmetries that move the words which an index stands for along with it. They are not tested again while the index is computed, because
    /// the number of a word is not what they move.
    fn exchanged_index(&mut self, array: ArrayId, index: &LocalExpr, state: &ThreadState) -> Exchanges {
        if self.gates.exchanges.is_empty() {
            return Exchanges::default();
        }
        let program = self.set.program;
        match pointer_and_offset(index) {
            Some((pointer, offset)) => {
                let (pointer, _) = state.registers.eval(self.gates, pointer);
                self.gates.exchanges.retain(|swap| swap.keeps_target(program, array, &pointer.range, offset));
            }
            None => {
                let (index, _) = state.registers.eval(self.gates, index);
                let stays =
                    |swap: &Swap| !swap.moves(&index.range) && !swap.moves_words(program, array, &index.range, 0);
                self.gates.exchanges.retain(stays);
            }
        }
        std::mem::take(&mut self.gates.exchanges)
    }

    pub(crate) fn access(&mut self, pc: InstrId, access: &Access, guard: &mut Lit, state: &mut ThreadState) {
        let Access { kind, addr, dst, change, .. } = access;
        let kind = *kind;
        let (address, address_taint, wrong) = self.address(addr, state);
        self.stop(guard, wrong);
        let place = dst
            .as_ref()
            .map(|dst| (state.registers.resolve(self.gates, dst), state.registers.index_taint(self.gates, dst)));
        if let Some(((_, wrong), _)) = &place {
            self.stop(guard, *wrong);
        }
        if address.words.is_empty() && !self.any_path {
            *guard = FALSE;
        }
        if *guard == FALSE {
            return;
        }
        let read = kind.reads().then(|| self.read(&address, state));
        let control = state.control.clone();
        let follows = self.follows(pc, state);
        let mut from = Sources { address: address_taint, control, follows, ..Sources::default() };
        let nothing = Value::nothing();
        let old = read.as_ref().unwrap_or(&nothing);
        let success = self.attempt(access, &address, *guard, state, &mut from);
        let write = change.as_ref().map(|change| self.change(change, old, guard, state, &mut from));
        let goes_on = match (&write, change) {
            (Some((_, adds)), Some(Change::Add(_))) if self.set.traits.relational && !self.any_path => *adds,
            _ => *guard,
        };
        let write = self.attempted(write, success);
        let freed = self.look(pc, kind, &address, *guard, state);
        let number = u32::try_from(self.run.events.len()).unwrap_or(u32::MAX);
        self.hand_on_access(pc, number, *guard);
        let told = success.map(|success| Value::truth(!success)).or_else(|| read.clone());
        if let (Some(((choices, _), index)), Some(value)) = (place, &told) {
            if self.own.is_some() {
                from.follows = self.gates.union(&from.follows, &index);
            }
            // The status of a store-exclusive depends on the store only where the access says so.
            let told = success.is_none() || access.tags.contains(Tags::SUCCESS);
            let own = match self.tracks && told {
                true => self.own(access, number, success, write.as_ref(), &mut from),
                false => Taint::default(),
            };
            let taint = self.gates.union(&index, &own);
            state.registers.write(self.gates, &choices, value, &taint, true);
        }
        let event = self.record(
            Event {
                thread: self.thread,
                instr: pc,
                kind,
                guard: *guard,
                address,
                read: read.clone(),
                write,
                whole: self.whole,
                unit: state.unit,
                ghost: self.ghost,
                looks: false,
                from,
            },
            state,
        );
        if !self.ghost {
            let guard = self.gates.and(*guard, self.whole);
            self.out.steps.push(Step { guard, instr: pc, read, success, event, freed });
        }
        *guard = goes_on;
        self.reserve(access, number, state);
    }

    /// What the result of an access depends on: itself. A compare-and-swap that succeeds may keep its register, which then holds what it compared with; what it
    /// found goes in, but not directly. That is worth a choice only if what it compared with depends on something.
    fn own(
        &mut self,
        access: &Access,
        number: u32,
        success: Option<Lit>,
        write: Option<&(Value, Lit)>,
        from: &mut Sources,
    ) -> Taint {
        let all = success.unwrap_or(TRUE);
        if !self.set.traits.direct {
            return Rc::new(vec![(number, all)]);
        }
        let swaps = matches!(access.change, Some(Change::Cas { .. }));
        let Some((_, writes)) = write.filter(|_| swaps) else {
            return Rc::new(vec![(number, all), (number | DIRECT, all)]);
        };
        let compared = from.compared.clone();
        let mut keeps = TRUE;
        if !compared.is_empty() && !Fault::AlwaysKeep.is_on() {
            keeps = self.gates.fresh();
            let depends = compared.iter().map(|(_, lit)| *lit);
            self.gates.clause(&depends.chain([keeps]).collect::<Vec<_>>());
        }
        let kept = self.gates.and(*writes, keeps);
        from.kept = Some(kept);
        let compared = compared.iter().map(|(source, lit)| (*source, self.gates.and(*lit, kept)));
        let compared: Taint = Rc::new(compared.filter(|_| !Fault::KeepNothing.is_on()).collect());
        self.gates.union(&compared, &Rc::new(vec![(number, all), (number | DIRECT, !kept)]))
    }

    /// A call or a response. The setup thread makes none.
    pub(crate) fn call(&mut self, pc: InstrId, op: &Op, guard: Lit, state: &mut ThreadState) {
        let said = op.operands().into_iter().map(|value| self.compute(value, guard, state).0).collect();
        let event = self.record(
            Event {
                thread: self.thread,
                instr: pc,
                kind: AccessKind::Mark,
                guard,
                address: Address::default(),
                read: None,
                write: None,
                whole: self.whole,
                unit: state.unit,
                ghost: self.ghost,
                looks: false,
                from: Sources::default(),
            },
            state,
        );
        if let Some(event) = event.filter(|_| !self.ghost) {
            self.run.spoken.push(Spoken { event, invokes: matches!(op, Op::Invoke { .. }), said });
            self.out.steps.push(Step { guard, instr: pc, read: None, success: None, event: Some(event), freed: None });
        }
    }

    /// Notes the access, or for the setup thread performs it.
    fn record(&mut self, event: Event, state: &mut ThreadState) -> Option<usize> {
        if let Some(memory) = &mut state.memory {
            if let Some((value, writes)) = event.write {
                let memory = Rc::make_mut(memory);
                for (word, lit) in &event.address.words {
                    // A failed compare-and-swap writes nothing.
                    let lit = if event.kind == AccessKind::Rmw { self.gates.and(*lit, writes) } else { *lit };
                    let old = &memory[*word as usize];
                    memory[*word as usize] = self.gates.choose(lit, &value, old);
                }
            }
            return None;
        }
        let number = self.run.events.len();
        if let Some(unit) = event.unit {
            self.run.units[unit].events.push(number);
        }
        self.run.events.push(event);
        if !self.ghost {
            self.out.items.push(Item::Access(number));
            self.out.placed.push(Placed::Access(number));
        }
        Some(number)
    }

    /// What a read returns: of the setup thread, what memory holds; else anything that the word may hold.
    pub(crate) fn read(&mut self, address: &Address, state: &ThreadState) -> Value {
        let words = address.words.iter();
        if let Some(memory) = &state.memory {
            let mut words = words.rev();
            let Some((last, _)) = words.next() else { return Value::nothing() };
            let first = memory[*last as usize].clone();
            return words.fold(first, |value, (word, lit)| self.gates.choose(*lit, &memory[*word as usize], &value));
        }
        let range = words.fold(Range::none(), |range, (word, _)| range.join(&self.set.words[*word as usize]));
        if range == Range::none() { Value::nothing() } else { self.gates.unknown(range) }
    }

    /// What is written over an old value, and when. All operands are evaluated, also those that a failed compare-and-swap does not use.
    fn change(
        &mut self,
        change: &Change,
        old: &Value,
        guard: &mut Lit,
        state: &ThreadState,
        from: &mut Sources,
    ) -> (Value, Lit) {
        match change {
            Change::Set(value) => {
                let (value, taint) = self.settled(value, guard, state);
                (from.data, from.flow) = (taint.clone(), taint);
                (value, *guard)
            }
            Change::Add(value) => {
                let (value, taint) = self.settled(value, guard, state);
                (from.data, from.flow, from.computes) = (taint.clone(), taint, true);
                self.gates.exchanges.retain(|swap| swap.keeps_binary(BinOp::Add, &old.range, &value.range));
                let (sum, wrong) = self.gates.binary(BinOp::Add, old, &value);
                if self.set.traits.relational {
                    // It has been read before that goes wrong.
                    self.error(*guard, wrong);
                    return (sum, self.gates.and(*guard, !wrong));
                }
                (self.repair((sum, wrong), *guard), *guard)
            }
            Change::Cas { expected, new } => {
                let (expected, compared) = self.settled(expected, guard, state);
                let (new, taint) = self.settled(new, guard, state);
                from.data = self.gates.union(&compared, &taint);
                from.compared = compared;
                from.flow = taint;
                let same = self.gates.equal(old, &expected);
                (new, self.gates.and(*guard, same))
            }
        }
    }
}

/// Store-exclusives.
impl ThreadWalk<'_, '_> {
    /// Whether a store-exclusive succeeds: a choice, if the last exclusive access was a load of its word.
    fn attempt(
        &mut self,
        access: &Access,
        address: &Address,
        guard: Lit,
        state: &mut ThreadState,
        from: &mut Sources,
    ) -> Option<Lit> {
        let exclusive = self.set.traits.relational && access.tags.contains(Tags::EXCLUSIVE);
        if !exclusive || access.kind != AccessKind::Store {
            return None;
        }
        let success = self.gates.fresh();
        from.reserved = std::mem::take(&mut state.reserved);
        let mut possible = vec![!success, !guard];
        for (load, lit) in from.reserved.iter() {
            let Some(load) = self.run.events.get(*load as usize) else { continue };
            let same = same_address(self.gates, &load.address, address);
            possible.push(self.gates.and(*lit, same));
        }
        self.gates.clause(&possible);
        Some(success)
    }

    /// What is written where the store succeeds.
    fn attempted(&mut self, write: Option<(Value, Lit)>, success: Option<Lit>) -> Option<(Value, Lit)> {
        let (value, writes) = write?;
        Some((value, success.map_or(writes, |success| self.gates.and(writes, success))))
    }

    /// A load-exclusive makes room for a store-exclusive.
    fn reserve(&mut self, access: &Access, number: u32, state: &mut ThreadState) {
        if self.set.traits.relational && access.tags.contains(Tags::EXCLUSIVE) && access.kind.reads() {
            state.reserved = Rc::new(vec![(number, TRUE)]);
        }
    }
}
